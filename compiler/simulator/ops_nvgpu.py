"""nvgpu: tensor cores, asynchronous copies, mbarriers, TMA and wgmma."""

from __future__ import annotations

import re

from torch_mlir import ir

from hloom.passes.common.rewriting import integer

from .ops_memory import operand_groups
from .translate import NOTHING, Translator, emits, index_list


@emits("nvgpu.mma.sync")
def _mma(t: Translator, op: ir.Operation) -> None:
    a, b, c = t.operands(op)
    tf32 = "tf32Enabled" in op.attributes
    if str(op.operands[0].type.element_type) == "f32" and not tf32:
        raise t.fail(op, "tensor cores do not multiply f32", "set tf32Enabled where the program allows tf32")
    t.result(op, f"mma(R, {a}, {b}, {c}, {tf32}, {t.mask}, {t.site(op)})")


@emits("nvgpu.ldmatrix")
def _ldmatrix(t: Translator, op: ir.Operation) -> None:
    memory, *indices = t.operands(op)
    transpose = ir.BoolAttr(op.attributes["transpose"]).value
    if transpose and op.results[0].type.element_type.width != 16:
        raise t.fail(op, "ldmatrix transposes only elements of 16 bits")
    t.result(op, f"ldmatrix(R, {memory}, {index_list(indices)}, {integer(op, 'numTiles')}, {transpose}, {t.mask}, {t.site(op)})")


@emits("nvgpu.device_async_copy")
def _copy(t: Translator, op: ir.Operation) -> None:
    (target,), to, (source,), where, taken = operand_groups(op, t.operands(op))
    t.touches(op.operands[1 + len(to)], read=True)
    places = f"{target}, {index_list(to)}, {source}, {index_list(where)}"
    t.names[op.results[0]] = NOTHING
    t.line(f"copies(R).start({places}, {integer(op, 'dstElements')}, {taken[0] if taken else None}, {t.mask}, {t.site(op)})")


@emits("nvgpu.device_async_create_group")
def _commit(t: Translator, op: ir.Operation) -> None:
    t.names[op.results[0]] = NOTHING
    t.line(f"copies(R).commit({t.mask})")


@emits("nvgpu.device_async_wait")
def _wait(t: Translator, op: ir.Operation) -> None:
    t.line(f"copies(R).wait({integer(op, 'numGroups', 0)}, {t.mask})")


def _predicate(names: list[str]) -> str:
    return names[0] if names else "True"


@emits("nvgpu.mbarrier.create")
def _barriers(t: Translator, op: ir.Operation) -> None:
    count = re.search(r"num_barriers = (\d+)", str(op.results[0].type))
    t.result(op, f"Barriers(R, {count[1] if count else 1})")


@emits("builtin.unrealized_conversion_cast")
def _barriers_in_memory(t: Translator, op: ir.Operation) -> None:
    """A place for mbarriers in shared memory."""
    count = re.fullmatch(r"!nvgpu\.mbarrier\.group<memorySpace = [^,]*(?:, num_barriers = (\d+))?>", str(op.results[0].type))
    if count is None or not isinstance(op.operands[0].type, ir.MemRefType):
        raise t.fail(op, "a cast that is none of memory to mbarriers")
    t.result(op, f"Barriers(R, {count[1] or 1})")


@emits("nvgpu.mbarrier.init")
def _init(t: Translator, op: ir.Operation) -> None:
    barriers, count, number, *predicate = t.operands(op)
    t.line(f"{barriers}.init({number}, {count}, {_predicate(predicate)}, {t.mask})")


@emits("nvgpu.mbarrier.arrive")
def _arrive(t: Translator, op: ir.Operation) -> None:
    barriers, number = t.operands(op)
    t.result(op, f"{barriers}.arrive({number}, 0, True, {t.mask}, {t.site(op)})")


@emits("nvgpu.mbarrier.arrive.expect_tx")
def _expect(t: Translator, op: ir.Operation) -> None:
    barriers, nbytes, number, *predicate = t.operands(op)
    t.line(f"{barriers}.arrive({number}, {nbytes}, {_predicate(predicate)}, {t.mask}, {t.site(op)})")


@emits("nvgpu.mbarrier.try_wait.parity")
def _wait_parity(t: Translator, op: ir.Operation) -> None:
    barriers, parity, _, number = t.operands(op)
    t.line(f"{barriers}.wait({number}, {parity}, {t.mask}, {t.site(op)})")


@emits("nvgpu.tma.prefetch.descriptor", "nvgpu.tma.fence.descriptor", "nvvm.fence.mbarrier.init")
def _nothing(t: Translator, op: ir.Operation) -> None:
    """None does anything that could be seen."""


@emits("nvgpu.tma.async.load")
def _tma_load(t: Translator, op: ir.Operation) -> None:
    (target,), (barriers,), (source,), coordinates, (number,), multicast, predicate = operand_groups(op, t.operands(op))
    if multicast:
        return _of_clusters(t, op)
    arguments = f"{target}, {barriers}, {source}, {index_list(coordinates)}, {number}, {_predicate(predicate)}"
    t.line(f"tma_load(R, {arguments}, {t.mask}, {t.site(op)})")


@emits(
    "nvvm.cluster.arrive", "nvvm.cluster.wait", "nvvm.read.ptx.sreg.cluster.ctarank", "nvvm.mapa", "nvvm.mbarrier.arrive", "llvm.inttoptr"
)
def _of_clusters(t: Translator, op: ir.Operation) -> None:
    """Kernels whose blocks are in clusters have mbarriers at which threads arrive, and run as PTX (launch.py)."""
    t.line(f'R.fail("blocks in clusters are not simulated in lockstep", {t.site(op)})')
    for result in op.results:
        t.names[result] = NOTHING


@emits("nvgpu.warpgroup.generate.descriptor")
def _operand(t: Translator, op: ir.Operation) -> None:
    memory, tensor = t.operands(op)
    t.result(op, f"SharedMatrix({memory}, {tensor}.swizzle)")


@emits("nvgpu.warpgroup.mma.init.accumulator")
def _accumulator(t: Translator, op: ir.Operation) -> None:
    rows, columns, kind = re.findall(r"vector<(\d+)x(\d+)x(\w+)>", str(op.results[0].type))[0]
    t.result(op, f"accumulator({rows}, {columns}, {kind})")


@emits("nvgpu.warpgroup.mma")
def _warpgroup_mma(t: Translator, op: ir.Operation) -> None:
    a, b, c = t.operands(op)
    if "transposeB" not in op.attributes or "transposeA" in op.attributes:
        raise t.fail(op, "only products of A (m x k) and B (k x n) with contiguous rows are simulated", "set transposeB, not transposeA")
    if integer(op, "waitGroup", 1):
        raise t.fail(op, "the accumulator is read before the product is there", "set waitGroup = 0")
    t.result(op, f"warpgroup_mma(R, {a}, {b}, {c}, {t.mask}, {t.site(op)})")


@emits("nvgpu.warpgroup.mma.store")
def _warpgroup_store(t: Translator, op: ir.Operation) -> None:
    value, memory = t.operands(op)
    t.touches(op.operands[1], write=True)
    t.line(f"warpgroup_store(R, {value}, {memory}, {t.mask}, {t.site(op)})")

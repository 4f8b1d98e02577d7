"""expand-grid-barriers: a barrier of all blocks becomes one of each block around an arrival and a wait in global memory.

Before:
    "grid.barrier"()
After:
    gpu.barrier
    scf.if (thread == 0) {
      %old = atom.acq_rel.gpu.add [@k_arrived], (block == 0 ? 0x80000000 - (blocks - 1) : 1)
      scf.while { %now = ld.acquire.gpu [@k_arrived]; condition(the highest bits of %old and %now are equal) }
    }
    gpu.barrier

The numbers that blocks add make 0x80000000 together: the highest bit of the word turns when the last one has arrived, and the rest is
what it was. So the word needs no initialisation beyond the zero with which the module is loaded, and a kernel may hold several barriers.
The block's own barriers make thread 0's release and acquire hold of all its threads. The two accesses are inline assembly: LLVM
knows nothing of them that it could move or merge.

Must hold: stage gpu; the kernel has a known grid of one dimension, and is launched cooperatively. Declined: nothing.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects.arith import CmpIPredicate

from ..common.control_flow import if_then, while_loop
from ..common.linear_index import LinearIndex
from ..common.rewriting import create, i64_attr, symbol_name, value_of, walk
from ..gpu.support.emit import barrier, block_id, less_than, thread_id
from ..gpu.support.launch import launch_extents
from ..registry import register_pass

_GLOBAL = 1
_TURN = 1 << 31
_ARRIVE = "atom.acq_rel.gpu.global.add.u32 $0, [$1], $2;", "=r,l,r,~{memory}"
_LOOK = "ld.acquire.gpu.global.u32 $0, [$1];", "=r,l,~{memory}"


@register_pass("expand-grid-barriers", "barriers of all blocks as atomics and barriers of each", ops=("grid.barrier",))
def expand_grid_barriers(module: ir.Operation) -> None:
    for kernel in walk(module, "gpu.func"):
        barriers = walk(kernel, "grid.barrier")
        if not barriers:
            continue
        with module.context, kernel.location:
            word = _word(kernel)
            for op in barriers:
                with ir.InsertionPoint(op):
                    _expand(word, launch_extents(kernel, "grid")[0])
                op.erase()


def _word(kernel: ir.Operation) -> str:
    """The name of a word of global memory, zero at first."""
    name = f"{symbol_name(kernel)}_arrived"
    i32 = ir.IntegerType.get_signless(32)
    with ir.InsertionPoint(kernel):
        create(
            "llvm.mlir.global",
            regions=1,
            sym_name=ir.StringAttr.get(name),
            global_type=ir.TypeAttr.get(i32),
            value=ir.IntegerAttr.get(i32, 0),
            addr_space=ir.IntegerAttr.get(i32, _GLOBAL),
            alignment=i64_attr(128),
            linkage=ir.Attribute.parse("#llvm.linkage<internal>"),
        )
    return name


def _expand(word: str, blocks: int) -> None:
    i32 = ir.IntegerType.get_signless(32)

    def constant(value: int) -> ir.Value:
        return arith.constant(i32, value - (1 << 32) if value >= _TURN else value)

    barrier()
    with if_then(less_than(LinearIndex.of(thread_id()), 1)):
        pointer = ir.Type.parse(f"!llvm.ptr<{_GLOBAL}>")
        place = value_of("llvm.mlir.addressof", pointer, global_name=ir.FlatSymbolRefAttr.get(word))
        is_first = less_than(LinearIndex.of(block_id()), 1)
        step = arith.select(is_first, constant(_TURN - (blocks - 1)), constant(1))
        before = _assembly(_ARRIVE, i32, [place, step])

        def unchanged() -> ir.Value:
            return arith.cmpi(CmpIPredicate.sge, arith.xori(before, _assembly(_LOOK, i32, [place])), constant(0))

        while_loop([], unchanged, list)
    barrier()


def _assembly(text: tuple[str, str], kind: ir.Type, operands: list[ir.Value]) -> ir.Value:
    instruction, constraints = map(ir.StringAttr.get, text)
    return value_of("llvm.inline_asm", kind, operands, asm_string=instruction, constraints=constraints, has_side_effects=ir.UnitAttr.get())

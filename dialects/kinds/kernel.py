"""fusion, kernel: the compiler's own code, on a CPU shared among threads tile by tile."""

import math
from collections.abc import Iterator, Sequence

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from .._support import WRITES_OUTPUTS, DenseArray, walk
from ..host_function import POINTER, HostFunction, symbol
from ..lhlo import Buffer, LhloOp, referenced, signature
from ..storage import byte_size
from ..target import TargetView, target_of
from ..thunk import Machine, ThunkOp, integers, slices

_SECOND = 10**12
_KERNEL = f"i64, i64, {POINTER}"
TO_AND_FRO = "hloom.to_and_fro"
"""A mark of a thunk.kernel: odd turns of the loop around it run its tiles, or each thread's share of them, from the last to the first."""
# A thread's share of a kernel takes at least so many times what opening the parallel region does, or it comes too late.
_REGIONS_A_THREAD = 3


class LhloFusion(LhloOp, name="fusion", traits=[WRITES_OUTPUTS]):
    """Runs the group function `callee` on the inputs and writes its results to the outputs.

    The callee takes and returns tensors; a buffer holds each as `dialects/storage.py` says. `inplace` holds pairs (input, output) that
    are one buffer; no other output shares memory with an input, but of kernels that take turns (join-chains). `source` names the ops of the
    source program that the group carries.
    """

    inputs: Sequence[Operand[Buffer]]
    outputs: Sequence[Operand[Buffer]]
    callee: ir.FlatSymbolRefAttr
    inplace: DenseArray
    source: ir.ArrayAttr
    thunk = "kernel"

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        name = self.callee.value
        callee = named.get(name)
        if callee is None or callee.name not in ("func.func", "gpu.func"):
            yield f"calls @{name}, which is not a function of this module"
            return
        if any(isinstance(v.owner, ir.Block) or v.owner.operation.name != "lhlo.ref" for v in self.operands):
            yield "an operand is not an lhlo.ref"
            return
        buffers, expected = [referenced(v) for v in self.operands], signature(callee)
        if len(expected) != len(buffers):
            yield f"passes {len(self.inputs)} + {len(self.outputs)} buffers to @{name}, which has {len(expected)} inputs and outputs"
            return
        for position, (value, wanted) in enumerate(zip(buffers, expected)):
            if not _same_elements(value.type, wanted):
                yield f"buffer {position} for @{name} is {value.type}, expected {wanted}"
        yield from _wrong_pairs(integers(self.inplace), buffers[: len(self.inputs)], buffers[len(self.inputs) :])

    def computed(self, named: dict[str, ir.Operation]) -> dict[str, ir.Attribute]:
        """The cost is the callee's, or what moving its bytes from memory takes; so are the tiles, -1 if it has none yet."""
        callee = named[self.callee.value]
        target = target_of(callee)
        if "hloom.cost_ps" in callee.attributes:
            cost = ir.IntegerAttr(callee.attributes["hloom.cost_ps"]).value
        else:
            cost = sum(byte_size(referenced(value).type) for value in self.operands) * _SECOND // target.dram_bytes_per_second
        numbers = dict(zip(("cost_ps", "tiles", "grain"), (cost, *_parallelism(callee, cost, target))))
        return {name: ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value) for name, value in numbers.items()}


class ThunkKernel(ThunkOp, name="kernel"):
    """Runs the tiles of the kernel `callee` on the slices in `reads` and `writes`.

    `cost_ps` estimates the time of the whole kernel on one thread in picoseconds. `tiles` is the number of tiles, -1 before the kernel is
    generated; `grain` the fewest tiles that are worth a thread, 0 where the kernel is too small to share among threads. One marked
    `hloom.to_and_fro` runs its tiles backwards in odd turns of the loop around it.
    """

    callee: ir.FlatSymbolRefAttr
    reads: DenseArray
    writes: DenseArray
    cost_ps: ir.IntegerAttr
    tiles: ir.IntegerAttr
    grain: ir.IntegerAttr
    source: ir.ArrayAttr

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        name = self.callee.value
        callee = named.get(name)
        if callee is None or callee.name not in ("func.func", "llvm.func", "gpu.func"):
            yield f"runs @{name}, which is not a function of this module"
        elif callee.name != "llvm.func":
            sizes, expected = [size for _, _, size in self._slices()], [byte_size(kind) for kind in signature(callee)]
            if sizes != expected:
                yield f"slices of {sizes} bytes for @{name}, which takes {expected}"

    def obstacle(self, named: dict[str, ir.Operation]) -> tuple[str, str | None] | None:
        name = self.callee.value
        if name in named and named[name].name != "llvm.func":
            return f"the kernel @{name} is not an llvm.func yet", "lower the kernels before the thunks"
        if self.tiles.value < 0:
            return f"the kernel @{name} has no hloom.tiles", "run the vector stage before lower-thunks"
        return None

    def lower(self, host: HostFunction, loops: int) -> None:
        name, tiles, grain = self.callee.value, self.tiles.value, self.grain.value
        if not tiles:
            return
        array = host.pointers(self._slices(), loops)
        turn = host.turns[-1] if host.turns and tiles > 1 and TO_AND_FRO in self.attributes else None
        if not grain and turn is None:
            attributes = "" if loops else "{no_inline}"
            host.call(name, [host.constant(0), host.constant(tiles), array], _KERNEL, attributes=attributes)
            return
        host.callees[name] = f"({_KERNEL})"
        kernel = host.value(f"llvm.mlir.addressof {symbol(name)} : {POINTER}", entry=True)
        if turn is not None:
            kernel = _in_turns(host, name, kernel, turn)
        if not grain:
            host.body.append(f"llvm.call {kernel}({host.constant(0)}, {host.constant(tiles)}, {array}) : {POINTER}, ({_KERNEL}) -> ()")
            return
        host.call("hloom_parallel_for", [kernel, host.constant(tiles), host.constant(grain), array], f"{POINTER}, i64, i64, {POINTER}")

    def simulate(self, machine: Machine) -> None:
        machine.launch(self.callee.value, slices(self, "reads"), slices(self, "writes"))

    def describe(self) -> str:
        grain = self.grain.value
        return f"{self.tiles.value} tiles" + (f", {grain} or more a thread" if grain else ", one thread")

    def _slices(self) -> list[tuple[int, int, int]]:
        return slices(self, "reads") + slices(self, "writes")


def _in_turns(host: HostFunction, name: str, kernel: str, turn: str) -> str:
    """The address of the function to call in that turn: the kernel's, or of one that runs its tiles from the last to the first."""
    back = f"{name}.back"
    host.define(
        back,
        f"""llvm.func {symbol(back)}(%lo: i64, %hi: i64, %buffers: {POINTER}) {{
          %one = llvm.mlir.constant(1 : i64) : i64
          llvm.br ^test(%hi : i64)
        ^test(%end: i64):
          %more = llvm.icmp "slt" %lo, %end : i64
          llvm.cond_br %more, ^tile, ^done
        ^tile:
          %start = llvm.sub %end, %one : i64
          llvm.call {symbol(name)}(%start, %end, %buffers) {{no_inline}} : ({_KERNEL}) -> ()
          llvm.br ^test(%start : i64)
        ^done:
          llvm.return
        }}""",
    )
    other = host.value(f"llvm.mlir.addressof {symbol(back)} : {POINTER}", entry=True)
    odd = host.value(f"llvm.trunc {turn} : i64 to i1")
    return host.value(f"llvm.select {odd}, {other}, {kernel} : i1, {POINTER}")


def fill_tiles(module: ir.Operation, named: dict[str, ir.Operation]) -> None:
    """Sets `tiles` and `grain` of every thunk.kernel whose callee has its tiles by now."""
    count = ir.IntegerType.get_signless(64, context=module.context)
    target = target_of(module)
    programs = [op.operation for op in module.regions[0].blocks[0].operations if op.operation.name == "thunk.program"]
    for kernel in (op for program in programs for op in walk(program, "thunk.kernel")):
        callee = named.get(ir.FlatSymbolRefAttr(kernel.attributes["callee"]).value)
        if callee is not None and "hloom.tiles" in callee.attributes:
            tiles, grain = _parallelism(callee, ir.IntegerAttr(kernel.attributes["cost_ps"]).value, target)
            kernel.attributes["tiles"], kernel.attributes["grain"] = ir.IntegerAttr.get(count, tiles), ir.IntegerAttr.get(count, grain)


def _parallelism(kernel: ir.Operation, cost_ps: int, target: TargetView) -> tuple[int, int]:
    """(tiles, grain) of a kernel: -1 tiles if the function has none yet; grain 0 if one thread should run it all."""
    if "hloom.tiles" not in kernel.attributes:
        return -1, 0
    tiles = ir.IntegerAttr(kernel.attributes["hloom.tiles"]).value
    if tiles < 2 or not is_worth_a_region(cost_ps, target):
        return tiles, 0
    return tiles, max(1, -(-tiles * _share_ps(target) // cost_ps))


def is_worth_a_region(cost_ps: int, target: TargetView) -> bool:
    """Whether a kernel of that cost is shared among threads, if it has tiles for them: two get a share each."""
    return cost_ps > 2 * _share_ps(target)


def _share_ps(target: TargetView) -> int:
    return _REGIONS_A_THREAD * target.parallel_region_ps


def _same_elements(buffer: ir.Type, wanted: ir.Type) -> bool:
    """Whether `buffer` is the memref `wanted`, or the same elements under another shape: a kernel's buffers have one dimension."""
    if buffer == wanted:
        return True
    buffer, wanted = ir.MemRefType(buffer), ir.MemRefType(wanted)
    return buffer.element_type == wanted.element_type and math.prod(buffer.shape) == math.prod(wanted.shape)


def _wrong_pairs(pairs: list[int], inputs: list[ir.Value], outputs: list[ir.Value]) -> Iterator[str]:
    if len(pairs) % 2:
        yield "inplace holds no pairs"
        return
    for i, o in zip(pairs[::2], pairs[1::2]):
        if not (0 <= i < len(inputs) and 0 <= o < len(outputs)):
            yield f"inplace pair ({i}, {o}) is out of range"
        elif inputs[i] != outputs[o]:
            yield f"input {i} and output {o} are declared in place, but are not one buffer"

"""Contractions on the tensor cores of sm_90a: wgmma, four warps together, on tiles that pipeline.py keeps in shared memory.

f16 and bf16 multiply as m64nNk16, f32 as tf32 (where the program allows it) as m64nNk8, bytes (those of mma_bytes.py) as m64nNk32; floats
accumulate in f32, integers in i32, where sums wrap. A warp group computes 64 x N results. Tiles lie in panels of at most 128 bytes a line,
whose swizzle in cp_async.py is the one that wgmma reads; either operand may be contiguous along the inner loop or along its rows (columns).
Where they lie tells a descriptor of 64 bits:

    bits 0-13 start, 16-29 leading offset, 32-45 stride offset, in units of 16 bytes     62-63 swizzle: 1, 2, 3 for 128, 64, 32 bytes

    contiguous along the inner loop:   stride offset: from eight lines to the next           leading offset: not used
    along rows (columns):              stride offset: from eight inner lines to the next     leading offset: from panel to panel

A step of the pipeline is one group of instructions; it runs on while the next step's copies are awaited. The accumulators are a struct of
N / 2 numbers a thread, as the instruction takes them.

Declined: targets other than sm_90a, types that mma.py and mma_bytes.py decline, fewer than 64 rows, tf32 and bytes that are not contiguous
along the inner loop (wgmma transposes 16-bit types only), and targets without shared memory for three stages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from torch_mlir import ir
from torch_mlir.dialects import arith, memref
from torch_mlir.dialects.arith import CmpIPredicate

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.control_flow import if_then
from ...common.linear_index import LinearIndex
from ...common.rewriting import create, i64_attr, index_constant, integer, value_of
from ...common.vectors import from_elements, splat
from ...tiled.schedules.gpu_contraction import (
    TileSchedule,
    overlapped_schedules,
    specialised_schedules,
    tensor_core_schedule,
    warpgroup_schedule,
)
from ...tiled.schedules.wanted import CLUSTER, PRODUCER, wanted_of_blocks
from ..support.emit import divide, remainder
from ..support.layout import Factor, Layout
from ..support.registers import held, pinned, registers_of
from . import mma, mma_bytes
from .contraction import ContractionGroup
from .cp_async import TileShape, is_asynchronous, tile_shape
from .overlapped import try_overlap
from .pipeline import emit_tiled
from .specialised import try_specialise
from .tile_results import Results

GROUP_ROWS = 64
GROUP_THREADS = 128
_UNIT_BYTES = 16
_ADDRESSES = 1 << 18
"""What a descriptor can tell of an address: 14 bits, in units of 16 bytes."""
_STEP_BYTES = 32
"""How far one instruction runs along the inner loop."""
WIDEST_SWIZZLE = 128
_SWIZZLES = {128: 1, 64: 2, 32: 3}
_GAIN = 1.1
"""By how much the estimate of blocks that stay must be better."""
_PRODUCER_GAIN = 1.2
"""The same of blocks with a producer: an H200 ran two products 1.02 and 1.06 times as fast with one (docs/gpu.md)."""
_INSTRUCTION_TYPES = {"f16": "f16", "bf16": "bf16", "f32": "tf32"}


def try_emit(contraction: ContractionGroup, target: TargetView) -> bool:
    """Emits the kernel of `contraction`, if it can be one."""
    if not takes(contraction, target):
        return False
    kinds = mma_bytes.multiplicands(contraction, target)
    if kinds is not None:
        contraction = replace(contraction, left=mma_bytes.as_bytes(contraction.left), right=mma_bytes.as_bytes(contraction.right))
    elif mma.accepts(contraction, target):
        kinds = (_INSTRUCTION_TYPES[str(contraction.left.element)],) * 2
    else:
        return False
    nbytes = element_bytes(contraction.left.element)
    schedule = warpgroup_schedule(contraction.sizes, nbytes, target)
    if schedule is None or _much_faster(tensor_core_schedule(contraction.sizes, nbytes, target), schedule):
        return False
    left, right = _shapes(contraction, schedule)
    if nbytes != 2 and not (left.along_inner and right.along_inner):
        return False
    _emit(contraction, schedule, (left, right), kinds, target)
    return True


def _emit(
    contraction: ContractionGroup, schedule: TileSchedule, shapes: tuple[TileShape, TileShape], kinds: tuple[str, str], target: TargetView
) -> None:
    """By the frame of least time that takes the contraction."""
    nbytes, (left, right) = element_bytes(contraction.left.element), shapes

    def multiplier(schedule: TileSchedule, shapes: tuple[TileShape, TileShape], thread: ir.Value) -> WarpGroups:
        return WarpGroups(schedule, shapes, thread, kinds, contraction.accumulator)

    for staying in specialised_schedules(contraction.sizes, nbytes, target):
        if (
            _wants_producer(contraction, staying, schedule)
            and _wants_cluster(contraction, staying)
            and try_specialise(contraction, staying, _shapes(contraction, staying), multiplier, _accumulators(staying), target)
        ):
            return
    for staying in overlapped_schedules(contraction.sizes, nbytes, target):
        if _GAIN * staying.estimate.clocks < schedule.estimate.clocks and try_overlap(
            contraction, staying, _shapes(contraction, staying), multiplier, _accumulators(staying), target
        ):
            return
    asynchronous = is_asynchronous(contraction.left, left) and is_asynchronous(contraction.right, right)
    emit_tiled(contraction, schedule, shapes, multiplier, _accumulators(schedule), target, schedule.resident if asynchronous else 0)


def takes(contraction: ContractionGroup, target: TargetView) -> bool:
    """Whether the target has the instruction, and the contraction rows enough."""
    return target.cpu == "sm_90a" and contraction.rows.extent >= GROUP_ROWS


def _wants_producer(contraction: ContractionGroup, staying: TileSchedule, schedule: TileSchedule) -> bool:
    """Whether a policy asks for blocks with a warp that fetches, or they are much faster, with what memory takes in any case."""
    function = contraction.function
    wanted = wanted_of_blocks(function)
    asked = wanted.get(PRODUCER, wanted.get(CLUSTER) or None)
    if asked is not None:
        return asked > 0
    least = integer(function, "hloom.cost_ps", 0)
    return _PRODUCER_GAIN * max(staying.estimate.ps, least) < max(schedule.estimate.ps, least)


def _wants_cluster(contraction: ContractionGroup, staying: TileSchedule) -> bool:
    """Whether a policy asks for blocks in clusters: on an H200 two products took 1.32 and 1.18 times as long with them as without."""
    asked = wanted_of_blocks(contraction.function).get(CLUSTER, 0)
    return (staying.cluster_blocks > 1) == (asked > 0)


def _shapes(contraction: ContractionGroup, schedule: TileSchedule) -> tuple[TileShape, TileShape]:
    """How the tiles of the two operands lie."""
    sides = (contraction.left, contraction.rows, schedule.rows), (contraction.right, contraction.cols, schedule.cols)
    longest = WIDEST_SWIZZLE // element_bytes(contraction.left.element)
    left, right = (
        tile_shape(operand, (group, contraction.inner), free, schedule.depth, schedule.threads, longest=longest)
        for operand, group, free in sides
    )
    return left, right


def _much_faster(other: TileSchedule, schedule: TileSchedule) -> bool:
    """Whether mma.sync takes half the time, by small tiles or warps that share the inner loop. The two were not measured side by side."""
    return 2 * other.estimate.clocks < schedule.estimate.clocks


def _accumulators(schedule: TileSchedule) -> Layout:
    """The instruction's fragments of results, as a layout."""
    rows = Factor("w", schedule.rows // 16), Factor("r", 2), Factor("l", 8, 4)
    return Layout((rows, (Factor("r", schedule.cols // 8), Factor("l", 4), Factor("v", 2))))


class WarpGroups:
    """Multiplier of pipeline.py. A warp has 16 rows of its warp group's 64; the accumulators are one struct."""

    def __init__(
        self, schedule: TileSchedule, shapes: tuple[TileShape, TileShape], thread: ir.Value, kinds: tuple[str, str], accumulator: ir.Type
    ):
        """`kinds`: the elements of the operands, as the instruction calls them."""
        self.shapes, self.cols, self.in_flight, self.accumulator = shapes, schedule.cols, schedule.in_flight, accumulator
        self.steps = schedule.depth * element_bytes(shapes[0].element) // _STEP_BYTES
        self.warp_row, self.warp_inner = divide(thread, 32), None
        self._lane, self._group = remainder(thread, 32), divide(thread, GROUP_THREADS)
        self.kinds, self._sums = kinds, "s32" if str(accumulator) == "i32" else str(accumulator)
        inner = _STEP_BYTES // element_bytes(shapes[0].element)
        orders = ("row" if shapes[0].along_inner else "col", "col" if shapes[1].along_inner else "row")
        self._instruction = {
            "shape": f"#nvvm.shape<m = {GROUP_ROWS}, n = {self.cols}, k = {inner}>",
            "typeA": f"#nvvm.wgmma_type<{kinds[0]}>",
            "typeB": f"#nvvm.wgmma_type<{kinds[1]}>",
            "typeD": f"#nvvm.wgmma_type<{self._sums}>",
            "scaleA": "#nvvm.wgmma_scale_in<one>",
            "scaleB": "#nvvm.wgmma_scale_in<one>",
            "scaleD": "#nvvm.wgmma_scale_out<one>",
            "layoutA": f"#nvvm.mma_layout<{orders[0]}>",
            "layoutB": f"#nvvm.mma_layout<{orders[1]}>",
        }
        if isinstance(accumulator, ir.IntegerType):
            self._instruction["satfinite"] = "#nvvm.mma_int_overflow<wrapped>"

    def zeros(self) -> list[ir.Value]:
        return [pinned([splat(self.accumulator, 0)] * (self.cols // 2))]

    def step(
        self, left: ir.Value, right: ir.Value, stage: ir.Value, accumulators: list[ir.Value], meanwhile: Callable[[], None] | None = None
    ) -> list[ir.Value]:
        """`meanwhile` emits what every other warp group does while the others multiply: before its own products, or behind them.

        A warp that issues instructions waits until the tensor cores take them, so that its own products hide little of what it does then.
        """
        (sums,) = accumulators
        if meanwhile is not None:
            with if_then(self._is_group(1)):
                meanwhile()
        fence_registers()
        sums = self.start(left, right, (stage, stage), sums)
        if meanwhile is not None:
            with if_then(self._is_group(0)):
                meanwhile()
        # The step before is over: its stage may be filled again once all warp groups have come this far, at the next barrier.
        wait_for_products(self.in_flight)
        return [sums]

    def _is_group(self, parity: int) -> ir.Value:
        return arith.cmpi(CmpIPredicate.eq, remainder(self._group, 2), index_constant(parity))

    def start(self, left: ir.Value, right: ir.Value, stages: tuple[ir.Value, ir.Value], sums: ir.Value, begins: bool = False) -> ir.Value:
        """Starts the group of instructions of a step, on a stage of each ring; where it `begins`, what is in the sums counts as 0."""
        attributes = {name: ir.Attribute.parse(text) for name, text in self._instruction.items()}
        starts = [_place(shape, ring, stage) for shape, ring, stage in zip(self.shapes, (left, right), stages)]
        starts[0] = starts[0] + LinearIndex.of(self._group) * (_offset(self.shapes[0], free=GROUP_ROWS) // _UNIT_BYTES)
        for number in range(self.steps):
            operands = [descriptor(shape, start, number) for shape, start in zip(self.shapes, starts)]
            scale = {"scaleD": ir.Attribute.parse("#nvvm.wgmma_scale_out<zero>")} if begins and not number else {}
            sums = value_of("nvvm.wgmma.mma_async", sums.type, [sums, *operands], **attributes | scale)
        create("nvvm.wgmma.commit.group.sync.aligned")
        return sums

    def start_on_registers(self, fragments: Sequence[Sequence[ir.Value]], right: ir.Value, stage: ir.Value, sums: ir.Value) -> ir.Value:
        """The same with the left operand in registers: four words of 32 bits for each instruction, which must last until it has ended.

        NVVM's op takes descriptors alone, so it is inline assembly.
        """
        start = _place(self.shapes[1], right, stage)
        for number, words in enumerate(fragments):
            operands = [*registers_of(sums), *words, descriptor(self.shapes[1], start, number)]
            sums = value_of("llvm.inline_asm", sums.type, operands, **self._on_registers(), has_side_effects=ir.UnitAttr.get())
        create("nvvm.wgmma.commit.group.sync.aligned")
        return sums

    def _on_registers(self) -> dict[str, ir.Attribute]:
        """The instruction as inline assembly: results, the sums in the same registers, words, and a descriptor."""
        count = self.cols // 2
        kinds = ".".join((self._sums, *self.kinds))
        shape = f"m{GROUP_ROWS}n{self.cols}k{_STEP_BYTES // element_bytes(self.shapes[1].element)}"
        sums, words = (", ".join(f"${n}" for n in range(at, at + length)) for at, length in ((0, count), (2 * count, 4)))
        turned = 0 if self.shapes[1].along_inner else 1
        operands = f"{{{sums}}}, {{{words}}}, ${2 * count + 4}, p, 1, 1, {turned}"
        text = f"{{ .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async.sync.aligned.{shape}.{kinds} {operands}; }}"
        constraints = ",".join([*["=f"] * count, *map(str, range(count)), *["r"] * 4, "l"])
        return {"asm_string": ir.StringAttr.get(text), "constraints": ir.StringAttr.get(constraints)}

    def results(self, accumulators: list[ir.Value]) -> list[Results]:
        wait_for_products(0)
        registers = held(registers_of(accumulators[0]))
        row, col = LinearIndex.of(divide(self._lane, 4)), LinearIndex.of(remainder(self._lane, 4)) * 2
        return [
            Results(row + 8 * half, col + 8 * piece, from_elements(registers[4 * piece + 2 * half :][:2]))
            for half in (0, 1)
            for piece in range(self.cols // 8)
        ]


def _place(shape: TileShape, ring: ir.Value, stage: ir.Value) -> LinearIndex:
    """Where the tile begins in the block's shared memory, in units of 16 bytes.

    In a cluster an address has the block's rank above these bits, where a descriptor has its other fields.
    """
    address = remainder(memref.extract_aligned_pointer_as_index(ring), _ADDRESSES)
    stage_bytes = shape.lines * shape.length * element_bytes(shape.element)
    return LinearIndex.of(divide(address, _UNIT_BYTES)) + LinearIndex.of(stage) * (stage_bytes // _UNIT_BYTES)


def _offset(shape: TileShape, free: int = 0, inner: int = 0) -> int:
    """How many bytes after its tile's begin a place lies that begins a line, or a swizzle's chunk in its first line."""
    nbytes = element_bytes(shape.element)
    line, along = (free, inner) if shape.along_inner else (inner, free)
    panel, within = divmod(along, shape.length)
    return ((panel * shape.panel_lines + line) * shape.length + within) * nbytes


def descriptor(shape: TileShape, start: LinearIndex, number: int) -> ir.Value:
    """What instruction `number` of a step reads."""
    nbytes = element_bytes(shape.element)
    line = shape.length * nbytes
    leading = _UNIT_BYTES if shape.along_inner else _offset(shape, free=shape.length)
    fields = leading // _UNIT_BYTES << 16 | 8 * line // _UNIT_BYTES << 32 | _SWIZZLES[line] << 62
    place = start + _offset(shape, inner=number * _STEP_BYTES // nbytes) // _UNIT_BYTES
    i64 = ir.IntegerType.get_signless(64)
    low = arith.index_cast(i64, place.value())
    signed = fields - (1 << 64) if fields >> 63 else fields
    return arith.ori(low, arith.constant(i64, signed))


def fence_registers() -> None:
    """Before the first instruction that reads registers which others have written."""
    create("nvvm.wgmma.fence.aligned")


def wait_for_products(running: int) -> None:
    """Until at most `running` groups of instructions have not ended."""
    create("nvvm.wgmma.wait.group.sync.aligned", group=i64_attr(running))

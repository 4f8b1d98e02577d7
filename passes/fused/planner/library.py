"""A contraction on a CUDA target: by a library, which does some of what follows it, or by a generated kernel, which does all.

    library    entering it + reading and writing + flops at `library_percent` of the peak, and a kernel for what it leaves over
    generated  one kernel, flops at a part of the peak; a padded convolution first needs a copy with the padding, and with the zeros
               between the elements that the gradient by a strided convolution's input reads; the library multiplies none of these

Both are in the target's own figures (cost.py). Where few blocks cover the result, as for a matrix times a few vectors, the library splits
the sum among blocks and adds the parts in a second kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from torch_mlir import ir

from ...common.ops import Kind
from ...library_calls.contraction import Contraction, contraction_of
from ...library_calls.conv import Conv
from .cost import SECOND, CostModel, contraction_flops
from .group import Group
from .reader import Handles
from .records import Program

GENERATED_PERCENT = {Kind.MATMUL: 60, Kind.CONV: 30}
"""What generated kernels reach of the rate at which tensor cores, or fused multiply-adds, could go. A convolution gathers its windows."""
_GRADIENT_PERCENT = 5
"""Of a gradient by weights. On an H200 3×3 of 32×56×56×64 to 64 in bf16 took 248 us by its weights, of 16×64×64×64 56."""
EPILOGUE_PERCENT = 220
"""What an epilogue on tensor cores' results takes of the time of its operations: it runs beside neither products nor loads. On an H200
4096×768×3072 in bf16 with an exact GELU took 54 us, cuBLASLt's product 31; 6304×768×3072 90 and 45; with tanh, 61."""
_ROUNDING = 2
"""Operations that round a result of halves and widen it for who reads it: 4096×2816×1024 with the gradient of a SwiGLU in bf16, twelve
operations each rounded, took 105 us; the product about 36 and a loop 26 to 33."""
DEPTHWISE_PERMILLE = 5
"""What a library reaches of the rate of fused multiply-adds where each group of a convolution has one channel: cuDNN 9 took 355 us on an
H200 for 116 MFLOP in bf16, channels last, whose bytes take 6."""
LIBRARY_TILE = 64 * 64
"""Elements of a result that a block of a library's kernel computes, where there are few."""
LARGEST_WINDOW = 64
"""Elements of a window, without its channels, that layers have. A larger one is an image, as in a gradient by weights that is not told as
one: long sums, which a library's forward kernels do not share among blocks."""


@dataclass(frozen=True)
class Offer:
    """What a library would do of a group: `ops`, of which the last makes `result`."""

    library: str
    ops: tuple[int, ...]
    reads: frozenset[int]
    result: int
    padded: bool
    phases: int
    """How many times as many products as the library's the op has: most are of zeros between the elements of what it reads."""
    depthwise: bool
    """Whether each group has one channel, or one feature."""
    of_images: bool
    """Whether the windows of a forward convolution are images."""
    by_weights: bool
    """Whether it is the gradient by the weights of a convolution."""
    shares_sums: bool
    """Whether it shares sums among blocks where there are few results, and adds the parts in a second kernel."""
    epilogue: tuple[str, ...]
    """What it could do of what follows."""


def offer_of(group: Group, program: Program, handles: Handles) -> Offer | str:
    """The most of a contraction's group that a library does; or why it does nothing of it."""
    assert group.contraction is not None
    members = set(group.members)

    def number_of(op: ir.Operation) -> int | None:
        return program.values[handles.numbers[op.results[0]]].producer if op.results else None

    def is_buffer(value: ir.Value) -> bool:
        return handles.numbers[value] in group.reads

    def may_end(op: ir.Operation) -> bool:
        return number_of(op) in members

    def may_take(op: ir.Operation) -> bool:
        number = number_of(op)
        return number in members or (number is not None and program.ops[number].free and not program.ops[number].node)

    found = contraction_of(handles.ops[group.contraction], is_buffer, may_take, may_end)
    if not isinstance(found, Contraction):
        return found
    ops = tuple(sorted(members & {group.contraction, *map(number_of, found.epilogue.ops)}))
    reads = frozenset(handles.numbers[value] for value in (*found.operands, *found.more))
    form = found.form
    makes = form.makes if isinstance(form, Conv) else ""
    phases = prod(form.window_strides) if isinstance(form, Conv) and makes == "input" else 1
    padded = isinstance(form, Conv) and (phases > 1 or any((*form.padding_low, *form.padding_high)))
    depthwise = isinstance(form, Conv) and form.groups > 1 and (form.filter[1] == 1 or form.filter[0] == form.groups)
    of_images = isinstance(form, Conv) and makes == "output" and prod(form.filter[2:]) > LARGEST_WINDOW
    by_weights = makes == "filter"
    return Offer(
        form.library, ops, reads, handles.numbers[found.epilogue.result], padded, phases, depthwise, of_images, by_weights,
        by_weights or not makes, found.offered,
    )  # fmt: skip


def library_ps(offer: Offer, contraction: int, cost: CostModel, program: Program, library_percent: int) -> int:
    """The time of what the library does."""
    op = program.ops[contraction]
    moved = sum(map(cost.whole, (*offer.reads, offer.result)))
    arithmetic = cost.contraction(op) * 100 // (library_percent * offer.phases)
    if offer.depthwise:
        arithmetic = contraction_flops(op, cost.values) * SECOND * 1000 // (DEPTHWISE_PERMILLE * cost.target.f32_flops)
    blocks = -(-program.values[op.results[0]].elements // LIBRARY_TILE)
    if offer.of_images:
        arithmetic = arithmetic * cost.target.multiprocessors // min(cost.target.multiprocessors, blocks)
    split = cost.target.launch_ps if 2 * blocks < cost.target.multiprocessors and offer.shares_sums else 0
    return cost.time(moved, arithmetic) + split


def generated_ps(group: Group, offer: Offer, cost: CostModel, program: Program) -> int:
    """The time of one kernel that does all of the group, and of the copy that it reads."""
    assert group.contraction is not None
    op = program.ops[group.contraction]
    memory, arithmetic = cost.of(group)
    percent = _GRADIENT_PERCENT if offer.by_weights else GENERATED_PERCENT[op.kind]
    arithmetic += cost.contraction(op) * (100 - percent) // percent
    if program.values[op.operands[0]].element in ("f16", "bf16"):
        rounded = _ROUNDING * _rounded(group, program)
        arithmetic += (group.work() * (EPILOGUE_PERCENT - 100) + rounded * EPILOGUE_PERCENT) * SECOND // (100 * cost.target.f32_flops)
    time = cost.time(memory, arithmetic)
    return time + cost.time((1 + offer.phases) * cost.whole(op.reads[0].value), 0) if offer.padded else time


def _rounded(group: Group, program: Program) -> int:
    """Elements of halves that elementwise ops of the group make."""
    made = (
        program.values[result] for number in group.members if (op := program.ops[number]).kind is Kind.ELEMENTWISE for result in op.results
    )
    return sum(value.elements for value in made if value.element in ("f16", "bf16"))

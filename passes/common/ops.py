"""The table of ops: a row for each op of StableHLO that hloom compiles.

The checks of a program, the folding of constants, the planner, in-place reuse and the lowering read it; none has a list of its own. For an
elementwise op its row is all. An op of another kind also has an access map (fused/planner/access.py), a lowering (linalg/lowering), and
what simplifies it (stablehlo/rules).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from torch_mlir import ir

from ..errors import UnsupportedOpError
from . import converts
from . import folding as fold
from . import scalar_code as code
from .folding import Evaluator
from .rewriting import element_of
from .scalar_code import Emit
from .scalars import Scalars

FLOAT = frozenset("f64 f32 f16 bf16".split())
FULL = frozenset("f64 f32".split())
BOOL = frozenset(["i1"])
SIGNED = frozenset("i8 i16 i32 i64".split())
INTEGER = SIGNED | frozenset("ui8 ui16 ui32 ui64".split())
NUMBER = FLOAT | INTEGER
ANY = NUMBER | BOOL
"""The element types that hloom computes with."""


class Kind(Enum):
    """A label, and what an op of the kind iterates over and reads there. The points are those of its result."""

    ELEMENTWISE = "elementwise", "the points; every operand at the point, one of rank 0 as it is"
    BITCAST = "bitcast", "as elementwise between elements of one width; else the operand has one dimension more, read whole, or one less"
    SOURCE = "source", "the points; it has no operands"
    MOVEMENT = "movement", "the points; its operand at an affine map of the point"
    INDEXING = "indexing", "the points; operands at computed places, or for part of the points; starts and fillings as scalars"
    REDUCE = "reduce", "the points and the reduced dimensions; the first half of the operands at both, the rest (initial values) as scalars"
    WINDOW = "window", "the points and the window; operands as in reduce, nothing in the padding"
    SORT = "sort", "the points; every operand at all of the point's row, as whole buffers"
    FOURIER = "fourier", "the points; every operand at all of the point's row or column, as whole buffers"
    MATMUL = "matmul", "the points and the contracted dimensions; both operands at both, as whole buffers"
    CONV = "conv", "the points, the window and the input channels; operands as in matmul"
    SCATTER = "scatter", "the points of its updates, in their order; operands as whole buffers, of which it updates the first in place"
    CALL = "call", "nothing it iterates over; operands as whole buffers, by outside code on the host"
    CONTROL = "control", "its regions; operands as whole buffers, by the host program"
    TERMINATOR = "terminator", "nothing; it ends a region"

    def __init__(self, label: str, reads: str):
        self.label, self.reads = label, reads

    @property
    def reduces(self) -> bool:
        return self in (Kind.REDUCE, Kind.WINDOW)

    @property
    def contracts(self) -> bool:
        return self in (Kind.MATMUL, Kind.CONV)

    @property
    def alone(self) -> bool:
        """Whether nothing else is in its kernel, and its operands must lie in memory before that begins."""
        return self in (Kind.SORT, Kind.FOURIER, Kind.SCATTER, Kind.CALL)

    @property
    def updates(self) -> bool:
        """Whether results may start from operands, which their buffers hold when its kernel begins."""
        return self in (Kind.SCATTER, Kind.CALL)

    @property
    def has_ranges(self) -> bool:
        """Whether it iterates over more than the points of its result."""
        return self.reduces or self.contracts


@dataclass(frozen=True)
class OpInfo:
    """A row.

    `elements`: the types that its last operand's elements may have; `work`: in f32 operations a point, for reductions the work of their
    body; `fold`: what it computes on NumPy arrays, None if it is not folded; `scalar`: emits the scalar code of an elementwise op;
    `free`: it costs nothing where it is read; `cpu_only`: no kernel for a GPU has it yet; `library`: the call of a library that it becomes.
    """

    kind: Kind
    elements: frozenset[str] = ANY
    work: int = 1
    fold: Evaluator | None = None
    scalar: Emit | None = None
    free: bool = False
    cpu_only: bool = False
    library: str | None = None


def elementwise(elements: frozenset[str], scalar: Emit, fold: Evaluator | None = None, work: int = 1) -> OpInfo:
    return OpInfo(Kind.ELEMENTWISE, elements, work, fold, scalar)


def _movement(fold: Evaluator, free: bool = False) -> OpInfo:
    return OpInfo(Kind.MOVEMENT, work=0, fold=fold, free=free)


_ROWS = {
    "abs": elementwise(SIGNED | FLOAT, code.Typed("math.absf", "math.absi"), fold.plain(np.abs)),
    "add": elementwise(ANY, code.Typed("arith.addf", "arith.addi", on_bool="arith.ori"), fold.arithmetic(np.add, np.logical_or)),
    "and": elementwise(INTEGER | BOOL, code.one("arith.andi"), fold.plain(np.bitwise_and)),
    "atan2": elementwise(FLOAT, code.atan2, work=48),
    "cbrt": elementwise(FLOAT, code.one("math.cbrt"), work=36),
    "ceil": elementwise(FLOAT, code.one("math.ceil"), fold.plain(np.ceil)),
    "clamp": elementwise(ANY, code.clamp, fold.clamp),
    "compare": elementwise(ANY, code.compare, fold.compare),
    "convert": elementwise(ANY, converts.convert, fold.convert),
    "cosine": elementwise(FLOAT, code.one("math.cos"), fold.real(np.cos), work=28),
    "count_leading_zeros": elementwise(INTEGER, code.one("math.ctlz")),
    "divide": elementwise(NUMBER, code.divide, fold.quotient(np.divide), work=4),
    "exponential": elementwise(FLOAT, code.one("math.exp"), fold.real(np.exp), work=24),
    "exponential_minus_one": elementwise(FLOAT, code.one("math.expm1"), fold.real(np.expm1), work=28),
    "floor": elementwise(FLOAT, code.one("math.floor"), fold.plain(np.floor)),
    "is_finite": elementwise(FLOAT, code.is_finite, fold.plain(np.isfinite)),
    "log": elementwise(FLOAT, code.one("math.log"), fold.real(np.log), work=24),
    "log_plus_one": elementwise(FLOAT, code.one("math.log1p"), fold.real(np.log1p), work=28),
    "logistic": elementwise(FLOAT, code.logistic, work=28),
    "maximum": elementwise(
        ANY, code.Typed("arith.maximumf", "arith.maxsi", "arith.maxui", "arith.ori"), fold.extremum(np.maximum, np.logical_or)
    ),
    "minimum": elementwise(
        ANY, code.Typed("arith.minimumf", "arith.minsi", "arith.minui", "arith.andi"), fold.extremum(np.minimum, np.logical_and)
    ),
    "multiply": elementwise(
        ANY, code.Typed("arith.mulf", "arith.muli", on_bool="arith.andi"), fold.arithmetic(np.multiply, np.logical_and)
    ),
    "negate": elementwise(NUMBER, code.negate, fold.plain(np.negative)),
    "not": elementwise(INTEGER | BOOL, code.invert, fold.plain(np.invert)),
    "or": elementwise(INTEGER | BOOL, code.one("arith.ori"), fold.plain(np.bitwise_or)),
    "popcnt": elementwise(INTEGER, code.one("math.ctpop")),
    "power": elementwise(NUMBER, code.power, fold.real(np.power), work=48),
    "reduce_precision": elementwise(FLOAT, converts.reduce_precision),
    "remainder": elementwise(NUMBER, code.remainder, fold.quotient(np.fmod), work=8),
    "round_nearest_afz": elementwise(FLOAT, code.round_away),
    "round_nearest_even": elementwise(FLOAT, code.one("math.roundeven"), fold.plain(np.rint)),
    "rsqrt": elementwise(FLOAT, code.one("math.rsqrt"), fold.real(lambda x: 1 / np.sqrt(x)), work=6),
    "select": elementwise(ANY, code.select, fold.select),
    "shift_left": elementwise(INTEGER, code.shift("arith.shli"), fold.shift(np.left_shift)),
    "shift_right_arithmetic": elementwise(INTEGER, code.shift("arith.shrsi"), fold.shift(np.right_shift, signed=True)),
    "shift_right_logical": elementwise(INTEGER, code.shift("arith.shrui"), fold.shift(np.right_shift)),
    "sign": elementwise(SIGNED | FLOAT, code.sign, fold.sign),
    "sine": elementwise(FLOAT, code.one("math.sin"), fold.real(np.sin), work=28),
    "sqrt": elementwise(FLOAT, code.one("math.sqrt"), fold.plain(np.sqrt), work=4),
    "subtract": elementwise(NUMBER, code.Typed("arith.subf", "arith.subi"), fold.plain(np.subtract)),
    "tan": elementwise(FLOAT, code.one("math.tan"), work=40),
    "tanh": elementwise(FLOAT, code.one("math.tanh"), fold.real(np.tanh), work=24),
    "xor": elementwise(INTEGER | BOOL, code.one("arith.xori"), fold.plain(np.bitwise_xor)),
    "bitcast_convert": OpInfo(Kind.BITCAST, scalar=converts.bitcast, fold=fold.bitcast),
    "constant": OpInfo(Kind.SOURCE, free=True),
    "iota": OpInfo(Kind.SOURCE, NUMBER, free=True),
    "broadcast_in_dim": _movement(fold.broadcast, free=True),
    "reshape": _movement(fold.reshape, free=True),
    "reverse": _movement(fold.reverse),
    "slice": _movement(fold.slice_, free=True),
    "transpose": _movement(fold.transpose),
    "concatenate": OpInfo(Kind.INDEXING, fold=fold.concatenate),
    "dynamic_slice": OpInfo(Kind.INDEXING, work=0),
    "dynamic_update_slice": OpInfo(Kind.INDEXING),
    "gather": OpInfo(Kind.INDEXING, work=4),
    "pad": OpInfo(Kind.INDEXING, work=2, fold=fold.splats),
    "reduce": OpInfo(Kind.REDUCE),
    "reduce_window": OpInfo(Kind.WINDOW),
    "sort": OpInfo(Kind.SORT, work=64),
    "dot_general": OpInfo(Kind.MATMUL, work=2),
    "convolution": OpInfo(Kind.CONV, work=2),
    "scatter": OpInfo(Kind.SCATTER),
    "custom_call": OpInfo(Kind.CALL, work=64),
    "case": OpInfo(Kind.CONTROL),
    "if": OpInfo(Kind.CONTROL),
    "while": OpInfo(Kind.CONTROL),
    "return": OpInfo(Kind.TERMINATOR),
}
_CALLS = {
    "hloom.dft": OpInfo(Kind.FOURIER, FULL, work=8, cpu_only=True),
    "hloom.cufft": OpInfo(Kind.FOURIER, FULL, work=8, library="fft"),
    "hloom.winograd_filter": OpInfo(Kind.MOVEMENT, FULL, work=0, free=True, cpu_only=True),
}
OPS = {f"stablehlo.{name}": info for name, info in _ROWS.items()}
OPS |= {f"stablehlo.custom_call @{target}": info for target, info in _CALLS.items()}
"""By full name: what may be left at the end of the stage stablehlo. A custom call that is a kernel has a row for its target."""

CONTRACTIONS = frozenset(name for name, info in OPS.items() if info.kind.contracts)
FREE = frozenset(name for name, info in OPS.items() if info.free)

LEGALIZED = frozenset(
    f"stablehlo.{name}"
    for name in (
        "after_all all_gather all_reduce all_to_all async_done async_start batch_norm_grad batch_norm_inference batch_norm_training "
        "broadcast cholesky collective_broadcast collective_permute collective_reduce complex composite create_token cross-replica-sum dot "
        "dynamic_broadcast_in_dim dynamic_conv dynamic_gather dynamic_iota dynamic_pad dynamic_reshape einsum fft "
        "get_dimension_size get_tuple_element imag map optimization_barrier partition_id real real_dynamic_slice reduce_scatter replica_id "
        "rng rng_bit_generator select_and_scatter set_dimension_size torch_index_select triangular_solve tuple unary_einsum "
        "uniform_dequantize uniform_quantize"
    ).split()
)
"""These become ops of the table, or nothing, at the stage stablehlo."""

ANNOTATIONS = {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "LayoutConstraint", "annotate_device_placement"}
"""Custom calls for a partitioner, which give back their operands."""

PLANAR = {"hloom.fft"}
"""Custom calls that stand for ops of complex numbers, on real and imaginary parts."""

_AROUND = {"func.func", "func.return", "func.call", "arith.constant", "builtin.module"}
REMEDIES = {
    "stablehlo.infeed": "give the values as arguments",
    "stablehlo.outfeed": "return the values as results",
    "stablehlo.recv": "give the values as arguments",
    "stablehlo.send": "return the values as results",
}
_DYNAMIC = "its shape or indices must be constants; export the program with static shapes"


def name_in_table(op: ir.Operation) -> str:
    """The op's name; with its target, that of a custom call that has a row of its own."""
    if op.name != "stablehlo.custom_call":
        return op.name
    name = f"{op.name} @{ir.StringAttr(op.attributes['call_target_name']).value}"
    return name if name in OPS else op.name


def kind_of(op: ir.Operation) -> Kind | None:
    info = OPS.get(name_in_table(op))
    return None if info is None else info.kind


def named(*kinds: Kind) -> frozenset[str]:
    """The names of the ops of those kinds."""
    return frozenset(name for name, info in OPS.items() if info.kind in kinds)


def is_elementwise(op: ir.Operation) -> bool:
    """Whether each element of the result depends on the operands at its index alone: not so a bitcast to wider or narrower elements."""
    return op.name in OPS and OPS[op.name].scalar is not None and not changes_width(op)


def changes_width(op: ir.Operation) -> bool:
    return op.name == "stablehlo.bitcast_convert" and op.operands[0].type.element_type.width != op.results[0].type.element_type.width


def emit_scalar(s: Scalars, op: ir.Operation, args: list[ir.Value]) -> ir.Value:
    """Emits the scalar code of an elementwise op. Raises UnsupportedOpError on elements of a type that is not in its row."""
    info, element = OPS[op.name], element_of(list(op.operands)[-1])
    if info.scalar is None or str(element) not in info.elements:
        raise UnsupportedOpError(f"{op.name} of {element} is not compiled", op=op.name, loc=str(op.location), stage="linalg")
    return info.scalar(s, op, args)


def is_accepted(name: str) -> bool:
    """Whether an op of that name may stand in a program."""
    return name in OPS or name in LEGALIZED or name in _AROUND or name.startswith("chlo.")


def remedy(name: str) -> str:
    """What to do about an op that hloom does not compile."""
    if name.startswith(("stablehlo.dynamic_", "stablehlo.real_dynamic_", "stablehlo.set_dimension_size")):
        return _DYNAMIC
    return REMEDIES.get(name, "write the function with other ops")

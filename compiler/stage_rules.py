"""What must hold of a module at each stage, as far as it can be checked by looking at its ops (docs/architecture.md).

The rules are data: which ops the host functions and the group functions (those with `hloom.kind`) may hold. An entry ending in "." is a
whole dialect. Types, symbols and buffers are left to MLIR's verifier and to those of hloom's dialects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from torch_mlir import ir

from hloom.dialects import lhlo, thunk
from hloom.dialects._support import Violation
from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView, target_of
from hloom.passes.common.ops import Kind, named
from hloom.passes.common.rewriting import functions, inner_ops, kind_of, symbol_name
from hloom.passes.errors import CompileError

KINDS = frozenset("loop reduce multi_reduce transpose matmul conv sort fourier scatter while call library evaluate".split())


class StageError(CompileError):
    """A module is not what it must be at the stage where it is said to be."""

    code = "HL107"


@dataclass(frozen=True)
class Rule:
    """The ops that may stand in host functions and in group functions; `group=()` means that there are none yet."""

    host: tuple[str, ...]
    group: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    top: tuple[str, ...] = ()
    """Ops beside the functions."""
    verifiers: tuple[Callable[[ir.Operation], list[Violation]], ...] = ()
    """Those of hloom's own dialects."""


_CONTROL = (*named(Kind.CONTROL, Kind.TERMINATOR), "func.return")
_BUFFERS = ("lhlo.", "memref.", "arith.constant", "func.return")
_GLOBALS = ("memref.global",)
_KEPT = ("stablehlo.sort", "stablehlo.scatter", "stablehlo.return", "stablehlo.custom_call")
"""They stay what they are up to their kernels: sorts, Fourier transforms, and on GPUs scatters."""
_LINALG = ("linalg.", "tensor.", "arith.", "math.", "scf.", "affine.apply", "func.return", *_KEPT)
_KERNEL = (
    "scf.",
    "vector.",
    "memref.",
    "arith.",
    "math.",
    "affine.",
    "index.",
    "ub.",
    "x86.",
    "llvm.",
    "builtin.unrealized_conversion_cast",
    "func.call",
    "func.return",
)
RULES = {
    "stablehlo": Rule(("stablehlo.", "func.return"), forbidden=("stablehlo.composite",)),
    "fused": Rule(("func.call", "stablehlo.constant", *_CONTROL), ("stablehlo.", "func.return")),
    "lhlo": Rule(_BUFFERS, ("stablehlo.", "func.return"), top=_GLOBALS, verifiers=(lhlo.verify,)),
    "linalg": Rule(_BUFFERS, _LINALG, top=_GLOBALS, verifiers=(lhlo.verify,)),
    "tiled": Rule(_BUFFERS, (*_LINALG, "affine."), top=(*_GLOBALS, "gpu.module"), verifiers=(lhlo.verify,)),
    "vector": Rule(_BUFFERS, _KERNEL, top=_GLOBALS, verifiers=(lhlo.verify,)),
    "gpu": Rule(_BUFFERS, top=("memref.global", "gpu.module"), verifiers=(lhlo.verify,)),
    "thunk": Rule((), _KERNEL, top=("thunk.", "memref.global", "gpu.module"), verifiers=(thunk.verify,)),
}


_STACK_BYTES: dict[str, Callable[[TargetView], int]] = {
    "vector": lambda target: 2 * target.tile_bytes,  # the values of a tile, and as much of its operands, packed
    "gpu": lambda target: 4 * target.vector_registers,  # what is indexed must not be in memory
}
"""What a kernel may keep in memory of its own, for each of its threads."""


_ALLOCA = "memref.alloca"


_STACK_ALONE, _HOST_ALONE = "vector", "thunk"
_OF_HLOOM_ALONE = {"linalg", "tiled", "llvm"}
"""Stages whose kernels hloom's passes alone have written since the stage before: what they may hold is for who changes a pass."""


def verify_reached(module: ir.Operation, stage: str) -> None:
    """What of `verify_stage` depends on the program that is compiled, and not on hloom's passes alone."""
    if stage in _OF_HLOOM_ALONE:
        return
    if stage == _STACK_ALONE:
        kept = [op for function in functions(module) for op in inner_ops(function) if op.name == _ALLOCA]
        _check_stack(kept, stage, _STACK_BYTES[stage](target_of(module)))
    elif stage == _HOST_ALONE:
        _run_verifiers(module, stage, RULES[stage])
    else:
        verify_stage(module, stage)


def verify_stage(module: ir.Operation, stage: str) -> None:
    """Raises StageError naming the first op that has no place at `stage`."""
    if stage == "llvm":
        _check_llvm(module)
        return
    rule = RULES.get(stage)
    if rule is None:
        return
    top = [op.operation for op in module.regions[0].blocks[0].operations]
    if "main" not in [symbol_name(op) for op in top if "sym_name" in op.attributes]:
        raise StageError("the module has no entry @main", stage=stage, remedy="is it really a module of this stage?")
    kept: list[ir.Operation] = []
    for op in top:
        if op.name == "func.func":
            kept += _check_function(op, rule, stage)
        elif not _matches(op.name, rule.top):
            raise _error(op, "the module holds an op that has no place here", stage)
        else:
            kept += [inner for inner in inner_ops(op) if inner.name == _ALLOCA]
    if stage in _STACK_BYTES:
        _check_stack(kept, stage, _STACK_BYTES[stage](target_of(module)))
    _run_verifiers(module, stage, rule)


def _run_verifiers(module: ir.Operation, stage: str, rule: Rule) -> None:
    for verify in rule.verifiers:
        for found in verify(module):
            raise StageError(found.message, op=found.op, loc=found.loc, stage=stage)


def _check_function(function: ir.Operation, rule: Rule, stage: str) -> list[ir.Operation]:
    """Returns what the function keeps on the stack."""
    name = symbol_name(function)
    is_group = "hloom.kind" in function.attributes
    if is_group:
        kind = kind_of(function)
        if kind not in KINDS or not rule.group:
            raise _error(function, f"group function @{name} of kind {kind!r} has no place here", stage)
    allowed = rule.group if is_group else rule.host
    right: set[str] = set()
    kept = []
    for op in inner_ops(function):
        name_of_op = op.name
        if name_of_op == _ALLOCA:
            kept.append(op)
        if name_of_op in right:
            continue
        right.add(name_of_op)
        if name_of_op in rule.forbidden or not _matches(name_of_op, allowed):
            raise _error(op, f"{'group' if is_group else 'host'} function @{name} holds an op that has no place here", stage)
    return kept


def _check_stack(allocated: Sequence[ir.Operation], stage: str, most: int) -> None:
    """A kernel that keeps arrays on the stack ends the process, or is slow: they belong in tiles, or in the arena."""
    kept: dict[str, list[ir.Operation]] = {}
    for op in allocated:
        kept.setdefault(symbol_name(_function_of(op)), []).append(op)
    for name, ops in kept.items():
        largest, total = max(ops, key=_bytes), sum(map(_bytes, ops))
        if total > most:
            where = {"op": largest.name, "loc": str(largest.location), "stage": stage}
            message = f"kernel @{name} keeps {total} bytes on the stack, {_bytes(largest)} of them for this value; a tile's share is {most}"
            raise StageError(message, remedy="run split-groups before tile-and-fuse", **where)


def _function_of(op: ir.Operation) -> ir.Operation:
    while "sym_name" not in op.attributes:
        op = op.parent.operation
    return op


def _bytes(op: ir.Operation) -> int:
    kind = ir.MemRefType(op.results[0].type)
    return prod(kind.shape) * element_bytes(kind.element_type)


def _check_llvm(module: ir.Operation) -> None:
    for op in inner_ops(module):
        if not op.name.startswith("llvm."):
            raise _error(op, "an op is left that is none of LLVM's", "llvm")


def _matches(name: str, allowed: tuple[str, ...]) -> bool:
    return name in allowed or f"{name.partition('.')[0]}." in allowed


def _error(op: ir.Operation, message: str, stage: str) -> StageError:
    remedy = "docs/architecture.md says what holds at each stage"
    return StageError(message, op=op.name, loc=str(op.location), stage=stage, remedy=remedy)

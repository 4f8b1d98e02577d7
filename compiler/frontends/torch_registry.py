"""How torch ops become StableHLO where torch-mlir's way is wrong or missing: lowerings and decompositions, registered by the op's name.

A *lowering* builds StableHLO for one op, instead of torch-mlir:

    @torch_lowering("aten.remainder")                      # all overloads; "aten.remainder.Tensor" is one of them
    def remainder(op: TorchOp, x, divisor): ...

It is called as a torch.library implementation would be, after `op`: what the schema lists positionally in order, keyword-only arguments
by keyword, defaults filled in. Tensors are StableHLO values (`ir.Value`; lists of tensors are lists of values), anything else is what the
program says: numbers, lists, dtypes, None. It gives back the op's result, or a sequence of them, built at the insertion point that is set;
their types must be `op.results`. `NotImplemented` leaves the op to torch-mlir.

A *decomposition* is torch code for one op, of the op's own signature, traced before anything is lowered:

    @torch_decomposition("aten.cumprod")
    def cumprod(x, dim, *, dtype=None): ...

What is registered later holds. hloom's own are in torch_lowerings/, one family of ops a file, loaded before anyone can register more.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
import torch.utils._pytree as pytree
from torch._C import DispatchKey
from torch._decomp import decomposition_table
from torch.autograd import forward_ad
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, has_free_unbacked_symbols
from torch_mlir import ir
from torch_mlir.extras.fx_decomp_util import get_decomposition_table

from hloom.passes.errors import UnsupportedOpError
from hloom.passes.stablehlo.support import build

from .torch_shapes import shapes_at_once
from .torch_upstream import upstream_decomposition

_Function = TypeVar("_Function", bound=Callable[..., Any])

_lowerings: dict[str, Callable[..., Any]] = {}
_lowerings_of_complex: dict[str, Callable[..., Any]] = {}
_decompositions: dict[str, Callable[..., Any]] = {}
_before_lowerings: set[str] = set()
"""Those of ops that have a lowering too, of what the decomposition declines."""
_differentiated: dict[str, Callable[..., Any]] = {}
"""What autograd differentiates in the stead of ops whose own gradient has no lowering."""
_for_shapes: set[str] = set()
"""Those of composite ops whose own composition reads values."""
_registered = 0
_own = 0
"""How many were registered so far, and of them by hloom."""


@dataclass(frozen=True)
class TorchOp:
    """The op that a lowering is asked for."""

    name: str
    """With namespace and overload: "aten.remainder.Tensor"."""
    results: tuple[ir.RankedTensorType, ...]
    """The types that torch gives its results; integers are signless, uint8 and the like unsigned."""
    used: tuple[bool, ...]
    """Which results the program reads. What stands for the others may be None."""
    where: str
    """The line of the user's program, empty where torch does not tell."""

    @property
    def result(self) -> ir.RankedTensorType:
        """The type of the one result."""
        (only,) = self.results
        return only

    @property
    def element(self) -> ir.Type:
        """The element type of the one result."""
        return self.result.element_type

    def operand(self, value: ir.Value | float | int | bool) -> ir.Value:
        """A tensor or a number as a value of the result's element type and shape: converted, then broadcast by NumPy's rules."""
        if not isinstance(value, ir.Value):
            number = value != 0 if self.element == ir.IntegerType.get_signless(1) else value
            return build.splat(self.result, build.scalar(self.element, number))
        return build.broadcast_to(build.convert(value, self.element), list(self.result.shape))

    def refused(self, why: str, remedy: str = "write the module with other torch ops") -> UnsupportedOpError:
        """The error to raise for what the lowering does not do."""
        return UnsupportedOpError(f"{self.name}: {why}", op=self.name, loc=self.where or None, stage="input", remedy=remedy)


def torch_lowering(*names: str) -> Callable[[_Function], _Function]:
    """Registers the decorated function as the lowering of those ops, each "namespace.op" or "namespace.op.overload" (see above)."""
    return _registering(_lowerings, names)


def torch_lowering_of_complex(*names: str) -> Callable[[_Function], _Function]:
    """The same for ops that take or give complex numbers, and only for those."""
    return _registering(_lowerings_of_complex, names)


def torch_decomposition(*names: str, before_lowering: bool = False, for_shapes: bool = False) -> Callable[[_Function], _Function]:
    """Registers the decorated function as the decomposition of those ops into other torch ops (see above). `before_lowering`: what it
    declines, by returning NotImplemented, has a lowering; an op that has one is else never decomposed. `for_shapes`: torch finds the
    shapes by it too, as the composition that it has of its own reads values.
    """
    if for_shapes:
        _for_shapes.update(names)
    if before_lowering:
        _before_lowerings.update(names)
    return _registering(_decompositions, names)


def torch_differentiated(*names: str) -> Callable[[_Function], _Function]:
    """Registers the decorated function, of the op's own signature, as what is traced in the op's stead where gradients are asked for:
    autograd differentiates its ops. It may decline too.
    """
    return _registering(_differentiated, names)


def use_torch_decompositions(*names: str) -> None:
    """Registers torch's own decompositions of ops that torch-mlir's table leaves as they are."""
    for name in names:
        found = [overload for overload in overloads(name) if overload in decomposition_table]
        if not found:
            raise LookupError(f"torch has no decomposition of {name}")
        for overload in found:
            _decompositions[str(overload)] = decomposition_table[overload]


def _registering(table: dict[str, Callable[..., Any]], names: Sequence[str]) -> Callable[[_Function], _Function]:
    for name in names:
        if name.count(".") not in (1, 2):
            raise ValueError(f"{name!r} is not the name of a torch op: write namespace.op, or namespace.op.overload")

    def decorate(function: _Function) -> _Function:
        global _registered
        _registered += 1
        table.update(dict.fromkeys(names, function))
        return function

    return decorate


def all_so_far_are_own() -> None:
    """Called once, when hloom's are loaded."""
    global _own
    _own = _registered


def has_others() -> bool:
    """Whether somebody has registered more than hloom's own: keys of what hloom's make do not tell what those make."""
    return _registered != _own


def lowering_of(target: Any, of_complex: bool = False) -> Callable[..., Any] | None:
    """The lowering of an op: the overload's own, else the one of all its overloads; those of complex numbers first where it has some."""
    names = (str(target), str(target).rpartition(".")[0])
    tables = (_lowerings_of_complex, _lowerings) if of_complex else (_lowerings,)
    return next((table[name] for table in tables for name in names if name in table), None)


def decomposition_of(target: Any) -> Callable[..., Any] | None:
    """What an op decomposes by: one registered here, the overload's own first, else torch-mlir's. An op that has a lowering is left
    as it is, but for those of which a decomposition goes first."""
    names = (str(target), str(target).rpartition(".")[0])
    if lowering_of(target) is not None and _before_lowerings.isdisjoint(names):
        return None
    own = next((_decompositions[name] for name in names if name in _decompositions), None)
    return own or upstream_decomposition(target)


def all_decompositions() -> dict[Any, Callable[..., Any]]:
    """The same of all ops, as a table for torch."""
    ops = dict.fromkeys([*get_decomposition_table(), *(overload for name in _decompositions for overload in overloads(name))])
    return {op: _of_known_sizes(function) for op in ops if (function := decomposition_of(op)) is not None}


def depends_on_data(tensor: torch.Tensor) -> bool:
    """Whether a size or a stride of the tensor does (how many elements a mask selects)."""
    return has_free_unbacked_symbols(tensor)


def _of_known_sizes(function: Callable[..., Any]) -> Callable[..., Any]:
    """The decomposition, but for tensors of whose sizes it asks what depends on data: of these the op stays (torch_selections.py)."""

    @functools.wraps(function)
    def decomposed(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except GuardOnDataDependentSymNode:
            return NotImplemented

    return decomposed


@contextlib.contextmanager
def own_decompositions_first() -> Iterator[None]:
    """While tracing. Of some ops torch has a kernel that it traces in their stead, before it looks into any table of decompositions."""
    replaced = [(op, key, _put(op, key, kernel)) for op, key, kernel in _kernels()]
    try:
        with shapes_at_once():
            yield
    finally:
        for op, key, kernel in reversed(replaced):
            _put(op, key, kernel)


def _put(op: torch._ops.OpOverload, key: DispatchKey, kernel: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """Gives the kernel that the op had."""
    before = op.py_kernels.pop(key, None)
    if kernel is not None:
        op.py_kernels[key] = kernel
    op._dispatch_cache.clear()
    return before


def _kernels() -> list[tuple[torch._ops.OpOverload, DispatchKey, Callable[..., Any] | None]]:
    """What ops are traced by, or None where an op stays one: it has a lowering here, and its gradient has one."""
    found: list[tuple[Any, DispatchKey, Callable[..., Any] | None]] = []
    composite = DispatchKey.CompositeImplicitAutograd  # before the other, where an op has both
    for name, function in _decompositions.items():
        for op in overloads(name):
            found += [(op, key, function) for key in (DispatchKey.Autograd, composite) if op.py_kernels.get(key) is not None]
            if name in _for_shapes and op.py_kernels.get(composite) is None:
                found.append((op, composite, function))
    for name, function in _differentiated.items():
        found += [(op, DispatchKey.Autograd, _where_differentiated(op, function)) for op in overloads(name)]
    for name in _lowerings:
        if f"{name}_backward" in _lowerings:
            keys = (DispatchKey.Autograd, DispatchKey.CompositeImplicitAutograd)
            kept = [op for op in overloads(name) if str(op) not in _decompositions]
            found += [(op, key, None) for op in kept for key in keys if key in op.py_kernels]
    return found


@contextlib.contextmanager
def differentiated_in_transforms() -> Iterator[None]:
    """While torch.func's transforms are traced, which take derivatives below the kernels of Python's that tracing looks for."""
    library = torch.library.Library("aten", "IMPL")
    try:
        for name, function in _differentiated.items():
            known = [op for op in overloads(name) if op.namespace == "aten" and torch._C._dispatch_has_kernel(op.name())]
            for op in known:  # not those of TorchScript alone
                library.impl(op, _where_derived(op, function), "AutogradCPU", with_keyset=True)
        yield
    finally:
        library._destroy()


def _where_derived(op: torch._ops.OpOverload, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function where it is differentiated, backward or forward, and does not decline; else the kernel that the op has."""
    own = torch.library.get_kernel(op, "AutogradCPU")

    def kernel(keys: torch.DispatchKeySet, *args: Any, **kwargs: Any) -> Any:
        if forward_ad._current_level >= 0 or _wants_gradients(args, kwargs):
            made = function(*args, **kwargs)
            if made is not NotImplemented:
                return made
        return own.call_boxed(keys, *args, **kwargs)

    return kernel


def _wants_gradients(*values: Any) -> bool:
    tensors = (each for each in pytree.tree_leaves(values) if isinstance(each, torch.Tensor))
    return torch.is_grad_enabled() and any(each.requires_grad for each in tensors)


def _where_differentiated(op: torch._ops.OpOverload, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function where gradients are asked for, and it does not decline; else the op."""
    function = _of_known_sizes(function)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        if _wants_gradients(args, kwargs):
            made = function(*args, **kwargs)
            if made is not NotImplemented:
                return made
        _put(op, DispatchKey.Autograd, None)
        try:
            return op(*args, **kwargs)
        finally:
            _put(op, DispatchKey.Autograd, kernel)

    return kernel


def overloads(name: str) -> list[torch._ops.OpOverload]:
    """The ops of that name; none where no such op is loaded (a library's custom op before its import)."""
    namespace, op, *overload = name.split(".")
    packet = getattr(getattr(torch.ops, namespace), op, None)
    if packet is None:
        return []
    return [getattr(packet, each) for each in (overload or packet.overloads()) if hasattr(packet, each)]


FLOATS_OF_8_BITS = {
    torch.float8_e4m3fn: ir.Float8E4M3FNType, torch.float8_e4m3fnuz: ir.Float8E4M3FNUZType, torch.float8_e5m2: ir.Float8E5M2Type,
    torch.float8_e5m2fnuz: ir.Float8E5M2FNUZType,
}  # fmt: skip


def element_type(dtype: torch.dtype) -> ir.Type:
    """StableHLO's element type for a torch type. Raises UnsupportedOpError."""
    floats = {
        torch.float64: ir.F64Type,
        torch.float32: ir.F32Type,
        torch.float16: ir.F16Type,
        torch.bfloat16: ir.BF16Type,
        **FLOATS_OF_8_BITS,
    }
    if dtype in floats:
        return floats[dtype].get()
    if dtype.is_complex:
        return ir.ComplexType.get(element_type(dtype.to_real()))
    if dtype == torch.bool:
        return ir.IntegerType.get_signless(1)
    if dtype.is_floating_point or dtype not in _INTEGERS:
        raise UnsupportedOpError(f"elements of type {dtype}", stage="input", remedy="convert them before")
    width = dtype.itemsize * 8
    return ir.IntegerType.get_signless(width) if dtype.is_signed else ir.IntegerType.get_unsigned(width)


def promoted_type(x: ir.Value | float | int | bool, y: ir.Value | float | int | bool) -> ir.Type:
    """The element type that torch's promotion has two operands compute in."""
    return element_type(torch.result_type(*map(_like, (x, y))))


def _like(operand: ir.Value | float | int | bool) -> Any:
    """For torch's promotion, which asks for an operand's element type, whether it has dimensions, and whether it is a number."""
    if not isinstance(operand, ir.Value):
        return operand
    kind = ir.RankedTensorType(operand.type)
    dtype = next(each for each in _DTYPES if element_type(each) == kind.element_type)
    return torch.empty([1] * min(1, kind.rank), dtype=dtype, device="meta")


_INTEGERS = {
    torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16, torch.uint32, torch.uint64,
}  # fmt: skip
_DTYPES = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.bool, *_INTEGERS,
    torch.complex64, torch.complex128, *FLOATS_OF_8_BITS,
]  # fmt: skip

"""One torch op as the ops that it decomposes into, recorded while it runs on tensors that hold nothing.

Before:
    aten.conv2d(x, w, b, [1, 1], [1, 1])
After:
    aten.convolution(x, w, b, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)

torch's make_fx records a program so, in ten milliseconds and more an op: it is made for whole programs. What is recorded is the same. An op
that autograd's dispatch would take apart by a kernel of Python's, or as composite, is taken apart first; any other by its decomposition,
if it has one; what is left is recorded.

What changes a tensor in place that no other shares memory with becomes the op that does not; the tensor is its result from there on.

Declined: ops that change an operand of the whole, or what a view of is known; values that are neither operands nor made of them, and what
torch cannot run without data.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch._C import DispatchKey
from torch._export.utils import _is_preservable_cia_op
from torch._ops import OpOverload, resolve_key
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import Graph, Node
from torch.fx.node import map_aggregate
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from .torch_registry import lowering_of

DecompositionOf = Callable[[Any], Callable[..., Any] | None]


_COPIES = "unsafe_"
"""Ops of such names give views of what nobody reads any more: to a program they are copies."""


class Declined(Exception):
    """The program is one for run_decompositions."""


class Stays(Exception):
    """The op has no decomposition for these operands."""


def traced(
    function: Callable[..., Any],
    tensors: Sequence[torch.Tensor],
    mode: FakeTensorMode,
    decomposition_of: DecompositionOf,
    whole: OpOverload | None = None,
) -> Graph:
    """The graph of what `function` does with the tensors, of which there is one placeholder each.

    Raises Declined, and Stays where `function` calls the op `whole` and that is all: it need not run to be known.
    """
    recorder = _Recorder(decomposition_of, whole)
    try:
        with mode:
            given = [torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device) for x in tensors]
            for tensor in given:
                recorder.know(tensor, recorder.graph.placeholder("x"))
            with torch._C._AutoDispatchBelowAutograd(), recorder:
                result = function(*given)
    except (Declined, Stays):
        raise
    except Exception as error:  # whatever torch's code raises: with the whole program it may not, or says more
        raise Declined from error
    recorder.graph.output(recorder.nodes(result))
    recorder.graph.eliminate_dead_code()
    return recorder.graph


def stays(op: Any, decomposition_of: DecompositionOf) -> bool:
    """Whether an op is left as it is."""
    if op is operator.getitem:
        return True
    return decomposition_of(op) is None and (_is_keepable(op) or not op._can_decompose())


def _is_keepable(op: Any) -> bool:
    """Whether a program may hold the op, composite as it may be."""
    return _is_preservable_cia_op(op) or lowering_of(op) is not None


class _Recorder(TorchDispatchMode):
    """Sees every op below autograd."""

    def __init__(self, decomposition_of: DecompositionOf, whole: OpOverload | None):
        super().__init__()
        self.decomposition_of = decomposition_of
        self.whole = whole
        self.graph = Graph()
        self.known: dict[int, Node] = {}
        self.alive: list[torch.Tensor] = []
        """What `known` knows by its address."""
        self.memory: dict[int, list[int]] = {}
        """Of each of these, all that lie in its memory: one list for all of them."""
        self.original: Any = None
        """The op that is being taken apart."""
        self.below = False
        """Whether it is one that export may keep: its parts come from below autograd."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is torch.ops.prim.device.default:  # a question, which torch's dispatcher does not know
            return func(*args, **kwargs)
        made = self.seen(func, args, kwargs)
        if func.__name__.startswith(_COPIES):
            self.memory.update({id(tensor): [id(tensor)] for tensor in _tensors(made)})
        return made

    def seen(self, func: Any, args: Any, kwargs: Any) -> Any:
        """The result of an op, which is taken apart or recorded."""
        keepable, below = _is_keepable(func), self.below
        is_whole, self.whole = func is self.whole, None  # the first op is
        if not keepable and not below:
            made = self.apart(_kernel_of_autograd(func), args, kwargs)
            if made is not NotImplemented:
                return made
        with self.naming(func):
            self.below = below or _is_preservable_cia_op(func)
            try:
                made = self.apart(self.decomposition_of(func), args, kwargs)
                if made is NotImplemented and not keepable and _is_composite(func):
                    made = self.apart(func.decompose, args, kwargs)
            finally:
                self.below = below
            if made is not NotImplemented and func.is_view and not _is_composite(func):
                self.tear(made, args)
            if made is NotImplemented and is_whole:
                raise Stays
            return self.record(func, args, kwargs) if made is NotImplemented else made

    def apart(self, function: Callable[..., Any] | None, args: Any, kwargs: Any) -> Any:
        """The result of a function that calls other ops; NotImplemented where there is none, or where it declines."""
        if function is None:
            return NotImplemented
        with self:
            return function(*args, **kwargs)

    @contextmanager
    def naming(self, op: Any) -> Iterator[None]:
        outer = self.original
        self.original = outer or op
        try:
            yield
        finally:
            self.original = outer

    def record(self, op: Any, args: Any, kwargs: Any) -> Any:
        if not isinstance(op, OpOverload):
            raise Declined
        if op._schema.is_mutable:
            return self.change(op, args, kwargs)
        node = self.graph.create_node("call_function", op, self.nodes(args), self.nodes(kwargs), name=op._overloadpacket.__name__)
        result = op(*args, **kwargs)
        self.describe(node, result)
        given = _tensors((args, kwargs))
        if isinstance(result, torch.Tensor):
            self.know(result, node, given)
        elif isinstance(result, (tuple, list)):
            for index, value in enumerate(result):
                if isinstance(value, torch.Tensor):
                    item = self.graph.call_function(operator.getitem, (node, index))
                    self.describe(item, value)
                    self.know(value, item, given)
        elif result is not None:
            raise Declined  # a number of the program's
        return result

    def change(self, op: OpOverload, args: Any, kwargs: Any) -> torch.Tensor:
        """The first operand, which is another node's from here on: that of the op without the change."""
        functional, changed = functional_of(op), args[0]
        if functional is None or id(changed) not in self.known:
            raise Declined
        if self.known[id(changed)].op != "call_function" or self.memory[id(changed)] != [id(changed)]:
            raise Declined
        made = self.apart(functional, args, kwargs)
        if not isinstance(made, torch.Tensor) or (made.shape, made.dtype) != (changed.shape, changed.dtype):
            raise Declined
        self.known[id(changed)] = self.node(made)
        return changed

    def describe(self, node: Node, value: Any) -> None:
        node.meta = {"original_aten": self.original} if value is None else {"val": value, "original_aten": self.original}

    def know(self, tensor: torch.Tensor, node: Node, given: Sequence[torch.Tensor] = ()) -> None:
        """`given`: what an op made it of, and may have left it in the memory of."""
        self.known[id(tensor)] = node
        self.alive.append(tensor)
        place = tensor.untyped_storage()._cdata
        beside = next((self.memory[id(x)] for x in given if id(x) in self.memory and x.untyped_storage()._cdata == place), [])
        beside.append(id(tensor))
        self.memory[id(tensor)] = beside

    def tear(self, view: Any, args: Any) -> None:
        """Declines later changes of a view that decomposed into other ops than views, and of what it is a view of."""
        places = {tensor.untyped_storage()._cdata for tensor in _tensors(args)}
        if any(tensor.untyped_storage()._cdata not in places for tensor in _tensors(view)):
            for tensor in _tensors((view, args)):
                self.memory.setdefault(id(tensor), []).append(0)

    def nodes(self, values: Any) -> Any:
        """The values with nodes for tensors."""
        return map_aggregate(values, self.node)

    def node(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in self.known:
            raise Declined  # a constant of the op's
        return self.known[id(value)]


def _tensors(values: Any) -> list[torch.Tensor]:
    return [each for each in tree_leaves(values) if isinstance(each, torch.Tensor)]


def functional_of(op: Any) -> OpOverload | None:
    """The op that gives what `op` leaves in its first operand."""
    name = op._schema.name.split("::")[1]
    written = [argument.name for argument in op._schema.arguments if argument.alias_info is not None and argument.alias_info.is_write]
    if not name.endswith("_") or written != [op._schema.arguments[0].name]:
        return None
    packet = getattr(getattr(torch.ops, op.namespace), name[:-1], None)
    return getattr(packet, op._overloadname, None)


def _kernel_of_autograd(op: Any) -> Callable[..., Any] | None:
    """What autograd's dispatch calls for the op above all modes, if it takes it apart."""
    key = _key_of_autograd(op)
    return op.decompose if key == DispatchKey.CompositeImplicitAutograd else op.py_kernels.get(key)


def _is_composite(op: Any) -> bool:
    return _key_of_autograd(op) == DispatchKey.CompositeImplicitAutograd


def _key_of_autograd(op: Any) -> DispatchKey | None:
    try:
        return resolve_key(op, DispatchKey.AutogradCPU)
    except NotImplementedError:
        return None

"""An exported program with each op decomposed by itself, and equal ones once.

Before, in the exported graph:
    conv = aten.conv2d(x, w);  norm = aten.batch_norm(conv, …);  relu_ = aten.relu_(norm);  y = aten.add.Tensor(relu_, x)
After:
    convolution = aten.convolution(x, w, …);  sub = …;  add = …;  relu = aten.relu(add);  y = aten.add.Tensor(relu, x)

torch's run_decompositions runs the whole program again, twice, under its modes: a millisecond and more an op. Here an op that the tables
leave as it is stays what it is, and any other is traced once for each kind of arguments that it is called with (torch_trace.py). What
changes its operand in place becomes the op that does not; what was the operand is the result from there on. Where that is a slice, the
result is put into what was sliced, which is sliced again:

    x[2:4] = y:  slice = aten.slice.Tensor(x, 0, 2, 4);  copy_ = aten.copy_(slice, y)
    after:       copy = aten.copy(slice, y);  new = aten.slice_scatter(x, copy, 0, 2, 4);  again = aten.slice.Tensor(new, 0, 2, 4)

Declined, and left to run_decompositions: programs that change their inputs or state, or what other views of are read, or what has a view
that decomposes into other ops than views, as diagonals do; views by strides of a view, which read what it is a view of; ops of higher
order; numbers that the program computes; parameters that are made of other tensors (torchao's), which run_decompositions gives one by one.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.utils._pytree as torch_pytree
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export.graph_signature import OutputKind
from torch.fx import Graph, Node
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from .torch_checks import without_errors_of_linear_algebra
from .torch_nodes import code_of_any_name, module_of
from .torch_registry import all_decompositions, decomposition_of
from .torch_trace import Declined, Stays, functional_of, stays, traced


def decomposed(exported: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """A new program, whose ops are those that have no decomposition."""
    graph = None
    if _is_plain(exported):
        with torch.no_grad(), without_onednn():
            graph = _Decomposition().of(exported.graph)
    if graph is None:
        with without_errors_of_linear_algebra(), code_of_any_name():
            return exported.run_decompositions(all_decompositions())
    made = copy.copy(exported)
    made._graph_module = module_of(exported.graph_module, graph)
    return made


@contextmanager
def without_onednn() -> Iterator[None]:
    """While oneDNN is on, recurrent layers that need no gradients are decomposed into an op of its own."""
    before = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(before)


def _is_plain(exported: torch.export.ExportedProgram) -> bool:
    """Whether it computes tensors of known shapes with ops alone, and changes nothing that outlives a call."""
    if any(spec.kind is not OutputKind.USER_OUTPUT for spec in exported.graph_signature.output_specs):
        return False
    if any(map(is_traceable_wrapper_subclass, (*exported.state_dict.values(), *exported.constants.values()))):
        return False
    nodes = exported.graph.nodes
    if any(node.op in ("get_attr", "call_module", "call_method") for node in nodes):
        return False
    calls = [node for node in nodes if node.op == "call_function"]
    if any(not isinstance(node.target, torch._ops.OpOverload) and node.target is not operator.getitem for node in calls):
        return False
    values = (value for node in nodes for value in torch_pytree.tree_leaves(node.meta.get("val")))
    return not any(isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)) for value in values)


_SAME = {torch.ops.aten.lift_fresh_copy.default: torch.ops.aten.clone.default}
"""Ops that are others where nothing runs."""
_SAME_VALUE = (torch.ops.aten.alias.default, torch.ops.aten.detach.default)
_COPIES = (torch.ops.aten.clone.default, torch.ops.aten._to_copy.default)
_PUT_BACK = {
    torch.ops.aten.slice.Tensor: torch.ops.aten.slice_scatter.default,
    torch.ops.aten.select.int: torch.ops.aten.select_scatter.default,
}
"""What puts a changed view into what it is a view of."""


class _Decomposition:
    def __init__(self) -> None:
        self.graph = Graph()
        self.made: dict[Node, Any] = {}
        """What the program's nodes are in the new graph: nodes, or sequences of them."""
        self.known: dict[Node, list[Node]] = {}
        """The other way round."""
        self.torn: set[Node] = set()
        """Values of the program's that have views which are none in the new graph: neither would see a change of the other."""
        self.traced: dict[Any, Graph | None] = {}
        """None: the op stays as it is."""
        self.mode = FakeTensorMode()

    def of(self, graph: Graph) -> Graph | None:
        """None where the program is declined."""
        try:
            for node in graph.nodes:
                self.know(node, self.node(node))
                if self.is_torn(node):
                    self.torn.add(_owner(node))
        except Declined:
            return None
        self.graph.eliminate_dead_code()
        return self.graph

    def know(self, node: Node, made: Any) -> None:
        self.made[node] = made
        if isinstance(made, Node):
            self.known.setdefault(made, []).append(node)

    def is_torn(self, node: Node) -> bool:
        """Whether a view of the program's is none in the new graph. Ops that copy where they cannot share, as reshape, do so in both."""
        changes = isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable
        if changes or not _shares(node) or not isinstance(node.args[0], Node):
            return False
        made, of = (torch_pytree.tree_leaves(self.made[each]) for each in (node, node.args[0]))
        return not all(each in of or each.target in _COPIES or _shares(each) for each in made)

    def node(self, node: Node) -> Any:
        if node.op != "call_function":
            copied = self.graph.node_copy(node, self.made.__getitem__)
            copied.name = node.name  # by which the signature knows it
            return copied
        arguments: Any = torch.fx.node.map_arg((node.args, node.kwargs), self.made.__getitem__)
        args, kwargs = arguments
        if node.target is operator.getitem and not isinstance(args[0], Node):
            return args[0][args[1]]
        if node.target is torch.ops.aten.as_strided.default and isinstance(node.args[0], Node) and _shares(node.args[0]):
            raise Declined  # it reads memory of what its operand is a view of
        if not isinstance(node.target, torch._ops.OpOverload) or not node.target._schema.is_mutable:
            made = self.kept if stays(node.target, decomposition_of) else self.call
            return made(node.target, args, kwargs, node.meta)
        return self.changed(node, args, kwargs)

    def changed(self, node: Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Node:
        """The op without the change; whoever read its operand reads its result from here on. One that changes nothing, as dropout in
        inference, is its operand."""
        before, functional = args[0], functional_of(node.target)
        if functional is None or _owner(node) in self.torn:
            raise Declined
        views = list(_views(before))
        source: Any = views[-1].args[0] if views else before
        others = (user for each in (source, *views) for user in each.users if user not in views and _shares(user))
        changeable = source.op == "call_function" and not _shares(source) and not any(self.read_after(node, user) for user in others)
        after = self.call(functional, args, kwargs, node.meta, in_place=True)
        if _is_copy(after, before):
            return before
        if not isinstance(after, Node) or _kind(after.meta["val"])[::2] != _kind(before.meta["val"])[::2]:
            raise Declined  # of another shape or type
        for view in views:
            put_back: Any = _PUT_BACK[view.target]  # type: ignore[index]
            within: Any = view.args[0]
            after = self.call(put_back, (within, after, *view.args[1:]), view.kwargs, within.meta)
        if not changeable or _kind(after.meta["val"]) != _kind(source.meta["val"]):
            raise Declined
        again = node.users or any(self.read_after(node, view) for view in views)
        self.renew(source, after)
        for view in reversed(views if again else ()):
            after = self.kept(view.target, (after, *view.args[1:]), view.kwargs, view.meta)
            self.renew(view, after)
        return after

    def read_after(self, node: Node, made: Node) -> bool:
        """Whether the program reads what became `made`, or a view of it, after one of its nodes."""
        if any(user > node for known in self.known.get(made, ()) for user in known.users):
            return True
        return any(self.read_after(node, user) for user in made.users if _shares(user))

    def renew(self, before: Node, after: Node) -> None:
        """What was `before` in the new graph is `after` from here on."""
        for known in self.known.pop(before, ()):
            self.know(known, after)

    def kept(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], meta: dict[str, Any]) -> Node:
        made = self.graph.call_function(_SAME.get(target, target), args, kwargs)
        made.meta = {**meta, "original_aten": target} if isinstance(target, torch._ops.OpOverload) else dict(meta)
        return made

    def call(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], meta: dict[str, Any], in_place: bool = False) -> Any:
        """What the op decomposes into: itself, where the tables leave it. `in_place`: `meta` tells of the op that changes its operand."""
        nodes, spec = torch_pytree.tree_flatten((args, kwargs))
        key = (target, in_place, spec, tuple(map(_kind, (n.meta["val"] if isinstance(n, Node) else n for n in nodes))))
        if key not in self.traced:
            self.traced[key] = self.trace(target, nodes, spec, None if in_place else target)
        graph = self.traced[key]
        if graph is None:
            return self.kept(target, args, kwargs, meta)
        inputs = iter(n for n in nodes if isinstance(n, Node))
        made: dict[Node, Any] = {}
        for inner in graph.nodes:
            if inner.op == "placeholder":
                made[inner] = next(inputs)
            elif inner.op == "output":
                return torch.fx.node.map_arg(inner.args[0], made.__getitem__)
            elif inner.target in _SAME_VALUE:
                made[inner] = made[inner.args[0]]
            else:
                made[inner] = self.graph.node_copy(inner, made.__getitem__)
                made[inner].meta = {**{name: of for name, of in meta.items() if name != "tensor_meta"}, **inner.meta}
        raise AssertionError("a graph has an output")

    def trace(self, target: Any, leaves: list[Any], spec: Any, whole: Any) -> Graph | None:
        """The op's graph; its placeholders are the tensors among `leaves`. None where it is `whole` and has no decomposition for them."""
        tensors = [leaf.meta["val"] for leaf in leaves if isinstance(leaf, Node)]
        if not all(isinstance(value, torch.Tensor) for value in tensors):
            raise Declined

        def function(*given: torch.Tensor) -> Any:
            values = iter(given)
            args, kwargs = torch_pytree.tree_unflatten([next(values) if isinstance(leaf, Node) else leaf for leaf in leaves], spec)
            return target(*args, **kwargs)

        try:
            return traced(function, tensors, self.mode, decomposition_of, whole)
        except Stays:
            return None


def _is_copy(value: Any, source: Node) -> bool:
    """Whether a value is `source`, or a copy of it and no more."""
    return value is source or (isinstance(value, Node) and value.target is torch.ops.aten.clone.default and value.args[0] is source)


def _views(node: Any) -> Iterator[Node]:
    """The slices that a value is of another, from the last on."""
    while isinstance(node, Node) and node.target in _PUT_BACK:
        yield node
        node = node.args[0]


def _owner(node: Node) -> Node:
    """What a view of the program's is a part of."""
    while _shares(node) and isinstance(node.args[0], Node):
        node = node.args[0]
    return node


def _shares(node: Node) -> bool:
    return node.op == "call_function" and (
        not isinstance(node.target, torch._ops.OpOverload) or any(result.alias_info is not None for result in node.target._schema.returns)
    )


def _kind(value: Any) -> Any:
    """What a trace depends on."""
    if isinstance(value, torch.Tensor):
        return tuple(value.shape), value.stride(), value.dtype, value.device
    return type(value), str(value)

"""A module, or a function over tensors, as torch.export sees it: without gradients, with its state in buffers.

torch.export runs forward once and records the tensors' ops. What forward does to tensors that are plain attributes is recorded as well, as
changes of buffers. What it does to other attributes is lost: torch puts them back. A module whose next call would see such a change is
refused.
"""

from __future__ import annotations

import contextlib
import inspect
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
import torch.utils._pytree as torch_pytree
from torch._C._functorch import is_functorch_wrapped_tensor
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from hloom.passes.errors import InvalidProgramError

from .torch_checks import without_checks
from .torch_decompose import without_onednn
from .torch_instance_norms import tracked_moments
from .torch_nodes import NOT_THE_USERS, code_of_any_name, of_error, quiet_notes, short_stacks, without_code
from .torch_registry import differentiated_in_transforms, own_decompositions_first

_TRANSFORMS = ("_functorch/eager_transforms.py", "_functorch/vmap.py")
"""Of torch: where grad, jvp, the Jacobians and vmap are."""
_PLAIN = "_hloom_plain"
"""Marks the tensors that a module holds as plain attributes."""


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """While torch traces, which one thread at a time may do: torch.export's modes are of the whole process.

    The lock is torch.compile's own: with another, a thread that compiles a graph of torch.compile's and one that compiles a module could
    wait for each other.
    """
    from torch._dynamo.convert_frame import compile_lock  # a second of imports, which torch.export makes too

    with compile_lock:
        yield


@one_at_a_time()
def exported_module(
    source: Any, examples: tuple[Any, ...], keywords: dict[str, Any], dynamic_shapes: Any = None
) -> torch.export.ExportedProgram:
    """`dynamic_shapes` is torch.export's.

    Raises InvalidProgramError where torch cannot export it, and where a call would change what no tensor holds."""
    if not callable(source):
        raise InvalidProgramError(f"a {type(source).__name__} is not a torch module", remedy="give a torch.nn.Module or ExportedProgram")
    if isinstance(source, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        raise InvalidProgramError("TorchScript is not exported", remedy="give the module or function that it was scripted or traced from")
    module = source if isinstance(source, torch.nn.Module) else _Function(source)
    args, kwargs = torch_pytree.tree_map(lambda x: torch.from_numpy(x) if isinstance(x, np.ndarray) else x, (examples, keywords))
    args, kwargs = _told_apart(module, (args, kwargs))
    exported, changes = _watched_export(module, args, kwargs, dynamic_shapes)
    if changes and not _settled(module, args, kwargs, dynamic_shapes, exported, changes):
        change = changes[0]
        raise InvalidProgramError(
            f"forward changes the attribute {change.name} of {type(change.module).__name__}, and the next call depends on it",
            remedy=f"keep it in a tensor that the module holds from the start: self.register_buffer({change.name!r}, torch.tensor(...))",
        )
    return exported


def _told_apart(module: torch.nn.Module, inputs: Any) -> Any:
    """The example inputs as tensors that are no other input and none of the module's.

    torch.export takes a tensor that it meets twice, as in compile(attention, x, x, x), for one: the program would read one array alone.
    """
    own = [value for child in module.modules() for value in vars(child).values()]
    met = {id(tensor) for tensor in (*module.parameters(), *module.buffers(), *own)}

    def told_apart(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        leaf = leaf.detach() if id(leaf) in met else leaf
        met.add(id(leaf))
        return leaf

    return torch_pytree.tree_map(told_apart, inputs)


def is_plain(tensor: torch.Tensor) -> bool:
    """Whether a buffer of an exported program is a plain attribute of the module."""
    return hasattr(tensor, _PLAIN)


class _Function(torch.nn.Module):
    """A module that calls a function: torch exports nothing else."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function
        # names and defaults of the parameters are the function's, where it tells them
        self.forward = function if _has_signature(function) else self._any

    def _any(self, *args: Any, **keywords: Any) -> Any:
        return self.function(*args, **keywords)


def _has_signature(function: Callable[..., Any]) -> bool:
    """Functions of C, as torch.sin, have none that Python knows."""
    try:
        return bool(inspect.signature(function))
    except ValueError:
        return False


def _export(module: torch.nn.Module, args: Any, kwargs: Any, dynamic_shapes: Any) -> torch.export.ExportedProgram:
    try:
        with (
            torch.no_grad(), own_decompositions_first(), _plain_tensors_as_buffers(module), warnings.catch_warnings(), without_checks(),
            without_code(), code_of_any_name(), short_stacks(), quiet_notes(), tracked_moments(),
        ):  # fmt: skip
            warnings.filterwarnings("ignore", ".*was assigned during export")  # such attributes are watched here
            exported = torch.export.export(module, args, kwargs, dynamic_shapes=dynamic_shapes, strict=False)
        if any(map(is_functorch_wrapped_tensor, exported.constants.values())):
            raise RuntimeError("a constant of the exported program is a tensor of functorch's")
        return exported
    except Exception as error:
        if _is_of_a_transform(error) and not kwargs and dynamic_shapes is None and not isinstance(module, torch.fx.GraphModule):
            modes: tuple[Literal["fake"], Literal["real"]] = ("fake", "real")  # derivatives forward mix devices where tensors are fake
            for mode in modes:
                with contextlib.suppress(Exception):
                    return _export(_transformed(module, args, mode), args, kwargs, dynamic_shapes)
        remedy = "give example inputs for which torch.export.export(module, inputs) works"
        if "register a pytree" in str(error):
            remedy = "register the class, of a dataclass by torch.export.register_dataclass, or use tuples, lists and dictionaries"
        op, why = _failing_op(error), f"{type(error).__name__}: {error}"
        if isinstance(error, GuardOnDataDependentSymNode):
            op = op or "aten.item"
            why = f"forward's course depends on what tensors hold (as by aten.item, aten.nonzero): {error}"
        elif op is not None:
            why = f"at {op}: {why}"
        raise InvalidProgramError(f"torch.export failed: {why}", op=op, loc=_line_of(error), stage="input", remedy=remedy) from error


def _is_of_a_transform(error: Exception) -> bool:
    """Whether torch.export failed at a transform of torch.func, as it does where a gradient goes through two products of parameters, and at
    a Jacobian in a vmap."""
    files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    return "functorch" in str(error) or any(file.endswith(_TRANSFORMS) for file in files)


def _transformed(module: torch.nn.Module, args: Any, mode: Literal["fake", "real"]) -> torch.fx.GraphModule:
    """What forward does, as the ops of its transforms: make_fx takes these for what they do. The module's buffers stay as they are."""
    buffers = [(buffer, buffer.clone()) for buffer in module.buffers()]
    with torch.no_grad(), without_onednn(), differentiated_in_transforms():
        try:
            traced = make_fx(module, tracing_mode=mode, _allow_non_fake_inputs=True)(*args)
        finally:
            for buffer, before in buffers:
                buffer.copy_(before)
    _name_as(module, traced)
    return traced


def _name_as(module: torch.nn.Module, traced: torch.fx.GraphModule) -> None:
    """Gives the constants of a graph that are the module's parameters and buffers the names that they have there."""
    names = {id(tensor): name for name, tensor in (*module.named_parameters(), *module.named_buffers())}
    for node in traced.graph.find_nodes(op="get_attr"):
        tensor = getattr(traced, node.target, None)
        if id(tensor) in names:
            *path, leaf = names[id(tensor)].split(".")
            holder: torch.nn.Module = traced
            for part in path:
                if part not in dict(holder.named_children()):
                    holder.add_module(part, torch.nn.Module())
                holder = holder.get_submodule(part)
            setattr(holder, leaf, tensor)
            node.target = names[id(tensor)]
    traced.recompile()


def _failing_op(error: Exception) -> str | None:
    """The innermost torch op that was being traced."""
    return next(map(str, of_error(error, torch._ops.OpOverload)), None)


def _line_of(error: Exception) -> str | None:
    """The innermost line of the user's program that was being traced, as "file:line: source"."""
    lines = [line for line in traceback.extract_tb(error.__traceback__) if not line.filename.startswith(NOT_THE_USERS)]
    return next((f"{line.filename}:{line.lineno}: {line.line}" for line in reversed(lines)), None)


@contextlib.contextmanager
def _plain_tensors_as_buffers(module: torch.nn.Module) -> Iterator[None]:
    """Tensors that are plain attributes are buffers meanwhile, which forward may replace (a recurrent state); others it may not."""
    found = [(child, name, value) for child in module.modules() for name, value in vars(child).items() if isinstance(value, torch.Tensor)]
    try:
        for child, name, value in found:
            delattr(child, name)
            setattr(value, _PLAIN, True)
            child.register_buffer(name, value, persistent=False)
        yield
    finally:
        for child, name, value in found:
            if name in child._buffers:
                delattr(child, name)
            setattr(child, name, value)


# Attributes that are no tensors.


class _Change(NamedTuple):
    module: torch.nn.Module
    name: str
    before: Any
    after: Any


_OF_TORCH = set(vars(torch.nn.Module())) | {"forward"}
_OF_RECURRENT = {"_flat_weights", "_flat_weight_refs"}
"""Torch's lists of a recurrent layer's parameters, which it renews whenever one is set: export sets all of them."""


class _Unread:
    """Stands for a tensor that a call left in an attribute, and that the next one should not need."""


def _watched_export(
    module: torch.nn.Module, args: Any, kwargs: Any, dynamic_shapes: Any
) -> tuple[torch.export.ExportedProgram, list[_Change]]:
    """The export, and which plain attributes forward has changed by its end."""
    before: dict[torch.nn.Module, dict[str, Any]] = {}
    changes: dict[tuple[torch.nn.Module, str], _Change] = {}

    def begin(*_: Any) -> None:
        before.update({child: {name: _copied(value) for name, value in _attributes(child)} for child in module.modules()})

    def end(*_: Any) -> None:
        for child, old in before.items():
            for name, after in _attributes(child):
                if not _same(old.get(name), after):
                    changes[child, name] = _Change(child, name, old.get(name), _copied(after))

    hooks = [module.register_forward_pre_hook(begin), module.register_forward_hook(end)]
    try:
        return _export(module, args, kwargs, dynamic_shapes), list(changes.values())
    finally:
        for hook in hooks:
            hook.remove()


def _settled(
    module: torch.nn.Module, args: Any, kwargs: Any, dynamic_shapes: Any, first: torch.export.ExportedProgram, changes: list[_Change]
) -> bool:
    """Whether a second call would run the same ops: what forward keeps is a cache, or left for others to see."""
    names = [(change, hasattr(change.module, change.name)) for change in changes]
    try:
        for change in changes:
            after = torch_pytree.tree_map(lambda leaf: _Unread() if isinstance(leaf, torch.Tensor) else leaf, change.after)
            setattr(change.module, change.name, after)
        return _watched_export(module, args, kwargs, dynamic_shapes)[0].graph_module.code == first.graph_module.code
    except InvalidProgramError:
        return False
    finally:
        for change, existed in names:
            if existed:
                setattr(change.module, change.name, change.before)
            else:
                delattr(change.module, change.name)


def _attributes(module: torch.nn.Module) -> list[tuple[str, Any]]:
    """The attributes that are neither torch's own nor tensors to begin with."""
    known = _OF_TORCH | _OF_RECURRENT if isinstance(module, torch.nn.RNNBase) else _OF_TORCH
    return [(name, value) for name, value in vars(module).items() if name not in known]


def _copied(value: Any) -> Any:
    """The same leaves in new containers."""
    return torch_pytree.tree_map(lambda leaf: leaf, value)


def _same(before: Any, after: Any) -> bool:
    old, new = torch_pytree.tree_leaves(before), torch_pytree.tree_leaves(after)
    plain = (int, float, bool, str)
    return len(old) == len(new) and all(x is y or (isinstance(x, plain) and type(x) is type(y) and x == y) for x, y in zip(old, new))

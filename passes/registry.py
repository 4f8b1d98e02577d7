"""The registry of hloom's own passes: one pass a file, found by its command-line name, imported when first asked for.

A folder of passes/ is a stage, a file directly in it is a pass, and its subfolders are what the passes are made of; `common` is what
several stages share.

A pass is a function over a module op with typed keyword options:

    @register_pass("plan-fusion", "groups ops into fusions")
    def plan_fusion(module: ir.Operation, *, max_instances: int = 2048) -> None: ...

`plan-fusion{max-instances=64}` in a textual pipeline calls it with `max_instances=64`. Options are bool, int, float or str with a default.
The function's module docstring shows the IR before and after, what must hold and what it declines.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from hloom.runtime.forking import process_lock

from .errors import PipelineError

_STAGES = ("stablehlo", "fused", "lhlo", "linalg", "tiled", "vector", "gpu", "thunk", "llvm", "nvvm")


@dataclass(frozen=True)
class PassInfo:
    """A registered pass: its command-line `name`, the function, one line of description, its options' defaults by name, and the names of
    the ops without which it has nothing to do (none where it must always run). The function may return False where it left the module as
    it was: nothing is verified then."""

    name: str
    fn: Callable[..., bool | None]
    description: str
    options: dict[str, Any]
    ops: frozenset[str] = frozenset()

    def bind(self, given: dict[str, str]) -> dict[str, Any]:
        """Turns textual options into typed keyword arguments. Raises PipelineError on an unknown name or a value of the wrong type."""
        bound = {}
        for key, text in given.items():
            name = key.replace("-", "_")
            if name not in self.options:
                known = ", ".join(k.replace("_", "-") for k in self.options) or "none"
                raise PipelineError(f"pass {self.name!r} has no option {key!r}", remedy=f"its options: {known}")
            bound[name] = _convert(self.name, key, text, self.options[name])
        return bound


def _convert(pass_name: str, key: str, text: str, default: Any) -> Any:
    kind = type(default)
    try:
        if kind is bool:
            return {"true": True, "1": True, "false": False, "0": False}[text.lower()]
        return kind(text)
    except (KeyError, ValueError):
        raise PipelineError(f"option {key!r} of pass {pass_name!r} wants {kind.__name__}, got {text!r}") from None


_passes: dict[str, PassInfo] = {}
_Pass = TypeVar("_Pass", bound=Callable[..., bool | None])


def register_pass(name: str, description: str, *, ops: Iterable[str] = ()) -> Callable[[_Pass], _Pass]:
    """Registers the decorated function as the pass `name`. Its keyword-only parameters with defaults are the pass's options.

    `ops`: a pipeline leaves the pass out where the module holds no op of these names.
    """

    def decorate(fn: _Pass) -> _Pass:
        parameters = list(inspect.signature(fn).parameters.values())[1:]
        _passes[name] = PassInfo(name, fn, description, {p.name: p.default for p in parameters}, frozenset(ops))
        return fn

    return decorate


def find_pass(name: str) -> PassInfo | None:
    """The pass of that name, or None; imports the file that is named after it."""
    if name not in _passes:
        with process_lock:
            module = _pass_files().get(name.replace("-", "_"))
            if module is not None:
                importlib.import_module(module)
    return _passes.get(name)


def all_passes() -> list[PassInfo]:
    """Every pass of hloom's own, in the order of the stages, by name within one, then those that others registered. Imports them all."""
    with process_lock:
        for module in _pass_files().values():
            importlib.import_module(module)
    order = {module: number for number, module in enumerate(_pass_files().values())}
    return sorted(_passes.values(), key=lambda info: order.get(info.fn.__module__, len(order)))


def near_names(name: str, others: Iterable[str] = ()) -> list[str]:
    """Names of hloom's passes, and of `others`, that one may have meant by `name`, the likeliest first."""
    return difflib.get_close_matches(name, [*(file.replace("_", "-") for file in _pass_files()), *others])


@functools.cache
def _pass_files() -> dict[str, str]:
    """The passes' modules by the names of their files, in the order of the stages."""
    stages = (importlib.import_module(f"hloom.passes.{stage}") for stage in _STAGES)
    return {m.name: f"{stage.__name__}.{m.name}" for stage in stages for m in pkgutil.iter_modules(stage.__path__) if not m.ispkg}

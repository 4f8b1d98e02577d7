"""Stand-ins for the Python modules of dialects whose ops hloom reads and writes by name alone.

The bindings look for a Python module of its dialect each time they hand out an op or a type. Where there is none they search the whole path
again (80 µs), under a lock that a forked child would find held. Where there is one they import it: the classes of the ops of linalg and
llvm, with the DSL that linalg's are defined in, take a tenth of the time of a process's first compile, and hloom makes none of them.

A stand-in of a module that exists becomes it as soon as somebody wants a name of it.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterable
from typing import Any

from hloom.runtime.forking import process_lock

_PACKAGE = "torch_mlir.dialects"
_OF_IMPORT = ("__path__", "__all__")
"""Names that an import of what is in the module asks for; others between underscores are asked for by who looks through all modules."""


def stand_in(absent: Iterable[str], unread: Iterable[str]) -> None:
    """Puts empty modules where the bindings look for those of dialects, if nobody imported them: of `absent`, which have none, and of
    `unread`, which have one that hloom does not need."""
    for name in absent:
        sys.modules.setdefault(f"{_PACKAGE}.{name}", types.ModuleType(f"{_PACKAGE}.{name}"))
    for name in unread:
        sys.modules.setdefault(f"{_PACKAGE}.{name}", _becoming(f"{_PACKAGE}.{name}"))


def _becoming(name: str) -> types.ModuleType:
    """An empty module that becomes the one of that name."""
    module = types.ModuleType(name)

    def wanted(attribute: str) -> Any:
        if attribute.startswith("__") and attribute not in _OF_IMPORT:
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
        with process_lock:
            if sys.modules.get(name) is module:
                del sys.modules[name]
            real = importlib.import_module(name)
            module.__dict__.update(vars(real))
        return getattr(real, attribute)

    module.__getattr__ = wanted  # type: ignore[method-assign]
    return module

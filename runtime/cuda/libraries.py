"""NVIDIA's libraries as the thunks call them: imported, and their handles made, when the first thunk of a program asks."""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import CudaError, ExecutionError, MissingLibraryError


@dataclass(frozen=True)
class _Library:
    module: str
    create: str
    destroy: str
    packages: str
    """What to install: the binding, and the library itself."""


_LIBRARIES = {
    "cuBLASLt": _Library("nvmath.bindings.cublasLt", "create", "destroy", "nvmath-python nvidia-cublas"),
    "cuBLAS": _Library("nvmath.bindings.cublas", "create", "destroy", "nvmath-python nvidia-cublas"),
    "cuFFT": _Library("nvmath.bindings.cufft", "create", "destroy", "nvmath-python nvidia-cufft"),
    "cuSOLVER": _Library("nvmath.bindings.cusolverDn", "create", "destroy", "nvmath-python nvidia-cusolver nvidia-cublas"),
    "cuSPARSE": _Library("nvmath.bindings.cusparse", "create", "destroy", "nvmath-python nvidia-cusparse"),
    "cuDNN": _Library("cudnn", "create_handle", "destroy_handle", "nvidia-cudnn-frontend nvidia-cudnn-cu13"),
}


class Libraries:
    """The libraries' modules, and one handle each, for one program: handles belong to whoever enqueues with them."""

    def __init__(self, import_module: Callable[[str], Any] = importlib.import_module):
        self._import = import_module
        self._handles: dict[str, int] = {}
        self._made = contextlib.ExitStack()

    def module(self, name: str) -> Any:
        """The Python module that binds the library. Raises MissingLibraryError."""
        library = _LIBRARIES[name]
        try:
            return self._import(library.module)
        except Exception as error:
            raise _missing(name, error) from None

    def handle(self, name: str) -> int:
        """A handle of the library, the same each time. Raises MissingLibraryError."""
        if name not in self._handles:
            self._handles[name] = self.new_handle(name)
        return self._handles[name]

    def new_handle(self, name: str) -> int:
        module, library = self.module(name), _LIBRARIES[name]
        try:
            handle = getattr(module, library.create)()
        except Exception as error:
            raise _missing(name, error) from None
        self.at_close(getattr(module, library.destroy), handle)
        return handle

    def at_close(self, destroy: Callable[[Any], Any], made: Any) -> None:
        """Something that a library made, and what destroys it."""
        self._made.callback(destroy, made)

    def close(self) -> None:
        """Destroys all that was made, the last first, in the context in which it was. Raises nothing."""
        with contextlib.suppress(Exception):
            self._made.close()


def generated_instead(op: str) -> str:
    """The remedy where a library does not do what the planner gave it."""
    return f'compile with policy={{"kernel": [{{"op": "{op}", "use": "generated"}}]}} (docs/policy.md), for a kernel of our own'


def _missing(name: str, error: Exception) -> MissingLibraryError:
    remedy = f"pip install {_LIBRARIES[name].packages}"
    return MissingLibraryError(f"the program calls {name}, which cannot be used: {error}", remedy=remedy)


def checked(library: str, doing: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates a function that calls a library: what the library raises becomes a CudaError that says what was being done."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Any:
            try:
                return function(*arguments, **keywords)
            except ExecutionError:
                raise
            except Exception as error:
                raise CudaError(f"{library} failed {doing}: {type(error).__name__}: {error}") from None

        return call

    return decorate

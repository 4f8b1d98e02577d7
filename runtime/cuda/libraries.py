"""NVIDIA's libraries as the thunks call them: imported, and their handles made, when the first thunk of a program asks."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import CudaError, MissingLibraryError


@dataclass(frozen=True)
class _Library:
    module: str
    create: str
    packages: str
    """What to install: the binding, and the library itself."""


_LIBRARIES = {
    "cuBLASLt": _Library("nvmath.bindings.cublasLt", "create", "nvmath-python nvidia-cublas"),
    "cuBLAS": _Library("nvmath.bindings.cublas", "create", "nvmath-python nvidia-cublas"),
    "cuFFT": _Library("nvmath.bindings.cufft", "create", "nvmath-python nvidia-cufft"),
    "cuSOLVER": _Library("nvmath.bindings.cusolverDn", "create", "nvmath-python nvidia-cusolver nvidia-cublas"),
    "cuDNN": _Library("cudnn", "create_handle", "nvidia-cudnn-frontend nvidia-cudnn-cu13"),
}


class Libraries:
    """The libraries' modules and handles, one each for a device."""

    def __init__(self, import_module: Callable[[str], Any] = importlib.import_module):
        self._import = import_module
        self._handles: dict[str, int] = {}

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
        create = getattr(self.module(name), _LIBRARIES[name].create)
        try:
            return create()
        except Exception as error:
            raise _missing(name, error) from None


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
            except (CudaError, MissingLibraryError):
                raise
            except Exception as error:
                raise CudaError(f"{library} failed {doing}: {type(error).__name__}: {error}") from None

        return call

    return decorate

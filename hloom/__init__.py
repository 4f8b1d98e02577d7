"""hloom: compiles StableHLO programs to x86, AArch64 and CUDA. The front door; everything behind it is imported on first use."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hloom.runtime.forking import process_lock
from hloom.runtime.garbage import known_objects_kept

if TYPE_CHECKING:
    __version__: str
    from hloom.compiler.api import compile as compile
    from hloom.compiler.explorer.explain import explain as explain
    from hloom.compiler.frontends.torch_lowerings import TorchOp as TorchOp
    from hloom.compiler.frontends.torch_lowerings import torch_decomposition as torch_decomposition
    from hloom.compiler.frontends.torch_lowerings import torch_differentiated as torch_differentiated
    from hloom.compiler.frontends.torch_lowerings import torch_lowering as torch_lowering
    from hloom.compiler.jax.jit import jit as jit
    from hloom.compiler.pipeline import Pipeline as Pipeline
    from hloom.compiler.target import Target as Target
    from hloom.compiler.verify import VerificationError as VerificationError
    from hloom.passes.errors import CompileError as CompileError
    from hloom.passes.errors import InvalidProgramError as InvalidProgramError
    from hloom.passes.errors import ParseError as ParseError
    from hloom.passes.errors import UnsupportedOpError as UnsupportedOpError
    from hloom.passes.fused.planner.policy import Policy as Policy
    from hloom.passes.registry import register_pass as register_pass
    from hloom.runtime.custom_calls import custom_call as custom_call
    from hloom.runtime.dynamic import DynamicExecutable as DynamicExecutable
    from hloom.runtime.entries import Executables as Executables
    from hloom.runtime.errors import ExecutionError as ExecutionError
    from hloom.runtime.executable import Executable as Executable
    from hloom.runtime.library import get_threads as get_threads
    from hloom.runtime.library import set_threads as set_threads
    from hloom.runtime.loading import load as load
    from hloom.runtime.programs import programs as programs

_RUNTIME_ERRORS = """ExecutionError ArityError ShapeError DtypeError InputError DamagedFileError MissingFileError VersionError
CpuFeatureError NotBoundError LoadError MissingDriverError MissingLibraryError GpuArchitectureError CudaError
CustomCallError""".split()
_COMPILE_ERRORS = "CompileError UnsupportedOpError ParseError InvalidProgramError PipelineError PassFailure".split()

_HOME = {
    "__version__": "importlib.metadata",
    "compile": "hloom.compiler.api",
    "explain": "hloom.compiler.explorer.explain",
    "jit": "hloom.compiler.jax.jit",
    "Pipeline": "hloom.compiler.pipeline",
    "Target": "hloom.compiler.target",
    "Policy": "hloom.passes.fused.planner.policy",
    "register_pass": "hloom.passes.registry",
    **dict.fromkeys(
        ("TorchOp", "torch_lowering", "torch_decomposition", "torch_differentiated"), "hloom.compiler.frontends.torch_lowerings"
    ),
    "custom_call": "hloom.runtime.custom_calls",
    "load": "hloom.runtime.loading",
    "programs": "hloom.runtime.programs",
    "DynamicExecutable": "hloom.runtime.dynamic",
    "Executable": "hloom.runtime.executable",
    "Executables": "hloom.runtime.entries",
    "set_threads": "hloom.runtime.library",
    "get_threads": "hloom.runtime.library",
    "VerificationError": "hloom.compiler.verify",
    **dict.fromkeys(_COMPILE_ERRORS, "hloom.passes.errors"),
    **dict.fromkeys(_RUNTIME_ERRORS, "hloom.runtime.errors"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'hloom' has no attribute {name!r}")
    with process_lock, known_objects_kept(lasting=True):
        home = importlib.import_module(_HOME[name])
        value = home.version("hloom") if name == "__version__" else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})

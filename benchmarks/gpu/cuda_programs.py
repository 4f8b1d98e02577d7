"""The workloads in CUDA: which function of which file, compiled on the machine that runs it, and how it is called."""

from __future__ import annotations

import ctypes
import functools
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from ..settings import BUILD

SOURCES = Path(__file__).parent / "cuda"

FUNCTIONS = {
    "chain": ("elementwise.cu", "chain"),
    "softmax": ("softmax.cu", "softmax"),
    "layernorm": ("layernorm.cu", "layernorm"),
    "cartpole": ("cartpole.cu", "cartpole"),
    "cartpole_split": ("cartpole.cu", "cartpole"),
    "cartpole_rng": ("cartpole.cu", "cartpole_rng"),
}
"""By program: functions of (inputs…, outputs…, two sizes, stream)."""

STEPS = 1000


def nvcc(source: Path, library: Path, architecture: str) -> list[str]:
    """The command that makes a shared library for `sm_90` and the like."""
    return ["nvcc", "-O3", f"-arch={architecture}", "-shared", "-Xcompiler", "-fPIC", str(source), "-o", str(library)]


@functools.cache
def compile_cuda(file: str, architecture: str) -> ctypes.CDLL:
    """Raises RuntimeError with the compiler's words, FileNotFoundError where there is no nvcc."""
    BUILD.mkdir(parents=True, exist_ok=True)
    library = BUILD / f"{Path(file).stem}.{architecture}.so"
    done = subprocess.run(nvcc(SOURCES / file, library, architecture), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"nvcc does not compile {file}: {(done.stderr or done.stdout).strip()[-300:]}")
    return ctypes.CDLL(str(library))


def bind_cuda(program: str, architecture: str, addresses: Sequence[int], sizes: Sequence[int]) -> Callable[[int], None]:
    """A launch on the stream that it is given; it raises RuntimeError where it fails. `addresses`: of the inputs, then the outputs."""
    file, name = FUNCTIONS[program]
    return bind(getattr(compile_cuda(file, architecture), name), addresses, sizes)


def on_current_stream(launch: Callable[[int], None]) -> None:
    import torch

    launch(torch.cuda.current_stream().cuda_stream)


def bind(function: Callable[..., int], addresses: Sequence[int], sizes: Sequence[int]) -> Callable[[int], None]:
    arguments = [*map(ctypes.c_void_p, addresses), *map(ctypes.c_long, sizes)]

    def launch(stream: int) -> None:
        if status := function(*arguments, ctypes.c_void_p(stream)):
            raise RuntimeError(f"a launch failed: status {status}")

    return launch

"""The workloads in C: which function of which file, and how it is called. Compiled on the machine that runs it."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

SOURCES = Path(__file__).parent / "c"
FLAGS = ("-O3", "-march=native", "-mprefer-vector-width=512", "-ffast-math", "-fopenmp", "-fPIC")

FUNCTIONS = {
    "chain": ("elementwise.c", "chain"),
    "softmax": ("rows.c", "softmax"),
    "layernorm": ("rows.c", "layernorm"),
    "cartpole": ("cartpole.c", "cartpole"),
    "cartpole_split": ("cartpole.c", "cartpole"),
    "cartpole_rng": ("cartpole.c", "cartpole_rng"),
}
"""By program: C functions of (inputs…, outputs…, two sizes)."""


def compile_c(program: str, folder: Path) -> ctypes.CDLL:
    return compile_source(FUNCTIONS[program][0], folder)


def compile_source(name: str, folder: Path) -> ctypes.CDLL:
    """Raises CalledProcessError where there is no gcc that takes these flags."""
    source = SOURCES / name
    library = folder / f"{source.stem}.so"
    compiled = folder / f"{source.stem}.o"
    subprocess.run(["gcc", *FLAGS, "-c", str(source), "-o", str(compiled)], check=True, capture_output=True)
    # linked without -ffast-math, with which a library that is loaded has its thread take numbers below the normal ones for zeros
    subprocess.run(["gcc", "-shared", "-fopenmp", str(compiled), "-o", str(library), "-lm"], check=True, capture_output=True)
    return ctypes.CDLL(str(library))


def bind_c(library: ctypes.CDLL, program: str, inputs: Sequence[np.ndarray]) -> tuple[Callable[[], object], list[np.ndarray]]:
    """A call without arguments, and the arrays that it writes into."""
    function = getattr(library, FUNCTIONS[program][1])
    function.restype = None
    first = inputs[0]
    if program.startswith("cartpole"):
        outputs = [np.empty_like(first), np.empty(first.shape[1], np.float32)]
        sizes = (1000, first.shape[1])
    else:
        outputs = [np.empty_like(first)]
        sizes = first.shape
    arguments = [ctypes.c_void_p(array.ctypes.data) for array in (*inputs, *outputs)] + [ctypes.c_long(size) for size in sizes]
    return lambda: function(*arguments), outputs

"""Programs for tests on a GPU: compiled for the GPU that is there, saved and loaded again as a file would be from another machine.

Where $HLOOM_GPU_TESTS names a folder they are taken from it, and need no compiler. With $HLOOM_GPU_TARGET they are put there: each test
then ends, skipped, where it would have its first program.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from while_program import HOST, WHILE

import hloom
from hloom.runtime.artifact import Artifact
from hloom.runtime.cuda.driver import default_driver
from hloom.runtime.executable import Executable, load

__all__ = ["CASE", "ELEMENTWISE", "FOR", "HOST", "WHILE", "build", "capability", "made", "matmul", "target", "traced"]

_READY, _MAKE_FOR = os.environ.get("HLOOM_GPU_TESTS", ""), os.environ.get("HLOOM_GPU_TARGET", "")

ELEMENTWISE = """func.func @main(%x: tensor<128x256xf32>, %b: tensor<256xf32>) -> tensor<128x256xf32> {
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<256xf32>) -> tensor<128x256xf32>
  %1 = stablehlo.add %x, %0 : tensor<128x256xf32>
  %2 = stablehlo.tanh %1 : tensor<128x256xf32>
  return %2 : tensor<128x256xf32>
}"""

CASE = """func.func @main(%i: tensor<i32>, %x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = "stablehlo.case"(%i) ({
    %1 = stablehlo.negate %x : tensor<64xf32>
    stablehlo.return %1 : tensor<64xf32>
  }, {
    %1 = stablehlo.add %x, %x : tensor<64xf32>
    stablehlo.return %1 : tensor<64xf32>
  }, {
    %1 = stablehlo.multiply %x, %x : tensor<64xf32>
    stablehlo.return %1 : tensor<64xf32>
  }) : (tensor<i32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}"""

FOR = """func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<500> : tensor<i32>
  %step = stablehlo.constant dense<1.0> : tensor<64xf32>
  %r:2 = stablehlo.while(%y = %x, %i = %zero) : tensor<64xf32>, tensor<i32>
    cond {
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %t = stablehlo.add %y, %step : tensor<64xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %t, %j : tensor<64xf32>, tensor<i32>
    }
  return %r#0 : tensor<64xf32>
}"""


def capability() -> int:
    """Of the GPU that is there, 90 for 9.0, or of that for which programs are made."""
    return int(_MAKE_FOR.strip("sm_a")) if _MAKE_FOR else default_driver().capability


def target() -> str:
    """The target of the GPU that is there."""
    return _MAKE_FOR or f"sm_{capability()}{'a' if capability() >= 90 else ''}"


def made(text: str, bound: tuple[int, ...] = (), profile: bool = False, policy: Any = HOST) -> Artifact:
    """The program, compiled for this GPU; its loops turn in the host program, unless `policy` says otherwise."""
    file = Path(_READY) / f"{hashlib.sha256(repr((text, bound, profile, policy)).encode()).hexdigest()[:16]}.hloom"
    if _MAKE_FOR:
        _compiled(text, bound, profile, policy).save(file)
        pytest.skip(f"made for {_MAKE_FOR}")
    return Artifact.load(file) if _READY else _compiled(text, bound, profile, policy)


def _compiled(text: str, bound: tuple[int, ...], profile: bool, policy: Any) -> Artifact:
    from hloom.compiler.compile import Compilation
    from hloom.compiler.frontend import load_program

    return Compilation(load_program(text), target=target(), bound=bound, profile=profile, policy=policy).artifact()


def traced(name: str, function: Callable[..., Any], *arguments: Any) -> Executable:
    """A function of JAX's for this GPU, kept under a name."""
    file = Path(_READY) / f"{name}.hloom"
    if not _READY:
        pytest.importorskip("torch_mlir", reason="it compiles what it runs")
    if _MAKE_FOR or not _READY:
        exe = hloom.compile(function, *arguments, target=target())
    if _MAKE_FOR:
        exe.save(file)
        pytest.skip(f"made for {_MAKE_FOR}")
    return load(file) if _READY else exe


def build(text: str, folder: Path, bound: tuple[int, ...] = (), profile: bool = False, policy: Any = HOST) -> Executable:
    """The program compiled for this GPU, through a file."""
    made(text, bound, profile, policy).save(folder / "program.hloom")
    return load(folder / "program.hloom")


def matmul(dtype: str, m: int = 64, k: int = 128, n: int = 96, result: str = "", turned: bool = False) -> str:
    """Of `dtype`, as is the result unless it is said to be another; `turned`: the right operand lies along what is summed."""
    left, out = f"tensor<{m}x{k}x{dtype}>", f"tensor<{m}x{n}x{result or dtype}>"
    right = f"tensor<{n}x{k}x{dtype}>" if turned else f"tensor<{k}x{n}x{dtype}>"
    return f"""func.func @main(%x: {left}, %w: {right}) -> {out} {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [{int(turned)}] : ({left}, {right}) -> {out}
  return %0 : {out}
}}"""

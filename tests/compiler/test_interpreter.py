"""The oracle itself: values of every type pass through it unchanged, and a program that ends its process ends nothing else."""

from __future__ import annotations

import math
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from torch_mlir._mlir_libs import _stablehlo

from hloom.compiler import interpreter_process
from hloom.compiler.interpreter import Interpreter, InterpreterError
from hloom.runtime.dtypes import NAMES, numpy_dtype


@pytest.fixture(scope="module")
def interpreter():
    with Interpreter() as found:
        yield found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(2, 3), (), (1, 1), (0, 2)])
def test_every_type_goes_through(interpreter, name, shape):
    value = (np.arange(np.prod(shape)).reshape(shape) + 1).astype(numpy_dtype(name))
    kind = "x".join([*map(str, shape), name])
    (result,) = interpreter.run(f"func.func @main(%x: tensor<{kind}>) -> tensor<{kind}> {{ return %x : tensor<{kind}> }}", [value]).results
    assert result.dtype == value.dtype and result.shape == shape and np.array_equal(result, value)


RESOURCE = """
module { func.func @main() -> (tensor<4xf32>, tensor<2xi64>) {
  %0 = stablehlo.constant dense_resource<w> : tensor<4xf32>
  %1 = arith.constant dense<[1, 2]> : tensor<2xi64>
  return %0, %1 : tensor<4xf32>, tensor<2xi64> } }
{-# dialect_resources: { builtin: { w: "0x04000000000080BF000000400000404000008040" } } #-}
"""


def test_artifacts_are_read(interpreter):
    """As jax.export writes programs."""
    text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { %0 = stablehlo.negate %x : tensor<2xf32> return %0 : tensor<2xf32> }"
    artifact = _stablehlo.serialize_portable_artifact_str(text, _stablehlo.get_current_version())
    (result,) = interpreter.run(artifact, [np.array([1, -2], np.float32)]).results
    assert result.tolist() == [-1, 2]


def test_resources_and_arith_constants(interpreter):
    first, second = interpreter.run(RESOURCE, []).results
    assert first.tolist() == [-1, 2, 3, 4] and second.tolist() == [1, 2]


QUANTIZED = """
func.func @main(%x: tensor<3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<3x!quant.uniform<i8:f32, 0.25:-1>> {
  %0 = stablehlo.add %x, %x : tensor<3x!quant.uniform<i8:f32, 0.5:3>>
  %1 = stablehlo.uniform_quantize %0 : (tensor<3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<3x!quant.uniform<i8:f32, 0.25:-1>>
  return %1 : tensor<3x!quant.uniform<i8:f32, 0.25:-1>> }
"""


def test_quantized_types(interpreter):
    (result,) = interpreter.run(QUANTIZED, [np.array([3, 10, -20], np.int8)]).results
    assert result.dtype == np.int8 and result.tolist() == [-1, 27, -93]
    with pytest.raises(InterpreterError, match="does not run programs of tensor<3x!quant.uniform<u8:f32, .*its integers for signed"):
        interpreter.run(QUANTIZED.replace("<i8", "<u8").replace(":-1>", ":1>"), [np.zeros(3, np.uint8)])


def test_a_program_that_aborts_it(interpreter):
    call = "%0 = stablehlo.custom_call @foo(%x) : (tensor<1xf32>) -> tensor<1xf32>"
    one = np.ones(1, np.float32)
    with pytest.raises(InterpreterError, match="Unsupported op"):
        interpreter.run(f"func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {{ {call} return %0 : tensor<1xf32> }}", [one])
    (result,) = interpreter.run("func.func @f(%x: tensor<1xf32>) -> tensor<1xf32> { return %x : tensor<1xf32> }", [one], "f").results
    assert result.tolist() == [1]


def test_programs_that_it_refuses(interpreter):
    for text, message in [("func.func @main() { nothing }", "unknown"), ("module {}", "no function with a body")]:
        with pytest.raises(InterpreterError, match=message):
            interpreter.run(text, [])
    with pytest.raises(InterpreterError, match="takes 0 inputs, got 1"):
        interpreter.run("func.func @main() { return }", [np.ones(1)])


DOT = """
func.func @main(%a: tensor<2x3x4x{0}>, %b: tensor<4x2x5x{0}>) -> tensor<2x3x5x{0}> {{
  %n = stablehlo.negate %a : tensor<2x3x4x{0}>
  %c = stablehlo.constant dense<2.0> : tensor<2x3x5x{0}>
  %d = stablehlo.dot_general %n, %b, batching_dims = [0] x [1], contracting_dims = [2] x [0]
    : (tensor<2x3x4x{0}>, tensor<4x2x5x{0}>) -> tensor<2x3x5x{0}>
  %e = stablehlo.multiply %d, %c : tensor<2x3x5x{0}>
  return %e : tensor<2x3x5x{0}>
}}
"""


@pytest.mark.parametrize("name", ["f32", "bf16"])
@pytest.mark.parametrize("heavy", [0, 10**9])
def test_contractions_by_numpy_and_by_the_interpreter_agree(monkeypatch, name, heavy):
    monkeypatch.setattr(interpreter_process, "HEAVY", heavy)
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype(numpy_dtype(name)) for shape in ((2, 3, 4), (4, 2, 5)))
    raw = [x.reshape(-1).view(np.uint8) for x in (a, b)]
    ((dtype, shape, bits),), by_numpy = interpreter_process.evaluate(DOT.format(name), "main", raw)
    expected = -2 * np.einsum("bik,kbj->bij", a.astype(np.float64), b.astype(np.float64))
    assert by_numpy == (heavy == 0) and dtype == name
    assert np.array_equal(bits.view(numpy_dtype(name)).reshape(shape).astype(np.float64), expected)


def test_half_precision_contractions_accumulate_in_f32(interpreter):
    ones = np.ones((1, 1000), ml_dtypes.bfloat16)
    dot = "%0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<1x1000xbf16>, tensor<1x1000xbf16>) -> tensor<1x1xbf16>"
    text = f"func.func @main(%x: tensor<1x1000xbf16>) -> tensor<1x1xbf16> {{ {dot} return %0 : tensor<1x1xbf16> }}"
    (result,) = interpreter.run(text, [ones]).results
    assert result.item() == 1000


ENDLESS = """
func.func @main(%x: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.while(%y = %x) : tensor<i32>
  cond { %true = stablehlo.constant dense<true> : tensor<i1> stablehlo.return %true : tensor<i1> }
  do { stablehlo.return %y : tensor<i32> }
  return %0 : tensor<i32> }
"""


def children_of(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def until(condition):
    """What `condition` gives once it holds; fails after a minute."""
    for _ in range(600):
        if found := condition():
            return found
        time.sleep(0.1)
    pytest.fail("did not come to be within a minute")


def spent(process: int) -> float:
    """Seconds of processor time."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_an_endless_program_ends_with_who_asked_for_it():
    program = f"import numpy as np; from hloom.compiler.interpreter import interpret; interpret({ENDLESS!r}, [np.int32(1)])"
    asking = subprocess.Popen([sys.executable, "-c", program])
    try:
        (child,) = until(lambda: children_of(asking.pid))
        until(lambda: spent(child) > 5)  # it has long begun
    finally:
        asking.kill()
        asking.wait()
    until(lambda: not Path(f"/proc/{child}").exists())


def test_closing_ends_an_endless_program():
    """As after Ctrl-C."""
    with Interpreter() as interpreter:
        child = interpreter._start()
        pickle.dump((ENDLESS, "main", [np.zeros(4, np.uint8)]), child.stdin)
        child.stdin.flush()
        until(lambda: spent(child.pid) > 5)
    assert child.returncode == -signal.SIGIO


def test_programs_as_other_tools_write_them(interpreter):
    """An entry of another name, tuples, annotations of a partitioner, and ops of MHLO."""
    text = """func.func @f(%x: tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32> {
  %0 = stablehlo.get_tuple_element %x[1] : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
  %1 = stablehlo.custom_call @Sharding(%0) : (tensor<2xf32>) -> tensor<2xf32>
  %2 = stablehlo.custom_call @mhlo.erf(%1) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}"""
    x = np.array([0, 1], np.float32)
    np.testing.assert_allclose(interpreter.run(text, [x - 5, x]).results[0], [0, math.erf(1)], 1e-6)

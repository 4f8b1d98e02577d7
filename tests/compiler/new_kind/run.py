"""A program with a thunk.rotate, whose two files are given in folders of their own: emitted, verified, reported, and run on each device."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
from cuda_programs import artifact, loaded, tensor
from host_machine import jit
from torch_mlir import ir

import hloom.dialects.kinds
import hloom.runtime.cuda.kinds
from hloom.compiler.report import ReportBuilder
from hloom.compiler.simulator import SimulatedProgram
from hloom.compiler.target import attach_target, load_target
from hloom.dialects.context import make_context
from hloom.dialects.thunk_json import programs
from hloom.passes.llvm.lower_thunks import lower_thunks
from hloom.passes.thunk.emit_thunks import emit_thunks
from hloom.passes.thunk.verify_thunk import verify_thunk
from hloom.runtime.errors import DamagedFileError

hloom.dialects.kinds.__path__.append(str(Path(__file__).parent / "dialects"))
hloom.runtime.cuda.kinds.__path__.append(str(Path(__file__).parent / "runtime"))

PROGRAM = """
func.func @main(%a: memref<8xf32>, %out: memref<8xf32>, %arena: memref<0xi8>)
    attributes {hloom.signature = (tensor<8xf32>) -> tensor<8xf32>} {
  "lhlo.rotate"(%a, %out) {by = 4 : i64} : (memref<8xf32>, memref<8xf32>) -> ()
  return
}
"""
GIVEN = np.arange(8, dtype=np.float32)
WANTED = np.roll(GIVEN, 1)

with make_context(), ir.Location.unknown():
    module = ir.Module.parse(PROGRAM).operation
    emit_thunks(module)
    verify_thunk(module)

    (simulated,) = SimulatedProgram(module).run([GIVEN]).results
    np.testing.assert_array_equal(simulated, WANTED)

    attach_target(module, load_target("cpu-avx2"))
    report = ReportBuilder()
    report.thunks(module)
    assert report.data["groups"][0]["kernel"] == "rotation by 4 bytes"

    body = programs(module)["main"]["body"]
    buffers = [["argument", 0], ["result", 0], ["arena", 0]]
    exe, driver = loaded(artifact(body, [tensor("a")], [tensor("r")], buffers))
    np.testing.assert_array_equal(exe(GIVEN), WANTED)
    assert [node[0] for node in driver.graphs[0].nodes] == ["copy", "copy"]
    try:
        loaded(artifact([body[0] | {"by": 40}], [tensor("a")], [tensor("r")], buffers))
        raise AssertionError("a fault of the kind was not seen")
    except DamagedFileError as error:
        assert "rotate, rotates 32 bytes by 40" in str(error)

    lower_thunks(module)
    engine = jit(module, {})
    result = np.zeros_like(GIVEN)
    pointers = (ctypes.c_void_p * 3)(GIVEN.ctypes.data, result.ctypes.data, None)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.get_function_address("hloom_main"))(ctypes.addressof(pointers))
    np.testing.assert_array_equal(result, WANTED)

"""Measured programs: on the CPU end to end, on CUDA with the fake driver; what a trace holds."""

from __future__ import annotations

import json

import jax.numpy as jnp
import numpy as np
import pytest
from cuda_programs import artifact, kernel, loaded, tensor

import hloom
from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.runtime.errors import ExecutionError
from hloom.runtime.executable import load
from hloom.runtime.profile import trace, write_trace

PROGRAM = """
func.func @main(%x: tensor<64xf32>, %n: tensor<i32>) -> tensor<64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%y = %x, %i = %zero) : tensor<64xf32>, tensor<i32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %t = stablehlo.tanh %y : tensor<64xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %t, %j : tensor<64xf32>, tensor<i32>
    }
  return %r#0 : tensor<64xf32>
}
"""
INPUTS = (np.ones(64, np.float32), np.int32(5))


def slices(found: dict) -> list[dict]:
    return [event for event in found["traceEvents"] if event["ph"] == "X"]


def test_a_cpu_program_is_measured_thunk_by_thunk(tmp_path):
    exe = Compilation(load_program(PROGRAM), profile=True, name="loop").executable()
    exe.device.measurements()
    exe(*INPUTS)
    measured = exe.device.measurements()
    found = slices(trace(exe, measured))
    tanh = [event for event in found if "tanh" in event["name"]]
    (loop,) = [event for event in found if event["cat"] == "while"]
    assert len(tanh) == 5 and tanh[0]["args"]["source"] == ["tanh"] and tanh[0]["args"]["bytes written"] == 256
    assert all(loop["ts"] <= event["ts"] and event["ts"] + event["dur"] <= loop["ts"] + loop["dur"] for event in tanh)
    assert min(event["ts"] for event in found) == 0 and exe.device.measurements() == []
    exe.save(tmp_path / "a.hloom")
    again = load(tmp_path / "a.hloom")
    again(*INPUTS)
    write_trace(tmp_path / "trace.json", again, again.device.measurements())
    assert len(slices(json.loads((tmp_path / "trace.json").read_text()))) == len(found)


def test_a_program_that_measures_nothing_is_told_so(tmp_path):
    exe = Compilation(load_program(PROGRAM)).executable()
    exe(*INPUTS)
    with pytest.raises(ExecutionError, match="was not compiled to be measured"):
        write_trace(tmp_path / "trace.json", exe, [])
    with pytest.raises(ExecutionError, match="was not compiled to be measured"):
        exe.profile(*INPUTS)


def test_a_profile_has_the_steps_of_a_call(tmp_path):
    exe = hloom.compile(PROGRAM, profile=True)
    found = exe.profile(*INPUTS, calls=3)
    (tanh,) = [step for step in found.steps if step.name.startswith("tanh")]
    (loop,) = [step for step in found.steps if step.name.startswith("while")]
    assert (tanh.runs, tanh.inside, tanh.bytes) == (5, True, 512)
    assert (loop.runs, loop.inside) == (1, False) and loop.seconds > tanh.seconds
    assert [step.seconds for step in found.steps] == sorted((step.seconds for step in found.steps), reverse=True)
    assert found.seconds == sum(step.seconds for step in found.steps if not step.inside)
    assert any("tanh" in line and " 5 " in line for line in str(found).splitlines())
    assert found.table(rows=1).endswith(f"in {len(found.steps) - 1} more")
    found.write_trace(tmp_path / "trace.json")
    assert len(slices(json.loads((tmp_path / "trace.json").read_text()))) == len(found.measurements)
    with pytest.raises(ExecutionError, match="0 calls"):
        exe.profile(*INPUTS, calls=0)


def test_profiles_of_open_shapes_and_of_structures():
    exe = hloom.compile(
        "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { %0 = stablehlo.tanh %x : tensor<?xf32> return %0 : tensor<?xf32> }",
        profile=True,
    )
    (step,) = exe.profile(np.ones(48, np.float32)).steps
    assert step.bytes == 2 * 48 * 4
    exe = hloom.compile(lambda d: jnp.sin(d["a"]), {"a": np.ones(4, np.float32)}, profile=True)
    assert [step.runs for step in exe.profile({"a": np.ones(4, np.float32)}).steps] == [1]


def test_events_of_a_graph_are_its_measurements():
    mark = [{"op": "profile_begin", "id": 3, "label": "add"}, {"op": "profile_end", "id": 3}]
    body = [mark[0], kernel("add", [[0, 0, 32], [0, 0, 32]], [[1, 0, 32]]), kernel("double", [[0, 0, 32]], [[1, 0, 32]]), mark[1]]
    inside = {"op": "for", "trip_count": 100, "body": [{**mark[0], "id": 4}, {**mark[1], "id": 4}]}
    program = artifact([*body, inside], [tensor("x")], [tensor("r")], [["argument", 0], ["result", 0], ["arena", 0]])
    exe, driver = loaded(program)
    assert exe.device.measurements() == []
    exe(np.ones(8, np.float32))
    exe(np.ones(8, np.float32))
    ((number, begin, end),) = exe.device.measurements()
    assert (number, end - begin) == (3, 2000)  # two kernels of the fake clock; a graph's loop has no events
    assert ("await_event", exe.device._done) in driver.log
    (event,) = slices(trace(exe, [(number, begin, end)]))
    assert (event["name"], event["args"]["kernel"], event["dur"]) == ("add", "add", 2.0)

"""Loops and branches in a CUDA graph: recorded as conditional nodes, and what they compute on the fake driver."""

from __future__ import annotations

import numpy as np
import pytest
from cuda_programs import BYTES, KERNELS, N, artifact, kernel, loaded, tensor
from fake_driver import FakeDriver, at

from hloom.compiler.cuda.assemble import assembler
from hloom.runtime.cuda.conditions import PTX
from hloom.runtime.errors import DamagedFileError
from hloom.runtime.program import LoadedProgram
from hloom.runtime.thunks import read_program, walk

ONES = np.ones(N, np.float32)
ARENA = 3


def copy(source: list[int], target: list[int]) -> dict:
    return {"op": "copy", "reads": [source], "writes": [target]}


def fill(target: list[int], *pattern: int) -> dict:
    return {"op": "fill", "writes": [target], "pattern": list(pattern)}


X, T = [2, 0, BYTES], [ARENA, 64, BYTES]
DOUBLE = [kernel("double", [X], [T]), copy(T, X)]


def program(body: list) -> object:
    """r = x, changed by `body`; argument 1 is an i32 that it may look at."""
    buffers = [["argument", 0], ["argument", 1], ["result", 0], ["arena", 256]]
    return artifact([copy([0, 0, BYTES], X), *body], [tensor("x"), tensor("n", "i32", ())], [tensor("r")], buffers)


WHILE = {"op": "while", "reads": [[ARENA, 0, 1]], "cond": [kernel("below_100", [X], [[ARENA, 0, 1]])], "body": DOUBLE}


def loop(count: int, body: list) -> dict:
    return {"op": "for", "trip_count": count, "body": body}


def case(*branches: list, width: int = 4) -> dict:
    return {"op": "case", "reads": [[1, 0, width]], "branches": [{"op": "sequence", "body": branch} for branch in branches]}


@pytest.mark.parametrize(("start", "expected"), [(1, 128), (100, 100), (99, 198)])
def test_a_while_loop_runs_as_long_as_its_condition_holds(start, expected):
    exe, driver = loaded(program([WHILE]))
    assert exe(start * ONES, np.int32(0)).tolist() == [expected] * N
    nodes = driver.graphs[0].nodes
    assert [node[0] for node in nodes] == ["copy", "launch", "launch", "loop"]
    assert nodes[2][1].__name__ == "hloom_while" and nodes[2][5][0] == nodes[3][1]
    assert [node[0] for node in nodes[3][2].nodes] == ["launch", "copy", "launch", "launch"]  # body, condition, the setting of it
    assert len(driver.calls("launch")) == 1 and ("load", "ptx") in driver.log


@pytest.mark.parametrize(("count", "unrolled"), [(0, True), (1, True), (5, True), (32, True), (33, False), (100, False)])
def test_for_loops_run_as_often_as_they_say(count, unrolled):
    halve = [copy(X, T), kernel("half", [T], [X])]
    driver = FakeDriver({**KERNELS, "half": lambda a, out: at(out, np.float32, N).__setitem__(slice(None), at(a, np.float32, N) + 1)})
    made = program([loop(count, halve)])
    made.manifest["kernels"]["half"] = made.manifest["kernels"]["add"]
    exe, _ = loaded(made, driver)
    for _ in range(2):
        assert exe(0 * ONES, np.int32(0)).tolist() == [count] * N
    assert ("loop" in [node[0] for node in driver.graphs[0].nodes]) == (not unrolled)


@pytest.mark.parametrize(("index", "factor"), [(0, 1), (1, 2), (2, 4), (3, 4), (-1, 4), (1 << 30, 4)])
def test_a_case_takes_its_branch_or_the_last(index, factor):
    exe, driver = loaded(program([case([], DOUBLE, [*DOUBLE, *DOUBLE])]))
    assert exe(ONES, np.int32(index)).tolist() == [factor] * N
    assert [len(body.nodes) for body in driver.graphs[0].nodes[2][2]] == [0, 2, 4]


def test_loops_nest():
    body = [loop(40, [case([], [WHILE]), *DOUBLE])]
    exe, driver = loaded(program(body))
    assert exe(ONES, np.int32(0))[0] == 2.0**40
    assert exe(ONES, np.int32(1))[0] == np.float32(128 * 2.0**40)
    assert len(driver.calls("launch")) == 2


def test_two_loops_have_counters_of_their_own():
    inner = loop(70, [fill([ARENA, 8, 8], 0)])
    exe, _ = loaded(program([loop(3, [inner, *DOUBLE]), loop(66, [fill([ARENA, 8, 8], 0)])]))
    assert exe(ONES, np.int32(0)).tolist() == [8] * N


def test_graphs_with_loops_are_made_anew():
    """Whether the driver takes the condition handles of one recording for those of another is not known."""
    exe, driver = loaded(program([WHILE]))
    exe.device._graphs._capacity = 1
    kept = [exe(ONES, np.int32(0)) for _ in range(2)]
    out = np.zeros(N, np.float32)
    exe.run((ONES, np.int32(0)), out)
    assert out.tolist() == kept[0].tolist() == [128] * N
    assert len(driver.calls("instantiate")) == len(driver.calls("capture")) == 3


@pytest.mark.parametrize("pattern", [(7,), (1, -2), (1, 2, 3, -4), (1, 2, 3, 4, 5, 6, 7, -8), (5, 5, 5, 5, 5, 5, 5, 5), tuple(range(16))])
def test_fills_repeat_their_pattern(pattern):
    exe, driver = loaded(program([fill(X, *pattern)]))
    found = exe(ONES, np.int32(0)).view(np.int8)
    assert found.tolist() == list(pattern) * (BYTES // len(pattern))
    kinds = [node[0] for node in driver.graphs[0].nodes[1:]]
    assert kinds == {8: ["fill_column"] * 2, 16: ["fill_column"] * 4}.get(len(set(pattern)), ["fill"])


def test_fills_that_do_not_fit():
    with pytest.raises(DamagedFileError, match="fills 32 bytes with a pattern of 3"):
        loaded(program([fill(X, 1, 2, 3)]))


def test_thunks_are_read_as_they_are_nested():
    made = program([loop(2, [case([], [WHILE])])])
    found = read_program(LoadedProgram.read(made).manifest, "main")
    kinds = [thunk.kind for thunk in walk(found)]
    assert kinds == ["copy", "for", "case", "sequence", "sequence", "while", "kernel", "kernel", "copy"]
    assert found[1]["trip_count"] == 2 and found[0].reads[0] == (0, 0, BYTES)


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90a", "sm_120a"])
def test_the_kernels_of_conditions_assemble(architecture):
    code, _ = assembler().run(PTX, architecture)
    assert b"hloom_while" in code

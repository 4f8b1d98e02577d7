"""Programs of open shapes: compiled for the shapes that they are called with."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from without_compiler import output_without_compiler

import hloom
from hloom.compiler import dynamic

ROWS = """
module {
  func.func @main(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) -> tensor<?x4xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
    %1 = stablehlo.tanh %0 : tensor<?x4xf32>
    return %1 : tensor<?x4xf32>
  }
}
"""
TANH = """
module {
  func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
    %1 = stablehlo.tanh %x : tensor<?xf32>
    return %1 : tensor<?xf32>
  }
}
"""
W = np.random.default_rng(0).standard_normal((8, 4)).astype(np.float32)


def rows(count: int) -> np.ndarray:
    return np.random.default_rng(count).standard_normal((count, 8)).astype(np.float32)


@pytest.fixture(autouse=True)
def compiles(tmp_path, monkeypatch):
    """The sets of shapes that were compiled, in order; the cache is the test's own."""
    monkeypatch.setenv("HLOOM_CACHE_DIR", str(tmp_path / "cache"))
    done: list = []
    specialised = dynamic.specialised_program

    def recorded(program, shapes):
        done.append(shapes[0])
        return specialised(program, shapes)

    monkeypatch.setattr(dynamic, "specialised_program", recorded)
    return done


def test_one_compile_for_each_set_of_shapes(compiles):
    exe = hloom.compile(ROWS)
    for count in (0, 1, 5, 1, 5):
        np.testing.assert_allclose(exe(rows(count), W), np.tanh(rows(count) @ W), rtol=1e-4, atol=1e-6)
    assert compiles == [(0, 8), (1, 8), (5, 8)]
    assert exe.shapes == [((5, 8), (8, 4)), ((1, 8), (8, 4)), ((0, 8), (8, 4))]
    assert str(exe.signature) == "(arg0: ?x8xf32, arg1: 8x4xf32) -> (result0: ?x4xf32)"
    assert repr(exe) == "<hloom.DynamicExecutable main(arg0: ?x8xf32, arg1: 8x4xf32) -> (result0: ?x4xf32), 3 compiled>"
    out = np.empty((5, 4), np.float32)
    exe.run([rows(5), W], out)
    np.testing.assert_array_equal(out, exe(rows(5), W))
    np.testing.assert_array_equal(exe.flat([rows(5), W])[0], out)
    assert len(compiles) == 3 and exe.arena_bytes >= 0 and exe.report.data["program"]["name"] == "main"


@pytest.mark.parametrize(
    ("inputs", "error", "said"),
    [
        ((rows(2)[0], W), hloom.ShapeError, r"arg0 should have rank 2 \(\?x8xf32\), got shape \(8,\)"),
        ((rows(2)[:, :7], W), hloom.ShapeError, r"arg0 should have shape \(\?, 8\), got \(2, 7\)"),
        ((rows(2).astype(np.float64), W), hloom.DtypeError, "arg0 should have element type f32, got f64"),
        ((rows(2),), hloom.ArityError, "takes 2 inputs, got 1"),
        (([[1.0] * 8], W), hloom.InputError, "arg0 should be an array, got list"),
    ],
    ids=["rank", "known size", "type", "arity", "no array"],
)
def test_a_wrong_call_compiles_nothing(compiles, inputs, error, said):
    exe = hloom.compile(ROWS)
    with pytest.raises(error, match=said):
        exe(*inputs)
    assert compiles == [] and exe.shapes == []


def test_shapes_are_announced(compiles):
    exe = hloom.compile(ROWS, shapes=[{"arg0[0]": np.int64(2)}, ((3, 8), (8, 4)), (rows(4), W)])
    exe.wait()
    assert exe.pending == [] and compiles == [(2, 8), (3, 8), (4, 8)]
    told: list = []
    made = exe.specialise({"arg0[0]": 4}, {"arg0[0]": 5}, progress=lambda *said: told.append(said))
    assert told == [(1, 2, ((4, 8), (8, 4))), (2, 2, ((5, 8), (8, 4)))] and len(compiles) == 4
    assert [each.signature.inputs[0].shape for each in made] == [(4, 8), (5, 8)]
    exe.specialise({"arg0[0]": 6}, wait=False)
    told.clear()
    exe.wait(progress=lambda *said: told.append(said))
    assert told == [(1, 1, ((6, 8), (8, 4)))]


@pytest.mark.parametrize("shapes", [{"n": 3}, {}, ((3, 7), (8, 4)), ((3, 8),), ((3, 8), (8, 4), (1,))])
def test_shapes_that_the_program_has_not(shapes):
    exe = hloom.compile(ROWS)
    with pytest.raises((hloom.ShapeError, hloom.ArityError)):
        exe.specialise(shapes)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"n": 3}, r"sizes should be given for arg0\[0\], got n"),
        ({"arg0[0]": 2.5}, r"\{'arg0\[0\]': 2.5\} is not a set of shapes"),
        (3, "3 is not a set of shapes"),
    ],
)
def test_what_is_no_set_of_shapes_is_told(given, said):
    with pytest.raises(hloom.ShapeError, match=said):
        hloom.compile(ROWS).specialise(given)


def test_what_fails_in_the_background_is_told_at_the_end():
    four = TANH.replace("-> tensor<?xf32> {", "-> tensor<4xf32> {").replace("return %1 : tensor<?xf32>", "return %1 : tensor<4xf32>")
    exe = hloom.compile(four.replace("stablehlo.tanh %x : tensor<?xf32>", "stablehlo.slice %x [0:4] : (tensor<?xf32>) -> tensor<4xf32>"))
    exe.specialise((3,), (4,), wait=False)
    with pytest.raises(hloom.InvalidProgramError, match="3xf32"):
        exe.wait()
    exe.wait()
    assert exe.shapes == [((4,),)]


def test_an_op_that_hloom_lacks_is_refused_before_any_shape():
    op = "stablehlo.custom_call @f(%x) : (tensor<?xf32>) -> tensor<?xf32>"
    with pytest.raises(hloom.UnsupportedOpError, match="@f"):
        hloom.compile(TANH.replace("stablehlo.tanh %x : tensor<?xf32>", op))


def test_the_last_ones_called_are_kept(compiles):
    exe = hloom.compile(TANH, most=2)
    for count in (1, 2, 1, 3, 1, 2):
        exe(np.zeros(count, np.float32))
    assert compiles == [(1,), (2,), (3,), (2,)]
    assert exe.shapes == [((2,),), ((1,),)]
    with pytest.raises(hloom.ShapeError, match="3 sets of shapes are announced, 2 are kept"):
        exe.specialise((1,), (2,), (3,))


def test_the_cache_has_what_another_process_compiled(tmp_path, monkeypatch):
    from hloom.compiler.compile import Compilation

    monkeypatch.delenv("HLOOM_DEBUG", raising=False)
    compiled: list = []
    whole = Compilation._compiled
    monkeypatch.setattr(Compilation, "_compiled", lambda self: (compiled.append(self), whole(self))[1])
    for _ in range(2):
        np.testing.assert_allclose(hloom.compile(TANH)(np.ones(3, np.float32)), np.tanh(np.ones(3)), rtol=1e-6)
    assert len(compiled) == 1


def test_threads_that_want_the_same_compile_it_once(compiles, monkeypatch):
    exe = hloom.compile(TANH)
    exe(np.zeros(1, np.float32))
    begun, go = threading.Event(), threading.Event()
    specialised = dynamic.specialised_program

    def slow(program, shapes):
        begun.set()
        assert go.wait(60)
        return specialised(program, shapes)

    monkeypatch.setattr(dynamic, "specialised_program", slow)
    results: list = []
    threads = [threading.Thread(target=lambda: results.append(exe(np.ones(5, np.float32)))) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert begun.wait(60)
    exe(np.zeros(1, np.float32))  # goes on meanwhile
    assert results == []
    go.set()
    for thread in threads:
        thread.join(60)
    assert len(results) == 3 and compiles == [(1,), (5,)]


def test_bound_values_are_shared():
    exe = hloom.compile(ROWS, bind={"arg1": W})
    assert str(exe.signature) == "(arg0: ?x8xf32) -> (result0: ?x4xf32) bound (arg1: 8x4xf32)"
    for count in (3, 40):
        np.testing.assert_allclose(exe(rows(count)), np.tanh(rows(count) @ W), rtol=1e-4, atol=1e-6)
    first, second = exe.specialise((3, 8), (40, 8))
    ours = {np.frombuffer(blob, np.uint8).ctypes.data for blob in first.device.kept().values()}
    same = {name: blob for name, blob in second.device.kept().items() if bytes(blob) in {bytes(b) for b in first.device.kept().values()}}
    assert all(np.frombuffer(blob, np.uint8).ctypes.data in ours for blob in same.values())
    exe.bind({"arg1": 2 * W})
    for count in (3, 40, 41):
        np.testing.assert_allclose(exe(rows(count)), np.tanh(rows(count) @ (2 * W)), rtol=1e-4, atol=1e-6)


def test_an_unknown_size_of_known_bound():
    text = TANH.replace("tensor<?xf32>", "tensor<?xf32, #stablehlo.bounds<16>>")
    exe = hloom.compile(text)
    for count in (16, 3):
        np.testing.assert_allclose(exe(np.ones(count, np.float32)), np.tanh(np.ones(count)), rtol=1e-6)
    with pytest.raises(hloom.ShapeError, match=r"arg0\[0\] should be from 0 to 16, got 17"):
        exe(np.ones(17, np.float32))


@pytest.mark.parametrize(
    ("op", "said"),
    [
        ("stablehlo.add %x, %y : tensor<?xf32>", "2xf32, 3xf32, 1xi32: .*same shape"),
        ("stablehlo.dynamic_reshape %x, %n : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>", "dynamic"),
        ("stablehlo.custom_call @stablehlo.dynamic_top_k() {has_side_effect = true} : () -> tensor<?xf32>", "dynamic"),
        ("func.call @main(%x, %y, %n) : (tensor<?xf32>, tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>", "recursion"),
    ],
    ids=["sizes that do not go together", "a shape that is computed", "a call without operands", "recursion"],
)
def test_programs_that_no_shapes_make_static(op, said):
    head = "func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: tensor<1xi32>) -> tensor<?xf32>"
    with pytest.raises(hloom.CompileError, match=said):
        hloom.compile(f"{head} {{\n %0 = {op}\n return %0 : tensor<?xf32>\n}}")(
            *(np.ones(n, np.float32) for n in (2, 3)), np.ones(1, np.int32)
        )


def test_shapes_of_a_static_program():
    with pytest.raises(hloom.InvalidProgramError, match="shapes="):
        hloom.compile(TANH.replace("?", "4"), shapes=[(4,)])


CHILD = """
import sys
import numpy as np
import hloom
exe = hloom.load(sys.argv[1])
print(exe.signature)
print(sorted(shapes[0] for shapes in exe.shapes), [exe(np.zeros((n, 8), np.float32)).shape for n in (2, 30)])
try:
    exe(np.zeros((4, 8), np.float32))
except hloom.ShapeError as error:
    print(error)
exe.save(sys.argv[1])
"""


def test_a_file_without_a_compiler(tmp_path):
    path = tmp_path / "rows.hloom"
    exe = hloom.compile(ROWS, bind={1: W}, shapes=[(2, 8), (30, 8)])
    exe.wait()
    exe.save(path)
    assert output_without_compiler(CHILD, str(path)).splitlines() == [
        "(arg0: ?x8xf32) -> (result0: ?x4xf32) bound (arg1: 8x4xf32)",
        "[(2, 8), (30, 8)] [(2, 4), (30, 4)]",
        "[HL202] the file has no program for 4x8xf32; it has 2x8xf32; 30x8xf32",
        "  remedy: compile the source for these shapes too (shapes=…), and save it again",
    ]
    loaded = hloom.load(path)
    np.testing.assert_array_equal(loaded(rows(2)), exe(rows(2)))
    exe.save(path, weights=False)
    loaded = hloom.load(path)
    with pytest.raises(hloom.NotBoundError):
        loaded(rows(2))
    loaded.bind([W])
    np.testing.assert_array_equal(loaded(rows(30)), exe(rows(30)))


def test_a_weight_is_in_a_file_once(tmp_path):
    big = np.random.default_rng(1).standard_normal((8, 1 << 15)).astype(np.float32)
    text = ROWS.replace("8x4x", f"8x{1 << 15}x").replace("?x4x", f"?x{1 << 15}x")
    exe = hloom.compile(text, bind={1: big}, shapes=[(2, 8), (3, 8), (4, 8)])
    exe.wait()
    exe.save(tmp_path / "big.hloom")
    packed = {bytes(blob) for each in exe.specialise((2, 8), (3, 8), (4, 8)) for blob in each.device.kept().values()}
    assert (tmp_path / "big.hloom").stat().st_size < len(packed) * big.nbytes + (1 << 20)


def test_a_call_costs_little_more_than_that_of_known_shapes():
    exe = hloom.compile(TANH)
    x = np.ones(5, np.float32)
    (known,) = exe.specialise((5,))

    def seconds(call) -> float:
        start = time.thread_time()
        for _ in range(500):
            call(x)
        return time.thread_time() - start

    pairs = [(seconds(exe), seconds(known)) for _ in range(20)]
    assert min(one for one, _ in pairs) < 1.6 * min(other for _, other in pairs)  # a microsecond of four

"""Host functions compiled to machine code: kernels in the LLVM dialect, sharing among threads, library calls, fills, branches."""

from __future__ import annotations

import ctypes
import json

import numpy as np
import pytest
from host_machine import KERNEL, PARALLEL_FOR, Machine, jit
from torch_mlir import ir

from hloom.dialects.context import make_context
from hloom.dialects.host_function import HostFunction
from hloom.dialects.kinds.kernel import TO_AND_FRO
from hloom.dialects.thunk_json import programs
from hloom.passes.llvm.lower_thunks import lower_thunks
from hloom.passes.thunk.verify_thunk import verify_thunk

# Adds 1 to each of its tiles' elements: reads buffers[0], writes buffers[1], one i32 a tile.
INCREMENT = """
llvm.func @increment(%lo: i64, %hi: i64, %buffers: !llvm.ptr) attributes {hloom.tiles = 8 : i64} {
  %one = llvm.mlir.constant(1 : i64) : i64
  %one32 = llvm.mlir.constant(1 : i32) : i32
  %source = llvm.load %buffers : !llvm.ptr -> !llvm.ptr
  %second = llvm.getelementptr %buffers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %target = llvm.load %second : !llvm.ptr -> !llvm.ptr
  llvm.br ^test(%lo : i64)
^test(%i: i64):
  %more = llvm.icmp "slt" %i, %hi : i64
  llvm.cond_br %more, ^body, ^after
^body:
  %from = llvm.getelementptr %source[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  %to = llvm.getelementptr %target[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  %x = llvm.load %from : !llvm.ptr -> i32
  %y = llvm.add %x, %one32 : i32
  llvm.store %y, %to : i32, !llvm.ptr
  %next = llvm.add %i, %one : i64
  llvm.br ^test(%next : i64)
^after:
  llvm.return
}
"""


def array(numbers) -> str:
    return f"array<i64: {', '.join(map(str, numbers))}>" if numbers else "array<i64>"


def program(body: str, arguments: list[int], results: list[int], arena: int = 0) -> str:
    return f"""
    "thunk.program"() ({{ {body} }}) {{arena_bytes = {arena} : i64, argument_bytes = {array(arguments)}, constants = [],
      result_bytes = {array(results)}, signature = () -> (), sym_name = "main", value_attributes = []}} : () -> ()"""


def kernel(source: tuple[int, int, int], target: tuple[int, int, int], cost_ps: int = 1, mark: str = "") -> str:
    attributes = f"cost_ps = {cost_ps} : i64, tiles = -1 : i64, grain = 0 : i64, reads = {array(source)}, writes = {array(target)}"
    return f'"thunk.kernel"() {{callee = @increment, {attributes}, {mark}source = []}} : () -> ()'


def compiled(text: str, symbols=None):
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text).operation
        verify_thunk(module)
        lower_thunks(module)
        module.verify()
        return jit(module, symbols or {})


def call(engine, *buffers: np.ndarray) -> None:
    pointers = (ctypes.c_void_p * len(buffers))(*(buffer.ctypes.data for buffer in buffers))
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.get_function_address("hloom_main"))(ctypes.addressof(pointers))


def test_kernel_in_nested_loops() -> None:
    body = f"""
      "thunk.copy"() {{reads = array<i64: 0, 0, 32>, writes = array<i64: 2, 64, 32>}} : () -> ()
      "thunk.for"() ({{
        "thunk.for"() ({{ {kernel((2, 64, 32), (2, 64, 32))} }}) {{trip_count = 1000 : i64}} : () -> ()
        {kernel((2, 64, 32), (1, 0, 32))}
      }}) {{trip_count = 1000 : i64}} : () -> ()"""
    engine = compiled(INCREMENT + program(body, [32], [32], arena=128))
    given, result = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
    call(engine, given, result, np.zeros(128, np.uint8))
    np.testing.assert_array_equal(result, np.arange(8) + 1_000_001)


def test_large_kernels_are_shared_among_threads() -> None:
    seen = []

    def parallel_for(function, tiles, grain, buffers):
        seen.append((tiles, grain))
        for low in range(0, tiles, grain):
            KERNEL(function)(low, min(low + grain, tiles), buffers)

    text = INCREMENT + program(kernel((0, 0, 32), (1, 0, 32), cost_ps=30_000_000), [32], [32])
    engine = compiled(text, {"hloom_parallel_for": PARALLEL_FOR(parallel_for)})
    result = np.zeros(8, np.int32)
    call(engine, np.arange(8, dtype=np.int32), result, np.zeros(0, np.uint8))
    np.testing.assert_array_equal(result, np.arange(8) + 1)
    assert seen == [(8, 3)]


@pytest.mark.parametrize("cost_ps", [1, 30_000_000])
def test_what_is_read_to_and_fro(cost_ps: int) -> None:
    """Each tile reads what the next one writes: forwards it finds what was there before the turn, backwards what the turn has made."""
    shares = []

    def parallel_for(function, tiles, grain, buffers):
        shares.append((tiles, grain))
        KERNEL(function)(0, tiles, buffers)

    run = kernel((0, 4, 32), (0, 0, 32), cost_ps, f"{TO_AND_FRO}, ")
    text = INCREMENT + program(f'"thunk.for"() ({{ {run} }}) {{trip_count = 2 : i64}} : () -> ()', [], [36])
    engine = compiled(text, {"hloom_parallel_for": PARALLEL_FOR(parallel_for)})
    result = np.zeros(9, np.int32)
    call(engine, result, np.zeros(0, np.uint8))
    np.testing.assert_array_equal(result, np.arange(9)[::-1])
    assert len(shares) == (2 if cost_ps > 1 else 0)


@pytest.mark.parametrize(("index", "chosen"), [(0, 10), (1, 20), (2, 30), (7, 30), (-1, 30)])
def test_case_takes_the_last_branch_for_what_is_out_of_range(index: int, chosen: int) -> None:
    fills = ""
    for n in (10, 20, 30):
        fill = f'"thunk.fill"() {{pattern = array<i8: {n}, 0, 0, 0>, writes = array<i64: 1, 0, 8>}} : () -> ()'
        fills += f'"thunk.sequence"() ({{ {fill} }}) : () -> ()'
    engine = compiled(program(f'"thunk.case"() ({{ {fills} }}) {{reads = array<i64: 0, 0, 4>}} : () -> ()', [4], [8]))
    result = np.zeros(2, np.int32)
    call(engine, np.array([index], np.int32), result, np.zeros(0, np.uint8))
    np.testing.assert_array_equal(result, chosen)


@pytest.mark.parametrize(("dtype", "value"), [("u1", 200), ("f2", -1.5), ("f4", np.nan), ("f8", 0.1), ("c16", 1 - 2j), ("i8", -(2**63))])
def test_fill(dtype: str, value) -> None:
    expected = np.full(5, value, dtype)
    pattern = ", ".join(str(byte) for byte in np.frombuffer(expected[:1].tobytes(), np.int8))
    body = f'"thunk.fill"() {{pattern = array<i8: {pattern}>, writes = array<i64: 0, 0, {expected.nbytes}>}} : () -> ()'
    engine = compiled(program(body, [], [expected.nbytes]))
    result = np.zeros(5, dtype)
    call(engine, result, np.zeros(0, np.uint8))
    assert result.tobytes() == expected.tobytes()


@pytest.mark.parametrize("transposed", [False, True])
def test_library_product(transposed: bool) -> None:
    def gemm(trans_a, trans_b, batch, m, n, k, a, lda, stride_a, b, ldb, stride_b, c, ldc, stride_c):
        element = np.dtype(np.float64)

        def matrix(address, shape, leading, stride):
            span = ((batch - 1) * stride + (shape[0] - 1) * leading + shape[1]) * element.itemsize
            flat = np.frombuffer((ctypes.c_char * span).from_address(address), element)
            return np.lib.stride_tricks.as_strided(flat, (batch, *shape), [8 * stride, 8 * leading, 8])

        left = matrix(a, (k, m) if trans_a else (m, k), lda, stride_a)
        right = matrix(b, (n, k) if trans_b else (k, n), ldb, stride_b)
        matrix(c, (m, n), ldc, stride_c)[...] = (left.mT if trans_a else left) @ (right.mT if trans_b else right)

    shape = "2x5x3" if transposed else "2x3x5"
    text = f"""
    func.func @main(%a: tensor<{shape}xf64>, %b: tensor<2x5x7xf64>) -> tensor<2x3x7xf64> {{
      %0 = call @dot(%a, %b) : (tensor<{shape}xf64>, tensor<2x5x7xf64>) -> tensor<2x3x7xf64>
      return %0 : tensor<2x3x7xf64>
    }}
    func.func private @dot(%a: tensor<{shape}xf64>, %b: tensor<2x5x7xf64>) -> tensor<2x3x7xf64>
        attributes {{hloom.kind = "library", hloom.library = "gemm"}} {{
      %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [{1 if transposed else 2}] x [1]
        : (tensor<{shape}xf64>, tensor<2x5x7xf64>) -> tensor<2x3x7xf64>
      return %0 : tensor<2x3x7xf64>
    }}"""
    integer, pointer = ctypes.c_int64, ctypes.c_void_p
    prototype = ctypes.CFUNCTYPE(None, *[integer] * 6, *[pointer, integer, integer] * 3)
    a = np.random.default_rng(0).normal(size=(2, 5, 3) if transposed else (2, 3, 5))
    b = np.random.default_rng(1).normal(size=(2, 5, 7))
    (result,) = Machine(text, symbols={"hloom_gemm_f64": prototype(gemm)}).run([a, b])
    np.testing.assert_allclose(result, (a.mT if transposed else a) @ b, rtol=1e-12)


def test_the_stack_does_not_grow_with_calls_outside_of_loops() -> None:
    counts = []
    for calls in (1, 50):
        with make_context(), ir.Location.unknown():
            module = ir.Module.parse(INCREMENT + program(kernel((0, 0, 32), (1, 0, 32)) * calls, [32], [32]))
            counts.append(HostFunction(module.body.operations[1].operation).text().count("llvm.alloca"))
    assert counts == [1, 1]


def test_json_holds_the_program() -> None:
    body = f'"thunk.for"() ({{ {kernel((0, 0, 32), (1, 0, 32))} }}) {{trip_count = 3 : i64}} : () -> ()'
    with make_context(), ir.Location.unknown():
        data = programs(ir.Module.parse(INCREMENT + program(body, [32], [32])).operation)
    data = json.loads(json.dumps(data))
    assert data["main"]["argument_bytes"] == [32] and data["main"]["signature"] == "() -> ()"
    (loop,) = data["main"]["body"]
    assert (loop["op"], loop["trip_count"]) == ("for", 3)
    (inner,) = loop["body"]
    assert (inner["op"], inner["callee"], inner["reads"], inner["writes"]) == ("kernel", "increment", [[0, 0, 32]], [[1, 0, 32]])

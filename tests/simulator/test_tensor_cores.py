"""mma.sync, ldmatrix and cp.async."""

import ml_dtypes
import numpy as np
import pytest
from simulator_kernels import WORKGROUP, kernel

from hloom.compiler.simulator import SimulationError

DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i32": np.int32}
WARP = {"block": "32, 1, 1", "grid": "1, 1, 1"}
MMA = [
    (16, 16, "f16", "f32"),
    (16, 8, "bf16", "f32"),
    (16, 16, "f16", "f16"),
    (16, 8, "f32", "f32"),
    (16, 4, "f32", "f32"),
    (16, 32, "i8", "i32"),
    (8, 4, "f64", "f64"),
]


def _fragments(m: int, k: int, kind: str) -> tuple[int, int, int]:
    """Row halves, k halves, elements a register."""
    elements = max(1, 4 // np.dtype(DTYPES[kind]).itemsize)
    return m // 8, k // (4 * elements), elements


@pytest.mark.parametrize(("m", "k", "kind", "accumulator"), MMA)
def test_mma(m, k, kind, accumulator):
    """Each lane loads its registers element by element, as the PTX manual numbers them."""
    halves, ks, p = _fragments(m, k, kind)
    a_type, b_type, c_type = f"vector<{halves * ks}x{p}x{kind}>", f"vector<{ks}x{p}x{kind}>", f"vector<{halves}x2x{accumulator}>"
    lines = [
        "%g = arith.divui %t, %c4 : index",
        "%q = arith.remui %t, %c4 : index",
        f"%pq = affine.apply affine_map<(d0) -> (d0 * {p})>(%q)",
        "%q2 = affine.apply affine_map<(d0) -> (d0 * 2)>(%q)",
    ]

    def register(name: str, memory: str, shape: str, row: str, column: str) -> str:
        lines.append(f"%r{name} = affine.apply affine_map<(d0, d1) -> ({row})>(%g, %pq)")
        lines.append(f"%k{name} = affine.apply affine_map<(d0, d1) -> ({column})>(%g, %pq)")
        lines.append(f"%{name} = memref.load %{memory}[%r{name}, %k{name}] : {shape}")
        return f"%{name}"

    a_shape, b_shape, c_shape = f"memref<{m}x{k}x{kind}>", f"memref<{k}x8x{kind}>", f"memref<{m}x8x{accumulator}>"
    a = [
        register(f"a{h}_{i}_{j}", "A", a_shape, f"d0 + {8 * i}", f"d1 + {4 * p * h + j}")
        for h in range(ks)
        for i in range(halves)
        for j in range(p)
    ]
    b = [register(f"b{h}_{j}", "B", b_shape, f"d1 + {4 * p * h + j}", "d0") for h in range(ks) for j in range(p)]
    lines += [f"%a = vector.from_elements {', '.join(a)} : {a_type}", f"%b1 = vector.from_elements {', '.join(b)} : {b_type}"]
    zero = "0" if accumulator == "i32" else "0.0"
    lines.append(f"%c = arith.constant dense<{zero}> : {c_type}")
    tf32 = ", tf32Enabled" if kind == "f32" else ""
    lines.append(f"%d = nvgpu.mma.sync(%a, %b1, %c) {{mmaShape = [{m}, 8, {k}]{tf32}}} : ({a_type}, {b_type}, {c_type}) -> {c_type}")
    for i in range(halves):
        for j in range(2):
            lines.append(f"%e{i}{j} = vector.extract %d[{i}, {j}] : {accumulator} from {c_type}")
            lines.append(f"%m{i}{j} = affine.apply affine_map<(d0) -> (d0 + {8 * i})>(%g)")
            lines.append(f"%n{i}{j} = affine.apply affine_map<(d0) -> (d0 + {j})>(%q2)")
            lines.append(f"memref.store %e{i}{j}, %D[%m{i}{j}, %n{i}{j}] : {c_shape}")
    rng = np.random.default_rng(0)
    left, right = (rng.integers(-8, 8, shape).astype(DTYPES[kind]) for shape in ((m, k), (k, 8)))
    out = np.zeros((m, 8), DTYPES[accumulator])
    counters = kernel(f"%A: {a_shape}, %B: {b_shape}, %D: {c_shape}", "\n".join(lines), **WARP).launch(
        "k", [left.reshape(-1), right.reshape(-1), out]
    )
    np.testing.assert_array_equal(out, (left.astype(np.float64) @ right.astype(np.float64)).astype(DTYPES[accumulator]))
    assert counters.mma == 1


def test_tf32_ignores_low_bits():
    body = """
      %a = arith.constant dense<1.0001> : vector<2x1xf32>
      %b1 = arith.constant dense<1.0> : vector<1x1xf32>
      %c = arith.constant dense<0.0> : vector<2x2xf32>
      %d = nvgpu.mma.sync(%a, %b1, %c) {mmaShape = [16, 8, 4], tf32Enabled}
        : (vector<2x1xf32>, vector<1x1xf32>, vector<2x2xf32>) -> vector<2x2xf32>
      %e = vector.extract %d[0, 0] : f32 from vector<2x2xf32>
      memref.store %e, %o[%t] : memref<32xf32>"""
    out = np.zeros(32, np.float32)
    kernel("%o: memref<32xf32>", body, **WARP).launch("k", [out])
    np.testing.assert_array_equal(out, np.full(32, 4.0))
    with pytest.raises(SimulationError, match="tensor cores do not multiply f32"):
        kernel("%o: memref<32xf32>", body.replace(", tf32Enabled", ""), **WARP).launch("k", [out])


LDMATRIX = f"memref<16x16xf16, {WORKGROUP}>"
FILL = f"""
      %row = arith.divui %t, %c2 : index
      %half = arith.remui %t, %c2 : index
      %column = arith.muli %half, %c8 : index
      %from = affine.apply affine_map<(d0) -> (d0 * 8)>(%t)
      %v = vector.load %x[%from] {{alignment = 16 : i64}} : memref<256xf16>, vector<8xf16>
      vector.store %v, %s[%row, %column] {{alignment = 16 : i64}} : {LDMATRIX}, vector<8xf16>
      gpu.barrier
"""


def _ldmatrix(transpose: bool) -> str:
    return f"""
      %r = affine.apply affine_map<(d0) -> (d0 mod 16)>(%t)
      %k = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8)>(%t)
      %f = nvgpu.ldmatrix %s[%r, %k] {{numTiles = 4 : i32, transpose = {str(transpose).lower()}}} : {LDMATRIX} -> vector<4x2xf16>
      %flat = vector.shape_cast %f : vector<4x2xf16> to vector<8xf16>
      vector.store %flat, %o[%from] {{alignment = 16 : i64}} : memref<256xf16>, vector<8xf16>"""


@pytest.mark.parametrize("transpose", [False, True])
def test_ldmatrix(transpose):
    x, out = np.arange(256).astype(np.float16), np.zeros(256, np.float16)
    arguments = "%x: memref<256xf16>, %o: memref<256xf16>"
    module = kernel(arguments, FILL + _ldmatrix(transpose), own=f"workgroup(%s : {LDMATRIX})", **WARP)
    counters = module.launch("k", [x, out])
    tiles = x.reshape(2, 8, 2, 8).transpose(2, 0, 1, 3).reshape(4, 8, 8)
    if transpose:
        tiles = tiles.transpose(0, 2, 1)
    expected = tiles.reshape(4, 32, 2).transpose(1, 0, 2)
    np.testing.assert_array_equal(out.reshape(32, 4, 2), expected)
    assert counters.ldmatrix == 1 and counters.shared_read_bytes == 512
    racing = kernel(arguments, FILL.replace("gpu.barrier", "") + _ldmatrix(transpose), own=f"workgroup(%s : {LDMATRIX})", **WARP)
    with pytest.raises(SimulationError, match="race: reads what another thread of the block wrote"):
        racing.launch("k", [x, out])


def test_ldmatrix_does_not_let_memory_be_reused_without_a_barrier():
    body = FILL + _ldmatrix(False) + f"\n      vector.store %flat, %s[%row, %column] {{alignment = 16 : i64}} : {LDMATRIX}, vector<8xf16>"
    module = kernel("%x: memref<256xf16>, %o: memref<256xf16>", body, own=f"workgroup(%s : {LDMATRIX})", **WARP)
    with pytest.raises(SimulationError, match="race: writes what another thread of the block read"):
        module.launch("k", [np.zeros(256, np.float16), np.zeros(256, np.float16)])


STAGES = f"memref<3x256xf32, {WORKGROUP}>"


def _pipeline(running: int = 1, barrier: str = "gpu.barrier", elements: str = "") -> str:
    """Two stages ahead: each of 64 threads copies 4 elements of each of 8 tiles, and sums what another thread copied."""
    copy = f"nvgpu.device_async_copy %x[%{{0}}], %s[%{{1}}, %j], 4{elements} : memref<2048xf32> to {STAGES}"
    return f"""
      %c3 = arith.constant 3 : index
      %j = arith.muli %t, %c4 : index
      %back0 = arith.subi %c63, %t : index
      %back = arith.muli %back0, %c4 : index
      %c256 = arith.constant 256 : index
      %j1 = arith.addi %j, %c256 : index
      %p0 = {copy.format("j", "c0")}
      %g0 = nvgpu.device_async_create_group %p0
      %p1 = {copy.format("j1", "c1")}
      %g1 = nvgpu.device_async_create_group %p1
      %zero = arith.constant dense<0.0> : vector<4xf32>
      %sum = scf.for %k = %c0 to %c8 step %c1 iter_args(%a = %zero) -> vector<4xf32> {{
        nvgpu.device_async_wait %g0 {{numGroups = {running} : i32}}
        {barrier}
        %ahead = arith.addi %k, %c2 : index
        %more = arith.cmpi ult, %ahead, %c8 : index
        scf.if %more {{
          %stage = arith.remui %ahead, %c3 : index
          %from = affine.apply affine_map<(d0, d1) -> (d0 * 256 + d1)>(%ahead, %j)
          %p = {copy.format("from", "stage")}
        }}
        %g = "nvgpu.device_async_create_group"() : () -> !nvgpu.device.async.token
        %now = arith.remui %k, %c3 : index
        %v = vector.load %s[%now, %back] {{alignment = 16 : i64}} : {STAGES}, vector<4xf32>
        %n = arith.addf %a, %v : vector<4xf32>
        scf.yield %n : vector<4xf32>
      }}
      vector.store %sum, %o[%back] {{alignment = 16 : i64}} : memref<256xf32>, vector<4xf32>"""


def _pipelined(body: str) -> tuple[np.ndarray, np.ndarray, object]:
    x, out = np.random.default_rng(0).integers(0, 9, 2048).astype(np.float32), np.zeros(256, np.float32)
    module = kernel("%x: memref<2048xf32>, %o: memref<256xf32>", body, own=f"workgroup(%s : {STAGES})", grid="1, 1, 1")
    return x, out, module.launch("k", [x, out])


def test_cp_async_pipeline():
    x, out, counters = _pipelined(_pipeline())
    np.testing.assert_array_equal(out, x.reshape(8, 256).sum(axis=0))
    assert counters.async_copies == 8 * 64 and counters.global_read_bytes == 4 * 2048 and counters.barriers == 8


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"running": 2}, "reads memory that an asynchronous copy is still writing"),
        ({"barrier": ""}, "race: reads what another thread of the block wrote"),
    ],
)
def test_cp_async_faults(change, message):
    with pytest.raises(SimulationError, match=message):
        _pipelined(_pipeline(**change))


def test_cp_async_fills_with_zeros():
    """Of each run of 4 elements only the first %count are copied."""
    body = f"""
      %j = arith.muli %t, %c4 : index
      %count = arith.remui %t, %c4 : index
      %p = nvgpu.device_async_copy %x[%j], %s[%c0, %j], 4, %count : memref<256xf32> to {STAGES}
      %g = nvgpu.device_async_create_group %p
      nvgpu.device_async_wait %g
      %v = vector.load %s[%c0, %j] {{alignment = 16 : i64}} : {STAGES}, vector<4xf32>
      vector.store %v, %o[%j] {{alignment = 16 : i64}} : memref<256xf32>, vector<4xf32>"""
    x, out = np.ones(256, np.float32), np.zeros(256, np.float32)
    counters = kernel("%x: memref<256xf32>, %o: memref<256xf32>", body, own=f"workgroup(%s : {STAGES})", grid="1, 1, 1").launch(
        "k", [x, out]
    )
    np.testing.assert_array_equal(out.reshape(64, 4), np.arange(4) < np.arange(64)[:, None] % 4)
    assert counters.global_read_bytes == 4 * 16 * 6

"""mbarriers, TMA and wgmma."""

import numpy as np
import pytest
from simulator_kernels import WORKGROUP, kernel

from hloom.compiler.simulator import MappedTensor, SimulationError

BOX = f"memref<64x64xf16, {WORKGROUP}>"
MAP = f"!nvgpu.tensormap.descriptor<tensor = {BOX}, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>"
BAR = f"!nvgpu.mbarrier.group<memorySpace = {WORKGROUP}, num_barriers = 2>"
OPERAND = f"!nvgpu.warpgroup.descriptor<tensor = {BOX}>"
ACCUMULATOR = "!nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>"
INIT = f"""
      %bytes = arith.constant 16384 : index
      %ticks = arith.constant 10000000 : index
      %even = arith.constant false
      %leader = arith.cmpi eq, %t, %c0 : index
      %bars = nvgpu.mbarrier.create -> {BAR}
      nvgpu.mbarrier.init %bars[%c0], %c1, predicate = %leader : {BAR}
      nvgpu.mbarrier.init %bars[%c1], %c1, predicate = %leader : {BAR}
      gpu.barrier
"""


def _load(k: str, stage: str) -> str:
    return f"""
        nvgpu.mbarrier.arrive.expect_tx %bars[{stage}], %bytes, predicate = %leader : {BAR}
        nvgpu.tma.async.load %a[{k}, %row], %bars[{stage}] to %sa, predicate = %leader : {MAP}, {BAR} -> {BOX}
        nvgpu.tma.async.load %w[%c0, {k}], %bars[{stage}] to %sb, predicate = %leader : {MAP}, {BAR} -> {BOX}
"""


WAIT = f"        nvgpu.mbarrier.try_wait.parity %bars[%stage], %parity, %ticks : {BAR}\n"
MULTIPLY = f"""
        %da = nvgpu.warpgroup.generate.descriptor %sa, %a : {BOX}, {MAP} -> {OPERAND}
        %db = nvgpu.warpgroup.generate.descriptor %sb, %w : {BOX}, {MAP} -> {OPERAND}
        %n = nvgpu.warpgroup.mma %da, %db, %acc {{transposeB, waitGroup = 0 : i64}} : <tensor = {BOX}>, <tensor = {BOX}>,
          <fragmented = vector<64x64xf32>> -> <fragmented = vector<64x64xf32>>
"""


def _matmul(wait: str = WAIT, before_the_next: str = "gpu.barrier") -> str:
    """A block a tile of 64 rows; k in steps of 64, barriers used in turn."""
    return f"""{INIT}
      %c64 = arith.constant 64 : index
      %c192 = arith.constant 192 : index
      %row = arith.muli %b, %c64 : index
      %zero = nvgpu.warpgroup.mma.init.accumulator -> <fragmented = vector<64x64xf32>>
      %sum = scf.for %k = %c0 to %c192 step %c64 iter_args(%acc = %zero) -> {ACCUMULATOR} {{
        %step = arith.divui %k, %c64 : index
        %stage = arith.remui %step, %c2 : index
        %round = arith.divui %step, %c2 : index
        %half = arith.remui %round, %c2 : index
        %parity = arith.cmpi eq, %half, %c1 : index
        {_load("%k", "%stage")}{wait}{MULTIPLY}
        {before_the_next}
        scf.yield %n : {ACCUMULATOR}
      }}
      %tile = memref.subview %o[%row, 0] [64, 64] [1, 1] : memref<128x64xf32> to memref<64x64xf32, strided<[64, 1], offset: ?>>
      nvgpu.warpgroup.mma.store %sum, %tile : <fragmented = vector<64x64xf32>> to memref<64x64xf32, strided<[64, 1], offset: ?>>"""


def _run(body: str, rows: int = 128, depth: int = 192):
    rng = np.random.default_rng(0)
    a, w = (rng.integers(-4, 4, shape).astype(np.float16) for shape in ((rows, depth), (depth, 64)))
    out = np.zeros((128, 64), np.float32)
    own = f"workgroup(%sa : {BOX}, %sb : {BOX})"
    module = kernel(f"%a: {MAP}, %w: {MAP}, %o: memref<128x64xf32>", body, own=own, block="128, 1, 1", grid="2, 1, 1")
    counters = module.launch("k", [MappedTensor(a, a.shape), MappedTensor(w, w.shape), out])
    return a.astype(np.float32), w.astype(np.float32), out, counters


@pytest.mark.parametrize(("rows", "depth"), [(128, 192), (100, 150)])
def test_matmul(rows, depth):
    """What lies outside the tensors is 0."""
    a, w, out, counters = _run(_matmul(), rows, depth)
    np.testing.assert_array_equal(out[:rows], a @ w)
    assert not out[rows:].any()
    assert counters.async_copies == 2 * 3 * 2 and counters.mma == 2 * 3 * 4


FAULTS = [
    (_matmul(wait=""), "reads memory that an asynchronous copy is still writing|reads uninitialised memory|race: reads"),
    (_matmul(before_the_next=""), "race: writes what another thread of the block read"),
    (_matmul().replace("16384", "16448"), "waits for ever: mbarrier 0 has 1 of 1 arrivals, 16448 bytes announced, 16384 bytes on the way"),
    (_matmul().replace("%bars[%c0], %c1, predicate", "%bars[%c0], %c2, predicate"), "waits for ever: mbarrier 0 has 1 of 2 arrivals"),
    (_matmul().replace("cmpi eq, %half, %c1", "cmpi eq, %half, %c0"), "waits for ever"),
    (_matmul().replace(f"nvgpu.mbarrier.init %bars[%c0], %c1, predicate = %leader : {BAR}\n", ""), "was not initialised"),
    (_matmul().replace("transposeB, ", ""), "set transposeB"),
    (_matmul().replace("{transposeB, waitGroup = 0 : i64}", "{transposeB}"), "set waitGroup = 0"),
]


@pytest.mark.parametrize(("body", "message"), FAULTS)
def test_faults(body, message):
    with pytest.raises(SimulationError, match=message):
        _run(body)

"""What the threads of PTX do together, and what is said where they do it wrongly."""

from __future__ import annotations

import numpy as np
import pytest
from ptx_kernels import run

from hloom.compiler.simulator import SimulationError

STORE = "mul.wide.u32 %d9, %r0, 4; add.s64 %d9, %d9, %d0; st.global.b32 [%d9], %r9;"


def test_branches_meet_again_and_loops_end_one_by_one():
    """Thread t adds 1 … t; even ones twice that. The block of the odd ones stands at the end of the text."""
    out = np.zeros(64, np.uint32)
    run(f"""
      mov.b32 %r9, 0; mov.b32 %r10, 0;
    LOOP: setp.ge.u32 %p1, %r10, %r0; @%p1 bra DONE;
      add.u32 %r10, %r10, 1; add.u32 %r9, %r9, %r10; bra LOOP;
    DONE: and.b32 %r11, %r0, 1; setp.eq.b32 %p2, %r11, 1; @%p2 bra ODD;
      shl.b32 %r9, %r9, 1;
    MEET: shfl.sync.bfly.b32 %r12, %r9, 1, 31, -1; add.u32 %r9, %r9, %r12;
      {STORE} ret;
    ODD: add.u32 %r9, %r9, 0; bra MEET;""", out, block=(64, 1, 1))  # fmt: skip
    t = np.arange(64)
    own = t * (t + 1) // 2 * np.where(t % 2, 1, 2)
    np.testing.assert_array_equal(out, own + own[t ^ 1])


def test_shuffles():
    cases = {"up": ("3, 0", lambda t: np.where(t >= 3, t - 3, t)), "down": ("3, 31", lambda t: np.where(t < 29, t + 3, t)),
             "idx": ("5, 31", lambda t: t * 0 + 5), "bfly": ("6, 31", lambda t: t ^ 6),
             "idx ": ("1, 0x181f", lambda t: t // 8 * 8 + 1)}  # fmt: skip
    lanes = np.arange(32)
    for mode, (operands, expected) in cases.items():
        out = np.zeros(32, np.uint32)
        run(f"shfl.sync.{mode.strip()}.b32 %r9, %r0, {operands}, -1; {STORE}", out)
        np.testing.assert_array_equal(out, expected(lanes), mode)


def test_votes():
    out = np.zeros(32, np.uint32)
    run(f"setp.lt.u32 %p1, %r0, 5; vote.sync.ballot.b32 %r9, %p1, -1; {STORE}", out)
    assert set(out) == {0b11111}
    run(f"setp.lt.u32 %p1, %r0, 5; vote.sync.any.pred %p2, %p1, -1; selp.b32 %r9, 7, 8, %p2; {STORE}", out)
    assert set(out) == {7}


@pytest.mark.parametrize("op", ["add.u32", "max.s32", "exch.b32"])
def test_atomics(op):
    out = np.zeros(1, np.uint32)
    run(f"atom.global.{op} %r9, [%d0], %r0; red.global.add.u32 [%d0], 0;", out, grid=(3, 1, 1))
    assert out[0] == {"add.u32": 96 * 95 // 2, "max.s32": 95, "exch.b32": 95}[op]


def test_compare_and_swap():
    """A product by a loop of compare and swap."""
    out = np.ones(1, np.uint32)
    run("""ld.global.b32 %r10, [%d0];
    AGAIN: mul.lo.u32 %r11, %r10, 3; atom.global.cas.b32 %r12, [%d0], %r10, %r11;
      setp.eq.b32 %p1, %r12, %r10; mov.b32 %r10, %r12; @!%p1 bra AGAIN;""", out, block=(8, 1, 1))  # fmt: skip
    assert out[0] == 3**8


SHARED = ".shared .align 16 .b8 mine[256];"
REVERSE = """
  mov.b64 %d10, mine; mul.wide.u32 %d11, %r0, 4; add.s64 %d12, %d10, %d11; st.shared.b32 [%d12], %r0;
  {barrier}
  sub.s64 %d13, %d10, %d11; ld.shared.b32 %r9, [%d13+{offset}];
"""


def test_shared_memory():
    out = np.zeros(64, np.uint32)
    run(SHARED + REVERSE.format(barrier="bar.sync 0;", offset=252) + STORE, out, block=(64, 1, 1))
    np.testing.assert_array_equal(out, np.arange(64)[::-1])


def test_local_memory():
    out = np.zeros(64, np.uint32)
    run(f""".local .align 8 .b8 own[16];
      mov.b64 %d10, own; cvta.local.u64 %d11, %d10; st.local.b32 [%d10+8], %r0;
      ld.b32 %r9, [%d11+8]; {STORE}""", out, block=(64, 1, 1))  # fmt: skip
    np.testing.assert_array_equal(out, np.arange(64))


FAULTS = {
    "race": (SHARED + REVERSE.format(barrier="", offset=252), "race: reads what another thread of the block wrote"),
    "beyond shared memory": (SHARED + REVERSE.format(barrier="bar.sync 0;", offset=256), "out of bounds: 4 bytes at 1280 of shared memory"),
    "uninitialised": (SHARED + "mov.b64 %d10, mine; ld.shared.b32 %r9, [%d10];", "reads uninitialised memory"),
    "beyond global memory": ("mul.wide.u32 %d9, %r0, 4; add.s64 %d9, %d9, %d0; st.global.b32 [%d9+4], %r0;",
                             "store to global memory out of bounds"),
    "misaligned": ("ld.global.v2.b32 {%r9, %r10}, [%d0+4];", "misaligned: 8 bytes"),
    "part of a block at a barrier": ("setp.lt.u32 %p1, %r0, 7; @%p1 bra E; bar.sync 0; E:", "a barrier that not all threads of"),
    "part of a warp at a shuffle": ("setp.lt.u32 %p1, %r0, 7; @%p1 bra E; shfl.sync.idx.b32 %r9, %r0, 0, 31, -1; E:",
                                    "a shuffle from a lane that is not active"),
    "trap": ("setp.eq.u32 %p1, %r0, 7; @%p1 trap;", "a trap"),
    "a wait without an arrival": (
        ".shared .align 8 .b8 mine[8]; mov.b64 %d10, mine; setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [%d10], 1; bar.sync 0;"
        "W: mbarrier.try_wait.parity.shared.b64 %p2, [%d10], 0, 1000; @!%p2 bra W;", "waits for ever: mbarrier 0 has 0 of 1 arrivals"),
    "a copy that nobody awaits": (
        SHARED + "mov.b64 %d10, mine; mul.wide.u32 %d11, %r0, 4; add.s64 %d12, %d10, %d11; add.s64 %d13, %d0, %d11;"
        "cp.async.ca.shared.global [%d12], [%d13], 4; cp.async.commit_group; ld.shared.b32 %r9, [%d12];",
        "an asynchronous copy is still writing"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_complains(name):
    body, message = FAULTS[name]
    with pytest.raises(SimulationError, match=message):
        run(body, np.zeros(64, np.uint32), block=(64, 1, 1))


def test_warps_with_roles_wait_for_each_other():
    """The first warp waits for what the second arrives with, though its code comes first."""
    out = np.zeros(64, np.uint32)
    run(f""".shared .align 8 .b8 mine[16];
      mov.b64 %d10, mine; setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [%d10], 32; bar.sync 0;
      setp.ge.u32 %p2, %r0, 32; @%p2 bra SECOND;
    W: mbarrier.try_wait.parity.shared.b64 %p3, [%d10], 0, 1000; @!%p3 bra W;
      ld.shared.b32 %r9, [%d10+8]; bra END;
    SECOND: setp.eq.u32 %p4, %r0, 40; @%p4 st.shared.b32 [%d10+8], 77; mbarrier.arrive.shared.b64 _, [%d10]; mov.b32 %r9, 5;
    END: {STORE}""", out, block=(64, 1, 1), checks=False)  # fmt: skip
    np.testing.assert_array_equal(out, [77] * 32 + [5] * 32)


def test_what_is_not_known_is_refused():
    with pytest.raises(SimulationError, match=r"does not know tex\.2d"):
        run("tex.2d.v4.f32.s32 {%r1, %r2, %r3, %r4}, [%d0, {%r5, %r6}];", np.zeros(4, np.uint32))

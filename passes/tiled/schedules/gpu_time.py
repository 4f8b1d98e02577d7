"""How long a tiled contraction takes on a GPU, in clocks of a multiprocessor, by what may bound it.

    issue     warps that share a scheduler issue one instruction a clock between them
    traffic   what blocks read into shared memory
    latency   a block goes from step to step no faster than one of its warps computes a step alone, nor than the copies of a step
              arrive, of which so many are under way as there are stages

The first two are shared by all blocks of a multiprocessor, the last counts once for blocks that are there together. Few blocks are bound by
latency: smaller tiles, warps that share the inner loop and more stages shorten it. Figures are of an H200, where 64 x 512 x 256 in f32 in
blocks of one warp took 2 clocks a fused multiply-add.
"""

from __future__ import annotations

from dataclasses import dataclass

from hloom.dialects.target import TargetView

_CLOCK_PS = 588
"""At 1.7 GHz."""
_SCHEDULERS = 4
_GLOBAL_LATENCY = 700
_SHARED_LATENCY = 30
_WARPGROUP_LATENCY = 60
_STEP = 60
"""A wait for copies, a barrier and the addresses of the next copies."""
_COPY = 10
"""Instructions of one copy of a thread: its address, its bounds."""
_BYTES_PER_CLOCK = 48
"""Into one multiprocessor from the L2, all of them reading."""
_BEGIN_AND_END = 500
"""Until the first copy starts, and from the last sum to the last store."""
_ADDED = 40
"""Where warps share the inner loop: sums to shared memory and a barrier, and for each of those a sum read and added."""
_EXPOSED = 8
"""The part of the lesser bounds that is not hidden behind the largest: one in so many."""
_SHARED_BYTES_PER_CLOCK = 128
_STAYING_STEP = 300
"""The same of blocks whose warp groups take turns; beside two warps a scheduler nothing hides it."""
_OPERATION_PERCENT = 140
"""Clocks of a scheduler for an operation of an epilogue, of two warps: an H200 took 1.4 more for each that was added."""
_LIGHT = 4
"""Operations of an epilogue for each result that its beginning and end hide."""
_REGISTERS_HELD = 40
"""Registers of a thread beside its sums."""


@dataclass(frozen=True)
class WarpStep:
    """What one warp does in one step of the pipeline: instructions issued, in clocks of its scheduler; and the time alone."""

    issue: int
    alone: int


@dataclass(frozen=True)
class Blocks:
    """The blocks of a kernel: how many, of how many warps, the bytes of a stage of one, its stages and how many are filled ahead, steps
    along the inner loop, copies of a thread in a step, how many warps share each part of the tile, the sums that a thread holds."""

    count: int
    warps: int
    stage_bytes: int
    stages: int
    ahead: int
    steps: int
    copies: int
    sharing: int
    sums: int


@dataclass(frozen=True)
class Estimate:
    """The clocks of a kernel from its begin to its end, and what bounds it: "issue", "traffic" or "latency"."""

    clocks: int
    bound: str

    @property
    def ps(self) -> int:
        """The same in picoseconds."""
        return self.clocks * _CLOCK_PS


UNKNOWN = Estimate(0, "")


def simt_step(rows: int, cols: int, inner: int, element_bytes: int) -> WarpStep:
    """A thread multiplies `rows` x `cols` elements, `inner` times. Four elements are read at once, and hide behind what is multiplied."""
    multiplied, read = rows * cols * (2 if element_bytes == 8 else 1), rows + cols
    issue = inner * multiplied + inner * read
    return WarpStep(issue, issue + inner // 4 * _SHARED_LATENCY)


def tensor_core_step(rows: int, cols: int, inner: int) -> WarpStep:
    """A warp multiplies `rows` x `cols` fragments of 16 x 8, `inner` times: 8 clocks each, 33 until the sum may be added to."""
    multiplied, read = 8 * rows * cols, 8 * (rows + (cols + 1) // 2)
    issue = inner * (multiplied + read)
    return WarpStep(issue, _SHARED_LATENCY + inner * max(33, multiplied + read))


def warpgroup_step(cols: int) -> WarpStep:
    """A warp group multiplies 64 x `cols` results by four instructions of 32 bytes of the inner loop; each warp keeps its tensor core."""
    return WarpStep(2 * cols, 2 * cols + _WARPGROUP_LATENCY)


def estimate(blocks: Blocks, step: WarpStep, work: int, target: TargetView) -> Estimate:
    """The time of a kernel of such blocks, whose warps do `step` in each step, and `work` operations for each result at the end.

    Epilogues count in full: blocks that begin together also end together, so that nothing is multiplied while they compute.
    """
    own = -(-blocks.count // (target.multiprocessors or 108))
    together = min(own, resident(blocks, target))
    issue = step.issue + _STEP + _COPY * blocks.copies
    bounds = {"issue": own * blocks.warps * issue * blocks.steps // _SCHEDULERS}
    bounds["traffic"] = own * blocks.stage_bytes * blocks.steps // _BYTES_PER_CLOCK
    rounds = -(-own // together)
    waiting = _GLOBAL_LATENCY // blocks.ahead if blocks.ahead < blocks.steps else 0
    bounds["latency"] = rounds * blocks.steps * max(step.alone + _STEP + _COPY * blocks.copies, waiting)
    once = _GLOBAL_LATENCY + _BEGIN_AND_END + (_ADDED * (1 + blocks.sharing) if blocks.sharing > 1 else 0)
    bound = max(bounds, key=lambda each: bounds[each])
    hidden = sum(bounds.values()) - bounds[bound]
    return Estimate(bounds[bound] + hidden // _EXPOSED + rounds * once + own * _finish(blocks, work), bound)


def overlapped(blocks: Blocks, step: WarpStep, work: int, target: TargetView) -> Estimate:
    """The time where a block stays for all tiles of its multiprocessor (`blocks.count` tiles), and a tile's epilogue runs beside the
    products of the next: half of the warps multiply while the others compute."""
    own = -(-blocks.count // (target.multiprocessors or 108))
    products, finish = blocks.steps * blocks.warps * step.issue // _SCHEDULERS, _finish(blocks, work)
    bounds = {
        "issue": products,
        "traffic": blocks.steps * blocks.stage_bytes // _BYTES_PER_CLOCK,
        "epilogue": finish,
        "latency": (products + finish) // 2,
    }
    bound = max(bounds, key=lambda each: bounds[each])
    kept = _WARPGROUP_LATENCY + blocks.sums * 32 * blocks.warps * 4 // _SHARED_BYTES_PER_CLOCK
    each = bounds[bound] + blocks.steps * _STAYING_STEP + kept
    return Estimate(own * each + finish + _GLOBAL_LATENCY + _BEGIN_AND_END, bound)


def specialised(blocks: Blocks, step: WarpStep, work: int, target: TargetView) -> Estimate:
    """The time where a block stays for all tiles of its multiprocessor, and a warp of its own fetches: the pipeline is filled once."""
    own = -(-blocks.count // (target.multiprocessors or 108))
    bounds = {
        "issue": blocks.steps * blocks.warps * (step.issue + _STEP) // _SCHEDULERS,
        "traffic": blocks.steps * blocks.stage_bytes // _BYTES_PER_CLOCK,
        "latency": blocks.steps * max(step.alone + _STEP, _GLOBAL_LATENCY // blocks.ahead),
    }
    bound = max(bounds, key=lambda each: bounds[each])
    hidden = sum(bounds.values()) - bounds[bound]
    each = bounds[bound] + hidden // _EXPOSED + _BEGIN_AND_END + _finish(blocks, work)
    return Estimate(own * each + _GLOBAL_LATENCY, bound)


def _finish(blocks: Blocks, work: int) -> int:
    """The epilogue of one block whose warps have the schedulers to themselves."""
    return blocks.warps * blocks.sums * (work - min(work, _LIGHT)) * _OPERATION_PERCENT // (100 * _SCHEDULERS)


def resident(blocks: Blocks, target: TargetView) -> int:
    """How many of them a multiprocessor holds at once."""
    threads = 32 * blocks.warps
    registers = (target.registers_per_multiprocessor or 65536) // (threads * (_REGISTERS_HELD + blocks.sums))
    shared = (target.shared_bytes_per_multiprocessor or 1 << 17) // (blocks.stage_bytes * blocks.stages)
    return max(1, min(registers, shared, (target.threads_per_multiprocessor or 2048) // threads, target.blocks_per_multiprocessor or 32))

"""What the simulator raises."""

from __future__ import annotations

from hloom.runtime.errors import ExecutionError


class SimulationError(ExecutionError):
    """A kernel does what a GPU would not forgive, or what the simulator does not know.

    `op` and `loc` name the op in the kernel, `block` and `thread` the first thread concerned: its numbers in grid and block, linearised.
    """

    code = "HL215"

    def __init__(
        self,
        message: str,
        *,
        kernel: str | None = None,
        op: str | None = None,
        loc: str | None = None,
        block: int | None = None,
        thread: int | None = None,
        remedy: str | None = None,
    ):
        self.kernel, self.op, self.loc, self.block, self.thread = kernel, op, loc, block, thread
        parts = [message]
        if kernel is not None:
            parts.append(f"  kernel: {kernel}")
        if op is not None:
            parts.append(f"  op: {op}")
        if loc is not None:
            parts.append(f"  at: {loc}")
        if thread is not None:
            parts.append(f"  thread: {thread} of block {block}")
        super().__init__("\n".join(parts), remedy=remedy)

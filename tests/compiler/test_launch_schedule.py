"""Tests of the order that join-launches finds, where there is little memory."""

from hloom.passes.fused.launches.host_block import HostBlock
from hloom.passes.fused.launches.schedule import Schedule, Step

TERMINATOR = 5


def test_what_an_earlier_step_lets_wait_is_not_lost_with_one_that_has_no_room() -> None:
    """Of the kernels 0 to 2, 1 and 2 have no room together. 3 waits as soon as 0 ran, before these were tried."""
    reads: list[list[int]] = [[], [], [], [0], [1, 2], [3, 4]]
    users = [[3], [4], [4], [5], [5], []]
    makes = [range(op, op + 1) for op in range(TERMINATOR)] + [range(TERMINATOR, TERMINATOR)]
    block = HostBlock([None] * 6, reads, makes, users, [1, 8, 8, 1, 1], [0] * 6)  # type: ignore[list-item]

    def packed(waiting: list[int]) -> list[Step]:
        return [[0], [1, 2]] if waiting == [0, 1, 2] else [[op] for op in waiting]

    steps = Schedule(block, range(TERMINATOR), packed, most=12).steps
    assert sorted(op for step in steps for op in step) == list(range(6))
    assert steps[-1] == [TERMINATOR]

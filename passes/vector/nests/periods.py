"""How many chunks of a loop there are until quotients of its index begin alike again: so many are the steps of one turn.

    x[i floordiv 3], of chunks of 64 lanes     →     for i in 0 to n by 192: chunks at i, i + 64 and i + 128

At each of them it is known which lanes have the same quotient (places.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, lcm

from ...common.periods import period
from .work import Work

_MOST_CHUNKS = 16
_MOST_OPS = 256
"""Of the bodies, in all chunks."""


def chunks_together(works: Sequence[Work], loop: int, count: int) -> int:
    """So many chunks of `count` lanes; one where no quotient has its places known, or these are too many."""
    repeats = lcm(*(period(work.block, work.maps, loop, count) for work in works))
    together = repeats // gcd(repeats, count)
    size = sum(work.body_size() for work in works)
    return together if together <= _MOST_CHUNKS and together * size <= _MOST_OPS else 1

"""Pads, concatenations and rolls along the lanes, whose vector loops are cut where their comparisons turn; beside eager PyTorch."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from test_resize import compare, random

_WIDTHS = st.integers(1, 70)
_SIDES = st.integers(-3, 9)


@settings(max_examples=6, deadline=None)
@given(st.lists(_WIDTHS, min_size=2, max_size=5), _SIDES, _SIDES, st.integers(0, 40))
def test_lanes(widths, low, high, shift):
    x, parts = random(3, sum(widths) + 7), [random(3, width) for width in widths]
    compare(
        [
            lambda x, *parts: [torch.cat(parts, 1), torch.cat([part * 2 + 1 for part in parts], 1).exp(), x.roll(shift, 1) + x],
            lambda x, *parts: [F.pad(x, (low, high)), F.pad(x, (low, high, 1, 2), value=2.0) * 3, F.pad(x > 0, (high, low)).float()],
            lambda x, *parts: [F.pad(x, (min(5, x.shape[1] - 1), 2), mode="reflect"), F.pad(x[None], (high, -1, 2, 9), mode="replicate")],
            lambda x, *parts: [torch.cat((x[:, ::2] - 1, F.pad(parts[0], (1, 1))), 1)],
        ],
        x,
        *parts,
    )

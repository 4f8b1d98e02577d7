"""Pads, concatenations and rolls, whose loops are cut where their comparisons turn; beside eager PyTorch."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from test_resize import TARGETS, compare, random

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


@settings(max_examples=4, deadline=None)
@given(st.lists(st.integers(1, 12000), min_size=2, max_size=4), st.integers(0, 9000), st.sampled_from(TARGETS))
def test_parts_of_tiles(extents, shift, target):
    """Arrays that are cut into tiles along what is concatenated: flat ones, rows, and both."""
    flat = [random(extent) for extent in extents]
    rows = [random(1 + extent // 50, 33) for extent in extents]
    compare(
        [
            lambda *x: [torch.cat(x[: len(flat)]), torch.cat([part * 2 for part in x[: len(flat)]]).roll(shift), x[-1].roll(shift)],
            lambda *x: [torch.cat(x[len(flat) :]), F.pad(x[-1], (1, 2, 3, 70), value=2.0).exp(), x[-1].roll(shift, 0) + 1],
        ],
        *flat,
        *rows,
        target=target,
    )


@settings(max_examples=4, deadline=None)
@given(st.lists(_WIDTHS, min_size=2, max_size=3), st.integers(2, 5), st.integers(0, 90), st.sampled_from(TARGETS))
def test_steps_pairs_and_planes(widths, step, shift, target):
    """Some of the elements of what is moved, pairs and triples that stand in turn, and planes of which each is computed otherwise."""
    parts = [random(3, width) for width in widths]
    whole, pairs = random(3, sum(widths) + 7), [random(3, width, 2) for width in widths]

    def planes(x):
        steps = [x.roll(-1, d) - x.roll(1, d) for d in (0, 1)]
        return [torch.stack(steps), torch.stack([*steps, steps[0].exp() * 2], -1)]

    compare(
        [
            lambda x, *parts: [
                x.roll(shift, 1)[:, ::step] * 2,
                F.pad(x, (3, 4))[:, 1::step],
                torch.cat((x.roll(shift, 1), x), 1)[:, ::step],
            ],
            lambda x, *parts: [torch.cat(parts[len(widths) :], 1), torch.cat(parts[len(widths) :], 1).roll(shift, 1).flip(2) + 1],
            lambda x, *parts: [F.pad(torch.stack((x, x.roll(shift, 1)), -1), (0, 0, step, 2)), *planes(x)],
        ],
        whole,
        *parts,
        *pairs,
        target=target,
    )


@settings(max_examples=5, deadline=None)
@given(st.lists(_WIDTHS, min_size=2, max_size=4), st.integers(0, 40), st.sampled_from(TARGETS))
def test_reductions(widths, shift, target):
    """Along the lanes that are cut, and across them; sums that know where a tile begins, and windows over channels in lanes."""
    parts = [random(37, width) for width in widths]
    images = [random(1, 9, 7, width) for width in widths]

    def pooled(*x):
        return F.max_pool2d(torch.cat(x[len(parts) :], -1).permute(0, 3, 1, 2), 3, 2, 1)

    compare(
        [
            lambda *x: [torch.cat(x[: len(parts)], 1).sum(1), torch.cat(x[: len(parts)], 1).sum(0)],
            lambda *x: [torch.cat(x[: len(parts)], 1).amax(0), torch.softmax(torch.cat(x[: len(parts)], 1), 1)],
            lambda *x: [(x[0].roll(shift, 1) * x[0]).sum(1), F.pad(x[0], (3, 70)).mean(0)],
            lambda *x: [pooled(*x), pooled(*x).mean((2, 3))],
        ],
        *parts,
        *images,
        target=target,
    )


@settings(max_examples=5, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=2, max_size=4), st.integers(-50, 50), st.sampled_from(TARGETS))
def test_places_in_all_dimensions(shape, shift, target):
    """Elements moved, chosen and counted in a row, of arrays of several dimensions."""

    def places(x):
        return torch.arange(x.numel()).reshape(x.shape)

    compare(
        [
            lambda x: [x.roll(shift) * 2, torch.where(places(x) < 30, x, -x)],
            lambda x: [x + places(x), x[..., None] + places(x)[..., None] * torch.arange(3), places(x)[0] - x],
        ],
        random(*shape),
        target=target,
    )

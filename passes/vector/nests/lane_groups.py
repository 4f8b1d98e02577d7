"""Convolutions whose groups are narrower than a register, with the channels last: a register is several groups.

    y[g, f] += x[tap, g * 8 + k] * w[tap, k, g, f]      →      y[c] += x[tap, c floordiv 8 * 8 + k] * w[tap, k, c]

The channels of a pixel are loaded side by side, as many as there are lanes, and each lane takes channel k of its group from them by a
shuffle. The loop over k is unrolled with the taps of a line in it: all of these share a shuffle, and all k the loads of a pixel.
A block has as many rows as registers hold with their pixels, where a window reaches into padding.

Must hold: groups and features lie in one piece in weights and result; a group has as many channels as features, a number that divides the
lanes. Declined: works that follow and have their elements otherwise; loops too long to be unrolled, as the pixels of a gradient are, whose
images may be as many as a group has features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch_mlir import ir

from hloom.dialects.target import TargetView

from ...common.linear_index import linear_form
from ...common.storage import Storage
from ...common.tiled_function import size_bound
from .contraction_loops import jam_loop
from .work import Picked, Work

_MOST_STEPS = 256
"""Of the loop over channels and of that in it, which are unrolled."""

_Place = tuple[ir.AffineMap, Storage | ir.Value | None]


@dataclass(frozen=True)
class LaneGroups:
    """The loop over groups, before that over their features, the loop over their channels, and how many both are."""

    group: int
    channel: int
    width: int

    @staticmethod
    def of(work: Work, target: TargetView) -> LaneGroups | None:
        """None where the work is no such convolution."""
        parallel = sum(work.parallel)
        if len(work.inputs) != 2 or len(work.outputs) != 1 or not 2 <= parallel < len(work.parallel) or work.asks_for_index():
            return None
        group, width, lanes = parallel - 2, work.extents[parallel - 1], work.lanes(target)
        if not all(work.parallel[:parallel]) or not isinstance(width, int) or not 1 < width < lanes or lanes % width:
            return None
        read = [index.terms for index in linear_form(work.maps[0]) or () if group in index.terms]
        for channel in (d for d in range(len(work.extents)) if d not in (group, group + 1)):
            found = LaneGroups(group, channel, width)
            if read == [{group: width, channel: 1}] and work.extents[channel] == width and (joined := found.joined(work)) is not None:
                if work.parallel[channel]:
                    return found if jam_loop(joined, found.lane) == joined.picked[0].loop else None
                steps = width * size_bound(joined.extents[-1])
                return found if steps <= _MOST_STEPS else None
        return None

    @property
    def lane(self) -> int:
        """The loop over the features of all groups, of a joined work."""
        return self.group

    def whole(self, work: Work) -> Work:
        """`joined`, of a work that was seen to be one."""
        joined = self.joined(work)
        assert joined is not None
        return joined

    def joined(self, work: Work) -> Work | None:
        """The work with one loop in place of groups and features, and that over the channels before the last that is summed. None where an
        operand has its elements otherwise."""
        order = [d for d in range(len(work.extents)) if d not in (self.group + 1, self.channel)]
        if self.channel < self.group:
            order.insert(order.index(self.group), self.channel)
        elif work.reduces:
            order.insert(max(self.group + 1, len(order) - 1), self.channel)
        dims = {old: ir.AffineDimExpr.get(new) for new, old in enumerate(order)}
        groups, count = work.extents[self.group], len(work.inputs)
        if not isinstance(groups, int):
            return None
        found = [
            self._place(m, s, dims, groups) for m, s in zip([*work.maps, *work.output_maps], [*work.inputs, *work.outputs, *work.inits])
        ]
        places = [place for place in found if place is not None]
        if len(places) < len(found):
            return None
        maps, storages = [m for m, _ in places], [storage for _, storage in places]
        ends = [storage if isinstance(storage, Storage) else None for storage in storages[count:]]
        return replace(
            work,
            maps=maps[: len(work.maps)],
            inputs=storages[:count],
            outputs=ends[: len(work.outputs)],
            inits=ends[len(work.outputs) :],
            extents=[groups * self.width if d == self.group else work.extents[d] for d in order],
            parallel=[work.parallel[d] for d in order],
            picked={0: Picked(dims[self.channel].position, self.width)} if work.reduces else {},
        )

    def _place(self, m: ir.AffineMap, storage: Storage | ir.Value | None, dims: dict[int, ir.AffineDimExpr], groups: int) -> _Place | None:
        """An operand as a joined work reads it; None where it has its elements otherwise."""
        form, lane = linear_form(m), dims[self.group]
        if form is None:
            return None
        point = [dims.get(d, lane) for d in range(m.n_dims)]
        results = [expression.compose(ir.AffineMap.get(len(dims), 0, point)) for expression in m.results]
        mine = [n for n, index in enumerate(form) if not index.terms.keys().isdisjoint((self.group, self.group + 1))]
        terms = [form[n].terms for n in mine]
        if any(form[n].constant for n in mine):
            return None
        if terms in ([{self.group: self.width, self.group + 1: 1}], [{self.group: self.width, self.channel: 1}]):
            results[mine[0]] = lane
        elif terms == [{self.group: 1}, {self.group + 1: 1}] and mine[1] == mine[0] + 1 and isinstance(storage, Storage):
            first, last = mine
            if storage.strides[first] != self.width * storage.strides[last] or any(storage.bounds[first : last + 1]):
                return None
            storage = _without(storage, first, groups * self.width)
            del results[first]
        elif terms:
            return None
        return ir.AffineMap.get(len(dims), 0, results), storage


def _without(storage: Storage, dim: int, size: int) -> Storage:
    """A storage whose dim is one with the next, of this size then."""

    def others(of: Sequence[object]) -> tuple:
        return (*of[:dim], *of[dim + 1 :])

    sizes = (*storage.sizes[:dim], size, *storage.sizes[dim + 2 :])
    return replace(storage, strides=others(storage.strides), sizes=sizes, bounds=others(storage.bounds))

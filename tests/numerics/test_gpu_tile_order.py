"""The order in which blocks visit the tiles of a product (gpu_tile_order.py): its price beside what waves really read, and results."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import pytest
from test_gpu_matmul import TARGET as AMPERE
from test_gpu_matmul import Case, kernel_of, run

from hloom.compiler.simulator import Kernels, SimulationError
from hloom.compiler.target import load_target
from hloom.passes.tiled.schedules.gpu_tile_order import TileGrid, choose_order, price

TARGET = load_target("sm_90a")
ONE_PROCESSOR = replace(TARGET, multiprocessors=1)
MB = 1 << 20


@dataclass(frozen=True)
class Asked(Case):
    """A product whose tiles are visited so many rows together."""

    together: int = 1

    def text(self) -> str:
        rule = f'hloom.blocks = {{rows_together = {self.together} : i64}}, hloom.tile_rule = "tile 1"'
        return super().text().replace('hloom.kind = "matmul"', f'hloom.kind = "matmul", {rule}')

    def __str__(self) -> str:
        return f"{super().__str__()}_{self.together}"


def _waves(grid: TileGrid, together: int) -> list[set[tuple[str, int]]]:
    """The panels that each wave reads."""
    tiles = [
        (first + row, col)
        for first in range(0, grid.rows, together)
        for col in range(grid.cols)
        for row in range(min(together, grid.rows - first))
    ]
    waves = [tiles[at : at + grid.wave] for at in range(0, len(tiles), grid.wave)]
    return [{panel for row, col in wave for panel in (("row", row), ("col", col))} for wave in waves]


def _bytes(grid: TileGrid, panels: set[tuple[str, int]]) -> int:
    return sum(grid.row_bytes if side == "row" else grid.col_bytes for side, _ in panels)


def _from_memory(grid: TileGrid, together: int, room: int) -> int:
    """What an L2 that throws out what was read longest ago lets through."""
    held: dict[tuple[str, int], None] = {}
    total = 0
    for wave in _waves(grid, together):
        total += _bytes(grid, wave - held.keys())
        for panel in wave:
            held.pop(panel, None)
            held[panel] = None
        while held and _bytes(grid, set(held)) > room:
            held.pop(next(iter(held)))
    return total


GRIDS = [
    TileGrid(32, 16, 1 * MB, 2 * MB, 132),
    TileGrid(37, 128, MB // 4, MB // 2, 132),
    TileGrid(31, 60, 1 * MB, 1 * MB, 132),
    TileGrid(64, 4, MB, 2 * MB, 132),
    TileGrid(3, 500, MB, MB, 264),
    TileGrid(53, 200, 4 * MB, 8 * MB, 132),
]


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_the_price_of_a_wave_is_what_it_reads(grid):
    for together in {1, 2, 5, 8, 16, grid.rows}:
        waves = _waves(grid, min(together, grid.rows))
        mean = sum(_bytes(grid, wave) for wave in waves) / len(waves)
        told = price(grid, min(together, grid.rows), TARGET).wave_bytes
        assert 0.5 * mean <= told <= 1.5 * mean


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_what_is_chosen_reads_hardly_more_than_the_best_order(grid):
    """By an L2 of the half of the size that counts, played wave by wave."""
    room = TARGET.llc_bytes // 2
    played = {together: _from_memory(grid, together, room) for together in range(1, grid.rows + 1)}
    assert played[choose_order(grid, TARGET).together] <= 1.3 * min(played.values())


def test_a_prime_number_of_rows_of_tiles_is_cut_into_groups():
    grid = GRIDS[2]
    found = choose_order(grid, TARGET)
    assert grid.rows % found.together and 4 * found.total_bytes < price(grid, 1, TARGET).total_bytes


def test_groups_are_of_equal_rows_where_others_save_nothing():
    assert choose_order(TileGrid(32, 16, MB, 2 * MB, 132), TARGET).together == 16
    assert 30 % choose_order(TileGrid(30, 40, MB // 64, MB // 64, 132), TARGET).together == 0


@pytest.mark.parametrize("together", [1, 2, 3, 5, 9])
def test_every_tile_is_computed_once(together):
    """Rows of tiles: 5, columns 3, and a batch; tiles that end past the rows and columns."""
    _, printed = run(Asked(150, 90, 40, "f16", batch=2, result="f16", together=together), AMPERE)
    assert f"rows_together = {min(together, 5)} : i64" in printed and 'tile = "32x32' in printed


@pytest.mark.parametrize(
    ("case", "target"),
    [
        (Asked(300, 70, 64, "bf16", together=2), ONE_PROCESSOR),
        (Asked(200, 100, 40, "f32", together=4), AMPERE),
        (Asked(300, 70, 96, "i8", "i32", "i32", right_transposed=True, together=2), ONE_PROCESSOR),
    ],
    ids=["wgmma", "fma", "bytes"],
)
def test_other_kernels(case, target):
    _, printed = run(case, target)
    assert f"rows_together = {case.together} : i64" in printed and "arith.select" in printed


def test_a_wrong_last_group_is_seen():
    """Blocks of the last group that go through it as if it were whole: some tiles nobody computes, others two do."""
    case = Asked(150, 90, 40, together=2)
    _, printed = kernel_of(case.text())
    faulty = re.sub(r"(arith\.select %\S+, )(%\S+), (%\S+) : index", r"\1\3, \3 : index", printed)
    assert faulty != printed
    out = np.zeros(150 * 90, np.float32)
    with pytest.raises(SimulationError, match="race|nobody wrote"):
        Kernels(faulty).launch("k", [*(x.reshape(-1) for x in case.operands()), out])

"""Which columns of a product have several lanes each: the last ones, where they would leave half of a register or more idle
(vector/nests/spare_lanes.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from hloom.dialects.target import TargetView

from .contraction import block_registers

_GAIN = 1.1
"""What is shorter by less stays as it is."""
_LEAST_COLUMNS = 2
"""Of a register."""
_FOLD = 4
"""Products that take as long as to add up the lanes of a register and to store what comes of it."""
_MOST_REGISTERS = 7
"""Of columns and their lanes: more would leave a block too few rows."""


@dataclass(frozen=True)
class SpareColumns:
    """The columns from `first` on, in so many `registers` of lanes of which each column has `together`, for as many steps of the sum."""

    first: int
    registers: int
    together: int


def spare_columns(columns: int, steps: Sequence[int], one: int, target: TargetView) -> SpareColumns | None:
    """Of sums over so many `steps` of each loop, in registers of `one` column a lane. So many whole registers take part as the columns have
    beside whole blocks. None where all columns are computed alike: the lanes do not divide the steps of the last loop, or little would be
    gained."""
    whole, rest = divmod(columns, one)
    together = 1
    while rest and 2 * together * max(rest, _LEAST_COLUMNS) <= one:
        together *= 2
    beside = whole % block_registers(target)
    if beside * together + 1 > _MOST_REGISTERS:
        beside = 0
    registers, products = beside * together + 1, prod(steps)
    if together == 1 or steps[-1] % together:
        return None
    if (whole + 1) * products < _GAIN * ((whole + 1 / together) * products + registers * _FOLD):
        return None
    return SpareColumns((whole - beside) * one, registers, together)


def registers_a_step(columns: int, steps: Sequence[int], one: int, target: TargetView) -> float:
    """How many registers of `one` column a lane a step of the sum takes."""
    whole, rest = divmod(columns, one)
    spare = spare_columns(columns, steps, one, target)
    return whole + (1 / spare.together if spare is not None else rest > 0)

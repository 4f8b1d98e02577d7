"""Short transforms as products with a matrix of roots of unity: on every target, by its contractions."""

from __future__ import annotations

import numpy as np
from torch_mlir import ir

from ...common.rewriting import value_of
from ...common.roots_of_unity import divisors, prime_factors
from ..support import build
from .planar import Planar, real_table

LONGEST = 64


class Matrices:
    """Lengths up to 64 are one product each."""

    library = True
    longest = LONGEST

    def takes(self, z: Planar) -> bool:
        return z.shape[1] <= LONGEST

    def short(self, z: Planar, factor: float, extended: bool) -> Planar:
        length = z.shape[1]
        roots = z.roots(length, np.arange(length)[:, None] * np.arange(length + extended)) * factor
        re, im = (real_table(part, z.element, list(roots.shape), [0, 1]) for part in (roots.real, roots.imag))
        return Planar(
            build.subtract(_product(re, z.re), _product(im, z.im)),
            build.add(_product(im, z.re), _product(re, z.im)),
        )

    def split(self, length: int) -> tuple[int, int] | None:
        if max(prime_factors(length)) > LONGEST:
            return None
        parts = int(np.ceil(np.log(length) / np.log(LONGEST)))
        ideal = length ** (1 / parts)
        first = min((d for d in divisors(length) if 1 < d <= LONGEST), key=lambda d: abs(np.log(d / ideal)))
        return first, length // first

    def longer(self, least: int) -> int:
        return 1 << (least - 1).bit_length()


def _product(matrix: ir.Value, z: ir.Value) -> ir.Value:
    """sum over j of matrix[j, k] · z[o, j, i], as [o, k, i]."""
    outer, length, inner = build.shape_of(z)
    element, count = build.element_of(z), build.shape_of(matrix)[1]
    if inner == 1:
        z = build.reshape(z, [outer, length])
        kind = build.tensor([outer, count], element)
        made = value_of("stablehlo.dot_general", kind, [z, matrix], dot_dimension_numbers=build.dot_dimensions([], [], [1], [0]))
        return build.reshape(made, [outer, count, inner])
    if outer == 1:
        z = build.reshape(z, [length, inner])
        kind = build.tensor([count, inner], element)
        made = value_of("stablehlo.dot_general", kind, [matrix, z], dot_dimension_numbers=build.dot_dimensions([], [], [0], [0]))
        return build.reshape(made, [outer, count, inner])
    kind = build.tensor([count, outer, inner], element)
    made = value_of("stablehlo.dot_general", kind, [matrix, z], dot_dimension_numbers=build.dot_dimensions([], [], [0], [1]))
    return build.transpose(made, [1, 0, 2])

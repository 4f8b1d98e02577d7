"""The sweep's cases as data: by public name of PyTorch, the settings that it is tried at; a file a family.

`F` is torch.nn.functional. What a setting's text means: sweep_inputs.py. The families are in the order of the table in docs/torch.md.
"""

from __future__ import annotations

from . import (
    activations,
    convolutions,
    creation,
    fourier,
    indexing,
    linear_algebra,
    losses,
    methods,
    networks,
    pointwise,
    pooling,
    products,
    reduction,
    special,
)  # fmt: skip
from .excluded import NOT_APPLICABLE

_FAMILIES = (
    pointwise, special, activations, reduction, products, linear_algebra, fourier, indexing, creation, convolutions, pooling, networks,
    losses, methods,
)  # fmt: skip

CASES: dict[str, tuple[str, ...]] = {name: settings for family in _FAMILIES for name, settings in family.CASES.items()}

__all__ = ["CASES", "NOT_APPLICABLE"]

"""The suites of torch modules: layers and models, each beside every peer that takes a torch module."""

from __future__ import annotations

from pathlib import Path

from ..suite import Suite
from .peers import PEERS
from .table import read

_MANY = {"layers": 16, "models": 8}
"""By suite: the larger batch."""

_BEST = ("eager", "compile", "openvino")

SUITES = {
    name: Suite(name, read(Path(__file__).parent / f"{name}.txt", many), PEERS, reference="eager", best=_BEST)
    for name, many in _MANY.items()
}

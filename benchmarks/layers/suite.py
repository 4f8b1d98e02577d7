"""The suites of torch modules: layers and models beside every peer that takes a torch module, the zoo beside torch.compile and eager."""

from __future__ import annotations

from pathlib import Path

from ..suite import Suite
from .peers import DYNAMO_PEERS, PEERS
from .table import read

_MANY = {"layers": 16, "models": 8, "zoo": 8}
"""By suite: the larger batch."""

_BEST = ("eager", "compile", "openvino")
_PRODUCTS = {"linear": ("jax",), "attention": ("jax",)}
"""Where products of matrices dominate: torch's library of them is slow on some processors."""

_ZOO = """hloom is a backend of torch.compile, whose own, as it is by default, is its peer. Best: of that and of eager, given
images in the better of both memory formats. Compile: seconds of the clock until the first call is done, hloom / torch.compile."""


def _suite(name: str, many: int) -> Suite:
    rows = read(Path(__file__).parent / f"{name}.txt", many)
    able = [row for row in rows.values() if all(each.dtype in ("f32", "i64") for each in row.inputs)]
    halves = [row.of_type(dtype) for dtype in ("bf16", "f16") for row in able]
    rows |= {row.name: row for row in halves if row.name not in rows}
    if name == "zoo":
        return Suite(name, rows, DYNAMO_PEERS, reference="eager", best=_BEST[:2], conditions=_ZOO)
    return Suite(name, rows, PEERS, reference="eager", best=_BEST, best_too=_PRODUCTS)


SUITES = {name: _suite(name, many) for name, many in _MANY.items()}

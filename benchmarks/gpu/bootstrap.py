"""Makes `hloom.runtime` importable from a plain checkout, where the folders beside hloom/ are not installed as its parts."""

from __future__ import annotations

import importlib.util

import hloom

from ..settings import ROOT


def make_importable() -> None:
    if importlib.util.find_spec("hloom.runtime") is None:
        hloom.__path__.append(str(ROOT))

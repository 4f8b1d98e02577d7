"""Makes `hloom` importable from a plain checkout, where the folders beside hloom/ are not installed as its parts."""

from __future__ import annotations

import importlib.util
import sys

from ..settings import ROOT


def make_importable() -> None:
    try:
        import hloom  # noqa: F401  (installed: its finder knows the folders)
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("hloom."):
            raise
        _import_with_folders()


def _import_with_folders() -> None:
    spec = importlib.util.find_spec("hloom")
    assert spec is not None and spec.loader is not None and spec.submodule_search_locations is not None
    spec.submodule_search_locations.append(str(ROOT))
    sys.modules["hloom"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

"""Packages of models."""

from __future__ import annotations

import importlib
from typing import Any

import torch


def load(name: str) -> Any:
    """The package. torchvision, which timm and transformers look for, comes with kernels for CUDA. Where torch has none they do not load,
    and it describes two of them all the same.

    Errors: ModuleNotFoundError, if the package itself is not installed."""
    try:
        importlib.import_module("torchvision")
    except ModuleNotFoundError:
        pass
    except RuntimeError:
        for op in ("nms", "qnms"):
            torch.library.define(f"torchvision::{op}", "(Tensor dets, Tensor scores, float iou) -> Tensor")
    return importlib.import_module(name)

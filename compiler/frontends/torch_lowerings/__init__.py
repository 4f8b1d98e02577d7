"""hloom's own lowerings and decompositions of torch ops (torch_registry.py), one family of ops a file; this folder is scanned."""

from __future__ import annotations

import importlib
import pkgutil

from ..torch_registry import TorchOp as TorchOp
from ..torch_registry import all_so_far_are_own
from ..torch_registry import torch_decomposition as torch_decomposition
from ..torch_registry import torch_differentiated as torch_differentiated
from ..torch_registry import torch_lowering as torch_lowering

for _file in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_file.name}")
all_so_far_are_own()

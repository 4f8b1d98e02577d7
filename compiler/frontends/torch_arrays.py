"""torch tensors as NumPy arrays."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import torch

from hloom.runtime.dtypes import numpy_dtype
from hloom.runtime.tensors import torch_name


def as_array(tensor: torch.Tensor) -> np.ndarray:
    """A NumPy view of a tensor's memory; a copy only if it is not contiguous or not on the CPU."""
    tensor = tensor.detach().cpu().contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.uint16).numpy().view(ml_dtypes.bfloat16)
    if tensor.dtype.is_floating_point and tensor.dtype.itemsize == 1:
        return tensor.view(torch.uint8).numpy().view(numpy_dtype(torch_name(tensor.dtype)))
    return tensor.numpy()

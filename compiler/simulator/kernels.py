"""The kernels of a module, run as each allows it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hloom.runtime.lazy import lazy

from .counters import Counters
from .launch import KernelTable
from .ptx_kernels import PtxKernels
from .tma import MappedTensor


class Kernels(KernelTable):
    """Those whose warps wait for each other run as PTX: in lockstep the first to wait would wait for ever."""

    def launch(self, name: str, arrays: Sequence[np.ndarray | MappedTensor], checks: bool = True, sample: bool = True) -> Counters:
        if self._kernel(name).has_roles:
            return self._as_ptx.launch(name, arrays, checks, sample)
        return super().launch(name, arrays, checks, sample)

    @lazy
    def _as_ptx(self) -> PtxKernels:
        return PtxKernels(self._root)

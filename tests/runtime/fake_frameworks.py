"""Stand-ins for torch and CuPy: arrays on the fake GPU, and the stream on which each framework works at present."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
from fake_driver import FakeGpuArray, forget
from fake_gpu import Gpu


class Tensor(FakeGpuArray):
    """A torch.Tensor on cuda:0, as far as it is looked at. Its memory is given out again to what torch enqueues later on its stream."""

    is_cuda, is_nested = True, False
    device = SimpleNamespace(index=0)

    def get_device(self) -> int:
        return 0

    def __init__(self, array: Any):
        super().__init__(array)
        self.dtype, self.shape, self.stream = Torch.float32, self.host.shape, Torch.stream

    def __del__(self) -> None:
        memory = self._raw
        Torch.gpu.enqueue(self.stream, lambda: forget(memory))

    is_dense = True

    def is_contiguous(self) -> bool:
        return self.is_dense

    def detach(self) -> Tensor:
        return self

    resolve_neg = detach

    def contiguous(self) -> Tensor:
        """A copy, made on torch's stream."""
        copied = Tensor(np.zeros_like(self.host))
        Torch.gpu.enqueue(Torch.stream, lambda: copied.host.__setitem__(..., self.host))
        return copied

    def is_neg(self) -> bool:
        return False

    def data_ptr(self) -> int:
        return self.address


class ndarray(FakeGpuArray):
    """A cupy.ndarray; DLPack waits as CuPy does."""

    __module__ = "cupy"

    def __init__(self, array: Any):
        super().__init__(array)
        self.data = SimpleNamespace(ptr=self.address)


class Torch:
    """The module `torch`, which works on stream 21."""

    Tensor = Tensor
    nn = SimpleNamespace(Parameter=Tensor)
    stream = 21
    gpu = Gpu()
    float32 = "torch.float32"

    def __init__(self) -> None:
        self._C = SimpleNamespace(_cuda_getCurrentRawStream=lambda index: self.stream)

    def empty(self, shape: Any, dtype: Any, device: str) -> Tensor:
        assert device == "cuda:0"
        assert dtype == self.float32
        return Tensor(np.zeros(shape, np.float32))


class Cupy:
    """The module `cupy`, which works on stream 22 of the device that is current."""

    ndarray = ndarray
    stream = 22

    def __init__(self) -> None:
        self.device = 1
        self.cuda = SimpleNamespace(Device=self._device, get_current_stream=self._stream)

    def _stream(self) -> Any:
        assert self.device == 0, "another device's stream"
        return SimpleNamespace(ptr=self.stream)

    @contextlib.contextmanager
    def _device(self, index: int) -> Iterator[None]:
        before, self.device = self.device, index
        yield
        self.device = before

    def empty(self, shape: Any, dtype: Any) -> ndarray:
        assert self.device == 0, "memory of another device"
        return ndarray(np.zeros(shape, dtype))

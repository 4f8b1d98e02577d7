"""A torch.cuda that does nothing, so that the way through the benchmarks is tested without a GPU."""

from __future__ import annotations

import contextlib
import time
from types import SimpleNamespace

import pytest

from benchmarks.gpu import peers
from benchmarks.peers import to_torch


class Event:
    def __init__(self, enable_timing: bool):
        assert enable_timing

    def record(self) -> None:
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, other: Event) -> float:
        return (other.at - self.at) * 1e3


class Graph:
    """Runs nothing: what it would replay has run when it was captured."""

    def replay(self) -> None:
        pass


@pytest.fixture
def no_gpu(monkeypatch):
    torch = pytest.importorskip("torch")
    stream = SimpleNamespace(cuda_stream=7, wait_stream=lambda other: None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "_sleep", lambda cycles: None, raising=False)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: stream)
    monkeypatch.setattr(torch.cuda, "Stream", lambda: stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda other: contextlib.nullcontext())
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
    monkeypatch.setattr(torch.cuda, "graph", lambda graph: contextlib.nullcontext())
    monkeypatch.setattr(torch, "set_default_device", lambda device: None)
    monkeypatch.setattr(torch, "compile", lambda function: function)
    monkeypatch.setattr(peers, "_on_gpu", to_torch)

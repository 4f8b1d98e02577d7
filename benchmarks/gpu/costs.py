"""What the targets' files and the passes take for granted of a GPU, measured.

Times are slopes between two counts, so that what is paid once drops out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .cuda_programs import bind, compile_cuda, on_current_stream
from .peers import captured
from .timing import device_facts, device_times

_FEW, _MANY = 64, 512
_L2_BYTES = 8 << 20
_FMAS = 8 * 2 * 256 * 8
"""Flops of a turn of `fmas`, of a multiprocessor: 8 FMAs a thread of 256, 8 blocks."""


def costs(seconds: float) -> dict[str, float]:
    """By name, with the unit in it. What cannot be measured is left out."""
    import torch

    facts = device_facts()
    library = compile_cuda("costs.cu", facts["architecture"])
    memory = torch.zeros(64, device="cuda")

    def launch(name: str, count: int) -> Callable[[], None]:
        return partial(on_current_stream, bind(getattr(library, name), (memory.data_ptr(),), (count,)))

    def slope(name: str, few: int, many: int, made: Callable[[Any], Any] = lambda call: call) -> float:
        times = [device_times([made(launch(name, count))], seconds).median for count in (few, many)]
        return (times[1] - times[0]) / (many - few)

    turn = slope("launch_fmas", 4096, 16384)
    return {
        "node of a graph, one after the other, us": slope("launch_nothing", _FEW, _MANY, captured),
        "launch, one after the other, us": slope("launch_nothing", _FEW, _MANY),
        "barrier of all blocks, us": slope("launch_barriers", _FEW, _MANY),
        "f32 fused multiply-adds, TFLOP/s": _FMAS * facts["multiprocessors"] / turn * 1e-6,
        "copy within the L2, GB/s": _copy_in_l2(seconds),
    }


def _copy_in_l2(seconds: float) -> float:
    """Read and written, by a kernel of 128-bit accesses: of many copies of the same bytes, beside one."""
    import torch

    library = compile_cuda("copy.cu", device_facts()["architecture"])
    source, target = (torch.zeros(_L2_BYTES // 4, device="cuda") for _ in range(2))
    copy = partial(on_current_stream, bind(library.copy, (source.data_ptr(), target.data_ptr()), (_L2_BYTES,)))

    def repeated(count: int) -> None:
        for _ in range(count):
            copy()

    few, many = (device_times([captured(partial(repeated, count))], seconds).median for count in (8, 40))
    return 2 * _L2_BYTES * 32 / (many - few) * 1e-3

"""What this GPU can do at most, measured in the same run: copies in bytes a second, matrix products in flops a second."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from .cuda_programs import bind, compile_cuda
from .timing import Launch, device_facts, device_times

_COPY_BYTES = 1 << 30
_SIDE = 8192


def ceilings(seconds: float) -> dict[str, float]:
    """By name: GB/s (read and written) or TFLOP/s, from the median of the times. What cannot be measured is left out."""
    import torch

    architecture = device_facts()["architecture"]
    source, target = (torch.randn(_COPY_BYTES // 4, device="cuda") for _ in range(2))
    found: dict[str, float] = {}
    try:
        library = compile_cuda("copy.cu", architecture)
    except (RuntimeError, OSError) as error:
        print(f"no nvcc, so no copy by a kernel: {error}")
    else:
        for name, function in (("copy kernel, GB/s", library.copy), ("cudaMemcpyAsync, GB/s", library.memcpy_async)):
            launch = bind(function, (source.data_ptr(), target.data_ptr()), (_COPY_BYTES,))
            found[name] = _gigabytes(_on_current(launch), seconds)
            if not torch.equal(source, target):
                raise RuntimeError(f"{name.partition(',')[0]} does not copy")
            target.zero_()
    found["torch copy_, GB/s"] = _gigabytes(lambda: target.copy_(source), seconds)
    del source, target
    torch.backends.cuda.matmul.allow_tf32 = False
    for name, dtype in (("bf16 matmul, TFLOP/s", torch.bfloat16), ("f32 matmul, TFLOP/s", torch.float32)):
        a, b = (torch.randn(_SIDE, _SIDE, device="cuda").to(dtype) for _ in range(2))
        out = torch.empty_like(a)
        times = device_times([partial(torch.mm, a, b, out=out)], seconds)
        found[name] = 2 * _SIDE**3 / times.median * 1e-6
    return found


def _gigabytes(launch: Launch, seconds: float) -> float:
    return 2 * _COPY_BYTES / device_times([launch], seconds).median * 1e-3


def _on_current(launch: Callable[[int], None]) -> Launch:
    import torch

    return lambda: launch(torch.cuda.current_stream().cuda_stream)

"""What this GPU can do at most, measured in the same run: copies in bytes a second, matrix products in flops a second."""

from __future__ import annotations

from functools import partial

from .cuda_programs import bind, compile_cuda, on_current_stream
from .timing import Launch, device_facts, device_times

_COPY_BYTES = 1 << 30
_SIDE = 8192


def ceilings(seconds: float) -> dict[str, float]:
    """By name: GB/s (read and written) or TFLOP/s, from the median of the times. What cannot be measured is left out."""
    return {**_copies(seconds), **_products(seconds)}


def _copies(seconds: float) -> dict[str, float]:
    import torch

    source, target = (torch.randn(_COPY_BYTES // 4, device="cuda") for _ in range(2))
    launches: dict[str, Launch] = {"torch copy_": partial(target.copy_, source)}
    try:
        library = compile_cuda("copy.cu", device_facts()["architecture"])
    except (RuntimeError, OSError) as error:
        print(f"no copy by a kernel: {error}")
    else:
        for name, function in (("copy kernel", library.copy), ("cudaMemcpyAsync", library.memcpy_async)):
            launches[name] = partial(on_current_stream, bind(function, (source.data_ptr(), target.data_ptr()), (_COPY_BYTES,)))
    found = {}
    for name, launch in launches.items():
        target.zero_()
        found[f"{name}, GB/s"] = 2 * _COPY_BYTES / device_times([launch], seconds).median * 1e-3
        if not torch.equal(source, target):
            raise RuntimeError(f"{name} does not copy")
    return found


def _products(seconds: float) -> dict[str, float]:
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    found = {}
    for name, dtype in (("bf16", torch.bfloat16), ("f32", torch.float32)):
        a, b = (torch.randn(_SIDE, _SIDE, device="cuda").to(dtype) for _ in range(2))
        times = device_times([partial(torch.mm, a, b, out=torch.empty_like(a))], seconds)
        found[f"{name} matmul, TFLOP/s"] = 2 * _SIDE**3 / times.median * 1e-6
    return found

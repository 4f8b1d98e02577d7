"""What all processes of a run share: the environment, the folder for what is built, and how many CPUs they may use."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "benchmarks"
_INDUCTOR, _HLOOM = BUILD / "inductor", BUILD / "hloom"
"""What torch.compile and hloom keep of compiles: a run begins without, for it times the compilers."""

# 32 MiB is the largest threshold that glibc takes; every array of these workloads but SimpleModel's weights is smaller. Without it, each
# fresh result is mapped and its pages fault, which costs up to three times the work.
TUNABLES = f"glibc.malloc.mmap_threshold={32 << 20}:glibc.malloc.trim_threshold={8 << 30}:glibc.malloc.top_pad={64 << 20}"


def forget_compiles() -> None:
    for folder in (_INDUCTOR, _HLOOM):
        shutil.rmtree(folder, ignore_errors=True)


def environment(threads: int) -> dict[str, str]:
    """Of a process that measures: the same for every peer."""
    count = str(threads)
    return {
        **os.environ,
        "GLIBC_TUNABLES": TUNABLES,
        "OMP_NUM_THREADS": count,
        "MKL_NUM_THREADS": count,
        "OPENBLAS_NUM_THREADS": count,
        "TORCHINDUCTOR_CACHE_DIR": str(_INDUCTOR),
        "HLOOM_CACHE_DIR": str(_HLOOM),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "OPENVINO_TELEMETRY": "0",
        "JAX_PLATFORMS": "cpu",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }


def pin(threads: int) -> None:
    """Leaves this process as many CPUs as it may have threads: XLA sizes its thread pool by that. The last ones."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])

"""Shared by all pytest tests. HLOOM_DEBUG of the caller's shell must not change what is tested: `--bounds` asks for that mode. Tests marked
`cuda` want a GPU.
"""

import gc
import os
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # for guards.py, machines.py


def pytest_addoption(parser):
    parser.addoption("--bounds", action="store_true", help="compile with HLOOM_DEBUG=bounds: CPU kernels check every access")
    parser.addoption("--guards", choices=["start", "end"], help="run with buffers against pages that nobody may touch (tests/guards.py)")
    parser.addoption("--cpu", help="compile for this one of tests/targets, or cpu, where a test would choose (tests/machines.py)")
    parser.addoption("--ptx", action="store_true", help="run PTX where a test simulates kernels for GPUs (tests/ptx_for_kernels.py)")


def pytest_configure(config):
    os.environ.pop("HLOOM_DEBUG", None)
    if config.getoption("--bounds"):
        os.environ["HLOOM_DEBUG"] = "bounds"
    if side := config.getoption("--guards"):
        import guards

        guards.install(side)
    if config.getoption("--ptx"):
        import ptx_for_kernels

        ptx_for_kernels.install()
    os.environ["HLOOM_TARGET"] = "cpu"  # what a test does must not depend on whether there is a GPU
    os.environ["HLOOM_CACHE_DIR"] = str(Path(__file__).parent.parent / "build" / "cache")
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(os.environ["HLOOM_CACHE_DIR"], "torch")
    config.addinivalue_line("markers", "cuda: needs an NVIDIA GPU")
    config.addinivalue_line("markers", "host_cpu: compiles for this machine as it is")
    config.addinivalue_line("markers", "in_place: wants arguments and results to lie where they do without guards")


def pytest_collection_modifyitems(config, items):
    missing = {}
    stands_in = hasattr(config, "machine") or "HLOOM_GPU_TARGET" in os.environ  # tests/cuda_driver; tests/gpu/gpu_programs.py
    if not os.path.exists("/dev/nvidiactl") and not stands_in:
        missing["cuda"] = "no NVIDIA GPU"
    if config.getoption("--guards"):
        missing["in_place"] = "arguments are copied to guarded pages"
    for item in items:
        for marker, reason in missing.items():
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish(session):
    """Python's collector looks through what the tests make, not through torch's and JAX's modules: it took a fifth of the tests' time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture
def nothing_frozen(monkeypatch):
    """The collector as a process begins with it."""
    monkeypatch.setattr("hloom.runtime.garbage._seen_frozen", False)
    often = gc.get_threshold()
    gc.unfreeze()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*often)
    gc.freeze()


@pytest.fixture(autouse=True)
def gradients_as_before():
    """Benchmarks turn gradients off for good; the next test wants them."""
    yield
    if torch := sys.modules.get("torch"):
        torch.set_grad_enabled(True)


@pytest.fixture
def transformers():
    pytest.importorskip("transformers")
    from benchmarks.packages import load

    return load("transformers")

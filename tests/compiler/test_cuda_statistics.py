"""Statistics of kernels: what they use, how many fit on a multiprocessor, how wide their accesses are."""

import pytest
from cuda_kernels import DYNAMIC, MATMUL, REVERSED, elementwise, module_of

from hloom.compiler.cuda.assemble import Resources
from hloom.compiler.cuda.statistics import kernel_statistics, occupancy
from hloom.compiler.target import resolve

H100 = resolve("sm_90a")
A10 = resolve("sm_86")


def test_kernels_are_described(tmp_path, monkeypatch):
    pytest.importorskip("cuda.core")
    monkeypatch.setenv("HLOOM_CACHE_DIR", str(tmp_path))
    found = kernel_statistics(module_of(elementwise("f16"), REVERSED, DYNAMIC, MATMUL).operation, H100)
    assert list(found) == ["elementwise_f16", "reversed", "dynamic", "matmul"]
    plain = found["elementwise_f16"]
    assert plain.grid == (8, 1, 1) and plain.block == (128, 1, 1)
    assert plain.global_loads == {16: 1} and plain.global_stores == {16: 1} and plain.resources.spills == 0
    assert found["reversed"].resources.shared == 512 and found["reversed"].instructions == {"bar": 1, "ld.shared": 1, "st.shared": 1}
    assert found["dynamic"].dynamic_shared == 66048 and found["dynamic"].occupancy.limit == "shared memory"
    assert found["dynamic"].occupancy.blocks == 3
    matmul = found["matmul"]
    assert matmul.async_copies == {16: 1} and matmul.global_loads == {8: 1} and matmul.global_stores == {16: 1}
    assert matmul.instructions["mma"] == 1 and matmul.instructions["ldmatrix"] == 1


@pytest.mark.parametrize(
    ("target", "registers", "threads", "shared", "dynamic", "blocks", "percent", "limit"),
    [
        (H100, 32, 128, 0, 0, 16, 100, "threads"),
        (H100, 32, 32, 0, 0, 32, 50, "blocks"),
        (H100, 64, 256, 0, 0, 4, 50, "registers"),
        (H100, 65, 256, 0, 0, 3, 37, "registers"),  # 72 registers a thread, as they are dealt out by eights: 28 warps
        (H100, 255, 1024, 0, 0, 0, 0, "registers"),
        (H100, 32, 128, 48 << 10, 0, 4, 25, "shared memory"),
        (H100, 32, 128, 0, 227 << 10, 1, 6, "shared memory"),
        (H100, 32, 128, 1, 227 << 10, 0, 0, "shared memory"),
        (A10, 32, 128, 0, 0, 12, 100, "threads"),
        (A10, 40, 33, 0, 0, 16, 66, "blocks"),
        (A10, 32, 128, 0, 49 << 10, 2, 16, "shared memory"),
    ],
)
def test_occupancy(target, registers, threads, shared, dynamic, blocks, percent, limit):
    held = occupancy(Resources(registers, shared=shared), threads, dynamic, target)
    assert (held.blocks, held.percent, held.limit) == (blocks, percent, limit)

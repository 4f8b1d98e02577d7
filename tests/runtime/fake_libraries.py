"""Stand-ins for NVIDIA's libraries that compute with NumPy on the fake driver's memory, as column-major as the real ones are."""

from __future__ import annotations

import enum
from types import SimpleNamespace
from typing import Any, ClassVar

import ml_dtypes
import numpy as np
from fake_driver import at, enqueue

from hloom.runtime.cuda.libraries import Libraries

_TYPES = {0: np.float32, 1: np.float64, 2: np.float16, 3: np.int8, 10: np.int32, 14: ml_dtypes.bfloat16, 28: ml_dtypes.float8_e4m3fn}


def column_major(address: int, dtype: Any, rows: int, columns: int, leading: int) -> np.ndarray:
    """A matrix as these libraries see it, to read and to write."""
    dtype = np.dtype(dtype)
    flat = at(address, dtype, (columns - 1) * leading + rows)
    return np.lib.stride_tricks.as_strided(flat, (rows, columns), (dtype.itemsize, leading * dtype.itemsize))


class CublasLt:
    """Objects are numbers; attributes are kept by their names."""

    class MatmulDescAttribute(enum.IntEnum):
        TRANSA, TRANSB, EPILOGUE, BIAS_POINTER, BIAS_DATA_TYPE = 3, 4, 7, 8, 26

    class MatrixLayoutAttribute(enum.IntEnum):
        BATCH_COUNT, STRIDED_BATCH_OFFSET = 5, 6

    class MatmulPreferenceAttribute(enum.IntEnum):
        MAX_WORKSPACE_BYTES, REDUCTION_SCHEME_MASK = 1, 3
        MIN_ALIGNMENT_A_BYTES, MIN_ALIGNMENT_B_BYTES, MIN_ALIGNMENT_C_BYTES, MIN_ALIGNMENT_D_BYTES = 5, 6, 7, 8

    class Epilogue(enum.IntEnum):
        DEFAULT, RELU, BIAS, RELU_BIAS, GELU, GELU_BIAS = 1, 2, 4, 6, 32, 36

    class ReductionScheme(enum.IntEnum):
        NONE, INPLACE, COMPUTE_TYPE, OUTPUT_TYPE = 0, 1, 2, 4

    class MatmulHeuristicResult:
        def __init__(self, size: int):
            self.ptr, self.state = 4242, 114  # not written yet
            CublasLt.results.append(self)

    results: ClassVar[list[MatmulHeuristicResult]] = []

    def __init__(self) -> None:
        self.objects: list[dict[Any, Any]] = []
        self.algorithms, self.state = 1, 0
        self.heuristics: list[dict[Any, Any]] = []
        self.streams: list[int] = []

    def create(self) -> int:
        return self._new({})

    def _new(self, object_: dict[Any, Any]) -> int:
        self.objects.append(object_)
        return len(self.objects) - 1

    def matmul_desc_create(self, compute: int, scale: int) -> int:
        assert (compute, scale) in ((68, 0), (70, 1), (72, 10))
        return self._new({"scale": scale})

    def matrix_layout_create(self, kind: int, rows: int, columns: int, leading: int) -> int:
        assert leading >= rows
        return self._new({"type": _TYPES[kind], "rows": rows, "columns": columns, "leading": leading, "BATCH_COUNT": 1})

    def matmul_preference_create(self) -> int:
        return self._new({})

    def matmul_preference_destroy(self, preference: int) -> None:
        self.heuristics.append(self.objects[preference])
        self._destroy(preference)

    def _destroy(self, number: int) -> None:
        assert self.objects[number] is not None
        self.objects[number] = None  # type: ignore[call-overload]

    destroy = matmul_desc_destroy = matrix_layout_destroy = _destroy

    def get_matmul_desc_attribute_dtype(self, attribute: Any) -> type:
        return np.uint64 if attribute.name == "BIAS_POINTER" else np.int32

    def get_matrix_layout_attribute_dtype(self, attribute: Any) -> type:
        return np.int64 if attribute.name == "STRIDED_BATCH_OFFSET" else np.int32

    def get_matmul_preference_attribute_dtype(self, attribute: Any) -> type:
        return np.uint64 if attribute.name == "MAX_WORKSPACE_BYTES" else np.uint32

    def matmul_desc_set_attribute(self, object_: int, attribute: int, data: int, nbytes: int) -> None:
        self.objects[object_][self.MatmulDescAttribute(attribute).name] = int(at(data, f"i{nbytes}", 1)[0])

    def matrix_layout_set_attribute(self, object_: int, attribute: int, data: int, nbytes: int) -> None:
        self.objects[object_][self.MatrixLayoutAttribute(attribute).name] = int(at(data, f"i{nbytes}", 1)[0])

    def matmul_preference_set_attribute(self, object_: int, attribute: int, data: int, nbytes: int) -> None:
        self.objects[object_][self.MatmulPreferenceAttribute(attribute).name] = int(at(data, f"i{nbytes}", 1)[0])

    def matmul_algo_get_heuristic(self, *arguments: int) -> None:
        at(arguments[-1], np.int32, 1)[0] = self.algorithms
        self.results[-1].state = self.state

    def matmul(self, *arguments: int) -> None:
        _, operation, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout, algorithm, workspace, size, stream = arguments
        assert algorithm == 4242 and size >= 32 << 20 and workspace % 256 == 0
        self.streams.append(stream)
        given, layouts = dict(self.objects[operation]), [self.objects[number] for number in (a_layout, b_layout, c_layout, d_layout)]
        if np.dtype(layouts[0]["type"]).itemsize == 1:  # the library multiplies bytes in one layout, by sixteens
            extents = [layout[name] for layout in layouts for name in ("rows", "columns", "leading")]
            assert (given["TRANSA"], given["TRANSB"]) == (1, 0) and not any(extent % 16 for extent in extents)
        scalars = [at(scalar, _TYPES[given["scale"]], 1)[0] for scalar in (alpha, beta)]
        enqueue(stream, lambda: self._compute(given, layouts, [a, b, c, d], *scalars))

    def _compute(self, given: dict, layouts: list[dict], places: list[int], alpha: Any, beta: Any) -> None:
        scalar = _TYPES[given["scale"]]
        for batch in range(layouts[0]["BATCH_COUNT"]):
            left, right, added, out = (self._matrix(place, layout, batch) for place, layout in zip(places, layouts))
            left = (left.T if given["TRANSA"] else left).astype(scalar)
            right = (right.T if given["TRANSB"] else right).astype(scalar)
            total = alpha * (left @ right) + (beta * added.astype(scalar) if beta else 0)
            name = self.Epilogue(given["EPILOGUE"]).name
            if "BIAS" in name:
                total = total + at(given["BIAS_POINTER"], _TYPES[given["BIAS_DATA_TYPE"]], len(total)).astype(scalar)[:, None]
            if "RELU" in name:
                total = np.maximum(total, 0)
            if "GELU" in name:
                total = total * (1 + np.tanh(np.sqrt(2 / np.pi) * (total + 0.044715 * total**3))) / 2
            out[...] = total.astype(out.dtype)

    def _matrix(self, address: int, layout: dict[Any, Any], batch: int) -> np.ndarray:
        start = address + batch * layout.get("STRIDED_BATCH_OFFSET", 0) * np.dtype(layout["type"]).itemsize
        return column_major(start, layout["type"], layout["rows"], layout["columns"], layout["leading"])


class Cufft:
    """One plan: its lengths, batch and type."""

    def __init__(self) -> None:
        self.plans: list[SimpleNamespace] = []

    def destroy(self, plan: int) -> None:
        self.plans[plan] = None  # type: ignore[call-overload]

    def create(self) -> int:
        self.plans.append(SimpleNamespace())
        return len(self.plans) - 1

    def set_auto_allocation(self, plan: int, automatic: int) -> None:
        assert automatic == 0

    def make_plan_many64(self, plan, rank, n, inembed, istride, idist, onembed, ostride, odist, kind, batch) -> int:
        lengths = [int(length) for length in at(n, np.int64, rank)]
        self.plans[plan] = SimpleNamespace(lengths=lengths, idist=idist, odist=odist, kind=kind, batch=batch)
        return 1000

    def set_work_area(self, plan: int, address: int) -> None:
        self.plans[plan].work = address

    def set_stream(self, plan: int, stream: int) -> None:
        self.plans[plan].stream = stream

    def _run(self, plan: int, source: int, target: int, function: Any, before: Any, after: Any) -> None:
        made = self.plans[plan]
        assert made.work % 256 == 0
        axes = tuple(range(1, 1 + len(made.lengths)))
        inside = at(source, before, made.batch * made.idist)
        half = [*made.lengths[:-1], made.lengths[-1] // 2 + 1]
        shape = half if function is np.fft.irfftn else made.lengths
        more = {"s": made.lengths} if function is np.fft.irfftn else {}
        found = function(inside.reshape(made.batch, *shape), axes=axes, **more)
        at(target, after, made.batch * made.odist)[:] = found.reshape(-1)
        if function is np.fft.irfftn:
            inside[:] = np.nan  # it may overwrite what it reads

    def _enqueue(self, plan: int, *arguments: Any) -> None:
        enqueue(self.plans[plan].stream, lambda: self._run(plan, *arguments))

    def exec_c2c(self, plan: int, source: int, target: int, direction: int) -> None:
        def unscaled(x, axes):
            return np.fft.fftn(x, axes=axes) if direction == -1 else np.fft.ifftn(x, axes=axes) * np.prod(x.shape[1:])

        self._enqueue(plan, source, target, unscaled, np.complex64, np.complex64)

    def exec_d2z(self, plan: int, source: int, target: int) -> None:
        self._enqueue(plan, source, target, np.fft.rfftn, np.float64, np.complex128)

    def exec_z2d(self, plan: int, source: int, target: int) -> None:
        self._enqueue(plan, source, target, np.fft.irfftn, np.complex128, np.float64)


class OneHandle:
    """A library of which one handle is made at a time."""

    handle = 0

    def create(self) -> int:
        assert not self.handle
        self.handle = 5
        return self.handle

    def destroy(self, handle: int) -> None:
        assert handle == self.handle
        self.handle = 0


def fake_libraries(**modules: Any) -> Libraries:
    """Libraries whose modules are the given objects, by the last part of the module's name."""

    def import_module(name: str) -> Any:
        last = name.rpartition(".")[2]
        if last not in modules:
            raise ImportError(f"no module named {name}")
        return modules[last]

    return Libraries(import_module)

"""thunk.lapack: a routine of LAPACK by cuSOLVER, cuBLAS or cuSPARSE's gtsv2.

These libraries count columns first, as LAPACK does. Batches of small matrices go by the libraries' batched functions where they have them,
else one matrix after the other; lapack_calls.py says with which arguments. cuSOLVER may wait for the GPU, and arrays of addresses are the
host's to write: programs that call these cannot be recorded into a CUDA graph, and are enqueued anew each time (enqueuer.py). What none
of them has, LAPACK computes on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ... import lapack_routines
from ...lapack import require_lapack, run_lapack
from ...schema import each, one_of
from ...thunk_schema import NAMES, SIZE, moving
from ...thunks import Launches, Op, Thunk
from ..lapack_calls import BATCHED, CALLS, lead, solving, triangle, vectors
from ..libraries import checked
from ..step import BufferAddresses, Context, Needs, Step

_BLAS_WORKSPACE = 4 << 20
"""cuBLAS's own default; below 16 KiB its routines may fail. Arrays of addresses lie behind it."""
_SMALL = 128
"""A batch of matrices with extents up to this times its size goes by a batched function: JAX's rule."""
_COMPLEX_NAMES = {"orgqr": "ungqr", "ormqr": "unmqr", "syevd": "heevd", "sytrd": "hetrd"}
_DATA_TYPES = {"s": 0, "d": 1, "c": 4, "z": 5}
"""cudaDataType: real numbers of 32 and 64 bits, then complex ones."""
_NUMBERS = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}
_KINDS = [letter + name for name in (*CALLS, "trsm", "gtsv2", "xgeev", *lapack_routines.ON_HOST) for letter in lapack_routines.REAL]


class LapackStep(Step, kind="lapack", fields={**moving(), "routine": one_of(*_KINDS), "numbers": each(SIZE), "source": NAMES}):
    @staticmethod
    def faults(op: Op, launches: Launches) -> Iterator[str]:
        found = list(lapack_routines.faults(op["routine"], op["numbers"], op["reads"], op["writes"]))
        yield from found
        if not found and op["routine"].endswith("gesvd") and op["numbers"][1] < op["numbers"][2]:
            yield "decomposes a matrix with fewer rows than columns, which cuSOLVER does not"

    def __init__(self, thunk: Thunk):
        super().__init__(thunk)
        self.letter, self.name = thunk["routine"][0], thunk["routine"][1:]
        self.row = lapack_routines.routine(self.letter, self.name)
        numbers = thunk["numbers"]
        self.strides = lapack_routines.strides(self.letter, self.name, numbers)
        known = self.row.named(numbers)
        self.known = SimpleNamespace(**known, adjoint=2 if self.letter in "cz" else 1)
        extents = [known[name] for text in self.row.operands for name in text.split()[1:]]
        self.nothing = 0 in (*extents, self.known.batch)
        self.on_host = self.name in lapack_routines.ON_HOST
        small = self.known.batch > 1 and max(extents, default=0) // self.known.batch <= _SMALL
        self.is_batched = small and self.name in BATCHED and (self.name != "getrf" or known["m"] == known["n"])
        self.library = BATCHED[self.name][0] if self.is_batched else {"trsm": "cuBLAS", "gtsv2": "cuSPARSE"}.get(self.name, "cuSOLVER")
        self.waits = not self.nothing and (self.is_batched or self.library != "cuBLAS")
        self.run: Callable[[Any, Sequence[int]], None]

    def prepare(self, needs: Needs) -> None:
        if self.nothing:
            return
        if self.on_host:
            require_lapack()
            self.run = self._on_host
        else:
            checked(self.library, f"planning {self.thunk['routine']}")(self._plan)(needs)

    def _plan(self, needs: Needs) -> None:
        self._module, self._handle = needs.libraries.module(self.library), needs.libraries.handle(self.library)
        self._info = needs.ask_counter()
        if self.is_batched:
            self.run = self._plan_batched(needs)
        elif self.name == "syevd" and self.known.batch > 1:
            self.run = self._plan_xsyev(needs)
        else:
            plans = {"trsm": self._plan_trsm, "gtsv2": self._plan_gtsv2, "xgeev": self._plan_xgeev}
            self._one = plans.get(self.name, self._plan_dense)(needs)
            self.run = self._one_by_one

    def initialise(self, context: Context) -> None:
        if not (self.on_host or self.nothing):
            self._workspace, self._info_address = context.workspace, context.counter(self._info)

    def execute(self, recorder: Any, buffers: BufferAddresses) -> None:
        places = [buffers.address(at) for at in (*self.thunk.reads, *self.thunk.writes)]
        if self.nothing:
            self._say_nothing_failed(recorder, places)
        elif self.on_host:
            self.run(recorder, places)
        else:
            checked(self.library, f"calling {self.thunk['routine']}")(self._enqueue)(recorder, places)

    def _enqueue(self, recorder: Any, places: Sequence[int]) -> None:
        self._module.set_stream(self._handle, recorder.stream)
        if self.library == "cuBLAS":
            self._module.set_workspace(self._handle, self._workspace, _BLAS_WORKSPACE)
        self.run(recorder, places)

    def _say_nothing_failed(self, recorder: Any, places: Sequence[int]) -> None:
        for text, place, at in zip(self.row.results, places[len(self.thunk.reads) :], self.thunk.writes):
            if text == "i" and at.size:
                recorder.fill(place, 0, 4, at.size // 4)

    # How a batch is computed.

    def _on_host(self, recorder: Any, places: Sequence[int]) -> None:
        sizes = [self.known.batch * stride for stride in self.strides]
        count = len(self.thunk.reads)
        updated = {count + result for _, result in self.row.aliases}
        wanted = [number < count or number in updated for number in range(len(places))]
        arrays = [recorder.fetch(*part) if held else np.zeros(part[1], np.uint8) for held, part in zip(wanted, zip(places, sizes))]
        run_lapack(self.thunk["routine"], arrays, self.thunk["numbers"])
        for place, array in zip(places[count:], arrays[count:]):
            recorder.send(place, array)

    def _one_by_one(self, recorder: Any, places: Sequence[int]) -> None:
        has_info = self.row.results[-1] == "i"
        for matrix in range(self.known.batch):
            x = [place + matrix * stride for place, stride in zip(places, self.strides)]
            self._one(SimpleNamespace(x=x, w=self._workspace, info=x[-1] if has_info else self._info_address))

    def _plan_batched(self, needs: Needs) -> Callable[[Any, Sequence[int]], None]:
        function, arguments = getattr(self._module, f"{self.letter}{self.name}_batched"), BATCHED[self.name][1]
        k, one, host_info = self.known, np.ones(1, _NUMBERS[self.letter]), np.zeros(1, np.int32)
        row = 8 * k.batch
        needs.ask_workspace(_BLAS_WORKSPACE + row * len(self.strides))

        def run(recorder: Any, places: Sequence[int]) -> None:
            first = self._workspace + _BLAS_WORKSPACE
            steps = np.arange(k.batch)
            recorder.send(first, np.array([place + steps * stride for place, stride in zip(places, self.strides)], np.int64))
            everything = [first + row * value for value in range(len(places))]
            given = SimpleNamespace(x=places, all=everything, one=one.ctypes.data, host_info=host_info.ctypes.data)
            function(self._handle, *arguments(k, given))

        return run

    def _plan_xsyev(self, needs: Needs) -> Callable[[Any, Sequence[int]], None]:
        module, k, params = self._module, self.known, self._params(needs)
        kind = _DATA_TYPES[self.letter]

        def arguments(matrices: int, values: int) -> tuple[int, ...]:
            return (params, vectors(k), triangle(k), k.n, kind, matrices, lead(k.n), kind % 4, values, kind)

        on_device, on_host = module.xsyev_batched_buffer_size(self._handle, *arguments(0, 0), k.batch)
        needs.ask_workspace(on_device)
        host = np.empty(max(on_host, 1), np.uint8)
        return lambda recorder, x: module.xsyev_batched(
            self._handle, *arguments(x[1], x[2]), self._workspace, on_device, host.ctypes.data, on_host, x[3], k.batch
        )  # fmt: skip

    # How a routine is called on one matrix.

    def _plan_dense(self, needs: Needs) -> Callable[[Any], None]:
        name, call, known = self._function(), CALLS[self.name], self.known
        elements = getattr(self._module, f"{name}_buffer_size")(self._handle, *call.size(known))
        needs.ask_workspace(elements * lapack_routines.width(self.letter))
        function = getattr(self._module, name)

        def run(place: SimpleNamespace) -> None:
            place.wn = elements
            function(self._handle, *call.run(known, place))

        return run

    def _function(self) -> str:
        return self.letter + (_COMPLEX_NAMES.get(self.name, self.name) if self.letter in "cz" else self.name)

    def _plan_trsm(self, needs: Needs) -> Callable[[Any], None]:
        function, k, one = getattr(self._module, self._function()), self.known, np.ones(1, _NUMBERS[self.letter])
        needs.ask_workspace(_BLAS_WORKSPACE)
        return lambda place: function(self._handle, *solving(k), one.ctypes.data, place.x[0], lead(k.a), place.x[2], lead(k.m))

    def _plan_gtsv2(self, needs: Needs) -> Callable[[Any], None]:
        function, k = getattr(self._module, self._function()), self.known
        needs.ask_workspace(getattr(self._module, f"{self._function()}_buffer_size_ext")(self._handle, k.n, k.r, 0, 0, 0, 0, k.n))
        return lambda place: function(self._handle, k.n, k.r, *place.x[:3], place.x[4], k.n, place.w)

    def _plan_xgeev(self, needs: Needs) -> Callable[[Any], None]:
        """Right eigenvectors alone; a real matrix's eigenvalues are complex numbers too."""
        module, k, params = self._module, self.known, self._params(needs)
        kind = _DATA_TYPES[self.letter]
        complex_kind = kind if self.letter in "cz" else kind + 4

        def arguments(matrix: int, values: int, right: int) -> tuple[int, ...]:
            left = (kind, 0, lead(k.n))
            return (params, 0, vectors(k), k.n, kind, matrix, lead(k.n), complex_kind, values, *left, kind, right, lead(k.n), kind)

        on_device, on_host = module.xgeev_buffer_size(self._handle, *arguments(0, 0, 0))
        needs.ask_workspace(on_device)
        host = np.empty(max(on_host, 1), np.uint8)
        return lambda place: module.xgeev(
            self._handle, *arguments(*place.x[1:4]), place.w, on_device, host.ctypes.data, on_host, place.info
        )  # fmt: skip

    def _params(self, needs: Needs) -> int:
        params: int = self._module.create_params()
        needs.libraries.at_close(self._module.destroy_params, params)
        return params

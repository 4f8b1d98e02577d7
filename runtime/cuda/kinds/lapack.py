"""thunk.lapack: a routine of LAPACK by cuSOLVER, cuBLAS's trsm or cuSPARSE's gtsv2, one matrix of the batch after the other.

These libraries count columns first, as LAPACK does. A row of `_CALLS` says with which arguments the library's function is called, and the
one that asks for workspace. cuSOLVER may wait for the GPU, and cannot be recorded into a CUDA graph: a program that calls it is enqueued
anew each time (enqueuer.py). What none of them has, LAPACK computes on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from ... import lapack_routines
from ...lapack import require_lapack, run_lapack
from ...schema import each, one_of
from ...thunk_schema import NAMES, SIZE, moving
from ...thunks import Launches, Op, Thunk
from ..libraries import checked
from ..step import BufferAddresses, Context, Needs, Step

_BLAS_WORKSPACE = 4 << 20
"""cuBLAS's own default; below 16 KiB its routines may fail."""
_COMPLEX_NAMES = {"orgqr": "ungqr", "ormqr": "unmqr", "syevd": "heevd", "sytrd": "hetrd"}
_DATA_TYPES = {"s": 0, "d": 1, "c": 4, "z": 5}
"""cudaDataType: real numbers of 32 and 64 bits, then complex ones."""


@dataclass(frozen=True)
class _Call:
    """`size` gives the arguments of <name>_buffer_size behind the handle, `run` those of <name>.

    `k` holds the extents and options by name; lead(x) is a leading dimension; `p` the addresses of one matrix's operands and results (x),
    the workspace (w, of wn elements) and an info.
    """

    size: Callable[[Any], tuple[int, ...]]
    run: Callable[[Any, Any], tuple[int, ...]]


def _lead(extent: int) -> int:
    return max(1, extent)


def _triangle(k: Any) -> int:
    return int(k.uplo == ord("U"))


def _vectors(k: Any) -> int:
    return int(k.mode == ord("V"))


def _reflected(k: Any) -> tuple[int, ...]:
    """side, trans, m, n, k of ormqr."""
    return (0 if k.left else 1, k.adjoint if k.transpose else 0, k.m, k.n, k.k)


_CALLS = {
    "potrf": _Call(
        lambda k: (_triangle(k), k.n, 0, _lead(k.n)),
        lambda k, p: (_triangle(k), k.n, p.x[1], _lead(k.n), p.w, p.wn, p.info),
    ),
    "getrf": _Call(
        lambda k: (k.m, k.n, 0, _lead(k.m)),
        lambda k, p: (k.m, k.n, p.x[1], _lead(k.m), p.w, p.x[2], p.info),
    ),
    "geqrf": _Call(
        lambda k: (k.m, k.n, 0, _lead(k.m)),
        lambda k, p: (k.m, k.n, p.x[1], _lead(k.m), p.x[2], p.w, p.wn, p.info),
    ),
    "orgqr": _Call(
        lambda k: (k.m, k.n, k.k, 0, _lead(k.m), 0),
        lambda k, p: (k.m, k.n, k.k, p.x[2], _lead(k.m), p.x[1], p.w, p.wn, p.info),
    ),
    "ormqr": _Call(
        lambda k: (*_reflected(k), 0, _lead(k.a), 0, 0, _lead(k.m)),
        lambda k, p: (*_reflected(k), p.x[0], _lead(k.a), p.x[1], p.x[3], _lead(k.m), p.w, p.wn, p.info),
    ),
    "syevd": _Call(
        lambda k: (_vectors(k), _triangle(k), k.n, 0, _lead(k.n), 0),
        lambda k, p: (_vectors(k), _triangle(k), k.n, p.x[1], _lead(k.n), p.x[2], p.w, p.wn, p.info),
    ),
    "sytrd": _Call(
        lambda k: (_triangle(k), k.n, 0, _lead(k.n), 0, 0, 0),
        lambda k, p: (_triangle(k), k.n, p.x[1], _lead(k.n), p.x[2], p.x[3], p.x[4], p.w, p.wn, p.info),
    ),
    "gesvd": _Call(  # of a matrix with no fewer rows than columns; no room for a superdiagonal that did not converge
        lambda k: (k.m, k.n),
        lambda k, p: (k.mode, k.mode, k.m, k.n, p.x[1], _lead(k.m), p.x[2], p.x[3], _lead(k.m), p.x[4], _lead(k.v), p.w, p.wn, 0, p.info),
    ),
}  # fmt: skip
_KINDS = [letter + name for name in (*_CALLS, "trsm", "gtsv2", "xgeev", *lapack_routines.ON_HOST) for letter in lapack_routines.REAL]


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
        self.known = SimpleNamespace(**self.row.named(numbers), adjoint=2 if self.letter in "cz" else 1)
        self.nothing = 0 in numbers[: 1 + sum(len(text.split()) - 1 for text in self.row.operands)]
        self.on_host = self.name in lapack_routines.ON_HOST
        self.library = {"trsm": "cuBLAS", "gtsv2": "cuSPARSE"}.get(self.name, "cuSOLVER")
        self.waits = self.library != "cuBLAS" and not self.nothing
        self.run: Callable[[Any], None]

    def prepare(self, needs: Needs) -> None:
        if self.on_host and not self.nothing:
            require_lapack()
        if self.on_host or self.nothing:
            return
        checked(self.library, f"planning {self.thunk['routine']}")(self._plan)(needs)

    def _plan(self, needs: Needs) -> None:
        self._module, self._handle = needs.libraries.module(self.library), needs.libraries.handle(self.library)
        planned = {"trsm": self._plan_trsm, "gtsv2": self._plan_gtsv2, "xgeev": self._plan_xgeev}.get(self.name, self._plan_dense)
        self.run = planned(needs)
        self._info = needs.ask_counter()

    def initialise(self, context: Context) -> None:
        if not (self.on_host or self.nothing):
            self._workspace, self._workspace_bytes = context.workspace, context.workspace_bytes
            self._info_address = context.counter(self._info)

    def execute(self, recorder: Any, buffers: BufferAddresses) -> None:
        places = [buffers.address(at) for at in (*self.thunk.reads, *self.thunk.writes)]
        if self.nothing:
            self._say_nothing_failed(recorder, places)
            return
        if self.on_host:
            self._compute(recorder, places)
            return
        checked(self.library, f"calling {self.thunk['routine']}")(self._enqueue)(recorder, places)

    def _say_nothing_failed(self, recorder: Any, places: Sequence[int]) -> None:
        for text, place, at in zip(self.row.results, places[len(self.thunk.reads) :], self.thunk.writes):
            if text == "i" and at.size:
                recorder.fill(place, 0, 4, at.size // 4)

    def _compute(self, recorder: Any, places: Sequence[int]) -> None:
        """On the host, by LAPACK."""
        sizes = [self.known.batch * stride for stride in self.strides]
        count = len(self.thunk.reads)
        updated = {count + result for _, result in self.row.aliases}
        wanted = [number < count or number in updated for number in range(len(places))]
        arrays = [recorder.fetch(*part) if held else np.zeros(part[1], np.uint8) for held, part in zip(wanted, zip(places, sizes))]
        run_lapack(self.thunk["routine"], arrays, self.thunk["numbers"])
        for place, array in zip(places[count:], arrays[count:]):
            recorder.send(place, array)

    def _enqueue(self, recorder: Any, places: Sequence[int]) -> None:
        self._module.set_stream(self._handle, recorder.stream)
        if self.library == "cuBLAS":
            self._module.set_workspace(self._handle, self._workspace, self._workspace_bytes)
        has_info = self.row.results[-1] == "i"
        for matrix in range(self.known.batch):
            x = [place + matrix * stride for place, stride in zip(places, self.strides)]
            self.run(SimpleNamespace(x=x, w=self._workspace, info=x[-1] if has_info else self._info_address))

    # How a routine is called on one matrix.

    def _plan_dense(self, needs: Needs) -> Callable[[Any], None]:
        name, call, known = self._function(), _CALLS[self.name], self.known
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
        function, k = getattr(self._module, self._function()), self.known
        needs.ask_workspace(_BLAS_WORKSPACE)
        one = np.ones(1, {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}[self.letter])
        flags = (int(k.side == ord("R")), _triangle(k), b"NTC".index(k.trans_x), int(k.diag == ord("U")))
        return lambda place: function(
            self._handle, *flags, k.m, k.n, one.ctypes.data, place.x[0], _lead(k.a), place.x[2], _lead(k.m)
        )  # fmt: skip

    def _plan_gtsv2(self, needs: Needs) -> Callable[[Any], None]:
        function, k = getattr(self._module, self._function()), self.known
        needs.ask_workspace(getattr(self._module, f"{self._function()}_buffer_size_ext")(self._handle, k.n, k.r, 0, 0, 0, 0, k.n))
        return lambda place: function(self._handle, k.n, k.r, *place.x[:3], place.x[4], k.n, place.w)

    def _plan_xgeev(self, needs: Needs) -> Callable[[Any], None]:
        """Right eigenvectors alone; a real matrix's eigenvalues are complex numbers too."""
        module, k = self._module, self.known
        params = module.create_params()
        needs.libraries.at_close(module.destroy_params, params)
        kind = _DATA_TYPES[self.letter]
        complex_kind = kind if self.letter in "cz" else kind + 4

        def arguments(matrix: int, values: int, vectors: int) -> tuple[int, ...]:
            right = (kind, vectors, _lead(k.n), kind)  # the last is that of the arithmetic
            return (params, 0, _vectors(k), k.n, kind, matrix, _lead(k.n), complex_kind, values, kind, 0, _lead(k.n), *right)

        on_device, on_host = module.xgeev_buffer_size(self._handle, *arguments(0, 0, 0))
        needs.ask_workspace(on_device)
        host = np.empty(max(on_host, 1), np.uint8)
        return lambda place: module.xgeev(
            self._handle, *arguments(*place.x[1:4]), place.w, on_device, host.ctypes.data, on_host, place.info
        )  # fmt: skip

"""Stand-ins for cuSOLVER, cuBLAS's trsm and cuSPARSE's gtsv2 that compute by LAPACK on the fake driver's memory, in the streams' order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from fake_driver import at, enqueue
from fake_libraries import OneHandle

from hloom.runtime.lapack import run_lapack

SIGNATURES = {
    "potrf": "handle uplo n a lda workspace lwork dev_info",
    "getrf": "handle m n a lda workspace dev_ipiv dev_info",
    "geqrf": "handle m n a lda tau workspace lwork dev_info",
    "orgqr": "handle m n k a lda tau work lwork info",
    "ormqr": "handle side trans m n k a lda tau c ldc work lwork dev_info",
    "syevd": "handle jobz uplo n a lda w work lwork info",
    "sytrd": "handle uplo n a lda d e tau work lwork info",
    "gesvd": "handle jobu jobvt m n a lda s u ldu vt ldvt work lwork rwork info",
    "potrf_buffer_size": "handle uplo n a lda",
    "getrf_buffer_size": "handle m n a lda",
    "geqrf_buffer_size": "handle m n a lda",
    "orgqr_buffer_size": "handle m n k a lda tau",
    "ormqr_buffer_size": "handle side trans m n k a lda tau c ldc",
    "syevd_buffer_size": "handle jobz uplo n a lda w",
    "sytrd_buffer_size": "handle uplo n a lda d e tau",
    "gesvd_buffer_size": "handle m n",
}
"""As nvmath's bindings have them for real numbers; for complex ones some have other names."""
XGEEV = (
    "handle params jobvl jobvr n data_type_a a lda data_type_w w data_type_vl vl ldvl data_type_vr vr ldvr compute_type "
    "buffer_on_device workspace_in_bytes_on_device buffer_on_host workspace_in_bytes_on_host info"
)
TRSM = "handle side uplo trans diag m n alpha a lda b ldb"
XSYEV_BATCHED = (
    "handle params jobz uplo n data_type_a a lda data_type_w w compute_type buffer_on_device workspace_in_bytes_on_device buffer_on_host "
    "workspace_in_bytes_on_host info batch_size"
)
BATCHED = {
    "potrf_batched": "handle uplo n aarray lda info_array batch_size",
    "getrf_batched": "handle n a lda p info batch_size",
    "geqrf_batched": "handle m n aarray lda tau_array info batch_size",
    "trsm_batched": "handle side uplo trans diag m n alpha a lda b ldb batch_count",
}
GTSV2 = "handle m n dl d du b ldb p_buffer"
_OURS = {"ungqr": "orgqr", "unmqr": "ormqr", "heevd": "syevd", "hetrd": "sytrd"}
_REAL = {"s": np.float32, "d": np.float64, "c": np.float32, "z": np.float64}
_WORKSPACE = 96
_TRIANGLES, _JOBS = "LU", "NV"


def named(signature: str, arguments: tuple) -> dict[str, Any]:
    names = signature.split()
    assert len(names) == len(arguments), f"{len(arguments)} arguments for {signature}"
    return dict(zip(names, arguments))


def _addresses(array: int, count: int) -> list[int]:
    return at(array, np.int64, count).tolist()


def _run(name: str, addresses: list[int], *numbers: int) -> None:
    run_lapack(name, [at(address, np.uint8, 1) for address in addresses], [1, *numbers])


class _Enqueueing(OneHandle):
    def set_stream(self, handle: int, stream: int) -> None:
        assert handle == self.handle
        self.stream = stream


def _enqueued_batch(library: _Enqueueing, name: str, given: tuple, work: Callable[..., None]) -> None:
    known = named(BATCHED[name[1:]], given)
    assert known.pop("handle") == library.handle
    enqueue(library.stream, lambda: work(name.removesuffix("_batched"), **known))


class Cusolver(_Enqueueing):
    def __init__(self) -> None:
        self.params: list[int] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name[1:] == "potrf_batched":
            return lambda *given: _enqueued_batch(self, name, given, self._potrf_batched)
        letter, routine, size = name[:1], name[1:].removesuffix("_buffer_size"), name.endswith("_buffer_size")
        assert (routine in _OURS) <= (letter in "cz"), name
        routine = _OURS.get(routine, routine)
        if letter not in _REAL or routine not in SIGNATURES or (letter in "cz" and name[1:].startswith("or")):
            raise AttributeError(name)
        if size:
            return lambda *given: _WORKSPACE if named(SIGNATURES[routine + "_buffer_size"], given) else 0

        def call(*given: Any) -> None:
            known = named(SIGNATURES[routine], given)
            assert known["handle"] == self.handle and known.get("lwork", _WORKSPACE) == _WORKSPACE
            workspace = known.get("workspace", known.get("work"))

            def work() -> None:
                at(workspace, np.uint8, _WORKSPACE * np.dtype(_REAL[letter]).itemsize)[:] = 0xEE
                getattr(self, f"_{routine}")(letter + routine, **known)

            enqueue(self.stream, work)

        return call

    def _potrf(self, name, uplo, n, a, dev_info, **_) -> None:
        _run(name, [a, a, dev_info], n, n, ord(_TRIANGLES[uplo]))

    def _getrf(self, name, m, n, a, dev_ipiv, dev_info, **_) -> None:
        _run(name, [a, a, dev_ipiv, dev_info], m, n)

    def _geqrf(self, name, m, n, a, tau, **_) -> None:
        _run(name, [a, a, tau], m, n)

    def _orgqr(self, name, m, n, k, a, tau, **_) -> None:
        _run(name, [a, tau, a], m, n, k)

    def _ormqr(self, name, side, trans, m, n, k, a, lda, tau, c, **_) -> None:
        assert trans in (0, 2 if name[0] in "cz" else 1), "complex ones are adjoint, real ones transposed"
        _run(name, [a, tau, c, c], lda, k, k, m, n, side == 0, trans != 0)

    def _syevd(self, name, jobz, uplo, n, a, w, info, **_) -> None:
        _run(name, [a, a, w, info], n, n, ord(_JOBS[jobz]), ord(_TRIANGLES[uplo]))

    def _sytrd(self, name, uplo, n, a, d, e, tau, info, **_) -> None:
        _run(name, [a, a, d, e, tau, info], n, n, ord(_TRIANGLES[uplo]))

    def _gesvd(self, name, jobu, jobvt, m, n, a, s, u, vt, info, **_) -> None:
        assert jobu == jobvt and m >= n, "cuSOLVER decomposes tall matrices alone"
        _run(name, [a, a, s, u, vt, info], m, n, jobu)

    def _potrf_batched(self, name, uplo, n, aarray, lda, info_array, batch_size) -> None:
        for i, a in enumerate(_addresses(aarray, batch_size)):
            _run(name, [a, a, info_array + 4 * i], n, n, ord(_TRIANGLES[uplo]))

    # Functions that take the types of their numbers.

    def create_params(self) -> int:
        self.params.append(9)
        return 9

    def destroy_params(self, params: int) -> None:
        self.params.remove(params)

    def xsyev_batched_buffer_size(self, *given: Any) -> tuple[int, int]:
        before, after = XSYEV_BATCHED.partition(" buffer_on_device")[0], " batch_size"
        assert named(before + after, given)["params"] in self.params
        return _WORKSPACE, 8

    def xsyev_batched(self, *given: Any) -> None:
        known = named(XSYEV_BATCHED, given)
        letter = "sd  cz"[known["data_type_a"]]
        assert known["compute_type"] == known["data_type_a"] and known["data_type_w"] == known["data_type_a"] % 4
        addresses, n = [known["a"], known["a"], known["w"], known["info"]], known["n"]
        numbers = [known["batch_size"], n, n, ord(_JOBS[known["jobz"]]), ord(_TRIANGLES[known["uplo"]])]
        enqueue(self.stream, lambda: run_lapack(f"{letter}syevd", [at(address, np.uint8, 1) for address in addresses], numbers))

    def xgeev_buffer_size(self, *given: Any) -> tuple[int, int]:
        self._geev(named(XGEEV.partition(" buffer_on_device")[0], given))
        return _WORKSPACE, 8

    def xgeev(self, *given: Any) -> None:
        known = named(XGEEV, given)
        at(known["buffer_on_host"], np.uint8, 8)[:] = 0xEE
        enqueue(self.stream, self._geev(known))

    def _geev(self, known: dict[str, Any]) -> Callable[[], None]:
        letter = "sd  cz"[known["data_type_a"]]
        assert known["params"] in self.params and known["jobvl"] == 0, "left eigenvectors are not computed"
        assert (
            known["data_type_a"] == known["data_type_vr"] == known["compute_type"] and known["data_type_w"] == 4 + "sdcz".index(letter) % 2
        )
        n, complex_ = known["n"], np.result_type(_REAL[letter], np.complex64)

        def work() -> None:
            kind = complex_ if letter in "cz" else np.dtype(_REAL[letter])
            matrix = at(known["a"], kind, n * n).reshape(n, n).T
            values, vectors = np.linalg.eig(matrix)
            matrix[...] = np.nan
            at(known["w"], complex_, n)[:] = values
            packed = vectors if letter in "cz" else np.where(values.imag < 0, -vectors.imag, vectors.real)
            if known["jobvr"]:
                at(known["vr"], kind, n * n).reshape(n, n).T[...] = packed
            at(known["info"], np.int32, 1)[0] = 0

        return work


class Cublas(_Enqueueing):
    def set_workspace(self, handle: int, address: int, nbytes: int) -> None:
        assert nbytes >= 16 << 10 and address % 256 == 0, "too little may fail with CUBLAS_STATUS_ALLOC_FAILED"

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name[:1] in _REAL and name[1:] in BATCHED:
            return lambda *given: _enqueued_batch(self, name, given, getattr(self, f"_{name[1:]}"))
        if name not in ("strsm", "dtrsm", "ctrsm", "ztrsm"):
            raise AttributeError(name)
        return lambda *given: enqueue(self.stream, lambda: self._solve(name, **named(TRSM, given)))

    def _solve(self, name, side, uplo, trans, diag, m, n, alpha, a, lda, b, **_) -> None:
        assert at(alpha, np.result_type(_REAL[name[0]], np.complex64 if name[0] in "cz" else np.float32), 1)[0] == 1
        _run(name, [a, b, b], lda, lda, m, n, ord("LR"[side]), ord(_TRIANGLES[uplo]), ord("NTC"[trans]), ord("NU"[diag]))

    def _getrf_batched(self, name, n, a, lda, p, info, batch_size) -> None:
        for i, matrix in enumerate(_addresses(a, batch_size)):
            _run(name, [matrix, matrix, p + 4 * n * i, info + 4 * i], n, n)

    def _geqrf_batched(self, name, m, n, aarray, lda, tau_array, info, batch_size) -> None:
        for a, tau in zip(_addresses(aarray, batch_size), _addresses(tau_array, batch_size)):
            _run(name, [a, a, tau], m, n)

    def _trsm_batched(self, name, a, b, batch_count, **rest) -> None:
        for pair in zip(_addresses(a, batch_count), _addresses(b, batch_count)):
            self._solve(name, handle=self.handle, a=pair[0], b=pair[1], **rest)


class Cusparse(_Enqueueing):
    def __getattr__(self, name: str) -> Callable[..., Any]:
        letter, routine = name[:1], name[1:]
        if letter not in _REAL or routine not in ("gtsv2", "gtsv2_buffer_size_ext"):
            raise AttributeError(name)
        if routine != "gtsv2":
            return lambda *given: 8 * named(GTSV2.removesuffix(" p_buffer"), given)["m"]
        return lambda *given: enqueue(self.stream, lambda: self._solve(letter, **named(GTSV2, given)))

    def _solve(self, letter, m, n, dl, d, du, b, **_) -> None:
        assert m >= 3, "gtsv2 takes no fewer rows"
        kind = np.result_type(_REAL[letter], np.complex64 if letter in "cz" else np.float32)
        lower, diagonal, upper = (at(address, kind, m) for address in (dl, d, du))
        assert lower[0] == 0 == upper[-1], "what is outside of the matrix should be zero"
        right = at(b, kind, m * n).reshape(n, m).T
        right[...] = np.linalg.solve(np.diag(diagonal) + np.diag(lower[1:], -1) + np.diag(upper[:-1], 1), right)

"""The calls that JAX writes for CUDA, by target: `cusolver_getrf_ffi` and the like. The pass legalize-cuda-calls makes LAPACK's of them."""

from __future__ import annotations

from hloom.runtime.lapack_routines import ROUTINES, Routine

SAME = {
    "cusolver_potrf_ffi": "potrf",
    "cusolver_getrf_ffi": "getrf",
    "cublas_getrf_batched_ffi": "getrf",
    "cusolver_geqrf_ffi": "geqrf",
    "cublas_geqrf_batched_ffi": "geqrf",
    "cusolver_orgqr_ffi": "orgqr",
    "cusolver_ormqr_ffi": "ormqr",
    "cusolver_syevd_ffi": "syevd",
    "cusolver_sytrd_ffi": "sytrd",
    "cuhybrid_eig_real": "geev",
    "cuhybrid_eig_comp": "geev",
    "cuhybrid_geqp3": "geqp3",
}
"""Those with the operands and results of a routine of LAPACK."""
ROWS = {
    "cusolver_geev_ffi": Routine(("T n n",), ("T n n", "C n", "T n n", "T n n", "i")),
    "cusparse_gtsv2_ffi": ROUTINES["gtsv2"],
    "cu_lu_pivots_to_permutation": Routine(("i k",), ("i p",), rule=lambda extents: extents["k"] <= extents["p"]),
    "cu_cholesky_update_ffi": Routine(("T n n", "T n"), ("T n n", "T n")),
}
"""Others, and what they read and write."""
_SINGULAR = ("cusolver_gesvd_ffi", "cusolver_gesdd_ffi", "cusolver_gesvdj_ffi", "cusolver_gesvdp_ffi")
CUDA_CALLS = frozenset([*SAME, *ROWS, *_SINGULAR, "cusolver_syrk_ffi"])

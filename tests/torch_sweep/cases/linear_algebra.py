"""torch.linalg: batches, wide and tall matrices, complex numbers, nothing at all, vectors in the stead of matrices."""

from __future__ import annotations

CASES: dict[str, tuple[str, ...]] = {}

_POSITIVE = ("(torch.eye(3) * 4)", "(torch.eye(2).double() + 1)", "(torch.eye(3).expand(2, 3, 3) * 2, upper=True)")
_SQUARE = ("(f(3, 3))", "(d(2, 4, 4).mT)", "(c(3, 3))")
_SHAPES = ("(f(5, 3))", "(d(2, 3, 4))", "(c(3, 3))")
for name in "cholesky cholesky_ex".split():
    CASES[name] = _POSITIVE
for name in "det slogdet inv inv_ex eigvals matrix_exp".split():
    CASES[name] = _SQUARE
for name in "lu lu_factor lu_factor_ex svdvals".split():
    CASES[name] = _SHAPES
for name in "ldl_factor ldl_factor_ex".split():
    CASES[name] = ("(torch.eye(3) * 4)", "(torch.eye(2).double() + 1)", "(torch.eye(1))")
CASES |= {
    "cond": ("(f(3, 3))", "(d(2, 4, 3), -2)", "(f(3, 3), 1)"),
    "cross": ("(f(2, 3), f(2, 3))", "(i32(3, 4), i32(3, 4), dim=0)", "(c(2, 3), c(2, 3))"),
    "diagonal": ("(f(3, 5))", "(i32(2, 3, 4), offset=-1, dim1=0, dim2=2)", "(b(3, 4), offset=3)"),
    "eig": ("(torch.diag(ge1(3)) + f(3, 3).triu(1))", "(d(2, 1, 1))", "(torch.eye(2) + 0j)"),
    "eigh": ("(torch.diag(ge1(4)) + 1)", "(d(2, 3, 3), 'U')", "(f(0, 0))"),
    "eigvalsh": ("(f(4, 4))", "(d(2, 3, 3), 'U')", "(c(3, 3))"),
    "householder_product": ("(f(3, 2), f(2))", "(d(2, 3, 3), d(2, 2))", "(c(4, 2), c(2))"),
    "ldl_solve": (
        "(torch.eye(3) * 2, t([1, 2, 3]).int(), f(3, 2))", "(torch.eye(2).double(), t([1, 2]).int(), d(2, 1))",
        "(pos(1, 1), t([1]).int(), f(1, 1))",
    ),
    "lstsq": ("(f(5, 3), f(5, 2))", "(d(3, 3), d(3, 1))", "(f(2, 4, 3), f(2, 4, 1), driver='gels')"),
    "lu_solve": (
        "(f(3, 3), t([2, 3, 3]).int(), f(3, 2))", "(d(2, 2, 2), t([[2, 2], [1, 2]]).int(), d(2, 3, 2), left=False, adjoint=True)",
        "(c(2, 2), t([2, 2]).int(), c(3, 2, 1), adjoint=True)",
    ),
    "matmul": ("(f(2, 1, 3, 4), f(5, 4, 2))", "(i32(4), i32(2, 4, 3))", "(c(3, 4), c(4))"),
    "matrix_norm": ("(f(3, 5))", "(d(2, 3, 4), 'nuc')", "(f(2, 3, 4), -math.inf, dim=(0, 2), keepdim=True)"),
    "matrix_power": ("(f(3, 3), 3)", "(d(2, 3, 3), -2)", "(c(2, 2), 5)"),
    "matrix_rank": ("(f(5, 3))", "(torch.ones(2, 3, 3).double())", "(torch.eye(3) * 4, hermitian=True)"),
    "multi_dot": ("([f(2, 3), f(3, 4), f(4, 1)])", "([d(3), d(3, 4), d(4)])", "([i32(2, 3), i32(3, 2)])"),
    "norm": ("(f(3, 5), 3, -1)", "(c(3, 5).mT, math.inf)", "(f(2, 3, 5), 'nuc', (0, 1), keepdim=True)"),
    "pinv": ("(f(5, 3))", "(d(2, 3, 4), rtol=0.5)", "(torch.eye(3) * 4, hermitian=True)"),
    "qr": ("(f(5, 3))", "(d(2, 4, 2), 'complete')", "(f(2, 4), 'r')"),
    "solve": ("(f(3, 3), f(3))", "(d(2, 4, 4).mT, d(4, 2))", "(c(3, 3), c(2, 3), left=False)"),
    "solve_ex": ("(f(3, 3), f(3, 2))", "(d(2, 4, 4), d(2, 4))", "(f(0, 0), f(0, 2))"),
    "solve_triangular": (
        "(f(3, 3), f(3, 2), upper=True)", "(d(2, 3, 3), d(2, 2, 3), upper=False, left=False, unitriangular=True)",
        "(c(2, 2), c(3, 2, 1), upper=False)",
    ),
    "svd": ("(f(5, 3), full_matrices=False)", "(d(2, 3, 4))", "(f(2, 0))"),
    "tensorinv": ("(f(4, 2, 2), ind=1)", "(d(2, 3, 6))", "(f(3, 3), ind=1)"),
    "tensorsolve": ("(f(2, 3, 6), f(2, 3))", "(d(4, 2, 2), d(4))", "(f(6, 2, 3), f(2, 3), dims=(0,))"),
    "vander": ("(f(4))", "(i32(2, 3), N=2)", "(c(3), N=4)"),
    "vecdot": ("(f(3, 5), f(3, 5))", "(c(3, 5), c(5))", "(d(3, 4), d(3, 4), dim=0)"),
    "vector_norm": ("(f(3, 5), 3, -1)", "(c(3, 5), 0)", "(bf(3, 5).mT, -math.inf, 0, keepdim=True)"),
}  # fmt: skip
CASES = {f"torch.linalg.{name}": settings for name, settings in CASES.items()}

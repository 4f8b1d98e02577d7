"""thunk.lapack on CUDA: what cuSOLVER, cuBLAS and cuSPARSE are asked for, against stand-ins that compute by LAPACK."""

from __future__ import annotations

import importlib
import inspect

import fake_solvers
import numpy as np
import pytest
from cuda_programs import artifact, loaded, tensor
from fake_libraries import fake_libraries
from fake_solvers import Cublas, Cusolver, Cusparse

from hloom.runtime import lapack_routines
from hloom.runtime.cuda.kinds import lapack as kinds
from hloom.runtime.errors import CudaError, DamagedFileError
from hloom.runtime.lapack import run_lapack
from hloom.runtime.manifest import made_for
from hloom.runtime.pytree import flat

BATCH = 2
NUMPY = {"f32": "f4", "f64": "f8", "i32": "i4"}


def lapack_program(name: str, *numbers: int):
    """A program that is one routine on arguments; results that it updates are copies of them."""
    row, types = lapack_routines.routine(name[0], name[1:]), lapack_routines.elements(name[0])
    parts = lapack_routines.strides(name[0], name[1:], [BATCH, *numbers])
    values = []
    for number, (text, part) in enumerate(zip((*row.operands, *row.results), parts)):
        real = types[text.split()[0]].removeprefix("complex<").rstrip(">")
        values.append(tensor(f"x{number}", real, (BATCH * part // (8 if real == "f64" else 4),)))
    slices = [[number, 0, BATCH * part] for number, part in enumerate(parts)]
    reads, writes = slices[: len(row.operands)], slices[len(row.operands) :]
    copies = [{"op": "copy", "reads": [reads[i]], "writes": [writes[o]]} for i, o in row.aliases]
    thunk = {"op": "lapack", "routine": name, "numbers": [BATCH, *numbers], "reads": reads, "writes": writes, "source": []}
    buffers = [*(["argument", i] for i in range(len(reads))), *(["result", i] for i in range(len(writes))), ["arena", 0]]
    return artifact([*copies, thunk], values[: len(reads)], values[len(reads) :], buffers)


def solvers():
    return fake_libraries(cusolverDn=Cusolver(), cublas=Cublas(), cusparse=Cusparse())


def given_to(program) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    kinds = [NUMPY[x["dtype"]] for x in program.manifest["arguments"]]
    return [(rng.standard_normal(x["shape"]) * (kind != "i4")).astype(kind) for kind, x in zip(kinds, program.manifest["arguments"])]


CASES = [
    *(("potrf", 4, 4, uplo) for uplo in b"UL"), ("getrf", 5, 3), ("getrf", 3, 5), ("geqrf", 5, 3), ("orgqr", 5, 3, 2),
    *(("ormqr", *sizes, left, turned) for left, sizes in ((1, (5, 2, 2, 5, 3)), (0, (3, 2, 2, 5, 3))) for turned in (0, 1)),
    *(("syevd", 4, 4, mode, uplo) for mode in b"VN" for uplo in b"UL"), *(("sytrd", 4, 4, uplo) for uplo in b"UL"),
    *(("gesvd", 5, 3, mode) for mode in b"ASN"), *(("trsm", 5, 5, 5, 3, ord("L"), *rest) for rest in (b"UNN", b"LTU", b"LCN", b"UCU")),
    *(("trsm", 3, 3, 5, 3, ord("R"), *rest) for rest in (b"LNN", b"UTU", b"UCN")),
    ("geqp3", 4, 3, 3), ("gees", 4, 4, *b"VN"), ("gehrd", 4, 4, 1, 4), ("geev", 4, 4, *b"VV"), ("gtsv", 3, 3, 3, 3, 2),
]  # fmt: skip


@pytest.mark.parametrize("letter", "sdcz")
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
@pytest.mark.parametrize("small", [True, False])
def test_the_libraries_are_asked_for_what_lapack_computes(letter, case, small, monkeypatch):
    """By batched functions, or one matrix after the other."""
    monkeypatch.setattr(kinds, "_SMALL", 128 if small else -1)
    name, *numbers = case
    program = lapack_program(letter + name, *numbers)
    inputs = given_to(program)
    results = [np.zeros(x["shape"], NUMPY[x["dtype"]]) for x in program.manifest["results"]]
    for operand, result in lapack_routines.ROUTINES[name].aliases:
        results[result][:] = inputs[operand]
    run_lapack(letter + name, [*(x.copy() for x in inputs), *results], [BATCH, *numbers])
    found = loaded(program, libraries=fake_libraries() if name in lapack_routines.ON_HOST else solvers())[0](*inputs)
    found = found if isinstance(found, tuple) else [found]
    unused = (2, 3) if (name, numbers[-1]) == ("gesvd", ord("N")) else ()
    for place, (got, want) in enumerate(zip(found, results, strict=True)):
        if place not in unused:
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("letter", "sdcz")
def test_tridiagonal_systems(letter):
    program = lapack_program(f"{letter}gtsv2", 5, 5, 5, 5, 2)
    lower, diagonal, upper, right = given_to(program)
    lower, upper = (x.reshape(BATCH, 5, -1) for x in (lower, upper))
    lower[:, 0] = upper[:, -1] = 0
    kind = np.result_type(lower.dtype, np.complex64 if letter in "cz" else np.float32)
    found = loaded(program, libraries=solvers())[0](lower.reshape(-1), diagonal, upper.reshape(-1), right).view(kind).reshape(BATCH, 2, 5)
    lower, diagonal, upper, right = (x.reshape(-1).view(kind) for x in (lower, diagonal, upper, right))
    for i, x in enumerate(found):
        own = slice(5 * i, 5 * i + 5)
        matrix = np.diag(diagonal[own]) + np.diag(lower[own][1:], -1) + np.diag(upper[own][:-1], 1)
        np.testing.assert_allclose(matrix @ x.T, right.reshape(BATCH, 2, 5)[i].T, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("letter", "sdcz")
def test_eigenvectors(letter):
    program = lapack_program(f"{letter}xgeev", 4, 4, ord("V"))
    (given,) = given_to(program)
    real = given.dtype
    complex_ = np.result_type(real, np.complex64)
    _, values, packed, info = loaded(program, libraries=solvers())[0](given)
    kind = complex_ if letter in "cz" else real
    matrices, packed = (x.view(kind).reshape(BATCH, 4, 4).swapaxes(1, 2) for x in (given, packed))
    assert not info.any()
    for a, w, v in zip(matrices, values.view(complex_).reshape(BATCH, 4), packed):
        if letter in "sd":
            pairs = [(v[:, i] + 1j * v[:, i + 1], v[:, i] - 1j * v[:, i + 1]) for i in range(3) if w[i].imag > 0]
            v = v.astype(complex_)
            v[:, w.imag != 0] = np.array([x for pair in pairs for x in pair]).T if pairs else v[:, w.imag != 0]
        np.testing.assert_allclose(a @ v, v * w, atol=1e-4)


def test_a_program_that_waits_is_enqueued_by_each_call():
    program = lapack_program("dgetrf", 3, 3)
    exe, driver = loaded(program, libraries=solvers())
    for _ in range(2):
        exe(*given_to(program))
    assert not driver.calls("capture", "launch")
    assert [what for _, what, _ in driver.calls("enqueue")] == ["copy", "library"] * 2


def test_triangular_systems_are_part_of_a_graph(monkeypatch):
    """Large ones, that is: a batched function reads addresses that the host writes."""
    monkeypatch.setattr(kinds, "_SMALL", -1)
    program = lapack_program("dtrsm", 3, 3, 3, 2, *b"LUNN")
    exe, driver = loaded(program, libraries=solvers())
    exe(*given_to(program))
    assert len(driver.calls("launch")) == 1 and not driver.calls("enqueue")


@pytest.mark.parametrize(("loop", "runs"), [("for", 2), ("while", 1), ("case", 1)])
def test_loops_and_branches_around_solvers_are_the_hosts(loop, runs):
    """The second argument is what the loop, or the branch, goes by: a flag that is 1, its second byte 0."""
    program = lapack_program("dgetrf", 3, 3)
    manifest = program.manifest
    copy, solve = manifest["programs"]["main"]["body"]
    for op in (copy, solve):
        op["writes"] = [[buffer + 1, *rest] for buffer, *rest in op["writes"]]
    manifest["arguments"].append(tensor("flag", "i32", (1,), bound=False))
    manifest["entries"]["main"]["buffers"] = [["argument", 0], ["argument", 1], *(["result", i] for i in range(3)), ["arena", 4]]
    flag, again = [5, 0, 1], {"op": "copy", "reads": [[1, 1, 1]], "writes": [[5, 0, 1]]}
    loops = {
        "for": {"op": "for", "trip_count": 2, "body": [solve]},
        "while": {"op": "while", "reads": [flag], "cond": [], "body": [solve, again]},
        "case": {"op": "case", "reads": [[1, 0, 4]], "branches": [{"op": "sequence", "body": each} for each in ([], [solve], [])]},
    }
    manifest["programs"]["main"]["body"] = [copy, {"op": "copy", "reads": [[1, 0, 1]], "writes": [flag]}, loops[loop]]
    manifest |= {"in_tree": flat(2), "made_for": made_for({**manifest, "in_tree": flat(2)}, program.blobs)}
    exe, driver = loaded(program, libraries=solvers())
    exe(*given_to(lapack_program("dgetrf", 3, 3)), np.array([1], np.int32))
    assert not driver.calls("capture")
    assert [what for _, what, _ in driver.calls("enqueue")].count("library") == runs


def test_what_is_no_call_of_a_routine_is_damage():
    for change, message in (
        ({"routine": "sgesdd"}, "routine should be"),
        ({"routine": "dgesvd", "numbers": [2, 3, 3, 9]}, "slices"),
        ({"numbers": [2, 3, 3, 1]}, "numbers"),
        ({"numbers": [2, 30, 3]}, "reaches past"),
    ):
        program = lapack_program("dgetrf", 3, 3)
        program.manifest["programs"]["main"]["body"][-1].update(change)
        with pytest.raises(DamagedFileError, match=message):
            loaded(program, libraries=solvers())
    program = lapack_program("dgesvd", 3, 5, ord("A"))
    with pytest.raises(DamagedFileError, match="fewer rows than columns"):
        loaded(program, libraries=solvers())


def test_a_library_that_fails_says_at_what():
    program = lapack_program("sgesvd", 3, 3, ord("A"))
    library = Cusolver()
    library.sgesvd_buffer_size = lambda *_: 1 / 0
    with pytest.raises(CudaError, match="cuSOLVER failed planning sgesvd: ZeroDivisionError"):
        loaded(program, libraries=fake_libraries(cusolverDn=library))


def test_what_the_libraries_made_goes_with_the_program():
    cusolver, cublas = Cusolver(), Cublas()
    exes = [
        loaded(lapack_program(name, *numbers), libraries=fake_libraries(cusolverDn=cusolver, cublas=cublas))[0]
        for name, numbers in (("sxgeev", (3, 3, ord("V"))), ("strsm", (3, 3, 3, 2, *b"LUNN")))
    ]
    assert cusolver.handle and cusolver.params and cublas.handle
    del exes
    assert not cusolver.handle and not cusolver.params and not cublas.handle


def test_the_signatures_are_those_of_the_library():
    real = importlib.import_module("nvmath.bindings.cusolverDn")
    names = {"orgqr": "ungqr", "ormqr": "unmqr", "syevd": "heevd", "sytrd": "hetrd"}
    for routine, signature in fake_solvers.SIGNATURES.items():
        base, _, size = routine.partition("_")
        for letter in "sdcz":
            name = letter + (names.get(base, base) if letter in "cz" else base) + (f"_{size}" if size else "")
            assert " ".join(inspect.signature(getattr(real, name)).parameters) == signature, name
    modules = {
        "cusolverDn": ("xgeev", fake_solvers.XGEEV),
        "cublas": ("ztrsm", fake_solvers.TRSM),
        "cusparse": ("zgtsv2", fake_solvers.GTSV2),
    }
    for module, (name, signature) in modules.items():
        found = getattr(importlib.import_module(f"nvmath.bindings.{module}"), name)
        assert " ".join(inspect.signature(found).parameters) == signature

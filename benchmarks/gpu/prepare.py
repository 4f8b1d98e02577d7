"""Compiles everything for a GPU and computes what it should give, where the compiler is."""

from __future__ import annotations

import contextlib
import datetime
import fnmatch
import importlib
import io
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import hloom
from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program

from ..peers import program_path
from ..rows import Row
from ..settings import ROOT
from .cases import Case, Index, checksum, from_bytes, random_inputs
from .expected import difference, keep
from .kernels import MEASURED
from .models import MODELS
from .rows import ROWS

EXAMPLES = ROOT / "examples"
_LOOSE = 0.03
"""Tolerance where a result is f16 or bf16; rows have their own."""


def prepare(folder: Path, target: str, names: Sequence[str], sources: Sequence[Path]) -> Index:
    """Writes the folder: the workloads, and every .mlir of `sources`, or those of them in `names`."""
    folder.mkdir(parents=True, exist_ok=True)
    index = Index(target, f"{datetime.date.today().isoformat()}, {platform.machine()}, {platform.python_version()}")
    rows = [row for row in ROWS.values() if not names or row.name in names]
    if rows:
        subprocess.run([sys.executable, "-m", "benchmarks.export", *(row.name for row in rows)], check=True, cwd=ROOT)
    programs = {name: path for name, path in _programs(sources).items() if not names or name in names}
    makers = [partial(_row, row, folder, target) for row in rows]
    for make in [*makers, *(partial(_program, name, path, folder, target) for name, path in programs.items())]:
        case = make()
        index.cases.append(case)
        index.write(folder)
        print(f"{case.name}: {case.error or f'{case.compile_seconds:.2f} s'}", flush=True)
    return index


def prepare_models(folder: Path, target: str, patterns: Sequence[str], index: Index) -> None:
    """Adds the models that a pattern names to the folder."""
    from ..layers import modules

    for name in [name for name in MODELS if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]:
        module, tensors = modules.make(MODELS[name]), modules.tensors(MODELS[name])
        start = time.perf_counter()
        for ending, profile in ((".hloom", False), (MEASURED, True)):
            program = load_program(module, tensors)
            compilation = Compilation.of_program(program, name, target=target, profile=profile)
            compilation.artifact().save(folder / f"{name}{ending}")
            index.models.setdefault(name, time.perf_counter() - start)
        index.write(folder)
        print(f"{name}: {index.models[name]:.1f} s", flush=True)


def _programs(sources: Sequence[Path]) -> dict[str, Path]:
    """By a name of their own: that of the file, with the folder's where two have the same."""
    found: dict[str, Path] = {}
    for path in sorted(path for folder in sources for path in folder.glob("*.mlir")):
        name = path.name.split(".")[0]
        found[f"{path.parent.name}.{name}" if name in found or name in ROWS else name] = path
    return found


def _row(row: Row, folder: Path, target: str) -> Case:
    inputs, weights = row.inputs(), row.weights()
    case = Case(row.name, row=row.name, tolerance=row.tolerance, chaotic=row.chaotic, reference="JAX on the CPU")
    case.checksum = checksum(inputs, dict(enumerate(weights)))
    bound = range(len(inputs), len(inputs) + len(weights))
    policy = folder / f"{row.name}.policy.toml" if row.policy else None
    if policy is not None:
        policy.write_text(row.policy)
    if _compile(case, program_path(row), folder, target, bound, policy):
        _save(case, folder, {}, _jax_results(row, inputs, weights))
    return case


def _jax_results(row: Row, inputs: Sequence[np.ndarray], weights: Sequence[np.ndarray]) -> list[np.ndarray]:
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax

    function = getattr(importlib.import_module("benchmarks.jax_programs"), row.program)
    return [np.asarray(result) for result in jax.tree_util.tree_leaves(jax.jit(function)(*inputs, *weights))]


def _program(name: str, path: Path, folder: Path, target: str) -> Case:
    """A program of one file; inputs and results from the .npz beside it (`in0`, `out0`: raw bytes), or from a seed and hloom on the CPU."""
    case = Case(name)
    if not _compile(case, path, folder, target, (), None):
        return case
    try:
        _expect(case, path, folder)
    except Exception as error:  # the reference has failed: the next program is still to be prepared
        case.error = f"no expected results: {_first_line(error)}"
    return case


def _expect(case: Case, path: Path, folder: Path) -> None:
    reference = hloom.compile(str(path), target="cpu")
    signature = reference.signature
    halves = {"f16", "bf16"} & {spec.dtype for spec in (*signature.inputs, *signature.outputs)}
    case.tolerance = _LOOSE if halves else case.tolerance
    given = path.with_suffix(".npz")
    kept: dict[str, np.ndarray] = {}
    if given.exists():
        case.stored, case.reference = True, "the file beside the program"
        with np.load(given) as arrays:
            kept = {key: arrays[key] for key in arrays if key.startswith("in")}
            results = [from_bytes(arrays[f"out{index}"], spec) for index, spec in enumerate(signature.outputs)]
        inputs = [from_bytes(kept[f"in{index}"], spec) for index, spec in enumerate(signature.inputs)]
    else:
        case.reference = "hloom on the CPU"
        inputs = random_inputs(signature.inputs, case.seed)
        results = [np.asarray(result) for result in reference.flat(inputs)]
        moved = [np.asarray(result) for result in reference.flat([_moved(array) for array in inputs])]
        case.chaotic = bool(difference(moved, keep(results), case.tolerance))
    case.checksum = checksum(inputs, {})
    _save(case, folder, kept, results)


def _moved(array: np.ndarray) -> np.ndarray:
    """The same by an ulp or so: what two right answers to inputs so close do not share, no answer must give."""
    if array.dtype.kind not in "fV":
        return array
    step = {2: 2**-9, 4: 2**-23, 8: 2**-52}[array.dtype.itemsize]
    return (array.astype(np.float64) * (1 + step)).astype(array.dtype)


def _compile(case: Case, path: Path, folder: Path, target: str, bound: Sequence[int], policy: Path | None) -> bool:
    """hloom-compile, in this process. False, and the reason in the case, where it does not succeed."""
    tool: Any = importlib.import_module("hloom.tools.compile")
    arguments = [str(path), "-o", str(folder / f"{case.name}.hloom"), f"--target={target}"]
    if bound:
        arguments.append(f"--bind={bound[0]}-{bound[-1]}")
    if policy:
        arguments.append(f"--policy={policy}")
    words = io.StringIO()
    start = time.perf_counter()
    with contextlib.redirect_stderr(words):
        failed = tool.main(arguments)
    case.compile_seconds = time.perf_counter() - start
    if failed:
        case.error = _first_line(words.getvalue()) or f"hloom-compile returned {failed}"
        return False
    measured = Compilation(load_program(str(path)), target=target, bound=tuple(bound), profile=True, policy=policy)
    measured.artifact().save(folder / f"{case.name}{MEASURED}")
    return True


def _save(case: Case, folder: Path, inputs: dict[str, np.ndarray], results: Sequence[np.ndarray]) -> None:
    arrays: dict[str, Any] = {**inputs, **keep(results)}
    np.savez_compressed(folder / f"{case.name}.npz", **arrays)


def _first_line(error: object) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (next((line for line in lines if "HL" in line), lines[0]) if lines else "")[:200]

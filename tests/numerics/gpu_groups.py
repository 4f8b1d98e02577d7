"""Groups of a program as GPU kernels, run by the simulator and compared with the reference interpreter, group by group.

    check_program(text, interpreter)          # raises AssertionError, naming the group
    kernels = gpu_kernels(text)               # to look at them

Each group function is taken as StableHLO where groups are formed, given random inputs, and its kernel must give the same results.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from hloom.compiler.debug import watching
from hloom.compiler.frontend import load_program
from hloom.compiler.interpreter import Interpreter
from hloom.compiler.passmanager import parse_pipeline, run_steps
from hloom.compiler.pipeline import run_stages
from hloom.compiler.simulator import Counters, Kernels
from hloom.compiler.target import resolve
from hloom.dialects.target import attach_target
from hloom.passes.common.rewriting import functions, symbol_name
from hloom.runtime.dtypes import numpy_dtype

ROAD = "lower-to-linalg,canonicalize-ingress,widen-half-floats"
TILES = "tile-and-fuse,distribute-tiles"
CONTRACTIONS = f"distribute-contractions,{TILES}"
TOLERANCE = {"f64": 1e-12, "f32": 2e-5, "f16": 4e-3, "bf16": 3e-2}
"""Relative to the largest expected value."""


@dataclass
class Group:
    """One group: its program, the kinds of its inputs and results, and which of them share a buffer."""

    name: str
    source: str
    inputs: list[ir.RankedTensorType]
    results: list[ir.RankedTensorType]
    inplace: dict[int, int]


def gpu_kernels(text: str, target: str = "sm_90a", passes: str = TILES) -> tuple[ir.Module, list[Group]]:
    """The module at stage `gpu`, and its groups as they were before."""
    module = load_program(text).module
    attach_target(module.operation, resolve(target))
    run_stages(module.operation, to="stablehlo")
    with watching() as watch:
        run_steps(module.operation, parse_pipeline("split-reductions", module.context), watch, stage="fused")
    run_stages(module.operation, from_="stablehlo", to="lhlo")
    groups = [_group(f) for f in functions(module.operation) if "hloom.kind" in f.attributes and "hloom.library" not in f.attributes]
    with watching() as watch:
        run_steps(module.operation, parse_pipeline(f"{ROAD},{passes}", module.context), watch, stage="gpu")
    return module, groups


def _group(function: ir.Operation) -> Group:
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    pairs = list(ir.DenseI64ArrayAttr(function.attributes["hloom.inplace"])) if "hloom.inplace" in function.attributes else []
    name = symbol_name(function)
    clone = function.clone()
    clone.attributes["sym_name"] = ir.StringAttr.get("main", function.context)
    clone.attributes["sym_visibility"] = ir.StringAttr.get("public", function.context)
    source = str(clone)
    clone.erase()
    inputs, results = ([ir.RankedTensorType(t) for t in types] for types in (kind.inputs, kind.results))
    return Group(name, source, inputs, results, dict(zip(pairs[::2], pairs[1::2])))


def random_array(tensor: ir.RankedTensorType, rng: np.random.Generator) -> np.ndarray:
    """Small numbers of the element type, none of them zero."""
    shape, name = tuple(tensor.shape), str(tensor.element_type)
    if name == "i1":
        return rng.random(shape) < 0.5
    if name in ("f64", "f32", "f16", "bf16"):
        return rng.normal(size=shape).astype(numpy_dtype(name))
    return rng.integers(1, 7, shape).astype(numpy_dtype(name))


def check_program(
    text: str,
    interpreter: Interpreter,
    target: str = "sm_90a",
    make: Callable = random_array,
    only: str = "",
    seed: int = 0,
    passes: str = TILES,
) -> dict[str, Counters]:
    """Compares every group of the program with the interpreter. Returns what the simulator counted, by group."""
    module, groups = gpu_kernels(text, target, passes)
    kernels = Kernels(module)
    counters = {}
    for group in groups:
        if only in group.name:
            counters[group.name] = check_group(group, kernels, interpreter, make, np.random.default_rng(seed))
    return counters


def check_group(group: Group, kernels: Kernels, interpreter: Interpreter, make: Callable, rng: np.random.Generator) -> Counters:
    inputs = [make(t, rng) for t in group.inputs]
    wanted = interpreter.run(group.source, inputs).results
    buffers = [_stored(x) for x in inputs]
    outputs = [_stored(np.zeros(tuple(t.shape), numpy_dtype(str(t.element_type)))) for t in group.results]
    for given, result in group.inplace.items():
        outputs[result] = buffers[given]
    counters = kernels.launch(group.name, [*buffers, *outputs])
    for number, (output, expected) in enumerate(zip(outputs, wanted)):
        compare(f"@{group.name} result {number}", output, expected)
    return counters


def _stored(array: np.ndarray) -> np.ndarray:
    """As a kernel sees it: in one dimension, flags as bytes, integers without sign."""
    flat = np.ascontiguousarray(array).reshape(-1).copy()
    if flat.dtype == np.bool_:
        return flat.view(np.int8)
    return flat.view(f"i{flat.itemsize}") if flat.dtype.kind == "u" else flat


def compare(what: str, output: np.ndarray, expected: np.ndarray) -> None:
    flat = _stored(expected)
    if flat.dtype.kind == "i":
        np.testing.assert_array_equal(output, flat, what)
        return
    tolerance = TOLERANCE[{8: "f64", 4: "f32", 2: "f16" if flat.dtype == np.float16 else "bf16"}[flat.itemsize]]
    found, wanted = output.astype(np.float64), flat.astype(np.float64)
    largest = np.abs(wanted[np.isfinite(wanted)]).max(initial=1e-30)
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * largest, err_msg=what)

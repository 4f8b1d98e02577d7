"""The peers: how each takes a workload, compiles it and is called."""

from __future__ import annotations

import importlib
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from .c_programs import FUNCTIONS, bind_c, compile_c
from .numpy_programs import PROGRAMS as NUMPY
from .rows import ROWS, Row
from .settings import BUILD
from .suite import Peer, Prepared, Suite


def _hloom(row: Row, threads: int) -> Prepared:
    import hloom

    hloom.set_threads(threads)
    inputs, weights = row.inputs(), row.weights()
    source, bind = hloom_source(row, inputs, weights)
    start = time.perf_counter()
    exe = hloom.compile(source, bind=bind, target="cpu")
    seconds = time.perf_counter() - start
    results = exe.flat(inputs)
    return Prepared(lambda: exe.flat(inputs), results, seconds)


def hloom_source(row: Row, inputs: Sequence[np.ndarray], weights: Sequence[np.ndarray]) -> tuple[Any, dict[int | str, Any]]:
    """What hloom compiles of the row, and what it binds. All that it will import is then imported."""
    from hloom.dialects.context import make_context
    from hloom.passes.registry import all_passes

    make_context()
    all_passes()
    if not row.torch_source:
        return str(program_path(row)), {len(inputs) + index: weight for index, weight in enumerate(weights)}
    import torch

    from .torch_programs import PROGRAMS

    importlib.import_module("hloom.compiler.frontends.torch")
    module = PROGRAMS[row.program](to_torch(weights), lambda module: module)
    return torch.export.export(module, tuple(to_torch(inputs))), {}


def program_path(row: Row) -> Any:
    """The StableHLO that JAX exported of the row (export.py)."""
    return BUILD / "programs" / f"{row.name}.mlir"


def _jax(row: Row, threads: int, closed: bool = False) -> Prepared:
    import jax

    programs = importlib.import_module("benchmarks.jax_programs")
    function = getattr(programs, row.program)
    inputs = [jax.device_put(array) for array in row.inputs()]
    weights = [jax.device_put(array) for array in row.weights()]
    arguments = inputs if closed else inputs + weights
    start = time.perf_counter()
    jitted = jax.jit(lambda *given: function(*given, *weights)) if closed else jax.jit(function)
    compiled = jitted.lower(*arguments).compile()
    seconds = time.perf_counter() - start
    results = jax.tree_util.tree_leaves(compiled(*arguments))
    return Prepared(lambda: jax.block_until_ready(compiled(*arguments)), [np.asarray(result) for result in results], seconds)


def _torch(row: Row, threads: int, compiled: bool = False) -> Prepared:
    import torch

    from .torch_programs import PROGRAMS

    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    inputs = to_torch(row.inputs())
    function = PROGRAMS[row.program](to_torch(row.weights()), torch.compile if compiled else lambda module: module)
    start = time.perf_counter()
    results = function(*inputs)
    seconds = time.perf_counter() - start if compiled else 0.0
    results = [results] if isinstance(results, torch.Tensor) else list(results)
    return Prepared(lambda: function(*inputs), [(result if result.is_complex() else result.float()).numpy() for result in results], seconds)


def to_torch(arrays: Sequence[np.ndarray]) -> list[Any]:
    import torch

    # NumPy cannot hand bf16 over: its bits can be, and torch has no unsigned 32-bit arithmetic but takes the bits.
    return [
        torch.from_numpy(array.view(np.int16)).view(torch.bfloat16) if array.dtype.name == "bfloat16" else torch.from_numpy(array)
        for array in arrays
    ]


def _c(row: Row, threads: int) -> Prepared:
    start = time.perf_counter()
    library = compile_c(row.program, BUILD)
    seconds = time.perf_counter() - start
    inputs = row.inputs()
    call, outputs = bind_c(library, row.program, inputs)
    call()
    return Prepared(lambda: (call(), inputs), outputs, seconds)  # the call holds addresses only: this keeps the arrays


def _numpy(row: Row, threads: int) -> Prepared:
    function, inputs = NUMPY[row.program], row.inputs()
    results = function(*inputs)
    return Prepared(lambda: function(*inputs), [results], 0.0)


def _weights_fit(row: Row) -> bool:
    """Not SimpleModel: its 340 MB of weights as constants of the program take XLA minutes."""
    return row.weights is not list and row.program != "simplemodel"


def _same_numbers(row: Row) -> bool:
    """torch has a generator of its own."""
    return row.program != "cartpole_rng"


def _torch_compile(row: Row, threads: int) -> Prepared:
    return _torch(row, threads, compiled=True)


def _jax_closed(row: Row, threads: int) -> Prepared:
    return _jax(row, threads, closed=True)


PEERS = {
    peer.name: peer
    for peer in [
        Peer("hloom", "hloom", ("hloom.compiler.compile", "hloom.compiler.codegen"), _hloom),
        Peer("torch", "torch eager", ("torch",), _torch, compares=_same_numbers),
        Peer("compile", "torch.compile", ("torch", "torch._inductor.compile_fx"), _torch_compile, compares=_same_numbers),
        Peer("jax", "JAX", ("jax", "jax.numpy"), _jax),
        Peer("jax_closed", "JAX, weights constant", ("jax", "jax.numpy"), _jax_closed, _weights_fit),
        Peer("numpy", "NumPy", (), _numpy, lambda row: row.program in NUMPY),
        Peer("c", "C", (), _c, lambda row: row.program in FUNCTIONS),
    ]
}
SUITES = {"workloads": Suite("workloads", ROWS, PEERS, reference="jax")}

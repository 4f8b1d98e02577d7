"""The peers on a GPU: each makes copies of a workload, ready to be timed (timing.py says why copies).

f32 stays f32 for all: tf32 is off in torch and JAX. All are given the same arrays and must give the results that were prepared.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..peers import to_torch
from ..rows import ROWS as OF_F32
from ..rows import Row
from . import alone
from .cases import Case, Index, drawn
from .check import load_case
from .cuda_programs import FUNCTIONS, STEPS, bind_cuda, on_current_stream
from .timing import Launch, Times, call_times, device_facts, device_times, has_torch

_WARM_UPS = 3


@dataclass
class Ready:
    """Copies of a workload. `device` and `call` measure, for about so many seconds, the time on the GPU and that of calls."""

    results: list[np.ndarray]
    device: Callable[[float], Times]
    call: Callable[[float], Times]
    kept: Any = None
    """What the launches work on, where they do not hold it themselves."""


@dataclass(frozen=True)
class Peer:
    name: str
    title: str
    prepare: Callable[[Row, int, Path], Ready]
    takes: Callable[[Row], bool] = lambda row: not row.policy
    modules: tuple[str, ...] = ()
    processes: int = 1
    """That make workloads ready at once: compiling takes some a long time."""


def _hloom(row: Row, copies: int, folder: Path) -> Ready:
    return hloom_ready(Index.read(folder).case(row.name), copies, folder)


def hloom_ready(case: Case, copies: int, folder: Path) -> Ready:
    """Each copy an executable of its own, for weights are bound; a call is one graph launch, on torch's stream where there is torch."""
    if not has_torch():
        first, launches = alone.copies_ready(case, copies, folder)
        return Ready(first, partial(alone.device_times, launches), partial(alone.times_of_calls, launches))
    launches, first = [], []
    for _ in range(copies):
        exe, inputs = load_case(case, folder)
        given = _on_gpu(inputs)
        outputs = _on_gpu([np.empty(spec.shape, spec.numpy_dtype) for spec in exe.signature.outputs])
        launches.append(partial(exe.flat, given, outputs))
        launches[-1]()
        first = first or _to_numpy(outputs)
    return _on_torch_stream(first, launches, launches)


def _torch(compiles: bool, row: Row, copies: int, folder: Path) -> Ready:
    """Compiled once, or eager; the calls of each copy, with parameters of its own, are captured in a CUDA graph."""
    import torch

    from ..torch_programs import PROGRAMS

    set_up_torch()
    torch.set_default_device("cuda")
    torch.set_grad_enabled(False)
    inputs, weights = drawn(row)
    function = PROGRAMS[row.program](_on_gpu(weights), torch.compile if compiles else lambda function: function)
    parameters = list(function.parameters()) if isinstance(function, torch.nn.Module) else []
    calls: list[Launch] = []
    replays: list[Launch] = []
    kept: list[Any] = []
    for _ in range(copies):
        given = _on_gpu(inputs)
        for parameter in parameters:
            kept.append(parameter.data)
            parameter.data = parameter.data.clone()
        calls.append(partial(function, *given))
        replays.append(captured(calls[-1], kept))
    return _on_torch_stream(_to_numpy(_listed(calls[0]())), replays, calls, kept)


def set_up_torch() -> None:
    """No tf32, and shapes of one workload do not make those of another dynamic."""
    import torch
    import torch._dynamo.config as dynamo

    dynamo.automatic_dynamic_shapes, dynamo.recompile_limit = False, 1000
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False


def _cuda(row: Row, copies: int, folder: Path) -> Ready:
    """The hand-written kernels, a launch captured in a CUDA graph."""
    import torch

    architecture = device_facts()["architecture"]
    calls: list[Launch] = []
    replays: list[Launch] = []
    kept: list[Any] = []
    first: list[Any] = []
    inputs = drawn(row)[0]
    for _ in range(copies):
        given = _on_gpu(inputs)
        if row.program.startswith("cartpole"):
            outputs = [torch.empty_like(given[0]), torch.empty(inputs[0].shape[1], device="cuda")]
            sizes = (STEPS, inputs[0].shape[1])
        else:
            outputs, sizes = [torch.empty_like(given[0])], inputs[0].shape
        kept += [given, outputs]
        addresses = [array.data_ptr() for array in (*given, *outputs)]
        calls.append(partial(on_current_stream, bind_cuda(row.program, architecture, addresses, sizes)))
        replays.append(captured(calls[-1], kept))
        first = first or outputs
    calls[0]()
    return _on_torch_stream(_to_numpy(first), replays, calls, kept)


def _jax(row: Row, copies: int, folder: Path) -> Ready:
    """XLA's streams take no events of ours: the time on the device is that of one program of all copies, called without waiting, by the
    host's clock, over their number."""
    import jax
    from jax import lax

    jax.config.update("jax_default_matmul_precision", "highest")
    function = getattr(importlib.import_module("benchmarks.jax_programs"), row.program)
    inputs, weights = drawn(row)
    sets = [[jax.device_put(array) for array in (*inputs, *weights)] for _ in range(copies)]

    def one_after_the_other(sets: Any) -> Any:
        results: list[Any] = []
        for arguments in sets:
            if results:
                arguments, results[-1] = lax.optimization_barrier((arguments, results[-1]))
            results.append(function(*arguments))
        return results

    together, single = jax.jit(one_after_the_other), jax.jit(function)
    first = [np.asarray(result) for result in jax.tree_util.tree_leaves(single(*sets[0]))]
    last: list[Any] = [None]

    def call(jitted: Any, *arguments: Any) -> None:
        last[0] = jitted(*arguments)

    def device(seconds: float) -> Times:
        times = call_times([lambda: call(together, sets)], lambda: jax.block_until_ready(last[0]), seconds)
        return Times(times.median / copies, times.least / copies, times.samples)

    calls: list[Launch] = [partial(call, single, *arguments) for arguments in sets]
    return Ready(first, device, lambda seconds: call_times(calls, lambda: jax.block_until_ready(last[0]), seconds))


def _on_torch_stream(results: list[np.ndarray], replays: list[Launch], calls: list[Launch], kept: Any = None) -> Ready:
    import torch

    return Ready(
        results,
        lambda seconds: device_times(replays, seconds),
        lambda seconds: call_times(calls, torch.cuda.synchronize, seconds),
        kept,
    )


def captured(call: Launch, kept: list[Any] | None = None) -> Launch:
    """A replay of what the call enqueues. What it works on stays in `kept`, where it gives something."""
    import torch

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(_WARM_UPS):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = call()
    if kept is not None:
        kept += [graph, results]
    return graph.replay


def _on_gpu(arrays: Any) -> list[Any]:
    return [tensor.cuda() for tensor in to_torch(arrays)]


def _listed(results: Any) -> list[Any]:
    return list(results) if isinstance(results, (tuple, list)) else [results]


def _to_numpy(tensors: Any) -> list[np.ndarray]:
    return [(tensor.float() if tensor.is_floating_point() else tensor).cpu().numpy() for tensor in tensors]


PEERS = {
    peer.name: peer
    for peer in [
        Peer("hloom", "hloom", _hloom, lambda row: True),
        Peer("cuda", "CUDA", _cuda, lambda row: row.program in FUNCTIONS and row.name in OF_F32),
        Peer("jax", "JAX", _jax, modules=("jax",), processes=2),
        Peer("compile", "torch.compile", partial(_torch, True), processes=5),
        Peer("eager", "torch, eager", partial(_torch, False), lambda row: not row.policy and not row.program.startswith("cartpole")),
    ]
}

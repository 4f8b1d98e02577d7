"""The peers of torch modules: how each takes one, compiles it and is called."""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from ..suite import Peer, Prepared
from ..worker import sample
from .limits import limits
from .table import Input, Layer

_TRIAL_SECONDS = 0.05
"""For the choice of a memory format."""


def _hloom(row: Layer, threads: int) -> Prepared:
    """In the better of both memory formats."""
    import hloom

    hloom.set_threads(threads)
    return _better({name: _compiled_by_hloom(module, inputs) for name, (module, inputs) in _formats(row).items()})


def _compiled_by_hloom(module: Any, inputs: tuple[Any, ...]) -> Prepared:
    import hloom

    start = time.perf_counter()
    exe = hloom.compile(module, *inputs)
    seconds = time.perf_counter() - start
    arrays = [_array(tensor) for tensor in inputs]
    results = exe.flat(arrays)
    front = seconds - sum(spent for _, spent in exe.report.data["timing"])
    return Prepared(lambda: exe.flat(arrays), [np.asarray(result) for result in results], seconds, note=f"{front:.2f} to StableHLO")


def _formats(row: Layer) -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """The module and its inputs in each memory format that there is for them."""
    import torch

    from .modules import make, tensors

    inputs = tensors(row)
    found = {"contiguous": (make(row), inputs)}
    for rank, memory in ((4, torch.channels_last), (5, torch.channels_last_3d)):
        if any(tensor.dim() == rank for tensor in inputs):
            last = tuple(tensor.contiguous(memory_format=memory) if tensor.dim() == rank else tensor for tensor in inputs)
            found["channels last"] = (make(row).to(memory_format=memory), last)
    return found


def _better(ways: dict[str, Prepared]) -> Prepared:
    """The fastest in a short trial; the note tells which."""
    if len(ways) == 1:
        return next(iter(ways.values()))
    for way in ways.values():
        way.call()  # the first takes longer
    times = {name: statistics.median(sample(way.call, _TRIAL_SECONDS)[1]) for name, way in ways.items()}
    best = min(times, key=times.__getitem__)
    return replace(ways[best], note="; ".join(filter(None, (ways[best].note, best))))


def _array(tensor: Any) -> np.ndarray:
    """What shares a tensor's memory; NumPy has bf16 by ml_dtypes."""
    import torch

    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def _numpy(result: Any) -> np.ndarray:
    """For comparison."""
    return (result.float() if result.is_floating_point() else result).numpy()


def _eager(row: Layer, threads: int) -> Prepared:
    """In the better of both memory formats."""
    import torch

    from .modules import leaves

    torch.set_num_threads(threads)
    formats = _formats(row)
    module, inputs = formats["contiguous"]
    results = [_numpy(leaf) for leaf in leaves(module(*inputs))]
    return _better({name: Prepared(partial(module, *inputs), results, 0.0) for name, (module, inputs) in formats.items()})


def _compile(row: Layer, threads: int) -> Prepared:
    """Weights are constants, as they are for hloom and OpenVINO."""
    import torch

    torch._inductor.config.freezing = True
    return _by_dynamo(row, threads)


def _by_dynamo(row: Layer, threads: int, backend: str = "inductor") -> Prepared:
    import torch

    import hloom

    from .modules import leaves, make, tensors

    torch.set_num_threads(threads)
    hloom.set_threads(threads)
    module, inputs = make(row), tensors(row)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        start = time.perf_counter()
        compiled = torch.compile(module, backend=backend, dynamic=False)
        results = compiled(*inputs)
        seconds = time.perf_counter() - start
    left = [str(each.message).split(". The first")[0] for each in told if "hloom leaves" in str(each.message)]
    return Prepared(lambda: compiled(*inputs), [_numpy(leaf) for leaf in leaves(results)], seconds, note="; ".join(left))


def _backend(row: Layer, threads: int) -> Prepared:
    return _by_dynamo(row, threads, "hloom")


def _openvino(row: Layer, threads: int) -> Prepared:
    """Of a row in bf16 the module and its inputs are f32, and OpenVINO is asked to compute in bf16."""
    import openvino
    import torch

    from .modules import make, tensors

    single = row.of_type("f32")
    module, inputs = make(single), tensors(single)
    start = time.perf_counter()
    try:
        model = openvino.convert_model(module, example_input=inputs, input=[list(tensor.shape) for tensor in inputs])
    except Exception:  # of what it does not know by name, it may know what torch makes of it
        exported = torch.export.export(module, inputs).run_decompositions()
        model = openvino.convert_model(exported)
    settings = {
        "INFERENCE_PRECISION_HINT": row.dtype,
        "INFERENCE_NUM_THREADS": threads,
        "NUM_STREAMS": 1,
        "PERFORMANCE_HINT": "LATENCY",
    }
    request = openvino.Core().compile_model(model, "CPU", settings).create_infer_request()
    seconds = time.perf_counter() - start
    arrays = [tensor.numpy() for tensor in inputs]
    for index, array in enumerate(arrays):
        request.set_input_tensor(index, openvino.Tensor(array, shared_memory=True))
    request.infer()
    results = [np.array(request.get_output_tensor(index).data) for index in range(len(model.outputs))]
    return Prepared(lambda: (request.infer(), arrays), results, seconds)


def _jax(row: Layer, threads: int) -> Prepared:
    """With weights as arguments: as constants of the program large ones take XLA minutes."""
    import jax

    from .jax_modules import jax_function
    from .modules import make, tensors

    module = make(row)
    function = jax_function(row, module)
    if function is None:
        raise NotImplementedError("no such function in JAX here")
    inputs = [jax.device_put(_numpy(tensor)) for tensor in tensors(row)]
    parameters = {name: jax.device_put(each.numpy()) for name, each in [*module.named_parameters(), *module.named_buffers()]}
    start = time.perf_counter()
    compiled = jax.jit(function).lower(parameters, *inputs).compile()
    seconds = time.perf_counter() - start
    results = jax.tree_util.tree_leaves(compiled(parameters, *inputs))
    return Prepared(lambda: jax.block_until_ready(compiled(parameters, *inputs)), [np.asarray(result) for result in results], seconds)


def _onnx(row: Layer, threads: int) -> Prepared:
    import io

    import onnxruntime
    import torch

    from .modules import make, tensors

    module, inputs = make(row), tensors(row)
    start = time.perf_counter()
    program = io.BytesIO()
    torch.onnx.export(module, inputs, program, dynamo=True, external_data=False, verbose=False)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(program.getvalue(), options, providers=["CPUExecutionProvider"])
    seconds = time.perf_counter() - start
    given = {each.name: tensor.numpy() for each, tensor in zip(session.get_inputs(), inputs)}
    return Prepared(lambda: session.run(None, given), session.run(None, given), seconds)


def _warm(peer: Callable[[Layer, int], Prepared]) -> Callable[[], object]:
    """What a compiler imports and finds out at the first program of a process, it has then done for every row's."""
    return lambda: peer(Layer("", "", "ReLU()", (Input((1,), "f32"),)), 1)


def _has_no_bf16(row: Layer) -> bool:
    """NumPy, by which these are fed, has none."""
    return row.dtype != "bf16" and all(each.dtype != "bf16" for each in row.inputs)


def _is_for_openvino(row: Layer) -> bool:
    return row.dtype == "bf16" or _has_no_bf16(row)


_INDUCTOR = ("torch", "torch.export", "torch._inductor.compile_fx", "torch._inductor.freezing", "torch._dynamo")
_MODULES = ("torch", "benchmarks.layers.modules")
_HLOOM = ("hloom.compiler.compile", "hloom.compiler.codegen", "hloom.compiler.frontends.torch", "torch.export")
_JAX = (*_MODULES, "jax", "jax.numpy", "jax.nn", "jax.image", "benchmarks.layers.jax_modules")

PEERS = {
    peer.name: peer
    for peer in [
        Peer("hloom", "hloom", (*_MODULES, *_HLOOM), _hloom, warm=_warm(_hloom)),
        Peer("eager", "torch eager", _MODULES, _eager),
        Peer("compile", "torch.compile", (*_MODULES, *_INDUCTOR), _compile, warm=_warm(_compile)),
        Peer("openvino", "OpenVINO", (*_MODULES, "openvino"), _openvino, takes=_is_for_openvino),
        Peer("jax", "JAX", _JAX, _jax, takes=_has_no_bf16),
        Peer("onnx", "onnxruntime", (*_MODULES, "onnxruntime", "onnxscript"), _onnx, takes=_has_no_bf16),
        *limits("benchmarks.layers.modules"),
    ]
}

DYNAMO_PEERS = {
    **PEERS,
    "hloom": Peer("hloom", "hloom", (*_MODULES, *_HLOOM, "hloom.compiler.dynamo.backend"), _backend, warm=_warm(_backend)),
    "compile": Peer("compile", "torch.compile", (*_MODULES, *_INDUCTOR), _by_dynamo, warm=_warm(_by_dynamo)),
}
"""hloom as torch.compile's backend, and inductor as torch.compile has it by default."""

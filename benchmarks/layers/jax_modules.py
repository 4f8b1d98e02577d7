"""torch modules as JAX functions of (parameters, inputs), by their class."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from torch import nn

from .table import Layer

Function = Callable[..., Any]
"""Of the inputs."""


def _tuple(value: Any, rank: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, tuple) else (value,) * rank


def _layout(rank: int) -> tuple[str, str, str]:
    letters = "DHW"[-rank:]
    return f"NC{letters}", f"OI{letters}", f"NC{letters}"


def _convolution(module: Any, parameters: Any, x: Any) -> Any:
    rank = x.ndim - 2
    y = lax.conv_general_dilated(
        x,
        parameters["weight"],
        module.stride,
        [(pad, pad) for pad in module.padding],
        rhs_dilation=module.dilation,
        dimension_numbers=_layout(rank),
        feature_group_count=module.groups,
    )
    return _shifted(y, parameters)


def _transposed(module: Any, parameters: Any, x: Any) -> Any:
    """Without groups: a convolution of the dilated input by the reversed kernel."""
    rank = x.ndim - 2
    weight = jnp.flip(parameters["weight"].swapaxes(0, 1), range(2, rank + 2))
    sizes = zip(module.kernel_size, module.padding, module.output_padding)
    padding = [(size - 1 - pad, size - 1 - pad + more) for size, pad, more in sizes]
    y = lax.conv_general_dilated(x, weight, (1,) * rank, padding, lhs_dilation=module.stride, dimension_numbers=_layout(rank))
    return _shifted(y, parameters)


def _shifted(y: Any, parameters: Any) -> Any:
    return y + parameters["bias"].reshape(-1, *(1,) * (y.ndim - 2)) if "bias" in parameters else y


def _windows(module: Any, x: Any, start: Any, combine: Any) -> Any:
    rank = x.ndim - 2
    size, stride, pad = (_tuple(each, rank) for each in (module.kernel_size, module.stride, module.padding))
    padding = [(0, 0), (0, 0), *[(each, each) for each in pad]]
    return lax.reduce_window(x, start, combine, (1, 1, *size), (1, 1, *stride), padding)


def _max_pool(module: Any, parameters: Any, x: Any) -> Any:
    return _windows(module, x, -jnp.inf, lax.max)


def _mean_pool(module: Any, parameters: Any, x: Any) -> Any:
    size = 1
    for each in _tuple(module.kernel_size, x.ndim - 2):
        size *= each
    return _windows(module, x, 0.0, lax.add) / size


def _linear(module: Any, parameters: Any, x: Any) -> Any:
    y = jnp.einsum("...i,oi->...o", x, parameters["weight"])
    return y + parameters["bias"] if "bias" in parameters else y


def _layer_norm(module: Any, parameters: Any, x: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    y = centred * lax.rsqrt((centred * centred).mean(-1, keepdims=True) + module.eps)
    return y * parameters["weight"] + parameters["bias"]


def _rms_norm(module: Any, parameters: Any, x: Any) -> Any:
    eps = module.eps or float(jnp.finfo(x.dtype).eps)
    return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + eps) * parameters["weight"]


def _group_norm(module: Any, parameters: Any, x: Any) -> Any:
    grouped = x.reshape(x.shape[0], module.num_groups, -1)
    centred = grouped - grouped.mean(-1, keepdims=True)
    y = (centred * lax.rsqrt((centred * centred).mean(-1, keepdims=True) + module.eps)).reshape(x.shape)
    shape = (-1, *(1,) * (x.ndim - 2))
    return y * parameters["weight"].reshape(shape) + parameters["bias"].reshape(shape)


def _embedding(module: Any, parameters: Any, x: Any) -> Any:
    return parameters["weight"][x]


def _elementwise(function: Function) -> Function:
    return lambda module, parameters, x: function(x)


MODULES: dict[str, Function] = {
    **dict.fromkeys(("Conv1d", "Conv2d", "Conv3d"), _convolution),
    **dict.fromkeys(("ConvTranspose1d", "ConvTranspose2d"), _transposed),
    **dict.fromkeys(("MaxPool1d", "MaxPool2d", "MaxPool3d"), _max_pool),
    **dict.fromkeys(("AvgPool1d",), _mean_pool),
    **{"Linear": _linear, "LayerNorm": _layer_norm, "RMSNorm": _rms_norm, "GroupNorm": _group_norm, "Embedding": _embedding},
    **{"ReLU": _elementwise(jax.nn.relu), "SiLU": _elementwise(jax.nn.silu), "Mish": _elementwise(jax.nn.mish)},
    **{"ELU": _elementwise(jax.nn.elu), "SELU": _elementwise(jax.nn.selu), "Softplus": _elementwise(jax.nn.softplus)},
    **{"Sigmoid": _elementwise(jax.nn.sigmoid), "Tanh": _elementwise(jnp.tanh), "Hardswish": _elementwise(jax.nn.hard_swish)},
}


def jax_function(row: Layer, module: nn.Module) -> Function | None:
    """Of (parameters, inputs…), or None where JAX has no such function here."""
    if row.jax:
        function = eval(f"lambda {', '.join('xyz'[: len(row.inputs)])}: {row.jax}", {"jax": jax, "jnp": jnp, "lax": lax})
        return lambda parameters, *inputs: function(*inputs)
    function = MODULES.get(type(module).__name__)
    unusual = getattr(module, "ceil_mode", False) or getattr(module, "return_indices", False)
    return partial(function, module) if function and not unusual else None

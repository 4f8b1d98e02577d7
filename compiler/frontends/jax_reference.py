"""What jax.jit computes, for `verify=True`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from hloom.runtime.comparison import random_array
from hloom.runtime.dtypes import dtype_name
from hloom.runtime.signature import TensorSpec

from ..reference import Reference


def jax_reference(source: Any, examples: Sequence[Any], given: Mapping[str, Any]) -> Reference:
    """jax.jit on the example inputs, on the CPU; on random ones where only shapes and types are known."""
    if isinstance(source, jax.export.Exported):
        args, keywords = jax.tree_util.tree_unflatten(source.in_tree, source.in_avals)
        function = source.call
    else:
        args, keywords = tuple(examples), dict(given)
        function = source
    leaves, structure = jax.tree_util.tree_flatten((args, keywords))
    rng = np.random.default_rng(0)
    jitted = jax.jit(function)

    def run(inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        with jax.default_device(jax.local_devices(backend="cpu")[0]):
            args, keywords = jax.tree_util.tree_unflatten(structure, inputs)
            return [np.asarray(leaf) for leaf in jax.tree_util.tree_leaves(jitted(*args, **keywords))]

    return Reference("jax.jit", [_array(leaf, rng) for leaf in leaves], run)


def _array(leaf: Any, rng: np.random.Generator) -> np.ndarray:
    aval = jax.api_util.shaped_abstractify(leaf)
    if isinstance(leaf, (jax.ShapeDtypeStruct, jax.core.ShapedArray)):
        return random_array(TensorSpec("", dtype_name(aval.dtype), tuple(aval.shape)), rng)
    return np.asarray(leaf, aval.dtype)

"""A row's flax model with its loss and optimizer, one function of what a step changes: what jax.jit and hloom.jit compile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from ..layers.table import Layer
from .flax_models import MODELS
from .gradients import STEPS, errors

_OPTIMIZER = optax.sgd(1e-3, momentum=0.9)


class Training:
    """A call is a step: loss, gradients, the optimizer's update."""

    def __init__(self, row: Layer, jit: Callable[[Any], Any], dtype: str = "float32"):
        self.model = eval(row.module, MODELS)
        inputs = [jnp.asarray(array) for array in row.arrays()]
        variables = dict(self.model.init(jax.random.key(0), *inputs))
        self.inputs, variables = _of_type(dtype, (inputs, variables))
        parameters = variables.pop("params")
        self.state = parameters, variables, _OPTIMIZER.init(parameters)
        scores, _ = jax.eval_shape(self._scores, parameters, variables, *self.inputs)
        self.wanted = jnp.asarray(np.random.default_rng(0).integers(0, scores.shape[-1], scores.shape[:-1]))
        self.step = jit(self._step)

    def _scores(self, parameters: Any, statistics: Any, *inputs: jax.Array) -> tuple[jax.Array, Any]:
        return self.model.apply({"params": parameters, **statistics}, *inputs, mutable=list(statistics))

    def _loss(self, parameters: Any, statistics: Any, wanted: jax.Array, *inputs: jax.Array) -> tuple[jax.Array, Any]:
        scores, statistics = self._scores(parameters, statistics, *inputs)
        return optax.softmax_cross_entropy_with_integer_labels(scores, wanted).mean(), statistics

    def _step(self, state: Any, wanted: jax.Array, *inputs: jax.Array) -> tuple[Any, Any]:
        parameters, statistics, moments = state
        gradients, statistics = jax.grad(self._loss, has_aux=True)(parameters, statistics, wanted, *inputs)
        updates, moments = _OPTIMIZER.update(gradients, moments, parameters)
        return (optax.apply_updates(parameters, updates), statistics, moments), gradients

    def __call__(self) -> None:
        self.state, _ = jax.block_until_ready(self.step(self.state, self.wanted, *self.inputs))

    def gradients(self) -> list[np.ndarray]:
        """Of all parameters."""
        return [np.asarray(each) for each in jax.tree.leaves(self.step(self.state, self.wanted, *self.inputs)[1])]


def gradient_errors(row: Layer, step: Training, tries: int) -> list[np.ndarray]:
    """How far the gradients of some steps are from XLA's in f64 at the same parameters: of each step, and again of `tries` whose inputs
    are a rounding apart."""
    with jax.enable_x64(True):
        exact = Training(row, jax.jit, "float64")
    inputs, found, wanted = step.inputs, [], []
    for _ in range(STEPS):
        with jax.enable_x64(True):
            exact.state = _of_type("float64", step.state)
            expected = exact.gradients()
        for number in range(tries + 1):
            step.inputs = [_moved(each, number) for each in inputs] if number else inputs
            found.append(step.gradients())
            wanted.append(expected)
        step.inputs = inputs
        step()
    return errors(found, wanted)


def _moved(array: jax.Array, seed: int) -> jax.Array:
    """Floats to one of their neighbours each."""
    if not jnp.issubdtype(array.dtype, jnp.floating):
        return array
    return jnp.nextafter(array, jax.random.normal(jax.random.key(seed), array.shape) * jnp.inf)


def _of_type(dtype: str, tree: Any) -> Any:
    return jax.tree.map(lambda each: each.astype(dtype) if jnp.issubdtype(each.dtype, jnp.floating) else each, tree)

"""A training loop of JAX's and optax's whose step hloom compiles: hloom.jit for jax.jit. Its losses beside those of jax.jit."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax

import hloom

OPTIMIZER = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(2e-2))


def initial() -> dict[str, Any]:
    first, second = jax.random.split(jax.random.key(0))
    return {
        "hidden": {"w": jax.random.normal(first, (2, 64)), "b": jnp.zeros(64)},
        "out": {"w": 0.1 * jax.random.normal(second, (64, 2)), "b": jnp.zeros(2)},
    }


def loss(parameters: dict[str, Any], points: jax.Array, labels: jax.Array) -> jax.Array:
    hidden = jnp.tanh(points @ parameters["hidden"]["w"] + parameters["hidden"]["b"])
    logits = hidden @ parameters["out"]["w"] + parameters["out"]["b"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def step(parameters: dict[str, Any], state: Any, key: jax.Array) -> tuple[dict[str, Any], Any, jax.Array]:
    """One step on points that are drawn in it: inside or outside of a ring."""
    points = jax.random.uniform(key, (256, 2), minval=-1.0, maxval=1.0)
    distance = jnp.linalg.norm(points, axis=1)
    labels = ((distance > 0.4) & (distance < 0.8)).astype(jnp.int32)
    value, gradients = jax.value_and_grad(loss)(parameters, points, labels)
    updates, state = OPTIMIZER.update(gradients, state, parameters)
    return optax.apply_updates(parameters, updates), state, value


def train(step: Callable[..., Any]) -> list[float]:
    parameters = initial()
    state, losses = OPTIMIZER.init(parameters), []
    for key in jax.random.split(jax.random.key(1), 200):
        parameters, state, value = step(parameters, state, key)
        losses.append(float(value))
    return losses


def main() -> None:
    losses, expected = train(hloom.jit(step)), train(jax.jit(step))
    assert abs(losses[-1] - expected[-1]) < 1e-3 and losses[-1] < 0.8 * losses[0]
    print(f"train_jax: from {losses[0]:.3f} to {losses[-1]:.3f} in {len(losses)} steps, as jax.jit's ({expected[-1]:.3f})")


if __name__ == "__main__":
    main()

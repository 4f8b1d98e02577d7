"""Steps of training: an MLP and a CNN under SGD with momentum, Adam and Lion with clipped gradients."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from . import Family, floats, integers

FAMILY = Family()


def cross_entropy(logits, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1))


def mlp(weights, x):
    for w, b in weights[:-1]:
        x = jax.nn.gelu(x @ w + b)
    return x @ weights[-1][0] + weights[-1][1]


def cnn(weights, x):
    kernel, bias, dense = weights
    x = lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    x = lax.reduce_window(jax.nn.relu(x + bias), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return x.reshape(x.shape[0], -1) @ dense


def clipped(gradients, most=1.0):
    norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(gradients)))
    return jax.tree.map(lambda g: g * jnp.minimum(1.0, most / (norm + 1e-6)), gradients)


def sgd(weights, gradients, velocity):
    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, gradients)
    return jax.tree.map(lambda w, v: w - 0.05 * v, weights, velocity), velocity


def adam(weights, gradients, moments):
    step, first, second = moments
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
    step = step + 1

    def moved(w, m, v):
        return w - 1e-2 * (m / (1 - 0.9**step)) / (jnp.sqrt(v / (1 - 0.999**step)) + 1e-8)

    return jax.tree.map(moved, weights, first, second), (step, first, second)


def lion(weights, gradients, momentum):
    gradients = clipped(gradients)
    new = jax.tree.map(lambda w, m, g: w - 1e-2 * (jnp.sign(0.9 * m + 0.1 * g) + 0.1 * w), weights, momentum, gradients)
    return new, jax.tree.map(lambda m, g: 0.99 * m + 0.01 * g, momentum, gradients)


def step(model, optimiser):
    def one(weights, state, x, labels):
        loss, gradients = jax.value_and_grad(lambda w: cross_entropy(model(w, x), labels))(weights)
        return loss, optimiser(weights, gradients, state)

    return one


def zeros(weights):
    return jax.tree.map(lambda w: 0 * w, weights)


MLP = [(floats(13, 17) / 4, floats(17)), (floats(17, 11) / 4, floats(11)), (floats(11, 5) / 4, floats(5))]
CNN = (floats(3, 3, 2, 7) / 4, floats(7), floats(3 * 3 * 7, 5) / 4)
for name, model, weights, x in (("mlp", mlp, MLP, floats(9, 13)), ("cnn", cnn, CNN, floats(3, 7, 7, 2))):
    labels = integers(5, x.shape[0])
    FAMILY.add(f"{name}_sgd", step(model, sgd), weights, zeros(weights), x, labels)
    FAMILY.add(f"{name}_adam", step(model, adam), weights, (0 * labels[0], zeros(weights), zeros(weights)), x, labels)
    FAMILY.add(f"{name}_lion", step(model, lion), weights, zeros(weights), x, labels)


def dropout(key, x):
    return jnp.where(jax.random.bernoulli(key, 0.7, x.shape), x / 0.7, 0)


FAMILY.add("dropout", dropout, jax.random.PRNGKey(3), floats(13, 17))

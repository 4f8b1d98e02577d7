"""Gradients of an embedding, a GRU, attention and a CTC loss; second derivatives; an ordinary differential equation."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental.ode import odeint

from . import Family, floats, integers

FAMILY = Family()
FAMILY.add("embedding", jax.grad(lambda table, i: jnp.sum(jnp.tanh(table[i]) ** 2)), floats(31, 7), integers(31, 23))


def gru(weights, x):
    w, u = weights

    def cell(h, x):
        z, r, n = jnp.split(x @ w, 3)
        uz, ur, un = jnp.split(h @ u, 3)
        z, r = jax.nn.sigmoid(z + uz), jax.nn.sigmoid(r + ur)
        h = z * h + (1 - z) * jnp.tanh(n + r * un)
        return h, h

    return lax.scan(cell, jnp.zeros(u.shape[0]), x)[1]


FAMILY.add("gru", jax.grad(lambda weights, x: jnp.sum(gru(weights, x) ** 2)), (floats(5, 21) / 2, floats(7, 21) / 2), floats(11, 5))


def attention(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
    scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


qkv = [floats(2, 9, 3, 5, seed=seed) for seed in range(3)]
FAMILY.add("attention", jax.grad(lambda q, k, v: jnp.sum(attention(q, k, v) ** 2), (0, 1, 2)), *qkv)


def ctc_loss(logits, labels):
    """Of one sequence; the blank is 0."""
    logp = jax.nn.log_softmax(logits)
    extended = jnp.zeros(2 * labels.shape[0] + 1, jnp.int32).at[1::2].set(labels)
    skips = jnp.concatenate([jnp.zeros(2, bool), (extended[2:] != extended[:-2]) & (extended[2:] != 0)])
    alpha = jnp.full(extended.shape, -1e30).at[:2].set(logp[0, extended[:2]])

    def step(alpha, row):
        by_one = jnp.concatenate([jnp.full(1, -1e30), alpha[:-1]])
        by_two = jnp.where(skips, jnp.concatenate([jnp.full(2, -1e30), alpha[:-2]]), -1e30)
        return jnp.logaddexp(jnp.logaddexp(alpha, by_one), by_two) + row[extended], None

    alpha = lax.scan(step, alpha, logp[1:])[0]
    return -jnp.logaddexp(alpha[-1], alpha[-2])


FAMILY.add("ctc_loss", jax.value_and_grad(ctc_loss), floats(13, 7), integers(7, 4, low=1))


def rosenbrock(x):
    return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


FAMILY.add("hessian", jax.hessian(rosenbrock), floats(5))
FAMILY.add("jacfwd", jax.jacfwd(lambda x: jnp.tanh(x @ x.T).sum(0)), floats(5, 3))
FAMILY.add("jacrev", jax.jacrev(lambda x: jnp.cumsum(jnp.sin(x))), floats(7))


def pendulum(state, t, length):
    return jnp.stack([state[1], -9.81 / length * jnp.sin(state[0]) - 0.1 * state[1]])


times = jnp.linspace(0.0, 1.0, 7)
FAMILY.add("odeint", lambda x, length: odeint(pendulum, x, times, length), floats(2), floats(1)[0] + 2, tolerance=1e-4)

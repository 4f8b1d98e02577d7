"""Solvers, and loops that are programs of their own."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import jax.scipy.optimize
import jax.scipy.sparse.linalg
import numpy as np
from jax import lax
from jax.experimental.ode import odeint

from .program import integers, normal, positive, table, uniform


def _rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def _newton(x):
    """Ten steps by gradient and Hessian, 256 starts at once."""

    def step(x):
        return x - jnp.linalg.solve(jax.hessian(_rosenbrock)(x) + 0.1 * jnp.eye(len(x)), jax.grad(_rosenbrock)(x))

    return jax.vmap(lambda x: lax.fori_loop(0, 10, lambda _, x: step(x), x))(x)


def _bisection(target):
    """The root of x³ + x = target, element by element."""

    def step(_, bounds):
        low, high = bounds
        middle = (low + high) / 2
        above = middle**3 + middle > target
        return jnp.where(above, low, middle), jnp.where(above, middle, high)

    return lax.fori_loop(0, 30, step, (jnp.full_like(target, -10.0), jnp.full_like(target, 10.0)))[0]


def _lorenz(state):
    x, y, z = state
    return jnp.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])


def _runge_kutta(states):
    def step(_, states):
        first = _lorenz(states)
        second = _lorenz(states + 0.005 * first)
        third = _lorenz(states + 0.005 * second)
        return states + 0.01 / 6 * (first + 2 * second + 2 * third + _lorenz(states + 0.01 * third))

    return lax.fori_loop(0, 100, step, states)


def _jacobi(field):
    """The heat in a plate whose rim is kept."""

    def step(_, x):
        inner = (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) / 4
        return x.at[1:-1, 1:-1].set(inner)

    return lax.fori_loop(0, 200, step, field)


def _sinkhorn(cost):
    """Transport between two sets of points."""
    kernel = jnp.exp(-cost / 0.1)

    def step(_, scales):
        rows = 1 / (kernel @ scales[1])
        return rows, 1 / (kernel.T @ rows)

    rows, columns = lax.fori_loop(0, 100, step, (jnp.ones(len(cost)), jnp.ones(len(cost))))
    return (rows[:, None] * kernel * columns * cost).sum()


def _logistic(x, y):
    """A fit by gradient descent."""

    def loss(w):
        return jnp.logaddexp(0, -y * (x @ w)).mean() + 1e-3 * (w @ w)

    return lax.fori_loop(0, 100, lambda _, w: w - jax.grad(loss)(w), jnp.zeros(x.shape[1]))


def _kalman(measured):
    """Place and speed from noisy places."""
    move, noise = jnp.array([[1, 0.1], [0, 1]]), 0.01 * jnp.eye(2)

    def step(carry, z):
        mean, spread = move @ carry[0], move @ carry[1] @ move.T + noise
        gain = spread[:, 0] / (spread[0, 0] + 0.5)
        mean = mean + gain * (z - mean[0])
        return (mean, spread - jnp.outer(gain, spread[0])), mean

    return lax.scan(step, (jnp.zeros(2), jnp.eye(2)), measured)[1]


def _mandelbrot(re, im):
    def step(state):
        count, a, b, number = state
        inside = a * a + b * b < 4
        a, b = jnp.where(inside, a * a - b * b + re, a), jnp.where(inside, 2 * a * b + im, b)
        return count + inside, a, b, number + 1

    return lax.while_loop(lambda s: s[3] < 50, step, (jnp.zeros(re.shape, jnp.int32), re, im, 0))[0]


def _collatz(x):
    """Steps to one, each number in a loop of its own."""

    def steps(n):
        def step(s):
            return jnp.where(s[0] % 2, 3 * s[0] + 1, s[0] // 2), s[1] + 1

        return lax.while_loop(lambda s: s[0] > 1, step, (n, 0))[1]

    return jax.vmap(steps)(x)


def _life(cells):
    def step(_, x):
        around = sum(jnp.roll(x, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b)
        return ((around == 3) | ((x == 1) & (around == 2))).astype(x.dtype)

    return lax.fori_loop(0, 50, step, cells)


def _bodies(place, speed):
    def step(_, state):
        place, speed = state
        apart = place[None] - place[:, None]
        pull = (apart / ((apart**2).sum(-1, keepdims=True) + 0.01) ** 1.5).sum(1) / len(place)
        speed = speed + 0.01 * pull
        return place + 0.01 * speed, speed

    return lax.fori_loop(0, 20, step, (place, speed))


def _viterbi(scores, moves):
    """The likeliest path of hidden states."""

    def forward(best, score):
        reached = best[:, None] + moves
        return reached.max(0) + score, reached.argmax(0)

    last, back = lax.scan(forward, scores[0], scores[1:])
    end = last.argmax()
    return lax.scan(lambda state, row: (row[state], row[state]), end, back, reverse=True)[1], last.max()


def _edits(a, b):
    """The distance of two texts, a row at a time."""

    def row(above, letter):
        def cell(left, given):
            over, corner, other = given
            found = jnp.minimum(jnp.minimum(over, left) + 1, corner + (other != letter))
            return found, found

        first = above[0] + 1
        return jnp.concatenate([first[None], lax.scan(cell, first, (above[1:], above[:-1], b))[1]]), None

    return lax.scan(row, jnp.arange(len(b) + 1), a)[0][-1]


def _plane(size):
    return np.broadcast_arrays(*np.meshgrid(np.linspace(-2, 0.6, size, dtype=np.float32), np.linspace(-1.2, 1.2, size, dtype=np.float32)))


PROGRAMS = [
    *table(
        "solvers",
        {
            "conjugate_gradients_512": lambda: (
                lambda a, b: jax.scipy.sparse.linalg.cg(a, b, maxiter=50, tol=0.0)[0],
                (positive(512), normal(512)),
            ),
            "gmres_128": lambda: (
                lambda a, b: jax.scipy.sparse.linalg.gmres(a, b, maxiter=2, restart=20)[0],
                (positive(128), normal(128)),
            ),
            "bfgs_16": lambda: (
                lambda x: jax.scipy.optimize.minimize(lambda v: ((v - 1) ** 2 * jnp.arange(1.0, 17)).sum(), x, method="BFGS").x,
                (normal(16),),
            ),
            "newton_256x4": lambda: (_newton, (1 + 0.05 * normal(256, 4),)),
            "bisection_65536": lambda: (_bisection, (normal(65536),)),
            "runge_kutta_lorenz_4096": lambda: (_runge_kutta, (5 + normal(3, 4096),)),
            "dormand_prince_pendulum": lambda: (
                lambda s: odeint(lambda s, t: jnp.stack([s[1], -jnp.sin(s[0]) - 0.1 * s[1]]), s, jnp.linspace(0, 5, 50), rtol=1e-5),
                (normal(2),),
            ),
            "jacobi_256": lambda: (_jacobi, (normal(256, 256),)),
            "sinkhorn_256": lambda: (_sinkhorn, (uniform(256, 256),)),
            "logistic_regression": lambda: (_logistic, (normal(1024, 32), (2 * integers(2, 1024) - 1).astype(np.float32))),
            "kalman_1000": lambda: (_kalman, (normal(1000),)),
        },
    ),
    *table(
        "loops",
        {
            "collatz_4096": lambda: (_collatz, (1 + integers(10_000, 4096),)),
            "game_of_life_256": lambda: (_life, (integers(2, 256, 256),)),
            "bodies_256": lambda: (_bodies, (normal(256, 3), 0.1 * normal(256, 3, seed=1))),
            "viterbi_256x32": lambda: (_viterbi, (normal(256, 32), normal(32, 32))),
            "edit_distance_128": lambda: (_edits, (integers(4, 128), integers(4, 128, seed=1))),
        },
    ),
    *table("loops", {"mandelbrot_256": lambda: (_mandelbrot, tuple(_plane(256)))}, chaotic=True),
]

"""What a tuning finds: programs of JAX before and after, on one thread of this machine (docs/tuning.md).

python -m benchmarks.tuning [SECONDS] [NAME …]
"""

from __future__ import annotations

import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import hloom


def _random(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, np.float32)


def layernorm(x: Any, g: Any) -> Any:
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * g


def softmax(x: Any) -> Any:
    return jax.nn.softmax(x, -1)


def cross_entropy(x: Any, y: Any) -> Any:
    return -(jax.nn.log_softmax(x, -1) * y).sum(-1).mean()


def mlp(x: Any, w1: Any, w2: Any) -> Any:
    return jax.nn.gelu(x @ w1) @ w2


def transposed(x: Any, y: Any) -> Any:
    return jnp.tanh(x.T + y)


def outer(x: Any, y: Any) -> Any:
    return (jnp.exp(x)[:, None] * jnp.exp(y)[None, :]).sum(1), jnp.exp(x)


def both_sums(x: Any) -> Any:
    e = jnp.exp(x)
    return e.sum(0), e.sum(1)


def pointwise(x: Any, w: Any) -> Any:
    return jax.nn.relu(lax.conv_general_dilated(x, w, (1, 1), "SAME"))


PROGRAMS: dict[str, tuple[Any, ...]] = {
    "layernorm": (layernorm, _random(1024, 1024), _random(1024)),
    "softmax": (softmax, _random(4096, 64)),
    "cross_entropy": (cross_entropy, _random(256, 1000), _random(256, 1000)),
    "mlp": (mlp, _random(64, 256), _random(256, 1024), _random(1024, 256)),
    "transposed": (transposed, _random(1024, 768), _random(768, 1024)),
    "outer": (outer, _random(1024), _random(2048)),
    "both_sums": (both_sums, _random(1024, 1024)),
    "pointwise": (pointwise, _random(1, 128, 28, 28), _random(128, 128, 1, 1)),
}


def main(arguments: list[str]) -> None:
    seconds = float(arguments[0]) if arguments else 60.0
    hloom.set_threads(1)
    for name in arguments[1:] or PROGRAMS:
        function, *inputs = PROGRAMS[name]
        policy = f"{name}.policy.toml"
        told = hloom.compile(function, *inputs, target="cpu", tune=seconds, policy=policy).report.data["tuning"]
        if "trials" not in told:
            print(f"{name}: {policy} was there, nothing is measured")
            continue
        kept = [trial for trial in told["trials"] if trial["kept"]]
        if not kept:
            print(f"{name}: none of {len(told['trials'])} is faster than what the prices chose")
            continue
        print(f"{name}: {told['before_s'] * 1e6:.0f} → {told['after_s'] * 1e6:.0f} µs, {len(kept)} of {len(told['trials'])} kept")
        for trial in kept:
            prices = f", priced {trial['priced_before_s'] * 1e6:.0f} and {trial['priced_after_s'] * 1e6:.0f}" * bool(
                trial["priced_before_s"]
            )
            print(f"    {trial['what']}: {trial['before_s'] * 1e6:.0f} → {trial['after_s'] * 1e6:.0f} µs{prices}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

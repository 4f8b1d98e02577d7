"""What the speed of hloom is held against: one table. A bar that is missed stands in bold in the report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """`most`: hloom's median over the peer's, at one thread."""

    row: str
    peer: str
    most: float

    def text(self, title: str) -> str:
        return f"≤ {self.most:g} × {title}"


BARS = (
    Bar("chain", "torch", 0.6),
    Bar("chain", "c", 0.8),
    Bar("softmax", "torch", 0.85),
    Bar("layernorm", "torch", 1.0),
    Bar("mlp", "torch", 1.0),
    Bar("mlp_bf16", "torch", 0.85),
    Bar("simplemodel", "torch", 1.05),
    Bar("simplemodel_f16", "torch", 0.75),
    Bar("encoder", "torch", 1.1),
    Bar("cartpole", "jax", 1 / 5),
    Bar("cartpole_split", "jax", 1 / 5),
    Bar("cartpole_rng", "jax", 1 / 3),
    Bar("sort", "jax", 1.0),
    Bar("sort", "numpy", 1.2),
    Bar("sort_rows", "jax", 1.0),
    Bar("sort_rows", "numpy", 1.2),
    Bar("sort_matrix", "jax", 1.0),
    Bar("sort_matrix", "numpy", 1.2),
    Bar("sort_ascending", "jax", 1.0),
    Bar("sort_ascending", "numpy", 1.2),
    Bar("sort_few", "jax", 1.0),
    Bar("sort_few", "numpy", 1.2),
    Bar("argsort", "jax", 1.0),
    Bar("argsort", "numpy", 1.2),
    Bar("top_k", "jax", 1.0),
    Bar("embedding_gradient", "jax", 1.0),
    Bar("fft", "numpy", 1.5),
    Bar("fft_odd", "numpy", 1.5),
    Bar("fft_prime", "numpy", 1.5),
    Bar("fft_long", "numpy", 1.5),
    Bar("rfft", "numpy", 1.5),
)

PER_ELEMENT = (("softmax_odd", "softmax", 1.5), ("layernorm_odd", "layernorm", 1.5))
"""(row, other row, most): hloom's time an element over that of the other row, one thread."""

FLOP_RATE = (("linear_odd", "linear", 0.8),)
"""(row, other row, least): hloom's GFLOP/s over those of the other row, one thread."""

TWO_THREADS = (("softmax", 1.6), ("layernorm", 1.6), ("mlp", 1.6))
"""(row, least): hloom's time at one thread over that at two."""

COMPILE_SECONDS = 2.0
"""Most for each workload."""

CHAIN_SECONDS = (10_000, 60.0)
"""(elementwise ops in a chain, most seconds to compile it)."""

ARENA_OVER_LIVE = 1.1
"""Most: a program's arena over its largest sum of live bytes."""

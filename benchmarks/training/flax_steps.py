"""Steps of flax models, by jax.jit or hloom.jit."""

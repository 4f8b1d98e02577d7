"""Training steps of public models beside eager and inductor, and of two of flax's beside jax.jit."""

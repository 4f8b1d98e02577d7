"""hloom.jit: hloom's programs inside JAX's."""

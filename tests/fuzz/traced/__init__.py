"""Random JAX programs: what `jit`, `grad`, `vmap` and loops of JAX make of a few steps, compared with XLA and the reference interpreter."""

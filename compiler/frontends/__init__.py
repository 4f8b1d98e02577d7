"""One file a kind of source; each is imported when a program of that kind comes, so that the tools need neither torch nor jax."""

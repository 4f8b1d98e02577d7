"""What the GPUs' kernel of windows takes (gpu/contraction/window.py), for the passes that prepare its convolutions."""

MOST_TAPS = 64
"""Taps of the innermost dimension, at most: the kernel unrolls them."""

"""What the GPUs' kernel of windows takes (gpu/contraction/window.py), for the passes that prepare its convolutions."""

MOST_TAPS = 64
"""Taps of the innermost dimension, at most: the kernel unrolls them."""
SHALLOW_TAPS = 32
"""Taps times channels of a window that all features see, at most: few enough to be multiplied without tensor cores."""
FEATURES, MOST_FEATURES = 8, 32
"""Features of such windows are a multiple of the first, a thread's access; beyond the second, tensor cores use often what they gather."""

"""What the CPU's kernel of lines computes (vector/nests/lines.py), for the passes that prepare its convolutions."""

FARTHEST = 2
"""Elements from one pixel of a line to the next, at most."""
MOST_TAPS = 64
"""Taps of the two innermost dimensions, at most: the kernel unrolls them."""
LEAST_ROWS = 16
"""Results for which each pixel is read, at least, where pixels are copied first."""
MOST_COPIES = 2
"""How often a pixel is copied, at most."""

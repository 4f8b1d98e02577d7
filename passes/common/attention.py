"""What the planner and the kernel of attention on GPUs agree on."""

ONLINE = "hloom.online"
"""Of a group of two contractions: its rows are reduced tile by tile, in one kernel."""
BLOCK_ROWS = 64
"""Rows of a block, and columns of a step."""
WIDEST = 128
"""The most elements that a row of either contraction's operands may have."""
FIRST_CAPABILITY = 80
"""Of the GPUs with cp.async and bf16."""
RECOMPUTED = "hloom.recomputed"
"""Of a group of contractions: those that sum over large matrices compute these themselves, tile by tile, in one kernel."""
BEGINS = "hloom.begins"
"""[rows, columns, begins] of such a group: a mask leaves out the columns before row + begins."""
PARTS = "hloom.parts"
"""Of such a group: how many numbers of bf16 stand for one of f32 that is multiplied by widened bf16."""
ALL_PARTS = 3
"""So many add up to all bits of it."""
PARTS_OF_HALVES = 2
"""So many, 2^-17 of it away, where all that is made of the products are halves (2^-9, 2^-12)."""

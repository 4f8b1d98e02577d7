"""Functions that make tensors from numbers; where they take none, an input gives them something to be added to."""

from __future__ import annotations

CASES: dict[str, tuple[str, ...]] = {
    "torch.zeros_like": ("(f(2, 3).mT)", "(i32(2, 0))", "(f(3), dtype=torch.int8)"),
    "torch.ones_like": ("(f(2, 3).mT)", "(b(2, 0))", "(f(3), dtype=torch.bfloat16)"),
    "torch.full_like": ("(f(2, 3).mT, 1.5)", "(i32(2, 0), 3)", "(f(3), 2, dtype=torch.int64)"),
    "torch.zeros": ("(2, 3)", "((0,), dtype=torch.int32)", "((), dtype=torch.bool)"),
    "torch.ones": ("(2, 3)", "((0,), dtype=torch.int32)", "((), dtype=torch.bfloat16)"),
    "torch.full": ("((2, 3), 1.5)", "((0,), 2)", "((), True)"),
    "torch.arange": ("(5)", "(9, 1, -2)", "(0.5, 3.1, 0.25)"),
    "torch.range": ("(1, 4)", "(0, 1, 0.25)", "(3, 1, -1)"),
    "torch.linspace": ("(0, 1, 5)", "(3, -2, 4, dtype=torch.float64)", "(1, 1, 1)"),
    "torch.logspace": ("(0, 1, 5)", "(3, -2, 4, base=2)", "(1, 1, 1)"),
    "torch.eye": ("(3)", "(3, 5, dtype=torch.int32)", "(0)"),
    "torch.scalar_tensor": ("(3.5)", "(2, dtype=torch.int32)", "(True, dtype=torch.bool)"),
    "torch.tensor": ("([1.5, 2.0])", "(3)", "([[True], [False]])"),
    "torch.tril_indices": ("(3, 4)", "(3, 4, 1)", "(2, 2, -3)"),
    "torch.triu_indices": ("(3, 4)", "(3, 4, 1)", "(2, 2, 3)"),
    "torch.bartlett_window": ("(5)", "(4, periodic=False)", "(1)"),
    "torch.blackman_window": ("(5)", "(4, periodic=False)", "(1)"),
    "torch.hamming_window": ("(5)", "(4, False, 0.6)", "(1)"),
    "torch.hann_window": ("(5)", "(4, periodic=False)", "(1)"),
    "torch.kaiser_window": ("(5)", "(4, False, 8.0)", "(1)"),
    "torch.vander": ("(f(4))", "(i32(3), 2)", "(f(3), increasing=True)"),
    "torch.as_tensor": ("(f(3))", "(i32(2, 3).mT, dtype=torch.float32)", "(f())"),
    "torch.asarray": ("(f(3))", "(i32(2, 3).mT, dtype=torch.float32)", "(f())"),
}

"""Checks of values while torch traces a program: what only raises is left out, as no tensor has values then.

Before, in a module's forward:
    if torch.any(variance < 0):
        raise ValueError("variance has negative entries")
    assert (weights > 0).all()
After:
    (nothing: the condition is taken for what raises nothing)

A compiled program raises nothing then, and computes what the code behind the check computes. So is what a transformer asks of its mask, to
know whether that is the causal one: the mask is read in any case. Declined, and refused by torch: conditions of code that computes, those
that are made of several by `and` or `or`, and code whose source cannot be read.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import linecache
import sys
from collections.abc import Iterator
from types import CodeType, FrameType

import torch
from torch._library import simple_registry
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.modules import transformer

_HINTS = {transformer._detect_is_causal_mask.__code__}
"""Functions that read values for a hint alone, which False withholds."""


@contextlib.contextmanager
def without_checks() -> Iterator[None]:
    """While torch exports: the truth of a tensor without values is, where only a check asks for it, what the check hopes for."""

    def truth(tensor: torch.Tensor) -> bool:
        hoped = _hoped(sys._getframe(1)) if isinstance(tensor, FakeTensor) else None
        return torch._C.TensorBase.__bool__(tensor) if hoped is None else hoped

    torch.Tensor.__bool__ = truth  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        del torch.Tensor.__bool__


_LINEAR_ALGEBRA = "aten::_linalg_check_errors"


@contextlib.contextmanager
def without_errors_of_linear_algebra() -> Iterator[None]:
    """While torch traces: it keeps what looks for singular matrices as an effect, which no decomposition replaces."""
    effect = getattr(simple_registry.singleton.find(_LINEAR_ALGEBRA), "effect", None)  # torch 2.9 has none yet
    before = effect and effect.effect
    if effect:
        effect.register(None)
    try:
        yield
    finally:
        if effect:
            effect.register(before)


def _hoped(frame: FrameType) -> bool | None:
    """None where more than a check depends on it."""
    return False if frame.f_code in _HINTS else _checks(frame.f_code).get(frame.f_lineno)


@functools.lru_cache(256)
def _checks(code: CodeType) -> dict[int, bool]:
    """By the line, what each condition of the code's file is where nothing is raised; of conditions that one line has, none."""
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    except SyntaxError:
        return {}
    found: dict[int, bool] = {}
    others: set[int] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.If | ast.Assert | ast.While | ast.IfExp | ast.BoolOp):
            continue
        test = node if isinstance(node, ast.BoolOp) else node.test
        lines = range(test.lineno, (test.end_lineno or test.lineno) + 1)
        raises = isinstance(node, ast.If) and all(isinstance(each, ast.Raise) for each in node.body)
        if others.intersection(lines) or found.keys() & set(lines) or not (raises or isinstance(node, ast.Assert)):
            others.update(lines)
        else:
            turned = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
            found.update(dict.fromkeys(lines, isinstance(node, ast.Assert) != turned))
    return {line: hoped for line, hoped in found.items() if line not in others}

"""Checks of values in a module's forward: left out where they only raise, refused where the program's course depends on them."""

from __future__ import annotations

import pytest
import torch

import hloom


def _raises(x):
    if (x < 0).any():
        raise ValueError("negative")
    return x * 2


def _raises_unless(x):
    if not (x > 0).all():
        raise ValueError("not positive")
    return x * 2


def _asserts(x):
    assert (x > 0).all(), "not positive"
    return x * 2


def _chooses(x):
    if (x < 0).any():
        x = x * 3
    return x * 2


def _raises_or_chooses(x):
    if (x < 0).any():
        raise ValueError("negative")
    elif (x > 3).any():
        x = x + 1
    return x * 2


def _counts(x):
    if (x < 0).any() and x.shape[0] > 1:
        raise ValueError("negative")
    return x * 2


@pytest.mark.parametrize("function", [_raises, _raises_unless, _asserts])
def test_what_only_raises_is_left_out(function):
    x = torch.tensor([1.0, 2.0])
    assert torch.equal(hloom.compile(function, x)(x), x * 2)


@pytest.mark.parametrize("function", [_chooses, _raises_or_chooses, _counts])
def test_what_computes_is_refused(function):
    x = torch.tensor([1.0, 2.0])
    with pytest.raises(hloom.CompileError, match="depends on what tensors hold"):
        hloom.compile(function, x)


def test_tensors_with_values_are_what_they_are():
    before = torch.Tensor.__bool__
    hloom.compile(_raises, torch.ones(2))
    assert torch.Tensor.__bool__ is before
    with pytest.raises(ValueError, match="negative"):
        _raises(torch.tensor([-1.0]))

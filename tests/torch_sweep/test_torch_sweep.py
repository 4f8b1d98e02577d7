"""Nothing public of torch.nn, torch.nn.functional, torch, torch.linalg, torch.fft and torch.special is left out of the sweep.

A part of it runs here, all of it with HLOOM_SWEEP=all.
"""

from __future__ import annotations

import inspect
import os

import pytest
import torch
from cases import CASES, NOT_APPLICABLE
from sweep_inputs import build
from sweep_workers import run
from torch import nn

EVERY = 1 if os.environ.get("HLOOM_SWEEP") == "all" else 31


def _public() -> set[str]:
    layers = {f"nn.{name}" for name, value in vars(nn).items() if inspect.isclass(value) and issubclass(value, nn.Module)}
    modules = {"F": nn.functional, "torch": torch, **{f"torch.{name}": getattr(torch, name) for name in ("linalg", "fft", "special")}}
    functions = {f"{short}.{name}" for short, module in modules.items() for name in _functions(module)}
    return layers | functions


def _functions(module) -> list[str]:
    found = {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
    return [name for name, value in found.items() if callable(value) and not inspect.isclass(value)]


def test_every_public_name_has_cases_or_a_reason():
    excluded = {name for names in NOT_APPLICABLE.values() for name in names.split()}
    cases = {name for name in CASES if not name.startswith("Tensor.")}
    assert not excluded & cases
    assert _public() == excluded | cases


def test_three_settings_each():
    assert {len(set(settings)) for settings in CASES.values()} == {3}


@pytest.mark.parametrize(("name", "setting"), [("torch.add", "(f(3, 4), f(4), alpha=2)"), ("nn.Linear", "(3, 2)(f(4, 3))")])
def test_a_setting_is_the_same_each_time(name, setting):
    first, second = build(name, setting), build(name, setting)
    assert torch.equal(first(*first.inputs()), second(*second.inputs()))


def test_no_setting_is_wrong():
    settings = [(name, text) for name, texts in CASES.items() for text in texts][::EVERY]
    found = run(settings, workers=1 if EVERY > 1 else 2)
    faults = {f"{name}{text}": told for (name, text), told in found.items() if told[0] not in ("right", "refused")}
    assert not faults, faults

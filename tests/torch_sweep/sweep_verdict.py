"""The verdict on a setting: `right`, `refused` with the torch op that the error names, or `wrong` with what is.

Values are right if they equal eager's, or are about as near to the same computation in f64 as eager is: within TIMES eager's largest error
and ROUNDINGS roundings more, relative to the element or, as sums cancel, to the largest element.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from sweep_inputs import Call, build
from torch import nn

import hloom

OP = re.compile(r"\b(?:aten|prims|higher_order)(?:\.|::)(\w+)|elements of type (complex)")
TIMES, ROUNDINGS, HALF_ROUNDINGS = 4, 8, 2


_INEXACT = (torch.float16, torch.bfloat16, torch.float32, torch.complex64)

Setting = tuple[str, str]  # name and text


@dataclass(frozen=True)
class Verdict:
    kind: str  # right, refused, wrong; invalid where eager refuses the setting
    why: str = ""  # the torch op that the refusal names, or what is wrong


class Several(nn.Module):
    """Calls side by side in one program: compiling has costs that do not depend on the program."""

    def __init__(self, calls: Sequence[Call]):
        super().__init__()
        self.calls = nn.ModuleList(calls)
        self.counts = [len(call.inputs()) for call in calls]

    def inputs(self) -> list[torch.Tensor]:
        return [tensor for call in self.calls for tensor in call.inputs()]

    def forward(self, *tensors: torch.Tensor) -> list[Any]:
        rest = iter(tensors)
        return [call(*islice(rest, count)) for call, count in zip(self.calls, self.counts)]


def judge(settings: Sequence[Setting]) -> dict[Setting, Verdict]:
    """The verdicts that are certain: of one setting always, of several compiled as one program only on those that are right."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            calls = Several([build(*setting) for setting in settings])
            inputs = calls.inputs()
            torch.manual_seed(0)
            with torch.no_grad():
                wanted = calls(*inputs)
        except Exception as error:
            return _if_alone(settings, Verdict("invalid", f"{type(error).__name__}: {_line(error)}"))
        try:
            got = hloom.compile(calls, *inputs)(*inputs)
        except hloom.CompileError as error:
            named = OP.search(str(error))
            unnamed = Verdict("wrong", f"an error that names no torch op: {_line(error)}")
            verdict = Verdict("refused", named[1] or named[2]) if named else unnamed
            return _if_alone(settings, verdict)
        except Exception as error:
            return _if_alone(settings, Verdict("wrong", f"{type(error).__name__}: {_line(error)}"))
        faults = [_compared(*each) for each in zip(calls.calls, got, wanted)]
        return {s: Verdict("wrong", why) if why else Verdict("right") for s, why in zip(settings, faults) if not why or len(settings) == 1}


def _if_alone(settings: Sequence[Setting], verdict: Verdict) -> dict[Setting, Verdict]:
    return {settings[0]: verdict} if len(settings) == 1 else {}


def _compared(call: Call, got: Any, wanted: Any) -> str:
    """What is wrong with the results of a call, in words."""
    got, wanted = leaves(got), leaves(wanted)
    if len(got) != len(wanted):
        return f"{len(got)} results for {len(wanted)}"
    exact = _in_f64(call, call.inputs(), wanted)
    got, wanted, exact = (_determined(call.name, each) for each in (got, wanted, exact))
    faults = (_fault(*each) for each in zip(got, wanted, exact))
    return next((f"result {index}: {fault}" for index, fault in enumerate(faults) if fault), "")


_COLUMNS, _ROWS = -2, -1
_VECTORS = {
    "torch.svd": {0: _COLUMNS, 2: _COLUMNS}, "torch.linalg.svd": {0: _COLUMNS, 2: _ROWS}, "torch.linalg.eigh": {1: _COLUMNS},
    "torch.linalg.eig": {1: _COLUMNS},
}  # fmt: skip
"""The results that are vectors of matrices, which eager leaves open up to a factor of length 1, and how they lie."""


def _determined(name: str, results: list[Any]) -> list[Any]:
    """The results with such vectors turned so that the largest element of each is positive."""
    turned = list(results)
    for place, dim in _VECTORS.get(name, {}).items():
        vectors = results[place]
        if vectors.numel():
            turned[place] = vectors * vectors.gather(dim, vectors.abs().argmax(dim, keepdim=True)).sgn().conj()
    return turned


def _line(error: Exception) -> str:
    return str(error).split("\n")[0][:300]


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    return [] if value is None else [value]


def _in_f64(call: Call, inputs: list[torch.Tensor], wanted: list[Any]) -> list[Any]:
    """Eager's results in f64 where it computes the same there, else its own. Of matrices in f64 it is those of the operands one rounding
    away: eager's error there is about that far (of an inverse 498 roundings, hloom's 178)."""
    wide = [tensor.to(torch.promote_types(tensor.dtype, torch.float64)) if tensor.dtype in _INEXACT else tensor for tensor in inputs]
    if "linalg" in call.name:
        wide = [w.nextafter(torch.full_like(w, math.inf)) if t.dtype == torch.float64 else w for w, t in zip(wide, inputs)]
    try:
        torch.manual_seed(0)
        with torch.no_grad():
            exact = leaves(call.double()(*wide))
    except Exception:
        return wanted
    return [e if _alike(e, w) else w for e, w in zip(exact, wanted)] if len(exact) == len(wanted) else wanted


def _alike(exact: Any, wanted: Any) -> bool:
    return isinstance(exact, torch.Tensor) and exact.shape == wanted.shape


def _fault(got: Any, wanted: Any, exact: Any) -> str:
    if not isinstance(wanted, torch.Tensor):
        return "" if type(got) is type(wanted) and got == wanted else f"{got!r} for {wanted!r}"
    if not isinstance(got, torch.Tensor):
        return f"{got!r} for a tensor"
    if got.dtype != wanted.dtype:
        return f"{got.dtype} for {wanted.dtype}"
    if got.shape != wanted.shape:
        return f"{tuple(got.shape)} for {tuple(wanted.shape)}"
    if wanted.is_complex():
        got, wanted, exact = (torch.view_as_real(value.resolve_conj()) for value in (got, wanted, exact))
    if torch.equal(torch.nan_to_num(got), torch.nan_to_num(wanted)) and torch.equal(_kinds(got), _kinds(wanted)):
        return ""
    if not wanted.is_floating_point():
        bad = got != wanted
        return f"{int(bad.sum())} of {bad.numel()} elements: {_sample(got, wanted, bad)}"
    bad = _far(got, wanted, exact) & ~((got == wanted) | got.isnan() & wanted.isnan())
    return f"{int(bad.sum())} of {bad.numel()} elements: {_sample(got, wanted, bad)}" if bad.any() else ""


def _far(got: torch.Tensor, wanted: torch.Tensor, exact: torch.Tensor) -> torch.Tensor:
    """Which elements are further from the exact ones than is allowed, or not finite where those are, or the other way round."""
    rounded = exact.to(wanted.dtype)
    finite = got.isfinite() & rounded.isfinite()
    far = ~finite & (_kinds(got) != _kinds(rounded))
    both = finite & wanted.isfinite()
    ours, eager, true = (x[both].double() for x in (got, wanted, exact))
    if not ours.numel():
        return far | finite & ~both & (got != rounded)
    info = torch.finfo(wanted.dtype)
    roundings = (ROUNDINGS if info.bits >= 32 else HALF_ROUNDINGS) * info.eps
    error, scale = (ours - true).abs(), true.abs() + info.tiny
    eagers = (eager - true).abs()
    relative = TIMES * (eagers / scale).max() + roundings
    absolute = TIMES * eagers.max() + roundings * true.abs().max()
    far[both] = (error > relative * scale) & (error > absolute)
    return far


def _kinds(values: torch.Tensor) -> torch.Tensor:
    """0 finite, 1 NaN, 2 infinite, 3 minus infinite."""
    if not values.is_floating_point():
        return torch.zeros(values.shape, dtype=torch.int8)
    return torch.isnan(values) * 1 + (values == float("inf")) * 2 + (values == float("-inf")) * 3


def _sample(got: torch.Tensor, wanted: torch.Tensor, mask: torch.Tensor) -> str:
    return ", ".join(f"{g} for {w}" for g, w in zip(got[mask][:3].tolist(), wanted[mask][:3].tolist()))

"""A PyTorch program by hloom beside eager, in a process of its own.

What is compared of each call: results, what the inputs and buffers hold afterwards, and gradients. All of it is looked at after the last
call, so that a call that writes into what an earlier one gave is seen.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np
import torch

from ..children import spent
from ..shares import difference, is_far
from .programs import copied, copies_of, differs

WIDER = {
    "torch.float32": "torch.float64",
    "torch.bfloat16": "torch.float64",
    "torch.float16": "torch.float64",
    "torch.complex64": "torch.complex128",
}
STEPS = {torch.bfloat16: 4e-3, torch.float16: 4e-3, torch.float64: 1e-15, torch.complex128: 1e-15}
Calls = list[list[torch.Tensor]]


@dataclass(frozen=True)
class Request:
    source: str
    data: bytes
    road: str
    target: str

    def calls(self) -> Calls:
        """The inputs of each call; a program of one size is called twice, with other values."""
        found = torch.load(io.BytesIO(self.data))
        owners = {x.untyped_storage().data_ptr() for x in found[0] if x.numel()}
        if len(found) > 1 or len(owners) < sum(x.numel() > 0 for x in found[0]):
            return found
        return [found[0], [turned(x) for x in found[0]]]


def turned(x: torch.Tensor) -> torch.Tensor:
    """The same values elsewhere."""
    if any(stride == 0 and extent > 1 for extent, stride in zip(x.shape, x.stride())):
        return copied(x)
    made = copied(x)
    made.copy_(x.reshape(-1).roll(1).reshape(x.shape))
    return made


@dataclass(frozen=True)
class Ended:
    kind: str
    why: str = ""
    seconds: float = 0
    wrong: tuple[int, ...] = ()
    """The results that differ."""


def torch_child(cache: str) -> Callable[[Request], Ended]:
    os.environ |= {"HLOOM_CACHE_DIR": cache, "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1", "TORCHINDUCTOR_CACHE_DIR": f"{cache}/torch"}
    torch.set_num_threads(1)
    return judged


def judged(request: Request) -> Ended:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted = outcomes(request, eager)
        except Exception as error:
            return Ended("skipped", f"{type(error).__name__}: {error}")
        found = _beside(request, wanted, "hloom")
        if found.kind in ("failed", "wrong") and _is_torchs(request, wanted):
            return replace(found, kind="torch's")
        return found


def _is_torchs(request: Request, wanted: list[Outcome]) -> bool:
    """Whether torch's own export, or its backend that compiles nothing, does not do it either."""
    if request.road != "export":
        return _beside(request, wanted, "aot_eager").kind != "right"
    try:
        torch.export.export(program_of(request.source), tuple(copied(x) for x in request.calls()[0]))
        return False
    except Exception:
        return True


def _beside(request: Request, wanted: list[Outcome], backend: str) -> Ended:
    started = spent()
    try:
        got = outcomes(request, lambda module: compiled(request, module, backend))
    except Exception as error:
        cause = getattr(error, "inner_exception", error)
        return Ended("failed", f"{type(cause).__name__}: {cause}", spent() - started)
    return compared(request, got, wanted, spent() - started)


def eager(module: torch.nn.Module) -> Callable[..., Any]:
    return module


def compiled(request: Request, module: torch.nn.Module, backend: str) -> Callable[..., Any]:
    if request.road == "export":
        import hloom

        return hloom.compile(module, *[copied(x) for x in request.calls()[0]], target=request.target)
    torch._dynamo.reset()
    options = {"options": {"target": request.target}} if backend == "hloom" else {}
    return torch.compile(module, backend=backend, fullgraph=request.road != "parts", dynamic=request.road == "dynamic", **options)


def program_of(source: str) -> torch.nn.Module:
    torch.manual_seed(0)
    space: dict[str, Any] = {"torch": torch, "F": torch.nn.functional}
    exec(source, space)
    return space["Program"]()


@dataclass(frozen=True)
class Outcome:
    """Of a call."""

    values: dict[str, torch.Tensor]
    strides: list[tuple[int, ...]]
    """Of each result; () where it does not lie densely: what hloom makes does."""
    shares: list[tuple[str, ...]]
    """Of each result the inputs and earlier results whose memory it is in."""

    def lies_as(self, eagers: Outcome, road: str) -> bool:
        """Whether results have eager's strides, where sizes are known, and share memory where eager's do: with inputs always (but for parts
        of one in training, which torch leaves to the backend), with one another at most."""
        trains = road == "train"
        inputs = lambda shares: [name for name in shares if name.startswith("a")]  # noqa: E731
        strides = road in ("dynamic", "parts") or all(mine == theirs or not theirs for mine, theirs in zip(self.strides, eagers.strides))
        shares = [*zip(self.shares, eagers.shares)]
        return strides and all(set(mine) <= set(theirs) and (trains or inputs(mine) == inputs(theirs)) for mine, theirs in shares)


def outcomes(request: Request, compile: Callable[[torch.nn.Module], Callable[..., Any]], calls: Calls | None = None) -> list[Outcome]:
    module = program_of(request.source)
    function = compile(module)
    called = [_called(request, module, function, inputs) for inputs in calls or request.calls()]
    return [each() for each in called]


def _called(request: Request, module: torch.nn.Module, function: Callable[..., Any], inputs: list[torch.Tensor]) -> Callable[[], Outcome]:
    trains = request.road == "train"
    given = [x.requires_grad_(trains and differs(x)) for x in copies_of(inputs)]
    with torch.set_grad_enabled(trains):
        results = list(function(*given))
    values = {f"result {n}": result for n, result in enumerate(results)}
    gradients = _gradients(module, given, results) if trains else {}
    buffers = {name: buffer.detach().clone() for name, buffer in module.named_buffers()}
    afterwards = {f"a{n} afterwards": x for n, x in enumerate(given)}

    def now() -> Outcome:
        all_of = {**values, **gradients, **afterwards, **buffers}
        memory = {f"a{n}": x.untyped_storage().data_ptr() for n, x in enumerate(given)}
        memory |= {f"result {n}": x.untyped_storage().data_ptr() for n, x in enumerate(results)}
        own = [x.untyped_storage().data_ptr() for x in results]
        shares = [tuple(k for k, at in memory.items() if at == own[n] and k != f"result {n}") for n in range(len(results))]
        strides = [tuple(s for s, extent in zip(x.stride(), x.shape) if extent > 1) if _is_dense(x) else () for x in results]
        return Outcome(
            {name: x.detach().clone() for name, x in all_of.items()}, strides, [s if x.numel() else () for s, x in zip(shares, results)]
        )

    return now


def _is_dense(x: torch.Tensor) -> bool:
    order = sorted((stride, extent) for stride, extent in zip(x.stride(), x.shape) if extent > 1)
    steps = [1]
    for _, extent in order:
        steps.append(steps[-1] * extent)
    return bool(x.numel()) and [stride for stride, _ in order] == steps[:-1]


def _gradients(module: torch.nn.Module, given: Sequence[torch.Tensor], results: Sequence[torch.Tensor]) -> dict[str, torch.Tensor]:
    wanting = {f"gradient of a{n}": x for n, x in enumerate(given) if x.requires_grad}
    wanting |= {f"gradient of {name}": x for name, x in module.named_parameters()}
    roots = [x for x in results if x.requires_grad]
    if not roots:
        return {}
    weights = [torch.linspace(0.5, 1.5, x.numel(), dtype=torch.float64).reshape(x.shape).to(x.dtype) for x in roots]
    found = torch.autograd.grad(roots, list(wanting.values()), weights, allow_unused=True)
    return {name: x for name, x in zip(wanting, found) if x is not None}


def compared(request: Request, got: list[Outcome], wanted: list[Outcome], seconds: float) -> Ended:
    """A value is right where it is near to eager's or to eager's in f64, or where a rounding of the inputs moves those as far."""
    told, wrong = [], set()
    oracles = Oracles(request, wanted)
    for call, (mine, theirs) in enumerate(zip(got, wanted)):
        if list(mine.values) != list(theirs.values):
            return Ended("wrong", f"call {call}: {set(mine.values) ^ set(theirs.values)} only of one", seconds)
        for name, value in mine.values.items():
            if why := oracles.fault(call, name, value):
                told.append(f"call {call}, {name}: {why}")
                wrong |= {int(name.split()[1])} if name.startswith("result") else set()
        if request.road != "export" and not told and not mine.lies_as(theirs, request.road):
            told.append(f"layout, call {call}: strides {mine.strides} for {theirs.strides}, memory {mine.shares} for {theirs.shares}")
    return Ended("wrong" if told else "right", "\n".join(told), seconds, tuple(sorted(wrong)))


class Oracles:
    """Eager, and eager in f64, each also of inputs a rounding away: what is not asked for is not computed."""

    def __init__(self, request: Request, wanted: list[Outcome]):
        self.request, self._found = request, {(False, False): wanted}

    def fault(self, call: int, name: str, mine: torch.Tensor) -> str:
        own = self.of(False, False)[call].values[name]
        if mine.dtype != own.dtype or mine.shape != own.shape:
            return f"{mine.dtype}{list(mine.shape)} for {own.dtype}{list(own.shape)}"
        why = difference(array(mine), array(own))
        for wide in (False, True):
            if not why or not self.of(wide, False):
                return why
            here = self._value(wide, False, call, name, own)
            if wide and not difference(array(mine), here):
                return ""
            if why.startswith("differs") and self.of(wide, True) and is_far(self._value(wide, True, call, name, own), here):
                return ""
        return why

    def _value(self, wide: bool, moved: bool, call: int, name: str, own: torch.Tensor) -> np.ndarray:
        return array(self.of(wide, moved)[call].values[name].to(own.dtype))

    def of(self, wide: bool, moved: bool) -> list[Outcome]:
        """Empty where eager computes nothing such."""
        if (wide, moved) not in self._found:
            try:
                self._found[wide, moved] = self._computed(wide, moved)
            except Exception:
                self._found[wide, moved] = []
        return self._found[wide, moved]

    def _computed(self, wide: bool, moved: bool) -> list[Outcome]:
        calls = [_of_all(_moved, each) if moved else each for each in self.request.calls()]
        if not wide:
            return outcomes(self.request, eager, calls)
        module = program_of(self.request.source)
        source = self.request.source
        for name, wider in WIDER.items():
            source = source.replace(name, wider)

        def widened(other: torch.nn.Module) -> torch.nn.Module:
            other.load_state_dict(module.state_dict())
            return other

        torch.set_default_dtype(torch.float64)
        try:
            return outcomes(replace(self.request, source=source), widened, [_of_all(_wider, each) for each in calls])
        finally:
            torch.set_default_dtype(torch.float32)


def _wider(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.complex128 if x.is_complex() else torch.float64) if differs(x) else x


def _of_all(function: Callable[[torch.Tensor], torch.Tensor], inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """Of inputs that share memory too: the whole memory's elements are computed once."""
    wholes: dict[int, torch.Tensor] = {}
    for x in inputs:
        whole = x.as_strided([x.untyped_storage().nbytes() // x.itemsize], [1], 0)
        wholes.setdefault(x.untyped_storage().data_ptr(), function(whole))
    return [wholes[x.untyped_storage().data_ptr()].as_strided(x.shape, x.stride(), x.storage_offset()) for x in inputs]


def _moved(x: torch.Tensor) -> torch.Tensor:
    if not differs(x):
        return x
    noise = torch.from_numpy(np.random.RandomState(x.numel()).standard_normal(tuple(x.shape)))
    return (_wider(x) * (1 + STEPS.get(x.dtype, 3e-7) * noise)).to(x.dtype)


def array(x: torch.Tensor) -> np.ndarray:
    x = x.resolve_conj().resolve_neg().contiguous()
    return x.view(torch.int16).numpy().view(ml_dtypes.bfloat16) if x.dtype == torch.bfloat16 else x.numpy()

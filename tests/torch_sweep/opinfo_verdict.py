"""The verdict on a sample of torch's own database of operators, through torch.compile(…, backend="hloom", fullgraph=True), beside eager.

A setting is an operator and one of its samples: ("linalg.norm", "float32 3"), or ("add", "float32 0 in place"). Results have eager's types,
shapes and strides, share memory with operands where eager's do, and have values as near to f64's as eager's (sweep_verdict.py); so have
gradients. Of random numbers types and shapes are compared. What torch's backend aot_eager does not do like eager is torch's matter.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import torch
import torch.utils._pytree as pytree
from sweep_verdict import OP, Verdict, _fault, _line
from torch.testing._internal.common_methods_invocations import op_db

import hloom

Setting = tuple[str, str]

MOST = 24
"""Samples of an operator that are looked at."""
DTYPES = {torch.float32: 4, torch.bfloat16: 2, torch.float64: 1, torch.int64: 2, torch.bool: 1, torch.complex64: 4}
"""Types, and how many samples of each, far apart in the order that torch has them in."""
IN_PLACE = " in place"
_PLACES = {"argsort": 0, "sort": 1, "topk": 1, "kthvalue": 1}
"""Results that are places of values. Of equal ones eager leaves open which."""
_WIDER = {torch.float32: torch.float64, torch.bfloat16: torch.float64, torch.complex64: torch.complex128}


def operators() -> dict[str, Any]:
    return {f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name: op for op in op_db}


@functools.cache
def _known() -> dict[str, Any]:
    return operators()


def settings_of(name: str, types: str = "", first: bool = False) -> list[Setting]:
    """The operator's, of types whose names hold `types`; `first`: of each type the first."""
    op = _known()[name]
    found = []
    for dtype, most in DTYPES.items():
        short = str(dtype).removeprefix("torch.")
        if dtype not in op.dtypes or types not in short:
            continue
        count = len(_samples(name, dtype))
        numbers = sorted({index * (count - 1) // max(1, most - 1) for index in range(min(most, count))})[: 1 if first else None]
        found += [(name, f"{short} {number}") for number in numbers]
        if dtype == torch.float32 and numbers and not first and op.inplace_variant is not None:
            found.append((name, f"{short} {numbers[0]}{IN_PLACE}"))
    return found


@functools.lru_cache(4)
def _samples(name: str, dtype: torch.dtype) -> list[Any]:
    op = _known()[name]
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(islice(op.sample_inputs("cpu", dtype, requires_grad=_has_gradients(op, dtype)), MOST))


def _has_gradients(op: Any, dtype: torch.dtype) -> bool:
    return op.supports_autograd and dtype in (torch.float32, torch.complex64)


class Sample:
    """A call of an operator, as a function of its tensors."""

    def __init__(self, name: str, text: str):
        short, number = text.removesuffix(IN_PLACE).split()
        self.changes = text.endswith(IN_PLACE)
        op = _known()[name]
        self.places_of_values = _PLACES.get(name)
        self.is_never_written = name.startswith(("empty", "new_empty"))
        sample = _samples(name, getattr(torch, short))[int(number)]
        self.function: Callable[..., Any] = op.inplace_variant if self.changes else op.op
        leaves, self.tree = pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
        self.places = [index for index, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        self.tensors = [leaves[index].detach() for index in self.places]
        self.differentiable = [leaves[index].requires_grad and not self.changes for index in self.places]
        self.rest = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]

    def leaves_open(self, what: str, index: int) -> bool:
        """Whether that result may differ from eager's."""
        if self.is_never_written:
            return True
        has_equals = what == "leaves" and index == self.places_of_values
        return has_equals and self.tensors[0].unique().numel() < self.tensors[0].numel()

    def __call__(self, *tensors: torch.Tensor) -> Any:
        leaves = list(self.rest)
        for place, tensor in zip(self.places, tensors):
            leaves[place] = tensor
        args, kwargs = pytree.tree_unflatten(leaves, self.tree)
        return self.function(*args, **kwargs)

    def operands(self, wider: bool = False) -> list[torch.Tensor]:
        """Its tensors: as they lie, apart from those of other calls."""
        found = []
        for tensor, differentiable in zip(self.tensors, self.differentiable):
            copy = _copied(tensor)
            copy = copy.to(_WIDER.get(copy.dtype, copy.dtype)) if wider else copy
            found.append(copy.requires_grad_(differentiable and (copy.is_floating_point() or copy.is_complex())))
        return found


def _copied(tensor: torch.Tensor) -> torch.Tensor:
    whole = torch.empty(0, dtype=tensor.dtype)
    if tensor.is_sparse or tensor.layout != torch.strided or tensor.is_conj() or tensor.is_neg():
        return tensor.clone()
    whole = torch.empty(tensor.untyped_storage().nbytes() // tensor.itemsize, dtype=tensor.dtype)
    whole.untyped_storage().copy_(tensor.untyped_storage())
    return whole.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def judge(settings: Sequence[Setting]) -> dict[Setting, Verdict]:
    """The verdicts that are certain: of one setting always, of several compiled as one program only on those that are right."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            samples = [Sample(*setting) for setting in settings]
            wanted = [_run(sample, sample) for sample in samples]
        except Exception as error:
            return {settings[0]: Verdict("invalid", f"{type(error).__name__}: {_line(error)}")} if len(settings) == 1 else {}
        if len(settings) == 1:
            return {settings[0]: _alone(samples[0], wanted[0])}
        try:
            got = _together(samples)
        except Exception:
            return {}
        faults = [_difference(*each) for each in zip(samples, got, wanted)]
        return {setting: Verdict("right") for setting, fault in zip(settings, faults) if not fault}


def _alone(sample: Sample, wanted: _Results) -> Verdict:
    try:
        got = _run(sample, _compiled(sample, "hloom"))
        verdict = Verdict("wrong", why) if (why := _difference(sample, got, wanted)) else Verdict("right")
    except Exception as error:
        verdict = _of_error(error)
    if verdict.kind == "right" or not (why := _torchs(sample, wanted)):
        return verdict
    return Verdict("torch", why)


def _of_error(error: Exception) -> Verdict:
    cause = getattr(error, "inner_exception", error)
    if not isinstance(cause, hloom.CompileError):
        return Verdict("wrong", f"{type(cause).__name__}: {_line(cause)}")
    named = OP.search(str(cause))
    if cause.op and not named:
        return Verdict("refused", cause.op)  # an op of another library's
    return Verdict("refused", named[1] or named[2]) if named else Verdict("wrong", f"an error that names no torch op: {_line(cause)}")


def _torchs(sample: Sample, wanted: _Results) -> str:
    """Why torch.compile is not expected to do it: what its own backend that compiles nothing does not."""
    try:
        return _difference(sample, _run(sample, _compiled(sample, "aot_eager")), wanted)
    except Exception as error:
        return f"{type(error).__name__}: {_line(error)}"


def _compiled(function: Callable[..., Any], backend: str) -> Callable[..., Any]:
    torch._dynamo.reset()

    def call(*tensors):
        return function(*tensors)

    return torch.compile(call, backend=backend, fullgraph=True, dynamic=False)


class _Results:
    """The results of a call and the gradients of its operands, with which operands each result shares memory."""

    def __init__(self, operands: Sequence[torch.Tensor], made: Any):
        self.leaves = [leaf for leaf in pytree.tree_leaves(made) if leaf is not None]
        storages = {operand.untyped_storage().data_ptr(): index for index, operand in reversed([*enumerate(operands)]) if operand.numel()}
        self.shares = [
            storages.get(leaf.untyped_storage().data_ptr()) if _is_tensor(leaf) and leaf.numel() else None for leaf in self.leaves
        ]
        wanting = [operand for operand in operands if operand.requires_grad]
        roots = [leaf for leaf in self.leaves if _is_tensor(leaf) and leaf.requires_grad]
        self.gradients = list(torch.autograd.grad(roots, wanting, [_weights(root) for root in roots], allow_unused=True)) if roots else []
        self.operands = list(operands)


def _is_tensor(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor)


def _weights(root: torch.Tensor) -> torch.Tensor:
    values = torch.linspace(0.5, 1.5, root.numel(), dtype=torch.float64).reshape(root.shape)
    return values.to(root.dtype)


def _run(sample: Sample, call: Callable[..., Any], wider: bool = False, seed: int = 0) -> _Results:
    operands = sample.operands(wider)
    torch.manual_seed(seed)
    return _Results(operands, call(*operands))


def _together(samples: Sequence[Sample]) -> list[_Results]:
    counts = [len(sample.tensors) for sample in samples]

    def call(*tensors):
        rest = iter(tensors)
        return [sample(*islice(rest, count)) for sample, count in zip(samples, counts)]

    groups = [sample.operands() for sample in samples]
    torch.manual_seed(0)
    made = _compiled(call, "hloom")(*(operand for group in groups for operand in group))
    return [_Results(group, each) for group, each in zip(groups, made)]


def _difference(sample: Sample, got: _Results, wanted: _Results) -> str:
    """What is wrong with the results, in words."""
    if len(got.leaves) != len(wanted.leaves):
        return f"{len(got.leaves)} results for {len(wanted.leaves)}"
    if got.shares != wanted.shares and len(wanted.leaves) == 1:  # one of several views may not be changed in place, so it may be a copy
        return f"results share memory with operands {got.shares} for {wanted.shares}"
    try:
        again = _run(sample, sample, seed=1)
        exact = _run(sample, sample, wider=True)
    except Exception:
        again = exact = wanted
    for what in ("leaves", "gradients", "operands"):
        parts = [getattr(each, what) for each in (got, wanted, again, exact)]
        if len(parts[3]) != len(parts[1]):
            parts[3] = parts[1]
        for index, (ours, theirs, other, wide) in enumerate(zip(*parts)):
            if sample.leaves_open(what, index) and _is_tensor(ours) and (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape):
                continue
            if why := _apart(ours, theirs, other, wide, strided=what == "leaves"):
                return f"{'result' if what == 'leaves' else what[:-1]} {index}: {why}"
    return ""


def _apart(got: Any, wanted: Any, again: Any, exact: Any, strided: bool) -> str:
    if not (_is_tensor(got) and _is_tensor(wanted)):
        return "" if type(got) is type(wanted) and (got == wanted or got != got) else f"{got!r} for {wanted!r}"
    got, wanted, again = (each.detach() for each in (got, wanted, again))
    exact = exact.detach() if _is_tensor(exact) and exact.shape == wanted.shape else wanted
    if got.layout != wanted.layout:
        return f"{got.layout} for {wanted.layout}"
    if got.layout != torch.strided:
        got, wanted, again, exact = (each.to_dense() for each in (got, wanted, again, exact))
    if strided and got.shape == wanted.shape and _strides(got) != _strides(wanted):
        return f"strides {got.stride()} for {wanted.stride()}"
    if not torch.equal(torch.nan_to_num(wanted), torch.nan_to_num(again)):  # random, or never written
        return "" if (got.dtype, got.shape) == (wanted.dtype, wanted.shape) else f"{got.dtype} {tuple(got.shape)}"
    return _fault(got, wanted, exact)


def _strides(tensor: torch.Tensor) -> tuple[int, ...]:
    """Of dimensions that have some."""
    return tuple(stride for size, stride in zip(tensor.shape, tensor.stride()) if size > 1) if tensor.numel() else ()

"""Torch tensors that a program takes as they lie: those like the last call's are not looked at one by one, and all others are."""

from __future__ import annotations

import pytest

from hloom.runtime import tensors
from hloom.runtime.errors import InputError
from hloom.runtime.tensors import TensorSpec, TorchAddresses

torch = pytest.importorskip("torch")


@pytest.fixture
def looked_at(monkeypatch):
    """Calls whose tensors were looked at."""
    calls, look = [], TorchAddresses._looked_at
    monkeypatch.setattr(TorchAddresses, "_looked_at", lambda addresses, values: (calls.append(values), look(addresses, values))[1])
    return calls


def specs(*types: str) -> list[TensorSpec]:
    return [TensorSpec(f"x{number}", dtype, (4, 3)) for number, dtype in enumerate(types)]


def test_what_does_not_differ_is_not_looked_at(looked_at):
    addresses = TorchAddresses(specs("f32", "complex<f32>"))
    for _ in range(3):
        x, y = torch.ones(4, 3), torch.ones(4, 3, dtype=torch.complex64)
        assert addresses.of([x, y]) == [x.data_ptr(), y.data_ptr()]
    x.data = torch.zeros(4, 3)
    assert addresses.of([x, y]) == [x.data_ptr(), y.data_ptr()] and len(looked_at) == 1


OTHERS = {
    "type": lambda x: x.double(),
    "sizes": lambda x: x[:2],
    "strides": lambda x: x.repeat(1, 2)[:, ::2],
    "transposed": lambda x: x.t().contiguous().t(),
    "negative": lambda x: torch._neg_view(x),
    "conjugate": lambda x: x.conj(),
    "device": lambda x: x.to("meta"),
    "number": lambda x: 3.0,
    "array": lambda x: x.numpy(),
}


@pytest.mark.parametrize("other", OTHERS)
def test_what_differs_is_looked_at(other):
    dtype = "complex<f32>" if other == "conjugate" else "f32"
    addresses, x = TorchAddresses(specs(dtype)), torch.ones(4, 3, dtype=torch.complex64 if dtype == "complex<f32>" else torch.float32)
    assert addresses.of([x]) == [x.data_ptr()]
    assert addresses.of([OTHERS[other](x)]) == [None]
    assert addresses.of([x]) == [x.data_ptr()]


def test_memory_that_was_taken_away_is_looked_at():
    addresses, x = TorchAddresses(specs("f32")), torch.ones(4, 3)
    addresses.of([x])
    x.data = torch.ones(3)
    assert addresses.of([x]) == [None]
    assert addresses.of([]) == []


def test_kinds_of_calls_are_learnt_so_often(looked_at, monkeypatch):
    monkeypatch.setattr(tensors, "_MOST_KINDS", 2)
    addresses, x = TorchAddresses(specs("f32")), torch.ones(4, 3)
    for each in (x, torch.nn.Parameter(x), x, torch.nn.Parameter(x)):
        assert addresses.of([each]) == [x.data_ptr()]
    assert len(looked_at) == 3, "the second kind stays"


def test_a_torch_that_promises_less(looked_at, monkeypatch):
    monkeypatch.setattr(tensors, "_inner", lambda module, *names: None)
    addresses, x = TorchAddresses(specs("f32")), torch.ones(4, 3)
    assert [addresses.of([x]), addresses.of([x])] == [[x.data_ptr()]] * 2 and len(looked_at) == 2
    result, address = tensors.torch_factory(specs("f32")[0], pytest.fail)()
    assert (result.shape, result.dtype, result.data_ptr()) == (x.shape, x.dtype, address)


@pytest.mark.parametrize("dtype", ["f32", "bf16", "i1", "complex<f32>", "f8E4M3FN", "ui16"])
def test_small_results(dtype):
    (spec,) = specs(dtype)
    result, address = tensors.torch_factory(spec, pytest.fail)()
    assert (tensors.torch_name(result.dtype), result.data_ptr(), result.is_contiguous()) == (dtype, address, True)
    assert tuple(result.shape) == spec.shape and not result.requires_grad


def test_nested_and_fake_tensors_are_refused():
    """torch's comparison ends the process over a nested tensor's strides; a fake one's memory is at 0."""
    addresses, nested = TorchAddresses(specs("f32")), torch.nested.nested_tensor([torch.ones(4, 3)])
    assert addresses.of([torch.ones(4, 3)]) != [None] and addresses.of([nested]) == [None]
    fake = torch._subclasses.FakeTensorMode().from_tensor(torch.ones(4, 3))
    for value, why in ((nested, "nested"), (fake, "a FakeTensor has no memory")):
        with pytest.raises(InputError, match=why):
            tensors.view(specs("f32")[0], value)

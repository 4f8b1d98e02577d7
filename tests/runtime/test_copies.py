"""Copies and pickles of executables."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import hloom

OPEN = """func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = stablehlo.add %x, %x : tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}"""
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def pickled(exe):
    return pickle.loads(pickle.dumps(exe))


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled])
def test_a_copy_has_weights_and_a_state_of_its_own(copied):
    torch = pytest.importorskip("torch")

    class Counts(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros(1))
            self.layer = torch.nn.Linear(3, 4)

        def forward(self, x):
            self.calls.add_(1)
            return {"y": self.layer(x), "calls": self.calls * 1}

    module, x = Counts(), torch.from_numpy(X)
    exe = hloom.compile(module, x, target="cpu")
    expected = exe(x)["y"]
    other = copied(exe)
    with torch.no_grad():
        module.layer.weight.zero_()
    torch.testing.assert_close(other(x)["y"], expected)
    assert [int(each["calls"]) for each in (other(x), exe(x))] == [3, 2]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
def test_programs_of_several_shapes_and_entries(copied):
    exe = hloom.compile({"twice": OPEN.replace("?", "2"), "any": hloom.compile(OPEN, target="cpu")}, target="cpu")
    exe["any"](X)
    other = copied(exe)
    for name in other:
        np.testing.assert_array_equal(other[name](X), X * 2)


def test_a_damaged_pickle_is_refused():
    data = pickle.dumps(hloom.compile(OPEN.replace("?", "2"), target="cpu"))
    with pytest.raises(hloom.DamagedFileError, match="the pickle: .* is damaged"):
        pickle.loads(data.replace(b"tensor", b"tensOr") if b"tensor" in data else data[:400] + bytes([data[400] ^ 1]) + data[401:])

"""Torch modules that a call changes: buffers and plain tensors that forward replaces, inputs changed in place, and what is refused."""

from __future__ import annotations

import copy
import threading
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import hloom  # noqa: E402


class Recurrent(torch.nn.Module):
    """A state in a plain attribute, beside a constant in another."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.state = torch.zeros(2, 3)
        self.decay = torch.full((3,), 0.5)

    def forward(self, x):
        self.state = torch.tanh(self.linear(x) + self.state * self.decay)
        return self.state


class Cache(torch.nn.Module):
    """Keys of the past, written at a place that is counted; a half that is written by slice; a buffer that is not read."""

    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(4, 3))
        self.register_buffer("count", torch.tensor(0))
        self.register_buffer("part", torch.zeros(4, 3))
        self.register_buffer("last", torch.zeros(3))

    def forward(self, x):
        self.keys.copy_(torch.where((torch.arange(4) == self.count)[:, None], x, self.keys))
        self.count += 1
        self.part[1:3] += x
        self.last.copy_(x)
        return self.keys.sum(0), self.part * 2


def same(got, want) -> None:
    torch.testing.assert_close(got, want, atol=1e-5, rtol=1e-5)


BATCHES = [(torch.randn(4, 3, 5, 5),) for _ in range(3)]
NORM = lambda: torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(inplace=True)).train()  # noqa: E731
MODULES = {
    "batch norm": (NORM, BATCHES),
    "recurrent": (Recurrent, [(torch.randn(2, 3),) for _ in range(3)]),
    "cache": (Cache, [(torch.randn(3),) for _ in range(3)]),
}


@pytest.mark.parametrize("name", MODULES)
def test_calls_change_the_modules_state(name: str, tmp_path: Path) -> None:
    make, calls = MODULES[name]
    module = make()
    eager = copy.deepcopy(module)
    exe = hloom.compile(module, *calls[0])
    for inputs in calls[:2]:
        same(exe(*inputs), eager(*inputs))
    for key, value in {**eager.state_dict(), **{k: v for k, v in vars(eager).items() if isinstance(v, torch.Tensor)}}.items():
        same(module.state_dict()[key] if key in module.state_dict() else getattr(module, key), value)
    assert module.state_dict().keys() == eager.state_dict().keys()
    exe.save(tmp_path / "m.hloom")  # with the state of now
    wanted = eager(*calls[2])
    for program in (hloom.load(tmp_path / "m.hloom"), hloom.load(tmp_path / "m.hloom"), exe):
        same(program(*calls[2]), wanted)


def test_the_state_can_be_read_and_set() -> None:
    module = Recurrent()
    exe = hloom.compile(module, torch.ones(2, 3))
    first = exe(torch.ones(2, 3))
    assert list(exe.state) == ["state"] and np.array_equal(exe.state["state"], first.numpy())
    exe.state = {"state": torch.zeros(2, 3)}
    assert not module.state.any()
    assert torch.equal(exe(torch.ones(2, 3)), first)
    with pytest.raises(hloom.ArityError, match="no state 'x'"):
        exe.state = {"x": first}
    with pytest.raises(hloom.ShapeError, match="state should have shape"):
        exe.state = {"state": torch.zeros(3)}
    assert hloom.compile(torch.nn.ReLU(), first).state == {}


def test_without_weights_the_state_is_bound_again(tmp_path: Path) -> None:
    module = Recurrent()
    exe = hloom.compile(module, torch.ones(2, 3))
    exe.save(tmp_path / "m.hloom", weights=False)
    loaded = hloom.load(tmp_path / "m.hloom")
    with pytest.raises(hloom.NotBoundError, match="state"):
        loaded(torch.ones(2, 3))
    loaded.bind({"linear.weight": module.linear.weight, "linear.bias": module.linear.bias, "state": np.zeros((2, 3), np.float32)})
    same(loaded(torch.ones(2, 3)), exe(torch.ones(2, 3)))


def test_programs_without_inputs_and_other_kinds_of_arrays() -> None:
    class Count(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("n", torch.tensor(0))

        def forward(self):
            self.n += 1
            return self.n * 2

    exe = hloom.compile(Count())
    assert [exe().item() for _ in range(3)] == [2, 4, 6]
    assert isinstance(exe(), torch.Tensor)
    exe = hloom.compile(Recurrent(), torch.ones(2, 3))
    assert isinstance(exe(np.ones((2, 3), np.float32)), np.ndarray)
    out = torch.empty(2, 3)
    exe.run([torch.ones(2, 3)], out)
    assert np.array_equal(exe.state["state"], out.numpy())


def test_calls_from_threads_come_one_after_the_other() -> None:
    class Total(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("total", torch.zeros(1000))

        def forward(self, x):
            self.total += x
            return x + 1

    exe = hloom.compile(Total(), torch.ones(1000))
    threads = [threading.Thread(target=lambda: [exe(torch.ones(1000)) for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (exe.state["total"] == 200).all()


def test_on_the_simulator_too() -> None:
    module = Recurrent()
    eager = copy.deepcopy(module)
    exe = hloom.compile(module, torch.ones(2, 3), target="sim:sm_90a")
    for _ in range(2):
        same(exe(torch.ones(2, 3)), eager(torch.ones(2, 3)))


def test_inputs_changed_in_place_are_written_back() -> None:
    def add(x, y):
        x.add_(y)
        return x * 2

    x, y = torch.ones(2, 3), torch.ones(2, 3)
    exe = hloom.compile(add, x, y)
    assert torch.equal(exe(x, y), torch.full((2, 3), 4.0)) and (x == 2).all() and (y == 1).all()
    array = np.zeros((2, 3), np.float32)
    exe(array, y)
    assert (array == 1).all()
    transposed = torch.zeros(3, 2).t()
    exe(transposed, y)
    assert (transposed == 1).all()
    for refused, why in ((torch.ones(1, 3).expand(2, 3), "share memory"), (np.broadcast_to(np.float32(1), (2, 3)), "cannot be")):
        with pytest.raises(hloom.InputError, match=f"changes x in place.*{why}"):
            exe(refused, y)


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * self.calls


class FirstCall(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.state = None

    def forward(self, x):
        self.state = x if self.state is None else self.state + x
        return self.state * 1


class Appends(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.past = []

    def forward(self, x):
        self.past.append(x)
        return sum(self.past)


@pytest.mark.parametrize("make", [Counter, FirstCall, Appends])
def test_changes_that_no_tensor_holds_are_refused(make) -> None:
    for module in (make(), torch.nn.Sequential(make())):
        with pytest.raises(hloom.InvalidProgramError, match=rf"changes the attribute \w+ of {make.__name__}(.*\n)*.*register_buffer"):
            hloom.compile(module, torch.ones(3))
    module = make()
    before = copy.deepcopy(vars(module))
    with pytest.raises(hloom.InvalidProgramError):
        hloom.compile(module, torch.ones(3))
    assert repr(vars(module)) == repr(before)


def test_what_forward_only_leaves_behind_is_no_state() -> None:
    class Leaves(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.longest = 0
            self.weights = None

        def forward(self, x):
            self.longest = max(self.longest, x.shape[0])
            self.weights = torch.softmax(x, 0)
            return self.weights + 1

    module = Leaves()
    x = torch.randn(4)
    same(hloom.compile(module, x)(x), Leaves()(x))


def test_a_state_that_grows_is_refused() -> None:
    class Grows(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.past = torch.zeros(1, 3)

        def forward(self, x):
            self.past = torch.cat([self.past, x])
            return self.past * 1

    with pytest.raises(hloom.InvalidProgramError):
        hloom.compile(Grows(), torch.ones(1, 3))

"""torch modules with dynamic shapes (torch.export's Dim), beside eager PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import hloom

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.export import Dim  # noqa: E402

B, S = Dim("b", min=0), Dim("s", min=0)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HLOOM_CACHE_DIR", str(tmp_path / "cache"))
    torch.manual_seed(0)


def convolution() -> nn.Module:
    return nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1))


MODULES = {
    "linear": (lambda: nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 3)), (3, 8), [(0, 8), (1, 8), (5, 8)]),
    "convolution": (convolution, (3, 3, 8, 8), [(0, 3, 8, 8), (5, 3, 8, 8)]),
    "norm": (lambda: nn.LayerNorm(8), (3, 7, 8), [(0, 7, 8), (5, 7, 8)]),
    "encoder": (lambda: nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), (3, 7, 16), [(1, 1, 16), (5, 3, 16)]),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules(name: str) -> None:
    make, example, shapes = MODULES[name]
    module, dynamic_shapes = make().eval(), ({0: B, 1: S} if name == "encoder" else {0: B},)
    exported = torch.export.export(module, (torch.zeros(example),), dynamic_shapes=dynamic_shapes)
    exe = hloom.compile(exported)
    for shape in shapes:
        x = torch.randn(shape)
        with torch.no_grad():
            torch.testing.assert_close(exe(x), module(x), rtol=1e-4, atol=1e-4)
    assert [each[0] for each in exe.shapes] == shapes[::-1]


class Several(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(64, 128))
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x, y, *, scale: float):
        self.calls += 1
        return {"x": torch.cat([x, x]) @ self.weight * scale, "y": y + 1, "rows": x.shape[0]}


def test_state_weights_numbers_and_a_file(tmp_path) -> None:
    module, eager = Several(), Several()
    eager.load_state_dict(module.state_dict())
    exe = hloom.compile(
        module, torch.zeros(3, 64), torch.zeros(6), kwargs={"scale": 0.5}, dynamic_shapes={"x": {0: B}, "y": {0: 2 * B}, "scale": None}
    )
    assert str(exe.signature).startswith("(x: ?x64xf32, y: ?xf32) -> (result0: ?x128xf32, result1: ?xf32) bound (")
    assert str(exe.signature).endswith("where x[0] = b, y[0] = 2*b")
    assert exe.shapes == [((3, 64), (6,))]
    exe.specialise({"b": 4}, {"b": 2})
    for rows in (2, 4, 3):
        x, y = torch.randn(rows, 64), torch.randn(2 * rows)
        found, expected = exe(x, y, scale=0.5), eager(x, y, scale=0.5)
        assert found["rows"] == rows
        torch.testing.assert_close((found["x"], found["y"]), (expected["x"].detach(), expected["y"]), rtol=1e-4, atol=1e-4)
    assert exe.state["calls"] == 3 == module.calls  # one state, whatever the shapes
    kept = [each.device.kept() for each in exe.specialise({"b": 2}, {"b": 3}, {"b": 4})]
    for name in kept[0]:  # the weight, and the same packed
        assert len({np.frombuffer(each[name], np.uint8).ctypes.data for each in kept}) == 1
    with pytest.raises(hloom.ShapeError, match=r"y\[0\] should be 2\*b"):
        exe(torch.zeros(2, 64), torch.zeros(3), scale=0.5)
    with pytest.raises(hloom.InputError, match="compiled in as 0.5"):
        exe(torch.zeros(2, 64), torch.zeros(4), scale=0.25)
    exe.save(tmp_path / "several.hloom")
    loaded = hloom.load(tmp_path / "several.hloom")
    assert loaded(torch.ones(2, 64), torch.ones(4), scale=0.5)["rows"] == 2
    loaded(torch.ones(4, 64), torch.ones(8), scale=0.5)
    assert loaded.state["calls"] == 5 and exe.state["calls"] == 3


def test_sizes_out_of_range() -> None:
    few = Dim("few", min=2, max=9)
    exe = hloom.compile(nn.Tanh(), torch.zeros(3, 4), dynamic_shapes=({0: few},))
    with pytest.raises(hloom.ShapeError, match=r"\[0\] should be from 2 to 9, got 10"):
        exe(torch.zeros(10, 4))


def test_sizes_that_the_export_has_not_in_mind() -> None:
    class Halves(nn.Module):
        def forward(self, x):
            return x.view(x.shape[0] // 2, 2, -1).sum(1)

    exe = hloom.compile(Halves(), torch.zeros(6, 4), dynamic_shapes=({0: 2 * Dim("n", min=1)},))
    assert exe(torch.ones(10, 4)).shape == (5, 4)
    with pytest.raises(hloom.ShapeError, match=r"the exported program holds where x\.size\(\)\[0\] // 2 != 1"):
        exe(torch.zeros(2, 4))


def test_torch_refuses_what_it_cannot_export() -> None:
    class Branches(nn.Module):
        def forward(self, x):
            return x if x.shape[0] > 5 else -x

    with pytest.raises(hloom.InvalidProgramError, match="torch.export failed"):
        hloom.compile(Branches(), torch.zeros(3, 4), dynamic_shapes=({0: B},))

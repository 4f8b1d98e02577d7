"""Torch tensors that are not row-major (channels_last): taken as they lie, and results that lie as eager PyTorch's do."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import hloom
from hloom.compiler.frontends.torch_layouts import order_of_value
from hloom.runtime.errors import DamagedFileError, InputError, ShapeError
from hloom.runtime.layouts import order_of
from hloom.runtime.program import LoadedProgram

IMAGES = torch.randn(2, 5, 7, 6, generator=torch.Generator().manual_seed(0)).to(memory_format=torch.channels_last)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(5, 17, 3, padding=1)  # more features than a register has lanes: the direct kernel

    def forward(self, x):
        y = torch.relu(self.conv(x))
        return y, y.mean((2, 3))


@pytest.fixture(scope="module")
def net():
    torch.manual_seed(0)
    return Net().eval()


@pytest.fixture(scope="module")
def exe(net):
    return hloom.compile(net, IMAGES)


def _assert_alike(found, expected):
    assert found.stride() == expected.stride()
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("shape", "strides", "order"),
    [
        ((2, 5, 7, 6), (210, 42, 6, 1), ()),
        ((2, 5, 7, 6), (210, 1, 30, 5), (0, 2, 3, 1)),
        ((1, 5, 1, 1), (5, 1, 5, 5), ()),
        ((3, 4), (1, 3), (1, 0)),
        ((3, 4), (8, 1), ()),
        ((3, 4), (0, 1), ()),
        ((0, 4), (1, 0), ()),
        ((), (), ()),
    ],
)
def test_order(shape, strides, order):
    assert order_of(shape, strides) == order


def test_results_lie_as_those_of_eager(exe, net):
    with torch.no_grad():
        for found, expected in zip(exe(IMAGES), net(IMAGES), strict=True):
            _assert_alike(found, expected)


def test_the_input_is_read_where_it_lies(exe):
    """Its only transposition is the one that the program is made without."""
    assert str(exe.program.signature.inputs[0]) == "2x7x6x5xf32"
    assert str(exe.signature.inputs[0]) == "2x5x7x6xf32"
    assert all("transpose" not in group["ops"] for group in exe.report.data["groups"] if group["entry"] == "main")


class Parts(nn.Module):
    def forward(self, x):
        return x[:, :2], x[:, :, 1:4] + 1


def test_parts_have_the_order_of_the_whole():
    module = Parts()
    exe = hloom.compile(module, IMAGES)
    assert [spec.order for spec in exe.program.signature.outputs] == [(0, 2, 3, 1)] * 2
    for found, expected in zip(exe(IMAGES), module(IMAGES)):
        assert torch.equal(found, expected)


def test_an_operand_with_gaps_has_the_order_of_what_it_is_a_part_of():
    part = IMAGES[:, 1:4]
    exe = hloom.compile(Parts(), part)
    assert [spec.order for spec in exe.program.signature.inputs] == [(0, 2, 3, 1)]
    for given in (part, part.contiguous(), IMAGES[:, 2:]):
        for found, expected in zip(exe(given), Parts()(given)):
            assert torch.equal(found, expected)


def test_gradients_of_parts_lie_as_the_parts():
    parts = [IMAGES[:, :2].contiguous(memory_format=torch.channels_last).requires_grad_(), IMAGES.clone().requires_grad_()]
    joined = torch.compile(lambda *given: torch.cat(given, 1), backend="hloom", dynamic=False)(*parts)
    for part, gradient in zip(parts, torch.autograd.grad(joined, parts, joined.detach())):
        assert torch.equal(gradient, part) and gradient.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize(("stride", "order"), [((90, 1, 18, 3), (0, 2, 3, 1)), ((0, 1, 18, 3), ()), ((1, 1, 1, 1), ())])
def test_order_of_what_has_gaps(stride, order):
    assert order_of_value(torch.zeros(999).as_strided((2, 3, 4, 6), stride)) == order


def test_other_arrays_are_copied(exe, net):
    with torch.no_grad():
        expected = net(IMAGES)[0]
    _assert_alike(exe(IMAGES.contiguous())[0], expected)
    _assert_alike(exe(torch.cat([IMAGES, IMAGES], 3)[..., :6])[0], expected)
    found = exe(IMAGES.numpy())[0]
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_outputs_that_the_caller_gives(exe, net):
    with torch.no_grad():
        expected = net(IMAGES)
    outputs = [torch.empty_like(each) for each in expected]
    exe.run([IMAGES], outputs)
    for found, wanted in zip(outputs, expected, strict=True):
        _assert_alike(found, wanted)
    with pytest.raises(InputError, match="result0"):
        exe.run([IMAGES], [torch.empty(2, 17, 7, 6), outputs[1]])


def test_a_wrong_shape_is_told_as_the_caller_sees_it(exe):
    with pytest.raises(ShapeError, match=r"\(2, 5, 7, 6\), got \(2, 7, 6, 5\)"):
        exe(IMAGES.permute(0, 2, 3, 1))


def test_saved_and_loaded(exe, net, tmp_path):
    exe.save(tmp_path / "net.hloom")
    with torch.no_grad():
        _assert_alike(hloom.load(tmp_path / "net.hloom")(IMAGES)[0], net(IMAGES)[0])


def test_verified(net):
    hloom.compile(net, IMAGES, verify=True)


def test_row_major_inputs_give_row_major_results():
    x = torch.randn(3, 4)
    assert hloom.compile(lambda x: x.t() + 1, x)(x).is_contiguous()


def test_volumes_and_matrices():
    torch.manual_seed(0)
    conv, x = nn.Conv3d(3, 4, 2).eval(), torch.randn(1, 3, 4, 5, 6).to(memory_format=torch.channels_last_3d)
    with torch.no_grad():
        _assert_alike(hloom.compile(conv, x)(x), conv(x))
    x = torch.randn(7, 5).t()
    _assert_alike(hloom.compile(lambda x: torch.sin(x), x)(x), torch.sin(x))


@pytest.mark.parametrize("size", [6, 16])
def test_volumes_of_a_network_lie_as_eager_has_them(size):
    """Eager PyTorch has the larger ones computed by oneDNN, which keeps the channels last."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv3d(8, 16, 3, padding=1), nn.BatchNorm3d(16), nn.ReLU(), nn.MaxPool3d(2), nn.Conv3d(16, 16, 2, 2)).eval()
    x = torch.randn(1, 8, 8, size, size).to(memory_format=torch.channels_last_3d)
    with torch.no_grad():
        _assert_alike(hloom.compile(net, x)(x), net(x))
        _assert_alike(hloom.compile(net[:3], x)(x), net[:3](x))
        _assert_alike(hloom.compile(net[:3], x.contiguous())(x.contiguous()), net[:3](x.contiguous()))


def test_an_input_that_is_bound(net):
    exe = hloom.compile(lambda x, y: x * y, IMAGES, IMAGES, bind={1: IMAGES})
    _assert_alike(exe(IMAGES), IMAGES * IMAGES)


def test_an_input_that_is_changed_stays_row_major():
    def doubled(x):
        x.mul_(2)
        return x + 1

    x = IMAGES.clone()
    expected = x * 2
    exe = hloom.compile(doubled, x)
    torch.testing.assert_close(exe(x), expected + 1)
    torch.testing.assert_close(x, expected)


def test_on_a_simulated_gpu(net):
    with torch.no_grad():
        _assert_alike(hloom.compile(net, IMAGES, target="sim:sm_80")(IMAGES)[0], net(IMAGES)[0])


def test_an_order_of_no_dims(exe):
    artifact = exe.artifact()
    artifact.manifest["arguments"][-1]["order"] = [0, 2, 3, 3]
    with pytest.raises(DamagedFileError, match="order"):
        LoadedProgram.read(artifact)


@pytest.mark.parametrize("groups", [1, 2, 16])
def test_the_batch_of_one_image_is_exchanged_for_its_channels(groups: int) -> None:
    class Exchanged(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Conv2d(16, 64, 3, padding=1, groups=groups)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.layer(x).relu().transpose(0, 1)

    module, image = Exchanged().eval(), torch.randn(1, 16, 14, 18).contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(hloom.compile(module, image)(image), module(image), rtol=1e-4, atol=1e-4)


_RESHAPED = {
    "a line in two": (torch.nn.Conv2d(24, 24, 3, padding=2, groups=3), (1, 24, 7, 8), lambda y: y.reshape(1, 24, 9, 2, 5).relu()),
    "channels with lines": (torch.nn.Conv2d(8, 16, 3, padding=2, groups=2), (3, 8, 8, 6), lambda y: y.relu().reshape(3, 160, 8).relu()),
    "images with channels": (
        torch.nn.Conv2d(12, 6, 3, padding=1, groups=3),
        (3, 12, 7, 8),
        lambda y: (y.reshape(18, 7, 8).relu() + y.reshape(18, 7, 8).relu().mean(-1, keepdim=True)).reshape(18, 7, 4, 2),
    ),
    "images with lines": (
        torch.nn.Conv2d(3, 6, 3, padding=1, groups=3),
        (2, 3, 6, 8),
        lambda y: y.relu().reshape(12, 6, 8).relu().reshape(72, 8),
    ),
    "turned": (
        torch.nn.Conv2d(8, 16, 3, padding=1, groups=4),
        (2, 8, 6, 8),
        lambda y: y.reshape(2, 4, 4, 6, 8).permute(2, 0, 1, 4, 3).relu(),
    ),
}


@pytest.mark.parametrize("order", [torch.contiguous_format, torch.channels_last], ids=["first", "last"])
@pytest.mark.parametrize("name", _RESHAPED)
def test_results_of_padded_groups_are_reshaped(name: str, order: torch.memory_format) -> None:
    layer, shape, reshaped = _RESHAPED[name]

    class Reshaped(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return reshaped(self.layer(x))

    module, images = Reshaped().eval(), torch.randn(shape).contiguous(memory_format=order)
    torch.testing.assert_close(hloom.compile(module, images)(images), module(images), rtol=1e-4, atol=1e-4)


def test_what_is_indexed_of_open_sizes_lies_as_in_eager():
    """The order that eager's result has in memory is asked of open sizes."""

    def function(x):
        y = x.clone()
        y[4::2] = 3
        return y, x[:, torch.tensor([0, -1])], x[:, torch.tensor([1, 1]), :, torch.tensor([0, 1])]

    torch._dynamo.reset()
    compiled = torch.compile(function, backend="hloom", fullgraph=True, dynamic=True)
    for size in (9, 6):
        x = torch.arange(7.0 * 3 * size * size).reshape(size, size, 3, 7).permute(3, 2, 1, 0)
        for got, wanted in zip(compiled(x), function(x)):
            assert torch.equal(got, wanted) and got.stride() == wanted.stride()


@pytest.mark.parametrize("training", [False, True])
def test_a_batch_norm_of_what_is_permuted_lies_as_eagers(training):
    """Eager's is row-major unless the operand is channels_last."""
    norm, x = nn.BatchNorm2d(5).train(training), torch.randn(4, 6, 7, 5)
    with torch.no_grad():
        for order in ((0, 3, 2, 1), (0, 3, 1, 2)):
            wanted = norm(x.permute(order))
            call = torch.compile(lambda x, order=order: norm(x.permute(order)), backend="hloom", fullgraph=True)
            torch.testing.assert_close(call(x), wanted, check_stride=True)

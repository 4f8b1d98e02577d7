"""Gradients of ops whose own gradient has no lowering: of what is traced in their stead. None is left to PyTorch."""

from __future__ import annotations

import warnings

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402

from hloom.compiler.frontends import torch_registry  # noqa: E402

INDICES, OFFSETS = torch.tensor([1, 2, 4, 5, 4, 3, 2, 9]), torch.tensor([0, 4, 4])


def of_samples(mode, padding):
    return lambda x, grid: F.grid_sample(x, grid, mode=mode, padding_mode=padding, align_corners=False)


CASES = {
    "pdist": (lambda x: F.pdist(x, 1), (7, 5)),
    "cdist": (torch.cdist, (7, 5), (4, 5)),
    "counts that differ": (lambda x, y: torch.cdist(x, y, 0), (7, 5), (4, 5)),
    "cdist of nothing": (torch.cdist, (3, 0), (2, 0)),
    "volume samples": (lambda x, grid: F.grid_sample(x, grid, align_corners=True), (2, 3, 5, 6, 7), (2, 4, 3, 2, 3)),
    "segment mean": (lambda x: torch.segment_reduce(x, "mean", lengths=torch.tensor([2, 3, 1])), (6, 4)),
    "segment max": (lambda x: torch.segment_reduce(x, "max", offsets=torch.tensor([0, 2, 3, 6])), (6, 4)),
    "bags": (lambda table: F.embedding_bag(INDICES, table, OFFSETS, mode="mean"), (10, 3)),
    "largest of bags": (lambda table: F.embedding_bag(INDICES, table, OFFSETS, mode="max"), (10, 3)),
    "weighted bags": (lambda table, w: F.embedding_bag(INDICES, table, OFFSETS, mode="sum", per_sample_weights=w), (10, 3), (8,)),
    "bags of rows": (lambda table: F.embedding_bag(INDICES.reshape(2, 4), table, padding_idx=4), (10, 3)),
    "masked scatter": (lambda x, source: x.masked_scatter(torch.tensor([True, False, True, False, True]), source), (3, 5), (20,)),
    "clamped by a tensor": (lambda x: torch.clamp_max(x, torch.tensor(0.3)), (5,)),
    "filled without dimensions": (lambda x: x.index_fill(0, torch.tensor([0]), 1.0) * x, ()),
    "one soft margin": (lambda x: F.soft_margin_loss(x * 16, torch.tensor([1.0, -1, 1])), (3,)),
    "one label": (lambda x: F.multilabel_margin_loss(x, torch.tensor(0)), ()),
    "sign": (lambda x: torch.sgn(x) * x, (4,)),
    "weight norm": (lambda v, g: torch._weight_norm(v, g, 1), (3, 5), (1, 5)),
    "forward mode": (lambda x, t: torch.func.jvp(lambda x: x.sin() @ x.mT, (x,), (t,))[1], (3, 5), (3, 5)),
    "rows of QR": (lambda x: torch.linalg.qr(x)[1], (5, 5)),
    **{f"{m} {p}": (of_samples(m, p), (2, 3, 6, 7), (2, 4, 3, 2)) for m in ("bilinear", "nearest") for p in ("zeros", "reflection")},
    "bicubic border": (of_samples("bicubic", "border"), (2, 3, 6, 7), (2, 4, 3, 2)),
    **{
        f"lines, {m} {p}": (of_samples(m, p), (2, 9, 6, 7), (2, 4, 3, 2))
        for m, p in (("bilinear", "zeros"), ("bilinear", "border"), ("nearest", "zeros"), ("bicubic", "reflection"))
    },
}


@pytest.mark.parametrize("name", CASES)
def test_gradients(name) -> None:
    function, *shapes = CASES[name]
    generator = torch.Generator().manual_seed(3)
    operands = [torch.randn(shape, generator=generator).requires_grad_() for shape in shapes]

    def results(each):
        made = each(*operands)
        told = torch.randn(made.shape, generator=torch.Generator().manual_seed(5))
        return made.stride(), made.detach(), *torch.autograd.grad(made, operands, told)

    torch._dynamo.reset()
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "hloom leaves")
        got = results(torch.compile(function, backend="hloom", fullgraph=True))
    strides, *wanted = results(function)
    assert got[0] == strides
    torch.testing.assert_close(list(got[1:]), wanted, atol=2e-5, rtol=2e-5)


def test_what_declines_is_the_op_again() -> None:
    op = torch.ops.aten.segment_reduce.default
    before = dict(op.py_kernels)
    x = torch.randn(2, 3, 4, requires_grad=True)

    def function(x):
        return torch.segment_reduce(x, "sum", lengths=torch.tensor([[2, 1], [1, 2]]), axis=1)

    torch._dynamo.reset()
    with pytest.warns(UserWarning, match="leaves"):
        got = torch.autograd.grad(torch.compile(function, backend="hloom")(x).sum(), x)
    torch.testing.assert_close(got, torch.autograd.grad(function(x).sum(), x))
    assert op.py_kernels == before


def test_users_can_register_one() -> None:
    asked = []
    try:

        @torch_registry.torch_differentiated("aten.hypot")
        def hypot(x, y):
            asked.append(x)
            return (x * x + y * y).sqrt()

        x, y = torch.tensor([3.0], requires_grad=True), torch.tensor([4.0])
        torch._dynamo.reset()
        compiled = torch.compile(torch.hypot, backend="hloom", fullgraph=True)
        torch.testing.assert_close(torch.autograd.grad(compiled(x, y), x), (torch.tensor([0.6]),))
        assert asked
    finally:
        del torch_registry._differentiated["aten.hypot"]

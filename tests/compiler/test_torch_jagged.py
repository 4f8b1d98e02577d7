"""Nested tensors of torch.jagged beside eager PyTorch."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch_functions import Function  # noqa: E402

import hloom  # noqa: E402

OFFSETS = torch.tensor([0, 4, 4, 9, 17])
A = torch.ops.aten


@pytest.mark.parametrize("length", [5, 8, 11])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_filled_up_and_behind_each_other(length: int, dtype: torch.dtype) -> None:
    """Of an empty sequence, and of some that are longer than what they are filled up to: the rest of these is 0 behind each other."""
    values = (torch.arange(17 * 3).reshape(17, 3) + 1).to(dtype)

    def function(values, offsets):
        dense = A._jagged_to_padded_dense_forward(values, [offsets], [length], 0.0)
        return dense, A._padded_dense_to_jagged_forward(dense, [offsets], 17)

    dense, back = hloom.compile(Function(function), values, OFFSETS)(values, OFFSETS)
    lengths = OFFSETS.diff().tolist()
    for begin, count, row in zip(OFFSETS.tolist(), lengths, dense, strict=False):
        held = min(count, length)
        assert torch.equal(row[:held], values[begin : begin + held]) and not row[held:].any()
        assert torch.equal(back[begin : begin + held], values[begin : begin + held]) and not back[begin + held : begin + count].any()


def test_a_module_of_nested_tensors_and_its_gradients() -> None:
    torch.manual_seed(0)
    layer = torch.nn.Linear(5, 7)

    def function(values, offsets):
        nested = layer(torch.nested.nested_tensor_from_jagged(values, offsets, min_seqlen=4, max_seqlen=8)).relu()
        padded = torch.nested.to_padded_tensor(nested, -1.0)
        return nested.softmax(1).values(), padded.tanh()

    values, offsets, results = torch.randn(17, 5), torch.tensor([0, 4, 9, 17]), []
    for called in (function, torch.compile(function, backend="hloom", fullgraph=True)):
        layer.zero_grad()
        made = called(values, offsets)
        sum(each.square().sum() for each in made).backward()
        results.append([*(each.detach() for each in made), layer.weight.grad.clone()])
    torch.testing.assert_close(results[1], results[0])

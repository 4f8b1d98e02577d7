"""Gradients that find where an extreme stands by comparing: forward and backward agree on what is compared to the bit."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

ROWS, EDGES = 37, 101


def _scores(nodes, weights):
    """Numbers of edges, of sums that a backward would make again: cheap, and of several terms."""
    first, second = torch.arange(EDGES) * 7 % ROWS, torch.arange(EDGES) * 5 % ROWS
    return torch.nn.functional.leaky_relu((nodes[first] * weights).sum(-1) + (nodes[second] * weights.flip(0)).sum(-1), 0.2)


def _extremes_of_nodes(scores):
    nodes = (torch.arange(EDGES) * 5 % ROWS)[:, None].expand(-1, 3)
    return torch.full((ROWS, 3), -torch.inf).scatter_reduce(0, nodes, scores, "amax")


READ = {
    "scatter_reduce": _extremes_of_nodes,
    "amax": lambda scores: scores.reshape(-1, 3).amax(1),
    "largest of all": lambda scores: scores.max(),
    "norm": lambda scores: torch.linalg.vector_norm(scores, torch.inf, dim=1),
}


@pytest.mark.parametrize("name", READ)
def test_where_extremes_stand(name):
    torch._dynamo.reset()
    torch.manual_seed(0)
    nodes, weights = torch.randn(ROWS, 3, 3, requires_grad=True), torch.randn(3, 3, requires_grad=True)

    def loss(nodes, weights):
        return READ[name](_scores(nodes, weights)).square().sum()

    ours = torch.autograd.grad(torch.compile(loss, backend="hloom", fullgraph=True)(nodes, weights), (nodes, weights))
    torch.testing.assert_close(ours, torch.autograd.grad(loss(nodes, weights), (nodes, weights)), atol=1e-4, rtol=1e-4)

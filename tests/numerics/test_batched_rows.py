"""Products of batches of sequences, with what follows them in their tiles."""

import numpy as np
import pytest

import hloom

torch = pytest.importorskip("torch")


class _Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(x)))


@pytest.mark.parametrize("shape", [(3, 29, 40), (2, 100, 64), (2, 3, 25, 32), (3, 4, 6, 32), (5, 7, 48)])
def test_sequences_of_a_batch(shape):
    torch.manual_seed(0)
    module, x = _Block(shape[-1]).eval(), torch.randn(*shape)
    with torch.no_grad():
        expected = module(x)
        compiled = hloom.compile(module, x)
    np.testing.assert_allclose(np.asarray(compiled(x)), expected, rtol=1e-5, atol=1e-5)


def test_a_product_shares_its_kernel_with_what_follows_it():
    module, x = _Block(64).eval(), torch.randn(8, 2048, 64)
    report = hloom.compile(module, x).report.data
    assert not [record for record in report["decisions"] if record["code"] == "SPLIT"]

"""Depthwise convolutions that go over their pixels in strips: caches are so small that these pictures are far."""

import machines
import numpy as np
import pytest
import torch

import hloom
from hloom.compiler.target import load_target

CASES = {
    "of three, two apart": ((2, 48, 33, 35), 3, 2, 1),
    "no zeros around": ((1, 16, 64, 50), 3, 2, 0),
    "odd channels": ((3, 17, 61, 57), 3, 2, 1),
    "of four": ((1, 32, 70, 41), 4, 2, 1),
    "other steps and taps along a line": ((2, 24, 31, 64), (3, 5), (2, 3), (1, 2)),
    "no two share a pixel": ((1, 33, 90, 91), 2, 2, 1),
    "a narrow picture": ((1, 16, 130, 3), 3, 2, 1),
}


@pytest.mark.parametrize("inherited", ["cpu-avx2", "cpu-avx512"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("follows", [False, True])
def test_strips(tmp_path, inherited, case, follows):
    target = tmp_path / "near.toml"
    target.write_text(f'inherits = "{inherited}"\nl1_bytes = 16384\nl2_bytes = 20480\n')
    if not machines.runs_here(load_target(str(target))):
        pytest.skip(f"this machine is no {inherited}")
    shape, taps, step, padding = CASES[case]
    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(shape[1], shape[1], taps, step, padding, groups=shape[1]), *[torch.nn.ReLU()] * follows]
    module = torch.nn.Sequential(*layers).to(memory_format=torch.channels_last).eval()
    x = torch.randn(shape).contiguous(memory_format=torch.channels_last)
    with torch.no_grad():
        compiled = hloom.compile(module, x, target=str(target))
        np.testing.assert_allclose(np.asarray(compiled(x)), module(x).numpy(), rtol=0, atol=2e-6)

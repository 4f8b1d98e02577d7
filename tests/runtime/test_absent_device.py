"""Programs compiled for a GPU where there is none: they are saved with their weights, and run elsewhere (here: on the simulator)."""

import numpy as np
import pytest

import hloom
from hloom.compiler.simulator.simulated_device import SimulatedDevice
from hloom.runtime.absent import AbsentDevice
from hloom.runtime.errors import DamagedFileError, MissingDriverError
from hloom.runtime.executable import load

PROGRAM = """
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %e = stablehlo.exponential %t : tensor<8x8xf32>
  %d = stablehlo.dot_general %x, %e, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}
"""
X, W = (np.random.default_rng(seed).standard_normal(shape).astype(np.float32) for seed, shape in ((0, (4, 8)), (1, (8, 8))))


@pytest.fixture
def without_driver(monkeypatch):
    def fail():
        raise MissingDriverError("no driver", remedy="install one")

    monkeypatch.setattr("hloom.runtime.cuda.device.default_driver", fail)


def test_weights_are_saved_unpacked_and_bound_where_the_program_runs(without_driver, tmp_path):
    exe = hloom.compile(PROGRAM, target="sm_90a", bind={1: W})
    assert isinstance(exe.device, AbsentDevice)
    with pytest.raises(MissingDriverError, match="no driver"):
        exe(X)
    for _ in range(2):  # a file that was loaded without a driver can be saved again
        exe.save(tmp_path / "a.hloom")
        exe = load(tmp_path / "a.hloom")
    found = load(tmp_path / "a.hloom", SimulatedDevice)(X)
    np.testing.assert_allclose(found, X @ np.exp(W.T), rtol=1e-5)


def test_a_simulated_program_is_saved_with_what_init_made(tmp_path):
    exe = hloom.compile(PROGRAM, target="sim:sm_90a", bind={1: W})
    exe.save(tmp_path / "a.hloom")
    np.testing.assert_array_equal(load(tmp_path / "a.hloom", SimulatedDevice)(X), exe(X))


def test_weights_of_another_size_are_refused(without_driver, tmp_path):
    exe = hloom.compile(PROGRAM, target="sm_90a", bind={1: W})
    exe.device.start({"bound.1": bytes(12)})
    exe.save(tmp_path / "a.hloom")
    with pytest.raises(DamagedFileError, match="damaged"):
        load(tmp_path / "a.hloom")

"""Several programs under names: what they share, one file of them, and mistakes."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
from hloom.runtime.artifact import Artifact
from hloom.runtime.entries import unpacked_entries

SOURCE = """
func.func @main(%x: tensor<{rows}x64xf32>, %w: tensor<64x256xf32>) -> tensor<{rows}x256xf32> {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<{rows}x64xf32>, tensor<64x256xf32>) -> tensor<{rows}x256xf32>
  return %0 : tensor<{rows}x256xf32>
}}"""
OPEN = SOURCE.format(rows="?")
W = np.random.default_rng(0).normal(size=(64, 256)).astype(np.float32)
ROWS = {"short": 32, "long": 48}


def made(**options):
    return hloom.compile({name: SOURCE.format(rows=rows) for name, rows in ROWS.items()}, bind={"arg1": W}, **options)


def check(exe):
    for name, rows in ROWS.items():
        x = np.random.default_rng(rows).normal(size=(rows, 64)).astype(np.float32)
        np.testing.assert_allclose(exe[name](x), x @ W, rtol=1e-4, atol=1e-4)


def addresses(exe):
    """Of the weights that each entry reads, by their names in a file."""
    found = [one.device.kept() for one in (exe[name] for name in exe)]
    return [{name: np.frombuffer(blob, np.uint8).ctypes.data for name, blob in kept.items()} for kept in found]


def test_weights_are_there_once(tmp_path):
    exe = made()
    check(exe)
    exe.save(tmp_path / "e.hloom")
    loaded = hloom.load(tmp_path / "e.hloom")
    check(loaded)
    for each in (exe, loaded):
        first, second = addresses(each)
        assert first == second and first
    blobs = Artifact.load(tmp_path / "e.hloom").blobs.values()
    assert sum(len(blob) == W.nbytes for blob in blobs) == len(set(addresses(loaded)[0].values()))


def test_what_was_packed_is_not_kept_twice(tmp_path):
    exe = hloom.compile(SOURCE.format(rows=48), bind={"arg1": W})
    exe.save(tmp_path / "p.hloom")
    blobs = Artifact.load(tmp_path / "p.hloom").blobs
    assert "init.0" in blobs and "argument.1" not in blobs
    x = np.ones((48, 64), np.float32)
    np.testing.assert_allclose(hloom.load(tmp_path / "p.hloom")(x), x @ W, rtol=1e-4, atol=1e-4)
    exe.bind([2 * W])
    np.testing.assert_allclose(exe(x), 2 * (x @ W), rtol=1e-4, atol=1e-4)


def test_bound_later(tmp_path):
    made().save(tmp_path / "e.hloom", weights=False)
    exe = hloom.load(tmp_path / "e.hloom")
    with pytest.raises(hloom.NotBoundError, match="arg1"):
        exe["short"](np.ones((32, 64), np.float32))
    with pytest.raises(hloom.ArityError, match="nothing to bind at w"):
        exe.bind({"w": W})
    exe.bind({"arg1": W})
    check(exe)
    first, second = addresses(exe)
    assert first == second


def test_open_shapes_are_an_entry(tmp_path):
    exe = hloom.compile({"any": hloom.compile(OPEN, bind={1: W}), "short": SOURCE.format(rows=32)}, bind={"arg1": W})
    exe["any"](np.ones((48, 64), np.float32))
    exe.save(tmp_path / "e.hloom")
    loaded = hloom.load(tmp_path / "e.hloom")
    for rows in (48,):
        np.testing.assert_allclose(loaded["any"](np.ones((rows, 64), np.float32))[0], W.sum(0), rtol=1e-4, atol=1e-4)
    assert list(loaded) == ["any", "short"] and loaded.arena_bytes == exe.arena_bytes


def test_a_state_is_one(tmp_path):
    torch = pytest.importorskip("torch")

    class Cache(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("kept", torch.zeros(4))

    class Put(torch.nn.Module):
        def __init__(self, cache):
            super().__init__()
            self.cache = cache

        def forward(self, x):
            self.cache.kept.add_(x)
            return x * 1

    class Take(Put):
        def forward(self, x):
            self.cache.kept.mul_(x)
            return self.cache.kept * 1

    cache = Cache()
    x = torch.full((4,), 2.0)
    exe = hloom.compile({"put": (Put(cache), x), "take": (Take(cache), x)})
    exe.save(tmp_path / "s.hloom")
    loaded = hloom.load(tmp_path / "s.hloom")
    for each in (exe, loaded):
        each["put"](x.numpy())
        np.testing.assert_array_equal(each["take"](x.numpy()), np.full(4, 4.0))
        np.testing.assert_array_equal(each.state["cache.kept"], np.full(4, 4.0))
        each.state = {"cache.kept": np.ones(4, np.float32)}
        each["put"](x.numpy())
        np.testing.assert_array_equal(each["take"](x.numpy()), np.full(4, 6.0))
    other = Cache()
    other.kept.fill_(1)
    with pytest.raises(hloom.InputError, match="put and take have different values of the state cache.kept"):
        hloom.compile({"put": (Put(Cache()), x), "take": (Take(other), x)})


def test_leaves_of_a_tree_are_bound_by_its_name():
    pytest.importorskip("jax")
    tree = {"w": W, "b": np.ones(256, np.float32)}
    x = np.ones((3, 64), np.float32)
    entries = {"plain": (lambda p, x: x @ p["w"] + p["b"], tree, x), "sum": (lambda x, p: (x @ p["w"]).sum(), x, tree)}
    with pytest.raises(hloom.CompileError, match="arg0\\['b'\\]"):
        hloom.compile({"plain": entries["plain"]}, bind={"arg0": {"b": {"c": 1}}})
    exe = hloom.compile({"plain": entries["plain"]}, bind={"arg0": tree})
    np.testing.assert_allclose(exe["plain"](x), x @ W + 1, rtol=1e-4, atol=1e-4)


def test_mistakes():
    exe = made()
    with pytest.raises(hloom.InputError, match="no entry 'middle'") as error:
        exe["middle"]
    assert "short, long" in str(error.value)
    with pytest.raises(hloom.InputError, match="several entries"):
        exe(W)
    with pytest.raises(hloom.NotBoundError, match="no entry draws"):
        exe.seed(1)
    text = SOURCE.format(rows=1)
    for sources, options, why in (
        ({}, {}, "no entries"),
        ({1: text}, {}, "not 1"),
        ({"a": text}, {"bind": {0: W}}, "of which entry is not said"),
        ({"a": text}, {"bind": {"w": W}}, "which no entry has"),
        ({"a": text}, {"kwargs": {"x": W}}, "beside its source"),
    ):
        with pytest.raises(hloom.CompileError, match=why):
            hloom.compile(sources, **options)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda parts: parts.clear(), "it has no entries"),
        (lambda parts: parts.append(parts[0]), "'short' is there twice"),
        (lambda parts: parts[0]["blobs"].update(code="blob.99"), "'blob.99', which the file has not"),
        (lambda parts: parts[0].pop("manifest"), "manifest"),
        (lambda parts: parts[0]["manifest"].update(functions=[]), "an entry has entries"),
    ],
)
def test_damaged(tmp_path, change, why):
    made().save(tmp_path / "e.hloom")
    artifact = Artifact.load(tmp_path / "e.hloom")
    change(artifact.manifest["functions"])
    with pytest.raises(hloom.DamagedFileError, match=why):
        unpacked_entries(artifact)

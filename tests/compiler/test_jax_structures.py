"""Arguments and results of JAX programs that are objects of classes of their own, and keys of jax.random."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy

import hloom  # noqa: E402

X = np.arange(6, dtype=np.float32)


@functools.partial(jax.tree_util.register_dataclass, data_fields=["w", "b"], meta_fields=["times", "name", "act", "size"])
@dataclass
class Layer:
    name: str
    act: Callable[[Any], Any]
    w: Any
    times: int = 2
    b: Any = None
    size: tuple[int, int] = (2, 3)

    def __call__(self, x):
        y = self.act(x * self.w) * self.times
        return y if self.b is None else y + self.b


class Scale:
    """Knows its arrays itself."""

    def __init__(self, by, inner):
        self._by, self.inner, self.count = by, inner, 3

    def __call__(self, x):
        return self.inner(x) * self._by


class Flags:
    """Holds no arrays."""


class Slotted(Scale):
    """As flax's variables are."""

    __slots__ = ("_by", "inner")

    def __init__(self, by, inner):
        self._by, self.inner = by, inner


class Hidden:
    def __init__(self, *arrays):
        self.arrays = lambda: arrays


class Frozen(Mapping):
    def __init__(self, held):
        self._held = dict(held)

    def __getitem__(self, key):
        return self._held[key]

    def __iter__(self):
        return iter(self._held)

    def __len__(self):
        return len(self._held)


jax.tree_util.register_pytree_node(Scale, lambda s: ((s._by, s.inner), None), lambda _, children: Scale(*children))
jax.tree_util.register_pytree_node(Slotted, lambda s: ((s._by, s.inner), None), lambda _, children: Slotted(*children))
jax.tree_util.register_pytree_node(Hidden, lambda h: (h.arrays(), None), lambda _, children: Hidden(*children))
jax.tree_util.register_pytree_node(Frozen, lambda f: (tuple(f.values()), tuple(f)), lambda keys, children: Frozen(zip(keys, children)))
jax.tree_util.register_static(Flags)


def shift(by, x):
    return x + by


OBJECTS = {
    "a dataclass": Layer("first", jnp.tanh, X),
    "one in one": Layer("first", jnp.tanh, X, b=3.0, times=1),
    "a class": Scale(X, Layer("first", jnp.sin, X)),
    "a class with slots": Slotted(X, jax.tree_util.Partial(shift, 1.0)),
    "a function": jax.tree_util.Partial(shift, X),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_objects(name, tmp_path):
    def program(model, x, flags):
        return model(x), {"flags": flags, "x": Frozen({"b": x, "a": -x})}

    model = OBJECTS[name]
    exe = hloom.compile(program, model, X, Flags())
    exe.save(tmp_path / "program.hloom")
    for one in (exe, hloom.load(tmp_path / "program.hloom")):
        got, rest = one(model, X, Flags())
        np.testing.assert_allclose(got, model(X), rtol=1e-5)
        np.testing.assert_array_equal(rest["x"]["a"], -X)


def test_what_is_the_program_s_own():
    exe = hloom.compile(lambda layer, x: layer(x), OBJECTS["a dataclass"], X)
    exe(replace(OBJECTS["a dataclass"], act=None), X)  # a function is not compared
    with pytest.raises(hloom.InputError, match=r"inputs\[0\].times was compiled in as 2, got 3"):
        exe(replace(OBJECTS["a dataclass"], times=3), X)
    with pytest.raises(hloom.ArityError, match=r"inputs\[0\].b should be None"):
        exe(replace(OBJECTS["a dataclass"], b=X), X)


def test_results():
    layer, scale = hloom.compile(lambda x: (Layer("first", jnp.tanh, x), Scale(x, -x)), X)(X)
    assert (layer.name, layer.times, layer.b) == ("first", 2, None)
    np.testing.assert_array_equal(layer.w, X)
    np.testing.assert_array_equal(scale._by, X)
    step = hloom.compile(lambda scale: Scale(scale._by + 1, scale.inner * 2), Scale(X, X))
    np.testing.assert_array_equal(step(step(Scale(X, X))).inner, 4 * X)


def test_arrays_that_are_no_attributes():
    with pytest.raises(hloom.InvalidProgramError, match="whose arrays are no attributes"):
        hloom.compile(lambda hidden: hidden.arrays()[0], Hidden(X))


def test_keys_that_no_file_tells():
    """As flax's flatten_dict makes them, and the errors of checkify."""
    for program in (lambda d: d["a", 1] * 2, lambda d: d):
        with pytest.raises(hloom.InvalidProgramError, match=r"has the key \('a', 1\)\n  remedy: use texts or numbers"):
            hloom.compile(program, {("a", 1): X})
    np.testing.assert_array_equal(hloom.jit(lambda d: d["a", 1] * 2)({("a", 1): X}), X * 2)


def test_a_frozen_dictionary():
    frozen = Frozen({"b": X, "a": X + 1})
    np.testing.assert_array_equal(hloom.compile(lambda f: f["a"] - f["b"], frozen)(frozen), np.ones(6))


def drawn(key, x):
    return jax.random.normal(key, (6,)) + x


@pytest.mark.parametrize("target", ["cpu", "sim:sm_80"])
def test_keys(target):
    """They are given as what jax.random.key makes, or as its numbers."""
    key = jax.random.key(3)
    exe = hloom.compile(drawn, key, X, target=target, verify=target == "cpu")
    for given in (key, jax.random.key_data(key), np.asarray(jax.random.key_data(key))):
        np.testing.assert_allclose(exe(given, X), drawn(key, X), rtol=1e-5, atol=1e-6)
    keys = jax.random.split(key, 4)
    batched = jax.vmap(drawn, (0, None))
    np.testing.assert_allclose(hloom.compile(batched, keys, X, target=target)(keys, X), batched(keys, X), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(hloom.compile(lambda k: jax.random.split(k), key)(key), jax.random.key_data(jax.random.split(key)))


def test_a_key_beside_open_shapes():
    (size,) = jax.export.symbolic_shape("b")
    key = jax.random.key(3)
    exe = hloom.compile(drawn, jax.ShapeDtypeStruct((), key.dtype), jax.ShapeDtypeStruct((size, 6), np.float32))
    np.testing.assert_allclose(exe(key, X[None]), drawn(key, X[None]), rtol=1e-5, atol=1e-6)

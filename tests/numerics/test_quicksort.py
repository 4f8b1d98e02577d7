"""Rows of keys alone, which are sorted by vectors: against NumPy's order of the keys, in every order that is hard for a quicksort."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hloom
import hloom.passes.vector.sorting.quick as quick
import hloom.runtime.cpu
from hloom.compiler.codegen import emit_assembly
from hloom.compiler.compile import Compilation
from hloom.compiler.target import load_target

LENGTH = 3001
TYPES = {"i32": np.int32, "ui32": np.uint32, "f32": np.float32, "i64": np.int64, "ui64": np.uint64, "f64": np.float64}


def program(shapes: list[str], direction: str = "LT") -> str:
    """A sort of each argument along its last dimension, by its total order."""
    names = [f"%x{n}" for n in range(len(shapes))]
    sorts = []
    for name, shape in zip(names, shapes):
        *dims, kind = shape.split("x")
        order = "TOTALORDER" if kind[0] == "f" else "UNSIGNED" if kind[0] == "u" else "SIGNED"
        sorts.append(f"""{name}s = "stablehlo.sort"({name}) <{{dimension = {len(dims) - 1}}}> ({{
          ^bb0(%a: tensor<{kind}>, %b: tensor<{kind}>):
            %c = stablehlo.compare {direction}, %a, %b, {order} : (tensor<{kind}>, tensor<{kind}>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          }}) : (tensor<{shape}>) -> tensor<{shape}>""")
    kinds = ", ".join(f"tensor<{shape}>" for shape in shapes)
    taken = ", ".join(f"{name}: tensor<{shape}>" for name, shape in zip(names, shapes))
    return f"func.func @main({taken}) -> ({kinds}) {{ {' '.join(sorts)} return {', '.join(n + 's' for n in names)} : {kinds} }}"


def ordered(x: np.ndarray) -> np.ndarray:
    """The bits of a row's elements in total order: NaNs by sign and payload, -0 before 0."""
    if x.dtype.kind in "iu":
        return np.sort(x)
    bits = x.view(f"i{x.itemsize}")
    mapped = np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)
    found = np.sort(mapped)
    return np.where(found < 0, found ^ np.iinfo(bits.dtype).max, found).view(x.dtype)


def same_bits(found: np.ndarray, wanted: np.ndarray) -> None:
    np.testing.assert_array_equal(found.view(f"u{found.itemsize}"), wanted.view(f"u{wanted.itemsize}"))


def rows(length: int, kind: str, seed: int = 0) -> list[np.ndarray]:
    """Orders that are hard for a quicksort, and any bits at all."""
    rng, dtype = np.random.default_rng(seed), np.dtype(TYPES[kind])
    bits = rng.integers(0, 256, length * dtype.itemsize, np.uint8).view(dtype)
    up = np.arange(length).astype(dtype)
    edges = np.array([0, np.iinfo(f"i{dtype.itemsize}").min, np.iinfo(f"i{dtype.itemsize}").max, -1], f"i{dtype.itemsize}").view(dtype)
    return [
        bits,
        up,
        up[::-1].copy(),
        np.minimum(up, up[::-1]),
        np.maximum(up, up[::-1]),
        np.full(length, bits[0]),
        rng.choice(edges, length),
        rng.choice(bits[:7], length),
        np.where(rng.random(length) < 0.01, bits, edges[1]),
        np.where(rng.random(length) < 0.01, bits, edges[2]),
        np.concatenate([up[length // 2 :], up[: length // 2]]),
        (up.astype(np.int64) * 7919 % 64).astype(dtype),
    ]


@cache
def compiled(length: int, direction: str = "LT", target: str = "cpu") -> hloom.Executable:
    return hloom.compile(program([f"{length}x{kind}" for kind in TYPES], direction), target=target)


@pytest.mark.parametrize("direction", ["LT", "GT"])
def test_hard_orders(direction):
    for arrays in zip(*(rows(LENGTH, kind) for kind in TYPES)):
        for x, found in zip(arrays, compiled(LENGTH, direction)(*arrays)):
            same_bits(found, ordered(x)[:: 1 if direction == "LT" else -1])


@settings(max_examples=4, deadline=None)
@given(st.integers(17, 600), st.integers(0, 1 << 30))
def test_any_length(length, seed):
    shapes = [f"2x{length}xf32", f"2x{length}xi64"]
    exe = hloom.compile(program(shapes))
    for x, y in zip(rows(2 * length, "f32", seed), rows(2 * length, "i64", seed)):
        for given_, found in zip((x, y), exe(x.reshape(2, -1), y.reshape(2, -1))):
            for row, place in zip(given_.reshape(2, -1), found):
                same_bits(place, ordered(row))


def killer(length: int, lanes: int) -> tuple[np.ndarray, int]:
    """Whatever is sampled is among the least: each parting takes away a few keys. Follows quick.py and partition.py step by step; and how
    many keys would be parted."""
    keys, run, least, work = np.full(length, -1), np.arange(length), 0, 0
    while len(run) > quick._MANY:
        work += len(run)
        step = len(run) >> 4
        places = (np.array((1, 3, 5, 7, 8, 9, 11, 13, 15))[:, None] * step + np.arange(lanes)).reshape(-1)
        for place in run[places]:
            if keys[place] < 0:
                keys[place], least = least, least + 1
        medians = keys[run[places]].reshape(3, 3, lanes)
        pivot = np.sort(np.median(np.median(medians, axis=1), axis=0))[lanes // 2 - 1]
        above = (keys[run] > pivot) | (keys[run] < 0)
        whole = len(run) // lanes * lanes
        behind = run[whole:][above[whole:]][::-1]
        vectors = [part[over] for part, over in zip(run[:whole].reshape(-1, lanes), above[:whole].reshape(-1, lanes))]
        run = np.concatenate([*vectors[::-1], behind])
    keys[run[keys[run] < 0]] = np.arange(least, least + np.count_nonzero(keys[run] < 0))
    return keys, work


def test_what_would_take_a_quadratic_number_of_steps_takes_another_sort():
    length = 20_000  # lanes and registers, eight of each
    keys, work = killer(length, 8)
    assert work > 3 * quick.most_work(length, 8 * 8)
    exe = hloom.compile(program([f"{length}xi32"]), target="cpu-avx2")
    same_bits(exe(keys.astype(np.int32)), np.arange(length, dtype=np.int32))


def test_of_512_bits(monkeypatch):
    """The code for AVX-512, run with a processor's own instructions: LLVM expands what this one may lack."""
    monkeypatch.setattr(hloom.runtime.cpu, "require", lambda target: None)
    wide = load_target("cpu-avx2").with_entries({"vector_bits": 512, "vector_registers": 32})
    exe = hloom.compile(program([f"{LENGTH}xf32", f"{LENGTH}xi64", "2x100xi32"]), target=wide)
    for x, y in zip(rows(LENGTH, "f32"), rows(LENGTH, "i64")):
        z = x[:200].view(np.int32).reshape(2, -1)
        for found, wanted in zip(exe(x, y, z), (ordered(x), np.sort(y), np.sort(z))):
            same_bits(found, wanted)


def test_instructions():
    """A table of permutations for AVX2; compression for AVX-512."""
    for target, instruction in (("cpu-avx2", "vpermps"), ("cpu-avx512", "vpcompressd")):
        compilation = Compilation.of(program(["5000xi32"]), target=target)
        compilation.to("llvm")
        assert instruction in emit_assembly(compilation.module).replace("vpermd", "vpermps")


def test_nothing_is_touched_outside(monkeypatch):
    monkeypatch.setenv("HLOOM_DEBUG", "bounds")
    for length in (33, 68, 3001):
        exe = hloom.compile(program([f"3x{length}xi64"]), target="cpu-avx2")
        for x in rows(3 * length, "i64"):
            x = x.reshape(3, -1)
            same_bits(exe(x), np.sort(x))


def test_elements_that_their_keys_do_not_tell():
    """-0 and 0 have one key in JAX, and so have all NaNs: such elements stay in their order."""
    jnp = pytest.importorskip("jax.numpy")
    x = np.random.default_rng(5).standard_normal((4, 5000)).astype(np.float32)
    x[0, 7] = -0.0
    x[1, ::3] = np.where(np.arange(1667) % 2, -0.0, 0.0)
    x[2, ::5] = np.array([0x7FC00001, 0xFFC00000, 0x7FC12345, 0x7FC00000], np.uint32).view(np.float32)[np.arange(1000) % 4]
    x[3] = np.concatenate([x[1, :2500], x[2, :2500]])
    rows = [x[:, :length] for length in (40, 500, 5000)]
    exe = hloom.compile(lambda *xs: [jnp.sort(x) for x in xs], *rows)
    for found, row in zip(exe(*rows), rows):
        order = np.argsort(row.astype(np.float64), axis=1, kind="stable")
        same_bits(np.asarray(found), np.take_along_axis(row, order, 1))


MASKED = """func.func @main(%x: tensor<2x900xi32>) -> tensor<2x900xi32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %m = stablehlo.constant dense<MASK> : tensor<i32>
    %p = stablehlo.and %a, %m : tensor<i32>
    %q = stablehlo.and %b, %m : tensor<i32>
    %c = stablehlo.compare LT, %p, %q, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<2x900xi32>) -> tensor<2x900xi32>
  return %0 : tensor<2x900xi32>
}"""


@pytest.mark.parametrize("mask", [-2, ~0x7F, 0, 0x7FFFFFFF])
def test_keys_of_a_part_of_the_bits(mask):
    """Few or many keys that do not tell their elements: repaired, or sorted otherwise."""
    exe = hloom.compile(MASKED.replace("MASK", str(mask)))
    rng = np.random.default_rng(1)
    for most in (2, 5, 300, 1 << 31):
        x = rng.integers(-most, most, (2, 900)).astype(np.int32)
        order = np.argsort(x & np.int32(mask), axis=1, kind="stable")
        same_bits(exe(x), np.take_along_axis(x, order, 1))

"""Moves as strides (passes/fused/chains/views.py), on random chains of them: the elements that NumPy gets by moving."""

from __future__ import annotations

from math import prod

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_mlir import ir

from hloom.dialects.context import make_context
from hloom.passes.common.rewriting import create, ops_in, walk
from hloom.passes.fused.chains import views
from hloom.passes.stablehlo.support import build

_SHAPES = [(4, 6, 8), (24, 8), (2, 3, 4, 8), (12, 16)]


@st.composite
def chains(draw):
    """A shape, and moves: a permutation, a shape, or the bounds of slices."""
    shape = list(draw(st.sampled_from(_SHAPES)))
    start, moves = tuple(shape), []
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["transpose", "split", "join", "slice"]))
        d = draw(st.integers(0, len(shape) - 1))
        if kind == "transpose":
            order = draw(st.permutations(range(len(shape))))
            shape = [shape[n] for n in order]
            moves.append((kind, order))
        elif kind == "slice":
            low = draw(st.integers(0, shape[d] - 1))
            high = draw(st.integers(low + 1, shape[d]))
            moves.append((kind, [(low, high) if n == d else (0, size) for n, size in enumerate(shape)]))
            shape[d] = high - low
        elif kind == "split":
            inner = draw(st.sampled_from([n for n in range(1, shape[d] + 1) if shape[d] % n == 0]))
            shape[d : d + 1] = [shape[d] // inner, inner]
            moves.append(("reshape", list(shape)))
        elif d + 1 < len(shape):
            shape[d : d + 2] = [shape[d] * shape[d + 1]]
            moves.append(("reshape", list(shape)))
    return start, moves


def moved(array, moves):
    for kind, what in moves:
        if kind == "transpose":
            array = array.transpose(what)
        elif kind == "reshape":
            array = array.reshape(what)
        else:
            array = array[tuple(slice(low, high) for low, high in what)]
    return array


def emitted(value, moves):
    for kind, what in moves:
        if kind == "transpose":
            value = build.transpose(value, what)
        elif kind == "reshape":
            value = build.reshape(value, what)
        else:
            value = build.slice_(value, [low for low, _ in what], [high for _, high in what])
    return value


def elements(view, numbers):
    """The view's elements, dimension by dimension."""
    runs = [run for dim in view.dims for run in dim]
    step = numbers.itemsize
    strided = np.lib.stride_tricks.as_strided(numbers[view.offset :], [e for e, _ in runs], [s * step for _, s in runs])
    return strided.reshape([prod(e for e, _ in dim) for dim in view.dims])


@settings(max_examples=150, deadline=None)
@given(chains())
def test_like_numpy(chain):
    shape, moves = chain
    numbers = np.arange(prod(shape))
    expected = moved(numbers.reshape(shape), moves)
    context = make_context()
    with context, ir.Location.unknown():
        module = ir.Module.create()
        kind = build.tensor(shape, ir.F32Type.get())
        with ir.InsertionPoint(module.body):
            function = create(
                "func.func", regions=1, sym_name=ir.StringAttr.get("f"), function_type=ir.TypeAttr.get(ir.FunctionType.get([kind], []))
            )
        block = function.regions[0].blocks.append(kind)
        with ir.InsertionPoint(block):
            view = views.view_of(emitted(block.arguments[0], moves))
            runs = [run for dim in view.dims for run in dim]
            again = views.emit(view, runs)
            create("func.return")
        if view.source == block.arguments[0]:
            np.testing.assert_array_equal(elements(view, numbers), expected)
            if again is not None:
                made = [(op.name, list(op.attributes["start_indices"]) if "slice" in op.name else None) for op in ops_in(block)]
                assert len(made) >= 1 and build.count_of(again[0]) == expected.size
                assert sorted(again[1]) == list(range(len(runs)))
        else:
            assert walk(function, lambda op: op.name.startswith("stablehlo."))


def test_what_is_no_stride_is_its_own_source():
    """A part of what was joined out of order."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse("""
          func.func @f(%x: tensor<4x6xf32>) -> tensor<3x8xf32> {
            %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
            %1 = stablehlo.reshape %0 : (tensor<6x4xf32>) -> tensor<24xf32>
            %2 = stablehlo.slice %1 [1:23] : (tensor<24xf32>) -> tensor<22xf32>
            %3 = stablehlo.reshape %1 : (tensor<24xf32>) -> tensor<3x8xf32>
            return %3 : tensor<3x8xf32>
          }""")
        _, _, cut, joined, _ = ops_in(walk(module.operation, "func.func")[0].regions[0].blocks[0])
        assert views.view_of(cut.results[0]).source == cut.results[0]
        assert views.view_of(joined.results[0]).dims == (((3, 2),), ((2, 1), (4, 6)))

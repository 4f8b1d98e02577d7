"""Gradients of convolutions on GPUs, as JAX writes them: by the library and by generated kernels, on the simulated device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from torch_mlir import ir

from hloom.compiler.parsing import parse_module
from hloom.compiler.pipeline import run_stages
from hloom.compiler.simulator.device import SimulatedProgram
from hloom.compiler.target import attach_target, load_target
from hloom.dialects.context import make_context
from hloom.passes.common.rewriting import attributes_of, walk
from hloom.passes.fused.planner.policy import KernelRule, Policy, attach_policy
from hloom.runtime.dtypes import numpy_dtype

jax = pytest.importorskip("jax")
jnp = jax.numpy


@dataclass(frozen=True)
class Case:
    """The sizes are [n, spatial…, c] and [spatial…, c / groups, k]; with `first` the channels come before the spatial dimensions."""

    x: tuple[int, ...]
    w: tuple[int, ...]
    element: str = "f32"
    stride: int = 1
    padding: Sequence[tuple[int, int]] | str = "VALID"
    dilation: int = 1
    groups: int = 1
    first: bool = False
    made: tuple[str, ...] = ("output", "filter")
    """Of the thunks, with the policy that asks for a library: "output" is the gradient by x of a convolution without strides."""

    def gradients(self, element: str) -> tuple[Callable, list[jax.ShapeDtypeStruct]]:
        """The function of x, w and the gradient by y, and what it takes."""
        rank = len(self.x) - 2
        letters = "DHW"[-rank:]
        numbers = (f"NC{letters}", f"OI{letters}", f"NC{letters}") if self.first else (f"N{letters}C", f"{letters}IO", f"N{letters}C")
        shapes = [self.x, self.w]
        if self.first:
            shapes = [(self.x[0], self.x[-1], *self.x[1:-1]), (self.w[-1], self.w[-2], *self.w[:-2])]

        def convolve(x, w):
            return jax.lax.conv_general_dilated(
                x, w, (self.stride,) * rank, self.padding, rhs_dilation=(self.dilation,) * rank, dimension_numbers=numbers,
                feature_group_count=self.groups,
            )  # fmt: skip

        def gradients(x, w, dy):
            return jax.vjp(convolve, x, w)[1](dy)

        dtype = {"f16": jnp.float16, "bf16": jnp.bfloat16, "f32": jnp.float32}[element]
        x, w = (jax.ShapeDtypeStruct(shape, dtype) for shape in shapes)
        return jax.jit(gradients), [x, w, jax.eval_shape(convolve, x, w)]


STRIDED = ("input", "filter")
SAME = ((1, 1), (1, 1))
CASES = [
    Case((2, 9, 8, 16), (3, 3, 16, 24), padding=SAME),
    Case((2, 9, 8, 16), (3, 3, 16, 24), "f16", padding=SAME, first=True),
    Case((2, 9, 8, 16), (3, 3, 16, 24), "bf16", stride=2, padding=SAME, made=STRIDED),
    Case((2, 10, 8, 16), (3, 3, 16, 24), stride=2, padding="SAME", made=STRIDED),
    Case((2, 10, 8, 8), (3, 2, 8, 8), stride=3, made=STRIDED, first=True),
    Case((2, 11, 8, 8), (3, 2, 8, 8), stride=2, dilation=2, padding=((2, 2), (1, 1)), made=STRIDED),
    Case((3, 8, 8, 8), (1, 1, 8, 16), stride=2, made=("input",)),
    Case((2, 8, 9, 8), (3, 3, 4, 16), padding=SAME, groups=2),
    Case((2, 8, 9, 16), (3, 3, 1, 16), stride=2, padding=SAME, groups=16, made=("filter",)),
    Case((2, 8, 9, 16), (3, 5, 1, 16), "bf16", padding=((2, 1), (2, 2)), dilation=2, groups=16, made=("output",)),
    Case((2, 8, 9, 16), (3, 3, 1, 16), "f16", padding=SAME, groups=16, first=True, made=("filter",)),
    Case((2, 17, 8), (4, 8, 16), stride=2, padding=((1, 1),), made=STRIDED),
    Case((2, 5, 6, 4, 8), (3, 3, 3, 8, 8), stride=2, padding=((1, 1),) * 3, made=STRIDED),
    Case((2, 9, 9, 16), (3, 3, 16, 8), padding=((1, 0), (0, 2))),
]
TOLERANCE = {"f16": 3e-3, "bf16": 2e-2, "f32": 2e-5}


@pytest.mark.parametrize("use", ["library", "generated"])
@pytest.mark.parametrize(("padding", "stride", "taps"), [("SAME", 2, 3), ("VALID", 2, 2), ("VALID", 3, 4)])
def test_gradients_of_transposed_convolutions(padding, stride, taps, use) -> None:
    """By the weights: no window is an image."""

    def convolve(x, w):
        return jax.lax.conv_transpose(x, w, (stride, stride), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def gradients(x, w, dy):
        return jax.vjp(convolve, x, w)[1](dy)

    x, w = (jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((2, 5, 6, 8), (taps, taps, 8, 16)))
    taken = [x, w, jax.eval_shape(convolve, x, w)]
    random = np.random.default_rng(0)
    values = [random.standard_normal(each.shape).astype(np.float32) for each in taken]
    made, found = run(jax.jit(gradients).lower(*taken).as_text(), values, use)
    assert made == (["filter", "output"] if use == "library" else [])
    for each, other in zip(found, gradients(*values), strict=True):
        np.testing.assert_allclose(each, other, rtol=0, atol=2e-5 * np.abs(np.asarray(other)).max())


def run(text: str, values: Sequence[np.ndarray], use: str) -> tuple[list[str], Sequence[np.ndarray]]:
    """What the library makes, and the results of the program."""
    with make_context() as context, ir.Location.unknown():
        module = parse_module(text, context)
        attach_target(module.operation, load_target("sm_90a"))
        attach_policy(module.operation, Policy((KernelRule(use=use),)))
        run_stages(module.operation, to="thunk")
        made = sorted(ir.StringAttr(attributes_of(op)["makes"]).value for op in walk(module.operation, "thunk.conv"))
        return made, SimulatedProgram(module).run(values).results


@pytest.mark.parametrize("use", ["library", "generated"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradients_agree_with_jax(case, use) -> None:
    random, (gradients, taken) = np.random.default_rng(0), case.gradients(case.element)
    values = [random.standard_normal(each.shape).astype(numpy_dtype(case.element)) for each in taken]
    expected = case.gradients("f32")[0](*(value.astype(np.float32) for value in values))
    made, found = run(gradients.lower(*taken).as_text(), values, use)
    assert made == (sorted(case.made) if use == "library" else [])
    for each, other in zip(found, expected, strict=True):
        wide = np.asarray(other, np.float64)
        np.testing.assert_allclose(np.asarray(each, np.float64), wide, rtol=0, atol=TOLERANCE[case.element] * np.abs(wide).max())

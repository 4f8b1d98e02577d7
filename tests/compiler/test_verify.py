"""`verify=True`: a program with a fault injected anywhere on the road is refused, and the op, group or pass at fault is named."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch_mlir import ir

import hloom
from hloom.compiler.frontends import torch_registry
from hloom.compiler.verify import VerificationError
from hloom.passes import registry
from hloom.passes.common.ops import FLOAT, OPS, elementwise
from hloom.passes.common.rewriting import value_of, walk

PROGRAM = """func.func @main(%x: tensor<40x6xf32>, %w: tensor<6x5xf32>) -> (tensor<40x5xf32>, tensor<40xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %t = stablehlo.tanh %x : tensor<40x6xf32>
  %y = stablehlo.dot_general %t, %w, contracting_dims = [1] x [0] : (tensor<40x6xf32>, tensor<6x5xf32>) -> tensor<40x5xf32>
  %e = stablehlo.exponential %y : tensor<40x5xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<40x5xf32>, tensor<f32>) -> tensor<40xf32>
  return %e, %s : tensor<40x5xf32>, tensor<40xf32>
}"""
TWICE = """func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = stablehlo.add %x, %x : tensor<16xf32>
  return %y : tensor<16xf32>
}"""
LOOP = """func.func @main(%x: tensor<16xf32>, %n: tensor<i32>) -> tensor<16xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<16xf32>
  cond {
    %go_on = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go_on : tensor<i1>
  } do {
    %t = stablehlo.tanh %v : tensor<16xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %t : tensor<i32>, tensor<16xf32>
  }
  return %r#1 : tensor<16xf32>
}"""


class Layers(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(6)
        self.linear = torch.nn.Linear(6, 3)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = torch.tanh(self.norm(x))
        return self.linear(torch.cosh(y)), y.sum(1)


def refused(*arguments, **options) -> VerificationError:
    with pytest.raises(VerificationError) as caught:
        hloom.compile(*arguments, target="cpu", verify=True, **options)
    return caught.value


@pytest.fixture
def wrong_tanh(monkeypatch):
    """tanh(x) compiled as x."""
    monkeypatch.setitem(OPS, "stablehlo.tanh", elementwise(FLOAT, lambda s, op, args: args[0]))


@pytest.mark.parametrize("program", [PROGRAM, LOOP], ids=["dot", "loop"])
def test_a_right_program_passes(program):
    exe = hloom.compile(program, target="cpu", verify=True)
    assert isinstance(exe, hloom.Executable)


def test_torch_and_jax_are_their_own_references():
    model = Layers().eval()
    state = {name: value.clone() for name, value in model.state_dict().items()}
    hloom.compile(model, torch.randn(4, 6), target="cpu", verify=True)
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    shape = jax.ShapeDtypeStruct((4, 6), np.float32)
    hloom.compile(lambda x, y: {"a": jnp.sin(x) @ y.T, "b": x.sum()}, shape, np.ones((3, 6), np.float32), target="cpu", verify=True)


class Running(torch.nn.Module):
    """A running mean, and an input that is doubled in place."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(6))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        self.mean.mul_(0.9).add_(torch.tanh(x).mean(0))
        y.mul_(2)
        return x - self.mean


def test_what_a_call_changes_is_compared_and_stays_what_it_was(monkeypatch):
    model, x, y = Running(), torch.randn(4, 6), torch.ones(3)
    exe = hloom.compile(model, x, y, target="cpu", verify=True)
    assert not model.mean.any() and torch.equal(y, torch.ones(3))
    exe(x, y)
    assert torch.allclose(model.mean, torch.tanh(x).mean(0)) and torch.equal(y, torch.full((3,), 2.0))
    monkeypatch.setitem(OPS, "stablehlo.tanh", elementwise(FLOAT, lambda s, op, args: args[0]))
    assert "stablehlo.tanh" in refused(model, x, y).culprit.op


def test_arguments_of_a_jax_function_may_be_bound():
    w = np.full((5, 7), 0.5, np.float32)
    hloom.compile(lambda x, w: x @ w, np.ones((4, 5), np.float32), w, bind={1: w}, target="cpu", verify=True)


def test_a_simulated_gpu_is_verified_too():
    hloom.compile(PROGRAM, target="sim:sm_90a", verify=True)


def test_the_op_of_a_group_is_named(wrong_tanh):
    error = refused(PROGRAM)
    assert error.result == 0 and not error.difference.ok
    assert error.culprit.op.startswith("stablehlo.tanh of the group @") and '"-":3' in error.culprit.loc.replace("\\22", '"')
    assert error.code == "HL111"


def test_the_loop_is_named_whose_body_is_wrong(wrong_tanh):
    assert refused(LOOP).culprit.op.startswith("stablehlo.while")


def test_what_is_computed_once_takes_part(wrong_tanh):
    """A table that no argument reaches is a group of @init."""
    text = """func.func @main(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
      %n = stablehlo.iota dim = 0 : tensor<128xf32>
      %t = stablehlo.tanh %n : tensor<128xf32>
      %b = stablehlo.broadcast_in_dim %t, dims = [1] : (tensor<128xf32>) -> tensor<64x128xf32>
      %r = stablehlo.add %x, %b : tensor<64x128xf32>
      return %r : tensor<64x128xf32>
    }"""
    assert "init" in hloom.compile(text, target="cpu").program.symbols
    assert "stablehlo.tanh" in refused(text).culprit.op


def test_bound_values_take_part(wrong_tanh):
    weights = np.ones((6, 5), np.float32)
    assert "stablehlo.tanh" in refused(PROGRAM, bind={1: weights}).culprit.op


def test_the_op_of_a_torch_model_is_named_with_its_line(wrong_tanh):
    assert "stablehlo.tanh" in refused(Layers().eval(), torch.randn(4, 6)).culprit.op


def test_the_torch_op_is_named_that_the_front_end_lowers_wrongly(monkeypatch):
    monkeypatch.setattr(torch_registry, "_lowerings", dict(torch_registry._lowerings))
    hloom.torch_lowering("aten.cosh")(lambda op, x: value_of("stablehlo.cosine", x.type, [x]))
    culprit = refused(Layers().eval(), torch.randn(4, 6)).culprit
    assert culprit.op == "torch op aten.cosh.default" and "self.linear(torch.cosh(y))" in culprit.loc and culprit.stage == "input"


def test_the_pass_is_named(monkeypatch):
    """A canonicalisation that turns exponentials into tangents."""
    right = registry.find_pass("fold-transposes")

    def wrong(module: ir.Operation) -> None:
        right.fn(module)
        for op in walk(module, "stablehlo.exponential"):
            with ir.InsertionPoint(op), op.location:
                op.results[0].replace_all_uses_with(value_of("stablehlo.tan", op.results[0].type, [op.operands[0]]))
            op.erase()

    monkeypatch.setitem(registry._passes, "fold-transposes", registry.PassInfo("fold-transposes", wrong, "", {}))
    culprit = refused(PROGRAM).culprit
    assert culprit.op == "the pass fold-transposes" and culprit.stage == "stablehlo"


def test_rounding_of_an_ill_conditioned_program_is_no_fault():
    text = """func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
      %k = stablehlo.constant dense<1.0e5> : tensor<64xf32>
      %y = stablehlo.multiply %x, %k : tensor<64xf32>
      %t = stablehlo.sine %y : tensor<64xf32>
      %z = stablehlo.exponential %t : tensor<64xf32>
      return %z : tensor<64xf32>
    }"""
    hloom.compile(text, target="cpu", verify=True)


def test_what_cannot_run_here_says_so():
    with pytest.raises(hloom.CompileError, match=r"(?s)does not run here.*sim:sm_90a"):
        hloom.compile(TWICE, target="sm_90a", verify=True)

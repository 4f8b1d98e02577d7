"""torch modules and exported programs: parameters become bound arguments that share the module's memory, pytrees keep their shape."""

from __future__ import annotations

import re

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import hloom  # noqa: E402
from hloom.compiler.frontend import load_program  # noqa: E402
from hloom.compiler.passmanager import parse_pipeline, run_steps  # noqa: E402
from hloom.compiler.stage_passes import STABLEHLO  # noqa: E402
from hloom.passes.errors import InvalidProgramError, UnsupportedOpError  # noqa: E402
from hloom.runtime import pytree  # noqa: E402


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 16)
        self.norm = torch.nn.BatchNorm1d(16)
        self.register_buffer("mask", torch.ones(16), persistent=False)

    def forward(self, x, extra):
        y = torch.relu(self.norm(self.linear(x))) * self.mask + torch.tensor([2.0])
        return {"y": y, "none": None, "pair": (y.sum(), extra["z"] * 2)}


INPUTS = (torch.ones(3, 8), {"z": torch.arange(4)})


def canonical(program) -> str:
    module = program.module.operation
    with module.context:
        run_steps(module, parse_pipeline(",".join(STABLEHLO), module.context))
    return str(program.module)


@pytest.fixture(scope="module")
def model() -> Model:
    return Model().eval()


@pytest.mark.parametrize("exported", [False, True], ids=["module", "exported program"])
def test_parameters_are_bound_arguments(model: Model, exported: bool) -> None:
    program = load_program(torch.export.export(model, INPUTS) if exported else model, INPUTS)
    names = [program.inputs[i].name for i in program.bound]
    assert set(names) == {"linear.weight", "linear.bias", "norm.weight", "norm.bias", "norm.running_mean", "norm.running_var", "mask"}
    weight = program.bound[[s.name for s in program.inputs].index("linear.weight")]
    assert np.shares_memory(weight, model.linear.weight.detach().numpy())
    text = str(program.module)
    assert text.count("{hloom.bound}") == len(names)
    assert "dense_resource" not in text
    assert program.kind == "torch"


def test_pytrees(model: Model) -> None:
    program = load_program(model, INPUTS)
    assert pytree.flatten(program.in_tree, ("x", {"z": "z"})) == ["x", "z"]
    assert pytree.builder(program.out_tree)([1, 2, 3]) == {"y": 1, "none": None, "pair": (2, 3)}


def test_functions_of_which_python_knows_no_signature() -> None:
    x = torch.randn(3, 4)
    torch.testing.assert_close(hloom.compile(torch.softmax, x, -1)(x, -1), torch.softmax(x, -1))
    torch.testing.assert_close(hloom.compile(torch.add, x, x, kwargs={"alpha": 2})(x, x, alpha=2), 3 * x)


def test_example_inputs_that_are_one_tensor_are_inputs_of_their_own() -> None:
    """torch.export itself would make of `x - y` a program of y alone, and of a parameter among the examples one that is not read."""
    one, two, three = torch.rand(3, 3, 4)
    weight = torch.nn.Parameter(one.clone())
    module = torch.nn.Module()
    module.weight, module.forward = weight, lambda x, y, more: (x - y * module.weight) / more[0]
    exe = hloom.compile(module, two, two, [weight])
    torch.testing.assert_close(exe(two, three, [three]), (two - three * one) / three)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_weights_stay_half(dtype) -> None:
    module = torch.nn.Sequential(torch.nn.Linear(8, 128), torch.nn.ReLU(), torch.nn.Linear(128, 4)).to(dtype)
    program = load_program(module, (torch.ones(2, 8, dtype=dtype),))
    half = "f16" if dtype == torch.float16 else "bf16"
    assert {str(program.inputs[i].dtype) for i in program.bound} == {half}
    assert all(array.dtype.itemsize == 2 for array in program.bound.values())
    text = canonical(program)
    read = [line.rpartition(": ")[2] for line in text.splitlines() if "stablehlo.dot_general" in line]
    assert [kinds.count(f"x{half}>") for kinds in read] == [2, 2]  # as they lie, or in pairs where a processor splits these in registers
    assert "tensor<128x8xf32>" not in text and "stablehlo.transpose" not in text.partition("@init")[0]
    assert "dense<1.0" not in text  # addmm's alpha and beta


def test_what_a_call_changes_is_no_constant() -> None:
    program = load_program(Model().train(), INPUTS)
    changed = {program.inputs[index].name: program.outputs[result].shape for index, result in program.updates.items()}
    assert changed == {"norm.running_mean": (16,), "norm.running_var": (16,), "norm.num_batches_tracked": ()}
    assert program.state == set(program.updates) and str(program.module).count("{hloom.bound}") == len(program.bound) - 3
    assert sorted(program.updates.values()) == [len(program.outputs) - 3 + i for i in range(3)]


def test_what_cannot_be_exported_or_lowered() -> None:
    class Branches(torch.nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    class Places(torch.nn.Module):
        def forward(self, x):
            return torch.nonzero(x)

    with pytest.raises(InvalidProgramError, match="torch.export failed"):
        load_program(Branches(), (torch.ones(3),))
    with pytest.raises(UnsupportedOpError):
        load_program(Places(), (torch.ones(8),))


def test_a_refusal_names_the_op_that_is_not_lowered_among_others_that_are() -> None:
    with pytest.raises(UnsupportedOpError, match="torch-mlir does not lower aten.linalg_ldl_factor_ex.default to StableHLO") as caught:
        load_program(lambda x: torch.linalg.ldl_factor_ex(x * 2)[0] + x.tanh(), (torch.ones(8, 8),))
    assert caught.value.op == "aten.linalg_ldl_factor_ex.default"
    assert caught.value.loc is not None and re.fullmatch(rf"{re.escape(__file__)}:\d+: .*ldl_factor_ex.*", caught.value.loc)


def test_what_torch_does_not_export_is_told_by_the_line_of_the_users() -> None:
    with pytest.raises(InvalidProgramError, match="torch.export failed: at aten.linalg_lstsq.default") as caught:
        load_program(lambda a, b: torch.linalg.lstsq(a, b).residuals + 1, (torch.ones(5, 3), torch.ones(5, 2)))
    assert caught.value.op == "aten.linalg_lstsq.default" and caught.value.stage == "input" and caught.value.remedy
    assert caught.value.loc is not None and re.fullmatch(rf"{re.escape(__file__)}:\d+: .*lstsq.*", caught.value.loc)


def test_what_torch_mlir_does_not_import_is_told_by_its_line() -> None:
    def function(x):
        return torch.quantize_per_tensor(x, 0.1, 0, torch.quint8)

    with pytest.raises(UnsupportedOpError, match="torch-mlir does not import") as caught:
        load_program(function, (torch.ones(8),))
    assert caught.value.op is not None and "quantize_per_tensor" in caught.value.op
    assert caught.value.loc is not None and "torch.quantize_per_tensor(x, 0.1, 0" in caught.value.loc


def test_torchscript_is_refused():
    module = torch.jit.trace(torch.nn.Linear(4, 2), torch.ones(3, 4))
    with pytest.raises(hloom.InvalidProgramError, match="TorchScript"):
        hloom.compile(module, torch.ones(3, 4))


class _Multiplied(torch.nn.Module):
    def __init__(self, held: torch.Tensor | None = None):
        super().__init__()
        self.register_buffer("held", held)

    def forward(self, x, y=None):
        return (x if self.held is None else self.held) @ (x if y is None else y)


@pytest.mark.parametrize("layout", [torch.Tensor.to_sparse, torch.Tensor.to_sparse_csr])
def test_sparse_tensors_are_refused(layout):
    """Those that a call would give, and those that the module holds."""
    sparse, dense = layout(torch.eye(4)), torch.ones(4, 4)
    for module, inputs in ((_Multiplied(), (sparse, dense)), (_Multiplied(sparse), (dense,))):
        with pytest.raises(UnsupportedOpError, match="a sparse tensor"):
            hloom.compile(module, *inputs)

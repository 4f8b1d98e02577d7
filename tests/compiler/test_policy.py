"""Policies: what may be written in one, how a module carries it, and what becomes of it on the CPU, on a GPU and in the tools."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import hloom
from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.compiler.parsing import parse_module
from hloom.compiler.pipeline import Pipeline
from hloom.dialects.context import make_context
from hloom.passes.fused.planner.policy import KernelRule, Policy, PolicyError, attach_policy, policy_of
from hloom.tools import compile as compile_tool
from hloom.tools import explain as explain_tool
from hloom.tools import run as run_tool

WORKLOADS = Path(os.environ.get("HLOOM_PROGRAMS", Path(__file__).parents[3] / "shared")) / "workloads"
PRODUCT = """
func.func @main(%x: tensor<24x16xf32>, %w: tensor<16x8xf32>, %b: tensor<8xf32>) -> tensor<24x8xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<24x16xf32>, tensor<16x8xf32>) -> tensor<24x8xf32> loc("fc1")
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<8xf32>) -> tensor<24x8xf32>
  %2 = stablehlo.add %0, %1 : tensor<24x8xf32>
  return %2 : tensor<24x8xf32>
}"""
LIBRARY = {"kernel": [{"op": "dot_general", "use": "library"}]}
GENERATED = {"kernel": [{"op": "dot_general", "use": "generated"}]}
TEXT = """
[[kernel]]
op = "dot_general"
loc = "*fc1*"
use = "library"
[[kernel]]
use = "generated"
"""
RULES = Policy((KernelRule("dot_general", "*fc1*", use="library"), KernelRule(use="generated")))


def chosen(report: dict) -> list[tuple[str, str]]:
    """What became of each contraction, and by which rule."""
    codes = ("KERNEL_CHOSEN", "POLICY_FORCED", "POLICY_FORBIDDEN")
    return [(each["code"], each["figures"].get("policy_rule", "")) for each in report["decisions"] if each["code"] in codes]


def test_files_dictionaries_and_modules_hold_the_same_policy(tmp_path) -> None:
    file = tmp_path / "p.toml"
    file.write_text(TEXT)
    entries = {"kernel": [{"op": "dot_general", "loc": "*fc1*", "use": "library"}, {"use": "generated"}]}
    assert Policy.of(file) == Policy.of(str(file)) == Policy.of(entries) == hloom.Policy.of(RULES) == RULES
    module = parse_module(PRODUCT, make_context()).operation
    assert policy_of(module) == Policy()
    attach_policy(module, RULES)
    read = parse_module(str(module), make_context()).operation
    assert policy_of(read) == RULES


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[kernels]]\nuse = 'library'", "p.toml: there is no 'kernels'"),
        ("kernel = 'library'", "p.toml: kernel is a list of entries, not 'library'"),
        ("kernel = ['library']", "p.toml, kernel 1: an entry has keys and values"),
        ("[[kernel]]\nuse = 'cost'\n[[kernel]]\nuse = 'cost'\nops = '*'", "p.toml, kernel 2: there is no 'ops'"),
        ("[[kernel]]\nop = '*'", "p.toml, kernel 1: it does not say which kernel to use"),
        (
            "[[kernel]]\nuse = 'blas'",
            "p.toml, kernel 1: use is library, generated, unordered, direct, channels_first, channels_last, apart or cost, not 'blas'",
        ),
        ("[[kernel]]\nuse = 'cost'\nloc = 7", "p.toml, kernel 1: loc is a string, not 7"),
        ("[[kernel]\n", "p.toml is no TOML file"),
        (None, "p.toml cannot be read: No such file"),
    ],
)
def test_mistakes_are_told_with_file_and_entry(tmp_path, text, message) -> None:
    if text is not None:
        (tmp_path / "p.toml").write_text(text)
    with pytest.raises(PolicyError) as error:
        hloom.compile(PRODUCT, target="cpu", policy=tmp_path / "p.toml")
    assert message in str(error.value)


def test_what_is_no_policy() -> None:
    with pytest.raises(PolicyError, match="42 is not a policy"):
        hloom.compile(PRODUCT, target="cpu", policy=42)


@pytest.mark.parametrize("attribute", ["3 : i64", "{kernel = 3 : i64}", "{kernel = [{use = 3 : i64}]}", "{kernel = [{}]}", "{fusion = []}"])
def test_a_malformed_attribute_is_refused(attribute) -> None:
    module = parse_module(f"module attributes {{hloom.policy = {attribute}}} {{ {PRODUCT} }}", make_context())
    with pytest.raises(PolicyError, match="hloom.policy"):
        Pipeline("plan-fusion").run(module)


@pytest.mark.parametrize(("policy", "code", "calls"), [(LIBRARY, "POLICY_FORCED", True), (GENERATED, "POLICY_FORBIDDEN", False)])
def test_a_dot_on_the_processor(policy, code, calls) -> None:
    rng = np.random.default_rng(0)
    x, w, b = (rng.standard_normal(shape, np.float32) for shape in ((24, 16), (16, 8), (8,)))
    exe = hloom.compile(PRODUCT, target="cpu", policy=policy)
    np.testing.assert_allclose(exe(x, w, b), x @ w + b, rtol=1e-5, atol=1e-5)
    assert ("library gemm" in " ".join(group["kernel"] for group in exe.report.data["groups"])) == calls
    (decision,) = chosen(exe.report.data)
    assert decision == (code, f"kernel 1: op = 'dot_general', use = {policy['kernel'][0]['use']!r}")
    assert code in exe.report.text() and decision[1] in exe.report.text()


def test_a_library_is_not_asked_for_sums_of_nothing() -> None:
    exe = hloom.compile(PRODUCT.replace("24x16x", "24x0x").replace("16x8x", "0x8x"), target="cpu", policy=LIBRARY)
    values = [np.ones(shape, np.float32) for shape in ((24, 0), (0, 8), (8,))]
    np.testing.assert_array_equal(exe(*values), np.ones((24, 8)))
    (unmet,) = [each for each in exe.report.data["decisions"] if each["code"] == "POLICY_UNMET"]
    assert unmet["reason"] == "generated: no library takes it, it has no elements"


@pytest.mark.skipif(not WORKLOADS.exists(), reason="the workloads are not beside the repository")
def test_simple_model_in_half_precision() -> None:
    text = (WORKLOADS / "simplemodel_f16.stablehlo.mlir").read_text()
    line = 1 + next(number for number, line in enumerate(text.splitlines()) if "dot_general" in line)
    first = {"op": "dot_general", "loc": f'"-":{line}:*', "use": "library"}

    def made(policy) -> dict:
        program = load_program(text)
        bound = range(1, len(program.inputs))
        return Compilation(program, target="sm_90a", bound=bound, simulated="gpu", policy=policy).artifact().manifest["report"]

    by_price, by_policy = made(None), made({"kernel": [first, {"op": "convolution", "use": "generated"}]})
    libraries = [[row["call"].split()[0] for row in report["libraries"] for _ in range(row["calls"])] for report in (by_price, by_policy)]
    assert libraries == [["conv"] * 3, ["gemm"]]  # the first layer is generated in any case
    rules = [f"kernel 1: op = 'dot_general', loc = {first['loc']!r}, use = 'library'", "kernel 2: op = 'convolution', use = 'generated'"]
    expected = [("POLICY_FORBIDDEN", rules[1])] * 4 + [("POLICY_FORCED", rules[0])] + [("KERNEL_CHOSEN", "")] * 4
    assert chosen(by_policy) == expected
    assert by_policy["libraries"][0]["reason"].endswith("against the price")


def test_programs_of_another_policy_are_another_entry_of_the_cache(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HLOOM_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("HLOOM_DEBUG", raising=False)
    made = []
    compile_whole = Compilation._compiled
    monkeypatch.setattr(Compilation, "_compiled", lambda compilation: (made.append(compilation), compile_whole(compilation))[1])
    for policy in (None, LIBRARY, GENERATED, LIBRARY, None):
        hloom.compile(PRODUCT, target="sim:sm_90a", policy=policy)
    assert len(made) == 3


@pytest.fixture
def files(tmp_path):
    (tmp_path / "p.mlir").write_text(PRODUCT)
    (tmp_path / "p.toml").write_text('[[kernel]]\nloc = "*fc1*"\nuse = "library"\n[[kernel]]\nop = "convolution"\nuse = "library"\n')
    return tmp_path


def test_a_dump_keeps_its_policy(files, capfdbinary) -> None:
    program, stage, whole, again = (str(files / f"{name}.mlir") for name in ("p", "stage", "whole", "again"))
    policy, common = f"--policy={files / 'p.toml'}", ["--target=cpu-avx2", "--mlir-print-debuginfo"]
    assert compile_tool.main([program, *common, policy, "--to=fused", "-o", whole]) == 0
    assert compile_tool.main([program, *common, policy, "--to=stablehlo", "-o", stage]) == 0
    assert compile_tool.main([stage, *common, "--from=stablehlo", "--to=fused", "-o", again]) == 0
    fused = Path(again).read_text()
    assert 'hloom.library = "gemm"' in fused and "hloom.policy" in fused
    assert fused == Path(whole).read_text()
    assert compile_tool.main([whole, *common, policy, "--from=fused", "--to=lhlo"]) == 1
    assert b"at stage fused nothing is left that a policy decides" in capfdbinary.readouterr().err


def test_the_tools_take_a_policy_and_warn_of_idle_rules(files, capfd) -> None:
    program, compiled = str(files / "p.mlir"), str(files / "p.hloom")
    common = ["--target=cpu", f"--policy={files / 'p.toml'}"]
    idle = "warning: policy, kernel 2: op = 'convolution', use = 'library': it matches no dot, convolution, reduction or scatter; near: "
    assert compile_tool.main([program, "-o", compiled, *common]) == 0
    assert run_tool.main([program, "--input=random", "--check=interpreter", *common]) == 0
    assert capfd.readouterr().err.count(idle) == 2
    assert explain_tool.main([program, *common]) == 0
    told = capfd.readouterr().out
    assert "POLICY_FORCED" in told and "POLICY_UNMET" in told and "policy_rule kernel 1: loc = '*fc1*', use = 'library'" in told
    for tool in (run_tool, explain_tool):
        assert tool.main([compiled, *common]) == 1
        assert "decided when the file was written" in capfd.readouterr().err

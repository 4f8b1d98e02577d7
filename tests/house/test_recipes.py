"""The recipes of CONTRIBUTING.md, followed: what is added lies in a folder of the test's own and is found as if it were the house's."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

from hloom.compiler import target

SUM = """
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.negate %x : tensor<8xf32>
  %1 = stablehlo.negate %0 : tensor<8xf32>
  %2 = stablehlo.tanh %y : tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}
"""


def opt(package: str, folder: Path, *flags: str) -> str:
    """What hloom-opt makes of SUM where `folder` belongs to the package, too."""
    program = (
        f"import sys, {package} as package; package.__path__.append(sys.argv.pop(1)); import hloom.tools.opt as opt; sys.exit(opt.main())"
    )
    command = [sys.executable, "-c", program, str(folder), "-", *flags]
    done = subprocess.run(command, input=SUM, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


PASS = '''
"""drop-negations: pairs of negations go."""

from torch_mlir import ir

from hloom.passes.common.rewriting import defining_op, walk
from hloom.passes.registry import register_pass


@register_pass("drop-negations", "removes pairs of negations")
def drop_negations(module: ir.Operation, *, limit: int = 100) -> None:
    """`limit`: the most pairs that are removed."""
    for op in walk(module, "stablehlo.negate")[: 2 * limit]:
        inner = defining_op(op.operands[0])
        if inner is not None and inner.name == op.name:
            op.results[0].replace_all_uses_with(inner.operands[0])
'''


def test_a_pass_is_one_file_and_a_line_in_a_pipeline(tmp_path):
    (tmp_path / "drop_negations.py").write_text(PASS)
    package = "hloom.passes.stablehlo"
    assert "drop-negations" in opt(package, tmp_path, "--list-passes")
    assert "limit=100" in opt(package, tmp_path, "--list-passes")
    assert "negate" not in opt(package, tmp_path, "--pass-pipeline=builtin.module(drop-negations,canonicalize)")
    assert "negate" in opt(package, tmp_path, "--drop-negations=limit=0", "--canonicalize")


def test_a_target_is_one_file(tmp_path, monkeypatch):
    for path in target._FOLDER.glob("*.toml"):
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "sm_87.toml").write_text('inherits = "sm_80"\ncpu = "sm_87"\ncompute_capability = 87\nmultiprocessors = 16\n')
    monkeypatch.setattr(target, "_FOLDER", tmp_path)
    assert "sm_87" in target.known_targets()
    made = target.load_target("sm_87")
    assert (made.name, made.kind, made.cpu, made.multiprocessors) == ("sm_87", "cuda", "sm_87", 16)
    assert made.shared_bytes_per_block == target.load_target("sm_80").shared_bytes_per_block
    command = [sys.executable, "-m", "hloom.tools.compile", "-", f"--target={tmp_path / 'sm_87.toml'}", "--to=nvvm", "-o", "-"]
    done = subprocess.run(command, input=SUM, capture_output=True, text=True)
    assert done.returncode == 0 and "sm_87" in done.stdout and "nvvm.kernel" in done.stdout, done.stderr


RULE = '''
"""Two plain loops that have nothing but their extents in common beside each other, for one launch less."""

from hloom.passes.fused.planner.axes import var
from hloom.passes.fused.planner.codes import DecisionCode
from hloom.passes.fused.planner.group import Union
from hloom.passes.fused.planner.legality import Refusal, checked
from hloom.passes.fused.planner.rules import Proposal, Rule


class HorizontalCode(DecisionCode):
    FUSED_HORIZONTAL = "fused", "two loops over the same extents"


class Horizontal(Rule):
    name, late, into_first = "horizontal", True, True

    def proposals(self, grouping, limits, node, upstream):
        group = grouping.at(node)
        for other in grouping.alive():
            beside = grouping.at(other)
            if other <= node or not (group.iterates and beside.iterates) or group.axes != beside.axes:
                continue
            image = {axis: var(axis, group.axes[axis].extent) for axis in group.axes}
            union = Union((image,), group.axes, {**group.results, **beside.results}, (), 0, group.instances + beside.instances)
            union = checked(union, beside, group, grouping.program.values, limits)
            yield Proposal(node, (other,), union if isinstance(union, Refusal) else (union,))

    def told(self, u, target, unions):
        return HorizontalCode.FUSED_HORIZONTAL, "one kernel is launched instead of two"
'''


def test_a_fusion_rule_is_one_file(tmp_path):
    package = "hloom.passes.fused.planner.rules"
    without = opt(package, tmp_path, "--plan-fusion")
    assert without.count("func.func private @fusion_") == 2 and "FUSED_HORIZONTAL" not in without
    (tmp_path / "horizontal.py").write_text(textwrap.dedent(RULE))
    merged = opt(package, tmp_path, "--plan-fusion")
    assert merged.count("func.func private @fusion_") == 1
    assert 'code = "FUSED_HORIZONTAL"' in merged and 'verdict = "fused"' in merged

"""Names and places of ops: modules of torch, scopes of JAX, files of MLIR text; in reports, traces, errors and policies."""

from __future__ import annotations

import json

import jax
import numpy as np
import pytest
import torch

import hloom
from hloom.passes.common.places import Place, place

TEXT = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %a : tensor<4xf32>
  %1 = stablehlo.add %0, %a : tensor<4xf32> loc("sum")
  return %1 : tensor<4xf32>
}
"""


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ('loc("mlp.mlir":24:10)', Place("", "mlp.mlir", 24, 10)),
        ("loc(unknown)", Place()),
        ('loc("fc1")', Place("fc1")),
        ('"fc1"("a b.py":3:1 to :9)', Place("fc1", "a b.py", 3, 1)),
        ('loc(callsite("max" at callsite("relu" at "jit(f)"("f.py":2:3))))', Place("jit(f)/relu/max", "f.py", 2, 3)),
        ('loc("op"(callsite("inner"("/x/site-packages/torch/nn.py":5:6) at "outer"("m.py":7:8))))', Place("op", "m.py", 7, 8)),
        ('loc("op"("/x/site-packages/torch/nn.py":5:6))', Place("op", "/x/site-packages/torch/nn.py", 5, 6)),
        ('loc(fused<"pass">["a"("f.py":1:2), "b"("g.py":3:4)])', Place("a", "f.py", 1, 2)),
        (r'loc("a \22quoted\22 (name"("f.py":1:2))', Place(r"a \22quoted\22 (name", "f.py", 1, 2)),
    ],
)
def test_place_of_a_location(location: str, expected: Place) -> None:
    assert place(location) == expected


def test_how_a_place_is_told() -> None:
    told = [str(place(text)) for text in ('"a.mlir":3:4', '"b/fc1"("x/y.py":3:4)', '"fc1"', "unknown")]
    assert told == ["a.mlir:3:4", "b/fc1  y.py:3", "fc1", "unknown"]
    assert [place(text).module for text in ('"a.mlir":3:4', '"b/c/fc1"("x/y.py":3:4)', '"fc1"', "unknown")] == ["a.mlir:3:4", "b/c", "", ""]


class _Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q_proj = torch.nn.Linear(8, 8)
        self.norm = torch.nn.LayerNorm(8)

    def forward(self, x):
        return self.norm(torch.relu(self.q_proj(x)))


class _Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([_Block(), _Block()])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x.softmax(-1)


def _sources(report: hloom.Report) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for op in report.data["ops"]:
        found.setdefault(op["op"], set()).add(op["from"].partition("  ")[0])
    return found


def test_torch_modules_name_their_ops_and_groups() -> None:
    exe = hloom.compile(_Model().eval(), torch.randn(3, 8), target="cpu")
    dot = next(op for op in exe.report.data["ops"] if op["op"] == "dot_general")
    assert dot["from"] == f"layers.0.q_proj/aten.linear.default  test_places.py:{_line('self.norm(')}"
    (twice,) = [group for group in exe.report.data["groups"] if group["calls"] == 2 and "dot_general" in group["ops"]]
    assert {"layers.0.q_proj", "layers.1"} <= set(twice["from"])
    assert "layers.0.q_proj … layers.1" in exe.report.text()


def _line(text: str) -> int:
    with open(__file__, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if f"return {text}" in line)


def test_a_policy_matches_a_module() -> None:
    policy = {"kernel": [{"op": "dot_general", "loc": "layers.1.q_proj/*", "use": "generated"}]}
    exe = hloom.compile(_Model().eval(), torch.randn(3, 8), target="cpu", policy=policy)
    ruled = [record for record in exe.report.data["decisions"] if "policy_rule" in record["figures"]]
    assert len(ruled) == 1 and "layers.1.q_proj" in json.dumps(ruled)


def test_gradients_are_named_by_their_modules() -> None:
    before = len(hloom.programs())
    model = torch.compile(_Model(), backend="hloom")
    model(torch.randn(3, 8)).square().sum().backward()
    seen = hloom.programs()[before:]
    forward, backward = (_sources(exe.report) for exe in seen)
    assert forward["dot_general"] == {"layers.0.q_proj/aten.addmm.default"}
    assert "layers.1.q_proj/aten.mm.default" in backward["dot_general"]


def test_programs_of_jit_are_listed() -> None:
    before = len(hloom.programs())
    doubled = hloom.jit(lambda x: 2 * x)
    doubled(np.ones(3, np.float32))
    (exe,) = hloom.programs()[before:]
    assert exe.report.data["groups"]


def test_scopes_of_jax_name_ops() -> None:
    def function(x, w):
        with jax.named_scope("fc1"):
            return jax.nn.relu(x @ w)

    exe = hloom.compile(function, np.ones((4, 8), np.float32), np.ones((8, 8), np.float32), target="cpu")
    assert _sources(exe.report)["dot_general"] == {"jit(function)/fc1/dot_general"}
    assert exe.report.data["groups"][0]["from"][0] == "jit(function)/fc1"


def test_files_keep_their_names(tmp_path) -> None:
    path = tmp_path / "mlp.mlir"
    path.write_text(TEXT)
    exe = hloom.compile(path, target="cpu")
    assert _sources(exe.report) == {"tanh": {"mlp.mlir:2:8"}, "add": {"sum"}}
    assert {op["location"] for op in exe.report.data["ops"]} == {f'"{path}":2:8', '"sum"'}
    path.write_text(TEXT.replace("-> tensor<4xf32> {", "-> tensor<5xf32> {"))
    with pytest.raises(hloom.CompileError) as caught:
        hloom.compile(path, target="cpu")
    assert f'"{path}":' in caught.value.loc

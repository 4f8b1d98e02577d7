"""Wrong files, options and values given to the tools: exit status 1 and one error with a code, never a traceback."""

import json

import numpy as np
import pytest

import hloom
from hloom.runtime.artifact import Artifact
from hloom.tools import compile as compile_tool
from hloom.tools import explain, opt, run

ADD = """
func.func @main(%x: tensor<2x3xf32>, %k: tensor<2xi32>) -> (tensor<2x3xf32>, tensor<2xi32>) {
  %0 = stablehlo.add %x, %x : tensor<2x3xf32>
  return %0, %k : tensor<2x3xf32>, tensor<2xi32>
}"""
TOOLS = {"opt": opt.main, "compile": compile_tool.main, "run": run.main, "explain": explain.main}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("files")
    exe = hloom.compile(ADD)
    exe.save(path / "good.hloom")
    (path / "good.mlir").write_text(ADD)
    good = (path / "good.hloom").read_bytes()
    (path / "cut.hloom").write_bytes(good[: len(good) // 2])
    (path / "header.hloom").write_bytes(good[:20])
    (path / "longer.hloom").write_bytes(good + b"\0" * 64)
    for name in ("empty.hloom", "empty.mlir", "empty.npy", "empty.npz", "empty.toml"):
        (path / name).write_bytes(b"")
    (path / "latin.mlir").write_bytes(b"\xe4\xf6")
    (path / "folder.mlir").mkdir()
    (path / "folder.hloom").mkdir()
    np.save(path / "x.npy", np.zeros((2, 3), np.float32))
    np.save(path / "objects.npy", np.array([{}, []], object), allow_pickle=True)
    np.save(path / "complex.npy", np.zeros((2, 3), np.complex64))
    np.savez(path / "two.npz", in0=np.zeros((2, 3), np.float32), in1=np.zeros((2, 2), np.int32))
    (path / "cut.npy").write_bytes((path / "x.npy").read_bytes()[:-5])
    (path / "words.toml").write_text("words")
    return path


WRONG = [
    *[f"{tool} {name}" for tool in ("opt", "run", "explain") for name in ("none.mlir", "latin.mlir", "folder.mlir", "folder.mlir/x")],
    *[f"compile {name} -o out.hloom" for name in ("none.mlir", "empty.mlir", "latin.mlir", "folder.mlir", "good.hloom")],
    *[f"run {name}" for name in ("none.hloom", "empty.hloom", "empty.mlir", "cut.hloom", "header.hloom", "longer.hloom", "folder.hloom")],
    "explain empty.mlir",
    "compile good.mlir",
    "compile good.mlir -o none/out.hloom",
    "compile good.mlir -o folder.hloom",
    "compile good.mlir --to=tiled -o none/out.mlir",
    "compile good.mlir -o out.hloom --dump=good.mlir",
    "compile good.mlir -o out.hloom --target=6502",
    "compile good.mlir -o out.hloom --target=none.toml",
    "compile good.mlir -o out.hloom --target=words.toml",
    "compile good.mlir -o out.hloom --target=sm_1",
    "compile good.mlir -o out.hloom --bind=2",
    "compile good.mlir -o out.hloom --bind=x",
    "compile good.mlir -o out.hloom --bind=1-",
    "compile good.mlir -o out.hloom --from=tiled",
    "compile good.mlir -o out.hloom --from=nowhere",
    "compile good.mlir --from=tiled --to=fused",
    "compile good.mlir -o out.hloom --function=nowhere",
    "run good.mlir",
    "run good.mlir --input=random --input=random --input=random",
    "run good.mlir --input=2x3xf32",
    "run good.mlir --input=3x2xf32 --input=2xi32",
    "run good.mlir --input=2x3xf64 --input=2xi32",
    "run good.mlir --input=2x3xf32=1,2 --input=2xi32",
    "run good.mlir --input=2x3xf32=one --input=2xi32",
    "run good.mlir --input=2x3xf32 --input=2xi32=1.5",
    "run good.mlir --input=2x3xf32 --input=2xi32=99999999999",
    "run good.mlir --input=99999999999999999999x3xf32 --input=2xi32",
    "run good.mlir --input=2x3xq32 --input=2xi32",
    "run good.mlir --input=@none.npy --input=2xi32",
    "run good.mlir --input=@empty.npy --input=2xi32",
    "run good.mlir --input=@empty.npz",
    "run good.mlir --input=@cut.npy --input=2xi32",
    "run good.mlir --input=@objects.npy --input=2xi32",
    "run good.mlir --input=@complex.npy --input=2xi32",
    "run good.mlir --input=@two.npz",
    "run good.mlir --input=@folder.mlir --input=2xi32",
    "run good.mlir --input=random --expected-output=@two.npz",
    "run good.mlir --input=random --output=@none/y.npy",
    "run good.mlir --input=random --output=- --output=- --output=-",
    "run good.mlir --input=random --threads=-1",
    "run good.mlir --input=random --threads=many",
    "run good.mlir --input=random --min-time=long --benchmark",
    "run good.hloom --input=random --bind=0",
    "run good.hloom --input=random --check=interpreter",
    "run good.hloom --input=random --check=hope",
    "opt good.mlir --no-such-pass",
    "opt good.mlir --pass-pipeline=builtin.module(",
    "opt good.mlir --pass-pipeline=func.func(plan-fusion)",
    "opt good.mlir --plan-fusion=nothing=1",
    "opt good.mlir --run-reproducer",
    "opt good.mlir --cse -o none/out.mlir",
    "explain good.mlir --target=6502",
    "explain good.mlir --json=none/out.json",
]


@pytest.mark.parametrize("line", WRONG)
def test_wrong(line, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    tool, *arguments = line.split()
    assert TOOLS[tool](arguments) == 1
    errors = capsys.readouterr().err
    assert "error: [HL" in errors and "Traceback" not in errors


def _edits(value, path=()):
    """Every place in a manifest, with what may be written there wrongly."""
    for wrong in (None, -1, 1 << 70, 1.5, "x", [], {}, [[]]):
        if wrong != value:
            yield path, wrong
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _edits(inner, (*path, key))


def test_manifests_of_something_else(folder, tmp_path):
    """With right checksums too: what a manifest says is checked before it is believed."""
    good = Artifact.load(folder / "good.hloom")
    manifest = {key: value for key, value in good.manifest.items() if key != "report"}
    for path, wrong in _edits(manifest):
        if not path:
            continue
        changed = json.loads(json.dumps(manifest))
        inner = changed
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = wrong
        Artifact(changed, good.blobs).save(tmp_path / "x.hloom")
        try:
            exe = hloom.load(tmp_path / "x.hloom")
            repr(exe), exe.arena_bytes
        except hloom.ExecutionError:
            continue

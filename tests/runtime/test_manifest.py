"""What a manifest says is checked before it is believed: every field by its type and range, and the parts against one another."""

from __future__ import annotations

import json
import struct
import zlib

import pytest
from cuda_programs import again, chain
from cuda_programs import loaded as on_fake_gpu
from runtime_programs import add_artifact, bound_artifact

from hloom.runtime.artifact import MAGIC, VERSION, Artifact
from hloom.runtime.errors import DamagedFileError, ExecutionError
from hloom.runtime.executable import Executable, load
from hloom.runtime.manifest import made_for


def refused(artifact: Artifact, text: str, *, resigned: bool = True) -> None:
    """Loading it is an error that says `text`; `resigned` as if the manifest had been written with its code."""
    if resigned:
        artifact.manifest["made_for"] = made_for(artifact.manifest, artifact.blobs)
    with pytest.raises(DamagedFileError, match=text):
        Executable(artifact)


def buffers(artifact: Artifact, entry: str = "main") -> list:
    return artifact.manifest["entries"][entry]["buffers"]


WRONG = {
    "an entry without a symbol": (lambda m: m["entries"]["main"].update(symbol=""), r"entries.main.symbol should be a symbol, is ''"),
    "a size that is a text": (lambda m: m["results"][0].update(shape=["4"]), r"results\[0\].shape\[0\] should be an integer .* is '4'"),
    "a negative size": (lambda m: m["arguments"][1].update(shape=[-4]), r"arguments\[1\].shape\[0\]"),
    "a type that there is not": (lambda m: m["arguments"][0].update(dtype="f7"), r"arguments\[0\].dtype should be 'f64' or"),
    "bound, of another type": (lambda m: m["arguments"][0].update(bound=0), r"arguments\[0\].bound should be true or false, is 0"),
    "no kind": (lambda m: m.pop("kind"), "kind should be there"),
    "something more": (lambda m: m.update(extra=1), "extra should be absent"),
    "a buffer of no kind": (lambda m: m["entries"]["main"]["buffers"].append(["x", 0]), r"main.buffers\[3\]\[0\]"),
    "a structure of no kind": (lambda m: m.update(in_tree={"set": ["*"]}), "in_tree should be a structure"),
    "a structure with other leaves": (lambda m: m.update(out_tree={"tuple": ["*", "*"]}), "out_tree has 2 leaves for 1 results"),
    "a field that no class can have": (lambda m: m.update(out_tree={"struct": ["A", [["1", "*"]]]}), "out_tree should be a structure"),
    "arguments of a leaf": (lambda m: m.update(in_tree="*"), "in_tree is not a tuple"),
    "an argument that is not there": (lambda m: m["entries"]["main"]["buffers"].__setitem__(0, ["argument", 2]), "is argument 2 of 2"),
    "a result twice": (lambda m: m["entries"]["main"]["buffers"].append(["result", 0]), "not each result once"),
    "an array of more bytes than there can be": (lambda m: m["results"][0].update(shape=[1 << 46]), "more bytes than there can be"),
    "features that are no list": (lambda m: m["target"].update(features="avx2"), "target.features should be a list"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_field_is_named(name):
    edit, text = WRONG[name]
    artifact = add_artifact()
    edit(artifact.manifest)
    refused(artifact, text, resigned=False)


def test_a_structure_too_deep():
    tree: object = "*"
    for _ in range(5000):
        tree = {"tuple": [tree]}
    artifact = add_artifact(in_tree=tree)
    refused(artifact, "too deeply", resigned=False)


def test_the_code_tells_what_it_was_made_for():
    """Where the manifest agrees with itself too."""
    artifact = add_artifact()
    for spec in (*artifact.manifest["arguments"], *artifact.manifest["results"]):
        spec["shape"] = [2]
    refused(artifact, "arguments, results is not what the machine code was made for")
    artifact = add_artifact()
    slots = buffers(artifact)
    slots[0], slots[1] = slots[1], slots[0]
    refused(artifact, "entries is not what the machine code")
    artifact = bound_artifact()
    artifact.blobs["constant.0"] = bytes(8)
    refused(artifact, "constants is not what the machine code")


def test_the_manifest_tells_what_it_was_made_for():
    artifact, other = add_artifact(), bound_artifact()
    artifact.blobs["code"] = other.blobs["code"]
    refused(artifact, "code is not what its manifest was made for", resigned=False)
    program = chain()
    program.manifest["kernels"]["add"]["grid"] = [2, 1, 1]
    refused(program, "kernels is not what its manifest was made for", resigned=False)


def test_code_without_the_entry():
    artifact = add_artifact()
    artifact.manifest["entries"]["main"]["symbol"] = "exit"
    artifact.manifest["made_for"] = made_for(artifact.manifest, artifact.blobs)
    with pytest.raises(ExecutionError, match="HL205|HL210"):
        Executable(artifact)


def test_a_table_of_blobs_that_is_none(tmp_path):
    path = tmp_path / "a.hloom"
    for entry in ({"name": "code", "bytes": "8", "crc32": 0}, {"name": "code"}, {"name": "code", "bytes": -64, "crc32": 0}, 3):
        artifact = add_artifact()
        manifest = {**artifact.manifest, "blobs": [entry]}
        _write(path, manifest)
        with pytest.raises(DamagedFileError, match=r"lists no blobs: blobs\[0\]"):
            load(path)


def _write(path, manifest) -> None:
    """A file with that table of blobs, and none of them."""
    text = json.dumps(manifest).encode()
    text = text.ljust(-(-(36 + len(text)) // 64) * 64 - 36)
    head = struct.pack("<8sIIQQ", MAGIC, VERSION, zlib.crc32(text), len(text), 36 + len(text))
    path.write_bytes(head + struct.pack("<I", zlib.crc32(head)) + text)


THUNKS = {
    "a slice past the end": (lambda op: op["reads"].__setitem__(0, [0, 4, 32]), "bytes 4 to 36 of buffer 0, which has 32"),
    "a buffer that is not there": (lambda op: op["reads"].__setitem__(0, [9, 0, 4]), "buffer 9 of 4"),
    "an argument written": (lambda op: op["writes"].__setitem__(0, [0, 0, 32]), "writes buffer 0, an argument"),
    "a kernel that is not there": (lambda op: op.update(callee="nothing"), "runs nothing, which is not among the kernels"),
    "a callee that is a number": (lambda op: op.update(callee=3), r"body\[0\].callee should be a symbol, is 3"),
    "an op of no kind": (lambda op: op.update(op="nothing"), r"body\[0\].op should be"),
    "a copy of another size": (lambda op: op.update(op="copy", reads=[[0, 0, 16]]), "copies 16 bytes to 32"),
}


@pytest.mark.parametrize("name", THUNKS)
def test_a_host_program_keeps_to_its_buffers(name):
    edit, text = THUNKS[name]
    program = chain()
    edit(program.manifest["programs"]["main"]["body"][0])
    with pytest.raises(DamagedFileError, match=text):
        on_fake_gpu(again(program))


def test_launches_that_no_gpu_has():
    for key, value in (("block", [1024, 2, 1]), ("block", [0, 1, 1]), ("grid", [1, 1 << 16, 1]), ("grid", [1, 1]), ("shared_bytes", -1)):
        program = chain()
        program.manifest["kernels"]["add"][key] = value
        with pytest.raises(DamagedFileError, match=rf"kernels.add.{key}"):
            on_fake_gpu(again(program))


def test_sizes_of_a_host_program_that_are_not_all_there():
    program = chain()
    program.manifest["programs"]["main"].update(argument_bytes=[32, 32])
    with pytest.raises(DamagedFileError, match="the buffers of main are not those"):
        on_fake_gpu(again(program))


def test_a_report_of_something_else_is_refused_when_it_is_asked_for():
    exe = Executable(add_artifact(report={"timing": [["pass", "long"]]}))
    with pytest.raises(DamagedFileError, match=r"report cannot be told: timing\[0\]\[1\] should be a finite number"):
        exe.report  # noqa: B018
    exe = Executable(add_artifact(report={"groups": [{"name": "fusion_0", "entry": None}]}))
    with pytest.raises(DamagedFileError, match=r"groups\[0\].entry should be a text"):
        exe.report  # noqa: B018

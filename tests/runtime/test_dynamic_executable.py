"""Programs of open shapes, made by hand: the table of specialisations, its bound, and the file of several shapes."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from runtime_programs import copy_program

from hloom.runtime.artifact import Artifact, alike
from hloom.runtime.dynamic import DynamicExecutable
from hloom.runtime.dynamic_file import unpacked
from hloom.runtime.errors import DamagedFileError, ExecutionError, NotBoundError, ShapeError
from hloom.runtime.loading import load
from hloom.runtime.open_shapes import Interface, OpenSignature, OpenSpec
from hloom.runtime.pytree import flat

X = OpenSpec("x", "f32", ("n", 2))
SIGNATURE = OpenSignature((X,), (OpenSpec("y", "f32", ("n", 2)),), limits={"n": (0, 9)})
INTERFACE = Interface("copies", "numpy", SIGNATURE, flat(1), {"dict": []})


def made(shapes):
    shape = shapes[0]
    return copy_program("f32", shape, 4 * shape[0] * shape[1]).artifact(), {}


def test_the_least_recently_called_goes():
    exe = DynamicExecutable(INTERFACE, made, most=2)
    with pytest.raises(NotBoundError, match="not compiled for any shapes"):
        exe.report  # noqa: B018
    for rows in (1, 2, 1, 3):
        x = np.full((rows, 2), rows, np.float32)
        np.testing.assert_array_equal(exe(x), x)
    assert exe.shapes == [((3, 2),), ((1, 2),)]


def test_what_could_not_be_made_is_tried_again():
    tried = []

    def fails_once(shapes):
        tried.append(shapes)
        if len(tried) == 1:
            raise ExecutionError("no")
        return made(shapes)

    exe = DynamicExecutable(INTERFACE, fails_once)
    with pytest.raises(ExecutionError, match="no"):
        exe.specialise({"n": 4})
    assert exe.specialise({"n": 4})[0].signature.inputs[0].shape == (4, 2)
    with pytest.raises(ShapeError, match="from 0 to 9, got 10"):
        exe.specialise({"n": 10})
    assert len(tried) == 2


@pytest.mark.parametrize(
    ("sizes", "shapes"),
    [
        ({"b": 3, "c": 4}, [(3, 6), (5,), (1, 4)]),
        ({"b": 0, "c": 1}, [(0, 0), (-1,), (0, 1)]),
    ],
)
def test_shapes_by_names(sizes, shapes):
    specs = [("b", "2*b"), ("c + b - 2",), ("floordiv(c, 3)", "max(c, b)")]
    signature = OpenSignature(tuple(OpenSpec(f"x{i}", "f32", shape) for i, shape in enumerate(specs)), ())
    assert signature.names == ("b", "c") and signature.shapes_of(sizes) == shapes


@pytest.mark.parametrize("sizes", [{}, {"b": 1}, {"b": 1, "d": 2}])
def test_names_that_are_missing_or_wrong(sizes):
    signature = OpenSignature((OpenSpec("x", "f32", ("b", "foo(c)")),), ())
    with pytest.raises(ShapeError):
        signature.shapes_of(sizes)


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "copies.hloom"
    exe = DynamicExecutable(INTERFACE, made)
    exe.specialise({"n": 1}, {"n": 2})
    exe.save(path)
    return path


def test_a_file_of_several_shapes(packed):
    exe = load(packed)
    assert exe.signature == SIGNATURE and exe.shapes == [((1, 2),), ((2, 2),)]
    assert exe(np.ones((2, 2), np.float32)).shape == (2, 2)
    with pytest.raises(ShapeError, match="no program for 3x2xf32; it has 1x2xf32; 2x2xf32"):
        exe(np.ones((3, 2), np.float32))


DAMAGE = {
    "no inputs": lambda manifest: manifest.pop("inputs"),
    "a key of nobody's": lambda manifest: manifest.update(other=1),
    "a size that is none": lambda manifest: manifest["inputs"][0].update(shape=[-1, 2]),
    "an element type of nobody's": lambda manifest: manifest["inputs"][0].update(dtype="f33"),
    "limits": lambda manifest: manifest.update(limits=[["n", 0]]),
    "a tree of more leaves": lambda manifest: manifest.update(in_tree={"tuple": ["*", "*"]}),
    "a tree that is no tuple": lambda manifest: manifest.update(in_tree="*"),
    "a blob that is not there": lambda manifest: manifest["specialisations"][0]["blobs"].update(code="blob.9"),
    "another program's code": lambda manifest: manifest["specialisations"][0]["blobs"].update(
        code=manifest["specialisations"][1]["blobs"]["code"]
    ),
    "shapes that its program has not": lambda manifest: manifest["specialisations"][0].update(shapes=[[5, 2]]),
    "shapes of more inputs": lambda manifest: manifest["specialisations"][0].update(shapes=[[1, 2], [1]]),
    "a program that is none": lambda manifest: manifest["specialisations"][0].update(manifest={}),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_refused(packed, tmp_path, name):
    whole = Artifact.load(packed)
    manifest = copy.deepcopy(whole.manifest)
    DAMAGE[name](manifest)
    Artifact(manifest, whole.blobs).save(tmp_path / "damaged.hloom")
    with pytest.raises(DamagedFileError):
        load(tmp_path / "damaged.hloom")


def test_a_blob_of_several_programs_is_there_once(tmp_path):
    artifact, _ = made(((3, 2),))
    exe = DynamicExecutable(INTERFACE)
    exe.add(((3, 2),), Artifact(artifact.manifest, dict(artifact.blobs)))
    exe.save(tmp_path / "one.hloom")
    again = Artifact.load(tmp_path / "one.hloom")
    part = again.manifest["specialisations"][0]
    again.manifest["specialisations"] = [part, part]
    assert len({id(blob) for _, each in unpacked(again)[1] for blob in each.blobs.values()}) == len(artifact.blobs)
    one, other = b"1234", b"5678"
    assert alike(b"56" + b"78", [one, other]) is other and alike(b"12", [one, other]) == b"12"

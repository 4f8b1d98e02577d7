"""The `.hloom` file of a program of open shapes: the files of its specialisations in one (docs/artifact.md, "Several shapes").

    {"name", "kind", "inputs", "outputs", "bound", "limits", "in_tree", "kwarg_tree",
     "specialisations": [{"shapes": [[5, 8]], "blobs": {"code": "blob.0"}, "manifest": {…}}]}

Blobs that several of them have, as weights and constants, are in it once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .artifact import Artifact, Buffer, placed
from .errors import DamagedFileError
from .manifest import NAMED_TENSOR, NARROWS, structure
from .open_shapes import Interface, OpenSignature, OpenSpec, Shapes
from .pytree import count
from .schema import Mismatch, each, integer, maybe, one_of, record, row, table, text

_MOST = 1 << 47
_SIZE = integer(0, _MOST)


def _open_size(value: Any) -> None:
    (text if isinstance(value, str) else _SIZE)(value)


_OPEN = record({**NAMED_TENSOR, "shape": each(_open_size, most=64)}, NARROWS)
_FILE = record(
    {
        "name": text,
        "kind": one_of("numpy", "torch", "jax", "cupy"),
        "inputs": each(_OPEN),
        "outputs": each(_OPEN),
        "bound": each(row(integer(0), _OPEN)),
        "limits": each(row(text, _SIZE, maybe(_SIZE))),
        "in_tree": structure,
        "kwarg_tree": structure,
        "specialisations": each(record({"shapes": each(each(_SIZE, most=64)), "blobs": table(text), "manifest": table(lambda _: None)})),
    }
)


def is_packed(artifact: Artifact) -> bool:
    """Whether a file is one of several shapes."""
    return "specialisations" in artifact.manifest


def packed(interface: Interface, made: Iterable[tuple[Shapes, Artifact]]) -> Artifact:
    """One artifact of all."""
    signature = interface.signature
    blobs: dict[str, Buffer] = {}
    return Artifact(
        {
            "name": interface.name,
            "kind": interface.kind,
            "inputs": [spec.json() for spec in signature.inputs],
            "outputs": [spec.json() for spec in signature.outputs],
            "bound": [[index, spec.json()] for index, spec in signature.bound.items()],
            "limits": [[name, *bounds] for name, bounds in signature.limits.items()],
            "in_tree": interface.in_tree,
            "kwarg_tree": interface.kwarg_tree,
            "specialisations": [
                {"shapes": [list(shape) for shape in shapes], "blobs": placed(artifact.blobs, blobs), "manifest": artifact.manifest}
                for shapes, artifact in made
            ],
        },
        blobs,
    )


def unpacked(artifact: Artifact) -> tuple[Interface, list[tuple[Shapes, Artifact]]]:
    """Raises DamagedFileError that names the field where the manifest does not describe a program of several shapes."""
    manifest = artifact.manifest
    try:
        _FILE(manifest)
    except (Mismatch, RecursionError) as error:
        raise _damaged(str(error) if isinstance(error, Mismatch) else "it is nested too deeply") from None
    signature = OpenSignature(
        tuple(map(OpenSpec.of, manifest["inputs"])),
        tuple(map(OpenSpec.of, manifest["outputs"])),
        {index: OpenSpec.of(spec) for index, spec in manifest["bound"]},
        {name: (least, most) for name, least, most in manifest["limits"]},
    )
    in_tree, kwarg_tree = manifest["in_tree"], manifest["kwarg_tree"]
    for name, tree, kind in (("in_tree", in_tree, "tuple"), ("kwarg_tree", kwarg_tree, "dict")):
        if not isinstance(tree, dict) or kind not in tree:
            raise _damaged(f"{name} is not a {kind}")
    if count(in_tree) + count(kwarg_tree) != len(signature.inputs):
        raise _damaged(f"in_tree and kwarg_tree have not {len(signature.inputs)} leaves")
    made = [_part(artifact, signature, number, part) for number, part in enumerate(manifest["specialisations"])]
    return Interface(manifest["name"], manifest["kind"], signature, in_tree, kwarg_tree), made


def _part(artifact: Artifact, signature: OpenSignature, number: int, part: Mapping[str, Any]) -> tuple[Shapes, Artifact]:
    missing = [name for name in part["blobs"].values() if name not in artifact.blobs]
    if missing:
        raise _damaged(f"specialisations[{number}] has the blob {missing[0]!r}, which the file has not")
    if len(part["shapes"]) != len(signature.inputs):
        raise _damaged(f"specialisations[{number}] has {len(part['shapes'])} shapes for {len(signature.inputs)} inputs")
    blobs = {name: artifact.blobs[place] for name, place in part["blobs"].items()}
    return tuple(tuple(shape) for shape in part["shapes"]), Artifact(part["manifest"], blobs)


def check_part(signature: OpenSignature, shapes: Shapes, inputs: Sequence[Any]) -> None:
    """Raises DamagedFileError where a specialisation takes other arrays than the file says."""
    expected = [(spec.dtype, shape) for spec, shape in zip(signature.inputs, shapes)]
    if [(spec.dtype, spec.shape) for spec in inputs] != expected:
        raise _damaged(f"a specialisation takes other arrays than its shapes say: {signature.text(shapes)}")


def _damaged(why: str) -> DamagedFileError:
    return DamagedFileError(f"the manifest does not describe a program of several shapes: {why}", remedy="write the file again")

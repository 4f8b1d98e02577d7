"""What the manifest of a `.hloom` file holds (docs/artifact.md), as a schema; and what its machine code takes for granted of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from . import pytree
from .artifact import Buffer
from .dtypes import NAMES
from .errors import DamagedFileError
from .schema import Mismatch, Schema, each, flag, integer, matching, one_of, record, row, table, text
from .thunk_schema import LAUNCH, PROGRAM

LARGEST_BYTES = 1 << 47
"""Of one array, or an arena: what a process can address."""

INTERFACE = "hloom_interface"
"""The symbol of the machine code at which it tells, as a text that ends with a zero, what it takes for granted."""

_COUNT = integer(0, LARGEST_BYTES)
NAMED_TENSOR = {"name": text, "dtype": one_of(*NAMES)}
_TENSOR = {**NAMED_TENSOR, "shape": each(_COUNT, most=64)}
_ORDER = {"order": each(integer(0, 63), most=64)}
NARROWS = {"narrows": flag}
_BUFFERS: dict[str, Schema] = {
    **dict.fromkeys(("argument", "init", "result"), integer(0)),
    "arena": _COUNT,
    "constant": matching("constant.*", "a constant's blob"),
}


def _buffer(value: Any) -> None:
    row(one_of(*_BUFFERS), lambda _: None)(value)
    try:
        _BUFFERS[value[0]](value[1])
    except Mismatch as wrong:
        wrong.path.append(1)
        raise


def structure(value: Any) -> None:
    try:
        pytree.check(value)
    except ValueError as error:
        raise Mismatch(f"a structure ({error})", value) from None


_ENTRY = record(
    {"symbol": matching(r"[A-Za-z_]\w*", "a symbol"), "buffers": each(_buffer)},
    {"unread": each(integer(0)), "in_place": each(row(integer(0), integer(0)))},
)
_CPU_TARGET = {"name": text, "features": each(matching(r"[\w.-]+", "a feature's name"))}
_MANIFEST = record(
    {
        "kind": one_of("numpy", "torch", "jax", "cupy"),
        "target": record(_CPU_TARGET, {"kind": text, "triple": text, "cpu": text}),
        "arguments": each(record({**_TENSOR, "bound": flag}, {**_ORDER, **NARROWS})),
        "results": each(record(_TENSOR, _ORDER)),
        "init_results": each(record(_TENSOR)),
        "in_tree": structure,
        "kwarg_tree": structure,
        "out_tree": structure,
        "entries": record({"main": _ENTRY}, {"init": _ENTRY}),
        "made_for": text,
    },
    {
        "updates": each(row(integer(0), integer(0))),
        "state": each(integer(0)),
        "name": text,
        "programs": record({"main": PROGRAM}, {"init": PROGRAM}),
        "kernels": table(LAUNCH),
        "report": lambda _: None,
    },
)


def check_manifest(manifest: Mapping[str, Any]) -> None:
    """Raises DamagedFileError that names the field where the manifest is not what docs/artifact.md says."""
    try:
        _MANIFEST(manifest)
    except (Mismatch, RecursionError) as error:
        said = error if isinstance(error, Mismatch) else "it is nested too deeply"
        raise DamagedFileError(f"the manifest does not describe a program: {said}", remedy="write the file again") from None


def interface(manifest: Mapping[str, Any], blobs: Mapping[str, Buffer]) -> str:
    """A digest of each part of the manifest that the machine code takes for granted: "arguments=0f…  results=…".

    A GPU's code takes the host program and the launches for granted too: they are plain data there. Names and structures are for callers
    alone, and not among these.
    """
    on_gpu = manifest["target"].get("kind") == "cuda"
    parts: dict[str, Any] = {
        "target": [manifest["target"].get(name) for name in ("kind", "cpu", "features")],
        "arguments": [[spec["dtype"], spec["shape"], spec["bound"]] for spec in manifest["arguments"]],
        **{name: [[spec["dtype"], spec["shape"]] for spec in manifest[name]] for name in ("results", "init_results")},
        "entries": manifest["entries"],
        "constants": {name: len(blob) for name, blob in blobs.items() if name.startswith("constant")},
        **({"programs": manifest.get("programs"), "kernels": manifest.get("kernels")} if on_gpu else {}),
    }
    return " ".join(f"{name}={_digest(part)}" for name, part in parts.items())


def made_for(manifest: Mapping[str, Any], blobs: Mapping[str, Buffer]) -> str:
    """The manifest's own record of what was compiled together: its interface, and a digest of the machine code."""
    code = hashlib.sha256()
    for name in sorted(name for name in blobs if name.startswith(("code", "cubin", "module"))):
        code.update(f"{name} {len(blobs[name])} ".encode())
        code.update(blobs[name])
    return f"{interface(manifest, blobs)} code={code.hexdigest()[:16]}"


def check_made_for(given: str, expected: str, whose: str) -> None:
    """Raises DamagedFileError that names what differs between what a file says and `expected`, which its manifest or code holds."""
    if given == expected:
        return
    wanted = dict(part.partition("=")[::2] for part in expected.split(" "))
    wrong = [name for name, digest in (part.partition("=")[::2] for part in given.split(" ")) if wanted.get(name) != digest]
    raise DamagedFileError(
        f"the file's {', '.join(wrong) or 'interface'} is not what {whose} was made for", remedy="compile the program again"
    )


def _digest(part: Any) -> str:
    return hashlib.sha256(json.dumps(part, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:16]

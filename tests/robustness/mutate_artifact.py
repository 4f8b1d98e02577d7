"""`.hloom` files that are wrong in what they say, with every checksum right: `mutant(artifact, seed)` gives a file's bytes.

One to three edits of the manifest (a leaf of another type or value, siblings exchanged, parts removed or doubled, a number changed wherever
it occurs) or of the blobs (cut, longer, exchanged, renamed). Every third is also signed again: its `made_for` is what the compiler would
have written, so that only the other checks are between it and the machine code.
"""

from __future__ import annotations

import contextlib
import copy
import json
import random
import struct
import zlib
from typing import Any

from hloom.runtime.artifact import MAGIC, VERSION, Artifact
from hloom.runtime.manifest import made_for

_INTEGERS = (0, 1, -1, 2, 63, 64, 255, 65536, *(1 << bits for bits in (31, 32, 47, 63, 64, 200)), (1 << 32) - 1, (1 << 63) - 1, -(1 << 63))
_TEXTS = ("", "x", "\0", "ü", "a" * 5000, "hloom_main", "main", "malloc", "exit", "f64", "i1", "*", "../x", "constant.0", "\ud800", "%s%n")
_OTHERS = (None, True, False, 1.5, float("nan"), float("inf"), -0.0, [], {}, [[]], {"": None}, [0, 0, 0], "3", ["argument", 0])

Path = tuple[Any, ...]

CODE = ("code", "cubin", "module")


def mutant(artifact: Artifact, seed: int) -> bytes:
    rng = random.Random(seed)
    manifest = copy.deepcopy(artifact.manifest)
    blobs = {name: bytes(blob) for name, blob in artifact.blobs.items()}
    if rng.random() < 0.15 and blobs:
        blobs = rng.choice(BLOB_EDITS)(blobs, rng)
    else:
        for _ in range(rng.choice((1, 1, 1, 1, 2, 3))):
            rng.choice(EDITS)(manifest, rng)
    same_code = all(blobs.get(name) == blob for name, blob in artifact.blobs.items() if name.startswith(CODE))
    if rng.random() < 0.33 and same_code:  # of other machine code nothing promises what it does
        with contextlib.suppress(Exception):  # what it cannot be computed of is refused before
            manifest["made_for"] = made_for(manifest, blobs)
    table = [{"name": name, "bytes": len(blob), "crc32": 0} for name, blob in blobs.items()]
    if rng.random() < 0.07:
        whole = {"blobs": table}
        rng.choice(EDITS)(whole, rng)
        table = whole.get("blobs", rng.choice(_OTHERS))
    return packed({**manifest, "blobs": table}, list(blobs.values()), rng)


def packed(manifest: dict[str, Any], blobs: list[bytes], rng: random.Random) -> bytes:
    """The file, with right checksums for whatever the table of blobs says where it can be read."""
    tail = b"".join(blob + bytes(-len(blob) % 64) for blob in blobs)
    start = 0
    for entry in manifest["blobs"] if isinstance(manifest["blobs"], list) else ():
        if isinstance(entry, dict) and type(entry.get("bytes")) is int and entry.get("crc32") == 0:
            end = start + -(-max(entry["bytes"], 0) // 64) * 64
            entry["crc32"] = zlib.crc32(tail[start:end])
            start = end
    text = json.dumps(manifest, separators=(",", ":")).encode()
    text = text.ljust(-(-(36 + len(text)) // 64) * 64 - 36)
    head = struct.pack("<8sIIQQ", MAGIC, VERSION, zlib.crc32(text), len(text), 36 + len(text) + len(tail))
    return head + struct.pack("<I", zlib.crc32(head)) + text + tail


# Edits of the manifest, in place.


def _places(value: Any, path: Path = ()) -> list[Path]:
    """Paths to everything in it, itself not included."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    found = []
    for key, inner in items:
        found += [(*path, key), *_places(inner, (*path, key))]
    return found


def _place(manifest: dict[str, Any], rng: random.Random) -> tuple[Any, Any]:
    """The container and key of a place, in each section of the manifest as often as in any other, or that of a section."""
    section = rng.choice(sorted(manifest)) if manifest else "x"
    manifest.setdefault(section, None)
    places = _places(manifest[section])
    if not places or rng.random() < 0.1:
        return manifest, section
    inner = manifest[section]
    *way, key = rng.choice(places)
    for step in way:
        inner = inner[step]
    if isinstance(inner, tuple):
        return manifest, section
    return inner, key


def _change(manifest: dict[str, Any], rng: random.Random) -> None:
    inner, key = _place(manifest, rng)
    inner[key] = _other(inner[key], rng)


def _other(old: Any, rng: random.Random) -> Any:
    if rng.random() < 0.25:
        return copy.deepcopy(rng.choice((*_OTHERS, *_INTEGERS, *_TEXTS)))
    if isinstance(old, bool):
        return not old
    if isinstance(old, int):
        return rng.choice((old + 1, old - 1, old + 1, old - 1, 2 * old, -old, old // 2, *_INTEGERS))
    if isinstance(old, str):
        return rng.choice((old[1:], old + "x", old.upper(), old[::-1], *_TEXTS))
    return copy.deepcopy(rng.choice((*_OTHERS, *_INTEGERS, *_TEXTS)))


def _exchange(manifest: dict[str, Any], rng: random.Random) -> None:
    """Two values of one container."""
    inner, key = _place(manifest, rng)
    other = rng.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
    inner[key], inner[other] = inner[other], inner[key]


def _borrow(manifest: dict[str, Any], rng: random.Random) -> None:
    """A value from another place."""
    inner, key = _place(manifest, rng)
    other, there = _place(manifest, rng)
    inner[key] = copy.deepcopy(other[there])


def _remove(manifest: dict[str, Any], rng: random.Random) -> None:
    inner, key = _place(manifest, rng)
    del inner[key]


def _double(manifest: dict[str, Any], rng: random.Random) -> None:
    inner, key = _place(manifest, rng)
    if isinstance(inner, list):
        inner.insert(rng.randrange(len(inner) + 1), copy.deepcopy(inner[key]))
    else:
        inner[f"{key}2"] = copy.deepcopy(inner[key])


def _rename(manifest: dict[str, Any], rng: random.Random) -> None:
    inner, key = _place(manifest, rng)
    if isinstance(inner, dict):
        inner[str(_other(key, rng))] = inner.pop(key)


def _everywhere(manifest: dict[str, Any], rng: random.Random) -> None:
    """A number or text, wherever it is in the manifest but for the report: what a consistent fault of the writer would be."""
    inner, key = _place(manifest, rng)
    old = inner[key]
    if type(old) not in (int, str):
        return
    new = _other(old, rng)
    for section in [name for name in manifest if name != "report"]:
        manifest[section] = _substituted(manifest[section], old, new)


def _substituted(value: Any, old: Any, new: Any) -> Any:
    if isinstance(value, dict):
        return {key: _substituted(inner, old, new) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_substituted(inner, old, new) for inner in value]
    return new if type(value) is type(old) and value == old else value


EDITS = [*[_change] * 6, *[_exchange] * 3, *[_borrow] * 2, *[_remove] * 2, _double, _rename, *[_everywhere] * 3]


# Edits of the blobs.


def _resized(blobs: dict[str, bytes], rng: random.Random) -> dict[str, bytes]:
    name = rng.choice(list(blobs))
    size = len(blobs[name])
    kept = rng.choice((0, 1, size - 1, size + 1, size // 2, size + 64, rng.randrange(size + 1)))
    return {**blobs, name: (blobs[name] + bytes(64))[: max(kept, 0)]}


def _exchanged(blobs: dict[str, bytes], rng: random.Random) -> dict[str, bytes]:
    a, b = rng.choice(list(blobs)), rng.choice(list(blobs))
    return {**blobs, a: blobs[b], b: blobs[a]}


def _without(blobs: dict[str, bytes], rng: random.Random) -> dict[str, bytes]:
    name = rng.choice(list(blobs))
    return {other: blob for other, blob in blobs.items() if other != name}


def _renamed(blobs: dict[str, bytes], rng: random.Random) -> dict[str, bytes]:
    name = rng.choice(list(blobs))
    new = rng.choice((f"{name}2", name[:-1], "code", "constant.0", "argument.0", "init.0", "bound.0", "module", ""))
    return {(new if other == name else other): blob for other, blob in blobs.items()}


def _rewritten(blobs: dict[str, bytes], rng: random.Random) -> dict[str, bytes]:
    name = rng.choice(list(blobs))
    changed = bytearray(blobs[name])
    for _ in range(rng.randrange(1, 9) if changed else 0):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return {**blobs, name: bytes(changed)}


BLOB_EDITS = [_resized, _exchanged, _without, _renamed, _rewritten]

"""The `.hloom` file: a compiled program as a manifest and blobs (docs/artifact.md describes both).

    header    36 bytes: magic, format version, CRC-32 and size of the manifest, size of the file, CRC-32 of the header so far
    manifest  JSON, padded with spaces to a multiple of 64 bytes from the file's start
    blobs     object code, constants, bound values; each at a multiple of 64 bytes, padded with zeros

Every byte is under a checksum: the header's, the manifest's, or that of the blob it belongs to (its padding included). Blobs of a
loaded file are read-only maps of it, so that weights are shared between processes.
"""

from __future__ import annotations

import json
import mmap
import os
import secrets
import stat
import struct
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .errors import DamagedFileError, ExecutionError, MissingFileError, VersionError
from .schema import Mismatch, each, integer, record, text

MAGIC = b"\x89HLOOM\r\n"
VERSION = 2
_HEADER = struct.Struct("<8sIIQQI")
_ALIGN = 64
_CHUNK = 1 << 24

Buffer = bytes | memoryview

_BLOBS = each(record({"name": text, "bytes": integer(0, 1 << 62), "crc32": integer(0, (1 << 32) - 1)}))


@dataclass
class Artifact:
    """A compiled program: plain data, and named blobs of bytes."""

    manifest: dict[str, Any]
    blobs: Mapping[str, Buffer] = field(default_factory=dict)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file beside its place and moves it there: a reader never sees half of it, and a loaded older one stays valid. What is
        there and no file (/dev/null, a pipe) is written to, and stays; a link, too."""
        target = Path(os.path.realpath(path))
        temporary = target.with_name(f"{target.name}.{secrets.token_hex(4)}.part")
        try:
            if target.exists() and not target.is_file() and not target.is_dir():
                with open(target, "wb") as file:
                    self.write(file)
                return
            try:
                with open(temporary, "xb") as file:
                    self.write(file)
                os.replace(temporary, target)
            finally:
                temporary.unlink(missing_ok=True)
        except OSError as error:
            raise ExecutionError(f"{target} cannot be written: {error.strerror or error}") from None

    def write(self, file: BinaryIO) -> None:
        """The bytes of the file, to where no place can be taken at once (a pipe)."""
        views = {name: memoryview(data).cast("B") for name, data in self.blobs.items()}
        sizes = {name: _padded(view.nbytes) for name, view in views.items()}
        table = [{"name": name, "bytes": view.nbytes, "crc32": _crc(view, sizes[name])} for name, view in views.items()]
        text = json.dumps({**self.manifest, "blobs": table}, separators=(",", ":")).encode()
        manifest = text.ljust(_padded(_HEADER.size + len(text)) - _HEADER.size)
        total = _HEADER.size + len(manifest) + sum(sizes.values())
        head = struct.pack("<8sIIQQ", MAGIC, VERSION, zlib.crc32(manifest), len(manifest), total)
        file.write(head + struct.pack("<I", zlib.crc32(head)) + manifest)
        for name, view in views.items():
            file.write(view)
            file.write(bytes(sizes[name] - view.nbytes))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Artifact:
        """Maps the file and checks every checksum. Raises MissingFileError, VersionError, or DamagedFileError that names the part."""
        return Artifact._read(str(path), _map(Path(path)))

    @staticmethod
    def of(path: str, data: bytes) -> Artifact:
        """The same of a file's bytes, which are copied to where its blobs are aligned; errors call it `path`."""
        if not data:
            return Artifact._read(path, memoryview(data))
        pages = mmap.mmap(-1, len(data))
        pages.write(data)
        return Artifact._read(path, memoryview(pages).toreadonly())

    @staticmethod
    def _read(path: str, data: memoryview) -> Artifact:
        manifest, start = _read_manifest(path, data)
        blobs: dict[str, Buffer] = {}
        for entry in _blob_table(path, manifest):
            name, size = entry["name"], entry["bytes"]
            padded = _padded(size)
            if start + padded > data.nbytes:
                raise DamagedFileError(f"{path}: blob {name!r} ends at byte {start + padded}, the file at {data.nbytes}")
            if _crc(data[start : start + size], 0, tail=data[start + size : start + padded]) != entry["crc32"]:
                raise DamagedFileError(f"{path}: blob {name!r} is damaged", remedy="write the file again")
            blobs[name] = data[start : start + size]
            start += padded
        if start != data.nbytes:
            raise DamagedFileError(f"{path}: the blobs end at byte {start}, the file at {data.nbytes}")
        return Artifact(manifest, blobs)


def alike(blob: Buffer, pool: Iterable[Buffer]) -> Buffer:
    """The same bytes from the pool, if they are there; else the blob."""
    return next((other for other in pool if other is blob or (len(other) == len(blob) and _same(other, blob))), blob)


def placed(mine: Mapping[str, Buffer], blobs: dict[str, Buffer]) -> dict[str, str]:
    """Puts blobs among those of a file of several programs, unless they are there. Their names in the file, by their own."""
    names = {id(blob): name for name, blob in blobs.items()}
    places = {}
    for name, blob in mine.items():
        known = alike(blob, blobs.values())
        if id(known) not in names:
            names[id(blob)] = f"blob.{len(blobs)}"
            blobs[names[id(blob)]] = blob
        places[name] = names[id(known)]
    return places


def _same(one: Buffer, other: Buffer) -> bool:
    first, second = (np.frombuffer(each, np.uint8) if len(each) else np.empty(0, np.uint8) for each in (one, other))
    return all(np.array_equal(first[start : start + _CHUNK], second[start : start + _CHUNK]) for start in range(0, len(first), _CHUNK))


def _blob_table(path: str, manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """The manifest's entry `blobs`, which leaves it."""
    table = manifest.pop("blobs", None)
    try:
        _BLOBS(table)
    except Mismatch as wrong:
        wrong.path.append("blobs")
        raise DamagedFileError(f"{path}: the manifest lists no blobs: {wrong}", remedy="write the file again") from None
    if len({entry["name"] for entry in table}) != len(table):
        raise DamagedFileError(f"{path}: two blobs have one name", remedy="write the file again")
    return table


def _read_manifest(path: str, data: memoryview) -> tuple[dict[str, Any], int]:
    """The manifest, and where the blobs start."""
    if data.nbytes < _HEADER.size or data[: len(MAGIC)] != MAGIC:
        raise DamagedFileError(f"{path} is not a .hloom file", remedy="write one with hloom-compile or Executable.save")
    _, version, manifest_crc, manifest_size, total, header_crc = _HEADER.unpack_from(data)
    if zlib.crc32(data[: _HEADER.size - 4]) != header_crc:
        raise DamagedFileError(f"{path}: the header is damaged", remedy="write the file again")
    if version != VERSION:
        raise VersionError(f"{path} has format version {version}, this hloom reads {VERSION}", remedy="compile the program again")
    if total != data.nbytes:
        raise DamagedFileError(f"{path} has {data.nbytes} bytes, {total} were written", remedy="write the file again")
    end = _HEADER.size + manifest_size
    if end > data.nbytes or zlib.crc32(data[_HEADER.size : end]) != manifest_crc:
        raise DamagedFileError(f"{path}: the manifest is damaged", remedy="write the file again")
    try:
        manifest = json.loads(bytes(data[_HEADER.size : end]))
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"{path}: the manifest is no JSON: {error}", remedy="write the file again") from None
    if not isinstance(manifest, dict):
        raise DamagedFileError(f"{path}: the manifest is not a dictionary", remedy="write the file again")
    return manifest, end


def _map(path: Path) -> memoryview:
    try:
        with open(path, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise MissingFileError(f"{path} is not a file")
            if os.fstat(file.fileno()).st_size == 0:
                return memoryview(b"")
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise MissingFileError(f"{path} cannot be read: {error.strerror or error}") from None


def _padded(size: int) -> int:
    return -(-size // _ALIGN) * _ALIGN


def _crc(view: memoryview, padded: int, tail: Buffer | None = None) -> int:
    """CRC-32 of the bytes and what follows them: `tail`, or zeros up to `padded` bytes."""
    value = 0
    for start in range(0, view.nbytes, _CHUNK):
        value = zlib.crc32(view[start : start + _CHUNK], value)
    return zlib.crc32(bytes(padded - view.nbytes) if tail is None else tail, value)

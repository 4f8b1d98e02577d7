"""What a cubin says of its kernels: parameters, threads, static shared memory, and the architecture that it is for.

The layout of `.nv.info` is what cuobjdump and readelf show of it; NVIDIA documents none.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from .errors import Code, Refused, require

_INFO, _SHARED, _TEXT = ".nv.info.", ".nv.shared.", ".text."
_MAX_THREADS, _PARAMETER = 0x05, 0x17
_RESERVED, _SINCE = 1024, 90
"""Bytes of shared memory that the system has for itself before the kernel's own, which a cubin for these architectures counts in."""
_SIZED = 0x04
"""The format of an attribute that says its length."""


@dataclass(frozen=True)
class Parameter:
    offset: int
    nbytes: int


@dataclass
class Entry:
    name: str
    parameters: list[Parameter]
    shared_bytes: int = 0
    max_threads: int = 1024


@dataclass
class Image:
    code: bytes
    architecture: int
    entries: dict[str, Entry]


def image_at(address: int) -> Image:
    """Code that a caller points to. Raises Refused where it is no cubin."""
    if ctypes.string_at(address, 4) != b"\x7fELF":
        raise Refused(Code.INVALID_IMAGE, "no cubin")
    header = ctypes.string_at(address, 64)
    start, size, count = _section_table(header)
    (segments,), (segment_size, segment_count) = struct.unpack_from("<Q", header, 0x20), struct.unpack_from("<HH", header, 0x36)
    return read_cubin(ctypes.string_at(address, max(start + size * count, segments + segment_size * segment_count)))


def _section_table(header: bytes) -> tuple[int, int, int]:
    (start,), (size, count) = struct.unpack_from("<Q", header, 0x28), struct.unpack_from("<HH", header, 0x3A)
    return start, size, count


def read_cubin(code: bytes) -> Image:
    (flags,) = struct.unpack_from("<I", code, 0x30)
    sections, architecture = dict(_sections(code)), flags >> 8 & 0xFF
    reserved = _RESERVED if architecture >= _SINCE else 0
    names = [name.removeprefix(_TEXT) for name in sections if name.startswith(_TEXT)]
    return Image(code, architecture, {name: _entry(name, sections, reserved) for name in names})


def _sections(code: bytes) -> Iterator[tuple[str, tuple[int, bytes]]]:
    """Name, size and content of each; a section may have a size and no content."""
    start, size, count = _section_table(code)
    (names_at,) = struct.unpack_from("<H", code, 0x3E)
    headers = [struct.unpack_from("<IIQQQQ", code, start + size * number) for number in range(count)]
    names = code[headers[names_at][4] :]
    for name, kind, _, _, offset, nbytes in headers:
        content = b"" if kind == 8 else code[offset : offset + nbytes]
        yield names[name : names.index(b"\0", name)].decode(), (nbytes, content)


def _entry(name: str, sections: dict[str, tuple[int, bytes]], reserved: int) -> Entry:
    made = Entry(name, [], shared_bytes=max(0, sections.get(_SHARED + name, (0, b""))[0] - reserved))
    found: dict[int, Parameter] = {}
    for attribute, value in _attributes(sections.get(_INFO + name, (0, b""))[1]):
        if attribute == _MAX_THREADS:
            x, y, z = struct.unpack("<III", value)
            made.max_threads = x * y * z
        elif attribute == _PARAMETER:
            _, ordinal, offset, bits = struct.unpack("<IHHI", value)
            found[ordinal] = Parameter(offset, bits >> 18)
    require(sorted(found) == list(range(len(found))), Code.INVALID_IMAGE, f"{name} lacks parameters")
    made.parameters = [found[ordinal] for ordinal in sorted(found)]
    return made


def _attributes(content: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(content):
        form, attribute, word = struct.unpack_from("<BBH", content, at)
        size = word if form == _SIZED else 0
        yield attribute, content[at + 4 : at + 4 + size]
        at += 4 + size

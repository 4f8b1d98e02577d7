"""MLIR bytecode broken in small ways that know its sections: `mutant(data, seed)`.

    magic, version, producer, then sections: id (its high bit: aligned), length, [alignment, padding,] bytes

Lengths are written again, so a change inside a section reaches the reader of that section.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from mutate import flipped

MAGIC = b"ML\xefR"


@dataclass(frozen=True)
class Section:
    number: int
    data: bytes
    alignment: int = 0


def mutant(data: bytes, seed: int) -> bytes:
    """`data` with one to three edits, each in a section, of a section, or of any byte."""
    rng = random.Random(seed)
    if rng.random() < 0.25:
        return flipped(data, seed)
    head, sections = split(data)
    for _ in range(rng.choice((1, 1, 2, 3))):
        rng.choice(EDITS)(sections, rng)
    return join(head, sections)


def _edited(sections: list[Section], rng: random.Random, edit) -> None:
    full = [index for index, section in enumerate(sections) if section.data]
    if full:
        index = rng.choice(full)
        changed = bytearray(sections[index].data)
        edit(changed, rng)
        sections[index] = replace(sections[index], data=bytes(changed))


def _flip(sections: list[Section], rng: random.Random) -> None:
    def edit(data: bytearray, rng: random.Random) -> None:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)

    _edited(sections, rng, edit)


def _step(sections: list[Section], rng: random.Random) -> None:
    """A number goes up or down by one: an index to its neighbour (small numbers are a byte with the low bit set)."""

    def edit(data: bytearray, rng: random.Random) -> None:
        at = rng.randrange(len(data))
        data[at] = (data[at] + rng.choice((-4, -2, 2, 4))) % 256

    _edited(sections, rng, edit)


def _exchange(sections: list[Section], rng: random.Random) -> None:
    def edit(data: bytearray, rng: random.Random) -> None:
        a, b = rng.randrange(len(data)), rng.randrange(len(data))
        data[a], data[b] = data[b], data[a]

    _edited(sections, rng, edit)


def _copy(sections: list[Section], rng: random.Random) -> None:
    """A few bytes over others of the section."""

    def edit(data: bytearray, rng: random.Random) -> None:
        size = rng.randrange(1, 9)
        source, target = rng.randrange(len(data)), rng.randrange(len(data))
        data[target : target + size] = data[source : source + size]

    _edited(sections, rng, edit)


def _cut(sections: list[Section], rng: random.Random) -> None:
    def edit(data: bytearray, rng: random.Random) -> None:
        del data[rng.randrange(len(data)) :]

    _edited(sections, rng, edit)


def _drop(sections: list[Section], rng: random.Random) -> None:
    if sections:
        del sections[rng.randrange(len(sections))]


def _twice(sections: list[Section], rng: random.Random) -> None:
    if sections:
        sections.insert(rng.randrange(len(sections)), rng.choice(sections))


def _renumber(sections: list[Section], rng: random.Random) -> None:
    if sections:
        at = rng.randrange(len(sections))
        sections[at] = replace(sections[at], number=rng.randrange(10))


EDITS = [*[_flip] * 5, *[_step] * 6, *[_exchange] * 3, *[_copy] * 3, _cut, _drop, _twice, _renumber]


def split(data: bytes) -> tuple[bytes, list[Section]]:
    """What stands before the sections, and the sections."""
    assert data.startswith(MAGIC)
    at = len(MAGIC)
    _, at = _number(data, at)
    at = data.index(0, at) + 1
    head, sections = data[:at], []
    while at < len(data):
        number, at = data[at], at + 1
        size, at = _number(data, at)
        alignment = 0
        if number & 0x80:
            alignment, at = _number(data, at)
            while at % alignment:
                at += 1
        sections.append(Section(number & 0x7F, data[at : at + size], alignment))
        at += size
    return head, sections


def join(head: bytes, sections: list[Section]) -> bytes:
    made = bytearray(head)
    for section in sections:
        made.append(section.number | (0x80 if section.alignment else 0))
        made += _written(len(section.data))
        if section.alignment:
            made += _written(section.alignment)
            made += b"\xcb" * (-len(made) % section.alignment)
        made += section.data
    return bytes(made)


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of MLIR's: as many bytes more as the first has zeros at its low end."""
    first = data[at]
    if first == 0:
        return int.from_bytes(data[at + 1 : at + 9], "little"), at + 9
    size = (first & -first).bit_length()
    return int.from_bytes(data[at : at + size], "little") >> size, at + size


def _written(value: int) -> bytes:
    size = max(1, -(-value.bit_length() // 7))
    assert size <= 8
    return (value << size | 1 << (size - 1)).to_bytes(size, "little")

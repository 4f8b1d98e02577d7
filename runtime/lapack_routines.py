"""What LAPACK's routines read and write: a table from which calls in programs are checked, and thunks in artifacts.

A routine works on a batch of column-major matrices: buffers that hold, row-major, the batch and then the extents reversed. Its name is that
of LAPACK for real numbers after the letter of its type: `cgetrf`, `corgqr`. Two rows have the form that CUDA's libraries have:

- gtsv2 solves a tridiagonal system and writes the solution alone;
- xgeev gives eigenvalues as complex numbers, and right eigenvectors alone, those of a real matrix packed: of a pair of conjugates the real
  parts in one column, the imaginary ones in the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

MOST = (1 << 31) - 1
"""Libraries count in 32 bits."""
Extents = Mapping[str, int]
REAL = {"s": "f32", "d": "f64", "c": "f32", "z": "f64"}
"""The real part's type, by the letter of a routine's type."""
_BYTES = {"f32": 4, "f64": 8, "i32": 4}


@dataclass(frozen=True)
class Routine:
    """A row. Operands and results are "type extents": "T m n" is a matrix of m rows; every value has the batch before its extents.

    A type is T (the call's), R (its real part), C (its complex numbers) or i (i32). An extent is a letter, which stands for one number
    throughout; q is the lesser of m and n, o is n - 1 or 0. `options` are read from the call's configuration: with the characters that
    one may be, or any integer. `aliases` are pairs (operand, result): the result holds the operand when the routine begins.
    """

    operands: tuple[str, ...]
    results: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    aliases: tuple[tuple[int, int], ...] = ((0, 0),)
    rule: Callable[[Extents], bool] | None = None
    """What must hold of extents and options beside."""

    @property
    def counted(self) -> list[str]:
        """The names of the numbers that a call is told: the batch, the extents of each operand, the options."""
        return ["batch", *(name for text in self.operands for name in text.split()[1:]), *self.options]

    def named(self, numbers: Sequence[int]) -> dict[str, int]:
        """These numbers by name. Raises ValueError where they are none of a call."""
        found: dict[str, int] = {}
        if len(numbers) != len(self.counted):
            raise ValueError(f"has {len(numbers)} numbers, where {' '.join(self.counted)} are wanted")
        for name, number in zip(self.counted, numbers):
            if found.setdefault(name, number) != number:
                raise ValueError(f"has two numbers for {name}, {found[name]} and {number}")
        for name, allowed in self.options.items():
            if allowed and found[name] not in allowed.encode():
                raise ValueError(f"has {name} = {found[name]}, which should be {' or '.join(allowed)}")
        for name in "qo":
            found[name] = derived(name, found, 0)
        if "mode" in found and "u" in " ".join(self.results).split():
            thin = found["mode"] == ord("S")
            found["u"], found["v"] = (found["q"],) * 2 if thin else (found["m"], found["n"])
        if self.rule is not None and not self.rule(found):
            raise ValueError("has extents that its options do not allow")
        return found


def derived(name: str, extents: Extents, otherwise: int) -> int:
    """An extent that others decide."""
    if name == "q":
        return min(extents["m"], extents["n"]) if "m" in extents else otherwise
    return max(extents["n"] - 1, 0) if name == "o" and "n" in extents else otherwise


def _factors(extents: Extents) -> bool:
    """Whether U and VT have the extents of the mode."""
    m, n, u, v, least = (extents[name] for name in ("m", "n", "u", "v", "q"))
    return {"A": (u, v) == (m, n), "S": (u, v) == (least, least), "N": (u, v) in ((m, n), (least, least))}[chr(extents["mode"])]


def _reflectors(extents: Extents) -> bool:
    rows = extents["m"] if extents["left"] else extents["n"]
    return extents["k"] <= extents["a"] == rows


_MATRIX = ("T m n",)
_SQUARE = ("T n n",)
_TRIANGLE = {"uplo": "LU"}
_VECTORS = {"mode": "VN"}
_SINGULAR = Routine(_MATRIX, ("T m n", "R q", "T m u", "T v n", "i"), {"mode": "ASN"}, rule=_factors)
_DIAGONALS = ("T n", "T n", "T n", "T n r")
ROUTINES: dict[str, Routine] = {
    "potrf": Routine(_SQUARE, ("T n n", "i"), _TRIANGLE),
    "trsm": Routine(
        ("T a a", "T m n"), ("T m n",), {"side": "LR", "uplo": "LU", "trans_x": "NTC", "diag": "NU"}, aliases=((1, 0),),
        rule=lambda extents: extents["a"] == extents["m" if extents["side"] == ord("L") else "n"],
    ),
    "getrf": Routine(_MATRIX, ("T m n", "i q", "i")),
    "geqrf": Routine(_MATRIX, ("T m n", "T q")),
    "orgqr": Routine(("T m n", "T k"), ("T m n",), rule=lambda extents: extents["k"] <= extents["n"] <= extents["m"]),
    "ormqr": Routine(("T a k", "T k", "T m n"), ("T m n",), {"left": "", "transpose": ""}, aliases=((2, 0),), rule=_reflectors),
    "geqp3": Routine(("T m n", "i n"), ("T m n", "i n", "T q"), aliases=((0, 0), (1, 1))),
    "gesdd": _SINGULAR,
    "gesvd": _SINGULAR,
    "syevd": Routine(_SQUARE, ("T n n", "R n", "i"), {**_VECTORS, **_TRIANGLE}),
    "geev": Routine(_SQUARE, ("R n", "R n", "C n n", "C n n", "i"), {"compute_left": "VN", "compute_right": "VN"}, aliases=()),
    "gees": Routine(_SQUARE, ("T n n", "T n n", "R n", "R n", "i", "i"), {**_VECTORS, "sort": "N"}),
    "gehrd": Routine(
        _SQUARE, ("T n n", "T o", "i"), {"low": "", "high": ""}, rule=lambda e: 1 <= e["low"] <= max(1, e["n"]) and e["high"] == e["n"]
    ),
    "sytrd": Routine(_SQUARE, ("T n n", "R n", "R o", "T o", "i"), _TRIANGLE),
    "gtsv": Routine(_DIAGONALS, (*_DIAGONALS, "i"), aliases=tuple((i, i) for i in range(4))),
    "gtsv2": Routine(_DIAGONALS, ("T n r",), aliases=((3, 0),)),
    "xgeev": Routine(_SQUARE, ("T n n", "C n", "T n n", "i"), _VECTORS),
}  # fmt: skip
CUDA_FORMS = ("gtsv2", "xgeev")
ON_HOST = ("geqp3", "geev", "gees", "gehrd", "gtsv")
"""What no library of CUDA has as LAPACK has it: a program for a GPU computes it on the host (left eigenvectors, of geev)."""
NAMES = [letter + name for name in ROUTINES for letter in REAL]


def routine(letter: str, name: str) -> Routine:
    """A routine on numbers of a type."""
    found = ROUTINES[name]
    if letter in "cz" and name in ("geev", "gees"):  # one vector of complex eigenvalues where a real matrix has two, of their parts
        place = found.results.index("R n")
        return replace(found, results=(*found.results[:place], "C n", *found.results[place + 2 :]))
    return found


def elements(letter: str) -> dict[str, str]:
    """What the types of a row are: an element type, or "complex" before it."""
    real = REAL[letter]
    return {"T": f"complex<{real}>" if letter in "cz" else real, "R": real, "C": f"complex<{real}>", "i": "i32"}


def width(letter: str) -> int:
    """The bytes of a number of a routine's type."""
    return element_bytes(elements(letter)["T"])


def element_bytes(element: str) -> int:
    real = element.removeprefix("complex<").rstrip(">")
    return _BYTES[real] * (2 if real != element else 1)


def strides(letter: str, name: str, numbers: Sequence[int]) -> list[int]:
    """The bytes of one batch's part of each operand, then of each result. Raises ValueError where the numbers are none of a call."""
    row, types = routine(letter, name), elements(letter)
    known = row.named(numbers)
    values = (text.split() for text in (*row.operands, *row.results))
    return [element_bytes(types[kind]) * prod(known[extent] for extent in extents) for kind, *extents in values]


def faults(name: str, numbers: Sequence[int], reads: Sequence[Sequence[int]], writes: Sequence[Sequence[int]]) -> Iterator[str]:
    """What does not hold of a call of the routine `name`, letter and all, on slices (buffer, byte offset, byte size)."""
    letter, plain = name[0], name[1:]
    row = routine(letter, plain)
    if (len(reads), len(writes)) != (len(row.operands), len(row.results)):
        yield f"has {len(reads)} slices to read and {len(writes)} to write, {name} has {len(row.operands)} and {len(row.results)}"
        return
    try:
        parts = strides(letter, plain, numbers)
    except ValueError as error:
        yield str(error)
        return
    unused = _unused(plain, row.named(numbers))
    for place, (part, at) in enumerate(zip(parts, (*reads, *writes))):
        if place not in unused and part * numbers[0] > at[2]:
            yield f"reaches past slice {place} of {name}, which has {at[2]} bytes"


def _unused(name: str, known: Extents) -> tuple[int, ...]:
    """The places of results that the options say nobody computes, and that are of whatever size."""
    if name in ("gesdd", "gesvd") and known["mode"] == ord("N"):
        return (3, 4)
    return ()

"""Values on a command line.

4x8xf32            zeros                    @x.npy     an array; @x.npz: one after the other
4x8xf32=1.5        all alike                random     values that suit the type, from seed 0
2x2xi32=1,2,3,4    each (brackets ignored)  random:7   from seed 7
2xcomplex<f32>=1+2j,3                       4x8xf32=@x.bin     its elements' bytes, row-major
"""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Sequence
from io import BufferedReader
from pathlib import Path
from typing import cast

import numpy as np

from hloom.runtime.artifact import MAGIC, Artifact
from hloom.runtime.comparison import random_array
from hloom.runtime.dtypes import NAMES, NARROW, dtype_name
from hloom.runtime.errors import ArityError, DtypeError, InputError, MissingFileError, ShapeError
from hloom.runtime.signature import TensorSpec

_TYPED = re.compile(r"(?P<shape>(?:\d+x)*)(?P<dtype>[a-z]+\d+\w*|complex<f\d+>)(?:=(?P<values>.*))?", re.DOTALL)
_RANDOM = re.compile(r"random(?::(?P<seed>\d+))?")
_NPZ_GROUPS = {"in": re.compile(r"in\d+"), "out": re.compile(r"out\d+")}


def read_values(texts: Sequence[str], specs: Sequence[TensorSpec], role: str = "in") -> list[np.ndarray]:
    """An array for each spec. A lone `random` or file fills all of them; of a file with entries in0, out0, … those of `role` are taken.

    Raises ExecutionErrors that name the argument.
    """
    if len(texts) == 1 and (match := _RANDOM.fullmatch(texts[0])):
        rng = np.random.default_rng(int(match["seed"] or 0))
        return [random_array(spec, rng) for spec in specs]
    arrays: list[np.ndarray] = []
    for text in texts:
        if text.startswith("@"):
            arrays += _read_file(text[1:], role)
        elif len(arrays) < len(specs):
            arrays.append(_value(text, specs[len(arrays)]))
        else:
            raise ArityError(f"{text!r} is one value too many", remedy=f"the program has {len(specs)}: leave it out")
    if len(arrays) != len(specs):
        wanted = ", ".join(f"{spec.name}: {spec}" for spec in specs) or "none"
        counted = "1 value" if len(specs) == 1 else f"{len(specs)} values"
        raise ArityError(f"expected {counted}, got {len(arrays)}", remedy=f"give one for each of {wanted}; random alone gives all")
    return [_fitted(array, spec) for array, spec in zip(arrays, specs)]


def shapes_of_values(texts: Sequence[str], count: int) -> tuple[tuple[int, ...], ...] | None:
    """The shapes that `count` values say by themselves; None where one of them does not (random). Raises ExecutionErrors."""
    shapes: list[tuple[int, ...]] = []
    for text in texts:
        if text.startswith("@"):
            shapes += [array.shape for array in _read_file(text[1:], "in")]
        elif match := _TYPED.fullmatch(text):
            shapes.append(tuple(int(size) for size in match["shape"].split("x")[:-1]))
    return tuple(shapes) if len(shapes) == count and texts else None


def _value(text: str, spec: TensorSpec) -> np.ndarray:
    if match := _RANDOM.fullmatch(text):
        return random_array(spec, np.random.default_rng(int(match["seed"] or 0)))
    match = _TYPED.fullmatch(text)
    if match is None or match["dtype"] not in NAMES:
        raise InputError(f"{text!r} is not a value", remedy="write 4x8xf32=1.5, 4xf32=1,2,3,4, @file.npy, @file.npz or random:7")
    given = TensorSpec(spec.name, match["dtype"], tuple(int(size) for size in match["shape"].split("x")[:-1]))
    _require_fit(given.dtype, given.shape, spec)
    if match["values"] and match["values"].startswith("@"):
        return _read_elements(match["values"][1:], spec)
    words = re.sub(r"[\[\],]", " ", match["values"] or "0").split()
    try:
        if spec.dtype == "i1":
            values = np.array([{"true": True, "1": True, "false": False, "0": False}[word.lower()] for word in words])
        elif spec.dtype.startswith(("i", "ui")):
            values = np.array([int(word, 0) for word in words], object)
        elif spec.numpy_dtype.kind == "c":
            values = np.array([complex(word) for word in words])
        else:
            values = np.array([float(word) for word in words])
        with np.errstate(over="ignore"):  # 1e40 is infinite in f32
            array = values.astype(spec.numpy_dtype)
    except (ValueError, KeyError, OverflowError):
        raise DtypeError(f"{text!r} has values that are not {spec.dtype}") from None
    if array.size == 1:
        return np.full(spec.shape, array[0], spec.numpy_dtype)
    if array.size != np.prod(spec.shape):
        raise ShapeError(f"{text!r} has {array.size} values for {int(np.prod(spec.shape))} elements")
    return array.reshape(spec.shape)


def _read_file(path: str, role: str) -> list[np.ndarray]:
    try:
        found = np.load(Path(path), allow_pickle=False)
        if isinstance(found, np.ndarray):
            return [found]
        names = [name for name in found.files if _NPZ_GROUPS[role].fullmatch(name)] or found.files
        return [found[name] for name in names]
    except OSError as error:
        raise MissingFileError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile, NotImplementedError) as error:
        raise InputError(f"{path} is not a .npy or .npz file: {error}") from None


def _read_elements(path: str, spec: TensorSpec) -> np.ndarray:
    try:
        given = bytearray(Path(path).read_bytes())
    except OSError as error:
        raise MissingFileError(f"{path} cannot be read: {error.strerror or error}") from None
    if len(given) != spec.nbytes:
        raise ShapeError(f"{spec.name} should have {spec.nbytes} bytes, the file has {len(given)}")
    return np.frombuffer(given, spec.numpy_dtype).reshape(spec.shape)


def write_value(path: str, array: np.ndarray) -> None:
    """Writes an array as .npy, or its elements' bytes into a file called .bin. Raises OSErrors."""
    if path.endswith(".bin"):
        Path(path).write_bytes(np.ascontiguousarray(array).tobytes())
    else:
        np.save(Path(path), array)


def _fitted(array: np.ndarray, spec: TensorSpec) -> np.ndarray:
    """The array as the spec's: NumPy's files hold bf16 and narrow types as raw bytes, and raw bytes may stand for any type."""
    unnamed = {"bf16": ("|V2", "<u2"), **dict.fromkeys(NARROW, ("|V1", "<V1"))}
    raw_values = array.dtype.str in unnamed.get(spec.dtype, ())
    raw_bytes = array.dtype == np.uint8 and array.ndim == 1 and spec.dtype != "ui8"
    if raw_values:
        array = np.ascontiguousarray(array).view(spec.numpy_dtype)
    elif raw_bytes or (array.dtype == np.uint8 and array.size == spec.nbytes and array.ndim == 1):
        if array.nbytes != spec.nbytes:
            raise ShapeError(f"{spec.name} should have {spec.nbytes} bytes, the file has {array.nbytes}")
        array = np.ascontiguousarray(array).view(spec.numpy_dtype).reshape(spec.shape)
    _require_fit(dtype_name(array.dtype), array.shape, spec)
    return array


def _require_fit(dtype: str, shape: tuple[int, ...], spec: TensorSpec) -> None:
    if shape != spec.shape:
        raise ShapeError(f"{spec.name} should have shape {spec.shape}, got {shape}")
    if dtype != spec.dtype:
        raise DtypeError(f"{spec.name} should have element type {spec.dtype}, got {dtype}")


def is_artifact(path: str) -> bool:
    """Whether a tool's argument names a .hloom file, by its name or its first bytes. `-` is stdin, whatever files there are."""
    if path == "-":
        return cast(BufferedReader, sys.stdin.buffer).peek(len(MAGIC)).startswith(MAGIC)
    if path.endswith(".hloom"):
        return True
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def load_artifact(path: str) -> Artifact:
    """What a .hloom file holds, or stdin for "-". Raises ExecutionErrors."""
    return Artifact.of("stdin", sys.stdin.buffer.read()) if path == "-" else Artifact.load(path)


def indices(text: str, count: int) -> list[int]:
    """`1,3-5` as indices below `count`. Raises InputError."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or int(last or first) >= count:
            raise InputError(f"{text!r} does not list inputs", remedy=f"the program has {count}, from 0 on; write 1,3-5")
        found.update(range(int(first), int(last or first) + 1))
    return sorted(found)

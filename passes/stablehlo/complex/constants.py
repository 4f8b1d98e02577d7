"""Constants and iotas of complex numbers.

The bindings do not read a complex attribute: elements come from its text, which is exact.
"""

from __future__ import annotations

import re

import numpy as np
from torch_mlir import ir

from hloom.runtime.dtypes import numpy_dtype

from ...common.rewriting import element_of, integer
from ...errors import UnsupportedOpError
from ..support import build, constants
from ..support.type_conversion import Parts

_DENSE = re.compile(r"dense<(.*)> : tensor<", re.DOTALL)
_RESOURCE = re.compile(r"dense_resource<([^>]+)> : tensor<")
_NUMBER = re.compile(r"[-+]?(?:0x[0-9A-Fa-f]+|\d[\d.]*(?:[eE][-+]?\d+)?)")


def constant(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    """One constant for the real parts, one for the imaginary parts."""
    result = op.results[0]
    real = element_of(result).element_type
    elements = _elements(op, numpy_dtype(str(real)))
    kind = build.tensor(build.shape_of(result), real)
    if elements.shape[0] == 1:
        return [[build.full(kind, part) for part in elements[0]]]
    elements = elements.reshape(*build.shape_of(result), 2)
    return [[constants.write(np.ascontiguousarray(elements[..., number]), kind) for number in range(2)]]


def iota(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    """Counts in its real parts. The shape of a dynamic one is known."""
    shape, real = build.shape_of(op.results[0]), element_of(op.results[0]).element_type
    return [[build.iota(shape, real, integer(op, "iota_dimension")), build.zero(shape, real)]]


def _elements(op: ir.Operation, dtype: np.dtype) -> np.ndarray:
    """Rows of a real and an imaginary part; one row for a splat."""
    text = op.get_asm(large_elements_limit=1 << 40)
    if blob := _RESOURCE.search(text):
        return np.frombuffer(_blob(op, blob[1]), dtype).reshape(-1, 2)
    match = _DENSE.search(text)
    if match is None:
        remedy = "write its elements into the program, or pass it as an argument"
        raise UnsupportedOpError("a complex constant that is not dense", op=op.name, loc=str(op.location), stage="stablehlo", remedy=remedy)
    if match[1].startswith('"0x'):
        return np.frombuffer(bytes.fromhex(match[1][3:-1]), dtype).reshape(-1, 2)
    bits = f"u{dtype.itemsize}"
    words = [np.array(int(w, 16), bits).view(dtype) if "0x" in w else dtype.type(w) for w in _NUMBER.findall(match[1])]
    return np.array(words, dtype).reshape(-1, 2)


def _blob(op: ir.Operation, name: str) -> bytes:
    """What a resource holds, which is written at the end of a module's text: hexadecimal, after four bytes that are its alignment."""
    module = op
    while module.parent is not None:
        module = module.parent
    [found] = re.findall(rf'(?m)^ *"?{re.escape(name)}"?: "0x([0-9A-Fa-f]*)"', module.operation.get_asm(large_elements_limit=16))
    return bytes.fromhex(found)[4:]

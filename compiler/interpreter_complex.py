"""Complex arguments and results of a program for the reference interpreter, whose Python bindings have no complex attributes.

They are passed as two real ones each: @main makes complex numbers of its arguments, and takes its results apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from torch_mlir import ir

from hloom.passes.common.rewriting import create, ops_in, update_signature, value_of
from hloom.passes.stablehlo.complex.edges import is_complex, parts_of
from hloom.runtime.dtypes import numpy_dtype

Result = tuple[str, tuple[int, ...], np.ndarray]


def split_signature(main: ir.Operation) -> None:
    """Gives @main two real arguments for each complex one, and results likewise."""
    block = main.regions[0].blocks[0]
    old = list(block.arguments)
    added = [[block.add_argument(kind, main.location) for kind in parts_of(value.type) or [value.type]] for value in old]
    with main.location, ir.InsertionPoint.at_block_begin(block):
        for value, parts in zip(old, added):
            value.replace_all_uses_with(value_of("stablehlo.complex", value.type, parts) if is_complex(value.type) else parts[0])
    for _ in old:
        block.erase_argument(0)
    last = ops_in(block)[-1]
    with main.location, ir.InsertionPoint(last):
        create("func.return", [], [part for value in last.operands for part in _parts(value)])
    last.erase()
    for name in ("arg_attrs", "res_attrs"):
        if name in main.attributes:
            del main.attributes[name]
    update_signature(main)


def _parts(value: ir.Value) -> list[ir.Value]:
    kinds = parts_of(value.type)
    return [value] if kinds is None else [value_of(f"stablehlo.{name}", kind, [value]) for name, kind in zip(("real", "imag"), kinds)]


def split_bytes(raw: np.ndarray, kind: ir.Type) -> list[np.ndarray]:
    """The bytes of each argument that stands for one of that type."""
    if not is_complex(kind):
        return [raw]
    numbers = raw.view(numpy_dtype(str(ir.RankedTensorType(kind).element_type)))
    return [np.ascontiguousarray(part).view(np.uint8) for part in (numbers.real, numbers.imag)]


def joined(results: Sequence[Result], kinds: Sequence[ir.Type]) -> list[Result]:
    """The results of the program from those of the @main that `split_signature` made."""
    rest: Iterator[Result] = iter(results)
    return [_joined(next(rest), next(rest), str(kind.element_type)) if is_complex(kind) else next(rest) for kind in kinds]


def _joined(real: Result, imaginary: Result, name: str) -> Result:
    parts = [raw.view(numpy_dtype(part)) for part, _, raw in (real, imaginary)]
    pairs = np.stack(parts, -1)
    return name, real[1], np.ascontiguousarray(pairs).reshape(-1).view(np.uint8)

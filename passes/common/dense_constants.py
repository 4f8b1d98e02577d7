"""The bytes of constant attributes, as a buffer holds them."""

from __future__ import annotations

import io

import numpy as np
from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from hloom.dialects.storage import byte_size, element_bytes, storage_type

from ..errors import InvalidProgramError, PassFailure
from .rewriting import create, value_of

_RESOURCE_SECTION = 5


def constant_bytes(attr: ir.Attribute) -> bytes:
    """The row-major bytes of a dense or dense_resource attribute of any element type; i1 as one byte (0 or 1) each."""
    if isinstance(attr, ir.DenseElementsAttr):
        return _dense_array(attr).tobytes()
    try:
        return _resource_bytes(ir.DenseResourceElementsAttr(attr))
    except ValueError:
        raise PassFailure(f"a constant that is neither dense nor dense_resource: {str(attr)[:80]}", stage="lhlo") from None


def is_splat(attr: ir.Attribute | None) -> bool:
    """Whether a constant repeats one element."""
    return isinstance(attr, ir.DenseElementsAttr) and attr.is_splat


def splat_bytes(attr: ir.DenseElementsAttr) -> bytes:
    """The bytes of the one element that a splat repeats."""
    return _dense_array(attr).flat[:1].tobytes()


def storage_constant(attr: ir.Attribute) -> ir.Attribute:
    """The attribute with its buffer's element type: i1 as i8, unsigned integers as signless ones."""
    shaped = ir.ShapedType(attr.type)
    memref = storage_type(shaped)
    if memref.element_type == shaped.element_type:
        return attr
    array = np.frombuffer(constant_bytes(attr), dtype=f"i{element_bytes(shaped.element_type)}").reshape(shaped.shape)
    return ir.DenseElementsAttr.get(array, type=memref.element_type, shape=list(shaped.shape))


def _dense_array(attr: ir.DenseElementsAttr) -> np.ndarray:
    try:
        return np.asarray(memoryview(attr))
    except BufferError:
        return np.asarray(memoryview(_as_integers(attr)))


def _as_integers(attr: ir.DenseElementsAttr) -> ir.DenseElementsAttr:
    """The same bits as integers, for the types that the buffer protocol lacks: a bitcast that the canonicaliser folds."""
    shaped = ir.ShapedType(attr.type)
    with ir.Location.unknown(attr.context):
        integers = ir.RankedTensorType.get(shaped.shape, ir.IntegerType.get_signless(8 * element_bytes(shaped.element_type)))
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            signature = ir.TypeAttr.get(ir.FunctionType.get([], [integers]))
            function = create("func.func", regions=1, sym_name=ir.StringAttr.get("f"), function_type=signature)
            with ir.InsertionPoint(function.regions[0].blocks.append()):
                constant = value_of("arith.constant", shaped, value=attr)
                create("func.return", operands=[value_of("arith.bitcast", integers, [constant])])
        PassManager.parse("builtin.module(canonicalize)").run(module.operation)
        folded = module.body.operations[0].regions[0].blocks[0].operations[0].operation
        return folded.attributes["value"]


def _resource_bytes(attr: ir.DenseResourceElementsAttr) -> bytes:
    """The blob behind a dense_resource.

    The bindings cannot read it; but the resource section of the bytecode of a module with that one constant is its alignment, its size,
    padding, and the blob.
    """
    with ir.Location.unknown(attr.context):
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            create("stablehlo.constant", [attr.type], value=attr)
    stream = io.BytesIO()
    module.operation.write_bytecode(stream)
    section, size = _section(stream.getbuffer(), _RESOURCE_SECTION), byte_size(attr.type)
    given = _varint(section, _varint(section, 0)[1])[0] if section else 0
    if not section or given != size:
        message = f"the constant {attr} has {f'{given} bytes of data, not {size}' if section else 'no data'}"
        raise InvalidProgramError(message, stage="lhlo", remedy="keep the dialect_resources section of the program")
    return bytes(section[len(section) - size :])


def _section(data: memoryview, wanted: int) -> memoryview | None:
    """A section of MLIR bytecode, which is magic, version, producer, and sections.

    A section is id, length, alignment and padding if the id's top bit is set, data.
    """
    _, at = _varint(data, 4)
    while data[at]:
        at += 1
    at += 1
    while at < len(data):
        head = data[at]
        length, at = _varint(data, at + 1)
        if head & 0x80:
            alignment, at = _varint(data, at)
            at = -(-at // alignment) * alignment
        if head & 0x7F == wanted:
            return data[at : at + length]
        at += length
    return None


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    """A number whose first byte's trailing zeros count the bytes that follow it, and the position after it."""
    first = data[at]
    extra = (first & -first).bit_length() - 1 if first else 8
    if extra == 8:
        return int.from_bytes(data[at + 1 : at + 9], "little"), at + 9
    return int.from_bytes(data[at : at + 1 + extra], "little") >> (extra + 1), at + 1 + extra

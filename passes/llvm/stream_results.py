"""stream-results: what a kernel writes once, and the last cache does not keep for the next, goes past the caches.

Before:
    memref.prefetch %o[%next], write, …
    vector.store %v, %o[%i] : memref<25690112xf32>, vector<32xf32>
After:
    %at = memref.extract_aligned_pointer_as_index %o
    %whole = arith.cmpi eq, ((%at + %i * 4) and 63), 0
    scf.if %whole {
      vector.store %v, %o[%i] {alignment = 64, nontemporal = true}
    } else {
      memref.prefetch %o[%next], write, …
      vector.store %v, %o[%i]
    }
    …
    llvm.call_intrinsic "llvm.x86.sse.sfence"()        // before it returns: another thread may read what was written

A store into a line that no cache holds first reads the line from memory, and pushes out another. What is read next begins at the first
line, which is gone by then: nothing is lost by not keeping it. Lines are known to be whole at run time alone, as results may be
the caller's.

Must hold: a processor whose registers are cache lines (AVX-512): a store of whole ones waits for no other. Stores begin at multiples of a
line. Declined: buffers that the kernel reads too; stores of parts of a line, masked ones, and those beside them in a block: where every
other row goes past the caches, as of 56 elements, both wait for each other, and it is half as fast as none; kernels all of whose buffers
the last cache holds; results of less than half of it.
"""

from __future__ import annotations

from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, scf, vector
from torch_mlir.dialects.arith import CmpIPredicate

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView, target_of

from ..common.divisor import divisor_of
from ..common.rewriting import all_functions, create, index_constant, ops_in, walk
from ..registry import register_pass

_STORE, _PREFETCH = "vector.store", "memref.prefetch"
_PLACES = {_STORE: 1, "memref.store": 1, "vector.maskedstore": 0, "vector.scatter": 0, _PREFETCH: 0}
"""Which operand of what only writes a buffer, or asks for it, is the buffer."""
_SHARE = 2
"""Of the last cache: of smaller results much is still there when the next kernel reads them."""


@register_pass("stream-results", "writes results that the last cache does not keep past the caches, with AVX-512", ops=(_STORE,))
def stream_results(module: ir.Operation) -> bool:
    target = target_of(module)
    if target.machine != "x86_64" or target.vector_bits != 8 * target.cache_line_bytes:
        return False
    kernels = [f for f in all_functions(module) if "hloom.tiles" in f.attributes and f.regions[0].blocks]
    return any([_stream(kernel, target) for kernel in kernels])


def _stream(kernel: ir.Operation, target: TargetView) -> bool:
    buffers = [argument for argument in kernel.regions[0].blocks[0].arguments if isinstance(argument.type, ir.MemRefType)]
    if sum(map(_buffer_bytes, buffers)) < target.llc_bytes:
        return False
    bases = [base for base in buffers if _buffer_bytes(base) >= target.llc_bytes // _SHARE and _is_only_written(base)]
    stores = [op for base in bases for op in _whole_stores(base, target.cache_line_bytes)]
    for block in {op.block: None for op in stores}:
        asked: list[ir.Operation] = []
        for op in ops_in(block):
            if op.name == _PREFETCH and op.operands[0] in bases:
                asked.append(op)
            elif op in stores:
                _branch(op, asked, target.cache_line_bytes)
                asked = []
    if stores:
        for end in walk(kernel, "func.return"):
            with ir.InsertionPoint(end), end.location:
                _fence()
    return bool(stores)


def _buffer_bytes(base: ir.Value) -> int:
    kind = ir.MemRefType(base.type)
    return prod(kind.shape) * element_bytes(kind.element_type)


def _is_only_written(base: ir.Value) -> bool:
    return all(_PLACES.get(use.owner.operation.name) == use.operand_number for use in base.uses)


def _whole_stores(base: ir.Value, line: int) -> list[ir.Operation]:
    """The stores of whole lines, but for those in a block with others."""
    stores = [use.owner.operation for use in base.uses if use.owner.operation.name != _PREFETCH]
    mixed = {op.block for op in stores if not _is_whole(op, line)}
    return [op for op in stores if op.block not in mixed]


def _is_whole(store: ir.Operation, line: int) -> bool:
    """Whether it stores whole lines, if the buffer begins with one."""
    if store.name != _STORE:
        return False
    value, _, place = store.operands
    kind = ir.VectorType(value.type)
    nbytes = element_bytes(kind.element_type)
    return prod(kind.shape) * nbytes % line == 0 and divisor_of(place) * nbytes % line == 0


def _branch(store: ir.Operation, asked: list[ir.Operation], line: int) -> None:
    """Stores past the caches where that is a whole line, and else as it was, with what was `asked` for before."""
    value, base, place = store.operands
    with ir.InsertionPoint(store), store.location:
        start = arith.muli(place, index_constant(element_bytes(ir.MemRefType(base.type).element_type)))
        address = arith.addi(memref.extract_aligned_pointer_as_index(base), start)
        whole = arith.cmpi(CmpIPredicate.eq, arith.andi(address, index_constant(line - 1)), index_constant(0))
        branch = scf.IfOp(whole, has_else=True)
        with ir.InsertionPoint(branch.then_block):
            vector.store(value, base, [place], nontemporal=True, alignment=line)
            scf.yield_([])
        with ir.InsertionPoint(branch.else_block):
            for op in (*asked, store):
                op.clone()
            scf.yield_([])
    for op in (*asked, store):
        op.erase()


def _fence() -> None:
    none = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0]), "op_bundle_sizes": ir.DenseI32ArrayAttr.get([])}
    create("llvm.call_intrinsic", intrin=ir.StringAttr.get("llvm.x86.sse.sfence"), **none)

"""One way to make an MLIR context with every dialect that hloom reads or writes."""

from __future__ import annotations

import torch_mlir.dialects.gpu.passes  # noqa: F401
from torch_mlir import ir
from torch_mlir._mlir_libs import _mlirLinalgPasses, _stablehlo  # noqa: F401  importing the first registers linalg's passes
from torch_mlir.dialects import affine, builtin, cf, memref, scf, tensor, vector  # noqa: F401  the bindings would, amid a pass
from torch_mlir.passmanager import PassManager

from hloom.runtime.forking import process_lock
from hloom.runtime.interrupts import uninterrupted

from ._support import import_kinds, load
from .grid import Grid
from .lhlo import Lhlo
from .stand_ins import stand_in
from .thunk import Thunk

_stablehlo.register_stablehlo_passes()

stand_in(absent=("stablehlo", "chlo", "vhlo", "lhlo", "thunk", "grid"), unread=("linalg", "llvm"))

# The bindings register stablehlo alone. A pass loads the dialects it depends on, so these two bring chlo and vhlo.
_LOADS_CHLO_AND_VHLO = "builtin.module(func.func(stablehlo-complex-math-expander),stablehlo-legalize-to-vhlo)"

_WRITTEN = "affine arith cf complex func gpu index irdl linalg llvm math memref nvgpu nvvm quant scf tensor ub vector x86".split()
"""Upstream's dialects that hloom writes ops of. Others are loaded by what reads or writes them: to load all takes longer than half
the passes over a small program."""


@uninterrupted()
def make_context(*, allow_unregistered_dialects: bool = False) -> ir.Context:
    """A fresh context, single-threaded; stablehlo, chlo, vhlo and hloom's own dialects are loaded."""
    context = ir.Context(load_on_create_dialects=[])
    for name in _WRITTEN:
        context.get_dialect_descriptor(name)  # which imports no Python module for it
    context.allow_unregistered_dialects = allow_unregistered_dialects
    _stablehlo.register_dialect(context)
    with context:
        PassManager.parse(_LOADS_CHLO_AND_VHLO).run(ir.Module.parse("module {}").operation)
    import_kinds()
    with process_lock, context, ir.Location.unknown():  # what a class of the bindings keeps is of one thread at a time
        for dialect in (Lhlo, Thunk, Grid):
            load(dialect)
    return context

"""Texts of small kernels: what surrounds their bodies."""

from __future__ import annotations

from hloom.compiler.simulator import Kernels

WORKGROUP = "#gpu.address_space<workgroup>"

_PROLOGUE = """
      %t = gpu.thread_id x
      %b = gpu.block_id x
      %size = gpu.block_dim x
      %before = arith.muli %b, %size : index
      %i = arith.addi %before, %t : index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %c32 = arith.constant 32 : index
      %c63 = arith.constant 63 : index
      %one = arith.constant 1 : i32
      %w32 = arith.constant 32 : i32
      %f0 = arith.constant 0.0 : f32
      %f1 = arith.constant 1.0 : f32
"""


def function(name: str, arguments: str, body: str, *, block="64, 1, 1", grid="4, 1, 1", own: str = "", shared_bytes: int = 0) -> str:
    """A gpu.func of 4 blocks of 64 threads; %t is the thread, %b the block, %i the number of the thread in the grid."""
    sizes = f"known_block_size = array<i32: {block}>, known_grid_size = array<i32: {grid}>, hloom.shared_bytes = {shared_bytes} : i64"
    return f"    gpu.func @{name}({arguments}) {own} kernel attributes {{{sizes}}} {{\n{_PROLOGUE}{body}\n      gpu.return\n    }}\n"


def kernel(arguments: str, body: str, **more) -> Kernels:
    """A module with one kernel, @k."""
    return kernels(function("k", arguments, body, **more))


def kernels(*functions: str, before: str = "") -> Kernels:
    return Kernels(f"module {{ gpu.module @kernels {{\n{before}\n{''.join(functions)} }} }}")

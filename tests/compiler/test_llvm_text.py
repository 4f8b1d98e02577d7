"""LLVM IR text made readable for another LLVM, or another target."""

from __future__ import annotations

import llvmlite.binding as llvm

from hloom.compiler.llvm_text import bfloat_as_bits

MOVES = """
declare void @llvm.masked.store.v4bf16.p0(<4 x bfloat>, ptr, <4 x i1>)
define void @move(ptr %p, <4 x i1> %m, i1 %c) {
  %a = load bfloat, ptr %p
  %b = select i1 %c, bfloat %a, bfloat 0xR3F80
  store bfloat %b, ptr %p
  %v = select i1 %c, <4 x bfloat> splat (bfloat 0xRBF80), <4 x bfloat> zeroinitializer
  %w = bitcast <4 x bfloat> %v to <4 x i16>
  call void @llvm.masked.store.v4bf16.p0(<4 x bfloat> %v, ptr %p, <4 x i1> %m)
  ret void
}
"""


def test_bfloats_that_are_moved_become_integers():
    text = bfloat_as_bits(MOVES)
    assert "bfloat" not in text and "bf16" not in text
    assert f"i16 {0x3F80}" in text and f"splat (i16 {0xBF80})" in text
    llvm.parse_assembly(text).verify()

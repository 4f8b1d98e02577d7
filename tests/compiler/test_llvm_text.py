"""LLVM IR text made readable for another LLVM, or another target."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest

from hloom.compiler.codegen import parse_verified
from hloom.compiler.llvm_text import bfloat_as_bits
from hloom.passes.errors import PassFailure

MOVES = """
@name = private constant [12 x i8] c"bfloat 0xR00"
declare void @llvm.masked.store.v4bf16.p0(<4 x bfloat>, ptr, <4 x i1>)
define void @move(ptr %p, <4 x i1> %m, i1 %c) {
  %a = load bfloat, ptr %p
  %b = select i1 %c, bfloat %a, bfloat 0xR3F80
  store bfloat %b, ptr %p
  %v = select i1 %c, <4 x bfloat> splat (bfloat 0xRBF80), <4 x bfloat> zeroinitializer
  %w = bitcast <4 x bfloat> %v to <4 x i16>
  call void @llvm.masked.store.v4bf16.p0(<4 x bfloat> %v, ptr %p, <4 x i1> %m)
  br i1 %c, label %yes, label %no
yes:
  br label %no
no:
  %r = phi bfloat [ 0xR4000, %0 ], [ %a, %yes ]
  store bfloat %r, ptr %p
  ret void
}
"""


def test_bfloats_that_are_moved_become_integers():
    text = bfloat_as_bits(MOVES)
    assert 'c"bfloat 0xR00"' in text and text.count("bfloat") == 1 and "bf16" not in text
    assert f"i16 {0x3F80}" in text and f"splat (i16 {0xBF80})" in text and f"phi i16 [ {0x4000}, %0 ]" in text
    llvm.parse_assembly(text).verify()


def test_an_intrinsic_of_bfloats_and_of_integers_is_declared_once():
    text = bfloat_as_bits("""
declare <4 x i16> @llvm.masked.load.v4i16.p0(ptr, <4 x i1>, <4 x i16>)
declare <4 x bfloat> @llvm.masked.load.v4bf16.p0(ptr, <4 x i1>, <4 x bfloat>)
""")
    assert text.count("declare") == 1
    llvm.parse_assembly(text).verify()


SYNTAX = "define i16 @f(i16 %x) { %y = fneg i16 %x ret i16 %y }"
MEANING = """
declare i16 @llvm.fabs.i16(i16)
define i16 @f(i16 %x) {
  %y = call i16 @llvm.fabs.i16(i16 %x)
  ret i16 %y
}
"""


@pytest.mark.parametrize("text", [SYNTAX, MEANING], ids=["syntax", "meaning"])
def test_what_llvm_refuses_is_an_error(text):
    with pytest.raises(PassFailure, match="LLVM refuses"):
        parse_verified(text)

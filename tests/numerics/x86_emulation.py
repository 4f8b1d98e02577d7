"""Instructions that this machine may lack, as functions in LLVM IR: kernels for another processor run here with them.

A target says what code is made for; LLVM makes it for this machine, and each intrinsic of such an instruction is a call of what the
instruction means, as its manual has it.
"""

from __future__ import annotations

import re

import pytest

from hloom.compiler import codegen
from hloom.compiler.target import Target, host

_QUADS = {f"llvm.x86.avx512.vpdpbusd.{32 * lanes}": lanes for lanes in (4, 8, 16)}
_HALVES = {f"llvm.x86.avx512bf16.dpbf16ps.{32 * lanes}": lanes for lanes in (4, 8, 16)}
_ROUND, _ROUND_TWO = "llvm.x86.avx512bf16.cvtneps2bf16.512", "llvm.x86.avx512bf16.cvtne2ps2bf16.512"
_CLASSES = "llvm.x86.avx512.fpclass.ps.512"
_PAIRS = "llvm.x86.avx512.pmaddw.d.512"
_SIGNS = {"ss": ("sext", "sext"), "su": ("sext", "zext"), "us": ("zext", "sext"), "uu": ("zext", "zext")}
_TILE = "[16 x <16 x i32>]"


def emulate(monkeypatch: pytest.MonkeyPatch, like: Target) -> Target:
    """A target whose kernels are those of `like`, and run here while `monkeypatch` lasts."""
    translated = codegen.to_llvm_ir
    monkeypatch.setattr(codegen, "to_llvm_ir", lambda module: emulated(translated(module)))
    return like.with_entries({"cpu": host().cpu, "features": host().features, "needs": "", "extensions": "", "cores": 1})


def emulated(text: str) -> str:
    """LLVM IR whose intrinsics of such instructions are functions."""
    functions = {name: _sum_of_quads(name, lanes, "zext", "sext") for name, lanes in _QUADS.items()}
    functions |= {name: _sum_of_halves(name, lanes) for name, lanes in _HALVES.items()}
    functions |= {_PAIRS: _sum_of_pairs(), _CLASSES: _is_rare(), _ROUND: _rounded(_ROUND, 16), _ROUND_TWO: _rounded(_ROUND_TWO, 32)}
    functions |= {f"llvm.x86.tdpb{signs}d.internal": _tile_product_of_quads(signs) for signs in _SIGNS}
    functions["llvm.x86.tdpbf16ps.internal"] = _tile_product_of_halves()
    functions |= {"llvm.x86.tilezero.internal": _TILE_ZERO, "llvm.x86.tileloadd64.internal": _tile_load()}
    functions["llvm.x86.tilestored64.internal"] = _tile_store()
    made = ""
    for name, function in functions.items():
        if f"@{name}(" in text:
            text = re.sub(rf"declare .*@{re.escape(name)}\(.*\n", "", text).replace(f"@{name}(", f"@emulated_{name}(")
            made += function
    return text.replace("x86_amx", _TILE) + made


def _sum_of_quads(name: str, lanes: int, left: str, right: str) -> str:
    """Four products of bytes, extended as `left` and `right` say, are added to each lane: vpdpbusd, a part of tdpbssd."""
    picks = [", ".join(f"i32 {4 * lane + byte}" for lane in range(lanes)) for byte in range(4)]
    bytes_, wide, sums, mask = f"<{4 * lanes} x i8>", f"<{4 * lanes} x i32>", f"<{lanes} x i32>", f"<{lanes} x i32>"
    lines = [f"%p{byte} = shufflevector {wide} %p, {wide} %p, {mask} <{pick}>" for byte, pick in enumerate(picks)]
    lines += [f"%s{byte} = add {sums} {'%acc' if byte == 0 else f'%s{byte - 1}'}, %p{byte}" for byte in range(4)]
    products = [f"%l = {left} {bytes_} %left to {wide}", f"%r = {right} {bytes_} %right to {wide}", f"%p = mul {wide} %l, %r"]
    return _function(f"{sums} @emulated_{name}({sums} %acc, {bytes_} %left, {bytes_} %right)", [*products, *lines, f"ret {sums} %s3"])


def _sum_of_pairs() -> str:
    """Two products of i16 are added up: vpmaddwd of 512 bits."""
    lines = [f"%{side}w = sext <32 x i16> %{side} to <32 x i32>" for side in "lr"]
    lines += ["%p = mul <32 x i32> %lw, %rw"]
    for part in range(2):
        pick = ", ".join(f"i32 {2 * lane + part}" for lane in range(16))
        lines += [f"%p{part} = shufflevector <32 x i32> %p, <32 x i32> %p, <16 x i32> <{pick}>"]
    return _function(
        f"<16 x i32> @emulated_{_PAIRS}(<32 x i16> %l, <32 x i16> %r)", [*lines, "%s = add <16 x i32> %p0, %p1", "ret <16 x i32> %s"]
    )


def _sum_of_halves(name: str, lanes: int) -> str:
    """Two products of bf16 are added to each lane, that of the upper ones first: vdpbf16ps, but for what is below the normal numbers."""
    words, sums, halves = f"<{lanes} x i32>", f"<{lanes} x float>", f"<{2 * lanes} x i16>"
    sixteen, upper = (f"{words} <{', '.join([f'i32 {number}'] * lanes)}>" for number in (16, -65536))
    lines = []
    for side in ("left", "right"):
        lines += [f"%{side}.w = bitcast {halves} %{side} to {words}"]
        lines += [f"%{side}.u = and {upper}, %{side}.w", f"%{side}.l = shl {words} %{side}.w, {sixteen.removeprefix(words)}"]
        lines += [f"%{side}.{half}f = bitcast {words} %{side}.{half} to {sums}" for half in "ul"]
    for total, half, made in (("%acc", "u", "%first"), ("%first", "l", "%second")):
        lines += [f"{made}.p = fmul {sums} %left.{half}f, %right.{half}f", f"{made} = fadd {sums} {total}, {made}.p"]
    return _function(f"{sums} @emulated_{name}({sums} %acc, {halves} %left, {halves} %right)", [*lines, f"ret {sums} %second"])


def _is_rare() -> str:
    """vfpclassps for NaNs and what is below the normal numbers, which is all that kernels ask for: a magnitude above infinity's, or between
    that of 0 and the least normal number's."""
    masks = {"sign": 0x7FFFFFFF, "one": 1, "infinity": 0x7F800000, "least": 0x007FFFFF}
    words = {name: f"<{', '.join([f'i32 {number}'] * 16)}>" for name, number in masks.items()}
    lines = ["%b = bitcast <16 x float> %x to <16 x i32>", f"%m = and <16 x i32> %b, {words['sign']}"]
    lines += [f"%nan = icmp ugt <16 x i32> %m, {words['infinity']}", f"%less = sub <16 x i32> %m, {words['one']}"]
    lines += [f"%small = icmp ult <16 x i32> %less, {words['least']}", "%r = or <16 x i1> %nan, %small", "ret <16 x i1> %r"]
    return _function(f"<16 x i1> @emulated_{_CLASSES}(<16 x float> %x, i32 %classes)", lines)


def _rounded(name: str, lanes: int) -> str:
    """To the nearest bf16, ties to even, of numbers that are neither NaNs nor below the normal ones; the second operand's are the lower."""
    words, floats = f"<{lanes} x i32>", f"<{lanes} x float>"
    sixteen, one, half = (f"<{', '.join([f'i32 {number}'] * lanes)}>" for number in (16, 1, 0x7FFF))
    order = ", ".join(f"i32 {lane}" for lane in range(lanes))
    one_operand = lanes == 16
    lines = [] if one_operand else [f"%x = shufflevector <16 x float> %lower, <16 x float> %upper, <{lanes} x i32> <{order}>"]
    lines += [f"%b = bitcast {floats} %x to {words}", f"%s = lshr {words} %b, {sixteen}", f"%last = and {words} %s, {one}"]
    lines += [f"%n = add {words} %b, {half}", f"%m = add {words} %n, %last", f"%h = lshr {words} %m, {sixteen}"]
    lines += [f"%r = trunc {words} %h to <{lanes} x i16>", f"ret <{lanes} x i16> %r"]
    operands = "<16 x float> %x" if one_operand else "<16 x float> %upper, <16 x float> %lower"
    return _function(f"<{lanes} x i16> @emulated_{name}({operands})", lines)


def _tile_product_of_quads(signs: str) -> str:
    """tdpbssd and its like: row m of the sums gains the quads (m, k) of the left tile times row k of the right one, for all k."""
    quads = f"quads_{signs}"
    return _sum_of_quads(quads, 16, *_SIGNS[signs]) + _tile_product(f"tdpb{signs}d", quads, "<16 x i32>", "<64 x i8>")


def _tile_product_of_halves() -> str:
    """tdpbf16ps: the same of pairs, summed in f32."""
    return _sum_of_halves("pairs", 16) + _tile_product("tdpbf16ps", "pairs", "<16 x float>", "<32 x i16>")


def _tile_product(name: str, add: str, sums: str, elements: str) -> str:
    """Of which `add` makes the sums of 16 columns and the products of a lane of the left tile with a row of the right one."""
    lines = []
    for k in range(16):
        lines += [f"%b{k} = extractvalue {_TILE} %b, {k}", f"%c{k} = bitcast <16 x i32> %b{k} to {elements}"]
    for m in range(16):
        lines += [f"%a{m} = extractvalue {_TILE} %a, {m}", f"%w{m} = extractvalue {_TILE} %sums, {m}"]
        lines += [f"%s{m}_0 = bitcast <16 x i32> %w{m} to {sums}"]
        for k in range(16):
            one = ", ".join([f"i32 {k}"] * 16)
            lines += [f"%q{m}_{k} = shufflevector <16 x i32> %a{m}, <16 x i32> %a{m}, <16 x i32> <{one}>"]
            lines += [f"%d{m}_{k} = bitcast <16 x i32> %q{m}_{k} to {elements}"]
            call = f"@emulated_{add}({sums} %s{m}_{k}, {elements} %d{m}_{k}, {elements} %c{k})"
            lines += [f"%s{m}_{k + 1} = call {sums} {call}"]
        lines += [f"%r{m} = bitcast {sums} %s{m}_16 to <16 x i32>"]
        lines += [f"%t{m} = insertvalue {_TILE} {'poison' if m == 0 else f'%t{m - 1}'}, <16 x i32> %r{m}, {m}"]
    head = f"{_TILE} @emulated_llvm.x86.{name}.internal(i16, i16, i16, {_TILE} %sums, {_TILE} %a, {_TILE} %b)"
    return _function(head, [*lines, f"ret {_TILE} %t15"])


_TILE_ZERO = f"\ndefine internal {_TILE} @emulated_llvm.x86.tilezero.internal(i16, i16) {{\n  ret {_TILE} zeroinitializer\n}}\n"


def _tile_load() -> str:
    """So many rows of 64 bytes, %stride apart; the others of a tile are zeros."""
    lines = []
    for m in range(16):
        lines += [f"%o{m} = mul i64 %stride, {m}", f"%q{m} = getelementptr i8, ptr %base, i64 %o{m}"]
        lines += [f"%is{m} = icmp ugt i16 %rows, {m}", f"%p{m} = select i1 %is{m}, ptr %q{m}, ptr %base"]
        lines += [f"%w{m} = load <16 x i32>, ptr %p{m}, align 1"]
        lines += [f"%v{m} = select i1 %is{m}, <16 x i32> %w{m}, <16 x i32> zeroinitializer"]
        lines += [f"%t{m} = insertvalue {_TILE} {'poison' if m == 0 else f'%t{m - 1}'}, <16 x i32> %v{m}, {m}"]
    head = f"{_TILE} @emulated_llvm.x86.tileloadd64.internal(i16 %rows, i16, ptr %base, i64 %stride)"
    return _function(head, [*lines, f"ret {_TILE} %t15"])


def _tile_store() -> str:
    """Rows that a tile does not have go where the first one goes, which is stored last."""
    lines = []
    for m in reversed(range(16)):
        lines += [f"%o{m} = mul i64 %stride, {m}", f"%q{m} = getelementptr i8, ptr %base, i64 %o{m}"]
        lines += [f"%is{m} = icmp ugt i16 %rows, {m}", f"%p{m} = select i1 %is{m}, ptr %q{m}, ptr %base"]
        lines += [f"%v{m} = extractvalue {_TILE} %tile, {m}", f"store <16 x i32> %v{m}, ptr %p{m}, align 1"]
    return _function(
        f"void @emulated_llvm.x86.tilestored64.internal(i16 %rows, i16, ptr %base, i64 %stride, {_TILE} %tile)", [*lines, "ret void"]
    )


def _function(head: str, lines: list[str]) -> str:
    body = "\n  ".join(lines)
    return f"\ndefine internal {head} noinline {{\n  {body}\n}}\n"

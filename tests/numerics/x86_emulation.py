"""Instructions that this machine may lack, as functions in LLVM IR: kernels for another processor run here with them.

A target says what code is made for; LLVM makes it for this machine, and each intrinsic of such an instruction is a call of what the
instruction means, as its manual has it.
"""

from __future__ import annotations

import re

import pytest

from hloom.compiler import artifact_writer, codegen
from hloom.compiler.target import Target, host

_QUADS = {f"llvm.x86.avx512.vpdpbusd.{32 * lanes}": lanes for lanes in (4, 8, 16)}


def emulate(monkeypatch: pytest.MonkeyPatch, like: Target) -> Target:
    """A target whose kernels are those of `like`, and run here while `monkeypatch` lasts."""
    translated = codegen.to_llvm_ir
    monkeypatch.setattr(codegen, "to_llvm_ir", lambda module: emulated(translated(module)))
    monkeypatch.setattr(artifact_writer, "_required_features", lambda target: [])
    return like.with_entries({"cpu": host().cpu, "features": host().features, "cores": 1})


def emulated(text: str) -> str:
    """LLVM IR whose intrinsics of such instructions are functions."""
    functions = []
    for name, lanes in _QUADS.items():
        if f"@{name}(" in text:
            text = re.sub(rf"declare .*@{re.escape(name)}\(.*\n", "", text).replace(f"@{name}(", f"@emulated_{name}(")
            functions.append(_sum_of_quads(f"emulated_{name}", lanes))
    return text + "".join(functions)


def _sum_of_quads(name: str, lanes: int) -> str:
    """vpdpbusd: four products of an unsigned and a signed byte are added to each lane; nothing saturates."""
    picks = [", ".join(f"i32 {4 * lane + byte}" for lane in range(lanes)) for byte in range(4)]
    wide, sums, mask = f"<{4 * lanes} x i32>", f"<{lanes} x i32>", f"<{lanes} x i32>"
    lines = [f"%p{byte} = shufflevector {wide} %p, {wide} %p, {mask} <{pick}>" for byte, pick in enumerate(picks)]
    lines += [f"%s{byte} = add {sums} {'%acc' if byte == 0 else f'%s{byte - 1}'}, %p{byte}" for byte in range(4)]
    body = "\n  ".join(lines)
    return f"""
define internal {sums} @{name}({sums} %acc, <{4 * lanes} x i8> %unsigned, <{4 * lanes} x i8> %signed) {{
  %u = zext <{4 * lanes} x i8> %unsigned to {wide}
  %s = sext <{4 * lanes} x i8> %signed to {wide}
  %p = mul {wide} %u, %s
  {body}
  ret {sums} %s3
}}
"""

"""Programs by which a machine is measured: each says how much it does, so that a time is a rate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hloom.dialects.target import TargetView
from hloom.passes.tiled.schedules.cutting import LOOP_TILE_POINTS

CHAIN = 64
"""Ops of a program that counts arithmetic."""
KERNELS, KERNEL_TILES = 16, (1, 2, 4)
"""Kernels of a program that counts calls, and how many tiles each has: what they take beside their tiles is the call."""
_POINTS = 2048
"""Elements that stay in L1, and in one tile."""


@dataclass(frozen=True)
class Probe:
    """A program; `amount` of bytes, flops or calls that it takes time for; the policy that it is compiled under."""

    text: str
    amount: int
    policy: dict[str, Any] = field(default_factory=dict)


def probes(target: TargetView) -> Iterator[tuple[str, Probe]]:
    """By what they measure."""
    yield "dram", moved(4 * max(target.llc_bytes, 16 << 20))
    yield "llc", moved(max(target.llc_bytes // 4, 2 * target.l2_bytes))
    for element in ("f64", "f32", "f16", "bf16", "i8", "i32"):
        yield element, product(element)
    yield "negations", chain(["stablehlo.subtract %x, %{0}"])
    yield "exponentials", chain(["stablehlo.exponential %{0}", "stablehlo.subtract %x, %{0}"])
    for tiles in KERNEL_TILES:
        yield f"kernels of {tiles}", kernels(tiles)
    yield "turns", turns(4096)


def moved(nbytes: int) -> Probe:
    """Reads half of so many bytes and writes as many."""
    kind = f"tensor<{nbytes // 8}xf32>"
    body = f"  %0 = stablehlo.add %x, %x : {kind}\n  return %0 : {kind}"
    return Probe(_main(f"%x: {kind}", kind, body), nbytes // 8 * 8)


def product(element: str) -> Probe:
    """A product whose operands stay in L2."""
    rows, depth, columns = 384, 256, 256
    out = {"i8": "i32", "i32": "i32", "f64": "f64"}.get(element, "f32")
    left, right, result = f"tensor<{rows}x{depth}x{element}>", f"tensor<{depth}x{columns}x{element}>", f"tensor<{rows}x{columns}x{out}>"
    dot = f"  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : ({left}, {right}) -> {result}\n  return %0 : {result}"
    text = _main(f"%x: {left}, %y: {right} {{hloom.bound}}", result, dot)
    return Probe(text, 2 * rows * depth * columns, {"kernel": [{"op": "dot_general", "use": "generated"}]})


def chain(ops: list[str]) -> Probe:
    """So many ops one after the other on values that stay in registers."""
    kind = f"tensor<{_POINTS}xf32>"
    lines, last = [], "x"
    for number in range(CHAIN):
        lines.append(f"  %{number} = {ops[number % len(ops)].format(last)} : {kind}")
        last = str(number)
    return Probe(_main(f"%x: {kind}", kind, "\n".join([*lines, f"  return %{last} : {kind}"])), CHAIN * _POINTS)


def kernels(tiles: int) -> Probe:
    """So many kernels of so many tiles, whose operands stay in L2."""
    kind = f"tensor<{tiles * LOOP_TILE_POINTS}xf32>"
    lines = [f"  %{n} = stablehlo.subtract %x, %{n - 1 if n else 'x'} : {kind}" for n in range(KERNELS)]
    forbid = {"fuse": [{"op": "subtract", "with": "subtract", "action": "forbid"}]}
    return Probe(_main(f"%x: {kind}", kind, "\n".join([*lines, f"  return %{KERNELS - 1} : {kind}"])), KERNELS, forbid)


def turns(count: int) -> Probe:
    """A loop whose turns do next to nothing."""
    kind = "tensor<16xf32>"
    text = f"""  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<{count}> : tensor<i32>
  %r:2 = stablehlo.while(%i = %c0, %v = %x) : tensor<i32>, {kind}
  cond {{
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %j = stablehlo.add %i, %c1 : tensor<i32>
    %w = stablehlo.subtract %x, %v : {kind}
    stablehlo.return %j, %w : tensor<i32>, {kind}
  }}
  return %r#1 : {kind}"""
    return Probe(_main(f"%x: {kind}", kind, text), count)


def _main(arguments: str, result: str, body: str) -> str:
    return f"func.func @main({arguments}) -> {result} {{\n{body}\n}}"

"""Programs that the explorer is tried on."""

from __future__ import annotations


def mlp(layers: int = 3, rows: int = 64, width: int = 256) -> str:
    """StableHLO of x → relu(x · w + b), layer after layer, and the softmax of the last."""
    kind, square, row = f"tensor<{rows}x{width}xf32>", f"tensor<{width}x{width}xf32>", f"tensor<{width}xf32>"
    arguments = ", ".join(f"%w{i}: {square}, %b{i}: {row}" for i in range(layers))
    lines = [f"func.func @main(%x: {kind}, {arguments}) -> {kind} {{"]
    lines += [f"  %zero = stablehlo.constant dense<0.0> : {kind}"]
    x = "%x"
    for i in range(layers):
        lines += [
            f"  %dot{i} = stablehlo.dot_general {x}, %w{i}, contracting_dims = [1] x [0] : ({kind}, {square}) -> {kind}",
            f"  %bias{i} = stablehlo.broadcast_in_dim %b{i}, dims = [1] : ({row}) -> {kind}",
            f"  %sum{i} = stablehlo.add %dot{i}, %bias{i} : {kind}",
            f"  %relu{i} = stablehlo.maximum %sum{i}, %zero : {kind}",
        ]
        x = f"%relu{i}"
    column = f"tensor<{rows}xf32>"
    lines += [
        "  %none = stablehlo.constant dense<0.0> : tensor<f32>",
        f"  %e = stablehlo.exponential {x} : {kind}",
        f"  %s = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [1] : ({kind}, tensor<f32>) -> {column}",
        f"  %all = stablehlo.broadcast_in_dim %s, dims = [0] : ({column}) -> {kind}",
        f"  %y = stablehlo.divide %e, %all : {kind}",
        f"  return %y : {kind}",
        "}",
    ]
    return "\n".join(lines) + "\n"

"""The ordered passes of the stage input → stablehlo, as pipeline text."""

from __future__ import annotations

STABLEHLO = [
    # one function of stablehlo ops
    "func.func(stablehlo-legalize-composite-to-call)",
    "inline",
    "symbol-dce",
    "drop-annotations",
    "func.func(stablehlo-legalize-deprecated-ops)",
    "legalize-batch-norm",
    "func.func(chlo-legalize-to-stablehlo)",
    "legalize-constants",
    "simplify-stablehlo",
    "func.func(stablehlo-canonicalize-dynamism)",
    # loops
    "simplify-loops",
    "unroll-loops",
    "simplify-stablehlo",
    "split-concatenated-carries",
    # contractions
    "fold-converts-into-dots",
    "fold-transposes",
    "extract-padding",
    # what the above has opened up
    "cse",
    "simplify-stablehlo",
    "simplify-loops",
    "simplify-stablehlo",
    "canonicalize",
    "cse",
    "check-canonical",
    # bound arguments
    "pack-weights",
    "split-init",
    "canonicalize",
]

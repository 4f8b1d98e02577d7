"""Lowering of group functions from stablehlo to linalg on tensors, one op family a file, and what the ingress passes share.

`LOWERINGS` of each family maps a stablehlo op's name to a function (Lowering, op) -> the new values of the op's results; `generic` reads
and builds linalg.generic.
"""

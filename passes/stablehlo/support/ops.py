"""The ops that hloom compiles."""

from __future__ import annotations

ELEMENTWISE = """
    abs add and atan2 bitcast_convert cbrt ceil clamp compare convert cosine count_leading_zeros divide exponential exponential_minus_one
    floor is_finite log log_plus_one logistic maximum minimum multiply negate not or popcnt power reduce_precision remainder
    round_nearest_afz round_nearest_even rsqrt select shift_left shift_right_arithmetic shift_right_logical sign sine sqrt subtract tan tanh
    xor
""".split()
MOVEMENT = """
    broadcast_in_dim concatenate constant dynamic_slice dynamic_update_slice gather iota pad reshape reverse slice transpose
""".split()
CONTRACTIONS = "convolution dot_general reduce reduce_window".split()
CONTROL = "case if return while".split()
LEGALIZED = """
    batch_norm_inference broadcast composite dot dynamic_broadcast_in_dim dynamic_conv dynamic_gather dynamic_iota dynamic_pad
    dynamic_reshape einsum get_dimension_size get_tuple_element optimization_barrier real_dynamic_slice tuple unary_einsum
""".split()
"""These become ops of the lists above, or nothing, at the stage stablehlo."""

CANONICAL = {f"stablehlo.{name}" for name in (*ELEMENTWISE, *MOVEMENT, *CONTRACTIONS, *CONTROL)}
"""What may be left at the end of the stage stablehlo."""

ACCEPTED = (
    CANONICAL | {f"stablehlo.{name}" for name in LEGALIZED} | {"func.func", "func.return", "func.call", "arith.constant", "builtin.module"}
)
"""What may stand in a program, beside chlo."""

CHLO_DECLINED = {"chlo.top_k", "chlo.ragged_dot", "chlo.scan", "chlo.constant"}

ANNOTATIONS = {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "LayoutConstraint", "annotate_device_placement"}
"""Custom calls for a partitioner, which give back their operands."""

_REMEDIES = {
    "stablehlo.custom_call": "hloom calls no outside code; write the function with other ops",
    "stablehlo.sort": "hloom has no sort yet; sort outside of the program",
    "chlo.top_k": "hloom has no sort yet; take the top elements outside of the program",
    "stablehlo.scatter": "hloom has no scatter yet; write the update as a dynamic_update_slice or a select",
    "stablehlo.rng": "its results depend on hidden state; use a counter-based generator such as JAX's threefry",
    "stablehlo.rng_bit_generator": "use JAX's threefry generator (jax_default_prng_impl='threefry2x32')",
}
_DYNAMIC = "its shape or indices must be constants; export the program with static shapes"


def remedy(name: str) -> str:
    """What to do about an op that hloom does not compile."""
    if name.startswith(("stablehlo.dynamic_", "stablehlo.real_dynamic_")):
        return _DYNAMIC
    return _REMEDIES.get(name, "write the function with other ops")

"""What the passes of the stablehlo stage share: building ops, reading constants, the rewrite driver and its rules."""

"""The ordered passes of the stages with many: stablehlo, the kernels' part of llvm, and nvvm, as pipeline text."""

from __future__ import annotations

STABLEHLO = [
    # one function of stablehlo ops
    "func.func(stablehlo-legalize-composite-to-call)",
    "inline",
    "symbol-dce",
    "drop-annotations",
    "legalize-collectives",
    "legalize-map",
    "legalize-quantized",
    "widen-narrow-types",
    "legalize-rng",
    "func.func(stablehlo-legalize-deprecated-ops)",
    "legalize-einsum",
    "legalize-index-select",
    "legalize-broadcast-select",
    "legalize-batch-norm",
    "legalize-random-bits",
    "legalize-linear-algebra",
    "legalize-cuda-calls",
    "fit-calls-to-cuda",
    "legalize-custom-calls",
    "legalize-select-and-scatter",
    "func.func(chlo-legalize-to-stablehlo)",
    "legalize-constants",
    "split-complex",
    "legalize-fft",
    "join-scans",
    "sort-last-dimension",
    "simplify-stablehlo",
    "func.func(stablehlo-canonicalize-dynamism)",
    "legalize-dynamic",
    # loops
    "simplify-loops",
    "unroll-loops",
    "simplify-stablehlo",
    "split-concatenated-carries",
    # contractions
    "fold-converts-into-dots",
    "fold-transposes",
    "multiply-in-integers",
    "scale-sums",
    "split-windows",
    "split-extremes",
    "split-phases",
    "channels-first",
    "extract-padding",
    "channels-last",
    # what the above has opened up
    "cse",
    "fold-indices",
    "simplify-stablehlo",
    "simplify-loops",
    "hoist-products",
    "join-fourier-parts",
    "simplify-stablehlo",
    "canonicalize",
    "cse",
    "sort-scatters",
    "compact-sums",
    "partial-sorts",
    "grow-concatenations",
    "concatenate-windows",
    "check-canonical",
    # reductions with few results, or of rows that no cache keeps
    "rescale-sums",
    "cse",
    "split-reductions",
    # bound arguments
    "scale-groups",
    "pack-nibbles",
    "pack-weights",
    "fold-scales",
    "winograd-filters",
    "pack-filters",
    "turn-byte-weights",
    "align-weights",
    "split-init",
    "canonicalize",
]

LOWER_KERNELS = [
    "spare-llvm-passes",
    "isolate-kernels",
    # the kernels alone, in a module of their own: the host program beside it stays as it is
    "builtin.module(lower-affine)",
    "share-kernels",
    "builtin.module(cse,canonicalize{top-down=false},cse)",
    "branch-single-tiles",
    "copy-narrow-tails",
    "split-known-tails",
    "scale-to-avx512",
    "round-to-bf16",
    "pair-bf16-lanes",
    "bf16-as-bits",
    "maximum-to-avx512",
    "builtin.module(func.func(convert-vector-to-scf{full-unroll=true target-rank=1}),lower-affine)",
    "builtin.module(func.func(loop-invariant-code-motion),func.func(convert-scf-to-cf))",
    "builtin.module(convert-vector-to-llvm{enable-x86=true reassociate-fp-reductions=true},convert-math-to-llvm,convert-arith-to-llvm)",
    "builtin.module(convert-index-to-llvm,convert-ub-to-llvm,finalize-memref-to-llvm)",
    "builtin.module(convert-func-to-llvm{use-bare-ptr-memref-call-conv=true},convert-to-llvm,reconcile-unrealized-casts,cse)",
    "gather-words",
    "wrap-kernels",
    "lower-launches",
]

# libdevice computes the rest: these are beyond 2 ulp there, or keep a table in local memory (docs/gpu.md)
_NOT_FROM_LIBDEVICE = (
    "sin_f32+cos_f32+tan_f32+atan2_f32+sinh_f32+asinh_f32+acosh_f32+atanh_f32+erfc_f32+powf_f32+fpowi_f32"
    "+asinh_f64+acosh_f64+erfc_f64+powf_f64+ipowi_i64"
)

NVVM = [
    # what upstream has no lowering for
    "expand-grid-barriers",
    "widen-shuffles",
    "expand-atomics",
    "approximate-for-halves",
    f"expand-math{{only={_NOT_FROM_LIBDEVICE}}}",
    "divide-inline",
    "approximate-powers",
    "tensor-map-parameters",
    # kernels alone: the host program beside them stays as it is
    "gpu.module(canonicalize,cse)",
    "expect-branches",
    "gpu.module(convert-nvgpu-to-nvvm)",
    "gpu.module(convert-vector-to-scf,lower-affine,convert-scf-to-cf,expand-strided-metadata,lower-affine)",
    "gpu.module(convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=true has-redux=true})",
    "gpu.module(convert-vector-to-llvm,convert-math-to-llvm,convert-arith-to-llvm,convert-ub-to-llvm,convert-index-to-llvm)",
    "grid-constants",
    "gpu.module(convert-nvvm-to-llvm,reconcile-unrealized-casts,canonicalize,cse)",
    "external-shared-memory",
    "relax-atomics",
    "widen-bf16",
    "verify-nvvm",
]

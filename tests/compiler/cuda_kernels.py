"""Small hand-written kernels for the tests of the CUDA back end."""

from __future__ import annotations

import functools

from torch_mlir import ir

from hloom.compiler.parsing import parse_module
from hloom.dialects.context import make_context

SHARED = "#gpu.address_space<workgroup>"


def function(name: str, arguments: str, body: str, *, own: str = "", shared_bytes: int = 0) -> str:
    """A kernel of 8 blocks of 128 threads; %t is the thread, %c0 zero."""
    return f"""gpu.func @{name}({arguments}) {own} kernel attributes {{
        known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 8, 1, 1>, hloom.shared_bytes = {shared_bytes} : i64}} {{
      %t = gpu.thread_id x
      %c0 = arith.constant 0 : index
      {body}
      gpu.return
    }}"""


def module_of(*functions: str, globals_: str = "") -> ir.Module:
    return parse_module("gpu.module @kernels {\n" + globals_ + "\n".join(functions) + "\n}", _context())


@functools.cache
def _context() -> ir.Context:
    return make_context()


def elementwise(element: str, name: str = "", op: str = "") -> str:
    """128 bits of `element` a thread: exp(x) + x, or the ops given, which make %r of %x."""
    lanes = 128 // (int(element.lstrip("bfi")) if element != "i1" else 8)
    vector = f"vector<{lanes}x{element}>"
    body = op or f"%e = math.exp %x : {vector}\n %r = arith.addf %e, %x : {vector}"
    return function(
        name or f"elementwise_{element}",
        f"%in: memref<65536x{element}> {{llvm.noalias, llvm.readonly}}, %out: memref<65536x{element}> {{llvm.noalias}}",
        f"""%w = arith.constant {lanes} : index
        %i = arith.muli %t, %w : index
        %x = vector.load %in[%i] {{alignment = 16 : i64}} : memref<65536x{element}>, {vector}
        {body}
        vector.store %r, %out[%i] {{alignment = 16 : i64}} : memref<65536x{element}>, {vector}""",
    )


def shuffle(kind: str, element: str) -> str:
    """A butterfly of values of type `kind`."""
    load, store = ("memref.load", "memref.store") if kind == element else ("vector.load", "vector.store")
    types = f"memref<512x{element}>" + ("" if kind == element else f", {kind}")
    name = "shuffle_" + "".join(c if c.isalnum() else "_" for c in kind)
    return function(
        name,
        f"%in: memref<512x{element}>, %out: memref<512x{element}>",
        f"""%v = {load} %in[%t] : {types}
        %offset = arith.constant 1 : i32
        %width = arith.constant 32 : i32
        %s, %valid = gpu.shuffle xor %v, %offset, %width : {kind}
        {store} %s, %out[%t] : {types}""",
    )


SHUFFLED = (
    *((kind, kind) for kind in ("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64")),
    *((f"vector<{n}x{kind}>", kind) for n, kind in ((2, "f16"), (4, "f32"), (8, "bf16"), (2, "f64"), (2, "i8"))),
)

REVERSED = function(
    "reversed",
    "%in: memref<512xf32>, %out: memref<512xf32>",
    f"""%v = memref.load %in[%t] : memref<512xf32>
    memref.store %v, %s[%t] : memref<128xf32, {SHARED}>
    gpu.barrier
    %last = arith.constant 127 : index
    %u = arith.subi %last, %t : index
    %w = memref.load %s[%u] : memref<128xf32, {SHARED}>
    memref.store %w, %out[%t] : memref<512xf32>""",
    own=f"workgroup(%s : memref<128xf32, {SHARED}>)",
)

DYNAMIC = function(
    "dynamic",
    "%in: memref<512xf32>, %out: memref<512xf32>",
    f"""%all = gpu.dynamic_shared_memory : memref<?xi8, {SHARED}>
    %offset = arith.constant 65536 : index
    %s = memref.view %all[%offset][] : memref<?xi8, {SHARED}> to memref<128xf32, {SHARED}>
    %v = memref.load %in[%t] : memref<512xf32>
    memref.store %v, %s[%t] : memref<128xf32, {SHARED}>
    gpu.barrier
    %last = arith.constant 127 : index
    %u = arith.subi %last, %t : index
    %w = memref.load %s[%u] : memref<128xf32, {SHARED}>
    memref.store %w, %out[%t] : memref<512xf32>""",
    shared_bytes=66048,
)

MASKED = function(
    "masked",
    "%in: memref<509xf32>, %out: memref<509xf32>",
    """%four = arith.constant 4 : index
    %i = arith.muli %t, %four : index
    %n = arith.constant 509 : index
    %left = arith.subi %n, %i : index
    %mask = vector.create_mask %left : vector<4xi1>
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %v = vector.maskedload %in[%i], %mask, %zero : memref<509xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    %r = arith.addf %v, %v : vector<4xf32>
    vector.maskedstore %out[%i], %mask, %r : memref<509xf32>, vector<4xi1>, vector<4xf32>""",
)

MATMUL = function(
    "matmul",
    "%a: memref<4096xf16>, %b: memref<4096xf16>, %out: memref<4096xf32>",
    f"""%eight = arith.constant 8 : index
    %i = arith.muli %t, %eight : index
    %copy = nvgpu.device_async_copy %a[%i], %s[%i], 8 {{bypassL1}} : memref<4096xf16> to memref<1024xf16, {SHARED}>
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group {{numGroups = 0 : i32}}
    gpu.barrier
    %x = nvgpu.ldmatrix %s[%i] {{numTiles = 4 : i32, transpose = false}} : memref<1024xf16, {SHARED}> -> vector<4x2xf16>
    %y0 = vector.load %b[%i] {{alignment = 8 : i64}} : memref<4096xf16>, vector<4xf16>
    %y = vector.shape_cast %y0 : vector<4xf16> to vector<2x2xf16>
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %d = nvgpu.mma.sync(%x, %y, %zero) {{mmaShape = [16, 8, 16]}} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %flat = vector.shape_cast %d : vector<2x2xf32> to vector<4xf32>
    vector.store %flat, %out[%i] {{alignment = 16 : i64}} : memref<4096xf32>, vector<4xf32>""",
    own=f"workgroup(%s : memref<1024xf16, {SHARED}>)",
)

ATOMICS = (
    *(("addf", kind) for kind in ("f16", "bf16", "f32", "f64")),
    *((op, "f32") for op in ("mulf", "maximumf", "minimumf")),
    *((op, kind) for op in ("addi", "muli", "maxs", "minu", "ori") for kind in ("i32", "i64")),
)


def atomic(op: str, element: str) -> str:
    return function(
        f"{op}_{element}",
        f"%in: memref<512x{element}>, %out: memref<512x{element}>",
        f"""%v = memref.load %in[%t] : memref<512x{element}>
        %old = memref.atomic_rmw {op} %v, %out[%c0] : ({element}, memref<512x{element}>) -> {element}""",
    )


UNARY = """absf acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 expm1 floor log log10 log1p log2 round roundeven
rsqrt sin sinh sqrt tan tanh trunc""".split()
BINARY = "atan2 copysign powf".split()


def math_function(op: str, element: str) -> str:
    operands = "%a, %b" if op in BINARY else "%a"
    return function(
        op,
        f"%x: memref<512x{element}>, %y: memref<512x{element}>, %out: memref<512x{element}>",
        f"""%a = memref.load %x[%t] : memref<512x{element}>
        %b = memref.load %y[%t] : memref<512x{element}>
        %r = math.{op} {operands} : {element}
        memref.store %r, %out[%t] : memref<512x{element}>""",
    )

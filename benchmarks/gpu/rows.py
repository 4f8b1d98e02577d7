"""The workloads on a GPU: those of every machine, and some of a GPU's size (bf16 products, attention, images, long reductions)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from hloom.runtime.dtypes import numpy_dtype

from ..rows import ROWS as EVERYWHERE
from ..rows import Arrays, Row, cast, layers, random, rounded

_BF16 = numpy_dtype("bf16")


def _matrices(*shapes: tuple[int, ...]) -> Arrays:
    return [random(seed, *shape) for seed, shape in enumerate(shapes)]


def _half(*shapes: tuple[int, ...]) -> Arrays:
    return cast(partial(_matrices, *shapes), _BF16)


_GENERATED = '[[kernel]]\nuse = "generated"\n'
_UNORDERED = '[[kernel]]\nop = "scatter"\nuse = "unordered"\n'
_PRODUCER = _GENERATED + "[[tile]]\nproducer = true\n"
_CLUSTER = _PRODUCER + "cluster = true\n"
_LIBRARY = '[[kernel]]\nuse = "library"\n'


def _linear(name: str, rows: int, width: int, out: int) -> list[Row]:
    """By hloom's choice, its own kernels, and the library."""
    title = f"linear, relu, {rows}×{width}×{out} bf16"
    weights = partial(cast, partial(layers, width, out), _BF16)
    row = Row(name, title, "mlp", partial(_half, (rows, width)), weights, gflop=2e-9 * rows * width * out, tolerance=0.05)
    return [row, *_both(row)]


def _both(row: Row) -> list[Row]:
    kinds = {"generated": _GENERATED, "library": _LIBRARY}
    return [replace(row, name=f"{row.name}.{kind}", title=f"{row.title}, {kind}", policy=policy) for kind, policy in kinds.items()]


def _by_roles(row: Row) -> list[Row]:
    """Blocks of which a warp fetches for the others, and for two blocks."""
    kinds = {"producer": (_PRODUCER, "a warp fetches"), "cluster": (_CLUSTER, "a warp fetches for two blocks")}
    return [replace(row, name=f"{row.name}.{kind}", title=f"{row.title}, {what}", policy=policy) for kind, (policy, what) in kinds.items()]


def _in_any_order(row: Row) -> Row:
    """By atomics, as the peers add: sums differ in their last bits from run to run."""
    return replace(row, name=f"{row.name}.unordered", title=f"{row.title}, in any order", policy=_UNORDERED)


def _attention(name: str, program: str, queries: tuple[int, ...], keys: tuple[int, ...], title: str) -> Row:
    gflop = 4e-9 * float(np.prod(queries)) * keys[2] / (2 if program == "causal_attention" else 1)
    return Row(name, title, program, partial(_half, queries, keys, keys), gflop=gflop, tolerance=0.05)


def _attention_gradients(program: str, shape: tuple[int, ...], title: str) -> Row:
    """Five products of the scores' size, of which the first is done again."""
    gflop = 10e-9 * float(np.prod(shape)) * shape[2] / (2 if program.startswith("causal") else 1)
    return Row(program, title, program, partial(_half, *[shape] * 4), gflop=gflop, tolerance=0.05)


def _linear_gradients(name: str, rows: int, width: int, out: int) -> Row:
    """With the product itself, for relu asks where it is positive."""
    title = f"gradients of linear, relu, {rows}×{width}×{out} bf16"
    inputs = partial(_half, (rows, width), (width, out), (out,), (rows, out))
    return Row(name, title, "linear_gradients", inputs, gflop=6e-9 * rows * width * out, tolerance=0.05)


def _logits(rows: int, classes: int) -> Arrays:
    return [rounded(random(0, rows, classes), _BF16), np.random.default_rng(1).integers(0, classes, rows).astype(np.int32)]


def _decoder_step(layers: int, width: int, classes: int, tokens: tuple[int, int]) -> Row:
    """A step of training; attention counts as one that computes no masked scores."""
    hidden = width * 11 // 4
    shapes = [(classes, width), *[(width,), (width, 3 * width), (width, width), (width,), (width, 2 * hidden), (hidden, width)] * layers]
    numbers, rows = sum(map(np.prod, shapes)), tokens[0] * tokens[1]
    gflop = 6e-9 * rows * (float(numbers) + layers * tokens[1] * width)
    title = f"step of a decoder, {numbers / 1e6:.0f} M weights, {tokens[0]}×{tokens[1]} tokens, bf16"
    return Row("decoder_step", title, "decoder_step", partial(_decoder, shapes, tokens), gflop=gflop, tolerance=0.05)


def _decoder(shapes: list[tuple[int, ...]], tokens: tuple[int, int]) -> Arrays:
    weights = [
        1 + random(seed, *shape, scale=0.1) if len(shape) == 1 else random(seed, *shape, scale=0.02) for seed, shape in enumerate(shapes)
    ]
    moments = [random(100 + seed, *shape, scale=1e-4) for seed, shape in enumerate(shapes)]
    ids = np.random.default_rng(0).integers(0, shapes[0][0], (2, *tokens)).astype(np.int32)
    return [*ids, *weights, *moments]


def _convolution(name: str, program: str, title: str, filters: tuple[int, ...]) -> list[Row]:
    gflop = 2e-9 * 32 * 56 * 56 * float(np.prod(filters))
    row = Row(name, title, program, partial(_half, _IMAGES), partial(_half, filters), gflop=gflop, tolerance=0.05)
    return [row, *_both(row)]


def _batchnorm() -> Arrays:
    """Statistics, scales and shifts in f32, as where only the products are in bf16."""
    x, gradient = _half(_IMAGES, _IMAGES)
    return [x, random(2, 64), random(3, 64), gradient]


_LARGE = (8192, 4096)
_HEADS, _LONG, _WIDE = (2, 16, 2048, 64), (1, 32, 4096, 128), (4096, 4096)
_IMAGES = (32, 56, 56, 64)

_OWN = [
    Row("chain_bf16", "exp(tanh(x + b)), 8192×4096 bf16", "chain", partial(_half, _LARGE, (4096,)), tolerance=0.03),
    Row("softmax_bf16", "softmax, 8192×4096 bf16", "softmax", partial(_half, _LARGE), tolerance=0.03),
    Row("layernorm_bf16", "layernorm, 8192×4096 bf16", "layernorm", partial(_half, _LARGE, (4096,), (4096,)), tolerance=0.05),
    Row("rmsnorm_bf16", "RMS norm, 8192×4096 bf16", "rmsnorm", partial(_half, _LARGE, (4096,)), tolerance=0.03),
    Row("softmax_long", "softmax, 8×1,048,576 f32", "softmax", partial(_matrices, (8, 1 << 20))),
    Row("row_sums", "sums of rows, 4096×4096 f32", "row_sums", partial(_matrices, _WIDE)),
    Row("column_sums", "sums of columns, 4096×4096 f32", "column_sums", partial(_matrices, _WIDE)),
    Row("whole_sum", "sum of 67,108,864 f32", "whole_sum", partial(_matrices, (8192, 8192)), tolerance=1e-3),
    Row("transposed_add", "x.T + y, 4096×4096 f32", "transposed_add", partial(_matrices, _WIDE, _WIDE)),
    Row("cumulative_sum", "cumulative sums of rows, 4096×4096 f32", "cumulative_sum", partial(_matrices, _WIDE)),
    *(large := _linear("linear_bf16", 4096, 4096, 4096)),
    *_by_roles(large[0]),
    *(wide := _linear("linear_bf16_wide", 8192, 1024, 4096)),
    *_by_roles(wide[0]),
    *_linear("linear_bf16_odd", 333, 1000, 777),
    *_linear("linear_bf16_row", 1, 4096, 11008),
    *_linear("linear_bf16_rows", 16, 4096, 11008),
    _attention("attention_bf16", "attention", _HEADS, _HEADS, "attention, 32 heads of 2048 tokens × 64, bf16"),
    _attention("attention_causal_bf16", "causal_attention", _HEADS, _HEADS, "causal attention, 32 heads of 2048 tokens × 64, bf16"),
    _attention("attention_causal_128", "causal_attention", _LONG, _LONG, "causal attention, 32 heads of 4096 tokens × 128, bf16"),
    _attention("attention_decode", "attention", (1, 32, 1, 128), _LONG, "attention of one query, 32 heads of 4096 tokens × 128, bf16"),
    *_convolution("convolution_bf16", "convolution", "convolution 3×3, relu, 32×56×56×64 to 64, bf16", (3, 3, 64, 64)),
    _convolution("depthwise_bf16", "depthwise", "depthwise convolution 3×3, relu, 32×56×56×64, bf16", (3, 3, 1, 64))[0],
    _attention_gradients("attention_gradients", _HEADS, "gradients of attention, 32 heads of 2048 tokens × 64, bf16"),
    _attention_gradients("causal_attention_gradients", _HEADS, "gradients of causal attention, 32 heads of 2048 tokens × 64, bf16"),
    _linear_gradients("linear_gradients", 4096, 1024, 4096),
    _linear_gradients("linear_gradients_long", 65536, 64, 64),
    _decoder_step(4, 1024, 32000, (4, 1024)),
    Row(
        "layernorm_gradients",
        "gradients of layernorm, 8192×4096 bf16",
        "layernorm_gradients",
        partial(_half, _LARGE, (4096,), (4096,), _LARGE),
        tolerance=0.05,
    ),
    Row(
        "convolution_gradients",
        "gradients of convolution 3×3, relu, 32×56×56×64 to 64, bf16",
        "convolution_gradients",
        partial(_half, _IMAGES, (3, 3, 64, 64), _IMAGES),
        gflop=6e-9 * 32 * 56 * 56 * 9 * 64 * 64,
        tolerance=0.05,
    ),
    Row(
        "batchnorm_gradients",
        "gradients of batch norm in training, 32×56×56×64 bf16",
        "batchnorm_gradients",
        _batchnorm,
        tolerance=0.05,
    ),
    Row(
        "cross_entropy_gradients",
        "cross-entropy and its gradients, 4096×32,000 bf16",
        "cross_entropy_gradients",
        partial(_logits, 4096, 32000),
        tolerance=0.03,
    ),
    Row("max_pool_bf16", "max pool 3×3, stride 2, 32×56×56×64, bf16", "max_pool", partial(_half, _IMAGES)),
]


def _integers(bound: int, *shape: int, dtype: type = np.int32, least: int = 0) -> Arrays:
    return [np.random.default_rng(len(shape)).integers(least, bound, shape).astype(dtype)]


def _bytes(*shapes: tuple[int, ...]) -> Arrays:
    return [array for shape in shapes for array in _integers(128, *shape, dtype=np.int8, least=-128)]


def _recurrent(columns: int) -> Arrays:
    weights = [random(seed, columns, 4 * columns, scale=columns**-0.5) for seed in range(2)]
    return [rounded(array, _BF16) for array in (*weights, random(2, 4 * columns, scale=0.1))]


def _parameters() -> Arrays:
    """Of a network's layers: a matrix and a bias each, with gradients and moments."""
    shapes = [shape for layer in range(6) for shape in ((256 << layer % 3, 512), (256 << layer % 3,))]
    arrays = [random(seed, *shape) for seed, shape in enumerate(np.repeat(np.array(shapes, object), 4))]
    return [np.abs(array) if index % 4 == 3 else array for index, array in enumerate(arrays)]


def _layer(name: str, title: str, *inputs: tuple[int, ...], weights: tuple[tuple[int, ...], ...] = (), gflop: float = 0.0) -> Row:
    """In bf16."""
    return Row(name, f"{title} bf16", name, partial(_half, *inputs), partial(_half, *weights), gflop=gflop, tolerance=0.05)


_SQUARE, _BLOCK, _FIRST = (16, 64, 64, 256), (64, 512, 512), (32, 224, 224, 3)
_WINDOWS, _FILTERS, _TURNED = (32, 56, 56, 96), (7, 7, 1, 96), (2, 2, 128, 64)
_MAPS, _TWICE = (16, 64, 64, 128), (16, 128, 128, 64)

_LAYERS = [
    _layer("depthwise_gradients", "gradients of depthwise convolution 7×7, relu, 32×56×56×96", _WINDOWS, _FILTERS, _WINDOWS),
    _layer("first_convolution", "convolution 7×7 by 2, relu, 32×224×224×3 to 64", _FIRST, weights=((7, 7, 3, 64),), gflop=7.55),
    _layer("transposed_convolution", "transposed convolution 2×2, 16×64×64×128 to 64", _MAPS, weights=(_TURNED,), gflop=4.29),
    _layer(
        "transposed_convolution_gradients",
        "gradients of transposed convolution 2×2, 16×64×64×128 to 64",
        _MAPS,
        _TURNED,
        _TWICE,
        gflop=8.59,
    ),
    _layer("resize", "bilinear resize to twice, 32×56×56×64", _IMAGES),
    _layer("group_norm", "group norm, 16×64×64×256", _SQUARE, (256,), (256,)),
    _layer("group_norm_gradients", "gradients of group norm, 16×64×64×256", _SQUARE, (256,), (256,), _SQUARE),
    _layer("channels_last", "channels first to last, 32×256×56×56", (32, 256, 56, 56)),
    _layer("batched_products", "64 products of 512×512×512", _BLOCK, _BLOCK, gflop=2e-9 * 64 * 512**3),
    _layer(
        "gelu_mlp",
        "MLP with GELU, 4096×1024×4096×1024",
        (4096, 1024),
        weights=((1024, 4096), (4096, 1024)),
        gflop=4e-9 * 4096 * 1024 * 4096,
    ),
    _layer(
        "grouped_attention",
        "attention of one query, 8×32 heads of 8 groups, 4096 tokens × 128",
        (8, 32, 1, 128),
        (8, 8, 4096, 128),
        (8, 8, 4096, 128),
    ),
    Row(
        "attention_f32",
        "attention, 32 heads of 1024 tokens × 64, f32",
        "attention",
        partial(_matrices, *[(2, 16, 1024, 64)] * 3),
        gflop=8.59,
    ),
    Row(
        "linear_int8", "product of 4096×4096×4096 int8", "linear_int8", partial(_bytes, _WIDE), partial(_bytes, _WIDE), gflop=2e-9 * 4096**3
    ),
    Row("lstm", "LSTM, 64 steps of 32×512, bf16", "lstm", partial(_half, (64, 32, 512)), partial(_recurrent, 512), tolerance=0.05),
    Row("adam", "step of Adam, 12 parameters, f32", "adam", _parameters),
    Row("standardise", "standardise, 4096×4096 f32", "standardise", partial(_matrices, _WIDE)),
    Row("argmax", "argmax of rows, 4096×8192 f32", "argmax", partial(_matrices, (4096, 8192))),
    Row(
        "embedding",
        "32,768 rows of an embedding, 100,000×512 bf16",
        "embedding",
        partial(_integers, 100_000, 32768),
        partial(_half, (100_000, 512)),
    ),
    Row("histogram", "counts of 4,194,304 in 256", "histogram", partial(_integers, 256, 1 << 22)),
]

_ANY_ORDER = [_in_any_order(EVERYWHERE[name]) for name in ("embedding_gradient", "segment_sum")]
ROWS = {row.name: row for row in (*_OWN, *_LAYERS)} | EVERYWHERE | {row.name: row for row in _ANY_ORDER}

"""Contractions whose operands are packed in the kernel, against numpy: heads inside wider rows, edges, several tiles a panel."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from guards import SIDES, guarded

import hloom
from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.compiler.target import load_target
from hloom.runtime.executable import Executable


def compiled(text: str, folder) -> Executable:
    return Compilation(load_program(text), dump_dir=folder).executable()


def vector_stage(folder) -> str:
    return next(folder.glob("*-vector.mlir")).read_text()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("batch", "tokens", "heads", "width"),
    [(2, 128, 2, 64), (1, 200, 3, 40), (2, 37, 2, 17), (1, 101, 1, 64), (1, 130, 2, 24)],
)
def test_attention(batch, tokens, heads, width, threads, tmp_path):
    """Scores and values of heads that lie side by side in the rows of one tensor, as a joint projection leaves them."""
    all_heads = heads * width
    joint, one = f"{batch}x{tokens}x{3 * all_heads}xf32", f"{batch}x{tokens}x{all_heads}xf32"
    split, moved = f"{batch}x{tokens}x{heads}x{width}xf32", f"{batch}x{heads}x{tokens}x{width}xf32"
    scores = f"{batch}x{heads}x{tokens}x{tokens}xf32"
    parts = "".join(
        f"""
        %s{i} = stablehlo.slice %x [0:{batch}, 0:{tokens}, {i * all_heads}:{(i + 1) * all_heads}] : (tensor<{joint}>) -> tensor<{one}>
        %r{i} = stablehlo.reshape %s{i} : (tensor<{one}>) -> tensor<{split}>
        %t{i} = stablehlo.transpose %r{i}, dims = [0, 2, 1, 3] : (tensor<{split}>) -> tensor<{moved}>"""
        for i in range(3)
    )
    text = f"""
      func.func @main(%x: tensor<{joint}>) -> (tensor<{scores}>, tensor<{one}>) {{{parts}
        %p = stablehlo.dot_general %t0, %t1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3]
          : (tensor<{moved}>, tensor<{moved}>) -> tensor<{scores}>
        %o = stablehlo.dot_general %p, %t2, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2]
          : (tensor<{scores}>, tensor<{moved}>) -> tensor<{moved}>
        %u = stablehlo.transpose %o, dims = [0, 2, 1, 3] : (tensor<{moved}>) -> tensor<{split}>
        %v = stablehlo.reshape %u : (tensor<{split}>) -> tensor<{one}>
        return %p, %v : tensor<{scores}>, tensor<{one}>
      }}"""
    x = np.random.default_rng(tokens).standard_normal((batch, tokens, 3 * all_heads)).astype(np.float32)
    q, k, v = (part.reshape(batch, tokens, heads, width).transpose(0, 2, 1, 3) for part in np.split(x, 3, axis=2))
    expected = q @ k.transpose(0, 1, 3, 2)
    before = hloom.get_threads()
    hloom.set_threads(threads)
    try:
        exe = compiled(text, tmp_path)
        found, output = exe(x)
    finally:
        hloom.set_threads(before)
    assert "vector.shuffle" in vector_stage(tmp_path)  # the keys are transposed in registers
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)
    heads_last = (expected @ v).transpose(0, 2, 1, 3).reshape(batch, tokens, all_heads)
    np.testing.assert_allclose(output, heads_last, rtol=1e-5, atol=1e-4 * tokens)


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(("m", "n", "k"), [(250, 100, 48), (300, 130, 33), (97, 65, 31), (16, 40, 16), (200, 24, 300)])
def test_product(m, n, k, swapped, tmp_path):
    """More tiles of rows than one for each panel of columns, which is packed for all of them."""
    b_shape = (n, k) if swapped else (k, n)
    b_type = f"{b_shape[0]}x{b_shape[1]}xf32"
    text = f"""
      func.func @main(%a: tensor<{m}x{k}xf32>, %b: tensor<{b_type}>) -> tensor<{m}x{n}xf32> {{
        %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [{int(swapped)}]
          : (tensor<{m}x{k}xf32>, tensor<{b_type}>) -> tensor<{m}x{n}xf32>
        return %0 : tensor<{m}x{n}xf32>
      }}"""
    rng = np.random.default_rng(m + n + k)
    a, b = rng.standard_normal((m, k)).astype(np.float32), rng.standard_normal(b_shape).astype(np.float32)
    exe = compiled(text, tmp_path)
    for _ in range(2):  # the second call must not take the first one's panels for its own
        np.testing.assert_allclose(exe(a, b), a @ (b.T if swapped else b), rtol=1e-5, atol=1e-4)
        b = -b


@pytest.mark.parametrize(("size", "window", "stride"), [(24, 1, 1), (25, 3, 1), (24, 3, 3), (33, 4, 4), (21, 2, 3)])
def test_convolution(size, window, stride, tmp_path):
    """Windows that overlap are not packed, those that do not may be."""
    torch = pytest.importorskip("torch")
    out = (size - window) // stride + 1
    text = f"""
      func.func @main(%x: tensor<2x20x{size}x{size}xf32>, %w: tensor<24x20x{window}x{window}xf32>) -> tensor<2x24x{out}x{out}xf32> {{
        %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
          window = {{stride = [{stride}, {stride}]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
          : (tensor<2x20x{size}x{size}xf32>, tensor<24x20x{window}x{window}xf32>) -> tensor<2x24x{out}x{out}xf32>
        return %0 : tensor<2x24x{out}x{out}xf32>
      }}"""
    rng = np.random.default_rng(size)
    x, w = (rng.standard_normal(s).astype(np.float32) for s in ((2, 20, size, size), (24, 20, window, window)))
    expected = torch.nn.functional.conv2d(torch.from_numpy(x), torch.from_numpy(w), stride=stride).numpy()
    np.testing.assert_allclose(compiled(text, tmp_path)(x, w), expected, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_of_large_matrices(threads):
    """Few rows times a matrix that no near cache holds: depths that are no multiple of eight, edges, an epilogue, a batch."""
    rows = [1, 3, 8]
    text = "".join(
        f"""
        %d{n} = stablehlo.dot_general %x{n}, %w, contracting_dims = [1] x [0]
            : (tensor<{n}x531xf32>, tensor<531x1101xf32>) -> tensor<{n}x1101xf32>
        %e{n} = stablehlo.add %d{n}, %d{n} : tensor<{n}x1101xf32>"""
        for n in rows
    )
    arguments = "".join(f"%x{n}: tensor<{n}x531xf32>, " for n in rows)
    results = ", ".join(f"tensor<{n}x1101xf32>" for n in rows)
    text = f"""func.func @main({arguments}%w: tensor<531x1101xf32>) -> ({results}) {{ {text}
        return {", ".join(f"%e{n}" for n in rows)} : {results} }}"""
    random = np.random.default_rng(0)
    *xs, w = [random.integers(-4, 5, shape).astype(np.float32) for shape in [*((n, 531) for n in rows), (531, 1101)]]
    hloom.set_threads(threads)
    for found, x in zip(hloom.compile(text)(*xs, w), xs, strict=True):
        np.testing.assert_array_equal(found, 2 * (x @ w))


_LAYERS = [(9, 64, 16, "f32"), (16, 40, 50, "f32"), (37, 33, 200, "f32"), (197, 64, 256, "f32"), (300, 24, 72, "f32"), (23, 30, 100, "f64")]
_LAYERS += [(400, 24, 304, "f32"), (1200, 16, 200, "f32")]
"""Rows, depth, columns and type of each layer of one program."""


@pytest.mark.parametrize("threads", [1, 2])
def test_bound_weights_in_panels(threads):
    """Weights that are packed when they are bound, with a bias in the tile: rows and columns that fill no block, several panels a tile."""
    arguments, lines, results = [], [], []
    for i, (rows, depth, columns, kind) in enumerate(_LAYERS):
        x, w, b, y = f"{rows}x{depth}x{kind}", f"{columns}x{depth}x{kind}", f"{columns}x{kind}", f"{rows}x{columns}x{kind}"
        arguments += [f"%x{i}: tensor<{x}>", f"%w{i}: tensor<{w}>", f"%b{i}: tensor<{b}>"]
        lines += [
            f"%d{i} = stablehlo.dot_general %x{i}, %w{i}, contracting_dims = [1] x [1] : (tensor<{x}>, tensor<{w}>) -> tensor<{y}>",
            f"%c{i} = stablehlo.broadcast_in_dim %b{i}, dims = [1] : (tensor<{b}>) -> tensor<{y}>",
            f"%r{i} = stablehlo.add %d{i}, %c{i} : tensor<{y}>",
        ]
        results.append(f"tensor<{y}>")
    names = ", ".join(f"%r{i}" for i in range(len(_LAYERS)))
    body = "\n".join([*lines, f"return {names} : {', '.join(results)}"])
    text = f"func.func @main({', '.join(arguments)}) -> ({', '.join(results)}) {{\n{body}\n}}"
    random = np.random.default_rng(7)
    kinds = {"f32": np.float32, "f64": np.float64}
    layers = [[random.standard_normal(shape).astype(kinds[kind]) for shape in ((m, k), (n, k), (n,))] for m, k, n, kind in _LAYERS]
    before = hloom.get_threads()
    hloom.set_threads(threads)
    try:
        exe = Compilation(load_program(text), bound=[3 * i + 1 for i in range(len(layers))]).executable()
        exe.bind({3 * i + 1: w for i, (_, w, _) in enumerate(layers)})
        found = exe(*[value for x, _, b in layers for value in (x, b)])
    finally:
        hloom.set_threads(before)
    for y, (x, w, b) in zip(found, layers):
        np.testing.assert_allclose(y, x @ w.T + b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("rows", "depth", "columns"), [(17, 45, 77), (96, 300, 100), (3, 64, 196), (1, 130, 1000), (70, 24, 65)])
def test_last_panel_of_a_weight(rows, depth, columns, threads, tmp_path):
    """It has fewer columns than the others: nothing behind them is computed, and what follows the product is in its kernel."""
    text = f"""
      func.func @main(%x: tensor<{rows}x{depth}xf32>, %w: tensor<{columns}x{depth}xf32> {{hloom.bound}}, %b: tensor<{columns}xf32>)
          -> tensor<{rows}x{columns}xf32> {{
        %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1]
          : (tensor<{rows}x{depth}xf32>, tensor<{columns}x{depth}xf32>) -> tensor<{rows}x{columns}xf32>
        %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<{columns}xf32>) -> tensor<{rows}x{columns}xf32>
        %2 = stablehlo.add %0, %1 : tensor<{rows}x{columns}xf32>
        return %2 : tensor<{rows}x{columns}xf32>
      }}"""
    generator = np.random.default_rng(columns)
    x, w, b = (generator.standard_normal(shape).astype(np.float32) for shape in ((rows, depth), (columns, depth), columns))
    before = hloom.get_threads()
    hloom.set_threads(threads)
    try:
        exe = compiled(text, tmp_path)
        exe.bind({1: w})
        found = exe(x, b)
    finally:
        hloom.set_threads(before)
    np.testing.assert_allclose(found, x @ w.T + b, rtol=0, atol=1e-4)
    tiled = next(tmp_path.glob("*-tiled.mlir")).read_text()
    assert tiled.count("func.func private @fusion_") == 1


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("batch", "m", "n", "k"), [(2, 301, 299, 3), (1, 33, 130, 1), (3, 17, 19, 5), (1, 100, 64, 8), (2, 40, 77, 2)])
@pytest.mark.parametrize("kind", ["f32", "f64", "bf16"])
def test_shallow_products_of_rows(kind, batch, m, n, k, threads, tmp_path):
    """Few steps, along which both operands lie (distances between points): lanes lie along the columns all the same."""
    text = f"""
      func.func @main(%a: tensor<{batch}x{m}x{k}x{kind}>, %b: tensor<{batch}x{n}x{k}x{kind}>) -> tensor<{batch}x{m}x{n}x{kind}> {{
        %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [2]
          : (tensor<{batch}x{m}x{k}x{kind}>, tensor<{batch}x{n}x{k}x{kind}>) -> tensor<{batch}x{m}x{n}x{kind}>
        return %0 : tensor<{batch}x{m}x{n}x{kind}>
      }}"""
    element = {"f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16}[kind]
    a, b = (np.random.default_rng(rows).integers(-4, 5, (batch, rows, k)).astype(element) for rows in (m, n))
    before = hloom.get_threads()
    hloom.set_threads(threads)
    try:
        found = compiled(text, tmp_path)(a, b)
    finally:
        hloom.set_threads(before)
    np.testing.assert_array_equal(found, a @ b.transpose(0, 2, 1))
    assert k == 1 or "vector.reduction" not in vector_stage(tmp_path)


@pytest.mark.parametrize("kind", ["f32", "f64", "bf16"])
def test_both_operands_are_parts_of_one_argument(kind):
    """A panel ends where its part does: behind the last part is no memory."""
    text = f"""
      func.func @main(%x: tensor<64x600x{kind}>) -> tensor<64x64x{kind}> {{
        %a = stablehlo.slice %x [0:64, 0:300] : (tensor<64x600x{kind}>) -> tensor<64x300x{kind}>
        %b = stablehlo.slice %x [0:64, 300:600] : (tensor<64x600x{kind}>) -> tensor<64x300x{kind}>
        %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1]
          : (tensor<64x300x{kind}>, tensor<64x300x{kind}>) -> tensor<64x64x{kind}>
        return %0 : tensor<64x64x{kind}>
      }}"""
    element = {"f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16}[kind]
    x = np.random.default_rng(0).integers(-1, 2, (64, 600)).astype(element)
    a, b = x[:, :300].astype(np.float64), x[:, 300:].astype(np.float64)
    for side in SIDES:
        with guarded(side):
            np.testing.assert_array_equal(hloom.compile(text)(x), (a @ b.T).astype(element))


@pytest.mark.parametrize("cores", [1, 2, 16])
@pytest.mark.parametrize(("rows", "depth", "columns"), [(40, 4096, 4096), (63, 3136, 3136), (33, 4096, 11008), (20, 16384, 3000)])
def test_a_panel_of_many_columns_has_as_few_steps_as_the_cache_has_room_for(rows: int, depth: int, columns: int, cores: int) -> None:
    """The fewer cores, the more columns has a tile; what a kernel keeps on the stack is checked."""
    target = load_target("cpu-avx512").with_entries({"cores": cores, "l2_bytes": 2 << 20, "llc_bytes": 32 << 20})
    x, w, y = (f"tensor<{m}x{n}xf32>" for m, n in ((rows, depth), (columns, depth), (rows, columns)))
    text = f"""
      func.func @main(%x: {x}, %w: {w}) -> {y} {{
        %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : ({x}, {w}) -> {y}
        return %0 : {y}
      }}"""
    Compilation(load_program(text), target).to("vector")

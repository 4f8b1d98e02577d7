"""arith, math and affine against numpy, element by element."""

import math

import ml_dtypes
import numpy as np
import pytest
from simulator_kernels import function, kernels

DTYPES = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i1": np.int8,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
}
COUNT = 256


def _stored(kind: str) -> str:
    return "i8" if kind == "i1" else kind


def _elementwise(name: str, line: str, inputs: list[str], output: str) -> str:
    """A kernel that applies `line` (operands %x0 …, result %r) to elements; i1 lies in bytes."""
    kinds = [*inputs, output]
    arguments = ", ".join(f"%a{i}: memref<{COUNT}x{_stored(kind)}>" for i, kind in enumerate(kinds))
    body = ""
    for i, kind in enumerate(inputs):
        loaded = f"%l{i}" if kind == "i1" else f"%x{i}"
        body += f"      {loaded} = memref.load %a{i}[%i] : memref<{COUNT}x{_stored(kind)}>\n"
        if kind == "i1":
            body += f"      %x{i} = arith.trunci %l{i} : i8 to i1\n"
    body += f"      {line}\n"
    result = "%r"
    if output == "i1":
        body += "      %widened = arith.extui %r : i1 to i8\n"
        result = "%widened"
    body += f"      memref.store {result}, %a{len(inputs)}[%i] : memref<{COUNT}x{_stored(output)}>"
    return function(name, arguments, body)


def _run(cases: dict[str, tuple[str, list[str], str]], values: dict[str, list[np.ndarray]]) -> dict[str, np.ndarray]:
    """All cases in one module; gives the output of each."""
    found = {}
    module = kernels(*(_elementwise(name, *case) for name, case in cases.items()))
    for name, (_, _, output) in cases.items():
        found[name] = np.zeros(COUNT, DTYPES[output])
        module.launch(name, [*values[name], found[name]])
    return found


def _floats(kind: str, seed: int = 0) -> np.ndarray:
    values = np.random.default_rng(seed).standard_normal(COUNT) * 4
    values[:6] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0]
    return np.roll(values, 3 * seed).astype(DTYPES[kind])


def _integers(kind: str, seed: int = 0) -> np.ndarray:
    limits = np.iinfo(DTYPES[kind])
    values = np.random.default_rng(seed).integers(limits.min, limits.max, COUNT, DTYPES[kind], endpoint=True)
    values[:4] = [limits.min, limits.max, -1, 1]
    return np.roll(values, 2 * seed)


@pytest.mark.parametrize("kind", ["f64", "f32", "f16", "bf16"])
def test_float_arithmetic(kind):
    a, b = _floats(kind), _floats(kind, 1)
    operations = {
        "addf": np.add,
        "subf": np.subtract,
        "mulf": np.multiply,
        "divf": np.divide,
        "maximumf": np.maximum,
        "minimumf": np.minimum,
        "maxnumf": np.fmax,
        "minnumf": np.fmin,
        "remf": np.fmod,
    }
    cases = {name: (f"%r = arith.{name} %x0, %x1 : {kind}", [kind, kind], kind) for name in operations}
    found = _run(cases, {key: [a, b] for key in cases})
    with np.errstate(all="ignore"):
        for name, expected in operations.items():
            np.testing.assert_array_equal(found[name].astype(np.float64), expected(a, b).astype(np.float64), err_msg=name)


@pytest.mark.parametrize("kind", ["i8", "i16", "i32", "i64"])
def test_integer_arithmetic(kind):
    a, b = _integers(kind), _integers(kind, 1)
    b[b == 0] = 3
    width = 8 * a.itemsize
    mask = 2**width - 1

    def wrap(n: int) -> int:
        return (n & mask) - ((n & mask) >> (width - 1) << width)

    def toward_zero(x: int, y: int) -> int:
        return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)

    u = lambda n: n & mask  # noqa: E731
    exact = {
        "addi": lambda x, y: x + y,
        "subi": lambda x, y: x - y,
        "muli": lambda x, y: x * y,
        "andi": lambda x, y: x & y,
        "ori": lambda x, y: x | y,
        "xori": lambda x, y: x ^ y,
        "divsi": toward_zero,
        "remsi": lambda x, y: x - y * toward_zero(x, y),
        "divui": lambda x, y: u(x) // u(y),
        "remui": lambda x, y: u(x) % u(y),
        "floordivsi": lambda x, y: x // y,
        "ceildivsi": lambda x, y: -(-x // y),
        "maxsi": max,
        "minsi": min,
        "maxui": lambda x, y: max(u(x), u(y)),
        "minui": lambda x, y: min(u(x), u(y)),
        "ceildivui": lambda x, y: -(-u(x) // u(y)),
    }
    cases = {name: (f"%r = arith.{name} %x0, %x1 : {kind}", [kind, kind], kind) for name in exact}
    shifts = {"shli": lambda x, y: x << y, "shrsi": lambda x, y: x >> y, "shrui": lambda x, y: u(x) >> y}
    cases |= {name: (f"%r = arith.{name} %x0, %x1 : {kind}", [kind, kind], kind) for name in shifts}
    amounts = (np.arange(COUNT) % width).astype(a.dtype)
    found = _run(cases, {name: [a, amounts if name in shifts else b] for name in cases})
    for name, function_ in (exact | shifts).items():
        other = amounts if name in shifts else b
        overflows = (a == np.iinfo(a.dtype).min) & (other == -1) if name in ("divsi", "remsi", "floordivsi", "ceildivsi") else a != a
        expected = [wrap(function_(int(x), int(y))) for x, y in zip(a, other)]
        np.testing.assert_array_equal(found[name][~overflows], np.array(expected, a.dtype)[~overflows], err_msg=name)


def test_booleans():
    a, b = (np.arange(COUNT) % 2).astype(np.int8), (np.arange(COUNT) // 2 % 2).astype(np.int8)
    exact = {"addi": a ^ b, "subi": a ^ b, "muli": a & b, "andi": a & b, "ori": a | b, "xori": a ^ b, "maxsi": a & b, "maxui": a | b}
    cases = {name: (f"%r = arith.{name} %x0, %x1 : i1", ["i1", "i1"], "i1") for name in exact}
    cases["slt"] = ("%r = arith.cmpi slt, %x0, %x1 : i1", ["i1", "i1"], "i1")
    cases["ult"] = ("%r = arith.cmpi ult, %x0, %x1 : i1", ["i1", "i1"], "i1")
    cases["extsi"] = ("%r = arith.extsi %x0 : i1 to i32", ["i1", "i1"], "i32")
    cases["sitofp"] = ("%r = arith.sitofp %x0 : i1 to f32", ["i1", "i1"], "f32")
    cases["uitofp"] = ("%r = arith.uitofp %x0 : i1 to f32", ["i1", "i1"], "f32")
    exact |= {"slt": -a < -b, "ult": a < b, "extsi": -a, "sitofp": -a, "uitofp": a}
    found = _run(cases, {key: [a, b] for key in cases})
    for name, expected in exact.items():
        np.testing.assert_array_equal(found[name], expected, err_msg=name)


def test_float_comparisons():
    a, b = _floats("f32"), _floats("f32", 1)
    b[10:20] = a[10:20]
    unordered = np.isnan(a) | np.isnan(b)
    ordered = {"eq": a == b, "gt": a > b, "ge": a >= b, "lt": a < b, "le": a <= b, "ne": (a != b) & ~unordered}
    expected = {f"o{name}": value for name, value in ordered.items()} | {f"u{name}": value | unordered for name, value in ordered.items()}
    expected |= {"ord": ~unordered, "uno": unordered, "false": a != a, "true": a == a}
    expected["false"], expected["true"] = np.zeros(COUNT), np.ones(COUNT)
    cases = {f"is_{name}": (f"%r = arith.cmpf {name}, %x0, %x1 : f32", ["f32", "f32"], "i1") for name in expected}
    found = _run(cases, {key: [a, b] for key in cases})
    for name, value in expected.items():
        np.testing.assert_array_equal(found[f"is_{name}"], value, err_msg=name)


def test_integer_comparisons():
    a, b = _integers("i32"), _integers("i32", 1)
    b[10:20] = a[10:20]
    u, v = a.view(np.uint32), b.view(np.uint32)
    expected = {"eq": a == b, "ne": a != b, "slt": a < b, "sle": a <= b, "sgt": a > b, "sge": a >= b}
    expected |= {"ult": u < v, "ule": u <= v, "ugt": u > v, "uge": u >= v}
    cases = {name: (f"%r = arith.cmpi {name}, %x0, %x1 : i32", ["i32", "i32"], "i1") for name in expected}
    found = _run(cases, {key: [a, b] for key in cases})
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


def test_casts():
    f, n = _floats("f32") * 1e9, _integers("i32")
    f[5] = 3.7
    h = _floats("f16")
    bounded = np.nan_to_num(np.trunc(f.astype(np.float64)), nan=0.0, posinf=2.0**40, neginf=-(2.0**40))
    cases = {
        "fptosi": ("%r = arith.fptosi %x0 : f32 to i32", ["f32"], "i32"),
        "fptoui": ("%r = arith.fptoui %x0 : f32 to i32", ["f32"], "i32"),
        "sitofp": ("%r = arith.sitofp %x0 : i32 to f32", ["i32"], "f32"),
        "uitofp": ("%r = arith.uitofp %x0 : i32 to f32", ["i32"], "f32"),
        "trunci": ("%r = arith.trunci %x0 : i32 to i8", ["i32"], "i8"),
        "extsi": ("%r = arith.extsi %x0 : i32 to i64", ["i32"], "i64"),
        "extui": ("%r = arith.extui %x0 : i32 to i64", ["i32"], "i64"),
        "bitcast": ("%r = arith.bitcast %x0 : f32 to i32", ["f32"], "i32"),
        "truncf": ("%r = arith.truncf %x0 : f32 to bf16", ["f32"], "bf16"),
        "extf": ("%r = arith.extf %x0 : f16 to f64", ["f16"], "f64"),
        "through_index": (
            "%n = arith.index_cast %x0 : i32 to index\n %m = arith.addi %n, %c1 : index\n %r = arith.index_cast %m : index to i64",
            ["i32"],
            "i64",
        ),
    }
    expected = {
        "fptosi": np.clip(bounded, -(2**31), 2**31 - 1).astype(np.int32),
        "fptoui": np.clip(bounded, 0, 2**32 - 1).astype(np.uint32).view(np.int32),
        "sitofp": n.astype(np.float32),
        "uitofp": n.view(np.uint32).astype(np.float32),
        "trunci": n.astype(np.int8),
        "extsi": n.astype(np.int64),
        "extui": n.view(np.uint32).astype(np.int64),
        "bitcast": f.view(np.int32),
        "truncf": f.astype(ml_dtypes.bfloat16),
        "extf": h.astype(np.float64),
        "through_index": n.astype(np.int64) + 1,
    }
    inputs = {name: [{"f32": f, "i32": n, "f16": h}[case[1][0]]] for name, case in cases.items()}
    found = _run(cases, inputs)
    found["truncf"], expected["truncf"] = found["truncf"].astype(np.float32), expected["truncf"].astype(np.float32)
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


def test_bits_and_extended_products():
    a, b = _integers("i32"), _integers("i32", 1)
    a[7] = 0
    wide, unsigned_wide = a.astype(np.int64) * b, a.view(np.uint32).astype(np.uint64) * b.view(np.uint32)
    x, y = _integers("i64"), _integers("i64", 1)
    high = [((int(p) * int(q)) >> 64) for p, q in zip(x, y)]
    unsigned_high = [(((int(p) % 2**64) * (int(q) % 2**64)) >> 64) for p, q in zip(x, y)]
    i32, i64 = ["i32", "i32"], ["i64", "i64"]
    cases = {
        "ctpop": ("%r = math.ctpop %x0 : i32", i32, "i32"),
        "ctlz": ("%r = math.ctlz %x0 : i32", i32, "i32"),
        "cttz": ("%r = math.cttz %x0 : i32", i32, "i32"),
        "absi": ("%r = math.absi %x0 : i32", i32, "i32"),
        "high": ("%l, %r = arith.mulsi_extended %x0, %x1 : i32", i32, "i32"),
        "uhigh": ("%l, %r = arith.mului_extended %x0, %x1 : i32", i32, "i32"),
        "high64": ("%l, %r = arith.mulsi_extended %x0, %x1 : i64", i64, "i64"),
        "uhigh64": ("%l, %r = arith.mului_extended %x0, %x1 : i64", i64, "i64"),
        "carry": ("%s, %r = arith.addui_extended %x0, %x1 : i32, i1", i32, "i1"),
    }
    bits = [f"{int(n) & 0xFFFFFFFF:032b}" for n in a]
    expected = {
        "ctpop": [text.count("1") for text in bits],
        "ctlz": [32 - len(text.lstrip("0")) for text in bits],
        "cttz": [32 - len(text.rstrip("0")) for text in bits],
        "absi": np.abs(a),
        "high": (wide >> 32).astype(np.int32),
        "uhigh": (unsigned_wide >> np.uint64(32)).astype(np.uint32).view(np.int32),
        "high64": np.array(high, np.int64),
        "uhigh64": np.array(unsigned_high, np.uint64).view(np.int64),
        "carry": (a.view(np.uint32).astype(np.uint64) + b.view(np.uint32)) >> np.uint64(32),
    }
    found = _run(cases, {name: [x, y] if "64" in name else [a, b] for name in cases})
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


def test_math_is_correctly_rounded():
    x = np.abs(_floats("f32")[6:]).repeat(2)[:COUNT].astype(np.float32) % 0.9 + np.float32(0.05)
    functions = {
        "exp": math.exp,
        "exp2": lambda v: 2.0**v,
        "expm1": math.expm1,
        "log": math.log,
        "log2": math.log2,
        "log1p": math.log1p,
        "sin": math.sin,
        "cos": math.cos,
        "tan": math.tan,
        "tanh": math.tanh,
        "erf": math.erf,
        "erfc": math.erfc,
        "sqrt": math.sqrt,
        "rsqrt": lambda v: v**-0.5,
        "cbrt": lambda v: float(np.cbrt(v)),
        "atan": math.atan,
        "asin": math.asin,
        "floor": math.floor,
        "ceil": math.ceil,
        "round": lambda v: math.floor(v + 0.5),
        "roundeven": round,
        "trunc": math.trunc,
        "absf": abs,
    }
    cases = {name: (f"%r = math.{name} %x0 : f32", ["f32"], "f32") for name in functions}
    found = _run(cases, {key: [x] for key in cases})
    for name, function_ in functions.items():
        np.testing.assert_allclose(found[name], np.array([function_(float(v)) for v in x], np.float32), rtol=6e-8, err_msg=name)
    pairs = {
        "powf": ("%r = math.powf %x0, %x1 : f32", np.power),
        "atan2": ("%r = math.atan2 %x0, %x1 : f32", np.arctan2),
        "copysign": ("%r = math.copysign %x0, %x1 : f32", np.copysign),
        "fma": ("%r = math.fma %x0, %x1, %x1 : f32", lambda p, q: p * q + q),
    }
    y = _floats("f32", 1)
    y[~np.isfinite(y)] = -2.0
    found = _run({name: (line, ["f32", "f32"], "f32") for name, (line, _) in pairs.items()}, {key: [x, y] for key in pairs})
    for name, (_, function_) in pairs.items():
        np.testing.assert_array_equal(found[name], function_(x.astype(np.float64), y.astype(np.float64)).astype(np.float32), err_msg=name)


def test_index_arithmetic():
    lines = {
        "apply": "%n = affine.apply affine_map<(d0)[s0] -> ((d0 * 5 - 7) mod 11 + d0 floordiv 3 + d0 ceildiv 4 + s0)>(%i)[%c2]",
        "least": "%n = affine.min affine_map<(d0) -> (d0, 40, 50 - d0)>(%i)",
        "most": "%n = affine.max affine_map<(d0) -> (d0, 40)>(%i)",
        "negative": "%m = arith.subi %i, %c8 : index\n %q = arith.cmpi ult, %m, %c4 : index\n %n = arith.select %q, %c1, %c0 : index",
        "delinearized": "%q:2 = affine.delinearize_index %i into (64, 4) : index, index\n"
        " %n = affine.linearize_index [%q#1, %q#0] by (4, 64) : index",
    }
    i = np.arange(COUNT)
    expected = {
        "apply": (i * 5 - 7) % 11 + i // 3 - -i // 4 + 2,
        "least": np.minimum(np.minimum(i, 40), 50 - i),
        "most": np.maximum(i, 40),
        "negative": (i >= 8) & (i < 12),
        "delinearized": i % 4 * 64 + i // 4,
    }
    cases = {name: (f"{line}\n %r = arith.index_cast %n : index to i64", [], "i64") for name, line in lines.items()}
    found = _run(cases, {key: [] for key in cases})
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)

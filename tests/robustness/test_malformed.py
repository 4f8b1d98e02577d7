"""Chosen malformed programs, each with its error; what random edits do not reach."""

import pytest

import hloom

F32 = "tensor<4xf32>"


def main(body: str, arguments: str = f"%x: {F32}", results: str = F32, more: str = "") -> str:
    return f"func.func @main({arguments}) -> {results} {{\n{body}\n}}\n{more}"


def called(callee: str) -> str:
    return main(f"%0 = func.call @{callee}(%x) : ({F32}) -> {F32}\nreturn %0 : {F32}")


def nested_ifs(depth: int) -> str:
    lines = [f'%r{i} = "stablehlo.if"(%p) ({{' for i in range(depth)]
    lines.append("stablehlo.return %x : tensor<4xf32>")
    for i in reversed(range(depth)):
        lines.append(f"}}, {{ stablehlo.return %x : {F32} }}) : (tensor<i1>) -> {F32}")
        lines.append(f"stablehlo.return %r{i} : {F32}" if i else f"return %r0 : {F32}")
    return main("\n".join(lines), f"%p: tensor<i1>, %x: {F32}")


ROWS = {
    "empty": ("", "HL103"),
    "empty module": ("module {}", "HL103"),
    "a module in a module": ("module { module { func.func @main() { return } } }", "HL103"),
    "words": ("this is not a program", "HL102"),
    "bytes that are no text": (b"\xff\xfe\x00", "HL102"),
    "bytecode cut short": (b"ML\xefR\x0d", "HL102"),
    "a million brackets": (main("(" * 1_000_000), "HL102"),
    "a dimension of 2^63": (main("return %x : tensor<9223372036854775808xf32>"), "HL102"),
    "recursion": (called("main"), "HL103"),
    "recursion through another": (
        called("f") + f"func.func private @f(%x: {F32}) -> {F32} {{\n%0 = func.call @main(%x) : ({F32}) -> {F32}\nreturn %0 : {F32}\n}}",
        "HL103",
    ),
    "a call of nothing": (called("nowhere"), "HL102"),
    "a call of a declaration": (called("f") + f"func.func private @f({F32}) -> {F32}", "HL103"),
    "unranked": (main("return %x : tensor<*xf32>", "%x: tensor<*xf32>", "tensor<*xf32>"), "HL103"),
    "2^41 bytes": (main("return %x : tensor<549755813888xf32>", "%x: tensor<549755813888xf32>", "tensor<549755813888xf32>"), "HL103"),
    "more elements than 64 bits count": (
        main("return %x : T", "%x: T", "T").replace("T", "tensor<4294967296x4294967296x4294967296xf32>"),
        "HL103",
    ),
    "f80": (main("return %x : tensor<4xf80>", "%x: tensor<4xf80>", "tensor<4xf80>"), "HL101"),
    "i128": (main("return %x : tensor<4xi128>", "%x: tensor<4xi128>", "tensor<4xi128>"), "HL101"),
    "index": (main("return %x : tensor<4xindex>", "%x: tensor<4xindex>", "tensor<4xindex>"), "HL101"),
    "a scalar": (main("return %x : f32", "%x: f32", "f32"), "HL101"),
    "a tuple of i128": (main("return %x : tuple<tensor<4xi128>>", "%x: tuple<tensor<4xi128>>", "tuple<tensor<4xi128>>"), "HL101"),
    "an effect": (
        main('%0 = "stablehlo.outfeed"(%x) : (T) -> T\nreturn %0 : T', "%x: T", "T").replace("T", "!stablehlo.token"),
        "HL101",
    ),
    "blocks": (main(f"cf.br ^a\n^a:\nreturn %x : {F32}"), "HL101"),
    "an unknown op": (main(f'%0 = "stablehlo.nothing"(%x) : ({F32}) -> {F32}\nreturn %0 : {F32}'), "HL102"),
    "an op of another dialect": (main(f"%0 = arith.negf %x : {F32}\nreturn %0 : {F32}"), "HL101"),
    "a sort by a value from outside": (
        main(
            "%s = stablehlo.reshape %x : (tensor<1xf32>) -> tensor<f32>\n"
            '%0 = "stablehlo.sort"(%y) ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n'
            "%c = stablehlo.compare LT, %a, %s : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
            f"stablehlo.return %c : tensor<i1>\n}}) {{dimension = 0 : i64, is_stable = true}} : ({F32}) -> {F32}\nreturn %0 : {F32}",
            f"%x: tensor<1xf32>, %y: {F32}",
        ),
        "HL101",
    ),
    "a custom call": (main(f"%0 = stablehlo.custom_call @mine(%x) : ({F32}) -> {F32}\nreturn %0 : {F32}"), "HL101"),
    "a bitcast that changes the shape": (
        main(
            "%0 = stablehlo.bitcast_convert %x : (tensor<2x2xf32>) -> tensor<2xi32>\nreturn %0 : tensor<2xi32>",
            "%x: tensor<2x2xf32>",
            "tensor<2xi32>",
        ),
        "HL103",
    ),
    "a name that is no text": (main(f"return %x : {F32}").replace("@main", '@"\\FF"'), "HL103"),
    "a callee that is no text": (called('"\\FF"') + f'func.func private @"\\FF"(%x: {F32}) -> {F32} {{ return %x : {F32} }}', "HL103"),
    "two entries": (main(f"return %x : {F32}").replace("@main", "@a") + main(f"return %x : {F32}").replace("@main", "@b"), "HL103"),
}


@pytest.mark.parametrize("name", ROWS)
def test_refused(name):
    source, code = ROWS[name]
    with pytest.raises(hloom.CompileError) as caught:
        hloom.compile(source)
    assert caught.value.code == code
    assert str(caught.value).startswith(f"[{code}] ")


TAKEN = {
    "an unknown size": main("return %x : tensor<?xf32>", "%x: tensor<?xf32>", "tensor<?xf32>"),
    "no arguments, no results": "func.func @main() { return }",
    "an empty name": main(f"return %x : {F32}").replace("@main", '@""'),
    "a location that is no text": main(f'%0 = stablehlo.abs %x : {F32} loc("\\FF")\nreturn %0 : {F32}'),
    "rank 40": main("%0 = stablehlo.abs %x : T\nreturn %0 : T", "%x: T", "T").replace("T", f"tensor<{'1x' * 30}{'2x' * 10}f32>"),
    "ifs, 60 deep": nested_ifs(60),
    "hloom's own names": f"module attributes {{hloom.decisions = [1]}} {{\n{called('fusion_0')}"
    f'func.func private @fusion_0(%x: {F32}) -> {F32} attributes {{hloom.kind = "library"}} {{ return %x : {F32} }}\n}}',
    "a constant of 400 GB that is not stored": main(
        "%0 = stablehlo.constant dense<1.0> : tensor<100000000000xf32>\n"
        f"%1 = stablehlo.slice %0 [5:9] : (tensor<100000000000xf32>) -> {F32}\n"
        f"return %1 : {F32}"
    ),
}


@pytest.mark.parametrize("name", TAKEN)
def test_taken(name):
    assert hloom.compile(TAKEN[name])


def test_far_too_deep_is_refused():
    with pytest.raises(hloom.CompileError):
        hloom.compile(nested_ifs(400))

"""Machine code in parts, which LLVM compiles on all cores."""

from __future__ import annotations

import re

import llvmlite.binding as llvm
import numpy as np
import pytest

import hloom
from hloom.compiler import codegen, llvm_passes
from hloom.compiler.llvm_split import Effort, Part, split
from hloom.passes.errors import PassFailure
from hloom.runtime.llvm import initialise_all

TEXT = """
@table = private constant [2 x i64] [i64 1, i64 2]
declare i64 @llvm.smax.i64(i64, i64) #0
define internal i64 @a_body(i64 %0, ptr noalias %1) #1 {
  %3 = load i64, ptr @table
  %4 = call i64 @llvm.smax.i64(i64 %0, i64 %3)
  ret i64 %4
}

define i64 @a(i64 %0, ptr %1) #1 {
  %3 = call i64 @a_body(i64 %0, ptr %1)
  ret i64 %3
}

define internal i64 @b_body(i64 %0) {
  ret i64 %0
}

define i64 @main(i64 %0, ptr %1) #1 {
  %3 = call i64 @a(i64 %0, ptr %1)
  %4 = call i64 @b(i64 %3)
  ret i64 %4
}

define i64 @b(i64 %0) {
  %2 = call i64 @b_body(i64 %0)
  ret i64 %2
}

attributes #0 = { nounwind }
attributes #1 = { "prefer-vector-width"="256" }
"""


def _defined(text: str) -> list[str]:
    return re.findall(r"^define .*?@(\w+)\(", text, re.M)


def test_what_shares_a_local_function_stays_together() -> None:
    body = "define internal i64 @{0}_body() {{\n  %1 = call i64 @shared()\n  ret i64 %1\n}}\n"
    user = "define i64 @{0}() {{\n  %1 = call i64 @{0}_body()\n  ret i64 %1\n}}\n"
    shared = "define internal i64 @shared() {\n  ret i64 1\n}\n"
    text = shared + "".join(form.format(name) for name in "abcd" for form in (body, user))
    assert len(split(text, 1)) == 1


def test_local_functions_stay_with_their_users() -> None:
    parts = [part.text for part in split(TEXT, 1)]
    assert sorted(map(_defined, parts)) == [["a_body", "a"], ["b_body", "b"], ["main"]]
    (main,) = (part for part in parts if _defined(part) == ["main"])
    assert "declare i64 @a(i64, ptr)\n" in main
    assert "declare i64 @b(i64)\n" in main
    for part in parts:
        llvm.parse_assembly(part, llvm.create_context()).verify()


def test_constants_are_where_they_are_used() -> None:
    """And whatever a constant points to."""
    text = TEXT.replace("%4 = call i64 @b(", "%x = load ptr, ptr @places\n  %4 = call i64 @b(")
    text = '@here = internal constant [2 x i8] c"@a"\n@places = internal constant [1 x ptr] [ptr @here]\n' + text
    constants = {tuple(_defined(part.text)): re.findall(r"^@(\w+) = ", part.text, re.M) for part in split(text, 1)}
    assert constants == {("a_body", "a"): ["here", "table"], ("b_body", "b"): ["here"], ("main",): ["here", "places"]}


def test_what_is_short_stays_whole() -> None:
    assert split(TEXT) == [Part(TEXT, Effort.FULL)]


def test_efforts_are_apart() -> None:
    functions = "".join(f"define i64 @{name}(i64 %0) #{number} {{\n  ret i64 %0\n}}\n" for number, name in enumerate("abcd"))
    efforts = ("least", "some", "more", "full")
    marks = "".join(f'attributes #{number} = {{ "hloom-effort"="{name}" }}\n' for number, name in enumerate(efforts))
    assert [(_defined(part.text), part.effort) for part in split(functions + marks)] == [
        (["d"], Effort.FULL),
        (["c"], Effort.MORE),
        (["b"], Effort.SOME),
        (["a"], Effort.LEAST),
    ]


def test_what_needs_other_passes_is_apart() -> None:
    """However short the text is; a local function is where its user is, and what is not marked has all passes."""
    text = TEXT.replace("@b(i64 %0) {", "@b(i64 %0) #2 {").replace("@main(i64 %0, ptr %1) #1 {", "@main(i64 %0, ptr %1) #3 {")
    text += 'attributes #2 = { "hloom-effort"="least" }\nattributes #3 = { nounwind "hloom-effort"="full" "other" }\n'
    parts = split(text)
    assert [_defined(part.text) for part in parts] == [["a_body", "a", "main"], ["b_body", "b"]]
    assert [part.effort for part in parts] == [Effort.FULL, Effort.LEAST]


@pytest.mark.parametrize(("mark", "count"), [("", 3), ("#2 ", 1)])
def test_what_gets_all_passes_is_in_shorter_parts_of_equal_length(mark: str, count: int) -> None:
    function = "define i64 @f{0}(i64 %0) {1}{{\n" + "  %{2} = add i64 %0, 1\n" * 8 + "  ret i64 %0\n}}\n"
    text = "".join(function.format(number, mark, "x") for number in range(9))
    parts = split(text + 'attributes #2 = { "hloom-effort"="least" }\n', 120)
    assert [len(_defined(part.text)) for part in parts] == [9 // count] * count


def test_strength_is_reduced_again_for_others() -> None:
    """What other users of LLVM compile afterwards has its strength reduced, as before."""
    text = """
    define void @f(ptr %p, i64 %n, i64 %s) {
      br label %loop
    loop:
      %i = phi i64 [0, %0], [%next, %loop]
      %o = mul i64 %i, %s
      %at = getelementptr float, ptr %p, i64 %o
      store float 0.0, ptr %at
      %next = add i64 %i, 1
      %more = icmp ult i64 %next, %n
      br i1 %more, label %loop, label %end
    end:
      ret void
    }"""

    def multiplies() -> bool:
        machine = llvm.Target.from_default_triple().create_target_machine()
        return "mul" in machine.emit_assembly(llvm.parse_assembly(text, llvm.create_context()))

    initialise_all()
    assert not multiplies()
    with llvm_passes._without_strength_reduction():
        assert multiplies()
    assert not multiplies()


def test_variables_are_not_split() -> None:
    text = TEXT.replace("private constant", "private global")
    assert split(text, 1) == [Part(text, Effort.FULL)]


def _layers(count: int) -> str:
    lines = ["func.func @main(%x0: tensor<24x24xf32>) -> tensor<24x24xf32> {"]
    for n in range(count):
        lines += [
            f"  %y{n} = stablehlo.dot_general %x{n}, %x0, contracting_dims = [1] x [{n % 2}] : "
            "(tensor<24x24xf32>, tensor<24x24xf32>) -> tensor<24x24xf32>",
            f"  %x{n + 1} = stablehlo.{('tanh', 'abs', 'cosine', 'logistic')[n % 4]} %y{n} : tensor<24x24xf32>",
        ]
    return "\n".join([*lines, f"  return %x{count} : tensor<24x24xf32>", "}"])


def test_a_program_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """It computes what it does in one, and its code does not depend on how many threads compile."""
    x = np.random.default_rng(0).standard_normal((24, 24), np.float32)
    whole = hloom.compile(_layers(8), target="cpu")
    monkeypatch.setattr(codegen, "split", lambda text: split(text, 100))
    parts = hloom.compile(_layers(8), target="cpu")
    code = {name: blob for name, blob in parts.artifact().blobs.items() if name.startswith("code")}
    assert list(code)[:2] == ["code", "code.1"]
    np.testing.assert_array_equal(parts(x), whole(x))
    monkeypatch.setattr(llvm_passes.os, "sched_getaffinity", lambda _: {0})
    alone = hloom.compile(_layers(8), target="cpu")
    assert {name: bytes(alone.artifact().blobs[name]) for name in code} == {name: bytes(blob) for name, blob in code.items()}


def test_what_llvm_refuses_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llvm_passes, "_unlocked_emit", lambda *_: None)
    with pytest.raises(PassFailure, match="LLVM emits no code"):
        hloom.compile(_layers(1), target="cpu")


def test_powers_in_a_chain_compile_in_time():
    """LLVM's search for checksums takes 2^64 steps over a chain of 64 squares; the test hangs where it is on."""
    text = """
    func.func @main(%x: tensor<2112xi64>, %y: tensor<2112xi64>) -> tensor<i64> {
      %zero = stablehlo.constant dense<0> : tensor<i64>
      %power = stablehlo.power %x, %y : tensor<2112xi64>
      %first = stablehlo.reduce(%power init: %zero) across dimensions = [0] : (tensor<2112xi64>, tensor<i64>) -> tensor<i64>
       reducer(%a: tensor<i64>, %b: tensor<i64>) {
        %found = stablehlo.compare NE, %a, %zero : (tensor<i64>, tensor<i64>) -> tensor<i1>
        %each = stablehlo.select %found, %a, %b : tensor<i1>, tensor<i64>
        stablehlo.return %each : tensor<i64>
      }
      return %first : tensor<i64>
    }"""
    x, y = np.zeros(2112, np.int64), np.full(2112, 3)
    x[1000:] = -5
    assert hloom.compile(text)(x, y) == -125

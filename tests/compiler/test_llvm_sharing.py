"""Functions that are equal but for offsets become one."""

from __future__ import annotations

import re

import llvmlite.binding as llvm
import pytest

from hloom.compiler import llvm_sharing
from hloom.compiler.llvm_sharing import share
from hloom.runtime.llvm import initialise_all

BODY = """define internal void @{name}_body(i64 %0, ptr noalias %1) {{
  %3 = add i64 %0, {first}
  %4 = getelementptr float, ptr %1, i64 {second}
  %5 = getelementptr float, ptr %4, i64 %3
  %6 = mul i64 %3, {factor}
  %7 = add i64 %6, 1
  store i64 %7, ptr %5
  ret void
}}
"""
USER = """define void @{name}(i64 %0, ptr %1) {{
  call void @{name}_body(i64 %0, ptr %1)
  ret void
}}
"""


def _text(*kernels: tuple[int, int, int]) -> str:
    parts = [
        form.format(name=f"k{number}", first=first, second=second, factor=factor)
        for number, (first, second, factor) in enumerate(kernels)
        for form in (BODY, USER)
    ]
    return "".join(parts)


def _defined(text: str) -> list[str]:
    return re.findall(r"^define .*?@(\w+)\(", text, re.M)


@pytest.fixture(autouse=True)
def _however_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llvm_sharing, "LEAST", 1)


def test_functions_that_differ_in_offsets_become_one() -> None:
    shared = share(_text((64, 8, 3), (128, 16, 3), (192, 24, 3)))
    assert _defined(shared) == ["k0_body", "k0", "k1", "k2"]
    assert re.findall(r"call void @(\w+)\(i64 %0, ptr %1, i64 (\d+), i64 (\d+)\)", shared) == [
        ("k0_body", "64", "8"),
        ("k0_body", "128", "16"),
        ("k0_body", "192", "24"),
    ]
    assert "%7 = add i64 %6, 1\n" in shared  # what is the same everywhere stays
    initialise_all()
    llvm.parse_assembly(shared, llvm.create_context()).verify()


def test_offsets_that_go_together_are_given_once() -> None:
    shared = share(_text((64, 64, 3), (128, 128, 3)))
    assert "@k0_body(i64 %0, ptr noalias %1, i64 %offset0) noinline {" in shared
    assert shared.count("%offset0") == 3


def test_equal_functions_need_no_offset() -> None:
    assert _defined(share(_text((64, 8, 3), (64, 8, 3)))) == ["k0_body", "k0", "k1"]


@pytest.mark.parametrize(
    "text",
    [
        _text((64, 8, 3), (64, 8, 5)),  # a factor differs
        _text((64, 8, 3), (64, 8, 3)).replace("%1) {\n  %3", "%1) #0 {\n  %3", 1),  # attributes differ
        _text((64, 8, 3), (128, 8, 3)) + "@table = constant [2 x ptr] [ptr @k0_body, ptr @k1_body]\n",  # used without a call
        _text((64, 8, 3)),  # one alone
    ],
)
def test_others_stay_as_they_are(text: str) -> None:
    assert share(text) == text


def test_many_offsets_stay_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    text = _text((64, 8, 3), (128, 16, 3))
    monkeypatch.setattr(llvm_sharing, "MOST", 1)
    assert share(text) == text


def test_what_is_short_stays_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    text = _text((64, 8, 3), (128, 16, 3))
    monkeypatch.setattr(llvm_sharing, "LEAST", 100)
    assert share(text) == text

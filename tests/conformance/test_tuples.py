"""Tuples and tokens: in the signature, through calls, loops and branches."""

from __future__ import annotations

import numpy as np
import pytest

import hloom

X = np.arange(6, dtype=np.float32).reshape(2, 3)
PAIR = "tuple<tensor<2x3xf32>, tuple<tensor<i32>, tensor<3xf32>>>"


def test_nested_in_the_signature():
    text = f"""func.func @main(%t: {PAIR}, %y: tensor<2xf32>) -> (tuple<tensor<i32>, {PAIR}>, tensor<2xf32>) {{
      %0 = stablehlo.get_tuple_element %t[1] : ({PAIR}) -> tuple<tensor<i32>, tensor<3xf32>>
      %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<i32>, tensor<3xf32>>) -> tensor<i32>
      %2 = stablehlo.add %1, %1 : tensor<i32>
      %3 = stablehlo.tuple %2, %t : tuple<tensor<i32>, {PAIR}>
      return %3, %y : tuple<tensor<i32>, {PAIR}>, tensor<2xf32> }}"""
    row, y = np.ones(3, np.float32), np.zeros(2, np.float32)
    exe = hloom.compile(text)
    assert [spec.dtype for spec in exe.signature.inputs] == ["f32", "i32", "f32", "f32"]
    got = exe(X, np.int32(4), row, y)
    for g, wanted in zip(got, (np.int32(8), X, np.int32(4), row, y), strict=True):
        np.testing.assert_array_equal(g, wanted)


def test_through_calls_loops_and_branches():
    pair = "tuple<tensor<i32>, tensor<2x3xf32>>"
    text = f"""func.func private @grow(%t: {pair}) -> {pair} {{
      %i = stablehlo.get_tuple_element %t[0] : ({pair}) -> tensor<i32>
      %x = stablehlo.get_tuple_element %t[1] : ({pair}) -> tensor<2x3xf32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %y = stablehlo.add %x, %x : tensor<2x3xf32>
      %r = stablehlo.tuple %j, %y : {pair}
      return %r : {pair}
    }}
    func.func @main(%x: tensor<2x3xf32>, %n: tensor<i32>, %p: tensor<i1>) -> (tensor<2x3xf32>, tensor<i32>) {{
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %new = stablehlo.create_token : !stablehlo.token
      %w:3 = stablehlo.while(%c = %zero, %k = %new, %v = %x) : tensor<i32>, !stablehlo.token, tensor<2x3xf32>
      cond {{
        %less = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %less : tensor<i1>
      }} do {{
        %t = stablehlo.tuple %c, %v : {pair}
        %d = func.call @grow(%t) : ({pair}) -> {pair}
        %i = stablehlo.get_tuple_element %d[0] : ({pair}) -> tensor<i32>
        %y = stablehlo.get_tuple_element %d[1] : ({pair}) -> tensor<2x3xf32>
        %next = stablehlo.after_all %k : !stablehlo.token
        stablehlo.return %i, %next, %y : tensor<i32>, !stablehlo.token, tensor<2x3xf32>
      }}
      %b:3 = "stablehlo.if"(%p) ({{
        stablehlo.return %w#1, %w#2, %w#0 : !stablehlo.token, tensor<2x3xf32>, tensor<i32>
      }}, {{
        stablehlo.return %new, %x, %zero : !stablehlo.token, tensor<2x3xf32>, tensor<i32>
      }}) : (tensor<i1>) -> (!stablehlo.token, tensor<2x3xf32>, tensor<i32>)
      return %b#1, %b#2 : tensor<2x3xf32>, tensor<i32>
    }}"""
    for target in ("auto", "sim:sm_90a"):
        exe = hloom.compile(text, target=target)
        for chosen in (True, False):
            got = exe(X, np.int32(3), np.bool_(chosen))
            np.testing.assert_array_equal(got[0], X * (8 if chosen else 1))
            assert got[1] == (3 if chosen else 0)


def test_empty_tuples():
    text = """func.func @main(%t: tuple<>, %x: tensor<2xf32>) -> (tuple<>, tensor<2xf32>) {
      %0 = stablehlo.tuple %t, %t : tuple<tuple<>, tuple<>>
      %1 = stablehlo.get_tuple_element %0[1] : (tuple<tuple<>, tuple<>>) -> tuple<>
      return %1, %x : tuple<>, tensor<2xf32> }"""
    np.testing.assert_array_equal(hloom.compile(text)(np.ones(2, np.float32)), np.ones(2, np.float32))


def test_tokens_vanish():
    text = """func.func @main(%k: !stablehlo.token, %x: tensor<2x3xf32>) -> (!stablehlo.token, tensor<2x3xf32>) {
      %new = stablehlo.create_token : !stablehlo.token
      %all = stablehlo.after_all %k, %new : !stablehlo.token
      %y, %last = stablehlo.optimization_barrier %x, %all : tensor<2x3xf32>, !stablehlo.token
      %z = stablehlo.add %y, %y : tensor<2x3xf32>
      return %last, %z : !stablehlo.token, tensor<2x3xf32> }"""
    np.testing.assert_array_equal(hloom.compile(text)(X), X + X)


EFFECTS = {
    "infeed": '%r:2 = "stablehlo.infeed"(%k) : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)',
    "outfeed": '%r = "stablehlo.outfeed"(%x, %k) : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token',
    "send": '%r = "stablehlo.send"(%x, %k) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}'
    " : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token",
    "recv": '%r:2 = "stablehlo.recv"(%k) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true}'
    " : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)",
    "custom_call": '%r = "stablehlo.custom_call"(%k) {call_target_name = "callback", has_side_effect = true}'
    " : (!stablehlo.token) -> !stablehlo.token",
}


@pytest.mark.parametrize("name", EFFECTS)
def test_effects_are_refused_by_name(name):
    text = f"func.func @main(%k: !stablehlo.token, %x: tensor<2xf32>) -> tensor<2xf32> {{ {EFFECTS[name]}\n return %x : tensor<2xf32> }}"
    with pytest.raises(hloom.UnsupportedOpError, match=name) as caught:
        hloom.compile(text)
    assert caught.value.op == f"stablehlo.{name}" and caught.value.remedy

"""What several devices do together, on the one that there is."""

from __future__ import annotations

import numpy as np
import pytest
from programs import Program, combine

import hloom

ONE = "replica_groups = dense<0> : tensor<1x1xi64>"
ADD = "({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = stablehlo.add %a, %b : tensor<f32> stablehlo.return %c : tensor<f32> })"


def test_on_one_device(interpreter):
    p = Program()
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    value = p.input(x)
    add = p.region([((), "f32")] * 2, combine(p, "add"))
    for name, attributes, regions in (
        ("all_reduce", ONE, [add]),
        ("reduce_scatter", f"{ONE}, scatter_dimension = 1 : i64", [add]),
        ("all_gather", f"{ONE}, all_gather_dim = 0 : i64", []),
        ("all_to_all", f"{ONE}, split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 1 : i64", []),
        ("collective_broadcast", ONE, []),
        ("collective_permute", "source_target_pairs = dense<0> : tensor<1x2xi64>", []),
    ):
        p.check(name, p.op(name, [value], attributes=attributes, regions=regions), x)
    p.check("no pair", p.op("collective_permute", [value], attributes="source_target_pairs = dense<> : tensor<0x2xi64>"), np.zeros_like(x))
    apart = p.op("all_reduce", [value], attributes="replica_groups = dense<[[1], [0]]> : tensor<2x1xi64>", regions=[add])
    p.check("each alone", apart, x)
    for name in ("replica_id", "partition_id"):
        p.check(name, p.op(name, [], (), "ui32"), np.zeros((), np.uint32))
    p.verify(interpreter)


def test_several_operands_and_a_wider_sum(interpreter):
    p = Program()
    x, y = np.arange(4, dtype=np.float16), np.arange(6, dtype=np.float16)
    add = p.region([((), "f32")] * 2, combine(p, "add"))
    results = p.ops("all_reduce", [p.input(x), p.input(y)], [((4,), "f32"), ((6,), "f32")], ONE, [add])
    for value, want in zip(results, (x, y)):
        p.check("sum", value, want.astype(np.float32))
    p.verify(interpreter)


def test_asynchronous():
    text = f"""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %0 = "stablehlo.async_start"(%x) ({{
      ^bb0(%y: tensor<4xf32>):
        %1 = "stablehlo.all_reduce"(%y) {ADD} {{{ONE}}} : (tensor<4xf32>) -> tensor<4xf32>
        stablehlo.return %1 : tensor<4xf32>
      }}) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
      %2 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
      return %2 : tensor<4xf32> }}"""
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(hloom.compile(text)(x), x)


@pytest.mark.parametrize(
    ("name", "attributes", "region"),
    [
        ("all_reduce", "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>", ADD),
        ("collective_broadcast", "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>", ""),
        ("collective_permute", "source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>", ""),
    ],
)
def test_several_devices_are_refused(name, attributes, region):
    text = f"""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %0 = "stablehlo.{name}"(%x) {region} {{{attributes}}} : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32> }}"""
    with pytest.raises(hloom.UnsupportedOpError, match="several devices") as caught:
        hloom.compile(text)
    assert caught.value.op == f"stablehlo.{name}"


def test_a_gather_from_several_devices_is_refused():
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<8xf32> {
      %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
        : (tensor<4xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32> }"""
    with pytest.raises(hloom.UnsupportedOpError, match="several devices"):
        hloom.compile(text)

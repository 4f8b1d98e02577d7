"""Which steps of a body are evaluated where conditions on indices are known (passes/vector/nests/choices.py)."""

import time

import numpy as np
import pytest
from torch_mlir import ir

import hloom
from hloom.dialects.context import make_context
from hloom.passes.common.linear_index import LinearIndex
from hloom.passes.vector.nests.choices import chosen_sides
from hloom.passes.vector.nests.code import Code
from hloom.passes.vector.nests.lanes import Lanes

PARTS = """
#y = affine_map<(d0) -> (d0)>
func.func @three(%a: tensor<3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %o: tensor<9xf32>, %far: index) -> tensor<9xf32> {
  %three = arith.constant 3 : index
  %r = linalg.generic {indexing_maps = [#y], iterator_types = ["parallel"]} outs(%o : tensor<9xf32>) {
  ^bb0(%unused: f32):
    %i = linalg.index 0 : index
    %six = arith.constant 6 : index
    %first = tensor.extract %a[%i] : tensor<3xf32>
    %j = arith.subi %i, %three : index
    %second = tensor.extract %b[%j] : tensor<3xf32>
    %k = arith.subi %i, %six : index
    %third = tensor.extract %c[%k] : tensor<3xf32>
    %0 = arith.cmpi slt, %i, %six : index
    %1 = arith.select %0, %second, %third : f32
    %2 = arith.cmpi slt, %i, %three : index
    %3 = arith.cmpi slt, %i, %far : index
    %4 = arith.andi %2, %3 : i1
    %5 = arith.select %4, %first, %1 : f32
    linalg.yield %5 : f32
  } -> tensor<9xf32>
  return %r : tensor<9xf32>
}
"""


def _reads(start: int, live: int) -> list[str]:
    """The operands that lanes from `start` on, of which so many are live, read."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(PARTS)
        function = module.body.operations[0].operation
        arguments = list(function.regions[0].blocks[0].arguments)
        constant, generic = (op.operation for op in list(function.regions[0].blocks[0].operations)[:2])
        known = {constant.results[0]: LinearIndex(constant=3), arguments[4]: arguments[4]}
        code = Code(generic.regions[0].blocks[0])
        chosen = chosen_sides(code, [LinearIndex(constant=start, lanes=1)], known.__getitem__, Lanes(4, live=live))
        names = dict(zip(arguments, "abc"))
        return [names[step.operands[0]] for step in code.needed(chosen) if step.name == "tensor.extract"]


@pytest.mark.parametrize(
    ("start", "live", "read"),
    [(0, 3, ["a", "b"]), (3, 3, ["b"]), (6, 3, ["c"]), (1, 4, ["a", "b"]), (4, 4, ["b", "c"])],
)
def test_one_side_is_read_where_the_condition_is_known(start: int, live: int, read: list[str]) -> None:
    assert _reads(start, live) == read


def test_spans_are_of_numbers_that_an_index_may_be() -> None:
    """A power squares its base 31 times, taken or not: of one that is known the squares had 2^31 bits, which took a minute."""
    text = """
      func.func @main(%x: tensor<7x3xi32>) -> tensor<7x3xi32> {
        %two = stablehlo.constant dense<2> : tensor<7x3xi32>
        %0 = stablehlo.power %two, %x : tensor<7x3xi32>
        return %0 : tensor<7x3xi32>
      }"""
    x = np.arange(21, dtype=np.int32).reshape(7, 3)
    began = time.process_time()
    found = hloom.compile(text)(x)
    assert time.process_time() - began < 20
    np.testing.assert_array_equal(found, 2**x)

"""The parts of buffer assignment by themselves."""

from __future__ import annotations

import random

import ml_dtypes
import numpy as np
import pytest
from host_machine import Machine, interpret
from torch_mlir import ir

from hloom.dialects.context import make_context
from hloom.passes.common.dense_constants import constant_bytes, storage_constant
from hloom.passes.common.rewriting import walk
from hloom.passes.errors import InvalidProgramError
from hloom.passes.lhlo.assignment.arena import Reservation, live_bytes, place
from hloom.passes.lhlo.assignment.moves import sequentialise
from hloom.passes.library_calls.gemm import gemm_of


@pytest.fixture
def context():
    with make_context() as context, ir.Location.unknown():
        yield context


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dense<[true, false, true]> : tensor<3xi1>", np.array([1, 0, 1], np.uint8)),
        ("dense<true> : tensor<9xi1>", np.ones(9, np.uint8)),
        ("dense<[-1, 5]> : tensor<2xi8>", np.array([-1, 5], np.int8)),
        ("dense<[[1], [65535]]> : tensor<2x1xui16>", np.array([1, 65535], np.uint16)),
        ("dense<7> : tensor<i32>", np.array(7, np.int32)),
        ("dense<18446744073709551615> : tensor<ui64>", np.array(2**64 - 1, np.uint64)),
        ("dense<[1.5, 0xFC01]> : tensor<2xf16>", np.array([0x3E00, 0xFC01], np.uint16)),
        ("dense<[1.5, 0x7FC1]> : tensor<2xbf16>", np.array([0x3FC0, 0x7FC1], np.uint16)),
        ("dense<2.0> : tensor<2x3xbf16>", np.full(6, 2, ml_dtypes.bfloat16)),
        ("dense<[0x7F800001, 1.0]> : tensor<2xf32>", np.array([0x7F800001, 0x3F800000], np.uint32)),
        ("dense<0.1> : tensor<2xf64>", np.full(2, 0.1)),
        ("dense<> : tensor<0xf32>", np.zeros(0, np.float32)),
    ],
)
def test_constant_bytes(context, text: str, expected: np.ndarray) -> None:
    attribute = ir.Attribute.parse(text)
    assert constant_bytes(attribute) == expected.tobytes()
    assert constant_bytes(storage_constant(attribute)) == expected.tobytes()


def resource(kind: str, blob: str) -> ir.Attribute:
    function = f"func.func @main() {{ %0 = stablehlo.constant dense_resource<r> : {kind} return }}"
    module = ir.Module.parse(f"{function}\n{{-# dialect_resources: {{ builtin: {{ {blob} }} }} #-}}")
    return walk(module.operation, "stablehlo.constant")[0].attributes["value"]


@pytest.mark.parametrize(
    ("kind", "data"), [("tensor<2xbf16>", "803f0040"), ("tensor<3xi1>", "010001"), ("tensor<2xui32>", "01000000ffffffff")]
)
def test_resource_bytes(context, kind: str, data: str) -> None:
    attribute = resource(kind, f'r: "0x04000000{data}"')
    assert constant_bytes(attribute) == bytes.fromhex(data)
    assert constant_bytes(storage_constant(attribute)) == bytes.fromhex(data)


def test_large_resource(context) -> None:
    data = np.arange(100_003, dtype=np.float32)
    kind = ir.RankedTensorType.get(data.shape, ir.F32Type.get())
    assert constant_bytes(ir.DenseResourceElementsAttr.get_from_buffer(data, "weights", kind)) == data.tobytes()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('other: "0x0400000000"', "has no data"),
        (f'r: "0x40000000{"00000000" * 2}"', "has 8 bytes of data, not 12"),
        (f'r: "0x04000000{"00000000" * 4}"', "has 16 bytes of data, not 12"),
    ],
)
def test_resource_of_another_size(context, data: str, message: str) -> None:
    with pytest.raises(InvalidProgramError, match=message):
        constant_bytes(resource("tensor<3xf32>", data))


@pytest.mark.parametrize("seed", range(10))
def test_arena_has_no_overlap_and_little_waste(seed: int) -> None:
    numbers = random.Random(seed)
    blocks = []
    for _ in range(300):
        start = numbers.randrange(1000)
        blocks.append(Reservation(64 * numbers.choice([1, 1, 2, 16, numbers.randrange(1, 64)]), start, start + numbers.randrange(1, 60)))
    offsets, size = place(blocks)
    ranges = [(offset, offset + block.size) for offset, block in zip(offsets, blocks)]
    for i, (a, (low, high)) in enumerate(zip(blocks, ranges)):
        assert high <= size and low % 64 == 0
        for b, (other_low, other_high) in zip(blocks[:i], ranges[:i]):
            assert a.end <= b.start or b.end <= a.start or high <= other_low or other_high <= low
    assert live_bytes(blocks) <= size <= 1.1 * live_bytes(blocks)


def test_arena_of_nothing() -> None:
    assert place([]) == ([], 0)


@pytest.mark.parametrize("seed", range(20))
def test_sequential_copies_act_at_once(seed: int) -> None:
    numbers = random.Random(seed)
    places = list(range(8))
    targets = numbers.sample(places, numbers.randint(1, 8))
    pairs = [(numbers.choice(places), target) for target in targets]
    if seed % 2:  # permutations: nothing but cycles
        pairs = list(zip(numbers.sample(targets, len(targets)), targets))
    memory: dict[int | None, int] = {place: place for place in places}
    expected = {**memory, **{target: source for source, target in pairs}}
    for source, target in sequentialise(pairs):
        memory[target] = memory[source]
    memory.pop(None, None)
    assert memory == expected


@pytest.mark.parametrize(
    ("a", "b", "batch", "contracted", "expected"),
    [
        ((3, 5), (5, 7), ([], []), ([1], [0]), ((1, 3, 7, 5), (1, 5, 1, 1, 7, 1, 21, 7, 1))),
        ((5, 3), (7, 5), ([], []), ([0], [1]), ((1, 3, 7, 5), (1, 1, 3, 1, 1, 5, 21, 7, 1))),
        ((2, 4, 3, 5), (2, 4, 5, 7), ([0, 1], [0, 1]), ([3], [2]), ((8, 3, 7, 5), (15, 5, 1, 35, 7, 1, 21, 7, 1))),
        ((2, 3, 5), (5, 7), ([], []), ([2], [0]), ((1, 6, 7, 5), (1, 5, 1, 1, 7, 1, 42, 7, 1))),
        ((3, 2, 5), (2, 5, 7), ([1], [0]), ([2], [1]), ((2, 3, 7, 5), (5, 10, 1, 35, 7, 1, 21, 7, 1))),
        # The free dimensions of the left side have the batch between them.
        ((3, 2, 4, 5), (2, 5, 7), ([1], [0]), ([3], [1]), None),
        # Neither rows nor columns of the left side are contiguous.
        ((3, 5, 2), (2, 5, 7), ([2], [0]), ([1], [1]), None),
    ],
)
def test_gemm_of(context, a, b, batch, contracted, expected) -> None:
    left, right = (np.arange(np.prod(shape), dtype=np.float32).reshape(shape) for shape in (a, b))
    free = [[n for d, n in enumerate(shape) if d not in batch[side] + contracted[side]] for side, shape in enumerate((a, b))]
    kinds = [f"tensor<{'x'.join(map(str, shape))}xf32>" for shape in (a, b, [a[d] for d in batch[0]] + free[0] + free[1])]
    dims = f"batching_dims = {batch[0]} x {batch[1]}, contracting_dims = {contracted[0]} x {contracted[1]}"
    text = f"""func.func @main(%a: {kinds[0]}, %b: {kinds[1]}) -> {kinds[2]} {{
      %0 = stablehlo.dot_general %a, %b, {dims} : ({kinds[0]}, {kinds[1]}) -> {kinds[2]}
      return %0 : {kinds[2]}
    }}"""
    module = ir.Module.parse(text)
    gemm = gemm_of(walk(module.operation, "stablehlo.dot_general")[0])
    if expected is None:
        assert gemm is None
        return
    assert gemm is not None and (gemm.sizes, gemm.strides) == expected
    count, m, n, k = gemm.sizes
    s = [4 * stride for stride in gemm.strides]
    strided = np.lib.stride_tricks.as_strided
    product = strided(left, (count, m, k), s[:3]) @ strided(right, (count, k, n), s[3:6])
    np.testing.assert_array_equal(product.reshape(-1), interpret(text, [left, right])[0].reshape(-1))


LOOP = """
func.func @main(%a: tensor<i32>) -> tensor<i32> {{
  %start = stablehlo.constant dense<{start}> : tensor<{kind}>
  %0:2 = stablehlo.while(%x = %a, %i = %start) : tensor<i32>, tensor<{kind}>
  cond {{
    %p = func.call @test(%i) : (tensor<{kind}>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %y = func.call @next(%x) : (tensor<i32>) -> tensor<i32>
    %j = func.call @step(%i) : (tensor<{kind}>) -> tensor<{kind}>
    stablehlo.return %y, %j : tensor<i32>, tensor<{kind}>
  }}
  return %0#0 : tensor<i32>
}}
func.func private @test(%i: tensor<{kind}>) -> tensor<i1> attributes {{hloom.kind = "loop"}} {{
  %l = stablehlo.constant dense<{limit}> : tensor<{kind}>
  %0 = stablehlo.compare {direction}, {operands} : (tensor<{kind}>, tensor<{kind}>) -> tensor<i1>
  return %0 : tensor<i1>
}}
func.func private @step(%i: tensor<{kind}>) -> tensor<{kind}> attributes {{hloom.kind = "loop"}} {{
  %s = stablehlo.constant dense<{step}> : tensor<{kind}>
  %0 = stablehlo.{operation} %i, %s : tensor<{kind}>
  return %0 : tensor<{kind}>
}}
func.func private @next(%x: tensor<i32>) -> tensor<i32> attributes {{hloom.kind = "loop"}} {{
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.add %x, %one : tensor<i32>
  return %0 : tensor<i32>
}}"""


@pytest.mark.parametrize(
    ("start", "limit", "step", "direction", "operation", "kind", "operands", "counted"),
    [
        (0, 5, 1, "LT", "add", "i32", "%i, %l", True),
        (0, 5, 2, "LE", "add", "i64", "%i, %l", True),
        (0, 5, 2, "LT", "add", "i32", "%i, %l", True),
        (7, 5, 1, "LT", "add", "i32", "%i, %l", True),
        (9, 2, 3, "GT", "subtract", "i32", "%i, %l", True),
        (9, 0, 3, "GE", "subtract", "i32", "%i, %l", True),
        (0, 6, 2, "NE", "add", "i32", "%i, %l", True),
        (0, 5, 1, "GT", "add", "i32", "%l, %i", True),
        (0, 5, 1, "LT", "add", "ui8", "%i, %l", True),
        # The counter wraps around before the comparison fails.
        (250, 3, 1, "GT", "add", "ui8", "%i, %l", False),
        (250, 255, 2, "LE", "add", "ui8", "%i, %l", False),
        (120, 127, 3, "LT", "add", "i8", "%i, %l", False),
        (0, 6, 2, "EQ", "add", "i32", "%i, %l", False),
        (0, 5, 1, "LT", "multiply", "i32", "%l, %i", False),
    ],
)
def test_trip_counts(start, limit, step, direction, operation, kind, operands, counted) -> None:
    text = LOOP.format(start=start, limit=limit, step=step, direction=direction, operation=operation, kind=kind, operands=operands)
    machine = Machine(text)
    assert ("lhlo.for" in machine.lhlo) == counted
    assert ("lhlo.while" in machine.lhlo) != counted
    given = np.array(10, np.int32)
    if (kind, direction, limit) != ("ui8", "LE", 255):  # that one never ends
        np.testing.assert_array_equal(machine.run([given])[0], interpret(text, [given])[0])


def test_init_and_main_have_arenas_and_constants_of_their_own() -> None:
    text = """
    func.func @main(%a: tensor<3xi32>, %b: tensor<3xi32> {hloom.init_result = 0 : i64}) -> tensor<3xi32> {
      %c = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
      %0 = call @add(%a, %b) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
      %1 = call @turned(%0) : (tensor<3xi32>) -> tensor<3xi32>
      %2 = call @add(%1, %c) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
      return %2 : tensor<3xi32>
    }
    func.func @init(%b: tensor<3xi32> {hloom.argument = 1 : i64}) -> tensor<3xi32> {
      %c = stablehlo.constant dense<[5, 2, 4]> : tensor<3xi32>
      %0 = call @add(%b, %c) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
      return %0 : tensor<3xi32>
    }
    func.func private @add(%a: tensor<3xi32>, %b: tensor<3xi32>) -> tensor<3xi32> attributes {hloom.kind = "loop"} {
      %0 = stablehlo.add %a, %b : tensor<3xi32>
      return %0 : tensor<3xi32>
    }
    func.func private @turned(%a: tensor<3xi32>) -> tensor<3xi32> attributes {hloom.kind = "loop"} {
      %0 = stablehlo.reverse %a, dims = [0] : tensor<3xi32>
      return %0 : tensor<3xi32>
    }"""
    machine = Machine(text)
    one, ten = np.array([1, 1, 2], np.int32), np.array([10, 20, 30], np.int32)
    (bound,) = machine.run([ten], entry="init")
    np.testing.assert_array_equal(bound, [15, 22, 34])
    np.testing.assert_array_equal(machine.run([one, bound])[0], [37, 25, 19])
    assert machine.arena_bytes == {"main": 64, "init": 0}

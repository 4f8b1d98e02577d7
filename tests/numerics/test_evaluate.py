"""What @init computes by interpretation (dialects/evaluation.py), against numpy."""

from __future__ import annotations

import math
import random

import ml_dtypes
import numpy as np
import pytest

import hloom
from hloom.compiler.compile import Compilation
from hloom.dialects.evaluation import EvaluatedProgram, Instruction, Opcode, Type, at_slices, decoded, encoded, packed
from hloom.dialects.thunk import integers
from hloom.passes.common.init_function import entry
from hloom.passes.common.rewriting import i64_array, walk

TYPES = {"f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16, "i8": np.int8, "i64": np.int64}


def tensor(array: np.ndarray) -> str:
    name = next(name for name, kind in TYPES.items() if array.dtype == kind)
    return f"tensor<{'x'.join(map(str, (*array.shape, name)))}>"


class Chain:
    """A program of bound arguments alone, op by op, and what it gives."""

    def __init__(self, *arguments: np.ndarray):
        self.arguments, self.lines, self.count = arguments, [], 0
        self.name, self.value = "%a0", arguments[0]

    def op(self, name: str, value: np.ndarray, operands: str = "", types: str = "", more: str = "") -> None:
        self.count += 1
        left, kinds = operands or self.name, types or f"({tensor(self.value)}) -> {tensor(value)}"
        self.lines.append(f"%v{self.count} = stablehlo.{name} {left}{more} : {kinds}")
        self.name, self.value = f"%v{self.count}", value

    def transpose(self, dims: list[int]) -> None:
        self.op("transpose", self.value.transpose(dims), more=f", dims = {dims}")

    def reshape(self, shape: list[int]) -> None:
        self.op("reshape", self.value.reshape(shape))

    def reverse(self, dims: list[int]) -> None:
        self.op("reverse", np.flip(self.value, dims), more=f", dims = {dims}", types=tensor(self.value))

    def slice(self, ranges: list[tuple[int, int, int]]) -> None:
        text = ", ".join(f"{start}:{stop}:{step}" for start, stop, step in ranges)
        self.op("slice", self.value[tuple(slice(*each) for each in ranges)], more=f" [{text}]")

    def pad(self, low: list[int], high: list[int]) -> None:
        name, kind = tensor(np.zeros((), self.value.dtype)), self.value.dtype
        fill = "3" if kind in (np.int8, np.int64) else "3.0"
        self.lines.append(f"%c{self.count} = stablehlo.constant dense<{fill}> : {name}")
        padded = np.pad(self.value, list(zip(low, high)), constant_values=np.array(3, kind))
        zeros = [0] * len(low)
        more = f", %c{self.count}, low = {low}, high = {high}, interior = {zeros}"
        self.op("pad", padded, more=more, types=f"({tensor(self.value)}, {name}) -> {tensor(padded)}")

    def times(self, scale: int, dim: int) -> None:
        """By a vector along one dimension."""
        factor, name, before = self.arguments[scale], self.name, self.value
        shape = [-1 if d == dim else 1 for d in range(before.ndim)]
        spread = np.broadcast_to(factor.reshape(shape), before.shape)
        self.name, self.value = f"%a{scale}", factor
        self.op("broadcast_in_dim", spread, more=f", dims = [{dim}]")
        self.op("multiply", before * spread, operands=f"{name}, {self.name}", types=tensor(before))

    def check(self, interpreted: bool = True) -> None:
        given = ", ".join(f"%a{i}: {tensor(each)}" for i, each in enumerate(self.arguments))
        body = "\n".join([*self.lines, f"return {self.name} : {tensor(self.value)}"])
        text = f"func.func @main({given}) -> {tensor(self.value)} {{\n{body}\n}}"
        exe = Compilation.of(text, bind=dict(enumerate(self.arguments))).executable()
        stage = Compilation.of(text, bind=dict(enumerate(self.arguments)))
        stage.to("lhlo")
        init = entry(stage.module, "init")
        assert bool(walk(init, "lhlo.evaluate")) == interpreted
        assert bool(walk(init, "lhlo.fusion")) != interpreted
        for threads in (1, 2):
            hloom.set_threads(threads)
            np.testing.assert_array_equal(np.asarray(exe()), self.value)


@pytest.fixture(autouse=True)
def _threads():
    before = hloom.get_threads()
    yield
    hloom.set_threads(before)


def values(shape: tuple[int, ...], kind: str = "f32") -> np.ndarray:
    return np.random.default_rng(len(shape)).integers(-100, 100, shape).astype(TYPES[kind])


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("shape", [(96, 7, 3, 3), (64, 64, 1, 1), (29, 3, 2, 2), (130, 70, 1, 3)])
def test_packed_filters(shape, kind):
    """Blocks of 32 output channels, those of the last padded: the padded dimension is split."""
    chain = Chain(values(shape, kind))
    chain.transpose([2, 3, 1, 0])
    channels = -shape[0] % 32
    chain.pad([0] * 4, [0, 0, 0, channels])
    chain.reshape([*chain.value.shape[:3], chain.value.shape[3] // 32, 32])
    chain.transpose([3, 0, 1, 2, 4])
    chain.check()


def test_folded_batch_norm():
    chain = Chain(values((200, 40, 3, 3)), values((200,)))
    chain.transpose([2, 3, 1, 0])
    chain.times(1, 3)
    chain.reshape([3, 3, 40, 25, 8])
    chain.transpose([3, 0, 1, 2, 4])
    chain.check()


def test_phases():
    """Every other tap of a filter that is turned round."""
    chain = Chain(values((30, 20, 16)))
    chain.transpose([2, 1, 0])
    chain.reverse([0, 2])
    chain.slice([(3, 16, 8), (0, 20, 1), (2, 30, 2)])
    chain.check()


def test_short_lines_are_compiled():
    chain = Chain(values((65_536, 2, 2)))
    chain.transpose([0, 2, 1])
    chain.check(interpreted=False)


@pytest.mark.parametrize("seed", range(24))
def test_chains(seed):
    """Any movements; those that no strides express, or that pad in between, are compiled."""
    rng = random.Random(seed)
    shape = tuple(rng.choice([1, 2, 3, 5, 8, 16, 33]) for _ in range(rng.randint(1, 4)))
    chain = Chain(values(shape, rng.choice(list(TYPES))))
    for _ in range(rng.randint(1, 5)):
        rank = chain.value.ndim
        match rng.choice(["transpose", "reshape", "reverse", "slice"]):
            case "transpose":
                chain.transpose(rng.sample(range(rank), rank))
            case "reshape":
                total = math.prod(chain.value.shape)
                divisor = rng.choice([d for d in range(1, total + 1) if total % d == 0])
                chain.reshape([divisor, total // divisor])
            case "reverse":
                chain.reverse(sorted(rng.sample(range(rank), rng.randint(1, rank))))
            case "slice":
                chain.slice([(rng.randint(0, extent - 1), extent, rng.randint(1, 2)) for extent in chain.value.shape])
    given, expected = chain.arguments[0], chain.value
    text = "\n".join([*chain.lines, f"return {chain.name} : {tensor(expected)}"])
    exe = hloom.compile(f"func.func @main(%a0: {tensor(given)}) -> {tensor(expected)} {{\n{text}\n}}", bind={0: given}, target="cpu")
    np.testing.assert_array_equal(np.asarray(exe()), expected)


def test_numbers_are_programs_again():
    load, store = (Instruction(op, Type.F32, number, 0, 0, (256, 4, 0)) for number, op in enumerate((Opcode.LOAD, Opcode.STORE)))
    program = EvaluatedProgram((32, 64), 0, 1, (load, store))
    assert decoded(encoded([program, program])) == [program, program]
    assert not list(program.faults([8192, 8192], 1))
    assert "leaves buffer 0" in next(program.faults([8191, 8192], 1))
    assert "has no buffer 1" in next(program.faults([8192, 8192], 2))
    moved = decoded(at_slices(encoded([program]), [(7, 64, 8192), (9, 128, 8192)]))[0].code
    assert [(it.a, it.b) for it in moved] == [(7, 64), (9, 128)]
    assert packed([1, -2, 64]) == bytes([6, 2, 3, 128, 1])
    for wrong in ([], [1], [1, 4, 2, 0, 1, 2], [2, *encoded([program])[1:]], [*encoded([program]), 0]):
        with pytest.raises(ValueError, match="number|program"):
            decoded(wrong)


def test_a_thunk_outside_its_buffers_is_refused():
    chain = Chain(values((64, 32)))
    chain.transpose([1, 0])
    body = "\n".join([*chain.lines, f"return {chain.name} : {tensor(chain.value)}"])
    text = f"func.func @main(%a0: {tensor(chain.arguments[0])}) -> {tensor(chain.value)} {{\n{body}\n}}"
    stage = Compilation.of(text, bind={0: chain.arguments[0]})
    stage.to("lhlo")
    (op,) = walk(stage.module, "lhlo.evaluate")
    numbers = integers(op.attributes["numbers"])
    numbers[numbers.index(64)] = 65
    with stage.module.context:
        op.attributes["numbers"] = i64_array(numbers)
    with pytest.raises(hloom.CompileError, match="leaves buffer"):
        stage.to("thunk")

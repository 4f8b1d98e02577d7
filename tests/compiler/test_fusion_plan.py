"""plan-fusion: random programs keep their values, the plan obeys its own rules, and is the same in every process."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import numpy as np
import pytest
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from hloom.dialects.context import make_context
from hloom.passes.common.rewriting import functions, symbol_name, walk
from hloom.passes.errors import InvalidProgramError, UnsupportedOpError
from hloom.passes.fused.plan_fusion import plan_fusion
from hloom.passes.fused.planner.axes import Axis, var
from hloom.passes.fused.planner.cost import CostModel
from hloom.passes.fused.planner.group import Bucket, Group, recut
from hloom.passes.fused.planner.plan import Planner

HOST_OPS = {"func.call", "stablehlo.constant", "stablehlo.while", "stablehlo.case", "stablehlo.if", "func.return", "stablehlo.return"}
SHAPES = [(4, 6), (6, 4), (24,), (4, 2, 3), (1, 6), (4, 1), (4,), (6,), (2, 12), ()]


def plan(text: str, **options) -> ir.Module:
    module = ir.Module.parse(text, make_context())
    plan_fusion(module.operation, **options)
    assert module.operation.verify()
    return module


def groups(module: ir.Module) -> dict[str, str]:
    found = [f for f in functions(module.operation) if "hloom.kind" in f.attributes]
    return {symbol_name(f): ir.StringAttr(f.attributes["hloom.kind"]).value for f in found}


def decisions(module: ir.Module) -> list[dict]:
    return [{entry.name: entry.attr for entry in record} for record in module.operation.attributes["hloom.decisions"]]


def codes(module: ir.Module) -> set[str]:
    return {ir.StringAttr(record["code"]).value for record in decisions(module)}


def calls(module: ir.Module) -> list[str]:
    host = next(f for f in functions(module.operation) if symbol_name(f) == "main")
    return [ir.FlatSymbolRefAttr(op.attributes["callee"]).value for op in walk(host, "func.call")]


def kind(shape: tuple[int, ...], element: str = "f32") -> str:
    return f"tensor<{''.join(f'{d}x' for d in shape)}{element}>"


class Writer:
    """Writes a random program, op by op; every value is f32 and stays small."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.values: list[tuple[str, tuple[int, ...]]] = [("%a0", (4, 6)), ("%a1", (4, 6)), ("%a2", (6,)), ("%a3", (6, 6)), ("%a4", ())]

    def emit(self, text: str, shape: tuple[int, ...]) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.values.append((name, shape))
        return name

    def pick(self, wanted=lambda shape: True) -> tuple[str, tuple[int, ...]] | None:
        near = [v for v in self.values[-8:] if wanted(v[1])] or [v for v in self.values if wanted(v[1])]
        return self.random.choice(near) if near else None

    def step(self) -> None:
        op = self.random.choice([name for name in dir(self) if name.startswith("op_")])
        getattr(self, op)()

    def op_unary(self):
        v, s = self.pick()
        self.emit(f"stablehlo.{self.random.choice(['tanh', 'negate', 'abs', 'logistic'])} {v} : {kind(s)}", s)

    def op_binary(self):
        v, s = self.pick()
        w, _ = self.pick(lambda shape: shape == s)
        self.emit(f"stablehlo.{self.random.choice(['add', 'maximum', 'subtract'])} {v}, {w} : {kind(s)}", s)

    op_binary_again = op_binary
    op_unary_again = op_unary

    def op_bounded(self):
        v, s = self.pick()
        self.emit(f"stablehlo.tanh {v} : {kind(s)}", s)

    def op_reduce(self):
        v, s = self.pick(lambda shape: len(shape) > 0)
        dims = sorted(self.random.sample(range(len(s)), self.random.randint(1, len(s))))
        out = tuple(e for i, e in enumerate(s) if i not in dims)
        self.lines.append(f"%c{len(self.lines)} = stablehlo.constant dense<0.0> : tensor<f32>")
        init = f"%c{len(self.lines) - 1}"
        name = self.random.choice(["add", "maximum"])
        text = f"stablehlo.reduce({v} init: {init}) applies stablehlo.{name} across dimensions = {dims}"
        self.emit(f"{text} : ({kind(s)}, tensor<f32>) -> {kind(out)}", out)

    def op_broadcast(self):
        v, s = self.pick(lambda shape: len(shape) <= 1)
        rank = self.random.choice([1, 2])
        if len(s) > rank:
            return
        dims = sorted(self.random.sample(range(rank), len(s)))
        out = [self.random.choice([4, 6]) for _ in range(rank)]
        for d, e in zip(dims, s):
            out[d] = e
        self.emit(f"stablehlo.broadcast_in_dim {v}, dims = {dims} : ({kind(s)}) -> {kind(tuple(out))}", tuple(out))

    op_broadcast_again = op_broadcast

    def op_transpose(self):
        v, s = self.pick(lambda shape: len(shape) == 2)
        self.emit(f"stablehlo.transpose {v}, dims = [1, 0] : ({kind(s)}) -> {kind(s[::-1])}", s[::-1])

    def op_reshape(self):
        v, s = self.pick()
        out = self.random.choice([t for t in SHAPES if np.prod(t) == np.prod(s)] or [s])
        self.emit(f"stablehlo.reshape {v} : ({kind(s)}) -> {kind(out)}", out)

    def op_slice(self):
        v, s = self.pick(lambda shape: len(shape) == 2 and shape[1] >= 4)
        self.emit(f"stablehlo.slice {v} [0:{s[0]}, 1:{s[1]}:2] : ({kind(s)}) -> {kind((s[0], s[1] // 2))}", (s[0], s[1] // 2))

    def op_reverse(self):
        v, s = self.pick(lambda shape: len(shape) > 0)
        self.emit(f"stablehlo.reverse {v}, dims = [0] : {kind(s)}", s)

    def op_pad(self):
        v, s = self.pick(lambda shape: len(shape) == 1 and shape[0] in (4, 6))
        if s[0] != 4:
            return
        self.emit(f"stablehlo.pad {v}, %a4, low = [1], high = [1], interior = [0] : ({kind(s)}, tensor<f32>) -> tensor<6xf32>", (6,))

    def op_concatenate(self):
        v, s = self.pick(lambda shape: len(shape) == 2)
        w, _ = self.pick(lambda shape: shape == s)
        out = (s[0], 2 * s[1])
        self.emit(f"stablehlo.concatenate {v}, {w}, dim = 1 : ({kind(s)}, {kind(s)}) -> {kind(out)}", out)

    def op_dot(self):
        v, s = self.pick(lambda shape: len(shape) == 2 and shape[1] == 6)
        w, t = self.pick(lambda shape: len(shape) == 2 and shape[0] == 6)
        out = (s[0], t[1])
        self.emit(f"stablehlo.dot_general {v}, {w}, contracting_dims = [1] x [0] : ({kind(s)}, {kind(t)}) -> {kind(out)}", out)
        self.op_bounded()

    def op_iota(self):
        self.emit("stablehlo.iota dim = 1 : tensor<4x6xf32>", (4, 6))

    def op_dynamic_slice(self):
        v, s = self.pick(lambda shape: shape == (4, 6))
        self.emit(f"stablehlo.dynamic_slice {v}, %i, %i, sizes = [4, 3] : ({kind(s)}, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>", (4, 3))

    def op_dynamic_update_slice(self):
        v, s = self.pick(lambda shape: shape == (4, 6))
        w, t = self.pick(lambda shape: len(shape) == 2 and shape[0] <= 4 and shape[1] <= 6)
        text = f"stablehlo.dynamic_update_slice {v}, {w}, %i, %i : ({kind(s)}, {kind(t)}, tensor<i32>, tensor<i32>) -> {kind(s)}"
        self.emit(text, s)

    def op_while(self):
        v, s = self.pick()
        n = len(self.lines)
        self.lines.append(
            f"""%w{n}:2 = stablehlo.while(%k{n} = %i, %s{n} = {v}) : tensor<i32>, {kind(s)}
            cond {{
              %five{n} = stablehlo.constant dense<5> : tensor<i32>
              %lt{n} = stablehlo.compare LT, %k{n}, %five{n}, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
              stablehlo.return %lt{n} : tensor<i1>
            }} do {{
              %one{n} = stablehlo.constant dense<1> : tensor<i32>
              %next{n} = stablehlo.add %k{n}, %one{n} : tensor<i32>
              %t{n} = stablehlo.tanh %s{n} : {kind(s)}
              %u{n} = stablehlo.add %t{n}, {v} : {kind(s)}
              stablehlo.return %next{n}, %u{n} : tensor<i32>, {kind(s)}
            }}"""
        )
        self.values.append((f"%w{n}#1", s))

    def text(self, count: int) -> str:
        while len(self.lines) < count:
            self.step()
        results = [self.values[-1], *self.random.sample(self.values[5:], min(3, len(self.values) - 5))]
        arguments = ", ".join(f"{v}: {kind(s)}" for v, s in self.values[:5]) + ", %i: tensor<i32>"
        body = "\n".join(self.lines)
        types = ", ".join(kind(s) for _, s in results)
        return f"func.func @main({arguments}) -> ({types}) {{\n{body}\nreturn {', '.join(v for v, _ in results)} : {types}\n}}"


def evaluate(module: ir.Module) -> list[np.ndarray]:
    numbers = np.random.default_rng(0)
    with module.context, ir.Location.unknown():
        arrays = [numbers.standard_normal(s, dtype=np.float32) for s in ((4, 6), (4, 6), (6,), (6, 6), ())]
        arguments = [ir.DenseElementsAttr.get(a, type=ir.F32Type.get(), shape=a.shape) for a in arrays]
        arguments.append(ir.DenseElementsAttr.get(np.array(1, np.int32)))
        return [np.array(result) for result in _stablehlo.eval_module(module, arguments)]


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_keep_their_values(seed):
    text = Writer(seed).text(12 + seed % 40)
    expected = evaluate(ir.Module.parse(text, make_context()))
    module = plan(text)
    for before, after in zip(expected, evaluate(module), strict=True):
        np.testing.assert_array_equal(before, after)
    for function in functions(module.operation):
        if "hloom.kind" not in function.attributes:
            assert {op.name for op in walk(function)} - {"func.func"} <= HOST_OPS
        else:
            assert sum(op.name == "stablehlo.dot_general" for op in walk(function)) <= 1


def chain(count: int) -> str:
    lines = [f"%v{i + 1} = stablehlo.{('add', 'multiply')[i % 2]} %v{i}, %v0 : tensor<256x64xf32>" for i in range(count)]
    body = "\n".join(lines)
    return f"func.func @main(%v0: tensor<256x64xf32>) -> tensor<256x64xf32> {{\n{body}\nreturn %v{count} : tensor<256x64xf32>\n}}"


def test_a_long_chain_is_cut_at_the_instance_limit():
    module = plan(chain(300), max_instances=100)
    found = [f for f in functions(module.operation) if "hloom.kind" in f.attributes]
    assert max(len(walk(f, lambda op: op.name.startswith("stablehlo."))) for f in found) <= 100
    assert 3 <= len(calls(module)) <= 5
    assert "INSTANCE_LIMIT" in codes(module)


def test_equal_groups_share_one_function():
    text = """func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %1 = stablehlo.tanh %0 : tensor<64x64xf32>
      %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %3 = stablehlo.tanh %2 : tensor<64x64xf32>
      return %3 : tensor<64x64xf32>
    }"""
    module = plan(text)
    assert calls(module) == ["fusion_0", "fusion_0"] and groups(module) == {"fusion_0": "matmul"}


def numbers(op: str, count: int) -> str:
    """A program that computes each of many numbers by one op."""
    arguments, types = ", ".join(f"%p{i}: tensor<f32>" for i in range(count)), ", ".join(["tensor<f32>"] * count)
    lines = [f"%m{i} = stablehlo.{op} %p{i}, %p{i} : tensor<f32>" for i in range(count)]
    lines.append(f"return {', '.join(f'%m{i}' for i in range(count))} : {types}")
    return f"func.func @main({arguments}) -> ({types}) {{\n" + "\n".join(lines) + "\n}"


def test_numbers_are_one_kernel():
    assert len(calls(plan(numbers("add", 100)))) == 1


def test_numbers_that_take_much_code_are_a_few_equal_kernels():
    """Of the step sizes of an optimiser with a count for each parameter, one kernel would be hundreds of powers."""
    module = plan(numbers("power", 128))
    assert 2 < len(calls(module)) < 32 and len(groups(module)) < 4


def joined(count: int) -> str:
    """A program that multiplies each of many arguments and puts them into one."""
    arguments = ", ".join(f"%p{i}: tensor<8xf32>" for i in range(count))
    lines = [f"%m{i} = stablehlo.multiply %p{i}, %p0 : tensor<8xf32>" for i in range(count)]
    given, types = ", ".join(f"%m{i}" for i in range(count)), ", ".join(["tensor<8xf32>"] * count)
    whole = f"tensor<{8 * count}xf32>"
    lines += [f"%all = stablehlo.concatenate {given}, dim = 0 : ({types}) -> {whole}", f"return %all : {whole}"]
    return f"func.func @main({arguments}) -> {whole} {{\n" + "\n".join(lines) + "\n}"


def test_the_work_of_planning_grows_with_the_group_not_with_its_square(monkeypatch):
    """Each merge into a large group prices what it takes up, not all that is left beside it."""
    priced: list[int] = []
    union = CostModel.union
    monkeypatch.setattr(CostModel, "union", lambda *given: priced.append(1) or union(*given))
    counts = []
    for count in (150, 300):
        priced.clear()
        assert len(groups(plan(joined(count)))) == 1
        counts.append(len(priced))
    assert counts[1] < 2.5 * counts[0]


def test_the_work_of_planning_grows_with_the_chain_not_with_its_square(monkeypatch):
    """Counted, not timed: merges priced for each op."""
    from hloom.passes.fused.planner.cost import CostModel

    counts = []
    union = CostModel.union
    for length in (200, 800):
        priced = []
        monkeypatch.setattr(CostModel, "union", lambda self, *a, found=priced: (found.append(1), union(self, *a))[1])
        plan(chain(length))
        counts.append(len(priced) / length)
    assert counts[1] < 1.2 * counts[0]


PROCESS = """
import sys
sys.path.insert(0, {folder!r})
from test_fusion_plan import Writer, plan
print(plan(Writer({seed}).text(60)))
"""


@pytest.mark.parametrize("seed", [3, 7])
def test_the_plan_is_the_same_in_every_process(seed):
    source = PROCESS.format(folder=os.path.dirname(__file__), seed=seed)
    texts = set()
    for hash_seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        texts.add(subprocess.run([sys.executable, "-c", source], env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(texts) == 1 and "FUSED_" in texts.pop()


@pytest.mark.parametrize("seed", range(4))
def test_a_price_that_is_remembered_is_what_it_would_be_anew(seed, monkeypatch):
    price, remembered = Planner.price, []

    def compared(self, rule, u, v, union):
        known = (u, v) in self.priced and self.priced[u, v][0] is union
        given = price(self, rule, u, v, union)
        del self.priced[u, v]
        reads = dict(self.cost._read)
        self.cost._read.clear()
        assert given == price(self, rule, u, v, union)
        self.cost._read.update(reads)
        remembered.append(known)
        return given

    monkeypatch.setattr(Planner, "price", compared)
    plan(Writer(seed).text(150))
    assert any(remembered)


def test_an_op_without_an_access_map_is_refused_by_name():
    text = """func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %0 = stablehlo.cholesky %x, lower = true : tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }"""
    with pytest.raises(UnsupportedOpError, match="stablehlo.cholesky"):
        plan(text)


def test_a_sort_is_alone():
    text = """func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %n = stablehlo.negate %x : tensor<4x8xf32>
      %0 = "stablehlo.sort"(%n) <{dimension = 1 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %1 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
      %2 = stablehlo.tanh %0 : tensor<4x8xf32>
      return %2 : tensor<4x8xf32>
    }"""
    planned = str(plan(text))
    assert planned.count("func private") == 3 and planned.count('hloom.kind = "sort"') == 1
    assert planned.count('code = "ALONE"') == 2


def test_a_dynamic_shape_is_refused():
    with pytest.raises(InvalidProgramError, match="known size"):
        plan("func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }")


def test_planning_again_changes_nothing():
    module = plan(Writer(11).text(40))
    before = str(module)
    plan_fusion(module.operation)
    assert str(module) == before


def test_records_are_complete():
    module = plan(Writer(5).text(50))
    names = groups(module)
    for record in decisions(module):
        assert ir.StringAttr(record["verdict"]).value in ("fused", "declined", "note")
        assert all(ir.FlatSymbolRefAttr(name).value in names for name in record["groups"])
        assert len(record["ops"]) and all({"name", "type", "loc"} == {entry.name for entry in op} for op in record["ops"])
        if "gain_ps" in record:
            before, after, gain = (ir.IntegerAttr(record[key]).value for key in ("t_before_ps", "t_after_ps", "gain_ps"))
            assert gain == before - after
            if ir.StringAttr(record["verdict"]).value == "fused":
                assert gain > 0


def test_a_constant_that_a_reduction_captures_goes_with_it():
    """Upstream's canonicaliser moves constants out of the bodies of reductions."""
    text = """func.func @main(%x: tensor<4x6xf32>) -> tensor<4xf32> {
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %h = stablehlo.constant dense<0.5> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %z) across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
       reducer(%a: tensor<f32>, %b: tensor<f32>) {
        %1 = stablehlo.multiply %b, %h : tensor<f32>
        %2 = stablehlo.add %a, %1 : tensor<f32>
        stablehlo.return %2 : tensor<f32>
      }
      %3 = stablehlo.negate %0 : tensor<4xf32>
      return %3 : tensor<4xf32>
    }"""
    module = plan(text)
    assert calls(module) == ["fusion_0"]
    host = next(f for f in functions(module.operation) if symbol_name(f) == "main")
    assert {op.name for op in walk(host)} == {"func.func", "func.call", "func.return"}


def test_a_recut_loop_keeps_its_ops():
    """Signatures of a concatenation's part and of the whole differ in an extent, which is the axis's own after that."""
    part, whole = ((var(0, 9), var(1, extent)) for extent in (7, 9))
    loop = Group({0: Axis(9), 1: Axis(9)}, {whole: Bucket({1}, 1), part: Bucket({2}, 3)}, {5: (part, whole)}, {6: whole})
    made = recut(loop, [3, 27])
    assert made.members == [1, 2]
    assert [bucket.work for bucket in made.body.values()] == [4]
    assert [len(signatures) for signatures in made.reads.values()] == [1]

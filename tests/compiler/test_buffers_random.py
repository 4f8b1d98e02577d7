"""Random fused programs with nested loops and branches: buffers and host function against the reference interpreter."""

from __future__ import annotations

import random

import numpy as np
import pytest
from host_machine import Machine, interpret

UPDATE = (
    "%r = stablehlo.dynamic_update_slice %a0, %u, %a2, %z\n"
    "  : (tensor<3x4xi32>, tensor<1x4xi32>, tensor<i32>, tensor<i32>) -> tensor<3x4xi32>\n"
)
TYPES = {"v": "tensor<4xi32>", "w": "tensor<2x2xi32>", "m": "tensor<3x4xi32>", "s": "tensor<i32>"}
GROUPS = {
    "add": ("loop", "v v", "v", "%r = stablehlo.add %a0, %a1 : tensor<4xi32>", "%r"),
    "both": (
        "loop",
        "v v",
        "v v",
        "%r = stablehlo.subtract %a0, %a1 : tensor<4xi32>\n %q = stablehlo.xor %a1, %r : tensor<4xi32>",
        "%r, %q",
    ),
    "turn": ("loop", "v", "v", "%r = stablehlo.reverse %a0, dims = [0] : tensor<4xi32>", "%r"),
    "fold": ("loop", "v", "w", "%r = stablehlo.reshape %a0 : (tensor<4xi32>) -> tensor<2x2xi32>", "%r"),
    "flat": ("loop", "w", "v", "%r = stablehlo.reshape %a0 : (tensor<2x2xi32>) -> tensor<4xi32>", "%r"),
    "twice": ("loop", "w w", "w", "%r = stablehlo.add %a0, %a1 : tensor<2x2xi32>", "%r"),
    "mixed": (
        "loop",
        "v",
        "v",
        "%t = stablehlo.reverse %a0, dims = [0] : tensor<4xi32>\n %r = stablehlo.subtract %a0, %t : tensor<4xi32>",
        "%r",
    ),
    "row": (
        "loop",
        "m v s",
        "m",
        "%z = stablehlo.constant dense<0> : tensor<i32>\n %u = stablehlo.reshape %a1 : (tensor<4xi32>) -> tensor<1x4xi32>\n" + UPDATE,
        "%r",
    ),
    "step": (
        "loop",
        "m v s",
        "m s",
        "%z = stablehlo.constant dense<0> : tensor<i32>\n %one = stablehlo.constant dense<1> : tensor<i32>\n"
        "%u = stablehlo.reshape %a1 : (tensor<4xi32>) -> tensor<1x4xi32>\n" + UPDATE + "%q = stablehlo.add %a2, %one : tensor<i32>",
        "%r, %q",
    ),
    "sum": (
        "reduce",
        "m",
        "v",
        "%z = stablehlo.constant dense<0> : tensor<i32>\n"
        "%r = stablehlo.reduce(%a0 init: %z) applies stablehlo.add across dimensions = [0]\n"
        "  : (tensor<3x4xi32>, tensor<i32>) -> tensor<4xi32>",
        "%r",
    ),
    "inc": ("loop", "s", "s", "%o = stablehlo.constant dense<1> : tensor<i32>\n %r = stablehlo.add %a0, %o : tensor<i32>", "%r"),
    "spread": (
        "loop",
        "v s",
        "v",
        "%b = stablehlo.broadcast_in_dim %a1, dims = [] : (tensor<i32>) -> tensor<4xi32>\n%r = stablehlo.add %a0, %b : tensor<4xi32>",
        "%r",
    ),
}


def group(name: str) -> str:
    kind, inputs, outputs, body, returned = GROUPS[name]
    arguments = ", ".join(f"%a{i}: {TYPES[t]}" for i, t in enumerate(inputs.split()))
    results = ", ".join(TYPES[t] for t in outputs.split())
    return (
        f'func.func private @{name}({arguments}) -> ({results}) attributes {{hloom.kind = "{kind}"}} {{\n {body}\n'
        f" return {returned} : {results}\n}}"
    )


LESS = """
func.func private @less(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i1> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}"""


class Generator:
    """Writes a random program: straight-line calls, constants, counted and data-dependent loops, cases, nested."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.count = 0
        self.used: set[str] = set()

    def name(self) -> str:
        self.count += 1
        return f"%x{self.count}"

    def pick(self, env: dict[str, list[str]], kind: str) -> str:
        unused = [value for value in env[kind] if value not in self.used]
        chosen = self.random.choice(unused if unused and self.random.random() < 0.8 else env[kind])
        self.used.add(chosen)
        return chosen

    def program(self) -> str:
        env = {"v": ["%a", "%b"], "w": ["%w"], "m": ["%m"], "s": ["%n"]}
        body = self.block(env, depth=0)
        kinds = [self.random.choice("vvwms") for _ in range(self.random.randint(6, 14))]
        returned = [self.pick(env, kind) for kind in kinds]
        types = ", ".join(TYPES[kind] for kind in kinds)
        main = (
            "func.func @main(%a: tensor<4xi32>, %b: tensor<4xi32>, %w: tensor<2x2xi32>, %m: tensor<3x4xi32>, %n: tensor<i32>) -> "
            f"({types}) {{\n{body}\nreturn {', '.join(returned)} : {types}\n}}"
        )
        return "\n".join([main, LESS, *map(group, GROUPS)])

    def block(self, env: dict[str, list[str]], depth: int) -> str:
        lines = []
        for _ in range(self.random.randint(4, 12)):
            choice = self.random.random()
            if choice < 0.2 and depth < 2:
                lines.append(self.loop(env, depth))
            elif choice < 0.27 and depth < 2:
                lines.append(self.case(env, depth))
            elif choice < 0.35:
                lines.append(self.constant(env))
            else:
                lines.append(self.call(env))
        return "\n".join(lines)

    def call(self, env: dict[str, list[str]]) -> str:
        name = self.random.choice(list(GROUPS))
        _, inputs, outputs, _, _ = GROUPS[name]
        operands = [self.pick(env, kind) for kind in inputs.split()]
        result = self.name()
        kinds = outputs.split()
        names = [result] if len(kinds) == 1 else [f"{result}#{i}" for i in range(len(kinds))]
        for kind, value in zip(kinds, names):
            env[kind].append(value)
        types = ", ".join(TYPES[kind] for kind in inputs.split())
        head = result if len(kinds) == 1 else f"{result}:{len(kinds)}"
        return f"{head} = func.call @{name}({', '.join(operands)}) : ({types}) -> ({', '.join(TYPES[kind] for kind in kinds)})"

    def constant(self, env: dict[str, list[str]]) -> str:
        kind, value = self.random.choice([("v", "[1, 2, 3, 4]"), ("v", "7"), ("s", "2"), ("m", "0")])
        env[kind].append(result := self.name())
        return f"{result} = stablehlo.constant dense<{value}> : {TYPES[kind]}"

    def loop(self, env: dict[str, list[str]], depth: int) -> str:
        kinds = ["s", *(self.random.choice("vvwms") for _ in range(self.random.randint(3, 7)))]
        start, result, limit, zero = self.name(), self.name(), self.name(), self.name()
        bound = "%n" if self.random.random() < 0.5 else limit
        inits = [zero, *(self.pick(env, kind) for kind in kinds[1:])]
        carries = [self.name() for _ in kinds]
        inner = {kind: list(values) for kind, values in env.items()}
        for kind, carry in zip(kinds, carries):
            inner[kind].append(carry)
        body = self.block(inner, depth + 1)
        following, pred, capped = self.name(), self.name(), self.name()
        yielded = [following, *(self.carried(inner, kind, carries, kinds) for kind in kinds[1:])]
        types = ", ".join(TYPES[kind] for kind in kinds)
        for i, kind in enumerate(kinds):
            env[kind].append(f"{result}#{i}")
        bindings = ", ".join(f"{carry} = {init}" for carry, init in zip(carries, inits))
        return f"""{zero} = stablehlo.constant dense<0> : tensor<i32>
{limit} = stablehlo.constant dense<{self.random.choice([0, 2, 3])}> : tensor<i32>
{start} = stablehlo.constant dense<3> : tensor<i32>
{result}:{len(kinds)} = stablehlo.while({bindings}) : {types}
cond {{
  {pred} = func.call @less({carries[0]}, {bound}) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return {pred} : tensor<i1>
}} do {{
  {body}
  {following} = func.call @inc({carries[0]}) : (tensor<i32>) -> tensor<i32>
  stablehlo.return {", ".join(yielded)} : {types}
}}""".replace(capped, "")

    def carried(self, env: dict[str, list[str]], kind: str, carries: list[str], kinds: list[str]) -> str:
        """The next value of a carry: often another carry, so that moves at the back edge swap and rotate."""
        others = [carry for carry, other in zip(carries, kinds) if other == kind]
        return self.random.choice(others) if self.random.random() < 0.4 else self.pick(env, kind)

    def case(self, env: dict[str, list[str]], depth: int) -> str:
        kinds = [self.random.choice("vvwms") for _ in range(self.random.randint(1, 3))]
        result, types = self.name(), ", ".join(TYPES[kind] for kind in kinds)
        index = self.pick(env, "s")
        branches = []
        for _ in range(self.random.randint(1, 3)):
            inner = {kind: list(values) for kind, values in env.items()}
            body = self.block(inner, depth + 1)
            branches.append(f"{{\n{body}\nstablehlo.return {', '.join(self.pick(inner, kind) for kind in kinds)} : {types}\n}}")
        for i, kind in enumerate(kinds):
            env[kind].append(f"{result}#{i}")
        return f'{result}:{len(kinds)} = "stablehlo.case"({index}) ({", ".join(branches)}) : (tensor<i32>) -> ({types})'


@pytest.mark.parametrize("seed", range(24))
def test_random_program(seed: int) -> None:
    text = Generator(seed).program()
    numbers = np.random.default_rng(seed)
    inputs = [numbers.integers(-9, 9, shape, np.int32) for shape in [(4,), (4,), (2, 2), (3, 4)]] + [np.array(seed % 3 + 1, np.int32)]
    machine = Machine(text)
    assert machine.arena_bytes["main"] <= 1.1 * machine.live_bytes["main"]
    for given, expected in zip(machine.run(inputs), interpret(text, inputs), strict=True):
        np.testing.assert_array_equal(given, expected)

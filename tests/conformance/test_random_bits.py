"""rng_bit_generator, bit for bit: against XLA:CPU, and for states that JAX does not give against the algorithm in Python's integers."""

from __future__ import annotations

import numpy as np
import pytest
from comparison import difference
from programs import Program

import hloom
from hloom.runtime.dtypes import numpy_dtype

STATES = [[1, 2, 3], [2**64 - 1, 2**64 - 2, 2**64 - 1], [0x123456789ABCDEF, 2**32 - 1, 0xFEDCBA98]]
LOW = 2**32 - 1


def philox(state: list[int], count: int) -> tuple[list[int], list[int]]:
    """`count` words of 32 bits and the state afterwards."""
    key, low, high = state[0], state[1], state[2] if len(state) == 3 else state[0]
    start, words = low | high << 64, []
    blocks = -(-count // 4)
    for number in range(blocks):
        counter = (start + number) % 2**128
        c = [counter >> 32 * i & LOW for i in range(4)]
        k = [key & LOW, key >> 32]
        for _ in range(10):
            p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [(q >> 32) ^ c[1] ^ k[0], q & LOW, (p >> 32) ^ c[3] ^ k[1], p & LOW]
            k = [(k[0] + 0x9E3779B9) & LOW, (k[1] + 0xBB67AE85) & LOW]
        words += c
    end = (start + blocks) % 2**128
    return words[:count], [key, end % 2**64, end >> 64][: len(state)]


def attributes(algorithm: str) -> str:
    return f"rng_algorithm = #stablehlo<rng_algorithm {algorithm}>"


def wanted_philox(state: list[int], shape: tuple[int, ...], width: str) -> tuple[np.ndarray, np.ndarray]:
    count, bits = int(np.prod(shape)), int(width[2:])
    words, after = philox(state, count * (2 if bits == 64 else 1))
    if bits == 64:
        words = [a | b << 32 for a, b in zip(words[::2], words[1::2])]
    elements = np.array([w & (1 << bits) - 1 for w in words], np.uint64).astype(f"u{bits // 8}")
    return np.array(after, np.uint64), elements.reshape(shape)


CASES = [
    ((), "ui64"),
    ((1,), "ui8"),
    ((5,), "ui16"),
    ((3, 5), "ui32"),
    ((2, 3), "ui64"),
    ((3, 4, 5), "ui8"),
    ((0,), "ui32"),
    ((7, 7), "ui64"),
]


def test_philox():
    p = Program()
    states = {words: p.input(np.zeros(words, np.uint64)) for words in (2, 3)}
    for number, (shape, width) in enumerate(CASES):
        words = 2 + number % 2
        kinds = [((words,), "ui64"), (shape, width)]
        for value in p.ops("rng_bit_generator", [states[words]], kinds, attributes("PHILOX" if number % 3 else "DEFAULT")):
            p.check(f"{width} of {shape}, {words} words", value)
    exe = hloom.compile(p.text())
    for state in STATES:
        results = exe(*(np.array(state[:words], np.uint64) for words in states))
        wanted = [want for number, case in enumerate(CASES) for want in wanted_philox(state[: 2 + number % 2], *case)]
        for check, got, want in zip(p.checks, results, wanted, strict=True):
            assert not difference(got, want), check.label


def test_elements_of_other_types(interpreter):
    """Signed integers and floats are the same bits."""
    p = Program()
    given = p.input(np.array(STATES[0], np.uint64))
    for name, bits in (("i8", "ui8"), ("f32", "ui32"), ("i64", "ui64")):
        _, value = p.ops("rng_bit_generator", [given], [((3,), "ui64"), ((9,), name)], attributes("PHILOX"))
        p.check(name, value, wanted_philox(STATES[0], (9,), bits)[1].view(numpy_dtype(name)))
    p.verify(interpreter)


@pytest.mark.parametrize("algorithm", ["THREE_FRY", "DEFAULT"])
def test_like_xla(algorithm):
    jax = pytest.importorskip("jax")
    chosen = getattr(jax.lax.RandomAlgorithm, f"RNG_{algorithm}")
    with jax.enable_x64(True):

        def draw(state):
            return [jax.lax.rng_bit_generator(state, shape, f"uint{width[2:]}", algorithm=chosen) for shape, width in CASES]

        states = [np.array(state[:2], np.uint64) for state in STATES]
        exe, reference = hloom.compile(draw, states[0]), jax.jit(draw)
        for state in states:
            for case, got, wanted in zip(CASES, exe(state), reference(state)):
                for g, w in zip(got, wanted):
                    assert not difference(np.asarray(g), np.asarray(w)), case


@pytest.mark.parametrize("implementation", ["rbg", "unsafe_rbg"])
def test_keys_of_jax(implementation):
    jax = pytest.importorskip("jax")

    def draw(data):
        key = jax.random.wrap_key_data(data, impl=implementation)
        first, second = jax.random.split(key)
        folded = jax.random.fold_in(second, 7)
        return jax.random.uniform(first, (31,)), jax.random.randint(folded, (3, 5), 0, 100), jax.random.key_data(folded)

    data = np.asarray(jax.random.key_data(jax.random.key(5, impl=implementation)))
    for got, wanted in zip(hloom.compile(draw, data)(data), jax.jit(draw)(data)):
        np.testing.assert_array_equal(got, wanted)


def test_a_state_of_another_size_is_refused():
    text = """func.func @main(%s: tensor<4xui64>) -> tensor<2xui32> {
      %0:2 = "stablehlo.rng_bit_generator"(%s) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}>
        : (tensor<4xui64>) -> (tensor<4xui64>, tensor<2xui32>)
      return %0#1 : tensor<2xui32> }"""
    with pytest.raises(hloom.UnsupportedOpError, match="rng_bit_generator"):
        hloom.compile(text)

"""How far f32 results may be from what was meant, where a program magnifies its roundings: no fixed tolerance holds there.

Of an encoder whose weights are normal numbers, two scores of a row that nearly tie may be told apart by their last bits; XLA's f32 is then
as far from XLA's f64 as hloom's. So XLA tells what roundings do, by its f32 results of the inputs and of some that are a rounding apart.
Each of hloom's results may be twice as far from f64 as the farthest of these, in its worst element and in the mean square.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence

import numpy as np
from fuzz.children import Child, xla_child

TIMES, TRIES = 2.0, 3
_ENDS = np.array([-np.inf, np.inf], np.float32)
_HEX = re.compile(r"dense<0x([0-9A-Fa-f]{8})>")
_F32 = re.compile(r"(?:(?<=x)|\b)f32\b")
_OTHER = re.compile(r'bitcast_convert|dense<"|custom_call|xf16|bf16|f8E')
"""Where f64 in f32's place would be another program, or constants would have to be read."""


def within_roundings(text: str, inputs: Sequence[np.ndarray], found: Sequence[np.ndarray]) -> str:
    """What is wrong with f32 results; empty where nothing is."""
    if _OTHER.search(text):
        return "the program is not one of f32 alone"
    xla = Child(xla_child)
    try:
        exact = _answer(xla, _in_f64(text), [_wide(x) for x in inputs])
        tries = [_answer(xla, text, _apart(inputs, number)) for number in range(TRIES)]
    finally:
        xla.stop()
    wrong = []
    for at, meant in enumerate(exact):
        ours, theirs = _errors(found[at], meant), np.max([_errors(one[at], meant) for one in tries], axis=0)
        if not (ours <= TIMES * theirs).all():
            wrong.append(f"result {at} is {ours} from f64, XLA's f32 {theirs}")
    return "; ".join(wrong)


def _in_f64(text: str) -> str:
    def wide(match: re.Match[str]) -> str:
        return f"dense<0x{struct.pack('>d', *struct.unpack('>f', bytes.fromhex(match[1]))).hex().upper()}>"

    return _F32.sub("f64", _HEX.sub(wide, text))


def _wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64) if array.dtype == np.float32 else array


def _apart(inputs: Sequence[np.ndarray], number: int) -> list[np.ndarray]:
    """The inputs, then such whose floats are the next ones, either way."""
    if not number:
        return list(inputs)
    rng = np.random.default_rng(number)
    return [np.nextafter(x, rng.choice(_ENDS, x.shape)) if x.dtype == np.float32 else x for x in inputs]


def _answer(xla: Child, text: str, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    answer = xla.ask(text, inputs)
    assert not isinstance(answer, str), answer
    return answer


def _errors(found: np.ndarray, meant: np.ndarray) -> np.ndarray:
    """The largest, and the root of the mean square."""
    apart = np.abs(np.asarray(found, np.float64) - meant)
    return np.array([apart.max(initial=0), np.sqrt(np.square(apart).mean())])

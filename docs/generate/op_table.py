"""The table of docs/ops.md of ops × element types × targets, from what `python -m tests.op_table` found (op_table.json)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import fill

FILE = Path(__file__).parent / "op_table.json"
GROUPS = {
    "i1": ["i1"],
    "i2, i4": ["i2", "i4"],
    "i8–i64": ["i8", "i16", "i32", "i64"],
    "ui2, ui4": ["ui2", "ui4"],
    "ui8–ui64": ["ui8", "ui16", "ui32", "ui64"],
    "f64, f32": ["f64", "f32"],
    "f16, bf16": ["f16", "bf16"],
    "f8": ["f8E3M4", "f8E4M3", "f8E4M3FN", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E5M2", "f8E5M2FNUZ"],
    "f8E8M0FNU, f6, f4": ["f8E8M0FNU", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN"],
    "c64, c128": ["complex<f32>", "complex<f64>"],
    "quantized": ["!quant.uniform<i8:f32, 5.000000e-01:3>"],
}
_SHORT = {"complex<f32>": "c64", "complex<f64>": "c128", "!quant.uniform<i8:f32, 5.000000e-01:3>": "i8 by 0.5 of f32"}
_HEAD = """## Every op and element type

What a small program of each op and type gives, compiled for the CPU and for sm_90a, run (sm_90a on the simulator) and compared with the
reference interpreter, or with XLA where that lacks the op: *yes* where both are right, *CPU* where the CPU alone is; a number is the
error below, the CPU's before that of sm_90a where they differ. *yes\\** compiles, and no oracle computes it, or none well enough to
compare. What StableHLO does not allow is empty. Found by `python -m tests.op_table`; a test compares a sample. Where no oracle
computes an op it is asked what the op means: on quantized types dequantize, op, quantize; on narrow floats the op in f32 (of f8E8M0FNU
and of f6 and f4 with ml_dtypes' conversions); chlo.next_after of narrow floats the least of the numbers above. It tries tame
values and edge values (zeros of both signs, subnormals, infinities, NaN, ends of integers, division by zero, wide shifts, indices out of
bounds, rank 0, no elements); with the latter all types were
tried on the CPU, f32 on sm_90a, too.

Where the specification leaves it open, or an oracle differs:

| of | hloom | otherwise |
|---|---|---|
| integers divided by 0, the least by -1 | all ones and the remainder the dividend; the least and 0 (as XLA) | the interpreter stops |
| integers to powers from 64 on | wrap | XLA counts six bits of the exponent |
| subnormals in sums of collectives, in EQ of complex numbers | count | XLA flushes them |
| sign and abs of tiny complex numbers | of the numbers | the interpreter and XLA square them |
| functions of narrow floats, dots of f8 | in f32, rounded once | the interpreter rounds each step: logistic of f8 has NaN |
| cholesky, triangular_solve, batch_norm of f8 | in f32, rounded once | XLA rounds each step |
| order of complex numbers | by parts, as specified | the interpreter and XLA stop |
| TOTALORDER | IEEE's, the NaN of FNUZ types first (as XLA) | the interpreter has none |
| rng of narrow types and i1 | below the end, also where rounding makes it the end | XLA on CPUs stops |
| f8E8M0FNU: 0, what is negative or NaN | NaN (as ml_dtypes), iota's 0 too | the interpreter has 2^-127, and infinity for NaN |
| f8E8M0FNU: what f32 has as subnormals | the nearest power from 2^-127 on; 0 from underflow is NaN | XLA flushes them, to NaN |
| f8E8M0FNU: zeros that a collective_permute fills in | 2^-127, which `dense<0.0>` parses as | XLA has NaN |
| next_after of FNUZ types up to 0, of f8E8M0FNU | 0, the next power | the interpreter and XLA have NaN, a power beyond |
| f6, f4: NaN, infinity | -0, the largest (as ml_dtypes) | the interpreter has some other number; XLA has no f6 |
| floor, round_nearest_* of f6 | in f32, rounded once | the interpreter has 0 for 2 |
| top_k of 0 and -0 | 0 comes first (as XLA) | the interpreter takes them for equal |
| dots and convolutions of narrow floats | in f32, rounded once | the interpreter rounds each term |
| unary_einsum, collective_broadcast | a sum, the operand | neither has them |
"""

Found = dict[str, dict[str, list[str]]]


def text() -> str:
    """The section."""
    found: Found = json.loads(FILE.read_text(encoding="utf-8"))
    notes: dict[str, int] = {}
    elements = {element for by_type in found.values() for element in by_type}
    groups = {label: group for label, group in GROUPS.items() if elements & set(group)}
    rows = "".join(f"| {name} | {' | '.join(_cell(name, found[name], group, notes) for group in groups.values())} |\n" for name in found)
    head = f"| op | {' | '.join(groups)} |\n|{'---|' * (len(groups) + 1)}\n"
    listed = "".join(f"{number}. {note}\n" for note, number in notes.items())
    short = sorted(_SHORT.get(element, element) for element in elements)
    tried = fill(f"Tried so far: {', '.join(short)}.", 140, break_on_hyphens=False)
    return f"{_HEAD}{tried}\n\n{head}{rows}\n{listed}"


def _cell(name: str, by_type: dict[str, list[str]], group: list[str], notes: dict[str, int]) -> str:
    """One word for the group, or each outcome with its types."""
    outcomes: dict[str, list[str]] = {}
    for element in group:
        if element in by_type:
            outcomes.setdefault(_outcome(name, element, by_type[element], notes), []).append(_SHORT.get(element, element))
    if len(outcomes) == 1:
        return next(iter(outcomes))
    most = max(outcomes, key=lambda outcome: len(outcomes[outcome]), default="")
    rest = [f"{', '.join(types)}: {outcome}" for outcome, types in outcomes.items() if outcome != most]
    return "; ".join([most, *rest]) if most else "; ".join(rest)


def _outcome(name: str, element: str, found: list[str], notes: dict[str, int]) -> str:
    cpu, cuda = (_word(name, element, what, notes) for what in found)
    if cpu == cuda:
        return cpu
    return f"CPU, {cuda}" if cpu == "yes" else f"{cpu}, {cuda}"


def _word(name: str, element: str, what: str, notes: dict[str, int]) -> str:
    if what in ("right", "unchecked"):
        return "yes" if what == "right" else "yes\\*"
    note = re.sub(rf"(stablehlo\.)?\b{re.escape(name.removeprefix('chlo.'))}\b", "OP", what.replace(element, "T"))
    return f"{notes.setdefault(note, len(notes) + 1)}"

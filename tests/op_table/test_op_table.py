"""The table of docs/ops.md is true: a sample of its entries, found again."""

from __future__ import annotations

import random

import numpy as np
import pytest
from fuzz.children import Child, interpreter_child
from fuzz.judge import close
from fuzz.known import admitted
from fuzz.meaning import meaning
from fuzz.recipes import load

from hloom.dialects.context import make_context
from hloom.passes.common.ops import OPS
from op_table.__main__ import stored
from op_table.cases import edge_program
from op_table.finding import TARGETS, find

SAMPLE = 10


def test_a_sample_is_found_again():
    table = stored()
    entries = [(name, element) for name in table for element in table[name] if table[name][element] == ["right", "right"]]
    sample = random.Random(2026).sample(entries, SAMPLE)
    found: dict[tuple[str, str], dict[str, str]] = {entry: {} for entry in sample}
    find(sample, lambda entry, target, what, disputed: found[entry].update({target: what}))
    old = [(entry, found[entry]) for entry in sample if [found[entry][target] for target in TARGETS] != table[entry[0]][entry[1]]]
    assert not old, "python -m tests.op_table --ops … writes them anew"


def test_every_op_and_type_of_the_table_of_ops_is_in_it():
    table = stored()
    names = {name.removeprefix("stablehlo."): info for name, info in OPS.items() if name.startswith("stablehlo.")}
    missing = [
        (n, e) for n, info in names.items() for e in sorted(info.elements) if n in load() and admitted(n, e) and e not in table.get(n, {})
    ]
    assert not missing


@pytest.mark.parametrize("dialect", ["stablehlo", "chlo"])
def test_every_op_of_the_dialect_has_an_entry(dialect):
    """As jaxlib's bindings list them and hloom's context has them; `return` ends the regions of others."""
    bindings = pytest.importorskip(f"jaxlib.mlir.dialects._{dialect}_ops_gen")
    names = {found.OPERATION_NAME for found in vars(bindings).values() if hasattr(found, "OPERATION_NAME")}
    context, table = make_context(), stored()
    registered = {name for name in names if context.is_registered_operation(name)}
    assert len(registered) > 50
    missing = {name for name in registered if not table.get(name.removeprefix("stablehlo."))}
    assert missing - {"stablehlo.return"} == set()


def test_nothing_is_wrong():
    kinds = {what.split(":")[0] for by_type in stored().values() for both in by_type.values() for what in both}
    assert not kinds & {"wrong", "failed", "crashed", "slow", ""}


def test_entries_that_were_wrong():
    entries = [("clamp", "complex<f32>"), ("bitcast_convert", "complex<f64>"), ("cholesky", "complex<f32>"), ("dynamic_conv", "i4")]
    found: dict[tuple[str, str], str] = {}
    find(entries, lambda entry, target, what, disputed: found.update({entry: what}), ["cpu"])
    assert found == dict.fromkeys(entries, "right")


@pytest.mark.parametrize("element", ["f8E8M0FNU", "f8E4M3FNUZ", "f6E3M2FN"])
def test_the_neighbours_of_narrow_floats(element):
    """What is meant, asked of the interpreter, is what NumPy says of ml_dtypes' numbers."""
    program = edge_program("chlo.next_after", element)
    meant = meaning(program)
    child = Child(interpreter_child)
    try:
        (got,) = child.ask(meant.text(), meant.inputs)
    finally:
        child.stop()
    x, y = program.inputs
    assert close(got, np.nextafter(x, y), 0, 0).all()

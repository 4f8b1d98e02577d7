"""Every row of the tables is a module that torch runs on its inputs, and its cost is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.layers.table import Input, read
from benchmarks.settings import ROOT

TABLES = ROOT / "benchmarks" / "layers"


def write(folder: Path, text: str) -> Path:
    path = folder / "rows.txt"
    path.write_text(text)
    return path


def test_a_row_of_batch_n_is_two(tmp_path: Path):
    rows = read(write(tmp_path, "conv | a | Conv2d(3, 8, 3) | N,3,9,9 N,4:i64<7\n"), 16)
    assert list(rows) == ["a", "a_b16"]
    assert rows["a_b16"].inputs == (Input((16, 3, 9, 9), "f32"), Input((16, 4), "i64", 7))
    assert rows["a"].inputs[1].array(0).max() < 7


def test_a_row_in_another_type_is_of_the_same_numbers(tmp_path: Path):
    row = read(write(tmp_path, "conv | a | Conv2d(3, 8, 3) | 1,3,9,9 4:i64<7\n"), 16)["a"]
    half = row.of_type("bf16")
    assert (half.name, half.dtype, half.inputs) == ("a_bf16", "bf16", (Input((1, 3, 9, 9), "bf16"), Input((4,), "i64", 7)))
    assert half.of_type("f32") == row
    assert half.tolerance > row.tolerance


@pytest.mark.parametrize("text", ["conv | a | Conv2d(3, 8, 3)", "a | b | c | 1x2", "a | b | c | 1\na | b | c | 1"])
def test_what_is_no_row_is_refused_with_its_line(tmp_path: Path, text: str):
    with pytest.raises(ValueError, match="cells|no shape|a second b"):
        read(write(tmp_path, text), 16)


def test_the_cost_of_a_convolution(tmp_path: Path):
    pytest.importorskip("torch")
    from benchmarks.layers.modules import cost

    row = read(write(tmp_path, "conv | a | Conv2d(3, 8, 3, bias=False) | 2,3,10,12"), 16)["a"]
    flops, read_bytes, written = cost(row)
    assert flops == 2 * 2 * 8 * 8 * 10 * 27
    assert read_bytes == 4 * (2 * 3 * 10 * 12 + 8 * 27)
    assert written == 4 * 2 * 8 * 8 * 10


def test_every_layer_can_be_made():
    pytest.importorskip("torch")
    from benchmarks.layers.modules import cost

    for row in read(TABLES / "layers.txt", 16).values():
        assert all(cost(row)[1:]), row.name


def test_every_function_can_be_made():
    pytest.importorskip("jax")
    from benchmarks.functions.functions import cost

    costs = {row.name: cost(row) for row in read(ROOT / "benchmarks" / "functions" / "functions.txt", 16).values()}
    assert all(all(each[1:]) for each in costs.values())
    assert costs["nhwc_3x3_64_56"][0] == 2 * 56 * 56 * 64 * 64 * 9
    assert costs["elman_256_64"][0] == 64 * 2 * 32 * 256 * 256

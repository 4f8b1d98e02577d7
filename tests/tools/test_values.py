"""Values as they are written on a command line, and how arrays are compared."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from hloom.runtime.comparison import difference
from hloom.runtime.errors import ArityError, DtypeError, ExecutionError, InputError, MissingFileError, ShapeError
from hloom.runtime.signature import TensorSpec
from hloom.tools._values import indices, read_values, write_value


def spec(text: str, name: str = "x") -> TensorSpec:
    *shape, dtype = text.split("x")
    return TensorSpec(name, dtype, tuple(map(int, shape)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2x2xf32=1.5", np.full((2, 2), 1.5, np.float32)),
        ("2x2xf32", np.zeros((2, 2), np.float32)),
        ("2x2xi32=1,2,3,-4", np.array([[1, 2], [3, -4]], np.int32)),
        ("2x2xi32=[[1, 2], [3, 0x10]]", np.array([[1, 2], [3, 16]], np.int32)),
        ("f64=nan", np.array(np.nan)),
        ("2xi1=true,0", np.array([True, False])),
        ("2xbf16=1,inf", np.array([1, np.inf], ml_dtypes.bfloat16)),
        ("ui64=18446744073709551615", np.array(2**64 - 1, np.uint64)),
        ("0x3xf32", np.zeros((0, 3), np.float32)),
    ],
)
def test_written_values(text, expected):
    (found,) = read_values([text], [spec(text.partition("=")[0])])
    assert found.dtype == expected.dtype and found.shape == expected.shape and found.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("2xf32", ShapeError),
        ("4xf64", DtypeError),
        ("4xf32=1,2", ShapeError),
        ("4xf32=one", DtypeError),
        ("4xq7", InputError),
        ("junk!", InputError),
        ("@none.npy", MissingFileError),
        ("@/", MissingFileError),
    ],
)
def test_values_that_do_not_fit(text, error):
    with pytest.raises(error):
        read_values([text], [spec("4xf32")])


@pytest.mark.parametrize("type_name", ["bf16", "f32", "i1", "ui8", "i64"])
def test_bytes_of_elements(tmp_path, type_name):
    (array,) = read_values([f"2x3x{type_name}=1,0,1,1,0,1"], [spec(f"2x3x{type_name}")])
    path = str(tmp_path / "x.bin")
    write_value(path, array)
    (found,) = read_values([f"2x3x{type_name}=@{path}"], [spec(f"2x3x{type_name}")])
    assert found.dtype == array.dtype and found.tobytes() == array.tobytes() and found.shape == array.shape
    with pytest.raises(ShapeError, match=f"should have {2 * array.nbytes} bytes, the file has {array.nbytes}"):
        read_values([f"4x3x{type_name}=@{path}"], [spec(f"4x3x{type_name}")])
    with pytest.raises(MissingFileError):
        read_values([f"2x3x{type_name}=@{path}.none"], [spec(f"2x3x{type_name}")])


def test_integers_that_do_not_fit():
    for text in ("i8=300", "ui8=-1", "i32=1.5"):
        with pytest.raises(DtypeError):
            read_values([text], [spec(text.partition("=")[0])])


def test_random_fills_all_and_is_the_same_each_time():
    specs = [spec("3x4xf32"), spec("5xi32"), spec("6xi1"), spec("4xbf16")]
    first, second, other = (read_values([text], specs) for text in ("random", "random:0", "random:1"))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first, second))
    assert first[0].tobytes() != other[0].tobytes()
    assert [a.dtype for a in first] == [s.numpy_dtype for s in specs] and (first[1] >= 0).all() and (first[1] < 8).all()


def test_too_few_and_too_many():
    specs = [spec("2xf32", "a"), spec("2xf32", "b")]
    with pytest.raises(ArityError, match="expected 2 values, got 1"):
        read_values(["2xf32=1"], specs)
    with pytest.raises(ArityError, match="too many"):
        read_values(["2xf32"] * 3, specs)
    with pytest.raises(ArityError, match="expected 2 values, got 0"):
        read_values([], specs)


def test_files(tmp_path):
    x, y = np.arange(4, dtype=np.float32), np.arange(3, dtype=ml_dtypes.bfloat16)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)  # NumPy's file format knows no bf16
    found = read_values([f"@{tmp_path}/x.npy", f"@{tmp_path}/y.npy"], [spec("4xf32"), spec("3xbf16")])
    assert found[0].tobytes() == x.tobytes() and found[1].dtype == y.dtype and found[1].tobytes() == y.tobytes()
    np.savez(tmp_path / "both.npz", in0=x.view(np.uint8), in1=y.view(np.uint8), out0=x.view(np.uint8))
    found = read_values([f"@{tmp_path}/both.npz"], [spec("2x2xf32"), spec("3xbf16")])
    assert found[0].shape == (2, 2) and found[1].tobytes() == y.tobytes()
    (out,) = read_values([f"@{tmp_path}/both.npz"], [spec("4xf32")], "out")
    assert out.tobytes() == x.tobytes()
    with pytest.raises(ShapeError, match="should have 20 bytes, the file has 16"):
        read_values([f"@{tmp_path}/both.npz"], [spec("5xf32")], "out")


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04broken", b"\x93NUMPY\x01\x00v\x00{'descr': 'O'}"])
def test_broken_files(tmp_path, content):
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(ExecutionError):
        read_values([f"@{tmp_path}/x.npy"], [spec("4xf32")])


def test_difference_of_floats():
    one = np.ones(3, np.float32)
    near = np.nextafter(one, np.float32(2))
    found = difference(near, one)
    assert found.ok and found.max_ulp == 1
    far = np.array([1, 2, 1], np.float32)
    assert not difference(far, one).ok and difference(far, one).first_wrong == (1,)
    assert difference(far, one, rtol=2.0).ok
    zeros = np.array([0.0, -0.0], np.float32)
    assert difference(zeros, -zeros).max_ulp == 0


def test_difference_of_specials():
    special = np.array([np.nan, np.inf, -np.inf, 0], np.float16)
    assert difference(special, special.copy()).ok
    for index, value in ((0, 0), (1, -np.inf), (2, 5), (3, np.nan)):
        changed = special.copy()
        changed[index] = value
        found = difference(changed, special)
        assert not found.ok and found.wrong == 1 and found.first_wrong == (index,)


def test_difference_of_integers():
    a, b = np.array([1, 2**63], np.uint64), np.array([1, 0], np.uint64)
    assert difference(a, a.copy()).ok and difference(a, b).max_ulp == 2**63
    assert not difference(np.array([True]), np.array([False])).ok
    assert difference(np.zeros((0, 2)), np.zeros((0, 2))).ok


def test_indices():
    assert indices("", 3) == [] and indices("0,2-3", 4) == [0, 2, 3]
    for wrong in ("4", "a", "1-", "1-9", "-1"):
        with pytest.raises(InputError):
            indices(wrong, 4)

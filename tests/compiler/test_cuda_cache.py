"""The cache of cubins and of libdevice's functions: hits, keys, damage, places that cannot be written."""

import os

import pytest
from cuda_kernels import elementwise, math_function, module_of

from hloom.compiler.cache import cache_directory, evict, key_of, read_entry, write_entry
from hloom.compiler.cuda import libdevice
from hloom.compiler.cuda.compile_kernels import compile_kernels
from hloom.compiler.cuda.errors import ToolchainError
from hloom.compiler.target import resolve

pytest.importorskip("cuda.core")
TARGET = resolve("sm_90a")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HLOOM_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def entries(folder, kind):
    return sorted((folder / kind).iterdir())


def test_the_second_compile_reads_what_the_first_wrote(folder):
    kernels = module_of(elementwise("f32")).operation
    made = compile_kernels(kernels, TARGET)
    found = compile_kernels(kernels, TARGET)
    assert (made.cached, found.cached) == (False, True)
    assert (found.ptx, found.cubin) == (made.ptx, made.cubin)
    assert len(entries(folder, "cubin")) == 1 and len(entries(folder, "libdevice")) == 1


def test_another_target_or_kernel_is_another_entry():
    kernels = module_of(elementwise("f32")).operation
    compile_kernels(kernels, TARGET)
    assert not compile_kernels(kernels, resolve("sm_80")).cached
    assert not compile_kernels(module_of(elementwise("f32", name="other")).operation, TARGET).cached
    assert compile_kernels(module_of(elementwise("f32")).operation, TARGET).cached


def test_locations_are_no_part_of_the_key():
    kernels = module_of(elementwise("f32")).operation
    compile_kernels(kernels, TARGET)
    assert compile_kernels(module_of("\n\n", elementwise("f32")).operation, TARGET).cached


@pytest.mark.parametrize("damage", [b"", b"short", None])
def test_damaged_entries_are_made_again(folder, damage):
    kernels = module_of(elementwise("f32")).operation
    made = compile_kernels(kernels, TARGET)
    for path in (*entries(folder, "cubin"), *entries(folder, "libdevice")):
        data = path.read_bytes()
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]) if damage is None else damage)
    again = compile_kernels(kernels, TARGET)
    assert not again.cached and again.cubin.statistics == made.cubin.statistics
    assert compile_kernels(kernels, TARGET).cached


def test_nothing_is_kept_unless_wanted(folder):
    kernels = module_of(elementwise("f32", op="%r = arith.addf %x, %x : vector<4xf32>")).operation
    assert not compile_kernels(kernels, TARGET, cache=False).cached
    assert not folder.exists()


def test_a_place_that_cannot_be_written_is_no_error(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HLOOM_CACHE_DIR", str(tmp_path / "file"))
    assert compile_kernels(module_of(elementwise("f32")).operation, TARGET).cubin.bytes
    assert read_entry("cubin", "0") is None


def test_writers_leave_no_other_files(folder):
    write_entry("kind", "key", b"first")
    write_entry("kind", "key", b"second")
    assert read_entry("kind", "key") == b"second"
    assert [path.name for path in entries(folder, "kind")] == ["key"]


def test_keys_tell_parts_apart():
    assert len({key_of(parts) for parts in (("ab", "c"), ("a", "bc"), ("abc",), ("a", "b", "c"))}) == 4
    assert key_of(("a",)) == key_of((b"a",))


def test_where_the_cache_lies(monkeypatch, tmp_path):
    monkeypatch.delenv("HLOOM_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "hloom"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert os.fspath(cache_directory()) == str(tmp_path / ".cache" / "hloom")


def test_without_libdevice_the_error_says_what_to_install(monkeypatch, tmp_path):
    from cuda import pathfinder

    def find(name):
        raise pathfinder.BitcodeLibNotFoundError(name)

    libdevice._library.cache_clear()
    monkeypatch.setattr(pathfinder, "find_bitcode_lib", find)
    with pytest.raises(ToolchainError, match="nvidia-nvvm"):
        compile_kernels(module_of(math_function("exp", "f32")).operation, TARGET)
    without = "%r = arith.addf %x, %x : vector<4xf32>"
    assert compile_kernels(module_of(elementwise("f32", op=without)).operation, TARGET).cubin.bytes


def test_entries_that_were_not_read_for_longest_give_way(folder):
    for number, name in enumerate("abcd"):
        write_entry("kind", name, bytes(100))
        os.utime(folder / "kind" / name, (number, number))
    read_entry("kind", "a")
    evict(folder / "kind", most_bytes=300)
    assert [path.name for path in entries(folder, "kind")] == ["a", "d"]

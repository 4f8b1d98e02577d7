"""Caches that others own or can write are not used: what lies there would be run."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from hloom.compiler import cache_folder
from hloom.compiler.cache import read_entry, write_entry
from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.passes.errors import CompileError

PROGRAM = "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> { return %x : tensor<8xf32> }"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """The cache in a home of its own, not named by the user."""
    monkeypatch.delenv("HLOOM_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    cache_folder._warn.cache_clear()
    return tmp_path / "home"


@pytest.fixture
def kept(home) -> Path:
    write_entry("kind", "key", b"first")
    return home / "hloom" / "kind" / "key"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_folders_and_entries_are_their_owners_alone(kept):
    assert read_entry("kind", "key") == b"first"
    assert [mode(path) for path in (kept.parent.parent, kept.parent, kept)] == [0o700, 0o700, 0o600]
    Compilation(load_program(PROGRAM), target="sm_90a", simulated="gpu").artifact()
    (program,) = (kept.parent.parent / "programs").iterdir()
    assert mode(program) == 0o600


@pytest.mark.parametrize("which", ["hloom", "hloom/kind"])
@pytest.mark.parametrize("bits", [0o770, 0o702, 0o1777], ids=oct)
def test_a_folder_that_others_may_write_is_not_used(kept, home, which, bits):
    (home / which).chmod(bits)
    with pytest.warns(RuntimeWarning, match="works without the cache .* others may write to it"):
        assert read_entry("kind", "key") is None
    write_entry("kind", "key", b"second")  # says nothing more
    (home / which).chmod(0o700)
    assert read_entry("kind", "key") == b"first"


def test_one_that_the_user_named_is_an_error(kept, home, monkeypatch):
    monkeypatch.setenv("HLOOM_CACHE_DIR", str(home / "hloom"))
    assert read_entry("kind", "key") == b"first"
    (home / "hloom").chmod(0o777)
    for use in (lambda: read_entry("kind", "key"), lambda: write_entry("kind", "key", b"")):
        with pytest.raises(CompileError, match="that HLOOM_CACHE_DIR names cannot be trusted: others may write.*\\n.*chmod 700"):
            use()


def test_a_folder_of_another_user_is_not_used(kept, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.warns(RuntimeWarning, match=f"it belongs to user {kept.stat().st_uid}"):
        assert read_entry("kind", "key") is None


def test_a_folder_below_one_that_anybody_may_write(kept, home):
    home.chmod(0o777)
    with pytest.warns(RuntimeWarning, match=f"anybody may write to {home}"):
        assert read_entry("kind", "key") is None
    home.chmod(0o1777)
    assert read_entry("kind", "key") == b"first"


def test_links_are_followed_before(kept, home, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    (home / "hloom").rename(elsewhere)
    (home / "hloom").symlink_to(elsewhere)
    assert read_entry("kind", "key") == b"first"
    elsewhere.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="others may write"):
        assert read_entry("kind", "key") is None


def test_entries_that_others_may_write_or_that_are_links_count_as_absent(kept, tmp_path):
    kept.chmod(0o620)
    assert read_entry("kind", "key") is None
    kept.rename(tmp_path / "entry")
    (tmp_path / "entry").chmod(0o600)
    kept.symlink_to(tmp_path / "entry")
    assert read_entry("kind", "key") is None
    write_entry("kind", "key", b"second")
    assert read_entry("kind", "key") == b"second" and not kept.is_symlink()


def test_programs_too(home):
    Compilation(load_program(PROGRAM), target="sm_90a", simulated="gpu").artifact()
    (entry,) = (home / "hloom" / "programs").iterdir()
    before = entry.stat().st_ino
    Compilation(load_program(PROGRAM), target="sm_90a", simulated="gpu").artifact()
    assert entry.stat().st_ino == before
    entry.chmod(0o666)
    Compilation(load_program(PROGRAM), target="sm_90a", simulated="gpu").artifact()
    assert entry.stat().st_ino != before and mode(entry) == 0o600

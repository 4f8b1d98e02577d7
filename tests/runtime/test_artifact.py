"""The .hloom file: what is written comes back, and whatever else is in a file is a clear error."""

from __future__ import annotations

import concurrent.futures
import json
import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from runtime_programs import add_artifact, bound_artifact

import hloom
from hloom.runtime.artifact import Artifact
from hloom.runtime.errors import DamagedFileError, ExecutionError, MissingFileError, VersionError
from hloom.runtime.executable import Executable, load
from hloom.runtime.manifest import made_for


def test_manifest_and_blobs_come_back(tmp_path):
    path = tmp_path / "a.hloom"
    blobs = {"code": b"x" * 100, "constant.0": b"", "constant.1": bytes(range(64))}
    Artifact({"name": "ü"}, blobs).save(path)
    found = Artifact.load(path)
    assert found.manifest == {"name": "ü"}
    assert {name: bytes(blob) for name, blob in found.blobs.items()} == blobs
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.hloom"]


def test_blobs_are_aligned(tmp_path):
    path = tmp_path / "a.hloom"
    Artifact({}, {"code": b"x" * 100, "constant.0": b"y"}).save(path)
    for blob in Artifact.load(path).blobs.values():
        assert np.frombuffer(blob, np.uint8).ctypes.data % 64 == 0


def test_every_flipped_byte_is_found(tmp_path):
    path = tmp_path / "a.hloom"
    Artifact({"name": "n"}, {"code": b"c" * 70, "argument.0": b"w" * 65}).save(path)
    raw = path.read_bytes()
    messages = set()
    for position in range(len(raw)):
        path.write_bytes(raw[:position] + bytes([raw[position] ^ 0x10]) + raw[position + 1 :])
        with pytest.raises(DamagedFileError) as caught:
            Artifact.load(path)
        messages.add(caught.value.message.removeprefix(str(path)))
    assert len(raw) % 64 == 0
    parts = ["blob 'code'", "blob 'argument.0'", "the manifest", "the header"]
    assert {f": {part} is damaged" for part in parts} <= messages


@pytest.mark.parametrize("keep", [0, 1, 8, 35, 36, 63, 64, 200, -1])
def test_truncated_files_are_refused(tmp_path, keep):
    path = tmp_path / "a.hloom"
    add_artifact().save(path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(DamagedFileError):
        load(path)


def test_a_longer_file_is_refused(tmp_path):
    path = tmp_path / "a.hloom"
    add_artifact().save(path)
    path.write_bytes(path.read_bytes() + bytes(64))
    with pytest.raises(DamagedFileError, match="were written"):
        load(path)


def test_another_version_is_named(tmp_path):
    path = tmp_path / "a.hloom"
    Artifact({}, {}).save(path)
    raw = bytearray(path.read_bytes())
    struct.pack_into("<I", raw, 8, 99)
    struct.pack_into("<I", raw, 32, zlib.crc32(raw[:32]))
    path.write_bytes(raw)
    with pytest.raises(VersionError, match="version 99"):
        Artifact.load(path)


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(MissingFileError, match="No such file"):
        load(tmp_path / "none.hloom")
    with pytest.raises(MissingFileError):
        load(tmp_path)
    with pytest.raises(MissingFileError, match="not a file"):
        load("/dev/null")
    with pytest.raises(ExecutionError, match="cannot be written"):
        add_artifact().save(tmp_path / "no" / "folder.hloom")


def test_what_is_no_file_is_written_to_and_stays(tmp_path):
    fifo, link, path = tmp_path / "fifo", tmp_path / "link.hloom", tmp_path / "a.hloom"
    os.mkfifo(fifo)
    link.symlink_to(path)
    add_artifact().save(link)
    assert link.is_symlink() and path.is_file()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        read = pool.submit(fifo.read_bytes)
        add_artifact().save(fifo)
        assert read.result() == path.read_bytes() and fifo.is_fifo()
    add_artifact().save(os.devnull)
    assert Path(os.devnull).is_char_device()


def test_a_manifest_of_something_else_is_refused(tmp_path):
    path = tmp_path / "a.hloom"
    for manifest in ({}, {"arguments": 3}, json.loads('{"arguments": [], "results": [{"name": "r", "dtype": "f7", "shape": []}]}')):
        Artifact(manifest, {}).save(path)
        with pytest.raises(DamagedFileError, match="does not describe a program"):
            load(path)


def test_code_that_is_no_object_file(tmp_path):
    broken = add_artifact()
    broken.blobs = {"code": b"\x7fELF" + bytes(200)}
    broken.manifest["made_for"] = made_for(broken.manifest, broken.blobs)
    with pytest.raises(ExecutionError, match="HL210"):
        Executable(broken)


def test_a_loaded_file_may_be_written_over(tmp_path):
    path = tmp_path / "a.hloom"
    first = Executable(bound_artifact())
    first.bind({"w": np.ones(4, np.float32)})
    first.save(path)
    loaded = load(path)
    loaded.save(path)
    x = np.zeros(4, np.float32)
    assert np.array_equal(loaded(x), first(x))
    assert np.array_equal(load(path)(x), first(x))


@pytest.mark.parametrize("without", ["argument", "result", "arena"])
def test_buffers_that_the_code_was_not_made_for_are_refused(without, tmp_path):
    hloom.compile("func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> { return %x : tensor<8xf32> }").save(tmp_path / "a.hloom")
    artifact = Artifact.load(tmp_path / "a.hloom")
    entry = artifact.manifest["entries"]["main"]
    entry["buffers"] = [buffer for buffer in entry["buffers"] if buffer[0] != without]
    artifact.save(tmp_path / "b.hloom")
    with pytest.raises(DamagedFileError, match="buffers"):
        hloom.load(tmp_path / "b.hloom")

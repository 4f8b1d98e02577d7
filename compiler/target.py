"""Targets: TOML files that describe a machine, and what can be found out about this one.

A file's entries are those of `hloom.dialects.target.TargetView`; `inherits = "cpu-avx512"` starts from another file.
"""

from __future__ import annotations

import ctypes
import os
import re
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from hloom.dialects.target import TargetView, attach_target
from hloom.passes.errors import CompileError
from hloom.runtime.cuda.requirements import runs_on
from hloom.runtime.errors import ExecutionError
from hloom.runtime.processor import host_features, runs_code_of

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib  # type: ignore[no-redef]

Target: TypeAlias = TargetView
__all__ = ["Target", "TargetError", "attach_target", "host", "known_targets", "load_target", "resolve"]

_FOLDER = Path(__file__).parent / "targets"
_DRIVER = "libcuda.so.1"
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_LLC_A_CORE = 16 << 20
"""Of the last cache, of two cores' at the least: a guest is told of all of it, and not of the cores of others that share it."""


class TargetError(CompileError):
    """A target that is not known, cannot be read, or is not supported."""

    code = "HL106"


def known_targets() -> list[str]:
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def resolve(name: str | Target) -> Target:
    """The target that `--target=` means, or the one that is given. Raises TargetError.

    "cpu" is this machine's processor; "auto" what HLOOM_TARGET names, else this machine's GPU, else its processor; anything else is a known
    name or the path of a TOML file.
    """
    if isinstance(name, Target):
        return name
    if name == "auto":
        name = os.environ.get("HLOOM_TARGET") or "auto"
    if name == "auto":
        return present_gpu() or host()
    return host() if name == "cpu" else load_target(name)


def present_gpu() -> Target | None:
    """The known target that fits this machine's GPU best. None where there is no driver, no GPU, no cuda-python, or no such target."""
    try:
        ctypes.CDLL(_DRIVER)  # cuda-python takes long to import, to find out as much
        from hloom.runtime.cuda.driver import default_driver

        gpu = default_driver()
    except (OSError, ExecutionError):
        return None
    known = [target for target in map(load_target, known_targets()) if target.kind == "cuda" and runs_on(target.cpu, gpu.capability)]
    own = [target for target in known if target.name in gpu.name.lower()]  # a product's, such as h200 for "NVIDIA H200"
    of_generation = [target for target in known if target.name.startswith("sm_")]
    return max(own or of_generation, key=lambda target: target.compute_capability, default=None)


def load_target(name: str) -> Target:
    """The target of a known name or a TOML file. Raises TargetError."""
    if not isinstance(name, str):
        raise TargetError(
            f"a {type(name).__name__} is not a target", remedy="give a known target's name, the path of a .toml file or a hloom.Target"
        )
    if name.endswith(".toml") or os.sep in name:
        return _load(Path(name), ())
    return _known(name)


@cache
def _known(name: str) -> Target:
    """hloom's own files stay what they are while a process runs."""
    return _load(_FOLDER / f"{name}.toml", ())


def _load(path: Path, seen: tuple[Path, ...]) -> Target:
    try:
        entries: dict[str, Any] = tomllib.loads(path.read_text())
    except OSError:
        remedy = f"known targets: {', '.join(known_targets())}; or cpu for this machine, or the path of a .toml file"
        raise TargetError(f"no target {path.stem!r}: cannot read {path.name}", remedy=remedy) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TargetError(f"{path} is no TOML file: {error}") from None
    base = entries.pop("inherits", None)
    if base is not None and (not isinstance(base, str) or path in seen):
        raise TargetError(f"{path}: inherits names another target, not {base!r}")
    start = _load(_FOLDER / f"{base}.toml", (*seen, path)) if base else Target()
    try:
        return start.with_entries({"name": path.stem, **entries})
    except ValueError as error:
        raise TargetError(f"{path}: {error}") from None


def host() -> Target:
    """This machine's processor: the file that fits it best, with its name, features, cores and caches filled in."""
    import llvmlite.binding as llvm

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1  # macOS has none
    triple = llvm.get_process_triple()
    return describe_host(host_features(), cpu=llvm.get_host_cpu_name(), cores=cores, caches=_cache_bytes(), triple=triple)


def describe_host(features: dict[str, bool], *, cpu: str, cores: int, caches: dict[str, int], triple: str = Target.triple) -> Target:
    """The target for a processor with those LLVM features. Raises TargetError if it has not what any file for such processors needs."""
    known = [load_target(name) for name in known_targets()]
    files = [target for target in known if target.kind == "cpu" and runs_code_of(triple, target.triple)]
    fit = [target for target in files if all(map(features.get, target.needs.split(",")))]
    if not fit:
        wanted = "; ".join(f"{target.name} needs {target.needs.replace(',', ', ')}" for target in files) or f"there is none for {triple}"
        remedy = "name the target to compile for another machine"
        raise TargetError(f"no known target fits the processor {cpu!r}: {wanted}", remedy=remedy)
    base = max(fit, key=lambda target: (target.vector_bits, len(target.needs)))
    found = {entry: bool(features.get(name)) for entry, name in base.extension_features.items()}
    named = ",".join(f"{'+' if on else '-'}{name}" for name, on in sorted(features.items()))
    if "llc_bytes" in caches:
        caches = {**caches, "llc_bytes": min(caches["llc_bytes"], max(2, cores) * _LLC_A_CORE)}
    return base.with_entries({"cpu": cpu, "features": named, "cores": cores, **found, **caches})


def _cache_bytes() -> dict[str, int]:
    """Sizes of the data caches as Linux reports them; empty where it does not."""
    sizes = {}
    for folder in sorted(_CACHES.glob("index*")):
        try:
            level, kind, size = ((folder / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        match = re.fullmatch(r"(\d+)([KM]?)", size)
        entry = {"1": "l1_bytes", "2": "l2_bytes", "3": "llc_bytes"}.get(level)
        if match and entry and kind != "Instruction":
            sizes[entry] = int(match[1]) << {"": 0, "K": 10, "M": 20}[match[2]]
    return sizes

"""hloom itself on an AArch64 processor, emulated by qemu-user: its passes, its LLVM, its front end for JAX and the programs they make.

    python tests/aarch64_host.py -m pytest tests/conformance -k f32      what follows is given to an AArch64 Python
    python tests/aarch64_host.py -m hloom.tools.run examples/softmax.mlir --input=random --check

The first run fills build/aarch64-host: Debian's Python and its libraries for arm64, wheels for AArch64 from pip, the native library by
the cross compiler (`apt-get install qemu-user g++-aarch64-linux-gnu`). Later ones take the sources as they are now. An emulated
processor takes ten to twenty times as long; PyTorch is not installed, whose wheel for AArch64 is one for CUDA.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import aarch64
import tomllib

_ROOT = Path(__file__).parents[1]
_FOLDER = _ROOT / "build" / "aarch64-host"
_SYSTEM, _SITE, _PYTHON, _DONE = _FOLDER / "system", _FOLDER / "site", _FOLDER / "python", _FOLDER / "done"
_VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
_TESTED_WITH = {"pytest", "hypothesis", "expecttest", "optax", "lit", "filecheck"}
_PLATFORMS = ("manylinux_2_28_aarch64", "manylinux_2_27_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64")

_FEATURES = "fp asimd aes pmull sha1 sha2 crc32 atomics fphp asimdhp asimdrdm asimddp"
"""Those of a Neoverse N1, as Linux lists them: qemu-user shows a program the file of the processor that it runs on."""

_START = """#!/bin/sh
exec {emulator} -L {system} -E PYTHONSAFEPATH=1 -E PYTHONPATH={site} -E PYTHONHOME={system}/usr {system}/usr/bin/{version} "$@"
"""


def main() -> int:
    if aarch64.MISSING:
        sys.exit(aarch64.MISSING)
    if not _DONE.exists():
        _install()
    _copy_sources()
    return subprocess.run([_PYTHON, *sys.argv[1:]], cwd=_ROOT).returncode


def _install() -> None:
    """Debian's Python for arm64 and the wheels, in a folder of their own."""
    shutil.rmtree(_FOLDER, ignore_errors=True)
    for needed in ("apt/lists/partial", "apt/archives/partial", "system/proc"):
        (_FOLDER / needed).mkdir(parents=True)
    (_FOLDER / "apt" / "status").touch()
    settings = {
        "APT::Architecture": "arm64", "APT::Architectures": "arm64", "APT::Sandbox::User": "", "Dir::State": f"{_FOLDER}/apt",
        "Dir::State::status": f"{_FOLDER}/apt/status", "Dir::Cache": f"{_FOLDER}/apt",
    }  # fmt: skip
    apt = ["apt-get", "-q", "-y", *(f"-o{name}={value}" for name, value in settings.items())]
    subprocess.run([*apt, "update"], check=True)
    subprocess.run([*apt, "install", "--download-only", "--no-install-recommends", _VERSION, "libgomp1", "libstdc++6"], check=True)
    for package in sorted((_FOLDER / "apt" / "archives").glob("*.deb")):
        subprocess.run(["dpkg", "-x", package, _SYSTEM], check=True)
    (_SYSTEM / "proc" / "cpuinfo").write_text(f"processor : 0\nFeatures : {_FEATURES}\n")

    project = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]
    more = [need for need in project["optional-dependencies"]["test"] if re.match(r"[\w-]+", need)[0] in _TESTED_WITH]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["jax"], *more]
    platforms = [f"--platform={name}" for name in _PLATFORMS]
    pip = [sys.executable, "-m", "pip", "install", "-q", "--only-binary=:all:", *platforms, f"--python-version={_VERSION[6:]}"]
    subprocess.run([*pip, f"--target={_SITE}", *wanted], check=True)

    _PYTHON.write_text(_START.format(emulator=shutil.which("qemu-aarch64"), system=_SYSTEM, site=_SITE, version=_VERSION))
    _PYTHON.chmod(0o755)
    (_SITE / "sitecustomize.py").write_text(f"import sys\n\nsys.executable = {str(_PYTHON)!r}\n")  # what tests start is emulated, too
    _DONE.touch()


def _copy_sources() -> None:
    """hloom as a wheel would lay it out."""
    packages = tomllib.loads((_ROOT / "pyproject.toml").read_text())["tool"]["scikit-build"]["wheel"]["packages"]
    shutil.rmtree(_SITE / "hloom", ignore_errors=True)
    for name, source in packages.items():
        shutil.copytree(_ROOT / source, _SITE / name, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    shutil.copy(aarch64.built() / "libhloom_native.so", _SITE / "hloom" / "runtime")


if __name__ == "__main__":
    sys.exit(main())

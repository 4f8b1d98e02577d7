"""The text of every stage of many programs, for each kind of target: the same before and after a refactoring.

    python tests/stage_texts.py before             in the old tree: writes before/<target>/<program>/NN-<stage>.mlir, and kernels.ptx
    python tests/stage_texts.py after              in the new one
    python tests/stage_texts.py --compare before after

Programs: examples/, the benchmarks' where `python -m benchmarks.export` has written them, and the folders of HLOOM_PROGRAMS. What cannot be
compiled leaves its error as error.txt, which is compared, too.
"""

from __future__ import annotations

import argparse
import filecmp
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parent.parent
TARGETS = ("cpu-avx2", "cpu-avx512", "cpu-amx", "sm_80", "sm_90a")
LAST = {"cpu": ("llvm",), "sm": ("nvvm", "ptx")}


def programs() -> dict[str, Path]:
    """Each program's file by the name of its folder here."""
    given = [Path(folder) for folder in os.environ.get("HLOOM_PROGRAMS", "").split(os.pathsep) if folder]
    folders = [ROOT / "examples", ROOT / "build" / "benchmarks", *given]
    return {f"{folder.name}-{path.stem}": path for folder in folders for path in sorted(folder.rglob("*.mlir"))}


def write(program: Path, target: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "hloom.tools.compile", str(program), f"--target={target}"]
    for last in LAST[target[: 3 if target.startswith("cpu") else 2]]:
        more = [f"--dump={folder}", "-o", os.devnull] if last != "ptx" else ["-o", str(folder / "kernels.ptx")]
        done = subprocess.run([*command, f"--to={last}", *more], capture_output=True, text=True)
        if done.returncode:
            (folder / "error.txt").write_text(done.stderr)
            return


def differences(before: Path, after: Path) -> list[str]:
    """Files that differ, or that one side alone has, relative to the folders."""
    names = {path.relative_to(side) for side in (before, after) for path in side.rglob("*") if path.is_file()}
    both = (name for name in names if (before / name).is_file() and (after / name).is_file())
    same = {name for name in both if filecmp.cmp(before / name, after / name, shallow=False)}
    return sorted(map(str, names - same))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--compare", action="store_true", help="name the files that differ between two folders")
    parser.add_argument("--targets", nargs="+", default=TARGETS)
    parser.add_argument("--programs", default="*", metavar="GLOB", help="programs by the names of their folders here")
    arguments = parser.parse_args()
    if arguments.compare:
        found = differences(*arguments.folders)
        print("\n".join(found) or "no difference")
        return bool(found)
    (folder,) = arguments.folders
    chosen = [(name, path) for name, path in programs().items() if fnmatch(name, arguments.programs)]
    jobs = list(product(chosen, arguments.targets))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, _ in enumerate(pool.map(lambda job: write(job[0][1], job[1], folder / job[1] / job[0][0]), jobs), 1):
            print(f"\r{number} of {len(jobs)}", end="", flush=True)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())

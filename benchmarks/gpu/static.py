"""What the machine code of whole programs uses of a GPU, where there is none.

    python -m benchmarks.gpu.static                         all programs for sm_80, sm_90a and sm_100a: build/static
    python -m benchmarks.gpu.static resnet18 'cart*'        some of them, or any row of `python -m benchmarks.models`
    python -m benchmarks.gpu.static --target sm_90a --again    compiled anew
    python -m benchmarks.gpu.static --write                 and the table of docs/gpu.md

Programs: the workloads of `python -m benchmarks`, the examples, the .mlir files of $HLOOM_PROGRAMS, and models with random weights. One at
a time, each in a process of its own: build/static/TARGET/NAME.json is hloom-explain's report. What is there is not made again, so a run
that was cut short goes on where it was. After each program comes its line; at the end the table, and the kernels that spill.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..peers import program_path
from ..report import write_section
from ..rows import ROWS
from ..settings import ROOT
from .static_page import SECTION, page, spilling, summary

TARGETS = ("sm_80", "sm_90a", "sm_100a")
_MODELS = "resnet18 resnet50 mobilenet_v2 vit_base_16 bert_base gpt2 llama_small".split()
MODELS = (*_MODELS, *(f"{name}_bf16" for name in _MODELS[3:]))
PAGE = ROOT / "docs" / "gpu.md"
_SECONDS = 1800


def main(argv: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    if options.one:
        return _compile(*options.one)
    failed = []
    for name, path in _chosen(options.names).items():
        for target in options.targets or TARGETS:
            found = _found(name, path, target, options)
            print(f"{name}, {target}: {found.get('error') or summary(found).line()}", flush=True)
            failed += [f"{name}, {target}"] if "error" in found else []
    reports = _read(options.folder)
    print("\n" + page(reports), *spilling(reports), sep="\n")
    if options.write:
        write_section(SECTION, page(reports), PAGE)
        print(f"written to {PAGE}")
    print(f"no code for: {', '.join(failed)}" if failed else "all compiled")
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.gpu.static", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="of programs; * stands for anything")
    parser.add_argument("--target", dest="targets", action="append", metavar="TARGET", help="again for more")
    parser.add_argument("-o", dest="folder", type=Path, default=ROOT / "build" / "static", metavar="DIR")
    parser.add_argument("--again", action="store_true", help="compile what is there, too")
    parser.add_argument("--write", action="store_true", help="put the table into docs/gpu.md")
    parser.add_argument("--one", nargs=4, metavar=("NAME", "PATH", "TARGET", "FILE"), help=argparse.SUPPRESS)
    return parser


def programs() -> dict[str, str]:
    """Name → .mlir file, empty for a model."""
    found = {row.name: str(program_path(row)) for row in ROWS.values()}
    folders = [Path(folder) for folder in os.environ.get("HLOOM_PROGRAMS", "").split(os.pathsep) if folder]
    for folder in [ROOT / "examples", *(folder / part for folder in folders for part in (".", "models", "workloads"))]:
        for path in sorted(folder.glob("*.mlir")):
            name = path.name.split(".")[0]
            found[f"{path.parent.name}.{name}" if name in found else name] = str(path)
    return found | dict.fromkeys(MODELS, "")


def _chosen(patterns: Sequence[str]) -> dict[str, str]:
    """Those that a pattern names; what names none of them is taken for a model."""
    known = programs()
    if not patterns:
        return known
    chosen = {name: path for name, path in known.items() if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)}
    unknown = [pattern for pattern in patterns if not any(fnmatch.fnmatch(name, pattern) for name in known)]
    return chosen | dict.fromkeys(unknown, "")


def _found(name: str, path: str, target: str, options: argparse.Namespace) -> dict[str, Any]:
    """The report, or `{"error": …}`; a process makes it where it is not there."""
    file: Path = options.folder.resolve() / target / f"{name}.json"
    if options.again or not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "benchmarks.gpu.static", "--one", name, path, target, str(file)]
        try:
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            return {"error": f"no end after {_SECONDS} s"}
        if done.returncode:
            return {"error": (done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"])[-1][:300]}
    report: dict[str, Any] = json.loads(file.read_text())
    return report


def _compile(name: str, path: str, target: str, file: str) -> int:
    from hloom.compiler.compile import Compilation

    if name in ROWS and not Path(path).exists():
        subprocess.run([sys.executable, "-m", "benchmarks.export", name], check=True, cwd=ROOT)
    source, examples = (path, ()) if path else _model(name)
    bind: dict[int | str, Any] = {}
    if name in ROWS:
        row = ROWS[name]
        bind = {len(row.inputs()) + index: weight for index, weight in enumerate(row.weights())}
    report = Compilation.of(source, examples, target=target, bind=bind).artifact().manifest["report"]
    partial = Path(f"{file}.partial")
    partial.write_text(json.dumps(report, indent=1) + "\n")
    partial.replace(file)
    return 0


def _model(name: str) -> tuple[Any, tuple[Any, ...]]:
    from ..layers import modules
    from ..layers.suite import SUITES

    if name not in SUITES["models"].rows:
        raise SystemExit(f"there is neither a program nor a model {name!r}")
    row = SUITES["models"].rows[name]
    return modules.make(row), modules.tensors(row)


def _read(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Program and target → report: of all that the folder has."""
    known = [*programs(), *sorted(file.stem for file in folder.glob("*/*.json"))]
    files = {(name, target): folder / target / f"{name}.json" for name in dict.fromkeys(known) for target in TARGETS}
    return {key: json.loads(file.read_text()) for key, file in files.items() if file.exists()}


if __name__ == "__main__":
    sys.exit(main())

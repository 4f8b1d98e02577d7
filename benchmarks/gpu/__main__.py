"""Correctness and speed on an NVIDIA GPU.

    python -m benchmarks.gpu                                     both of these where compiler and GPU are on one machine
    python -m benchmarks.gpu prepare --target=sm_90a -o DIR      compile everything, compute what it gives (no GPU needed)
    python -m benchmarks.gpu tests DIR -o OUT                    tests/gpu, with the programs that are prepared; OUT/tests.txt
    python -m benchmarks.gpu run DIR -o OUT                      check and time it all; OUT/results.json, OUT/gpu.md (no compiler needed)
    python -m benchmarks.gpu run DIR -o OUT --device=simulator   check it on the simulator (where the compiler is; nothing is timed)
    python -m benchmarks.gpu page OUT                            OUT/page.md: what tests/gpu and the run said, on one page
    python -m benchmarks.gpu table OUT                           put the table into docs/benchmarks.md

Programs: the workloads of `python -m benchmarks`, examples/, and the .mlir files of each --programs folder (or $HLOOM_PROGRAMS), with
inputs and expected results from a NAME.npz beside NAME.mlir if there is one. --only chooses among them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..report import DOCUMENT, write_section
from ..settings import BUILD
from .cases import INDEX, Case, Index
from .models import PEERS as MODEL_PEERS
from .one_page import write_page
from .peers import PEERS
from .processes import Worker
from .report import RESULTS, SECTION, Found, problem, section
from .rows import ROWS
from .tests import PAGE, run_tests
from .together import Job, measure_together, split

LOG = "log.txt"
_CHECK_SECONDS, _MEASURE_SECONDS = 60.0, 120.0
_TIMES = {"device": "on the device", "call": "a call"}


def main(argv: list[str] | None = None) -> int:
    given = sys.argv[1:] if argv is None else argv
    options = _parser().parse_args(given or ["all"])
    for peer in options.peers.split(","):
        if peer not in PEERS:
            raise SystemExit(f"no peer {peer!r}: there are {', '.join(PEERS)}")
    if options.command in ("prepare", "all"):
        _prepare(options)
    if options.command == "prepare":
        return 0
    if options.command == "tests":
        return _test(options)
    if options.command == "page":
        print(write_page(options.folder))
        return 0
    if options.command == "table":
        write_section(SECTION, section(Found.read(options.folder / RESULTS)))
        print(f"written to {DOCUMENT}")
        return 0
    return _run(options)


def _names(text: str) -> list[str]:
    return text.split(",")


def _parser() -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--only", dest="names", type=_names, default=[], metavar="NAME,NAME", help="of the programs")
    shared.add_argument("--peers", default=",".join(PEERS), help=f"of {', '.join(PEERS)}")
    compiling = argparse.ArgumentParser(add_help=False)
    compiling.add_argument("--target", default=None, help="by default that of the GPU that is there")
    compiling.add_argument("--programs", type=Path, action="append", default=[], metavar="FOLDER", help="of .mlir files; again for more")
    compiling.add_argument("--models", type=_names, default=[], metavar="NAME,NAME", help="of models.txt; * stands for anything")
    measuring = argparse.ArgumentParser(add_help=False)
    measuring.add_argument("--device", choices=("cuda", "simulator"), default="cuda")
    measuring.add_argument("--seconds", type=float, default=0.5, help="of samples, of each time")
    measuring.add_argument("--deadline", type=float, default=float("inf"), help="seconds after which nothing is begun or waited for")
    measuring.add_argument("--check-only", action="store_true")
    measuring.add_argument("--no-kernels", action="store_true", help="no times of single thunks")
    measuring.add_argument("--time-only", action="store_true")
    parser = argparse.ArgumentParser("python -m benchmarks.gpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    prepare = commands.add_parser("prepare", parents=[shared, compiling])
    prepare.add_argument("-o", dest="folder", type=Path, required=True, metavar="DIR")
    run = commands.add_parser("run", parents=[shared, measuring])
    run.add_argument("folder", type=Path, metavar="DIR")
    run.add_argument("-o", dest="out", type=Path, required=True, metavar="OUT")
    tests = commands.add_parser("tests", parents=[shared])
    tests.add_argument("folder", type=Path, metavar="DIR")
    tests.add_argument("-o", dest="out", type=Path, required=True, metavar="OUT")
    tests.add_argument("--deadline", type=float, default=float("inf"), help="seconds after which no test is begun")
    both = commands.add_parser("all", parents=[shared, compiling, measuring])
    both.set_defaults(folder=BUILD / "gpu", out=BUILD / "gpu-results")
    for name in ("table", "page"):
        commands.add_parser(name, parents=[shared]).add_argument("folder", type=Path, metavar="OUT")
    return parser


def _target_here() -> str:
    try:
        asked = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
        major, minor = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()[0].split(".")
    except (OSError, subprocess.CalledProcessError):
        raise SystemExit("there is no NVIDIA GPU here to compile for: say --target=sm_90a or another") from None
    return f"sm_{major}{minor}{'a' if int(major) >= 9 else ''}"


def _prepare(options: argparse.Namespace) -> None:
    from .pack import pack
    from .prepare import EXAMPLES, prepare, prepare_models

    given = [Path(folder) for folder in os.environ.get("HLOOM_PROGRAMS", "").split(os.pathsep) if folder]
    target = options.target or _target_here()
    index = prepare(options.folder, target, options.names, [EXAMPLES, *given, *options.programs])
    prepare_models(options.folder, target, options.models, index)
    pack(options.folder, target)
    size = sum(path.stat().st_size for path in options.folder.rglob("*"))
    failed = [case.name for case in index.cases if case.error]
    print(f"{len(index.cases) - len(failed)} of {len(index.cases)} programs, {size / 2**20:.1f} MiB in {options.folder}")
    if failed:
        print(f"not prepared: {', '.join(failed)}")


def _test(options: argparse.Namespace) -> int:
    os.environ["HLOOM_GPU_TESTS"] = str((options.folder / "tests").resolve())
    passed = run_tests(options.out, time.monotonic() + options.deadline)
    print((options.out / PAGE).read_text().splitlines()[-1])
    return 0 if passed else 1


def _run(options: argparse.Namespace) -> int:
    if not (options.folder / INDEX).exists():
        raise SystemExit(f"{options.folder} holds no {INDEX}: prepare it first")
    if options.device == "cuda" and not any(shutil.which(name) or os.path.exists(name) for name in ("nvidia-smi", "/dev/nvidiactl")):
        raise SystemExit("there is no NVIDIA GPU here; --device=simulator checks without one, where the compiler is installed")
    run = Run(options, Index.read(options.folder))
    try:
        if not options.time_only:
            run.check()
        if not options.check_only and options.device == "cuda":
            run.measure()
    finally:
        run.stop()
    failed = run.found.failed()
    print(f"results: {options.out / RESULTS}" + (f"; not right: {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


class Run:
    """A run; what it found is written after every step, so that one that is cut short loses nothing."""

    def __init__(self, options: argparse.Namespace, index: Index):
        self.options, self.index = options, index
        self.found = Found.start(index.target, options.device)
        self._end = time.monotonic() + options.deadline
        self._workers: dict[str, Worker] = {}

    def worker(self, name: str) -> Worker:
        return self._workers.setdefault(name, Worker(self.options.out / LOG))

    def ask(self, who: str, timeout: float, **request: Any) -> dict[str, Any]:
        return self.worker(who).ask(max(1.0, min(timeout, self._end - time.monotonic())), **request)

    def stop(self) -> None:
        for worker in self._workers.values():
            worker.stop()

    def check(self) -> None:
        folder = str(self.options.folder.resolve())
        for case in self.index.cases:
            if (self.options.names and case.name not in self.options.names) or time.monotonic() > self._end:
                continue
            if case.error:
                answer = {"skipped": case.error}
            else:
                request = {"do": "check", "folder": folder, "name": case.name, "device": self.options.device}
                answer = self.ask("check", _CHECK_SECONDS, **request)
            self.found.checks[case.name] = answer
            print(f"{case.name}: {problem(answer) or answer.get('skipped', 'right')}", flush=True)
            self.found.write(self.options.out)
        self.worker("check").stop()

    def measure(self) -> None:
        """What hloom takes alone before what the peers take, so that a short lease has the most from it."""
        facts = self.ask("ceilings", _MEASURE_SECONDS, do="facts")
        if "error" in facts:
            raise SystemExit(f"nothing is timed: {facts['error']}")
        self.found.device = facts
        ceilings = self.ask("ceilings", _MEASURE_SECONDS, do="ceilings", seconds=self.options.seconds)
        self.found.ceilings = ceilings.get("ceilings", {})
        print(f"ceilings: {self.found.ceilings or ceilings['error']}", flush=True)
        self.found.costs = self.ask("ceilings", _MEASURE_SECONDS, do="costs", seconds=self.options.seconds).get("costs", {})
        self.worker("ceilings").stop()
        self.found.write(self.options.out)
        chosen = [case for case in self.index.cases if not self.options.names or case.name in self.options.names]
        rows = [case.row for case in chosen if case.row and not case.error]
        if not self.options.no_kernels:
            self._each("kernels", chosen, self.found.kernels)
        self._each("program", [case for case in chosen if not case.row], self.found.programs, seconds=self.options.seconds)
        models = [name for name in self.index.models if not self.options.names or name in self.options.names]
        jobs: list[Job] = []
        for peer in self.options.peers.split(","):
            jobs += split("row", peer, [row for row in rows if PEERS[peer].takes(ROWS[row])], PEERS[peer].processes)
            jobs += split("model", peer, models if peer in MODEL_PEERS else [], PEERS[peer].processes)
        folder = str(self.options.folder.resolve())
        measure_together(jobs, lambda: Worker(self.options.out / LOG), folder, self.options.seconds, self._end, self._told)
        for model in models if not self.options.no_kernels else []:
            if time.monotonic() < self._end and model in self.found.models:
                answer = self.ask("kernels", _CHECK_SECONDS, do="model_kernels", folder=folder, name=model)
                self.found.models[model].setdefault("hloom", {}).update(answer)
                self.found.write(self.options.out)
        self.worker("kernels").stop()

    def _each(self, what: str, cases: Sequence[Case], found: dict[str, dict[str, Any]], **more: Any) -> None:
        """Asks for `what` of each case, in a process for all."""
        folder = str(self.options.folder.resolve())
        for case in cases:
            if not case.error and time.monotonic() < self._end:
                found[case.name] = self.ask(what, _CHECK_SECONDS, do=what, folder=folder, name=case.name, **more)
                self.found.write(self.options.out)
        self.worker(what).stop()

    def _told(self, job: Job, name: str, answer: dict[str, Any]) -> None:
        found = self.found.times if job.what == "row" else self.found.models
        found.setdefault(name, {})[job.peer] = answer
        times = [f"{answer[what]['median']:.1f} us {words}" for what, words in _TIMES.items() if what in answer]
        print(f"{name}, {job.peer}: {', '.join(times)} {problem(answer)}".rstrip(), flush=True)
        self.found.write(self.options.out)


if __name__ == "__main__":
    sys.exit(main())

"""python -m tests.fuzz: random programs, compared, and those that fail cut down to a few lines.

    python -m tests.fuzz --programs 1000                    on the CPU
    python -m tests.fuzz --minutes 30 --target sim:sm_90a   on a simulated GPU
    python -m tests.fuzz --only 17 --seed 3                 program 17 of seed 3 again
    python -m tests.fuzz --ops reduce,transpose --types f32,i8 --keep found
    python -m tests.fuzz --front jax --ops scan,gradient    of JAX programs, of these families (tests/fuzz/traced/recipes)
    python -m tests.fuzz --front torch --minutes 10         of PyTorch programs (tests/fuzz/torched/recipes)

Exits with 1 if a program fails. `--keep` writes each that does, as it was and cut down, into a folder.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from hloom.compiler.simulation import split_target
from hloom.compiler.target import TargetError, resolve
from hloom.runtime.errors import CpuFeatureError
from hloom.runtime.linking import require

from .elements import ALL
from .fronts import FRONTS, Front
from .judge import Judge, Verdict


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--front", choices=FRONTS, default="stablehlo", help="StableHLO's ops at random, JAX or PyTorch programs")
    parser.add_argument("--programs", type=int, default=0, help="so many (100 if no minutes are given)")
    parser.add_argument("--minutes", type=float, default=0, help="for so long")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first program")
    parser.add_argument("--only", type=int, help="this program alone")
    parser.add_argument("--ops", default="", help="names, by commas: of these ops only (of JAX and PyTorch programs: recipes)")
    parser.add_argument("--types", default="", help=f"element types, by commas, of {', '.join(ALL)}")
    parser.add_argument("--size", type=int, default=8, help="about so many ops (of JAX: steps, of PyTorch: lines) a program")
    parser.add_argument("--large", action="store_true", help="extents up to 513, values of 60,000 elements")
    parser.add_argument("--target", default="cpu", help="cpu, cpu-avx2, sim:sm_90a, …")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for what fails")
    parser.add_argument("--cut", type=float, default=60, help="seconds to cut down a program that fails; 0: it is told whole")
    options = parser.parse_args(arguments)
    if (why := no_target(options.target)) is not None:
        parser.error(why)
    if not options.minutes and not options.programs:
        options.programs = 100
    return options


def no_target(name: str) -> str | None:
    """Why programs for a target do not run here."""
    try:
        own, simulated = split_target(name)
        target = resolve(own)
        if target.kind == "cpu":
            require({"triple": target.triple, "features": target.required_features})
    except (TargetError, CpuFeatureError) as error:
        return str(error)
    if bool(simulated) != (target.kind == "cuda"):
        return f"{name}: GPUs are simulated here, as sim:sm_90a, and CPUs are not"
    return None


@dataclass
class Run:
    options: argparse.Namespace
    front: Front = field(init=False)
    counts: Counter = field(default_factory=Counter)
    ops: Counter = field(default_factory=Counter)
    refusals: Counter = field(default_factory=Counter)
    slowest: tuple[float, int] = (0.0, 0)
    lock: Lock = field(default_factory=Lock)
    began: float = field(default_factory=time.monotonic)
    next: int = 0

    def __post_init__(self) -> None:
        self.front = FRONTS[self.options.front](self.options)

    def number(self) -> int | None:
        """Of the next program, None at the end."""
        options = self.options
        with self.lock:
            count, self.next = self.next, self.next + 1
        if options.only is not None:
            return options.only if count == 0 else None
        late = options.minutes and time.monotonic() - self.began > 60 * options.minutes
        return None if late or (options.programs and count >= options.programs) else options.first + count

    def work(self) -> None:
        judge = self.front.judge()
        try:
            while (number := self.number()) is not None:
                if (program := self.front.program(number)) is not None:
                    self.tell(number, program, judge(program, self.options.target), judge)
        finally:
            judge.stop()

    def tell(self, number: int, program: Any, verdict: Verdict, judge: Judge) -> None:
        with self.lock:
            self.counts[verdict.kind] += 1
            self.ops.update(program.names)
            self.slowest = max(self.slowest, (verdict.seconds, number))
            if verdict.kind == "refused":
                self.refusals[verdict.why.splitlines()[0]] += 1
        if verdict.bad:
            self.report(number, program, verdict, judge)
        if verdict.kind in ("unknown", "disputed", "torch's", "skipped") and self.options.keep:
            print(f"\nprogram {number}: {verdict.kind}: {verdict.why}\n{', '.join(sorted(program.names))}", flush=True)
        self.progress()

    def report(self, number: int, program: Any, verdict: Verdict, judge: Judge) -> None:
        small = self.front.cut_down(program, verdict, judge) if self.options.cut else program
        again = judge(small, self.options.target) if self.options.cut else verdict
        mark, suffix = self.front.mark, self.front.suffix
        head = f"seed {self.options.seed}, program {number}, {self.options.target}: {verdict.kind}\n{again.why}"
        text = comment(head, mark) + small.told()
        with self.lock:
            print(f"\n{text}\n", flush=True)
        if self.options.keep:
            folder = self.options.keep
            folder.mkdir(parents=True, exist_ok=True)
            name = f"{verdict.kind}-{self.options.seed}-{number}"
            (folder / f"{name}.{suffix}").write_text(text)
            (folder / f"{name}-whole.{suffix}").write_text(comment(verdict.why, mark) + program.text())

    def progress(self) -> None:
        done = sum(self.counts.values())
        told = ", ".join(f"{count} {kind}" for kind, count in sorted(self.counts.items()))
        line = f"{done} programs in {time.monotonic() - self.began:.0f} s: {told}"
        if sys.stdout.isatty():
            print(f"\r\x1b[K{line}", end="", flush=True)
        elif done % 100 == 0:
            print(line, flush=True)

    def table(self) -> None:
        rows = [f"{count:7} {what}" for what, count in sorted(self.counts.items())]
        rows += [f"{self.slowest[0]:7.1f} seconds of processor time the slowest compile took, of program {self.slowest[1]}"]
        rows += [f"{count:7} refused: {why}" for why, count in self.refusals.most_common(20)]
        ops = ", ".join(f"{name.removeprefix('stablehlo.')} {count}" for name, count in sorted(self.ops.items()))
        print("\n" + "\n".join(rows) + f"\n\nprograms with each op: {ops}")


def comment(text: str, mark: str) -> str:
    return "".join(f"{mark} {line}\n" for line in text.splitlines())


def main() -> int:
    options = parsed()
    run = Run(options)
    with ThreadPoolExecutor(options.jobs) as pool:
        for worker in [pool.submit(run.work) for _ in range(options.jobs)]:
            worker.result()
    run.table()
    return int(any(run.counts[kind] for kind in ("wrong", "failed", "crashed", "slow")))


if __name__ == "__main__":
    sys.exit(main())

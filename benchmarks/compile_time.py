"""hloom's compile time.

    python -m benchmarks.compile_time [ROW…] [--passes] [--no-chains] [--write]

Of every workload, in a process of its own: seconds from the program (StableHLO, or an exported torch module) to the executable, by stage.
`--passes` prints the table of every pass, as `--mlir-timing` does. Then of chains of elementwise ops of growing length.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import time
from collections import Counter
from typing import Any

import hloom
from hloom.compiler.pipeline import STAGE_NAMES
from hloom.compiler.timing import Timing

from .bars import CHAIN_SECONDS, COMPILE_SECONDS
from .peers import hloom_source
from .report import DOCUMENT, machine, table, write_section
from .rows import ROWS
from .settings import ROOT, environment

CHAINS = (1_250, 2_500, 5_000, 10_000)
TIMEOUT = 600.0
STAGES = (*STAGE_NAMES[1:], "object")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(ROWS)}")
    parser.add_argument("--passes", action="store_true", help="print the time of every pass")
    parser.add_argument("--no-chains", action="store_true", help="only the workloads")
    parser.add_argument("--chains", default=",".join(map(str, CHAINS)), help="their lengths")
    parser.add_argument("--write", action="store_true", help="write the section of docs/benchmarks.md")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one)))
        return 0
    subprocess.run([sys.executable, "-m", "benchmarks.export"], check=True, cwd=ROOT)
    names = options.rows or list(ROWS)
    parts = [
        "## Compile time of hloom",
        f"{machine()} Seconds of one compile in a fresh process, without imports; one thread.",
        "### Workloads",
    ]
    header = ["workload", "all", *STAGES, "rest", "slowest passes"]
    parts.append(table(header, [_workload(name, options.passes) for name in names]))
    if not options.no_chains:
        parts += ["### Chains of elementwise ops", table(["ops", "seconds", "ms an op", "bar"], _chains(options.chains))]
    text = "\n\n".join(parts)
    print(text)
    if options.write:
        write_section("compile-time", text)
        print(f"written to {DOCUMENT.relative_to(ROOT)}")
    return 0


def _workload(name: str, passes: bool) -> list[str]:
    found = _in_process(name)
    if "error" in found:
        return [ROWS[name].title, "failed", *["–"] * (len(STAGES) + 1), found["error"]]
    print(f"  {name}: {found['seconds']:.2f} s", file=sys.stderr, flush=True)
    if passes:
        rows = [tuple(row) for row in found["rows"]]
        print(Timing(rows, started=time.perf_counter() - found["seconds"]).table(), file=sys.stderr)
    stages: Counter[str] = Counter()
    by_pass: Counter[str] = Counter()
    for stage, step, seconds in found["rows"]:
        stages[stage] += seconds
        by_pass[step] += seconds
    total = found["seconds"]
    cells = [f"**{total:.2f}**" if total > COMPILE_SECONDS else f"{total:.2f}"]
    cells += [f"{stages[stage]:.2f}" for stage in STAGES]
    cells.append(f"{total - sum(stages[stage] for stage in STAGES):.2f}")
    slowest = ", ".join(f"{step} {seconds:.2f}" for step, seconds in by_pass.most_common(3))
    return [ROWS[name].title, *cells, slowest]


def _chains(lengths: str) -> list[list[str]]:
    lines = []
    for length in map(int, lengths.split(",")):
        found = _in_process(f"chain:{length}")
        bar = f"≤ {CHAIN_SECONDS[1]:g}" if length == CHAIN_SECONDS[0] else ""
        if "error" in found:
            lines.append([str(length), "**failed**", found["error"], bar])
            continue
        print(f"  chain of {length}: {found['seconds']:.2f} s", file=sys.stderr, flush=True)
        text = f"{found['seconds']:.2f}"
        missed = bar and found["seconds"] > CHAIN_SECONDS[1]
        lines.append([str(length), f"**{text}**" if missed else text, f"{found['seconds'] / length * 1e3:.2f}", bar])
    return lines


def _in_process(what: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.compile_time", "--one", what]
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment(1), capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return {"error": f"not done after {TIMEOUT:.0f} s"}
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1][:200]}
    return json.loads(done.stdout.splitlines()[-1])


def measure(what: str) -> dict[str, Any]:
    """Compiles a row, or `chain:N`, in this process."""
    importlib.import_module("hloom.compiler.codegen")
    kind, _, length = what.partition(":")
    if length:
        source, bind = elementwise_chain(int(length)), None
    else:
        row = ROWS[kind]
        source, bind = hloom_source(row, row.inputs(), row.weights())
    start = time.perf_counter()
    exe = hloom.compile(source, bind=bind, target="cpu")
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "rows": [[*name.split(": ", 1), spent] for name, spent in exe.report.data["timing"]]}


def elementwise_chain(length: int) -> str:
    """A program of so many ops on one small tensor, each on the result of the one before and an argument."""
    kinds = ("add", "multiply", "maximum", "subtract")
    lines = ["func.func @main(%v0: tensor<1024xf32>, %x: tensor<1024xf32>) -> tensor<1024xf32> {"]
    lines += [f"  %v{i + 1} = stablehlo.{kinds[i % len(kinds)]} %v{i}, %x : tensor<1024xf32>" for i in range(length)]
    return "\n".join([*lines, f"  return %v{length} : tensor<1024xf32>", "}"])


if __name__ == "__main__":
    sys.exit(main())

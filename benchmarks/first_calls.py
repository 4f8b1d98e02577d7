"""The first call of torch.compile, in a process that finds nothing kept and in the one after it.

    python -m benchmarks.first_calls [ROW…] [--peers hloom,compile] [--training] [--kept-traces] [--rounds 3] [--profile FOLDER]

Of every row of the tables of models and of the zoo (with `--training`, of training's): seconds of the processor, of processes that it
starts too, from torch.compile to the first result, or to the end of the first step; the least of the rounds. `import torch` and making the
module are apart, importing the compiler is not. `--kept-traces` has torch keep dynamo's work too (TORCH_CACHING_PRECOMPILE=1). `--profile`
writes what cProfile finds in each process (its cost is in the seconds then).
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from .layers.table import Layer
from .report import machine, table
from .settings import BUILD, ROOT, environment
from .suite import load

ROWS = ("resnet50", "bert_base", "ghostnet_100", "roberta_4")
STEPS = ("resnet18", "bert_4")
BACKENDS = {"hloom": "hloom", "compile": "inductor", "dynamo": "eager"}
"""Peers; the last is dynamo alone, which both have to wait for."""
_TIMEOUT = 600.0
_KEPT = BUILD / "first_calls"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"else {', '.join(ROWS)}; of training {', '.join(STEPS)}")
    parser.add_argument("--peers", default="hloom,compile", help=f"with commas, of {', '.join(BACKENDS)}")
    parser.add_argument("--training", action="store_true", help="steps in place of inference")
    parser.add_argument("--kept-traces", action="store_true", help="torch keeps dynamo's work")
    parser.add_argument("--rounds", type=int, default=1, help="pairs of processes")
    parser.add_argument("--profile", type=Path, help="a folder for ROW-PEER-1.prof and -2.prof")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options)))
        return 0
    rows = options.rows or (STEPS if options.training else ROWS)
    header = ["row", *(f"{name}, {which} process" for name in options.peers.split(",") for which in ("first", "second")), "hloom's second"]
    print(machine(), "Seconds of the processor, one thread.\n")
    print(table(header, [_row(name, options) for name in rows]))
    return 0


def _row(name: str, options: argparse.Namespace) -> list[str]:
    cells, second = [], ""
    for peer in options.peers.split(","):
        rounds = [_pair(name, peer, options) for _ in range(options.rounds)]
        error = next((found["error"] for pair in rounds for found in pair if "error" in found), None)
        if error is not None:
            cells += [error, ""]
            continue
        least = [min(found["seconds"] for found in each) for each in zip(*rounds)]
        cells += [f"{seconds:.2f}" for seconds in least]
        second = f"{least[1] / least[0]:.2f}" if peer == "hloom" else second
        print(f"  {name} {peer}: {' '.join(cells[-2:])}", file=sys.stderr, flush=True)
    return [name, *cells, second]


def _pair(name: str, peer: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """What a process finds that finds nothing kept, and the one after it."""
    shutil.rmtree(_KEPT, ignore_errors=True)
    return [_in_process(name, peer, which, options) for which in (1, 2)]


def _in_process(name: str, peer: str, which: int, options: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.first_calls", "--one", name, "--peers", peer, *["--training"] * options.training]
    if options.profile:
        options.profile.mkdir(parents=True, exist_ok=True)
        command += ["--profile", str(options.profile.absolute() / f"{name}-{peer}-{which}.prof")]
    kept = {"HLOOM_CACHE_DIR": str(_KEPT / "hloom"), "TORCHINDUCTOR_CACHE_DIR": str(_KEPT / "torch")}
    kept |= {"TORCH_CACHING_PRECOMPILE": "1"} if options.kept_traces else {}
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment(1) | kept, capture_output=True, text=True, timeout=_TIMEOUT)
    except subprocess.TimeoutExpired:
        return {"error": f"not done after {_TIMEOUT:.0f} s"}
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1][:100]}
    return json.loads(done.stdout.splitlines()[-1])


def measure(options: argparse.Namespace) -> dict[str, float]:
    """Of this process."""
    call = _prepared(options.one, BACKENDS[options.peers], options.training)
    profile = cProfile.Profile() if options.profile else None
    with profile or nullcontext():
        before = os.times()
        call()
        seconds = sum(os.times()[:4]) - sum(before[:4])
    if profile is not None:
        profile.dump_stats(options.profile)
    return {"seconds": seconds}


def _prepared(name: str, backend: str, training: bool) -> Callable[[], object]:
    """What compiles a row and calls it."""
    if training:
        from .training.steps import Training

        row = load("training").rows[name]
        steps: list[Callable[[Any], Any]] = []
        step = Training(row, lambda loss: lambda *inputs: steps[0](*inputs))
        import torch

        def first_step() -> None:
            steps.append(torch.compile(step._loss, backend=backend, dynamic=False))
            step()

        return first_step
    from .layers.modules import make, tensors

    row = _row_of(name)
    module, inputs = make(row), tensors(row)
    import torch

    return lambda: torch.compile(module, backend=backend, dynamic=False)(*inputs)


def _row_of(name: str) -> Layer:
    return next(rows[name] for rows in (load("models").rows, load("zoo").rows) if name in rows)


if __name__ == "__main__":
    sys.exit(main())

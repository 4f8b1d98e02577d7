"""The command line of the suites of torch modules."""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import itertools
import time
from pathlib import Path
from typing import Any

from ..session import Measured, Session
from ..settings import BUILD, forget_compiles
from ..suite import Suite, load
from .limits import LIMITS
from .results import Results, line, save, summary


def main(suite_name: str, description: str) -> int:
    suite = load(suite_name)
    options = _options(suite, description)
    rounds, slices, seconds = (3, 6, 0.2) if options.full else (1, 3, 0.04)
    rounds, slices, seconds = options.rounds or rounds, options.slices or slices, options.seconds or seconds
    BUILD.mkdir(parents=True, exist_ok=True)
    forget_compiles()
    results = Results.empty(suite_name, f"{rounds} rounds, {slices} slices of {seconds:g} s")
    start, done = time.monotonic(), 0
    todo = list(itertools.product(range(rounds), options.threads, options.rows))
    with Session(suite) as session, contextlib.suppress(KeyboardInterrupt):
        for number, threads, row in todo:
            takers = [name for name in _peers(suite, options, row) if suite.peers[name].installed and suite.peers[name].takes(row)]
            known = {name: results.measured.setdefault((row.name, threads, name), Measured()) for name in takers}
            session.run_round(row, takers, threads, slices, seconds, known, number)
            done += 1
            left = (time.monotonic() - start) / done * (len(todo) - done)
            print(f"[{done}/{len(todo)}, {left / 60:.0f} min left] {line(results, row.name, threads)}", flush=True)
            save(results, options.output)
    print(summary(results, suite))
    print(f"results: {options.output}")
    return 0


def _options(suite: Suite, description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        f"python -m benchmarks.{suite.name}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="*", metavar="NAME", help="rows or families, `*` and `?` allowed; all where there is none")
    parser.add_argument("--peers", help=f"with commas, of {', '.join(suite.peers)}; onnxruntime and most of JAX with --full only")
    parser.add_argument("--threads", default="1", help="numbers of threads, with commas")
    parser.add_argument(
        "--dtype", default="f32", choices=["f32", "bf16", "f16"], help="of rows that say none themselves; eager is in it too"
    )
    parser.add_argument("--batch", type=int, help="only rows of this batch, 1 or 16")
    parser.add_argument("--full", action="store_true", help="three rounds of long slices and every peer")
    parser.add_argument("--rounds", type=int, help="fresh processes each")
    parser.add_argument("--slices", type=int, help="turns of each peer in a round")
    parser.add_argument("--seconds", type=float, help="of a slice")
    parser.add_argument("-o", "--output", type=Path, default=BUILD / f"{suite.name}.json", help="results, for --compare and the page")
    parser.add_argument("--list", action="store_true", help="print the rows and do nothing")
    options = parser.parse_args()
    options.peers = options.peers.split(",") if options.peers else []
    for name in options.peers:
        if name not in suite.peers:
            parser.error(f"no peer {name!r}: they are {', '.join(suite.peers)}")
    options.threads = [int(count) for count in options.threads.split(",")]
    for pattern in options.rows:
        if not any(_named(row, pattern) for row in suite.rows.values()):
            parser.error(f"no row or family {pattern!r}: see --list")
    rows = [row for row in suite.rows.values() if not options.rows or any(_named(row, each) for each in options.rows)]
    rows = [row for row in rows if row.dtype == "f32" and options.batch in (None, row.batch)]
    options.rows = [suite.rows[name] for row in rows if (name := row.of_type(options.dtype).name) in suite.rows]
    if options.list:
        print(*(f"{row.family:12} {row.name:32} {row.module}" for row in options.rows), sep="\n")
        parser.exit()
    return options


def _peers(suite: Suite, options: argparse.Namespace, row: Any) -> list[str]:
    quick = ("hloom", *suite.best_of(row.name), *LIMITS)
    return options.peers or [name for name in suite.peers if options.full or name in quick]


def _named(row: object, pattern: str) -> bool:
    return any(fnmatch.fnmatchcase(getattr(row, part), pattern) for part in ("name", "family"))

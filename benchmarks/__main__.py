"""Times hloom beside its peers.

python -m benchmarks                             everything, one and two threads; writes docs/benchmarks.md
python -m benchmarks softmax mlp --threads 1     two rows, printed only
python -m benchmarks --quick                     one short round
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import subprocess
import sys
import time

from .peers import PEERS
from .report import DOCUMENT, Results, ratio, speed, write_section
from .rows import ROWS
from .session import Measured, Session
from .settings import BUILD, ROOT, forget_compiles
from .suite import load


def main() -> int:
    options = _options()
    rows = [ROWS[name] for name in options.rows or ROWS]
    peers = [name for name in options.peers.split(",") if PEERS[name].installed]
    rounds, slices, seconds = (1, 4, 0.08) if options.quick else (options.rounds, 6, 0.2)
    forget_compiles()
    BUILD.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-m", "benchmarks.export", *(row.name for row in rows)], check=True, cwd=ROOT)
    results: Results = {}
    start = time.monotonic()
    total = rounds * len(options.threads) * len(rows)
    done = 0
    with Session(load("workloads")) as session, contextlib.suppress(KeyboardInterrupt):
        for number, threads, row in itertools.product(range(rounds), options.threads, rows):
            takers = [name for name in peers if PEERS[name].takes(row)]
            known = {name: results.setdefault((row.name, threads, name), Measured()) for name in takers}
            session.run_round(row, takers, threads, slices, seconds, known, number)
            done += 1
            left = (time.monotonic() - start) / done * (total - done)
            print(f"[{done}/{total}, {left / 60:.0f} min left] {_line(results, row.name, threads, takers)}", flush=True)
    text = speed(results, rounds, slices, seconds, " ".join(["python -m benchmarks", *sys.argv[1:]]))
    if options.write or not (options.rows or options.quick):
        write_section("speed", text)
        print(f"written to {DOCUMENT.relative_to(ROOT)}")
    else:
        print(text)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"one or more of {', '.join(ROWS)}")
    parser.add_argument("--threads", default="1,2", help="numbers of threads, with commas")
    parser.add_argument("--peers", default=",".join(PEERS), help=f"of {', '.join(PEERS)}")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="one round of short slices")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md even for a part or a quick run")
    options = parser.parse_args()
    for name in [*options.rows, *options.peers.split(",")]:
        if name not in ROWS and name not in PEERS:
            parser.error(f"no row or peer {name!r}")
    options.threads = [int(count) for count in options.threads.split(",")]
    return options


def _line(results: Results, row: str, threads: int, peers: list[str]) -> str:
    parts = []
    for peer in peers:
        measured = results[row, threads, peer]
        if not measured.medians:
            parts.append(f"{peer} failed ({measured.error})")
            continue
        against = ratio(results, row, threads, peer)
        parts.append(f"{peer} {measured.median:.3g}" + (f" ({against:.2f})" if peer != "hloom" and against else ""))
        parts[-1] += " DIFFERS" * bool(measured.differs)
    return f"{row}, threads {threads}: {'  '.join(parts)}"


if __name__ == "__main__":
    sys.exit(main())

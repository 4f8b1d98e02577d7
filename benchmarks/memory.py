"""hloom's memory.

    python -m benchmarks.memory [FILE.mlir | FOLDER]… [--write]

Of every program (the examples, and those named): the arena beside the largest sum of bytes that are live at once, which no arena can be
smaller than. Of one executable: the size of the process before and after 100,000 calls, and whether two threads may call it at once.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from torch_mlir import ir

import hloom
from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.passes.common.rewriting import functions, symbol_name
from hloom.passes.errors import CompileError

from .bars import ARENA_OVER_LIVE
from .report import DOCUMENT, machine, table, write_section
from .settings import ROOT

CALLS = 100_000
WARM_CALLS = 1_000
THREAD_CALLS = 10_000
CALLED = """
func.func @main(%x: tensor<16x32xf32>, %w: tensor<32x32xf32>) -> tensor<16x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  %1 = stablehlo.tanh %0 : tensor<16x32xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  return %2 : tensor<16x32xf32>
}"""
"""Small, so that calls are many; its intermediate result lies in the arena."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", type=Path, metavar="FILE or FOLDER")
    parser.add_argument("--write", action="store_true", help="write the section of docs/benchmarks.md")
    options = parser.parse_args()
    parts = ["## Memory", machine(), "### Arenas", arenas(_files([ROOT / "examples", *options.programs])), "### Calls"]
    exe = hloom.compile(CALLED, target="cpu")
    parts += [f"Two small contractions with {exe.arena_bytes} bytes of arena. {repeated_calls(exe)}", two_threads(exe)]
    text = "\n\n".join(parts)
    print(text)
    if options.write:
        write_section("memory", text)
        print(f"written to {DOCUMENT.relative_to(ROOT)}")
    return 0


def _files(places: Sequence[Path]) -> Iterable[Path]:
    for place in places:
        yield from sorted(place.glob("*.mlir")) if place.is_dir() else [place]


def arenas(files: Iterable[Path]) -> str:
    """The table of all programs; those that hloom does not compile say so."""
    lines = []
    for path in files:
        print(f"  {path.name}", file=sys.stderr, flush=True)
        try:
            arena, live = arena_and_live(path)
        except CompileError as error:
            lines.append([path.stem, "–", "–", f"{error.code}: {error.message.splitlines()[0]}"])
            continue
        over = arena / live if live else float(arena > 0) + 1
        text = f"{over:.3f}"
        lines.append([path.stem, str(arena), str(live), f"**{text}**" if over > ARENA_OVER_LIVE else text])
    return table(["program", "arena, bytes", "most live bytes", f"arena over live (≤ {ARENA_OVER_LIVE})"], lines)


def arena_and_live(path: Path) -> tuple[int, int]:
    """Bytes of the compiled program's arena, and the largest sum of live bytes that buffer assignment saw."""
    compilation = Compilation(load_program(path.read_bytes()), "cpu")
    compilation.to("lhlo")
    module = compilation.module
    main_function = next(function for function in functions(module) if symbol_name(function) == "main")
    live = ir.IntegerAttr(main_function.attributes["hloom.live_bytes"]).value
    del main_function  # no handle may outlive a pass
    compilation.to("thunk")
    programs = [op.operation for op in module.regions[0].blocks[0].operations if op.operation.name == "thunk.program"]
    entry = next(op for op in programs if ir.StringAttr(op.attributes["sym_name"]).value == "main")
    return ir.IntegerAttr(entry.attributes["arena_bytes"]).value, live


def repeated_calls(exe: hloom.Executable) -> str:
    inputs = _inputs(exe, 0)
    for _ in range(WARM_CALLS):
        exe(*inputs)
    before, start = _resident(), time.perf_counter()
    for _ in range(CALLS):
        exe(*inputs)
    seconds, after = time.perf_counter() - start, _resident()
    return (
        f"{CALLS} calls, {seconds / CALLS * 1e6:.1f} µs each: the process had {before / 1024:.0f} KiB resident after {WARM_CALLS} calls, "
        f"{after / 1024:.0f} KiB at the end, {(after - before) / 1024:+.0f} KiB."
    )


def two_threads(exe: hloom.Executable) -> str:
    """Two threads call one executable at once, each with inputs of its own; each must get what it gets alone."""
    given = [_inputs(exe, seed) for seed in (1, 2)]
    alone = [exe.flat(inputs) for inputs in given]
    wrong = [0, 0]
    barrier = threading.Barrier(2)

    def work(index: int) -> None:
        barrier.wait()
        for _ in range(THREAD_CALLS):
            results = exe.flat(given[index])
            wrong[index] += any(a.tobytes() != b.tobytes() for a, b in zip(results, alone[index]))

    threads = [threading.Thread(target=work, args=(index,)) for index in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = f"Two threads at once, {THREAD_CALLS} calls each with inputs of its own: {sum(wrong)} results differ from those of a call alone."
    return f"**{text}**" if any(wrong) else text


def _inputs(exe: hloom.Executable, seed: int) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    return [generator.standard_normal(spec.shape).astype(spec.numpy_dtype) for spec in exe.signature.inputs]


def _resident() -> int:
    """Bytes of this process that are in memory."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("/proc/self/status names no VmRSS")


if __name__ == "__main__":
    sys.exit(main())

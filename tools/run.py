"""hloom-run: runs a program (.hloom, or .mlir, which it compiles first), and checks or times it.

    hloom-run mlp.mlir --input=random --check=interpreter
    hloom-run mlp.hloom --input=4x8xf32=1.5 --input=@w.npy --output=@y.npy
    hloom-run mlp.mlir --input=@case.npz --expected-output=@case.npz --benchmark
    hloom-run mlp.mlir --input=random --profile=trace.json
    hloom-run model.hloom --entry=decode --input=random     one of several entries
    hloom-run mlp.mlir --input=random --simulate --check=interpreter     the kernels for a GPU, on a simulator of it
    hloom-run open.mlir --shape=16x8xf32 --input=random     a program of open shapes, for one of them

VALUE is one of

    4x8xf32         zeros                             @x.npy           an array
    4x8xf32=1.5     all elements alike                @x.npz           several: in0, in1, … (out0, … for outputs), else all in order
    4xf32=1,2,3,4   each element, row-major           4x8xf32=@x.bin   the bytes of the elements, row-major
    random          random elements, from seed 0      random:7         from seed 7

Give --input once for each argument; a single random, random:7 or @x.npz gives all of them.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hloom.runtime.comparison import conditioned, difference, neighbours
from hloom.runtime.entries import entry_of, has_entries, loaded
from hloom.runtime.errors import ExecutionError
from hloom.runtime.executable import Executable
from hloom.runtime.library import get_threads, set_threads
from hloom.runtime.profile import profile

from ._common import ToolParser, compilation_of, read_input, run_tool, warn_idle_rules
from ._counters import print_counters
from ._shapes import only, programs, wanted_shapes
from ._values import is_artifact, load_artifact, read_values, write_value

Arrays = Sequence[np.ndarray]

_PROFILED_CALLS = 3
_SIMULATED = "sm_90a"
"""What --simulate runs where no --target is given."""


def main(argv: list[str] | None = None) -> int:
    return run_tool(_run, argv)


def _run(argv: list[str]) -> int:
    return _Run(_parser().parse(argv)).run()


def _parser() -> ToolParser:
    parser = ToolParser("hloom-run", description=__doc__)
    bind = "inputs (by index) that are bound once instead of given at each call"
    parser.add_program(".hloom file, or MLIR text or bytecode (- for stdin)", bind, "what to compile for: ")
    parser.add_argument(
        "--input", action="append", default=[], metavar="VALUE", help="an argument, in order; the forms of VALUE stand below"
    )
    expected = "what a result should be, in order; exit status 1 where one differs"
    parser.add_argument("--expected-output", action="append", default=[], metavar="VALUE", help=expected)
    parser.add_argument(
        "--check", choices=["interpreter"], help="compare with StableHLO's reference interpreter; exit status 1 where a result differs"
    )
    parser.add_argument("--rtol", type=float, help="relative tolerance, instead of the element type's own")
    parser.add_argument("--atol", type=float, help="absolute tolerance, instead of the element type's own")
    written = "where to write a result, in order: as .npy, or the bytes of its elements as .bin; - prints it"
    parser.add_argument("--output", action="append", default=[], metavar="@FILE.npy", help=written)
    parser.add_argument("--benchmark", action="store_true", help="time calls (with --threads threads)")
    parser.add_argument("--min-time", type=float, default=1.0, metavar="SECONDS", help="how long --benchmark times calls (1)")
    parser.add_argument(
        "--profile", metavar="FILE", help="time every step of a few calls, print a table, and write a trace for ui.perfetto.dev"
    )
    simulated = f"run the kernels on a simulated GPU, and print what they did; --target={_SIMULATED} if none is given"
    parser.add_argument("--simulate", action="store_true", help=simulated)
    parser.add_argument("--threads", type=int, help="how many threads a call may use")
    return parser


class _Run:
    """One run of the tool."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.source = b""

    def run(self) -> int:
        options = self.options
        if options.simulate and (options.benchmark or options.profile):
            raise ExecutionError("the simulator says nothing about time", remedy="leave out --benchmark and --profile, or --simulate")
        if options.threads is not None:
            set_threads(options.threads)
        exe, inputs, everything = self._prepare()
        results = exe.flat(inputs)
        if options.simulate:
            print_counters(exe.device)
        self._write(exe, results)
        ok = True
        if options.expected_output:
            expected = read_values(options.expected_output, exe.signature.outputs, "out")
            ok &= self._compare("expected", exe, results, expected)
        if options.check:
            ok &= self._check(exe, everything, results)
        if options.benchmark:
            self._benchmark(exe, inputs)
        if options.profile:
            self._profile(exe, inputs)
        return 0 if ok else 1

    def _prepare(self) -> tuple[Executable, list[np.ndarray], list[np.ndarray]]:
        """The program ready to be called, the inputs of a call, and these with the bound values where the program has them."""
        options = self.options
        if is_artifact(options.program):
            for flag in ("bind", "policy"):
                if getattr(options, flag):
                    raise ExecutionError(f"--{flag} was decided when the file was written", remedy=f"give --{flag} to hloom-compile")
            exe = self._loaded()
            inputs = read_values(options.input, exe.signature.inputs)
            return exe, inputs, inputs
        self.source = read_input(options.program)
        if options.simulate and options.target == "auto":
            options.target = _SIMULATED
        found, open_, sets = programs(self.source, options)
        only(sets, "hloom-run")
        more = {"profile": options.profile is not None, "simulated": "gpu" if options.simulate else "", "keep_original": open_ is not None}
        made = compilation_of(found[0], options, **more)
        if open_ is not None:
            self.source, options.function = made.original, "main"  # what the interpreter runs
        everything = read_values(options.input, [spec for i, spec in enumerate(made.program.inputs) if i not in made.program.state])
        artifact = made.artifact()
        warn_idle_rules(artifact.manifest["report"])
        exe = Executable(artifact, self._device())
        known = exe.signature.bound
        if known:
            exe.bind({index: everything[index] for index in known})
        return exe, [value for index, value in enumerate(everything) if index not in known], everything

    def _loaded(self) -> Executable:
        """The file's program; of one of several entries, --entry's; of one of several shapes, that for the shapes of the inputs."""
        artifact = load_artifact(self.options.program)
        exe = loaded(entry_of(artifact, self.options.function) if has_entries(artifact) else artifact, self._device())
        if isinstance(exe, Executable):
            return exe
        sets = wanted_shapes(self.options, exe.signature, exe.shapes)
        only(sets, "hloom-run")
        return exe.specialise(sets[0])[0]

    def _device(self) -> Callable[[Any], Any] | None:
        """What makes the device; None for the target's own."""
        if not self.options.simulate:
            return None
        from hloom.compiler.simulation import simulator

        return simulator()

    def _write(self, exe: Executable, results: Arrays) -> None:
        wanted = self.options.output
        if len(wanted) > len(results):
            raise ExecutionError(
                f"--output is given {len(wanted)} times, the program has {len(results)} results", remedy="give one for each result at most"
            )
        for place, result in zip(wanted, results):
            if place == "-":
                print(np.array2string(result, separator=", "))
                continue
            try:
                write_value(place.removeprefix("@"), result)
            except OSError as error:
                raise ExecutionError(f"{place} cannot be written: {error.strerror}") from None
        if not (wanted or self.options.benchmark or self.options.check or self.options.expected_output):
            for spec, result in zip(exe.signature.outputs, results):
                print(f"{spec.name}: {spec} = {np.array2string(result, separator=', ', threshold=100)}")

    def _check(self, exe: Executable, inputs: Arrays, results: Arrays) -> bool:
        from hloom.compiler.interpreter import Interpreter

        if not self.source:
            raise ExecutionError("a .hloom file holds no program for the interpreter", remedy="run the .mlir program instead")
        with Interpreter() as interpreter:
            outcome = interpreter.run(self.source, inputs, self.options.function)
            note = f", {outcome.by_numpy} large contractions by NumPy" if outcome.by_numpy else ""
            print(f"reference interpreter: {outcome.seconds:.1f} s{note}")
            if self._compare("interpreter", exe, results, outcome.results):
                return True
            print("the reference once more, on inputs moved by an ulp: how far apart may two right answers be?")
            moved = interpreter.run(self.source, neighbours(inputs), self.options.function)
        return self._compare_conditioned(exe, results, outcome.results, moved.results)

    def _compare_conditioned(self, exe: Executable, results: Arrays, expected: Arrays, moved: Arrays) -> bool:
        """Whether every output is near enough, be it only as an ill-conditioned program's are."""
        ok = True
        for spec, found, wanted, other in zip(exe.signature.outputs, results, expected, moved):
            near, apart, limit = conditioned(found, wanted, other)
            near |= difference(found, wanted, self.options.rtol, self.options.atol).ok
            ok &= near
            print(f"conditioned {spec.name}: {'ok' if near else 'FAILED'}, absolute {apart:.3g} of {limit:.3g} allowed")
        return ok

    def _compare(self, with_: str, exe: Executable, results: Arrays, expected: Arrays) -> bool:
        ok = True
        for spec, found, wanted in zip(exe.signature.outputs, results, expected):
            apart = difference(found, wanted, self.options.rtol, self.options.atol)
            ok &= apart.ok
            print(f"{with_} {spec.name} {spec}: {'ok' if apart.ok else 'FAILED'}, {apart}")
        return ok

    def _benchmark(self, exe: Executable, inputs: Arrays) -> None:
        outputs = exe.flat(inputs)
        times: list[float] = []
        end = time.perf_counter() + self.options.min_time
        while len(times) < 5 or time.perf_counter() < end:
            start = time.perf_counter()
            exe.flat(inputs, outputs)
            times.append((time.perf_counter() - start) * 1e3)
        low, middle, mean = min(times), statistics.median(times), statistics.mean(times)
        print(f"{len(times)} calls, {get_threads()} threads: min {low:.4f} ms, median {middle:.4f} ms, mean {mean:.4f} ms")

    def _profile(self, exe: Executable, inputs: Arrays) -> None:
        found = profile(exe, inputs, _PROFILED_CALLS)
        found.write_trace(self.options.profile)
        print(found)
        print(f"{len(found.measurements)} measurements of {_PROFILED_CALLS} calls in {self.options.profile}")


if __name__ == "__main__":
    sys.exit(main())

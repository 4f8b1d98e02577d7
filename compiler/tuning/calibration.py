"""`hloom-compile --calibrate`: the figures of a target file, measured on this machine.

Each comes from programs that hloom compiles itself (probes.py), so that a price means what its kernels take: bandwidths of memory and of
the last cache, the rates of products by type, of integers and of exponentials, what entering a kernel costs, opening a parallel region, a
turn of a loop. All run in turn, in rounds, and the least time of each counts; what runs on one thread is timed by CPU time. The sizes of
caches are what the system reports; the last one is as large as memory looks fast, where that is less than half (a machine shares it).
What several threads do is timed by the clock: on a machine that does other things those figures stay as they were, and a comment says so.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from hloom.dialects.target import TargetView
from hloom.passes.errors import CompileError
from hloom.runtime.comparison import random_array
from hloom.runtime.executable import Executable
from hloom.runtime.library import get_threads, set_threads

from ..compile import Compilation
from ..frontend import load_program
from ..target import load_target, resolve
from .probes import KERNEL_TILES, KERNELS, Probe, moved, probes
from .progress import Progress

_ROUNDS = 15
_ROUND_SECONDS = 0.01
_PS = 10**12
_LEAST_LAUNCH_PS = 10_000
"""A kernel costs something, whatever noise says: it is code, and is compiled."""
_BUSY = 1.5
"""A load that more than this process makes."""
_FAST = 0.7
"""A working set is in the last cache where it moves with so much of the bandwidth of one that is."""


def calibrated_text(name: str = "cpu") -> str:
    """The file of a target that is this machine, as `name` describes it, with what was measured. Raises CompileErrors."""
    target = resolve("cpu" if name == "auto" else name)
    if target.kind != "cpu":
        raise CompileError(f"only this machine's processor is measured, not {target.name}", remedy="leave --target out")
    return target_text(target, calibrated(target))


def calibrated(target: TargetView) -> dict[str, int]:
    """The entries that were measured."""
    threads = get_threads()
    set_threads(1)
    try:
        with Progress(60.0) as progress:
            progress.tell("one thread")
            seconds = _least({key: _call(probe, target) for key, probe in probes(target)}, time.process_time)
            progress.tell("the last cache")
            llc = _llc_bytes(target)
            progress.tell("all threads")
            return {**_entries(target, seconds, dict(probes(target))), **llc, **_on_all_threads(target, seconds["dram"])}
    finally:
        set_threads(threads)


def target_text(target: TargetView, measured: Mapping[str, int]) -> str:
    """TOML that inherits the file that the target was made from, with all in which it is another, and what was measured."""
    base = load_target(target.name)
    described = {f.name: getattr(target, f.name) for f in fields(target) if getattr(target, f.name) != getattr(base, f.name)}
    lines = [
        f"# This machine as hloom measured it, from {target.name}; behind each figure what it was before.",
        f'inherits = "{target.name}"',
    ]
    if "parallel_region_ps" not in measured and target.cores > 1:
        lines.append("# The machine was busy: memory_cores and parallel_region_ps are not measured.")
    lines += [f"{key} = {json.dumps(value)}" for key, value in described.items() if key not in measured]
    lines += [f"{key} = {value:_}  # {getattr(target, key):_}" for key, value in measured.items()]
    return "\n".join(lines) + "\n"


def _entries(target: TargetView, seconds: Mapping[str, float], made: Mapping[str, Probe]) -> dict[str, int]:
    rates = {key: round(made[key].amount / each) for key, each in seconds.items()}
    types = {"f64": "f64_flops", "f32": "f32_flops", "f16": "f16_flops", "bf16": "bf16_flops", "i8": "int8_flops", "i32": "integer_ops"}
    _, call = np.polyfit(KERNEL_TILES, [seconds[f"kernels of {tiles}"] / KERNELS for tiles in KERNEL_TILES], 1)
    launch = max(_LEAST_LAUNCH_PS, round(call * _PS))
    per_exponential = 2 * (seconds["exponentials"] - seconds["negations"] / 2) / made["exponentials"].amount
    return {
        "dram_bytes_per_second": rates["dram"],
        "llc_bytes_per_second": max(rates["llc"], rates["dram"]),
        **{entry: rates[key] for key, entry in types.items()},
        "special_flops": max(1, round(per_exponential * rates["f32"])),
        "launch_ps": launch,
        "min_gain_ps": min(target.min_gain_ps, launch // 2),
        "loop_iteration_ps": max(1, round(seconds["turns"] / made["turns"].amount * _PS)),
    }


def _llc_bytes(target: TargetView) -> dict[str, int]:
    """The largest working set that moves like one of an eighth of the cache, if the cache is said to be twice as large or more."""
    sizes = [target.llc_bytes >> shift for shift in (3, 2, 1)]
    sizes = [size for size in sizes if size > 2 * target.l2_bytes]
    if len(sizes) < 2:
        return {}
    calls = {str(size): _call(moved(size), target) for size in sizes}
    seconds = _least(calls, time.process_time)
    rate = {size: size / seconds[str(size)] for size in sizes}
    fast = [size for size in sizes if rate[size] > _FAST * rate[sizes[0]]]
    return {"llc_bytes": max(fast)} if max(fast) < target.llc_bytes // 2 else {}


def _on_all_threads(target: TargetView, alone: float) -> dict[str, int]:
    """What memory gives to all cores, and what a parallel region costs; nothing where the machine does other things."""
    if target.cores < 2 or is_busy():
        return {}
    probe = moved(4 * max(target.llc_bytes, 16 << 20))
    small = moved(1 << 18)
    eager = target.with_entries({"parallel_region_ps": 0})
    single = _least({"small": _call(small, target)}, time.perf_counter)["small"]
    set_threads(target.cores)
    try:
        found = _least({"whole": _call(probe, target), "small": _call(small, eager)}, time.perf_counter)
    finally:
        set_threads(1)
    region = found["small"] - single / target.cores
    return {
        "memory_cores": max(1, min(target.cores, round(alone / found["whole"]))),
        "parallel_region_ps": max(target.launch_ps, round(region * _PS)),
    }


def is_busy() -> bool:
    """Whether other processes take the cores."""
    return hasattr(os, "getloadavg") and os.getloadavg()[0] > _BUSY


def _call(probe: Probe, target: TargetView) -> Callable[[], object]:
    program = load_program(probe.text)
    compilation = Compilation.of_program(program, "probe", target=target, policy=probe.policy or None)
    rng = np.random.default_rng(0)
    values = [random_array(spec, rng) for spec in compilation.program.inputs]
    for index in compilation.bound:
        compilation.values[index] = values[index]
    exe: Executable = compilation.executable()
    inputs: list[Any] = [value for index, value in enumerate(values) if index not in compilation.bound]
    outputs = exe.flat(inputs)
    return lambda: exe.flat(inputs, outputs)


def _least(calls: Mapping[str, Callable[[], object]], now: Callable[[], float]) -> dict[str, float]:
    """Seconds of one call of each: the least of rounds in which all have their turn."""
    counts = {}
    for key, call in calls.items():
        call()
        start = now()
        call()
        counts[key] = max(1, int(_ROUND_SECONDS / max(1e-7, now() - start)))
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(_ROUNDS):
        for key, call in calls.items():
            start = now()
            for _ in range(counts[key]):
                call()
            best[key] = min(best[key], (now() - start) / counts[key])
    return best

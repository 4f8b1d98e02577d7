"""The times of a program's thunks on the GPU, by events in its graph, beside what the compiler took them for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hloom.runtime.profile import measured_thunks

from .cases import Index
from .check import load_case

MEASURED = ".measured.hloom"
"""What a program is called that was compiled to be measured."""
_CALLS = 12


def kernel_times(folder: Path, name: str) -> list[dict[str, Any]]:
    """Of each thunk outside loops and branches the least of some calls in microseconds, in the order of the program.

    An event before and one behind each keep neighbours from overlapping, and take a microsecond or so themselves. Inputs are copied before
    each call, so small ones lie in the L2.
    """
    return thunk_times(*load_case(Index.read(folder).case(name), folder, ending=MEASURED))


def thunk_times(exe: Any, inputs: Sequence[Any]) -> list[dict[str, Any]]:
    times: dict[int, float] = {}
    for _ in range(_CALLS):
        exe.flat(inputs)
        for number, begin, end in exe.device.measurements():
            times[number] = min(times.get(number, float("inf")), (end - begin) * 1e-3)
    thunks = measured_thunks(exe.program.manifest)
    kernels = {kernel["name"]: kernel for kernel in exe.report.data.get("kernels", [])}
    return [{"us": round(time, 3), **_known(thunks[number], kernels)} for number, time in times.items()]


def _known(thunk: dict[str, Any], kernels: dict[str, Any]) -> dict[str, Any]:
    of = kernels.get(thunk.get("kernel", ""), {})
    known = {"label": thunk["label"], "kernel": thunk.get("kernel", thunk.get("thunk", "")), "source": ", ".join(thunk["source"])[:120]}
    chosen = {key: of[key] for key in ("grid", "block", "registers", "least", "moved", "flops", "bound") if key in of}
    return known | chosen | ({"roofline_us": of["roofline_ps"] * 1e-6} if "roofline_ps" in of else {})

"""A process that checks or measures: a line of JSON in, a line of JSON out, until its input ends or something fails.

After a failure it ends, for a GPU that has failed once fails on; who started it starts another (processes.py).
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..rows import Row
from .cases import Index, drawn
from .check import check, simulator
from .costs import costs
from .expected import difference
from .kernels import kernel_times
from .peers import PEERS, hloom_ready
from .rows import ROWS


def check_case(folder: str, name: str, device: str) -> dict[str, Any]:
    case = Index.read(Path(folder)).case(name)
    return {"differs": check(case, Path(folder), simulator() if device == "simulator" else None)}


def facts() -> dict[str, Any]:
    from . import alone
    from .timing import device_facts, has_torch

    return device_facts() if has_torch() else alone.facts()


def measure_ceilings(seconds: float) -> dict[str, Any]:
    from .ceilings import ceilings

    return {"ceilings": ceilings(seconds)}


def measure(folder: str, name: str, peer: str, seconds: float) -> dict[str, Any]:
    from .timing import copies_for

    for module in PEERS[peer].modules:
        importlib.import_module(module)
    workload = ROWS[name]
    nbytes = least_bytes(workload, Path(folder))
    copies = copies_for(nbytes, facts()["l2_bytes"])
    ready = PEERS[peer].prepare(workload, copies, Path(folder))
    return {
        "differs": _differs(workload, peer, ready.results, Path(folder)),
        "copies": copies,
        "bytes": nbytes,
        "device": asdict(ready.device(seconds)),
        "call": asdict(ready.call(seconds)),
    }


def measure_kernels(folder: str, name: str) -> dict[str, Any]:
    return {"kernels": kernel_times(Path(folder), name)}


def measure_costs(seconds: float) -> dict[str, Any]:
    return {"costs": costs(seconds)}


def measure_program(folder: str, name: str, seconds: float) -> dict[str, Any]:
    """Of a program that is no workload: its arrays stay where they are, and may lie in the L2."""
    ready = hloom_ready(Index.read(Path(folder)).case(name), 1, Path(folder))
    return {"device": asdict(ready.device(seconds)), "call": asdict(ready.call(seconds))}


def measure_one_model(folder: str, name: str, peer: str, seconds: float) -> dict[str, Any]:
    from .models import measure_model

    return measure_model(Path(folder), name, peer, seconds)


def least_bytes(row: Row, folder: Path) -> int:
    """What a call must move at least: inputs, weights and results, each once."""
    inputs, weights = drawn(row)
    given = sum(array.nbytes for array in (*inputs, *weights))
    width = inputs[0].dtype.itemsize
    with np.load(folder / f"{row.name}.npz") as kept:
        return given + sum(int(np.prod(kept[name])) * width for name in kept if name.endswith(".shape"))


def _differs(row: Row, peer: str, results: list[np.ndarray], folder: Path) -> str:
    if peer == "compile" and row.program == "cartpole_rng":
        return ""  # another generator
    with np.load(folder / f"{row.name}.npz") as kept:
        return difference(results, {name: kept[name] for name in kept}, row.tolerance, row.chaotic)


COMMANDS: dict[str, Callable[..., dict[str, Any]]] = {
    "check": check_case,
    "facts": facts,
    "ceilings": measure_ceilings,
    "measure": measure,
    "program": measure_program,
    "model": measure_one_model,
    "kernels": measure_kernels,
    "costs": measure_costs,
}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries print to standard output: that is for answers alone
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = COMMANDS[request.pop("do")](**request)
        except Exception as error:
            lines = [text.strip() for text in f"{type(error).__name__}: {error}".splitlines() if text.strip()]
            print(json.dumps({"error": " ".join(lines)[:300]}), file=answers, flush=True)
            return
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()

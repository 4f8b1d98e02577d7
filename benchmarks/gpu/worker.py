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
from .peers import PEERS, Ready, hloom_ready
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


_READY: dict[tuple[str, str, str], tuple[dict[str, Any], Ready]] = {}
"""By what it is ("row", "model"), name and peer."""


def make_ready(folder: str, what: str, name: str, peer: str) -> dict[str, Any]:
    """Has a workload or a model ready, beside others. What fails is told, and the others stay."""
    try:
        _READY[what, name, peer] = _MAKERS[what](Path(folder), name, peer)
    except Exception as error:
        return {"error": _words(error), "goes_on": True}
    return {}


def take_times(what: str, name: str, peer: str, seconds: float) -> dict[str, Any]:
    """Of what is ready."""
    answer, ready = _READY.pop((what, name, peer))
    return answer | {"device": asdict(ready.device(seconds)), "call": asdict(ready.call(seconds))}


def row_ready(folder: Path, name: str, peer: str) -> tuple[dict[str, Any], Ready]:
    from .timing import copies_for

    for module in PEERS[peer].modules:
        importlib.import_module(module)
    workload = ROWS[name]
    nbytes = least_bytes(workload, folder)
    copies = copies_for(nbytes, facts()["l2_bytes"])
    ready = PEERS[peer].prepare(workload, copies, folder)
    return {"differs": _differs(workload, peer, ready.results, folder), "copies": copies, "bytes": nbytes}, ready


def _model_ready(folder: Path, name: str, peer: str) -> tuple[dict[str, Any], Ready]:
    from .models import model_ready

    return model_ready(folder, name, peer)


_MAKERS = {"row": row_ready, "model": _model_ready}


def measure_kernels(folder: str, name: str) -> dict[str, Any]:
    return {"kernels": kernel_times(Path(folder), name)}


def measure_costs(seconds: float) -> dict[str, Any]:
    return {"costs": costs(seconds)}


def measure_program(folder: str, name: str, seconds: float) -> dict[str, Any]:
    """Of a program that is no workload: its arrays stay where they are, and may lie in the L2."""
    ready = hloom_ready(Index.read(Path(folder)).case(name), 1, Path(folder))
    return {"device": asdict(ready.device(seconds)), "call": asdict(ready.call(seconds))}


def measure_model_kernels(folder: str, name: str) -> dict[str, Any]:
    from .models import model_kernels

    return {"kernels": model_kernels(Path(folder), name)}


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


def _words(error: Exception) -> str:
    lines = [text.strip() for text in f"{type(error).__name__}: {error}".splitlines() if text.strip()]
    return " ".join(lines)[:300]


COMMANDS: dict[str, Callable[..., dict[str, Any]]] = {
    "check": check_case,
    "facts": facts,
    "ceilings": measure_ceilings,
    "ready": make_ready,
    "time": take_times,
    "program": measure_program,
    "model_kernels": measure_model_kernels,
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
            print(json.dumps({"error": _words(error)}), file=answers, flush=True)
            return
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()

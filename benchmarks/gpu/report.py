"""What a run found, as JSON and as the GPU section of docs/benchmarks.md."""

from __future__ import annotations

import datetime
import json
import platform
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..report import table
from .peers import PEERS
from .rows import ROWS
from .timing import MOST_COPIES

SECTION = "gpu"
RESULTS, TABLE = "results.json", "gpu.md"

HOW = f"""Every program was compiled on a machine without a GPU. f32 stays f32 for all peers: no tf32. **On the device**: between two events
around queued launches, over their number; hloom: its own graph, torch.compile and CUDA: their calls captured in one. JAX: one program
of all copies by the host's clock, over their number. **A call**: the host's clock over calls from Python that do not wait for each
other. Each workload takes turns on copies of its own (weights and results too), enough to exceed twice the L2, at most {MOST_COPIES};
GB/s count inputs, weights and results once. Bold: hloom is slower. Numbers are medians / least of the samples, in microseconds."""


KERNELS = """The dearest thunks of each program, by events in its graph, which take a microsecond or so themselves; beside it the least that
the compiler thinks possible, and what bounds it."""
MODELS = """Public models with random weights, compiled without them and bound on the GPU. Microseconds, medians: on the device (torch's
calls captured in a graph), and of a call from Python. Ratio: hloom's time on the device over torch.compile's, or eager's. Off: the norm of
the difference from eager's results in f32 (of an f32 model in f64) over their norm."""
PROGRAMS = "Examples and model programs, hloom alone: their arrays stay where they are. Microseconds, median / least."
_DEAREST = 3


@dataclass
class Found:
    """Of one run, filled step by step; everything is plain data."""

    target: str = ""
    ran_on: str = ""
    """"cuda" or "simulator"."""
    date: str = ""
    machine: str = ""
    device: dict[str, Any] = field(default_factory=dict)
    ceilings: dict[str, float] = field(default_factory=dict)
    costs: dict[str, float] = field(default_factory=dict)
    checks: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By case: `error` or `differs`, empty where it passed; `skipped` where there is no program."""
    kernels: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By case what kernels.py found; or `error`."""
    programs: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By case that is no workload `device` and `call`, as in `times`; or `error`."""
    models: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    """By model and peer what models.py found; or `error`."""
    times: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    """By workload and peer: `device` and `call` in microseconds, `copies`, `bytes`, `differs`; or `error`."""

    @staticmethod
    def start(target: str, ran_on: str) -> Found:
        return Found(target, ran_on, datetime.date.today().isoformat(), f"{platform.machine()}, Python {platform.python_version()}")

    @staticmethod
    def read(path: Path) -> Found:
        return Found(**json.loads(path.read_text()))

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / RESULTS).write_text(json.dumps(asdict(self), indent=1) + "\n")
        (folder / TABLE).write_text(section(self) + "\n")

    def failed(self) -> list[str]:
        """The cases that did not pass, and the workloads on which hloom could not be timed or was wrong."""
        timed = [row for row, peers in (*self.times.items(), *self.models.items()) if problem(peers.get("hloom", {}))]
        return [*(name for name, found in self.checks.items() if problem(found)), *timed]


def problem(found: dict[str, Any]) -> str:
    return found.get("error", "") or found.get("differs", "")


def section(found: Found) -> str:
    device = found.device
    name = device.get("device", "the simulator" if found.ran_on == "simulator" else "unknown (nothing was timed)")
    versions = f", torch {device['torch']}, JAX {device['jax']}, CUDA {device['cuda']}, L2 {device['l2_bytes'] >> 20} MiB" if device else ""
    parts = [f"## GPU: {name}", f"{found.date}. {name}{versions}; {found.machine}; programs for {found.target}."]
    if found.ceilings:
        parts += ["### Ceilings", table(["what", "measured"], [[what, _number(value)] for what, value in found.ceilings.items()])]
    if found.costs:
        parts += ["### Costs", table(["what", "measured"], [[what, _number(value)] for what, value in found.costs.items()])]
    if found.times:
        parts += ["### Run time", HOW, "On the device:", _times(found, "device")]
        parts += ["hloom's median over each peer's:", _ratios(found)] if len(_peers(found)) > 1 else []
        parts += ["A call:", _times(found, "call")]
    if found.models:
        parts += ["### Models", MODELS, _models(found)]
    if found.programs:
        parts += ["### Programs", PROGRAMS, _programs(found)]
    if found.kernels or found.models:
        parts += ["### Kernels", KERNELS, _kernels(found)]
    if found.checks:
        parts += ["### Correctness", _checks(found)]
    timed = {ROWS[row].title: peers for row, peers in found.times.items()} | found.models
    failures = [(title, peer, problem(one)) for title, peers in timed.items() for peer, one in peers.items() if problem(one)]
    notes = [f"- {title}, {PEERS[peer].title}: {words}" for title, peer, words in failures]
    if notes:
        parts += ["### Failures and differences", "\n".join(notes)]
    return "\n\n".join(parts)


def _models(found: Found) -> str:
    peers = [peer for peer in PEERS if any(peer in one for one in found.models.values())]
    lines = []
    for name, one in found.models.items():
        cells = [_model_cell(one.get(peer, {})) for peer in peers]
        ours, *theirs = (one.get(peer, {}).get("device") for peer in ("hloom", "compile", "eager"))
        ratios = [_ratio(ours["median"] / other["median"]) if ours and other else "–" for other in theirs]
        off = [f"{one['hloom'][of]:.0e}" if of in one.get("hloom", {}) else "–" for of in ("off", "eager_off")]
        lines.append([name, *cells, *ratios, *off])
    return table(["model", *(PEERS[peer].title for peer in peers), "beside compiled", "beside eager", "off", "eager off"], lines)


def _model_cell(one: dict[str, Any]) -> str:
    if "device" not in one:
        return "failed" if "error" in one else "–"
    return f"{_number(one['device']['median'])}, {_number(one['call']['median'])}" + " differs" * bool(one.get("differs"))


def _programs(found: Found) -> str:
    lines = []
    for name, one in found.programs.items():
        cells = [f"{_number(one[what]['median'])} / {_number(one[what]['least'])}" for what in ("device", "call") if what in one]
        lines.append([name, *(cells or ["failed", one.get("error", "").replace("|", "/")])])
    return table(["program", "on the device", "a call"], lines)


def _kernels(found: Found) -> str:
    lines = []
    of_models = {name: one["hloom"] for name, one in found.models.items() if "kernels" in one.get("hloom", {})}
    for name, answer in (found.kernels | of_models).items():
        if "error" in answer:
            lines.append([name, "failed", answer["error"].replace("|", "/"), "", "", ""])
        for kernel in sorted(answer.get("kernels", ()), key=lambda one: -one["us"])[:_DEAREST]:
            roofline = [_number(kernel["roofline_us"]), kernel["bound"]] if "roofline_us" in kernel else ["–", ""]
            lines.append([name, kernel["kernel"], kernel["source"], _number(kernel["us"]), *roofline])
    return table(["program", "kernel", "source", "µs", "roofline, µs", "bound by"], lines)


def _peers(found: Found) -> list[str]:
    return [peer for peer in PEERS if any(peer in peers for peers in found.times.values())]


def _times(found: Found, what: str) -> str:
    peers = _peers(found)
    lines = []
    for row, by_peer in found.times.items():
        cells = [_title(row, by_peer)]
        for peer in peers:
            one = by_peer.get(peer, {})
            cells.append(_cell(found, row, one, what) if what in one else "failed" if "error" in one else "–")
        lines.append(cells)
    return table(["workload", *(PEERS[peer].title for peer in peers)], lines)


def _title(row: str, by_peer: dict[str, dict[str, Any]]) -> str:
    in_cache = any(one.get("copies") == MOST_COPIES for one in by_peer.values())
    return ROWS[row].title + " (may lie in the L2)" * in_cache


def _cell(found: Found, row: str, one: dict[str, Any], what: str) -> str:
    text = f"{_number(one[what]['median'])} / {_number(one[what]['least'])}"
    if what == "device":
        text += f" ({_rate(found, row, one)})"
    return text + " differs" * bool(one.get("differs"))


def _rate(found: Found, row: str, one: dict[str, Any]) -> str:
    """Flops a second of a workload that is made of them, else bytes a second, and the share of the measured ceiling."""
    microseconds = one["device"]["median"]
    if ROWS[row].gflop:
        half = ROWS[row].inputs()[0].dtype.itemsize == 2
        rate, unit = ROWS[row].gflop / microseconds * 1e3, "TFLOP/s"
        ceiling = found.ceilings.get(f"{'bf16' if half else 'f32'} matmul, TFLOP/s")
    else:
        rate, unit = one["bytes"] / microseconds * 1e-3, "GB/s"
        ceiling = max((value for name, value in found.ceilings.items() if name.endswith("GB/s")), default=None)
    return f"{_number(rate)} {unit}" + (f", {rate / ceiling:.0%}" if ceiling else "")


def _ratios(found: Found) -> str:
    peers = [peer for peer in _peers(found) if peer != "hloom"]
    lines = []
    for row, by_peer in found.times.items():
        ours = by_peer.get("hloom", {}).get("device")
        if len(by_peer) < 2:
            continue
        theirs = [by_peer.get(peer, {}).get("device") for peer in peers]
        cells = [_ratio(ours["median"] / other["median"]) if ours and other else "–" for other in theirs]
        lines.append([ROWS[row].title, *cells])
    return table(["workload", *(PEERS[peer].title for peer in peers)], lines)


def _ratio(value: float) -> str:
    return f"**{value:.2f}**" if value > 1 else f"{value:.2f}"


def _checks(found: Found) -> str:
    good = [name for name, one in found.checks.items() if not problem(one) and "skipped" not in one]
    words = {name: problem(one) or one.get("skipped", "") for name, one in found.checks.items()}
    bad = [[name, text.replace("|", "/")] for name, text in words.items() if text]
    text = f"{len(good)} of {len(found.checks)} programs give the expected results: {', '.join(good) or 'none'}."
    return f"{text}\n\n{table(['program', 'what is wrong'], bad)}" if bad else text


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.1f}" if value >= 100 else f"{value:.3g}"

"""Collects the explain report (runtime/report.py) while a program passes through the stages: the groups and their ops at `fused`, what each
became at `thunk`, on a GPU each kernel and each library call beside the limits of the target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from torch_mlir import ir

from hloom.dialects import thunk
from hloom.dialects.target import TargetView, target_of
from hloom.passes.common.init_function import entry
from hloom.passes.common.launches import IN_TURN, MEMBERS, members_of
from hloom.passes.common.ops import CONTRACTIONS, FREE
from hloom.passes.common.places import place
from hloom.passes.common.rewriting import (
    body_ops,
    callee_of,
    functions,
    integer,
    kind_of,
    location_texts,
    ops_in,
    symbol_name,
    top_level,
    walk,
)
from hloom.passes.fused.launches.host_block import peak_in_order
from hloom.passes.fused.planner.decisions import ATTRIBUTE as DECISIONS
from hloom.passes.fused.planner.decisions import KERNEL_CODES
from hloom.passes.fused.planner.observed import Plan
from hloom.passes.fused.planner.policy import policy_of
from hloom.passes.fused.rematerialise import PLANNED
from hloom.runtime.interrupts import uninterrupted
from hloom.runtime.signature import Signature, TensorSpec, listed

from .explorer.graph import graph_of
from .scaling import scaling
from .timing import Timing

if TYPE_CHECKING:
    from .cuda.statistics import KernelStatistics

_FIGURES = ("bytes", "flops", "cost_ps")


class ReportBuilder:
    """Fills `data`, the report's dictionary."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {"program": {}, "memory": {}}
        self._groups: dict[str, dict[str, Any]] = {}
        self._members: dict[str, list[str]] = {}
        """The groups of a kernel that was made of several."""
        self._in_turn: set[str] = set()
        """Kernels of several groups of which one runs after the other."""
        self._decided: ir.Attribute | None = None
        self._location = location_texts()

    @uninterrupted()
    def stablehlo(self, module: ir.Operation) -> None:
        """The stage before ops are grouped: what the arena would take if each were a kernel of its own, but those that every kernel
        computes for itself (views, broadcasts, iotas)."""
        main = entry(module, "main")
        if main is not None:
            self.data["memory"]["unfused"] = peak_in_order(main.regions[0].blocks[0], {*FREE, "stablehlo.constant"})

    @uninterrupted()
    def fused(self, module: ir.Operation, plans: Sequence[Plan] = ()) -> None:
        """The stage where every op stands in the group that it will run in; `plans` led there."""
        ops = []
        for function in functions(module):
            if "hloom.kind" not in function.attributes:
                continue
            name = symbol_name(function)
            inside = body_ops(function)
            rows = [_op(op, name, self._location(op)) for op in inside]
            self._groups[name] = {
                "kind": kind_of(function),
                "library": ir.StringAttr(function.attributes["hloom.library"]).value if "hloom.library" in function.attributes else "",
                "ops": dict(Counter(_short(op.name) for op in inside)),
                "from": list(dict.fromkeys(filter(None, (place(row["location"]).module for row in rows)))),
                "element": next((_element(op) for op in inside if op.name in CONTRACTIONS), "f32"),
                **{key: integer(function, f"hloom.{key}") for key in _FIGURES if f"hloom.{key}" in function.attributes},
            }
            ops += rows
        self.data["ops"] = _merged(ops)
        self._decisions(module)
        if plans:
            self.data["graph"] = graph_of(plans[-1], module, len(self.data.get("decisions", [])))

    def _decisions(self, module: ir.Operation) -> None:
        """Later stages seldom add to what was decided."""
        decided = module.attributes[DECISIONS] if DECISIONS in module.attributes else None
        if decided is None or (self._decided is not None and decided == self._decided):
            return
        self._decided = decided
        self.data["decisions"] = [decision_of(ir.DictAttr(record)) for record in decided]

    @uninterrupted()
    def thunks(self, module: ir.Operation) -> None:
        """The stage where each group is a thunk of the host program."""
        self._decisions(module)
        if (limit := policy_of(module).memory_limit) is not None:
            self.data["memory"] |= {"limit": limit, "planned": integer(module, PLANNED, 0)}
        kernels = [*functions(module), *(op for holder in top_level(module, "gpu.module") for op in ops_in(holder.regions[0].blocks[0]))]
        self._members = {symbol_name(kernel): members_of(kernel) for kernel in kernels if MEMBERS in kernel.attributes}
        self._in_turn = {symbol_name(kernel) for kernel in kernels if IN_TURN in kernel.attributes}
        rows: dict[tuple[str, str], dict[str, Any]] = {}
        for program in top_level(module, "thunk.program"):
            name = symbol_name(program)
            self.data["memory"]["arena" if name == "main" else "init arena"] = integer(program, "arena_bytes")
            for op in walk(program, lambda op: "writes" in op.attributes):
                self._add(rows, name, op)
        self.data["groups"] = list(rows.values())
        target = target_of(module)
        if target.kind == "cuda":
            self._kernels(module, target)
            self._libraries(target)
        else:
            self.data["threads"] = scaling(rows.values(), target)

    def _kernels(self, module: ir.Operation, target: TargetView) -> None:
        """A row for each kernel, in the order of the groups."""
        from .cuda.roofline import kernel_row, kernels_of  # what a CPU target has no use for

        made = {symbol_name(kernel): kernel for kernel in kernels_of(module)}
        rows: dict[str, dict[str, Any]] = {}
        for group in self.data["groups"]:
            name = group["name"]
            if name in rows:
                rows[name]["calls"] += group["calls"]
            elif name in made:
                rows[name] = kernel_row(made[name], self._known(name).get("element", "f32"), target)
                rows[name] |= {"calls": group["calls"], "ops": group["ops"]}
            if row := rows.get(name):
                group["kernel"] = f"{prod(row['grid'])} blocks of {prod(row['block'])} threads"
        self.data["kernels"] = list(rows.values())

    def _libraries(self, target: TargetView) -> None:
        """A row for each library call, with the reason why the library was chosen."""
        from .cuda.roofline import roofline

        self.data["libraries"] = []
        for group in self.data["groups"]:
            if not group["kernel"].startswith("library "):
                continue
            planned = [name for name, known in self._groups.items() if known["library"] == group["kind"] and _does(known, group)]
            element = self._groups[planned[0]]["element"] if planned else "f32"
            reason = next((record["reason"] for record in self.data.get("decisions", []) if _chosen(record, planned)), "")
            least = group["reads"] + group["writes"]
            times = roofline(least, group["flops"], element, target)
            row = {"call": group["kernel"].removeprefix("library "), "groups": planned, "calls": group["calls"], "ops": group["ops"]}
            self.data["libraries"].append({**row, "least": least, "flops": group["flops"], **times, "reason": reason})

    def resources(self, statistics: Mapping[str, KernelStatistics]) -> None:
        """What the compiled kernels use of a GPU."""
        from .cuda.roofline import resources_row

        for row in self.data.get("kernels", []):
            if row["name"] in statistics:
                row.update(resources_row(statistics[row["name"]]))

    def _known(self, kernel: str) -> dict[str, Any]:
        """The group that a kernel was made of: buffers may tell several kernels of one group apart, and groups are split."""
        if kernel in self._members:
            kind = "chain" if kernel in self._in_turn else "horizontal"
            return _of_several(kind, [self._known(member) for member in self._members[kernel]])
        names = (kernel, kernel.partition("_part_")[0], kernel.partition("_buffers_")[0])
        return next((self._groups[name] for name in names if name in self._groups), {})

    def _add(self, rows: dict[tuple[str, str], dict[str, Any]], entry: str, op: ir.Operation) -> None:
        kind, kernel = op.opview.kind, op.opview.describe()
        callee = callee_of(op) if "callee" in op.attributes else None
        source = [ir.StringAttr(name).value for name in op.attributes["source"]] if "source" in op.attributes else []
        key = callee or f"{kind} {' '.join(source)}".strip()
        row = rows.get((entry, f"{key} {kernel}"))
        if row:
            row["calls"] += _trips(op)
            origin = place(self._location(op)).module  # equal groups share one function, whose ops are those of the first
            row["from"] += [origin] if origin and origin not in row["from"] else []
            return
        known = self._known(callee or "")
        moved = {name: sum(size for _, _, size in thunk.slices(op, name)) for name in ("reads", "writes")}
        row = {"name": key, "entry": entry, "kind": known.get("kind", kind), "kernel": kernel, "calls": _trips(op)}
        row |= {
            "ops": known.get("ops", dict(Counter(name.partition(" ")[0] for name in source))),
            "from": [*known.get("from", ())],
            **moved,
            "flops": known.get("flops", op.opview.flops()),
        }
        row |= {name: integer(op, name) for name in ("cost_ps", "tiles", "grain") if name in op.attributes}
        rows[entry, f"{key} {kernel}"] = row

    def finish(self, manifest: Mapping[str, Any], code: Sequence[bytes], constants: Mapping[str, bytes], timing: Timing) -> dict[str, Any]:
        """Adds what the manifest says of the program, how large its parts are and how long its passes took, and returns the whole."""
        signature, packed = Signature.of(manifest), map(TensorSpec.of, manifest["init_results"])
        named = {"name": manifest["name"], "target": manifest["target"]["name"]}
        self.data["program"] = {**named, "inputs": listed(signature.inputs), "outputs": listed(signature.outputs)}
        bound = sum(spec.nbytes for spec in signature.bound.values())
        self.data["memory"] |= {"code": sum(map(len, code)), "constants": sum(map(len, constants.values())), "bound": bound}
        self.data["memory"]["packed"] = sum(spec.nbytes for spec in packed)
        self.data["timing"] = [[f"{stage}: {name}" if stage else name, seconds] for stage, name, seconds in timing.rows]
        return self.data


def _of_several(kind: str, groups: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What is known of a kernel that runs those of several groups."""
    ops = sum((Counter(group.get("ops", {})) for group in groups), Counter[str]())
    origins = dict.fromkeys(origin for group in groups for origin in group.get("from", ()))
    return {"kind": kind, "ops": dict(ops), "from": list(origins), "flops": sum(group.get("flops", 0) for group in groups)}


def _element(contraction: ir.Operation) -> str:
    """The type that a contraction multiplies."""
    return str(ir.RankedTensorType(contraction.operands[0].type).element_type)


def _does(planned: dict[str, Any], call: dict[str, Any]) -> bool:
    """Whether a library call is of that group: calls do not name theirs."""
    return planned.get("flops") == call["flops"] and _without_constants(planned["ops"]) == _without_constants(call["ops"])


def _without_constants(ops: dict[str, int]) -> dict[str, int]:
    return {name: count for name, count in ops.items() if name != "constant"}


def _chosen(record: dict[str, Any], groups: list[str]) -> bool:
    return record["code"] in [code.name for code in KERNEL_CODES] and any(group in groups for group in record["groups"])


def _short(name: str) -> str:
    return name.partition(".")[2] or name


def _op(op: ir.Operation, group: str, location: str) -> dict[str, Any]:
    kind = str(op.results[0].type).removeprefix("tensor<").removesuffix(">") if len(op.results) else ""
    whole = location.removeprefix("loc(").removesuffix(")")
    return {"op": _short(op.name), "type": kind, "from": str(place(location)), "location": whole, "groups": [group]}


def _merged(ops: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row an op of the source: those that were cloned into several groups name them all."""
    merged: dict[tuple[str, str, str], dict[str, Any]] = {}
    unknown = 0
    for op in ops:
        key = op["op"], op["type"], op["location"]
        if op["location"] == "unknown":
            unknown += 1
            key = op["op"], op["type"], str(unknown)
        row = merged.setdefault(key, op)
        row["groups"] += [group for group in op["groups"] if group not in row["groups"]]
    return list(merged.values())


def _trips(op: ir.Operation) -> int:
    """How often a thunk runs in a call, loops of unknown length counted once."""
    trips, parent = 1, op.parent
    while parent is not None and parent.operation.name != "builtin.module":
        if parent.operation.name == "thunk.for":
            trips *= integer(parent.operation, "trip_count")
        parent = parent.operation.parent
    return trips


def decision_of(record: ir.DictAttr) -> dict[str, Any]:
    """A record of the module as the report has it."""
    plain = {entry.name: _plain(entry.attr) for entry in record}
    names = ("code", "verdict", "groups", "ops", "reason")
    return {**{name: plain.get(name, "") for name in names}, "figures": {key: value for key, value in plain.items() if key not in names}}


_VALUES = {ir.FlatSymbolRefAttr, ir.StringAttr, ir.IntegerAttr, ir.FloatAttr, ir.BoolAttr}


def _plain(attribute: ir.Attribute) -> Any:
    kind = type(attribute)  # isinstance takes 8 µs of a class of the bindings
    if kind is ir.ArrayAttr:
        return [_plain(item) for item in attribute]
    if kind is ir.DictAttr:
        return {entry.name: _plain(entry.attr) for entry in attribute}
    return attribute.value if kind in _VALUES else str(attribute)

"""Decision records as a module attribute, in one stable order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from torch_mlir import ir

from .codes import Code, DecisionCode
from .records import Decision, Program

ATTRIBUTE = "hloom.decisions"
KERNEL_CODES = (Code.KERNEL_CHOSEN, Code.POLICY_FORCED, Code.POLICY_FORBIDDEN, Code.POLICY_UNMET)
"""Kernel-choice codes: by cost; library forced by policy; library forbidden; policy cannot be met."""


def attach(module: ir.Operation, decisions: Iterable[Decision], program: Program, names: Mapping[int, Sequence[str]]) -> None:
    """Appends to the module's records; `names[op]` are the functions an op ended in."""
    before = list(module.attributes[ATTRIBUTE]) if ATTRIBUTE in module.attributes else []
    module.attributes[ATTRIBUTE] = ir.ArrayAttr.get([*before, *(_record(each, program, names) for each in decisions)])


class Notes:
    """Records of what became of groups after they were planned, which `write` appends to the module's, all at once."""

    def __init__(self, module: ir.Operation):
        self.module = module
        self.records: list[ir.DictAttr] = []

    def add(
        self,
        code: DecisionCode,
        groups: Sequence[str],
        reason: str,
        edge: str,
        figures: Mapping[str, int] | None = None,
        rule: str = "",
    ) -> None:
        """`edge` is the type of the value that it is about, `rule` what decided."""
        i64 = ir.IntegerType.get_signless(64)
        fields = {**_fields(code, groups, [], reason), "edge": ir.StringAttr.get(edge)}
        fields.update({name: ir.IntegerAttr.get(i64, figure) for name, figure in (figures or {}).items()})
        if rule:
            fields["policy_rule"] = ir.StringAttr.get(rule)
        self.records.append(ir.DictAttr.get(fields))

    def write(self) -> None:
        if self.records:
            before = list(self.module.attributes[ATTRIBUTE]) if ATTRIBUTE in self.module.attributes else []
            self.module.attributes[ATTRIBUTE] = ir.ArrayAttr.get([*before, *self.records])


def append_note(
    module: ir.Operation,
    code: DecisionCode,
    groups: Sequence[str],
    reason: str,
    edge: str,
    figures: Mapping[str, int] | None = None,
    rule: str = "",
) -> None:
    """One of `Notes` alone, as `add` takes it."""
    notes = Notes(module)
    notes.add(code, groups, reason, edge, figures, rule)
    notes.write()


def _record(decision: Decision, program: Program, names: Mapping[int, Sequence[str]]) -> ir.DictAttr:
    i64 = ir.IntegerType.get_signless(64)
    groups = dict.fromkeys(name for op in decision.ops for name in names.get(op, ()))
    fields = _fields(decision.code, groups, [_op(op, program) for op in decision.ops], decision.reason)
    if decision.edge is not None:
        fields["edge"] = ir.StringAttr.get(program.values[decision.edge].type)
    if decision.before:
        figures = {"t_before_ps": decision.before, "t_after_ps": decision.after, "gain_ps": decision.before - decision.after}
        fields.update({name: ir.IntegerAttr.get(i64, figure) for name, figure in figures.items()})
        fields["bytes_saved"] = ir.IntegerAttr.get(i64, decision.bytes_saved)
    if decision.bytes_again:
        fields["bytes_again"] = ir.IntegerAttr.get(i64, decision.bytes_again)
    if decision.rho != 1:
        fields["rho"] = ir.FloatAttr.get(ir.F64Type.get(), decision.rho)
    if decision.rule:
        fields["policy_rule"] = ir.StringAttr.get(decision.rule)
    return ir.DictAttr.get(fields)


def _fields(code: DecisionCode, groups: Iterable[str], ops: Sequence[ir.Attribute], reason: str) -> dict[str, ir.Attribute]:
    """What every record holds."""
    return {
        "code": ir.StringAttr.get(code.name),
        "verdict": ir.StringAttr.get(code.verdict),
        "groups": ir.ArrayAttr.get([ir.FlatSymbolRefAttr.get(name) for name in groups]),
        "ops": ir.ArrayAttr.get(ops),
        "reason": ir.StringAttr.get(reason),
    }


def _op(number: int, program: Program) -> ir.DictAttr:
    op = program.ops[number]
    kind = program.values[op.results[0]].type if op.results else ""
    return ir.DictAttr.get({"name": ir.StringAttr.get(op.name), "type": ir.StringAttr.get(kind), "loc": ir.StringAttr.get(op.loc)})

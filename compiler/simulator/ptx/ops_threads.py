"""What threads do together: branches, barriers, shuffles, votes."""

from __future__ import annotations

from .machine import CLUSTER
from .syntax import Group, Instruction
from .translate import PREDICATE, Translator, emits


@emits("bra")
def _branch(t: Translator, ins: Instruction) -> None:
    block = t.block
    if ins.predicate is None:
        t.end(f"M.go({block.target}, m)")
        return
    t.end(f"M.branch({t.read(ins.predicate, PREDICATE)}, {block.target}, {block.next}, m)")


@emits("ret", "exit")
def _leave(t: Translator, ins: Instruction) -> None:
    condition = "True" if ins.predicate is None else t.read(ins.predicate, PREDICATE)
    t.end(f"M.leave({condition}, {t.block.next}, m)")


@emits("trap", "brkpt")
def _trap(t: Translator, ins: Instruction) -> None:
    t.line(f'if {t.mask} is not False: M.fail("a trap", {t.site(ins)}, M.first_of(True if {t.mask} is None else {t.mask}))')
    if ins.predicate is None:
        t.end("pass")


@emits("bar", "barrier")
def _barrier(t: Translator, ins: Instruction) -> None:
    how = next((part for part in ins.parts if part in ("cluster", "sync", "arrive", "wait", "warp", "red")), None)
    condition = "True" if ins.predicate is None else t.read(ins.predicate, PREDICATE)
    if how == "warp":
        t.line(f'M.whole_warps(M.narrow(m, {condition}), "bar.warp.sync", {t.site(ins)})')
        t.end(f"M.go({t.block.next}, m)")
        return
    if how == "cluster":  # who arrives waits sooner or later: there they all meet
        if "arrive" in ins.parts:
            return t.end(f"M.go({t.block.next}, m)")
        return t.end(f"M.barrier_at({CLUSTER}, None, True, {t.block.next}, m, {condition}, {t.site(ins)})")
    if how not in ("sync", "arrive"):
        t.unknown(ins)
    number = t.read(ins.operands[0], "u32")
    count = t.read(ins.operands[1], "u32") if len(ins.operands) > 1 else None
    t.end(f"M.barrier_at({number}, {count}, {how == 'sync'}, {t.block.next}, m, {condition}, {t.site(ins)})")


@emits("shfl.sync")
def _shuffle(t: Translator, ins: Instruction) -> None:
    target, value, lane, clamp, _ = ins.operands
    mode = ins.parts[2]
    arguments = ", ".join(t.read(operand, "b32") for operand in (value, lane, clamp))
    t.line(f'_w0, _w1 = M.shfl("{mode}", {arguments}, {t.mask}, {t.site(ins)})')
    targets = target.parts if isinstance(target, Group) else (target,)
    for register, name, kind in zip(targets, ("_w0", "_w1"), ("b32", PREDICATE)):
        t.result(register, name, kind)


@emits("vote.sync")
def _vote(t: Translator, ins: Instruction) -> None:
    target, condition, members = ins.operands
    kind = ins.parts[-1]
    arguments = f'"{ins.parts[2]}", {t.read(condition, PREDICATE)}, {t.read(members, "b32")}, {t.mask}, {t.site(ins)}'
    t.result(target, f"M.vote({arguments})", kind if kind == "b32" else PREDICATE)


@emits("activemask")
def _active(t: Translator, ins: Instruction) -> None:
    t.result(ins.operands[0], f"M.ballot(True, {t.mask})", "b32")


@emits("redux.sync")
def _reduce(t: Translator, ins: Instruction) -> None:
    target, value, _ = ins.operands
    kind = ins.parts[-1]
    t.result(target, f'M.redux("{ins.parts[2]}", {t.read(value, kind)}, {t.mask}, {t.site(ins)})', kind)


@emits("elect.sync")
def _elect(t: Translator, ins: Instruction) -> None:
    target = ins.operands[0]
    targets = target.parts if isinstance(target, Group) else (target,)
    t.line(f"_w0, _w1 = M.elect({t.mask}, {t.site(ins)})")
    for register, name, kind in zip(targets, ("_w0", "_w1"), ("b32", PREDICATE)):
        t.result(register, name, kind)

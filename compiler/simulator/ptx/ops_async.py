"""Asynchronous copies, mbarriers and tensor maps."""

from __future__ import annotations

from .ops_memory import space_of
from .syntax import Address, Immediate, Instruction
from .translate import Translator, emits


@emits("cp.async")
def _copy(t: Translator, ins: Instruction) -> None:
    what = ins.parts[2]
    if what == "commit_group":
        t.line(f"mbarriers.copies(M).commit({t.mask})")
    elif what == "wait_group":
        operand = ins.operands[0]
        assert isinstance(operand, Immediate)
        t.line(f"mbarriers.copies(M).wait({operand.value}, {t.mask})")
    elif what == "wait_all":
        t.line(f"mbarriers.copies(M).commit({t.mask}); mbarriers.copies(M).wait(0, {t.mask})")
    elif what == "bulk":
        _bulk(t, ins)
    elif what in ("ca", "cg"):
        target, source, size, *taken = ins.operands
        assert isinstance(size, Immediate)
        known = t.read(taken[0], "u32") if taken else None
        arguments = f"{t.address(target)}, {t.address(source)}, {size.value}, {known}"
        t.line(f"mbarriers.copy(M, {arguments}, {t.mask}, {t.site(ins)})")
    else:
        t.unknown(ins)


def _bulk(t: Translator, ins: Instruction) -> None:
    """cp.async.bulk.tensor into shared memory, for an mbarrier."""
    into = ins.parts[5:7] if len(ins.parts) > 6 else []
    several = "multicast::cluster" in ins.parts
    if ins.parts[3] != "tensor" or not into or not into[0].startswith("shared") or into[1] != "global" or len(ins.operands) != 3 + several:
        t.unknown(ins)
    target, source, barrier, *ranks = ins.operands
    assert isinstance(source, Address) and source.coordinates is not None
    coordinates = ", ".join(t.read(part, "s32") for part in source.coordinates.parts)
    at = t.address(Address(source.base, source.offset))
    blocks = t.read(ranks[0], "u16") if ranks else None
    t.line(f"mbarriers.load_box(M, {t.address(target)}, {at}, [{coordinates}], {t.address(barrier)}, {blocks}, {t.mask}, {t.site(ins)})")


@emits("mapa.shared::cluster")
def _map(t: Translator, ins: Instruction) -> None:
    """The address of what lies at an address of this block's shared memory in another block's."""
    target, source, rank = ins.operands
    kind = ins.parts[-1]
    t.result(target, f"mbarriers.mapped({t.read(source, kind)}, {t.read(rank, 'u32')})", kind)


@emits("mbarrier.init")
def _init(t: Translator, ins: Instruction) -> None:
    barrier, count = ins.operands
    arguments = f"{_where(t, ins, barrier)}, {t.read(count, 'u32')}"
    t.line(f"M.mbarriers.init({arguments}, {t.mask}, {t.site(ins)})")


@emits("mbarrier.inval")
def _invalidate(t: Translator, ins: Instruction) -> None:
    pass


@emits("mbarrier.arrive")
def _arrive(t: Translator, ins: Instruction) -> None:
    if "noComplete" in ins.parts:
        t.unknown(ins)
    target, barrier, *more = ins.operands
    count, nbytes = "1", "0"
    if "expect_tx" in ins.parts:
        nbytes = t.read(more[0], "u32")
    elif more:
        count = t.read(more[0], "u32")
    t.line(f"_w0 = M.mbarriers.arrive({_where(t, ins, barrier)}, {count}, {nbytes}, {t.mask}, {t.site(ins)})")
    t.result(target, "_w0", "b64")


@emits("mbarrier.expect_tx")
def _expect(t: Translator, ins: Instruction) -> None:
    barrier, nbytes = ins.operands
    t.line(f"M.mbarriers.arrive({_where(t, ins, barrier)}, 0, {t.read(nbytes, 'u32')}, {t.mask}, {t.site(ins)})")


@emits("mbarrier.try_wait", "mbarrier.test_wait")
def _wait(t: Translator, ins: Instruction) -> None:
    """Threads whose phase is not over are parked, so that they need not spin; to the others it is over."""
    if "parity" not in ins.parts or ins.predicate is not None:
        t.unknown(ins)
    target, barrier, parity, *_ = ins.operands
    assert isinstance(barrier, Address)
    where = t.address(barrier)
    t.line(f'm = M.await_phase({t.block.number}, {where}, {t.read(parity, "u32")}, "{space_of(ins)}", m, {t.site(ins)})')
    t.line("if m is False: return")
    t.result(target, "np.bool_(True)", "pred")


def _where(t: Translator, ins: Instruction, barrier: object) -> str:
    assert isinstance(barrier, Address)
    return f'"{space_of(ins)}", {t.address(barrier)}'

"""Which way of AMX tiles takes a contraction: windows, operands that lie by depth, a right operand kept from tile to tile, any other."""

from __future__ import annotations

from collections.abc import Callable

from hloom.dialects.target import TargetView

from .amx import emit_amx
from .amx_by_depth import emit_by_depth
from .amx_kept import emit_kept
from .amx_windows import amx_windows
from .body import Captured
from .packing import Scratch
from .windows import is_surrounded
from .work import Work


def emit_on_tiles(work: Work, after: Callable[..., list[Work]], captured: Captured, target: TargetView, scratch: Scratch) -> bool | None:
    """Emits `work` by AMX tiles: whether what comes `after` it is part of its nest. None if it is not for them."""
    windows = amx_windows(work, target)
    if windows is not None:
        following = after(work, fits=windows.takes)
        windows.emit(following, captured, scratch)
        return bool(following)
    if emit_by_depth(work, target, scratch):
        return False
    if not is_surrounded(work) and (emit_kept(work, target, scratch) or emit_amx(work, target, scratch)):
        return False
    return None

"""Programs that people never see: those of torch.compile and hloom.jit."""

from __future__ import annotations

import itertools
import weakref

from .executable import Executable

_numbers = itertools.count()
_known: weakref.WeakValueDictionary[int, Executable] = weakref.WeakValueDictionary()


def listed(exe: Executable) -> Executable:
    """The program itself, which `programs` lists from here on."""
    _known[next(_numbers)] = exe
    return exe


def programs() -> list[Executable]:
    """The programs that torch.compile's backend and hloom.jit have made in this process and still hold, the oldest first.

    Gradients are compiled when they are first asked for. Each has a `report` and a `signature`, as what hloom.compile gives.
    """
    return [exe for _, exe in sorted(_known.items())]

"""Run as a script by test_guards.py: `python guarded_faults.py TARGET SIDE` prints how each broken kernel ended, as JSON.

A kernel runs in a child of its own: how it ends is the signal that ended the child, 0 if nothing did.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from faults import FAULTS, TILE_FAULT
from guards import guarded

from hloom.compiler.target import resolve


def signal_of(run: Callable[[], object]) -> int:
    child = os.fork()
    if not child:
        run()
        os._exit(0)
    return os.WTERMSIG(os.waitpid(child, 0)[1])


def main(target: str, side: str) -> None:
    faults = FAULTS | ({"a tile too far": TILE_FAULT} if resolve(target).amx_bf16 else {})
    ended = {}
    with guarded(side):
        for name, fault in faults.items():
            sound, broken = fault.sound(target), fault.executable(target)
            ended[name] = [signal_of(lambda exe=exe, given=fault.inputs: exe(*given)) for exe in (sound, broken)]
    print(json.dumps(ended))


if __name__ == "__main__":
    main(*sys.argv[1:])

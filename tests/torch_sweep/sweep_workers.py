"""Runs settings in worker processes: one that ends its process, or takes too long, is wrong and costs that process alone.

Settings go in groups that are compiled as one program; what a group does not decide is tried again in halves, and at last alone.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue

Setting = tuple[str, str]  # name and text
Told = tuple[str, str]  # the verdict's kind and its reason

GROUP = 12
SECONDS = 120


def run(
    settings: Sequence[Setting], workers: int = 2, tell: Callable[[Setting, Told], None] | None = None, judge: str = "sweep_verdict"
) -> dict[Setting, Told]:
    """The verdict on each setting, by the function `judge` of that module."""
    queue: SimpleQueue[list[Setting]] = SimpleQueue()
    for start in range(0, len(settings), GROUP):
        queue.put(list(settings[start : start + GROUP]))
    found: dict[Setting, Told] = {}
    threads = [threading.Thread(target=_serve, args=(queue, found, tell, judge)) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def _serve(queue: SimpleQueue[list[Setting]], found: dict[Setting, Told], tell: Callable | None, judge: str) -> None:
    worker = _Worker(judge)
    while True:
        try:
            stack = [queue.get_nowait()]
        except Empty:
            return worker.stop()
        while stack:
            group = stack.pop()
            decided = worker.ask(group)
            for setting, told in decided.items():
                found[setting] = told
                if tell:
                    tell(setting, told)
            rest = [setting for setting in group if setting not in decided]
            half = (len(rest) + 1) // 2
            stack += [part for part in (rest[half:], rest[:half]) if part]


class _Worker:
    def __init__(self, judge: str) -> None:
        self._judge = judge
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, self._judge), daemon=True)
        self._process.start()
        theirs.close()

    def ask(self, group: list[Setting]) -> dict[Setting, Told]:
        try:
            self._pipe.send(group)
            if self._pipe.poll(SECONDS):
                return self._pipe.recv()
            why = f"no end after {SECONDS} s"
        except (EOFError, OSError):
            self._process.join()
            why = f"the process ended with status {self._process.exitcode}"
        self.stop()
        self._start()
        return {group[0]: ("wrong", why)} if len(group) == 1 else {}

    def stop(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()


def _work(pipe: Connection, module: str) -> None:
    import importlib
    import logging

    import torch

    judge = importlib.import_module(module).judge
    logging.disable(logging.CRITICAL)  # torch prints graphs that it does not export
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    torch.set_num_threads(1)
    while True:
        group = pipe.recv()
        pipe.send({setting: (verdict.kind, verdict.why) for setting, verdict in judge(group).items()})

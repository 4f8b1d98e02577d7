"""Processes that have workloads ready at once and take their times one after the other; here they only say that they do."""

from __future__ import annotations

import threading
import time

from benchmarks.gpu.together import measure_together, split


class Process:
    """`fails` are workloads that end it, `bad` those that it tells and goes on after."""

    busy = threading.Lock()
    together = 0
    most = 0

    def __init__(self, fails=(), bad=(), seconds=0.0):
        self.fails, self.bad, self.seconds, self.stopped, self.asked = fails, bad, seconds, 0, []

    def ask(self, timeout, **request):
        self.asked.append((request["do"], request["name"]))
        Process.together += 1
        Process.most = max(Process.most, Process.together)
        time.sleep(self.seconds)
        Process.together -= 1
        if request["do"] == "time":
            assert Process.busy.acquire(blocking=False), "one at a time"
            Process.busy.release()
            return {"device": request["seconds"]}
        if request["name"] in self.fails:
            return {"error": "it ended"}
        return {"error": "wrong shape", "goes_on": True} if request["name"] in self.bad else {}

    def stop(self):
        self.stopped += 1


def run(jobs, processes, seconds=60.0):
    told = {}
    waiting = iter(processes)
    end = time.monotonic() + seconds
    measure_together(jobs, lambda: next(waiting), "folder", 0.5, end, lambda job, name, answer: told.update({(job.peer, name): answer}))
    assert all(process.stopped for process in processes)
    return told


def test_dealt_out():
    jobs = split("row", "compile", ["a", "b", "c"], 2)
    assert [job.names for job in jobs] == [["a", "c"], ["b"]]
    assert len(split("row", "compile", ["a"], 5)) == 1 and not split("row", "compile", [], 5)


def test_ready_at_once_and_timed_one_by_one():
    Process.most = 0
    told = run(split("row", "compile", ["a", "b", "c", "d"], 4), [Process(seconds=0.1) for _ in range(4)])
    assert Process.most > 1
    assert told == {("compile", name): {"device": 0.5} for name in "abcd"}


def test_failures():
    """One that is told does no harm to the others; one that ends the process loses what was ready there."""
    jobs = [*split("row", "jax", ["a", "b", "c"], 1), *split("model", "eager", ["d", "e", "f"], 1)]
    told = run(jobs, [Process(bad=["b"]), Process(fails=["e"])])
    assert told["jax", "b"]["error"] == "wrong shape" and "device" in told["jax", "a"] and "device" in told["jax", "c"]
    assert ("eager", "d") not in told and told["eager", "e"]["error"] == "it ended" and "device" in told["eager", "f"]


def test_no_time():
    process = Process(seconds=0.2)
    told = run(split("row", "jax", ["a", "b", "c", "d", "e"], 1), [process], seconds=0.8)
    assert ("ready", "e") not in process.asked and ("jax", "a") in told

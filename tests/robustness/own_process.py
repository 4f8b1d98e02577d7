"""What test_processes.py runs, each in a process of its own: `python own_process.py NAME [COUNT]`. One that ends with status 0 passed."""

import gc
import multiprocessing
import os
import random
import signal
import sys
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import numpy.testing  # a child would wait forever for what a thread of its parent was importing

import hloom

PARALLEL = 2048, 512
"""A shape that is large enough for several threads."""


def program(number, shape=(4, 8)):
    """One of many programs that differ, its argument and its result."""
    kind = f"tensor<{shape[0] + number % 7}x{shape[1]}xf32>"
    op, function = [("tanh", np.tanh), ("abs", np.abs), ("exponential", np.exp), ("negate", np.negative)][number % 4]
    text = f"""func.func @main(%x: {kind}) -> {kind} {{
  %c = stablehlo.constant dense<{number}.25> : {kind}
  %0 = stablehlo.{op} %x : {kind}
  %1 = stablehlo.add %0, %c : {kind}
  return %1 : {kind}
}}"""
    x = np.linspace(-1, 1, (shape[0] + number % 7) * shape[1], dtype=np.float32).reshape(-1, shape[1])
    return text, x, function(x) + np.float32(number + 0.25)


def compile_and_call(number, shape=(4, 8)):
    text, x, wanted = program(number, shape)
    np.testing.assert_allclose(hloom.compile(text)(x), wanted, rtol=1e-5, atol=1e-6)


def in_threads(count, body):
    """Runs body(0), …, body(count - 1) at once; raises what the first of them raised."""
    raised = []

    def run(number):
        try:
            body(number)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


def in_fork(body):
    """Runs `body` in a forked child, which must end well within a minute."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            signal.alarm(60)
            body()
            status = 0
        finally:
            os._exit(status)
    status = os.waitpid(pid, 0)[1]
    assert status == 0, f"the child ended with {os.waitstatus_to_exitcode(status)}"


def eight_threads_compile(count):
    """`count` programs, all different."""
    in_threads(8, lambda thread: [compile_and_call(number) for number in range(thread, count, 8)])


def one_executable_many_threads(count):
    """Threads call an executable at once; when the last of them has done so it is gone."""
    text, x, wanted = program(0, PARALLEL)

    def body(thread):
        exe = executables.pop()
        started.wait()
        for _ in range(5):
            np.testing.assert_allclose(exe(x), wanted, rtol=1e-5, atol=1e-6)

    for _ in range(count):
        started = threading.Barrier(4)
        executables = [hloom.compile(text)] * 4
        last = weakref.ref(executables[0])
        in_threads(4, body)
        assert last() is None


def torch_in_threads(count):
    import torch

    def body(thread):
        for number in range(count):
            size = 4 + thread + number
            module, x = torch.nn.Sequential(torch.nn.Linear(size, 3), torch.nn.Tanh()).eval(), torch.ones(2, size)
            torch.testing.assert_close(hloom.compile(module, x)(x), module(x).detach(), rtol=1e-4, atol=1e-5)

    in_threads(3, body)


def forked(count):
    """A child, its child and so on call what an ancestor compiled and called, and compile: on several threads."""
    hloom.set_threads(2)
    text, x, wanted = program(0, PARALLEL)
    exe = hloom.compile(text)

    def generation(left):
        np.testing.assert_allclose(exe(x), wanted, rtol=1e-5, atol=1e-6)
        compile_and_call(left, PARALLEL)
        assert len(os.listdir("/proc/self/task")) > 1
        if left:
            in_fork(lambda: generation(left - 1))

    generation(count)


def forked_amid_compiles(count):
    """Children of a process whose other threads compile and call."""
    stop = threading.Event()

    def busy(thread):
        number = thread
        while not stop.is_set():
            compile_and_call(number, PARALLEL)
            number += 2

    threads = [threading.Thread(target=busy, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    try:
        for number in range(count):
            in_fork(lambda number=number: compile_and_call(number, PARALLEL))
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def spawned(count):
    compile_and_call(0, PARALLEL)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.starmap(compile_and_call, [(number, PARALLEL) for number in range(count)])


def data_loader(count):
    """torch's workers are forked; each calls what this process compiled and called."""
    import torch

    text, x, wanted = program(0, PARALLEL)
    exe = hloom.compile(text)
    exe(x)

    class Samples(torch.utils.data.Dataset):
        def __len__(self):
            return count

        def __getitem__(self, index):
            return torch.from_numpy(exe(x + np.float32(0) * index))

    for batch in torch.utils.data.DataLoader(Samples(), num_workers=2, timeout=60):
        np.testing.assert_allclose(batch[0], wanted, rtol=1e-5, atol=1e-6)


def dropped(count):
    """Compiles and drops: 20 KB of memory each at most, beside what the first ones leave."""

    def anonymous():
        return next(int(line.split()[1]) for line in open("/proc/self/smaps_rollup") if line.startswith("Anonymous:"))

    for number in range(30):
        compile_and_call(number)
    gc.collect()
    before = anonymous()
    for number in range(count):
        compile_and_call(number)
    gc.collect()
    grown = anonymous() - before
    print(f"{grown} KB after {count} compiles")
    assert grown <= max(20 * count, 2048)


def contexts(count):
    """What was compiled goes with its last reference: nothing waits for the garbage collector."""
    from torch_mlir import ir

    gc.collect()
    gc.disable()
    for path in sorted(Path(__file__).parent.joinpath("programs").glob("*.mlir"))[:count]:
        hloom.compile(path)
    assert ir.Context._get_live_count() <= 1  # the last, which its dialects hold


class Late(Exception):
    """What a time limit raises."""


def late(*_):
    raise Late


def interrupted(count):
    """SIGINT or an alarm at any moment of a compile or a call: then everything works, and nothing is left in the cache or of children."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    signal.signal(signal.SIGALRM, late)
    text, x, wanted = program(1, PARALLEL)
    compile_and_call(1, PARALLEL)
    started = time.monotonic()
    compile_and_call(1, PARALLEL)
    usual = time.monotonic() - started
    seed = random.randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    chance, caught = random.Random(seed), 0
    for number in range(count):
        signalled = chance.choice([signal.SIGINT, signal.SIGALRM])
        timer = threading.Timer(chance.uniform(0, usual * 1.1), os.kill, [os.getpid(), signalled])
        try:
            timer.start()
            compile_and_call(number, PARALLEL)
            timer.join()
        except (KeyboardInterrupt, Late):
            caught += 1
        timer.join()
    print(f"{caught} of {count} interrupts were in a compile or call")
    assert caught > count // 4
    np.testing.assert_allclose(hloom.compile(text)(x), wanted, rtol=1e-5, atol=1e-6)
    in_threads(2, lambda thread: compile_and_call(thread, PARALLEL))  # no lock was kept
    in_fork(lambda: compile_and_call(3, PARALLEL))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler and signal.getsignal(signal.SIGALRM) is late
    assert not [path for path in Path(os.environ["HLOOM_CACHE_DIR"]).rglob("*") if path.name.startswith(".") or path.suffix == ".part"]
    try:
        assert os.waitpid(-1, os.WNOHANG) is None, "a child was left"
    except ChildProcessError:
        pass


if __name__ == "__main__":
    globals()[sys.argv[1]](int(sys.argv[2]))

"""LLVM's modules go before their contexts, also where an error's traceback keeps both until they are collected."""

import subprocess
import sys

FAILING = """
import gc
from hloom.compiler.cuda import ptx
from hloom.compiler.cuda.errors import ToolchainError
from hloom.compiler.target import load_target

def fail(*_):
    raise ToolchainError("nothing is installed")

ptx.link_libdevice = fail
for _ in range(20):
    try:
        ptx.to_ptx("define void @f() { ret void }", load_target("sm_90a"))
    except ToolchainError as error:
        cycle = [error]
        cycle.append(cycle)
    del cycle
    gc.collect()
"""


def test_an_error_while_ptx_is_made_leaves_a_process_that_lives():
    done = subprocess.run([sys.executable, "-c", FAILING], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

"""A process in which importing the compiler, MLIR, torch or JAX is an error: what loads a file needs none of them."""

from __future__ import annotations

import subprocess
import sys

_REFUSE = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch_mlir", "torch", "jax") or name.startswith(("hloom.compiler", "hloom.passes", "hloom.dialects")):
            raise ImportError("refused: " + name)

sys.meta_path.insert(0, Refuse())
"""


def output_without_compiler(code: str, *arguments: str) -> str:
    """What `code` prints there, which must end well."""
    command = [sys.executable, "-c", _REFUSE + code, *arguments]
    child = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert child.returncode == 0, child.stderr
    return child.stdout

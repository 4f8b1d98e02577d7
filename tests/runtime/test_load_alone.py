"""Loading and running a file needs neither the compiler nor MLIR."""

from __future__ import annotations

import subprocess
import sys

from runtime_programs import add_artifact

CHILD = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch_mlir", "torch", "jax") or name.startswith(("hloom.compiler", "hloom.passes", "hloom.dialects")):
            raise ImportError("refused: " + name)

sys.meta_path.insert(0, Refuse())
import numpy as np
import hloom
exe = hloom.load(sys.argv[1])
print(exe(np.ones(4, np.float32), np.ones(4, np.float32)).tolist())
exe.save(sys.argv[1])
print(exe.report.text() is not None)
"""


def test_load_and_run_import_no_compiler(tmp_path):
    path = tmp_path / "add.hloom"
    add_artifact().save(path)
    child = subprocess.run([sys.executable, "-c", CHILD, str(path)], capture_output=True, text=True, timeout=60)
    assert child.returncode == 0, child.stderr
    assert child.stdout.split("\n")[:2] == ["[2.0, 2.0, 2.0, 2.0]", "True"]

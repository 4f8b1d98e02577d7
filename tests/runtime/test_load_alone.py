"""Loading and running a file needs neither the compiler nor MLIR."""

from __future__ import annotations

from runtime_programs import add_artifact
from without_compiler import output_without_compiler

CHILD = """
import sys
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
    assert output_without_compiler(CHILD, str(path)).split("\n")[:2] == ["[2.0, 2.0, 2.0, 2.0]", "True"]

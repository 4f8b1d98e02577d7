"""Dialects' Python modules that hloom leaves out are there for others who want them (dialects/stand_ins.py)."""

import subprocess
import sys

import pytest

_COMPILES = "import hloom, numpy, sys; hloom.compile('func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }')\n"


def _run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", _COMPILES + code], check=True, capture_output=True, text=True).stdout.strip()


def test_a_compile_imports_no_classes_of_ops_that_it_does_not_make():
    assert _run("print([m for m in sys.modules if 'linalg_ops' in m or 'llvm_ops' in m])") == "[]"


@pytest.mark.parametrize(
    "use",
    [
        "from torch_mlir.dialects import linalg; print(linalg.GenericOp.OPERATION_NAME)",
        "from torch_mlir.dialects.linalg import *; print(GenericOp.OPERATION_NAME)",
        "from torch_mlir.dialects.linalg.passes import *; from torch_mlir.dialects import linalg; print(linalg.GenericOp.OPERATION_NAME)",
    ],
)
def test_who_wants_them_gets_them(use):
    assert _run(use) == "linalg.generic"

"""Compiles and runs every example on the CPU, checks it against the reference interpreter, and prints what became of every op.

    python examples/run_all.py [NAME…]        all of examples/*.mlir, or those named (softmax, mlp_layer, …)

Exits 1 if any of them fails.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent


def main(names: list[str]) -> int:
    files = [EXAMPLES / f"{name}.mlir" for name in names] or sorted(EXAMPLES.glob("*.mlir"))
    failed = [path.stem for path in files if not run_example(path)]
    print(f"{len(files) - len(failed)} of {len(files)} examples agree with the reference interpreter")
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


def run_example(path: Path) -> bool:
    print(f"=== {path.stem}", flush=True)
    checked = run_tool("run", str(path), "--input=random", "--check=interpreter")
    explained = run_tool("explain", str(path), "--target=cpu")
    print()
    return checked and explained


def run_tool(tool: str, *arguments: str) -> bool:
    """Runs a tool of hloom in a process of its own, its output going where ours goes. True if it succeeded."""
    return subprocess.run([sys.executable, "-m", f"hloom.tools.{tool}", *arguments]).returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Starts processes that work (worker.py), asks them, and starts another where one has failed, hangs or ends."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

from ..settings import BUILD, ROOT

ENVIRONMENT = {
    "JAX_PLATFORMS": "cuda",  # a JAX that finds no GPU is to fail, not to be measured on the CPU
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    "JAX_DEFAULT_MATMUL_PRECISION": "highest",
    "TORCHINDUCTOR_CACHE_DIR": str(BUILD / "inductor"),
    "TF_CPP_MIN_LOG_LEVEL": "3",
}


class Worker:
    """One process at a time."""

    def __init__(self, log: Path):
        self._log = log
        self._process: subprocess.Popen[str] | None = None

    def ask(self, timeout: float, **request: Any) -> dict[str, Any]:
        """The answer; `{"error": …}` where there is none, and then the next request has a new process."""
        if self._process is None:
            self._process = self._start()
        answer = self._ask(self._process, timeout, request)
        if "error" in answer:
            self.stop()
        return answer

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _start(self) -> subprocess.Popen[str]:
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("a") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "benchmarks.gpu.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=ROOT,
                env={**os.environ, **ENVIRONMENT},
            )

    def _ask(self, process: subprocess.Popen[str], timeout: float, request: dict[str, Any]) -> dict[str, Any]:
        assert process.stdin and process.stdout
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            return {"error": self._last_words(process)}
        if not select.select([process.stdout], [], [], timeout)[0]:
            return {"error": f"no answer for {timeout:.0f} s"}
        line = process.stdout.readline()
        return json.loads(line) if line else {"error": self._last_words(process)}

    def _last_words(self, process: subprocess.Popen[str]) -> str:
        status = process.wait()
        lines = [line.strip() for line in self._log.read_text(errors="replace").splitlines() if line.strip()]
        return f"the process ended with status {status}: {lines[-1] if lines else 'no words'}"[:300]

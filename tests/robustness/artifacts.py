"""Programs as artifacts, and what is tried with each mutant of one: a CPU's code runs, a GPU's on the fake driver or the simulator."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

import numpy as np

import hloom
from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.compiler.simulation import simulator
from hloom.runtime.artifact import Artifact
from hloom.runtime.cuda.device import CudaDevice
from hloom.runtime.errors import CudaError
from hloom.runtime.executable import Executable, load
from hloom.runtime.manifest import made_for
from hloom.runtime.profile import trace
from hloom.runtime.signature import TensorSpec

sys.path.append(str(Path(__file__).parent.parent / "runtime"))
import cuda_programs
from fake_driver import FakeDriver
from fake_libraries import CublasLt, Cufft, fake_libraries
from fake_solvers import Cublas, Cusolver
from test_cuda_lapack import lapack_program
from test_cuda_libraries import gemm, library_program

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.mlir"))
_MOST_BYTES = 1 << 26


@functools.cache
def bases(kind: str) -> list[Artifact]:
    """The artifacts that mutants are made of, for "cpu", "cuda" (the fake driver) and "simulator"."""
    if kind == "cpu":
        return [_compiled(path, "cpu") for path in PROGRAMS] + [_bound(weights) for weights in (True, False)] + [_profiled(), _with_state()]
    found = []
    for path in PROGRAMS:
        try:
            found.append(_compiled(path, "sm_90a", simulated="gpu"))
        except hloom.CompileError:
            continue
    if kind == "simulator":
        return found
    for artifact in found:
        artifact.blobs = {**artifact.blobs, "cubin": b"simulated"}
        artifact.manifest["made_for"] = made_for(artifact.manifest, artifact.blobs)
    return found + [cuda_programs.again(artifact) for artifact in _hand_made()]


def _compiled(path: Path, target: str, **more: Any) -> Artifact:
    return Compilation(load_program(path.read_text()), target=target, **more).artifact()


def _bound(weights: bool) -> Artifact:
    text = next(path for path in PROGRAMS if path.name == "mlp.mlir").read_text()
    exe = hloom.compile(text, bind={1: np.ones((12, 20), np.float32), 2: np.ones(12, np.float32)})
    return Artifact(exe.program.manifest, {**exe.program.blobs, **(exe.device.kept() if weights else {})})


def _profiled() -> Artifact:
    return _compiled(next(path for path in PROGRAMS if path.name == "while.mlir"), "cpu", profile=True)


def _with_state() -> Artifact:
    """A call adds its argument to what is kept, and gives the sum before."""
    text = """func.func @main(%x: tensor<4xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %0 = stablehlo.add %x, %s : tensor<4xf32>
      return %s, %0 : tensor<4xf32>, tensor<4xf32>
    }"""
    artifact = Compilation(load_program(text), target="cpu").artifact()
    artifact.manifest |= {"updates": [[1, 1]], "state": [1], "in_tree": {"tuple": ["*"]}, "out_tree": "*"}
    artifact.blobs = {**artifact.blobs, "state.1": bytes(16)}
    return artifact


def _hand_made() -> list[Artifact]:
    return [
        cuda_programs.chain(),
        gemm(1, 3, 5, 4, 0, 1, "f16", "f16", "bias_relu", 0)[0],
        gemm(2, 3, 5, 4, 1, 0, "bf16", "f32", "none", 1)[0],
        library_program(
            {"op": "fft", "transform": "rfft", "lengths": [7], "batch": 2, "element": "f64"}, [("f64", (2, 7))], ("f64", (2, 4, 2))
        ),
        lapack_program("dpotrf", 4, 4, ord("U")),
        lapack_program("dtrsm", 4, 4, 4, 4, *b"LUNN"),
    ]


class _Driver(FakeDriver):
    """Kernels do nothing, and one that no program has is an error as the driver's. Copies and fills do what they say."""

    def kernel(self, module: str, name: str, dynamic_shared_bytes: int = 0) -> Any:
        if module == "conditions":
            return super().kernel(module, name, dynamic_shared_bytes)
        if not name.isidentifier():
            raise CudaError(f"no kernel {name}")
        return lambda *arguments: None

    def allocate(self, nbytes: int) -> int:
        if nbytes > _MOST_BYTES:
            raise CudaError(f"out of memory: {nbytes}")
        return super().allocate(nbytes)


def _fake_device(program: Any) -> CudaDevice:
    libraries = fake_libraries(cublasLt=CublasLt(), cufft=Cufft(), cublas=Cublas(), cusolverDn=Cusolver())
    return CudaDevice(program, _Driver(), libraries)


DEVICES = {"cpu": None, "cuda": _fake_device, "simulator": simulator()}


def try_file(kind: str, path: Path) -> str:
    """Loads the file, looks at all that it tells, and calls it where it is small and sure to end. Raises only ExecutionErrors."""
    exe = load(path, DEVICES[kind])
    told = [repr(exe), exe.arena_bytes, trace(exe, [(0, 0, 1)])]
    try:
        told += [exe.report.text(), exe.report.json(), exe.report.html()]
    except hloom.ExecutionError:
        told.append("no report")
    return _called(kind, exe)


def _called(kind: str, exe: Executable) -> str:
    specs = (*exe.signature.inputs, *exe.signature.outputs, *exe.signature.bound.values())
    if sum(spec.nbytes for spec in specs) + exe.arena_bytes > _MOST_BYTES or (kind != "cpu" and _loops(exe)):
        return "loaded"
    rng = np.random.default_rng(0)
    if exe.signature.bound and not exe._ready:
        exe.bind([any_bits(spec, rng) for spec in exe.signature.bound.values()])
    exe.flat([any_bits(spec, rng) for spec in exe.signature.inputs])
    return "ran"


def _loops(exe: Executable) -> bool:
    """A loop whose kernels do nothing need not end."""
    text = str(exe.program.manifest.get("programs"))
    return "'while'" in text or "'for'" in text


def any_bits(spec: TensorSpec, rng: np.random.Generator) -> np.ndarray:
    """An array of any values of the type: NaN, indices far out of bounds, zeros to divide by."""
    if spec.dtype == "i1":
        return rng.integers(0, 2, spec.shape) == 1
    return rng.integers(0, 256, spec.nbytes, np.uint8).view(spec.numpy_dtype).reshape(spec.shape)

"""gpu.module → cubin through the cache: what was compiled once, for the same target with the same tools, is read back."""

from __future__ import annotations

import functools
import json
from base64 import b64decode, b64encode
from dataclasses import asdict, dataclass
from pathlib import Path

from torch_mlir import ir

from hloom.dialects.target import TargetView
from hloom.passes.registry import find_pass

from ..cache import key_of, package_version, read_entry, write_entry
from ..instrument import Instrumentation
from ..passmanager import Node, parse_nodes
from ..stage_passes import NVVM
from .assemble import Cubin, Resources, assemble, assembler, without_bounds
from .ptx import emit_ptx, only_gpu_module

_KIND = "cubin"
_FORMAT = 1
_PACKAGES = ("torch-mlir", "llvmlite")


@dataclass(frozen=True)
class CompiledKernels:
    """A gpu.module as machine code, and the PTX that it was assembled from."""

    ptx: str
    cubin: Cubin
    cached: bool = False


def compile_kernels(
    gpu_module: ir.Operation, target: TargetView, *, cache: bool = True, watch: Instrumentation | None = None
) -> CompiledKernels:
    """PTX and cubin of a gpu.module at stage gpu. Raises CompileError. `cache=False` neither reads nor writes the cache."""
    source = only_gpu_module(gpu_module)
    key = _key(source, target) if cache else ""
    if cache and (found := _read(key)):
        return found
    ptx = emit_ptx(source, target, watch)
    made = _assembled(ptx, target)
    if cache:
        write_entry(_KIND, key, _encode(made))
    return made


def _assembled(ptx: str, target: TargetView) -> CompiledKernels:
    """The kernels as machine code. One that its bound of registers makes spill, or wait for each product, gets all that its block may have.

    Fewer blocks at once are the lesser loss.
    """
    cubin = assemble(ptx, target)
    freed = without_bounds(ptx, [name for name, used in cubin.statistics.items() if used.spills or used.waits])
    return CompiledKernels(freed, cubin if freed == ptx else assemble(freed, target))


def _key(source: ir.Operation, target: TargetView) -> str:
    return key_of((source.get_asm(enable_debug_info=False), repr(target), *_versions()))


@functools.cache
def _versions() -> tuple[str, ...]:
    """Whatever else decides the result: the tools' versions, and hloom's own code on the way."""
    tools = (f"{_FORMAT}", assembler().name, assembler().version, *map(package_version, _PACKAGES))
    code = [path.read_bytes() for path in sorted({*Path(__file__).parent.glob("*.py"), *_pass_files()})]
    return (*tools, key_of(code))


def _pass_files() -> list[Path]:
    passes = filter(None, (find_pass(node.name) for text in NVVM for node in _leaves(parse_nodes(text))))
    return [Path(info.fn.__code__.co_filename) for info in passes]


def _leaves(nodes: tuple[Node, ...]) -> list[Node]:
    return [leaf for node in nodes for leaf in ([node] if node.children is None else _leaves(node.children))]


def _encode(made: CompiledKernels) -> bytes:
    statistics = {name: asdict(resources) for name, resources in made.cubin.statistics.items()}
    return json.dumps({"ptx": made.ptx, "cubin": b64encode(made.cubin.bytes).decode(), "statistics": statistics}).encode()


def _read(key: str) -> CompiledKernels | None:
    data = read_entry(_KIND, key)
    if data is None:
        return None
    entry = json.loads(data)
    statistics = {name: Resources(**resources) for name, resources in entry["statistics"].items()}
    return CompiledKernels(entry["ptx"], Cubin(b64decode(entry["cubin"]), statistics), cached=True)

"""From a module at stage `thunk` and its code to the artifact that the runtime loads (docs/artifact.md).

For a CPU the code is an object that the host programs were compiled into; for a GPU it is a cubin, and the runtime walks the host programs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch_mlir import ir

from hloom.dialects.target import TargetView
from hloom.dialects.thunk_json import programs
from hloom.passes.common.dense_constants import constant_bytes
from hloom.passes.common.init_function import origin, updates
from hloom.passes.common.rewriting import integer, symbol_name, top_level
from hloom.passes.errors import CompileError
from hloom.runtime.artifact import Artifact
from hloom.runtime.interrupts import uninterrupted
from hloom.runtime.manifest import interface, made_for
from hloom.runtime.signature import TensorSpec
from hloom.runtime.thunks import read_program, walk

from .source_program import tensor_spec

_SYMBOLS = {"main": "hloom_main", "init": "hloom_init"}


class ArtifactWriter:
    """Reads the host programs at stage `thunk`, and how the kernels of a GPU are launched; `artifact` adds the code."""

    @uninterrupted()
    def __init__(self, module: ir.Operation, target: TargetView, source: Mapping[str, Any]):
        """`source` are the manifest's entries about the source program."""
        self.constants: dict[str, bytes] = {}
        self.entries: dict[str, dict[str, Any]] = {}
        self.packed: list[TensorSpec] = []
        globals_ = {symbol_name(op): op for op in top_level(module, "memref.global")}
        for program in top_level(module, "thunk.program"):
            self._read(program, globals_)
        on_gpu = target.kind == "cuda"
        described = {"name": target.name, "kind": target.kind, "triple": target.triple, "cpu": target.cpu}
        self.manifest = {
            **source,
            "target": {**described, "features": [] if on_gpu else target.required_features},
            "init_results": [spec.json() for spec in self.packed],
            "entries": self.entries,
            "programs": programs(module),
        }
        if not on_gpu and (unread := self._unread()):
            self.entries["main"]["unread"] = unread
        if on_gpu:
            from .cuda.launches import launches  # a CPU's program needs no pass of the GPU's road, nor NVVM's dialect

            self.manifest["kernels"] = launches(module)
        self._module = _text(module) if on_gpu else None  # what the simulator runs

    def _unread(self) -> list[int]:
        """Bound arguments that `init` alone reads: what it packed is not kept twice."""
        buffers = self.entries["main"]["buffers"]
        read = {piece.buffer for thunk in walk(read_program(self.manifest, "main")) for piece in (*thunk.reads, *thunk.writes)}
        bound = {index for index, argument in enumerate(self.manifest["arguments"]) if argument["bound"]}
        return [index for number, (kind, index) in enumerate(buffers) if kind == "argument" and index in bound and number not in read]

    def _read(self, program: ir.Operation, globals_: Mapping[str, ir.Operation]) -> None:
        name = symbol_name(program)
        if name not in _SYMBOLS:
            raise CompileError(f"a program has the entries main and init, not {name}", stage="thunk")
        signature = ir.FunctionType(ir.TypeAttr(program.attributes["signature"]).value)
        attributes = [ir.DictAttr(item) for item in program.attributes["value_attributes"]]
        buffers: list[list[Any]] = [[*origin(index, attributes[index])] for index in range(len(signature.inputs))]
        buffers += [["result", index] for index in range(len(signature.results))]
        buffers.append(["arena", integer(program, "arena_bytes")])
        for symbol in program.attributes["constants"]:
            constant = ir.FlatSymbolRefAttr(symbol).value
            blob = f"constant.{constant}"
            self.constants[blob] = constant_bytes(globals_[constant].attributes["initial_value"])
            buffers.append(["constant", blob])
        self.entries[name] = {"symbol": _SYMBOLS[name], "buffers": buffers}
        in_place = [[buffers[index][1], result] for index, result in updates(attributes[: len(signature.inputs)]).items()]
        if in_place:
            self.entries[name]["in_place"] = in_place
        if name == "init":
            self.packed = [tensor_spec(f"packed{number}", kind) for number, kind in enumerate(signature.results)]

    @property
    def interface(self) -> str:
        """What the machine code takes for granted of the manifest."""
        return interface(self.manifest, self.constants)

    def artifact(self, code: Sequence[bytes], report: Mapping[str, Any]) -> Artifact:
        """The artifact of objects or a cubin, as the manifest's target wants."""
        name = "cubin" if self.manifest["target"]["kind"] == "cuda" else "code"
        blobs = {f"{name}.{number}" if number else name: part for number, part in enumerate(code)} | self.constants
        if self._module is not None:
            blobs["module"] = self._module
        return Artifact({**self.manifest, "report": report, "made_for": made_for(self.manifest, blobs)}, blobs)


def _text(module: ir.Operation) -> bytes:
    """The module without the values of its constants, which the artifact has as blobs."""
    copy = module.clone()
    try:
        for constant in top_level(copy, "memref.global"):
            constant.attributes["initial_value"] = ir.UnitAttr.get(module.context)
        return copy.get_asm(use_local_scope=True).encode()
    finally:
        copy.erase()

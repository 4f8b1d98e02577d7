"""From a module at stage `thunk` and its object code to the artifact that the runtime loads (docs/artifact.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch_mlir import ir

from hloom.dialects.target import TargetView
from hloom.passes.buffers.constants import constant_bytes
from hloom.passes.errors import CompileError
from hloom.passes.rewriting import symbol_name, walk
from hloom.runtime.artifact import Artifact
from hloom.runtime.signature import TensorSpec

_SYMBOLS = {"main": "hloom_main", "init": "hloom_init"}


class ArtifactWriter:
    """Reads the host programs at stage `thunk`; `artifact` adds the code."""

    def __init__(self, module: ir.Operation):
        self.constants: dict[str, bytes] = {}
        self.entries: dict[str, dict[str, Any]] = {}
        self.packed: list[TensorSpec] = []
        self.thunks: list[str] = []
        globals_ = {symbol_name(op): op for op in walk(module, "memref.global")}
        for program in walk(module, "thunk.program"):
            self._read(program, globals_)

    def _read(self, program: ir.Operation, globals_: Mapping[str, ir.Operation]) -> None:
        name = symbol_name(program)
        if name not in _SYMBOLS:
            raise CompileError(f"a program has the entries main and init, not {name}", stage="thunk")
        signature = ir.FunctionType(ir.TypeAttr(program.attributes["signature"]).value)
        attributes = [ir.DictAttr(item) for item in program.attributes["value_attributes"]]
        buffers: list[list[Any]] = [_argument(index, attributes[index]) for index in range(len(signature.inputs))]
        buffers += [["result", index] for index in range(len(signature.results))]
        buffers.append(["arena", ir.IntegerAttr(program.attributes["arena_bytes"]).value])
        for symbol in program.attributes["constants"]:
            constant = ir.FlatSymbolRefAttr(symbol).value
            blob = f"constant.{constant}"
            self.constants[blob] = constant_bytes(globals_[constant].attributes["initial_value"])
            buffers.append(["constant", blob])
        self.entries[name] = {"symbol": _SYMBOLS[name], "buffers": buffers}
        self.thunks.append(program.get_asm(use_local_scope=True))
        if name == "init":
            tensors = [ir.RankedTensorType(kind) for kind in signature.results]
            self.packed = [TensorSpec(f"packed{i}", str(kind.element_type), tuple(kind.shape)) for i, kind in enumerate(tensors)]

    def artifact(self, code: bytes, target: TargetView, more: Mapping[str, Any]) -> Artifact:
        """The artifact; `more` are the manifest's entries about the source program."""
        manifest = {
            **more,
            "target": {"name": target.name, "triple": target.triple, "cpu": target.cpu, "features": _required_features(target)},
            "init_results": [spec.json() for spec in self.packed],
            "entries": self.entries,
            "thunks": self.thunks,
        }
        return Artifact(manifest, {"code": code, **self.constants})


def _argument(index: int, attributes: ir.DictAttr) -> list[Any]:
    if "hloom.init_result" in attributes:
        return ["init", ir.IntegerAttr(attributes["hloom.init_result"]).value]
    return ["argument", ir.IntegerAttr(attributes["hloom.argument"]).value if "hloom.argument" in attributes else index]


def _required_features(target: TargetView) -> list[str]:
    """What a CPU must have to run the code: LLVM may use whatever it was told of."""
    named = {word[1:] for word in target.features.split(",") if word.startswith("+")}
    wide = {"avx512f", "avx512bw", "avx512dq", "avx512vl"} if target.vector_bits >= 512 else {"avx2"}
    flags = {"fma": target.fma, "f16c": target.f16_convert, "amx-bf16": target.amx_bf16, "amx-int8": target.amx_int8}
    flags |= {"avx512fp16": target.f16_arithmetic, "avx512bf16": target.bf16_dot, "amx-tile": target.amx_bf16 or target.amx_int8}
    return sorted(named | wide | {name for name, has in flags.items() if has})

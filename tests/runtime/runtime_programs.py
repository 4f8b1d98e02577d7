"""Small programs assembled from LLVM IR, so that the runtime is tested without the compiler."""

from __future__ import annotations

import functools

import llvmlite.binding as llvm
import numpy as np

from hloom.runtime.artifact import Artifact, Buffer
from hloom.runtime.executable import Executable
from hloom.runtime.manifest import INTERFACE, interface, made_for
from hloom.runtime.pytree import flat

Spec = tuple[str, str, tuple[int, ...]]


@functools.cache
def assemble(text: str) -> bytes:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2, reloc="pic", codemodel="small")
    return machine.emit_object(llvm.parse_assembly(text))


def text_global(name: str, value: str) -> str:
    return f'@{name} = constant [{len(value) + 1} x i8] c"{value}\\00"\n'


def buffer(index: int) -> str:
    """IR that loads pointer `index` of %buffers as %p<index>."""
    return f"%s{index} = getelementptr ptr, ptr %buffers, i64 {index}\n%p{index} = load ptr, ptr %s{index}\n"


def function(name: str, buffers: int, body: str) -> str:
    return f"define void @{name}(ptr %buffers) {{\n{''.join(map(buffer, range(buffers)))}{body}\nret void\n}}\n"


def artifact(text: str, arguments: list[Spec], results: list[Spec], buffers: list, bound: tuple[int, ...] = (), **more) -> Artifact:
    """An artifact of the code `text`, whose `main` has these buffers."""
    constants: dict[str, Buffer] = more.pop("constants", {})
    manifest = {
        "name": "test",
        "target": {"name": "test", "features": []},
        "arguments": [{"name": n, "dtype": d, "shape": list(s), "bound": i in bound} for i, (n, d, s) in enumerate(arguments)],
        "results": [{"name": n, "dtype": d, "shape": list(s)} for n, d, s in results],
        "init_results": [],
        "kind": "numpy",
        "kwarg_tree": {"dict": []},
        "in_tree": flat(len(arguments) - len(bound)),
        "out_tree": "*" if len(results) == 1 else flat(len(results)),
        "entries": {"main": {"symbol": "hloom_main", "buffers": buffers}},
    }
    made = {**manifest, **more}
    code = assemble(text + text_global(INTERFACE, interface(made, constants)))
    blobs = {"code": code, **constants}
    return Artifact({**made, "made_for": made_for(made, blobs)}, blobs)


def copy_program(dtype: str, shape: tuple[int, ...], nbytes: int) -> Executable:
    """result = x"""
    body = f"call void @llvm.memcpy.p0.p0.i64(ptr %p1, ptr %p0, i64 {nbytes}, i1 false)"
    text = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n" + function("hloom_main", 2, body)
    return Executable(artifact(text, [("x", dtype, shape)], [("r", dtype, shape)], [["argument", 0], ["result", 0]]))


ADD = """
  %x = load <4 x float>, ptr %p0, align 4
  %y = load <4 x float>, ptr %p1, align 4
  %z = fadd <4 x float> %x, %y
  store <4 x float> %z, ptr %p2, align 4
"""
F4: Spec = ("", "f32", (4,))


def named(name: str) -> Spec:
    return (name, "f32", (4,))


def add_artifact(**more) -> Artifact:
    """r = a + b over 4xf32"""
    slots = [["argument", 0], ["argument", 1], ["result", 0]]
    return artifact(function("hloom_main", 3, ADD), [named("a"), named("b")], [named("r")], slots, **more)


def addresses_program(arguments: list[Spec]) -> Executable:
    """The result tells the addresses of the arguments that the program saw."""
    count = len(arguments)
    body = "".join(
        f"%a{i} = ptrtoint ptr %p{i} to i64\n%q{i} = getelementptr i64, ptr %p{count}, i64 {i}\nstore i64 %a{i}, ptr %q{i}\n"
        for i in range(count)
    )
    slots = [["argument", i] for i in range(count)] + [["result", 0]]
    return Executable(artifact(function("hloom_main", count + 1, body), arguments, [("r", "i64", (count,))], slots))


def bound_artifact() -> Artifact:
    """main: r = x + packed + w, where init makes packed = w + c from the bound w and a constant c."""
    init = function("hloom_init", 3, ADD)
    main = function(
        "hloom_main",
        4,
        ADD.replace("ptr %p2", "ptr %p3")
        + """
  %w = load <4 x float>, ptr %p2, align 4
  %s = fadd <4 x float> %z, %w
  store <4 x float> %s, ptr %p3, align 4
""",
    )
    return artifact(
        init + main,
        [named("x"), named("w")],
        [named("r")],
        [],
        bound=(1,),
        constants={"constant.0": np.full(4, 10, np.float32).tobytes()},
        init_results=[{"name": "packed", "dtype": "f32", "shape": [4]}],
        entries={
            "main": {"symbol": "hloom_main", "buffers": [["argument", 0], ["init", 0], ["argument", 1], ["result", 0], ["arena", 64]]},
            "init": {"symbol": "hloom_init", "buffers": [["argument", 1], ["constant", "constant.0"], ["result", 0]]},
        },
    )

"""A program, from whichever front end, taken through all stages to a file or to what runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from torch_mlir import ir

from hloom.dialects.context import make_context
from hloom.dialects.target import TargetView, attach_target
from hloom.passes.common.rewriting import functions, symbol_name, walk
from hloom.passes.errors import CompileError, InvalidProgramError, PipelineError
from hloom.passes.fused.planner.policy import Policy, PolicySource, attach_policy
from hloom.runtime import pytree
from hloom.runtime.artifact import Artifact
from hloom.runtime.executable import Executable
from hloom.runtime.forking import process_lock
from hloom.runtime.interrupts import uninterrupted
from hloom.runtime.manifest import interface
from hloom.runtime.signature import TensorSpec

from .artifact_writer import ArtifactWriter
from .debug import Debug, watching
from .frontend import Program, load_program, main_function
from .frontends.mlir_text import import_mlir
from .frontends.trial import bytecode_of
from .instrument import Instrumentation
from .pipeline import Pipeline, run_stages, stage_number
from .program_cache import program_key, read_program, write_program
from .report import ReportBuilder
from .target import resolve
from .timing import Timing
from .validate import readable_names

_SIMULATED = "sim:"


class Compiled(NamedTuple):
    executable: Executable
    program: Program
    original: bytes
    """The program's module before it was compiled, where that was asked for."""
    values: dict[int, Any]
    """Of the arguments that are bound, by index."""


def compile_source(
    source: Any,
    examples: Sequence[Any] = (),
    keywords: Mapping[str, Any] | None = None,
    *,
    target: str | TargetView = "auto",
    bind: Mapping[int | str, Any] | None = None,
    policy: PolicySource | None = None,
    keep_original: bool = False,
) -> Compiled:
    """What `hloom.compile` does (api.py), without verifying."""
    policy = None if policy is None else Policy.of(policy)
    program = load_program(source, examples, example_keywords=keywords)
    original = bytecode_of(program.module) if keep_original else b""
    values = {**program.bound, **_by_index(program, bind or {})}
    name, simulated = split_target(target)
    given_once = values.keys() - program.state
    artifact = compile_program(program, target=name, bound=given_once, name=name_of(source), simulated=simulated, policy=policy)
    exe = Executable(artifact, simulator() if simulated else None)
    if values:
        exe.bind(dict(values))
    return Compiled(exe, program, original, values)


def split_target(target: str | TargetView) -> tuple[str | TargetView, bool]:
    """The target without "sim:", and whether that stood before it."""
    if isinstance(target, str) and target.startswith(_SIMULATED):
        return target.removeprefix(_SIMULATED), True
    return target, False


def simulator() -> Callable[[Any], Any]:
    """What makes the device of an Executable that runs on the simulator. numpy's copy of a GPU is imported here alone."""
    from .simulator.simulated_device import SimulatedDevice

    return SimulatedDevice


def load_text(source: str | bytes, function: str = "main") -> Program:
    """The program in MLIR text or bytecode whose entry is `function`. Raises CompileErrors."""
    context = make_context()
    module = import_mlir(source, context)
    if function != "main":
        with readable_names():
            _make_entry(module, function)
    return load_program(module, context=context)


def compile_program(
    program: Program,
    *,
    target: str | TargetView = "auto",
    bound: Collection[int] = (),
    name: str = "main",
    dump_dir: Path | None = None,
    watch: Instrumentation | None = None,
    start: str = "input",
    profile: bool = False,
    simulated: bool = False,
    policy: PolicySource | None = None,
) -> Artifact:
    """Takes a program that is at stage `start` through all stages from there.

    `bound`: indices of the arguments that will be bound, beside those marked so in a program at stage `input`. `profile` has the program
    measure its thunks (runtime/profile.py); `simulated` leaves out the machine code, for the simulator runs the kernels as they are before.
    Without a `policy` the one that the module carries holds, if it does.
    """
    module = program.module.operation
    set_policy(module, policy, start)
    timing = Timing()
    with readable_names(), watching(watch) as watched:
        timing = watched.timing or timing
        timed = replace(watched, timing=timing)
        described = resolve(target) if isinstance(target, str) else target

        def run(first: str, last: str) -> None:
            run_stages(module, first, last, dump_dir=dump_dir, watch=timed)
            if profile and last == "thunk":
                Pipeline("insert-profiling{nested=true}" if described.kind == "cpu" else "insert-profiling").run(module, timed)

        if simulated and described.kind != "cuda":
            raise CompileError(f"the target {described.name} is no GPU", remedy="simulate sm_80, sm_90a or another GPU target")
        looked_on = dump_dir or Debug.from_environment().looks_on or not watched.idle
        if described.kind != "cuda" or looked_on:
            return _compile(program, described, bound, name, start, run, timing, simulated)
        key = program_key(program, described, bound, (name, start, profile, simulated))
        artifact = read_program(key)
        if artifact is None:
            artifact = _compile(program, described, bound, name, start, run, timing, simulated)
            write_program(key, artifact)
        return artifact


def _compile(
    program: Program,
    target: TargetView,
    bound: Collection[int],
    name: str,
    start: str,
    run: Callable[[str, str], None],
    timing: Timing,
    simulated: bool,
) -> Artifact:
    module = program.module.operation
    attach_target(module, target)
    if start == "input":
        indices, in_tree = bind_arguments(program, bound)
    else:
        indices, in_tree = sorted(bound), pytree.without(program.in_tree, bound)
    report = ReportBuilder(name)
    if stage_number(start) <= stage_number("fused"):
        run(start, "fused")
        with uninterrupted():
            report.fused(module)
        start = "fused"
    run(start, "thunk")
    with uninterrupted():
        report.thunks(module)
        writer = ArtifactWriter(module, keep_module=target.kind == "cuda")
    signature = {
        "name": name,
        "kind": program.kind,
        "arguments": [{**spec.json(), "bound": index in indices} for index, spec in enumerate(program.inputs)],
        "results": [spec.json() for spec in program.outputs],
        "in_tree": in_tree,
        "kwarg_tree": program.kwarg_tree,
        "out_tree": program.out_tree,
        **({"updates": list(map(list, program.updates.items())), "state": sorted(program.state)} if program.updates else {}),
    }
    manifest = writer.manifest(target, signature)
    made_for = interface(manifest, writer.constants)
    code = b"" if simulated else _MACHINE_CODE[target.kind](module, target, run, timing, report, made_for)
    described = {
        "target": target.name,
        "inputs": _listed(spec for index, spec in enumerate(program.inputs) if index not in indices),
        "outputs": _listed(program.outputs),
    }
    memory = {
        "code": len(code),
        "constants": sum(map(len, writer.constants.values())),
        "bound": sum(program.inputs[index].nbytes for index in indices),
        "packed": sum(spec.nbytes for spec in writer.packed),
    }
    manifest["report"] = report.finish(timing, program=described, memory=memory)
    return writer.artifact(manifest, code)


def _object(
    module: ir.Operation, target: TargetView, run: Callable[[str, str], None], timing: Timing, report: ReportBuilder, made_for: str
) -> bytes:
    run("thunk", "llvm")
    with process_lock:
        from .codegen import emit_object  # LLVM is needed here alone, not to stop at a stage before

    timing.begin_stage("object")
    with timing.measure("emit-object"):
        return emit_object(module, made_for)


def _cubin(
    module: ir.Operation, target: TargetView, run: Callable[[str, str], None], timing: Timing, report: ReportBuilder, made_for: str
) -> bytes:
    """The kernels as a cubin; the host program stays as thunks. Empty where libraries do everything."""
    from .cuda import compile_kernels, kernel_statistics

    timing.begin_stage("cubin")
    kernels = walk(module, "gpu.module")
    if not kernels:
        return b""
    with timing.measure("compile-kernels"):
        made = compile_kernels(kernels[0], target)
    report.resources(kernel_statistics(kernels[0], target, made))
    return made.cubin.bytes


_MACHINE_CODE = {"cpu": _object, "cuda": _cubin}


def set_policy(module: ir.Operation, policy: PolicySource | None, start: str) -> None:
    """Gives a program at stage `start` a policy, if there is one. Raises CompileErrors."""
    if policy is None:
        return
    if stage_number(start) >= stage_number("fused"):
        raise PipelineError(f"at stage {start} nothing is left that a policy decides", remedy="start from stablehlo, or without a policy")
    attach_policy(module, Policy.of(policy))


def name_of(source: object) -> str:
    """How a program is called in reports: its file, its function, or its class."""
    if isinstance(source, Path) or (isinstance(source, str) and "\n" not in source):
        return Path(source).name
    return getattr(source, "__name__", None) or ("main" if isinstance(source, (str, bytes, bytearray)) else type(source).__name__)


def _listed(specs: Any) -> str:
    return ", ".join(f"{spec.name}: {spec}" for spec in specs)


def _make_entry(module: ir.Module, name: str) -> None:
    named = {symbol_name(function): function for function in functions(module.operation)}
    if name not in named:
        raise InvalidProgramError(f"the module has no function @{name}", stage="input", remedy=f"it has {', '.join(named)}")
    with module.context:
        for old, new in (("main", f"main.before.{name}"), (name, "main")):
            if old in named:
                ir.SymbolTable.replace_all_symbol_uses(old, new, module.operation)
                named[old].attributes["sym_name"] = ir.StringAttr.get(new)


def _by_index(program: Program, bind: Mapping[int | str, Any]) -> dict[int, Any]:
    """`bind` with indices for names. Raises CompileError for what names no argument."""
    names = {spec.name: index for index, spec in enumerate(program.inputs)}
    found: dict[int, Any] = {}
    for key, value in bind.items():
        index = names.get(key) if isinstance(key, str) else key
        if index not in range(len(program.inputs)):
            raise CompileError(f"bind names {key!r}, which is no argument", remedy=f"the arguments: {', '.join(names) or 'none'}")
        found[index] = value  # type: ignore[index]
    return found


def bind_arguments(program: Program, bound: Collection[int]) -> tuple[list[int], pytree.Structure]:
    """Marks arguments as bound; returns the indices of all that are, and the structure of the arguments left."""
    main = main_function(program.module)
    with main.context:
        attributes = _argument_attributes(main, program.inputs)
        free = [index for index, given in enumerate(attributes) if "hloom.bound" not in given and index not in program.state]
        for index in bound:
            attributes[index]["hloom.bound"] = ir.UnitAttr.get()
        main.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(given) for given in attributes])
    in_tree = program.in_tree
    if pytree.count(in_tree) + pytree.count(program.kwarg_tree) == len(program.inputs):
        free = list(range(len(program.inputs)))  # marked in the text: the structure counts them all
    gone = {position for position, index in enumerate(free) if "hloom.bound" in attributes[index]}
    if any(position >= pytree.count(in_tree) for position in gone):
        raise CompileError("keyword arguments cannot be bound", remedy="make them positional")
    return [index for index, given in enumerate(attributes) if "hloom.bound" in given], pytree.without(in_tree, gone)


def _argument_attributes(main: ir.Operation, inputs: Collection[TensorSpec]) -> list[dict[str, ir.Attribute]]:
    if "arg_attrs" not in main.attributes:
        return [{} for _ in inputs]
    return [{item.name: item.attr for item in ir.DictAttr(given)} for given in main.attributes["arg_attrs"]]

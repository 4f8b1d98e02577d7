"""A compile from top to bottom: a source program, its stages, its machine code, one file.

    Compilation(load_program(source), "sm_90a", bound=[1]).artifact()

`to` stops at a stage. What is changed there by hand is compiled from there on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch_mlir import ir

from hloom.dialects.target import TargetView, attach_target
from hloom.passes.common.custom_calls import calls_registered
from hloom.passes.common.rewriting import walk
from hloom.passes.errors import CompileError, PipelineError
from hloom.passes.fused.planner.policy import Policy, PolicySource, attach_policy
from hloom.runtime import pytree
from hloom.runtime.artifact import Artifact
from hloom.runtime.executable import Executable
from hloom.runtime.forking import process_lock
from hloom.runtime.program import GENERATOR

from .artifact_writer import ArtifactWriter
from .debug import Debug, watching
from .frontend import load_program, name_of
from .instrument import Instrumentation
from .parsing import bytecode_of
from .pipeline import Pipeline, run_stages, stage_number
from .program_cache import kept_or_made, program_key
from .simulation import simulator, split_target
from .source_program import SourceProgram
from .target import resolve
from .timing import Timing
from .validate import readable_names

if TYPE_CHECKING:
    from .report import ReportBuilder

PTX, ASSEMBLY = "ptx", "assembly"
"""What `text` takes for stages: the kernels for a GPU as its assembler reads them, and a CPU's or GPU's machine code to be read."""


@dataclass
class Compilation:
    """A program on its way to a target. Its constructor writes target, policy and bound arguments into the program's module."""

    program: SourceProgram
    target: str | TargetView = "auto"
    _: KW_ONLY
    bound: Collection[int] = ()
    """Arguments that are given once, by index. At stage `input`, those that the program's text marks as bound are added."""
    policy: PolicySource | None = None
    """Without one, the policy that the module carries holds, if it does."""
    name: str = "main"
    stage: str = "input"
    """The stage that the program is at."""
    profile: bool = False
    """The program measures its thunks (runtime/profile.py)."""
    simulated: str = ""
    """Where not empty the artifact has no machine code: what the simulator runs (simulation.py)."""
    dump_dir: Path | None = None
    """Receives the text of every stage."""
    watch: Instrumentation | None = None
    keep_original: bool = False
    """Whether `original` is wanted."""
    kept: bool = False
    """A program for a CPU, too, comes from the cache if it was compiled before."""
    in_place: Mapping[int, int] | None = None
    """Arguments of which a call leaves results in their memory, on a CPU: those that the program changes, where nobody says others."""
    values: dict[int, Any] = field(default_factory=dict)
    """The values of bound arguments, by index, which `executable` binds."""
    machine: TargetView = field(init=False)
    """What `target` means here."""
    _checked: bool = field(init=False, default=False)
    """Whether what must hold at `stage` was checked there."""
    original: bytes = field(init=False, default=b"")
    """The module before it was compiled."""

    @classmethod
    def of(
        cls,
        source: Any,
        examples: Sequence[Any] = (),
        keywords: Mapping[str, Any] | None = None,
        *,
        target: str | TargetView = "auto",
        bind: Mapping[int | str, Any] | None = None,
        policy: PolicySource | None = None,
        keep_original: bool = False,
    ) -> Compilation:
        """The compilation of whatever `hloom.compile` takes (api.py)."""
        policy = None if policy is None else Policy.of(policy)
        program = load_program(source, examples, example_keywords=keywords)
        return cls.of_program(program, name_of(source), target=target, bind=bind, policy=policy, keep_original=keep_original)

    @classmethod
    def of_program(
        cls,
        program: SourceProgram,
        name: str,
        *,
        target: str | TargetView = "auto",
        bind: Mapping[int | str, Any] | None = None,
        **more: Any,
    ) -> Compilation:
        """The compilation of a program that was read; `more` are fields."""
        values = {**program.bound, **by_index([spec.name for spec in program.inputs], bind or {})}
        target, simulated = split_target(target)
        return cls(program, target, bound=values.keys() - program.state, name=name, values=values, simulated=simulated, **more)

    def __post_init__(self) -> None:
        self.module: ir.Operation = self.program.module.operation
        self.original = bytecode_of(self.module) if self.keep_original else b""
        self._set_policy()
        self.machine = resolve(self.target)
        if self.simulated and self.machine.kind != "cuda":
            raise CompileError(f"the target {self.machine.name} is no GPU", remedy="simulate sm_80, sm_90a or another GPU target")
        attach_target(self.module, self.machine)
        with readable_names():
            self._bind()

    def executable(self) -> Executable:
        """The program ready to be called."""
        exe = Executable(self.artifact(), simulator(self.simulated))
        values = {index: value for index, value in self.values.items() if self.program.inputs[index].name != GENERATOR}
        if values:
            exe.bind(values)
        return exe

    def artifact(self) -> Artifact:
        """The program taken through all stages that are left, and its machine code. Raises CompileErrors.

        One for a GPU, or of open shapes, that was compiled before comes from the cache, unless somebody looks on.
        """
        with readable_names(), watching(self.watch) as watch:
            self.watch = replace(watch, timing=watch.timing or Timing())
            debug = Debug.from_environment()
            kept = self.kept and not debug.bounds and not calls_registered(self.module) if self.machine.kind == "cpu" else True
            if not kept or self.dump_dir or debug.looks_on or not watch.idle:
                return self._compiled()
            key = program_key(self.program, (self.bound, self.name, self.stage, self.profile, self.simulated))
            return kept_or_made(key, self._compiled)

    def text(self, stage: str) -> str:
        """The program at `stage`, or its kernels at `PTX` or `ASSEMBLY`. Raises CompileErrors."""
        with watching(self.watch) as self.watch:
            if stage == ASSEMBLY:
                return self._assembly()
            self.to("gpu" if stage == PTX else stage)
            if stage != PTX:
                return self.watch.asm.asm(self.module)
            from .cuda.ptx import emit_ptx  # LLVM is needed for machine code alone

            return emit_ptx(self.module, self.machine, self.watch)

    def _assembly(self) -> str:
        if self.machine.kind == "cpu":
            self.to("llvm")
            from .codegen import emit_assembly

            return emit_assembly(self.module)
        self.to("gpu")
        from .cuda.compile_kernels import compile_kernels
        from .cuda.disassemble import disassemble

        return disassemble(compile_kernels(self.module, self.machine, watch=self.watch).cubin.bytes)

    def to(self, stage: str) -> None:
        """Takes the module to `stage`, in place. Raises CompileErrors."""
        run_stages(self.module, self.stage, stage, dump_dir=self.dump_dir, watch=self.watch, checked=self._checked)
        self.stage, self._checked = stage, True
        if self.profile and stage == "thunk":
            Pipeline("insert-profiling{nested=true}" if self.machine.kind == "cpu" else "insert-profiling").run(self.module, self.watch)

    def _compiled(self) -> Artifact:
        """The steps from top to bottom. The report reads the module where a fact first stands in it."""
        with process_lock:  # programs that are kept need neither
            from hloom.passes.fused.planner.observed import observed_plans

            from .report import ReportBuilder

        report = ReportBuilder()
        if stage_number(self.stage) <= stage_number("fused"):
            if stage_number(self.stage) <= stage_number("stablehlo"):
                self.to("stablehlo")
                report.stablehlo(self.module)
            with observed_plans() as plans:
                self.to("fused")
            report.fused(self.module, plans)
        self.to("thunk")
        report.thunks(self.module)
        writer = ArtifactWriter(self.module, self.machine, self.program.manifest(self.name, self.bound))
        code = self._machine_code(writer.interface, report)
        return writer.artifact(code, report.finish(writer.manifest, code, writer.constants, self.timing))

    def _machine_code(self, interface: str, report: ReportBuilder) -> list[bytes]:
        if self.simulated:
            return [b""]
        return [self._cubin(report)] if self.machine.kind == "cuda" else self._objects(interface)

    def _objects(self, interface: str) -> list[bytes]:
        """Kernels and host program as ELF objects."""
        self.to("llvm")
        with process_lock:
            from .codegen import emit_objects  # LLVM is needed for machine code alone

        self.timing.begin_stage("object")
        with self.timing.measure("emit-object"):
            return emit_objects(self.module, interface)

    def _cubin(self, report: ReportBuilder) -> bytes:
        """The kernels as a cubin; the host program stays as thunks. Empty where libraries do everything."""
        from .cuda.compile_kernels import compile_kernels
        from .cuda.statistics import kernel_statistics

        self.timing.begin_stage("cubin")
        kernels = walk(self.module, "gpu.module")
        if not kernels:
            return b""
        with self.timing.measure("compile-kernels"):
            made = compile_kernels(kernels[0], self.machine)
        report.resources(kernel_statistics(kernels[0], self.machine, made))
        return made.cubin.bytes

    @property
    def timing(self) -> Timing:
        assert self.watch is not None and self.watch.timing is not None
        return self.watch.timing

    def _set_policy(self) -> None:
        if self.policy is None:
            return
        if stage_number(self.stage) >= stage_number("fused"):
            remedy = "start from stablehlo, or without a policy"
            raise PipelineError(f"at stage {self.stage} nothing is left that a policy decides", remedy=remedy)
        attach_policy(self.module, Policy.of(self.policy))

    def _bind(self) -> None:
        if self.stage == "input":
            if self.machine.kind == "cpu":
                self.program.update_in_place(self.program.updates if self.in_place is None else self.in_place)
            self.bound = self.program.bind(self.bound)
            return
        self.bound = sorted(self.bound)
        self.program.in_tree = pytree.without(self.program.in_tree, self.bound)


def by_index(names: Sequence[str], bind: Mapping[int | str, Any]) -> dict[int, Any]:
    """`bind` with indices for the arguments' names. Raises CompileError for what names no argument."""
    if not isinstance(bind, Mapping):
        raise CompileError(f"bind should be a dictionary, is a {type(bind).__name__}", remedy="give values by the argument's index or name")
    indices = {name: index for index, name in enumerate(names)}
    found: dict[int, Any] = {}
    for key, value in bind.items():
        for name, leaf in _leaves(indices, key, value).items():
            index = indices.get(name) if isinstance(name, str) else name
            if index not in range(len(names)):
                raise CompileError(f"bind names {name!r}, which is not an argument", remedy=f"the arguments: {', '.join(names) or 'none'}")
            found[index] = leaf  # type: ignore[index]
    return found


def covers(key: int | str, name: str) -> bool:
    """Whether a key of `bind` names an argument, or what it is a leaf of: arg0 has the leaves arg0['w'] and arg0['b']."""
    return isinstance(key, str) and (name == key or name.startswith((f"{key}[", f"{key}.")))


def _leaves(names: Collection[str], key: int | str, value: Any) -> dict[int | str, Any]:
    if isinstance(key, int) or key in names or not any(covers(key, name) for name in names):
        return {key: value}
    from jax.tree_util import keystr, tree_flatten_with_path  # JAX's front end alone has such names

    return {f"{key}{keystr(path)}": leaf for path, leaf in tree_flatten_with_path(value)[0]}

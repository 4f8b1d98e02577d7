"""`hloom.compile`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hloom.dialects.target import TargetView
from hloom.passes.errors import InvalidProgramError
from hloom.passes.fused.planner.policy import Policy, PolicySource
from hloom.runtime.dynamic import MOST, DynamicExecutable
from hloom.runtime.entries import Executables
from hloom.runtime.executable import Executable
from hloom.runtime.garbage import known_objects_kept

from .compile import Compilation
from .frontend import name_of, read_program
from .open_program import OpenProgram
from .source_program import SourceProgram


@known_objects_kept()
def compile(
    source: Any,
    *example_inputs: Any,
    kwargs: Mapping[str, Any] | None = None,
    target: str | TargetView = "auto",
    bind: Mapping[int | str, Any] | None = None,
    policy: PolicySource | None = None,
    verify: bool = False,
    tune: bool | float = False,
    profile: bool = False,
    dynamic_shapes: Any = None,
    shapes: Sequence[Any] = (),
    most: int = MOST,
) -> Executable | DynamicExecutable | Executables:
    """Compiles a program and returns it ready to be called.

    `source` is MLIR text or bytes, the path of a .mlir, .mlirbc or .vhlo file, a torch_mlir module, a torch module, ExportedProgram or
    function, a function that JAX traces or a jax.export.Exported. `example_inputs` and `kwargs`, the arguments of a call, tell the shapes
    where the source does not; a torch module's numbers, flags and strings among them are compiled in, and checked at each call. `bind`
    gives values, by argument index or name, that are known now: they are packed once and not given at a call; a torch module's parameters
    are bound by themselves. `target` is "auto" or "cpu" for this machine's processor, a known target ("sm_90a"), the path of a TOML file,
    or "sim:" and the name of a GPU target: its kernels then run on the simulator (compiler/simulator), slowly and checked; with "+ptx"
    behind it as the PTX that a GPU would get. `policy` overrides what cost decides (docs/policy.md): a Policy, a dictionary or the path of
    a TOML file. `verify` runs the program once on the example inputs beside eager PyTorch, jax.jit or the reference interpreter, and
    raises VerificationError where they differ. `tune` measures on this machine what else the planner could have decided (docs/tuning.md),
    for a minute or so many seconds; a `policy` that is the path of no file yet is written there, and read the next time. `profile`: the
    program measures its steps, and `exe.profile(*inputs)` tells where the time goes. Raises CompileErrors.

    A program of open shapes (`?` in StableHLO, jax.export.symbolic_shape in JAX, torch.export's Dim) is compiled for each set of shapes
    when it is called with it, and once; the last `most` are kept. `shapes` lists sets of shapes to compile in the background;
    `dynamic_shapes` says which sizes of a torch module's arguments are open, as torch.export takes it.

    A dictionary of sources, {"prefill": (prefill, *its_example_inputs), "decode": …}, becomes one Executables: exe["decode"](…) calls an
    entry. Entries share weights, and are saved in one file; a value of `bind` goes to each that has an argument of its name.
    """
    if tune is False:
        policy = None if policy is None else Policy.of(policy)
    options: dict[str, Any] = {"target": target, "policy": policy, "verify": verify, "tune": tune, "profile": profile}
    if isinstance(source, Mapping):
        from .entries import compile_entries

        if example_inputs or kwargs or dynamic_shapes or shapes:
            remedy = "give each entry's example inputs beside its source, or entries that hloom.compile compiled"
            raise InvalidProgramError("a dictionary of entries takes no example inputs, kwargs or shapes of its own", remedy=remedy)
        return compile_entries(source, bind or {}, lambda program, of, examples, own: _compiled(program, of, examples, bind=own, **options))
    program = read_program(source, example_inputs, example_keywords=kwargs, dynamic_shapes=dynamic_shapes)
    return _compiled(program, source, example_inputs, kwargs=kwargs, bind=bind, shapes=shapes, most=most, **options)


def _compiled(
    program: SourceProgram | OpenProgram,
    source: Any,
    examples: Sequence[Any],
    *,
    verify: bool,
    tune: bool | float = False,
    profile: bool = False,
    kwargs: Mapping[str, Any] | None = None,
    shapes: Sequence[Any] = (),
    most: int = MOST,
    **options: Any,
) -> Executable | DynamicExecutable:
    if tune is not False and isinstance(program, OpenProgram):
        raise InvalidProgramError("a program of open shapes is not tuned", remedy="tune it for known shapes, and give it that policy")
    if isinstance(program, OpenProgram):
        from .dynamic import dynamic_executable  # a program of known shapes needs none of it

        return dynamic_executable(program, name_of(source), **options, profile=profile, verify=verify, shapes=shapes, most=most)
    if shapes:
        raise InvalidProgramError("shapes= is for programs of open shapes; this one's are all known", remedy="leave it out")
    found = None
    if tune is not False:
        from .tuning.session import example_inputs, tuned  # few programs are tuned

        found = tuned(program, name_of(source), tune, inputs=example_inputs(source, examples, kwargs or {}), **options)
        options["policy"] = found.policy
    compilation = Compilation.of_program(program, name_of(source), **options, profile=profile, keep_original=verify)
    exe = compilation.executable()
    if found is not None:
        exe.program.manifest["report"]["tuning"] = found.report
    if verify:
        from .verify import reference_of, verify_executable  # the interpreter and the search for culprits are needed here alone

        verify_executable(exe, compilation, reference_of(source, examples, kwargs or {}, compilation))
    return exe

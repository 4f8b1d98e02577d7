"""`hloom.compile`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hloom.dialects.target import TargetView
from hloom.passes.fused.planner.policy import PolicySource
from hloom.runtime.executable import Executable

from .compile import Compilation


def compile(
    source: Any,
    *example_inputs: Any,
    kwargs: Mapping[str, Any] | None = None,
    target: str | TargetView = "auto",
    bind: Mapping[int | str, Any] | None = None,
    policy: PolicySource | None = None,
    verify: bool = False,
) -> Executable:
    """Compiles a program and returns it ready to be called.

    `source` is MLIR text or bytes, the path of a .mlir, .mlirbc or .vhlo file, a torch_mlir module, a torch module, ExportedProgram or
    function, a function that JAX traces or a jax.export.Exported. `example_inputs` and `kwargs`, the arguments of a call, tell the shapes
    where the source does not; a torch module's numbers, flags and strings among them are compiled in, and checked at each call. `bind`
    gives values, by argument index or name, that are known now: they are packed once and not given at a call; a torch module's parameters
    are bound by themselves. `target` is "auto" or "cpu" for this machine's processor, a known target ("sm_90a"), the path of a TOML file,
    or "sim:" and the name of a GPU target: its kernels then run on the simulator (compiler/simulator), slowly and checked. `policy`
    overrides what cost decides (docs/policy.md): a Policy, a dictionary or the path of a TOML file. `verify` runs the program
    once on the example inputs beside eager PyTorch, jax.jit or the reference interpreter, and raises VerificationError where they differ.
    Raises CompileErrors.
    """
    compilation = Compilation.of(source, example_inputs, kwargs, target=target, bind=bind, policy=policy, keep_original=verify)
    exe = compilation.executable()
    if verify:
        from .verify import reference_of, verify_executable  # the interpreter and the search for culprits are needed here alone

        verify_executable(exe, compilation, reference_of(source, example_inputs, kwargs or {}, compilation))
    return exe

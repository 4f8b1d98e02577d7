"""torch.compile(model, backend="hloom"): the graphs that dynamo finds, forward and backward, as programs of hloom's.

AOTAutograd makes of each graph that dynamo hands over one without changes in place, and a second one for its gradients. Each is compiled
whole (graph.py). torch finds the backend by the entry point `torch_dynamo_backends`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import torch
from functorch.compile import min_cut_rematerialization_partition
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.symbolic_convert import InstructionTranslator

from hloom.dialects.target import TargetView
from hloom.passes.errors import InvalidProgramError
from hloom.passes.fused.planner.policy import PolicySource

from ..frontends import torch_lowerings  # noqa: F401  registers hloom's own
from ..frontends.torch_checks import without_errors_of_linear_algebra
from ..frontends.torch_decompose import without_onednn
from ..frontends.torch_registry import all_decompositions, own_decompositions_first
from .graph import compiled_graph
from .partition import compiled_where_possible
from .sizes import BySizes, has_open_sizes
from .weights import static_operands


@dataclass(frozen=True)
class Options:
    """What `torch.compile(…, options={…})` may hold: of hloom.compile's options, those that hold for any graph."""

    target: str | TargetView = "auto"
    policy: PolicySource | None = None
    bind: bool = True
    """Whether parameters are bound where no gradients are asked for (weights.py)."""

    @classmethod
    def of(cls, mode: str | None, options: Mapping[str, Any] | None) -> Options:
        """Raises InvalidProgramError for what there is not."""
        if mode not in (None, "default"):
            raise InvalidProgramError(f"torch.compile's mode {mode!r} is inductor's", remedy="leave it out; options= takes hloom's")
        known = [field.name for field in fields(cls)]
        unknown = sorted(set(options or {}) - set(known))
        if unknown:
            raise InvalidProgramError(f"no option of hloom's: {', '.join(unknown)}", remedy=f"the options: {', '.join(known)}")
        return cls(**(options or {}))


def backend(
    module: torch.fx.GraphModule, inputs: Sequence[Any], *, mode: str | None = None, options: Mapping[str, Any] | None = None
) -> Callable[..., Any]:
    """What torch.compile calls for each graph. Raises CompileErrors for what does not compile."""
    chosen = Options.of(mode, options)
    compile_graph = compiled_graph if _is_whole() else compiled_where_possible

    def compiler(graph: torch.fx.GraphModule, given: Sequence[Any], static: Collection[int] = ()) -> Callable[..., Any]:
        compiled = functools.partial(compile_graph, static=static, target=chosen.target, policy=chosen.policy)
        return BySizes(graph, compiled) if has_open_sizes(graph) else compiled(graph)

    def inference_compiler(graph: torch.fx.GraphModule, given: Sequence[Any]) -> Callable[..., Any]:
        return compiler(graph, given, static_operands() if chosen.bind else ())

    aot = aot_autograd(
        fw_compiler=compiler,
        inference_compiler=inference_compiler,
        decompositions=all_decompositions(),
        partition_fn=min_cut_rematerialization_partition,
    )
    with own_decompositions_first(), without_onednn(), without_errors_of_linear_algebra():
        return aot(module, inputs)


def _is_whole() -> bool:
    """Whether torch.compile was called with fullgraph=True, which lets no op stay with PyTorch."""
    translator = InstructionTranslator.current_tx()
    return bool(getattr(translator, "one_graph", False))

"""torch.compile(model, backend="hloom"): the graphs that dynamo finds, forward and backward, as programs of hloom's.

AOTAutograd makes of each graph that dynamo hands over one without changes in place, and a second one for its gradients. Each is compiled
whole (graph.py). torch finds the backend by the entry point `torch_dynamo_backends`.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.symbolic_convert import InstructionTranslator
from torch._functorch import config as functorch_config
from torch._functorch.aot_autograd import SerializableAOTDispatchCompiler
from torch._guards import TracingContext
from torch.fx import GraphModule
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from hloom.passes.errors import CompileError, UnsupportedOpError
from hloom.runtime.garbage import known_objects_kept

from ..cache import key_of
from .call import Code, LateCode
from .checkpoints import partition
from .keys import About, is_told_by_torch
from .options import Options
from .precompiled import is_on, name_apart, serves_hloom, write_at_exit
from .tracing import Tracing, trace_undisturbed, without_inductor
from .weights import static_operands
from .zero_points import compiled_for_zero_points

_CACHED: dict[str, Any] = {"bundled_autograd_cache": True, "force_non_lazy_backward_lowering": True}
"""torch keeps what AOTAutograd made as one entry, with the backward, which is asked for at once (and compiled late)."""
_OF_DATA = "compute with all elements and choose by torch.where(mask, …, other)"


trace_undisturbed()  # torch.compile imports this before the first trace
name_apart()


@serves_hloom
def backend(
    module: GraphModule, inputs: Sequence[Any], *, mode: str | None = None, options: Mapping[str, Any] | None = None
) -> Callable[..., Any]:
    """What torch.compile calls for each graph. Raises CompileErrors for what does not compile."""
    trace_undisturbed()
    chosen = Options.of(mode, options)
    known = chosen.about()
    if is_on():
        write_at_exit()
    compilers = _Compilers(chosen, _is_whole(), known)
    made: dict[str, Any] = {"fw_compiler": compilers.forward, "bw_compiler": compilers.backward, "inference_compiler": compilers.inference}
    if known is not None and is_told_by_torch(module):
        key = key_of((*known.parts, *map(repr, _tracing_settings(chosen))))
        module.hloom_key = key  # type: ignore[assignment]  # part of torch's own key, as all that a module has
        made = {name: SerializableAOTDispatchCompiler(Code, compiler) for name, compiler in made.items()}
    with known_objects_kept(), Tracing() as tracing, without_inductor(), functorch_config.patch(_CACHED):
        made |= {"decompositions": tracing.decompositions, "pre_grad_passes": tracing, "keep_inference_input_mutations": True}
        if any(isinstance(each, (list, tuple, dict)) for each in inputs):
            tracing(module, inputs)  # of graphs that take such nothing is kept, nor is a pass asked for
        try:
            made_by_autograd = aot_autograd(**made, partition_fn=compilers.partition)
            return compiled_for_zero_points(module, inputs, lambda graph: made_by_autograd(graph, inputs))
        except GuardOnDataDependentSymNode as error:  # torch's formula for a gradient, or its composition, asks for a size
            why = str(error).partition(chr(10))[0]
            raise UnsupportedOpError(f"torch asks for a size that depends on data: {why}", stage="input", remedy=_OF_DATA) from error


class _Compilers:
    """What AOTAutograd calls with the graphs that it makes of one of dynamo's."""

    def __init__(self, chosen: Options, is_whole: bool, known: About | None):
        self.chosen, self.is_whole, self.known = chosen, is_whole, known

    def forward(self, graph: GraphModule, given: Sequence[Any]) -> Code:
        metadata = _metadata()
        return self._by_sizes(graph, returned=metadata.num_forward_returns if metadata is not None else 0)

    def _by_sizes(self, graph: GraphModule, **how: Any) -> Code:
        from .sizes import BySizes, has_open_sizes  # the compiler is not needed where all that it would make is kept

        compiled: Callable[[GraphModule], Code] = functools.partial(self._compiled, **how)
        return BySizes(graph, compiled) if has_open_sizes(graph) else compiled(graph)

    def inference(self, graph: GraphModule, given: Sequence[Any]) -> Code:
        self.select(graph)
        static = static_operands() if self.chosen.bind else ()
        return self._by_sizes(graph, static=static, returned=sys.maxsize, are_users=True)

    def partition(self, joint: GraphModule, inputs: Sequence[Any], **options: Any) -> tuple[GraphModule, GraphModule]:
        self.select(joint)
        return partition(joint, inputs, **options)

    def select(self, graph: GraphModule) -> None:
        """What is selected by a mask is computed of all elements, as far as it can be."""
        from ..frontends.torch_selections import without_selections

        try:
            without_selections(graph, cuts=True)
        except CompileError:
            if self.is_whole:
                raise

    def backward(self, graph: GraphModule, given: Sequence[Any]) -> Code:
        from .graph import key_of_graph

        _give_nothing_away()
        return LateCode(lambda: self._by_sizes(graph), key_of_graph(graph, self.known))

    @known_objects_kept()  # gradients, and further sizes, are compiled when they are first asked for
    def _compiled(self, graph: GraphModule, static: Collection[int] = (), **results: Any) -> Code:
        from .graph import compiled_graph
        from .partition import compiled_where_possible

        compile_graph = compiled_graph if self.is_whole else compiled_where_possible
        options: dict[str, Any] = {"target": self.chosen.target, "policy": self.chosen.policy, "tune": self.chosen.tune}
        return compile_graph(graph, static, about=self.known, **results, **options)


def _give_nothing_away() -> None:
    """No program of hloom's writes into what the forward saved for the backward. torch takes for granted that it may, and would let nobody
    call the backward twice (retain_graph=True). It has one list of such tensors in several places."""
    metadata = _metadata()
    if metadata is not None and metadata.bw_donated_idxs:
        metadata.bw_donated_idxs.clear()


def _metadata() -> Any:
    """AOTAutograd's own of the graph that it has compiled."""
    context = TracingContext.try_get()
    return context.fw_metadata if context is not None else None


def _tracing_settings(chosen: Options) -> tuple[object, ...]:
    """What AOTAutograd's graphs follow from that torch's key leaves out."""
    kernels = torch.backends.cuda
    attention = (kernels.flash_sdp_enabled(), kernels.mem_efficient_sdp_enabled(), kernels.math_sdp_enabled())
    # a transform of torch.func that fails may leave autograd off
    dispatch = (torch._C._dispatch_tls_local_include_set(), torch._C._dispatch_tls_local_exclude_set())
    return (chosen.bind, *attention, *dispatch)


def _is_whole() -> bool:
    """Whether torch.compile was called with fullgraph=True, which lets no op stay with PyTorch."""
    translator = InstructionTranslator.current_tx()
    return bool(getattr(translator, "one_graph", False))

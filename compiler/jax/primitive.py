"""A function of JAX as one op of JAX's, which XLA's program leaves to hloom's.

    hloom[jaxpr=…, options=…](x, y)      →      custom_call @hloom (x, y) {program = key}

The op holds the function as a jaxpr. Its derivatives and batches are such ops again, made by JAX's own transformations of the jaxpr:
forward mode gives the results with what the linear part needs, and the linear part as an op of its own, which transposes. So each is
compiled whole, and all of grad, jvp, vmap and scan nest.

What hloom does not compile is left to XLA, with a warning.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Primitive, jaxpr_as_fun
from jax.interpreters import ad, batching, mlir

from hloom.dialects.target import TargetView
from hloom.passes.errors import CompileError, UnsupportedOpError
from hloom.passes.fused.planner.policy import PolicySource
from hloom.runtime.cpu import CpuDevice
from hloom.runtime.executable import Executable
from hloom.runtime.garbage import known_objects_kept
from hloom.runtime.programs import listed
from hloom.runtime.xla_ffi import register, registered_target

from ..compile import Compilation
from ..frontend import load_program, name_of
from ..frontends.jax import lowering
from ..frontends.jax_callbacks import compiled_effects

_TARGET = registered_target(jax)
_CONFIG: Any = jax.config


@dataclass(frozen=True, eq=False)
class Options:
    """What hloom.compile is told of each."""

    target: str | TargetView = "cpu"
    policy: PolicySource | None = None
    fallback: bool = True
    """Whether what does not compile is left to XLA."""
    tune: bool | float = False
    """Whether each program's policy is found by measurement, or the seconds that it may take."""


program_p = Primitive("hloom")
program_p.multiple_results = True


def bind(function: Callable[..., Any], options: Options, *operands: Any, donated: Collection[int] = ()) -> list[Any]:
    """The results of `function`, flat ones of flat operands, as one op. Tracers that it closes over become operands, keys of random
    numbers the words that they hold. The op has the effects of jax.debug.print; a function with others is no op: its own ones take their
    places.

    `donated`: operands whose memory may take results.
    """
    closed = jax.make_jaxpr(function)(*operands)
    if others := closed.effects - compiled_effects():
        told = f"it has effects ({', '.join(map(str, others))})"
        if not options.fallback:
            raise UnsupportedOpError(f"hloom does not compile the function: {told}", remedy="leave it to XLA: fallback=True, or jax.jit")
        warnings.warn(f"hloom leaves a function to XLA: {told}", stacklevel=2)
        return list(jaxpr_as_fun(closed)(*operands))
    outer = [value for value in closed.consts if isinstance(value, jax.core.Tracer)]
    given = [*outer, *operands]
    donated = tuple(len(outer) + index for index in donated)
    if not outer and not any(map(_is_key, [*closed.in_avals, *closed.out_avals])):
        return program_p.bind(*operands, jaxpr=closed, options=options, donated=donated)

    def plain(*words: Any) -> list[Any]:
        values = [
            jax.random.wrap_key_data(word, impl=jax.random.key_impl(value)) if _is_key(value) else word for value, word in zip(given, words)
        ]
        lifted = iter(values[: len(outer)])
        consts = [next(lifted) if isinstance(value, jax.core.Tracer) else value for value in closed.consts]
        return list(map(_words, jaxpr_as_fun(ClosedJaxpr(closed.jaxpr, consts))(*values[len(outer) :])))

    words = list(map(_words, given))
    results = program_p.bind(*words, jaxpr=jax.make_jaxpr(plain)(*words), options=options, donated=donated)
    kinds = [aval.dtype._impl if _is_key(aval) else None for aval in closed.out_avals]
    return [value if kind is None else jax.random.wrap_key_data(value, impl=kind) for value, kind in zip(results, kinds)]


def _is_key(value: Any) -> bool:
    return jnp.issubdtype(value.dtype, jax.dtypes.extended)


def _words(value: Any) -> Any:
    return jax.random.key_data(value) if _is_key(value) else value


@functools.partial(program_p.def_impl)
def _run(*operands: Any, jaxpr: ClosedJaxpr, options: Options, **_: Any) -> list[Any]:
    if _CONFIG.jax_debug_nans or _CONFIG.jax_debug_infs:  # JAX runs again, op by op, what gave one, to find the op
        return list(jaxpr_as_fun(jaxpr)(*operands))
    return _jitted(jaxpr, options)(*operands)


@functools.lru_cache(maxsize=512)
def _jitted(jaxpr: ClosedJaxpr, options: Options) -> Any:
    return jax.jit(functools.partial(program_p.bind, jaxpr=jaxpr, options=options, donated=()))


@program_p.def_effectful_abstract_eval
def _results(*operands: Any, jaxpr: ClosedJaxpr, **_: Any) -> tuple[list[Any], Any]:
    return list(jaxpr.out_avals), jaxpr.effects


# Transformations.


def _batched(
    operands: Sequence[Any], axes: Sequence[int | None], *, jaxpr: ClosedJaxpr, options: Options, **_: Any
) -> tuple[Any, list[int]]:
    results = bind(jax.vmap(jaxpr_as_fun(jaxpr), in_axes=list(axes)), options, *operands)
    return results, [0] * len(results)


batching.primitive_batchers[program_p] = _batched


def _is_real(value: Any) -> bool:
    return jnp.issubdtype(jax.typeof(value).dtype, jnp.inexact)


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: ClosedJaxpr, options: Options, **_: Any) -> tuple[Any, Any]:
    """The results with what the linear part needs of them, and the linear part."""
    moving = [index for index, tangent in enumerate(tangents) if type(tangent) is not ad.Zero and _is_real(primals[index])]
    structure: Any = None
    real = [index for index, aval in enumerate(jaxpr.out_avals) if jnp.issubdtype(aval.dtype, jnp.inexact)]

    def forward(*values: Any) -> list[Any]:
        def results(*moved: Any) -> tuple[list[Any], list[Any]]:
            given = list(values)
            for index, value in zip(moving, moved):
                given[index] = value
            out = jaxpr_as_fun(jaxpr)(*given)
            return [out[index] for index in real], [value for index, value in enumerate(out) if index not in real]

        nonlocal structure
        moved, linear, others = jax.linearize(results, *[values[index] for index in moving], has_aux=True)
        leaves, structure = jax.tree.flatten(linear)
        rest, by_place = iter(others), dict(zip(real, moved))
        return [*(by_place[index] if index in by_place else next(rest) for index in range(len(jaxpr.out_avals))), *leaves]

    made = bind(forward, options, *primals)
    results, kept = made[: len(jaxpr.out_avals)], made[len(jaxpr.out_avals) :]

    def linear(*values: Any) -> list[Any]:
        return jax.tree.unflatten(structure, values[: len(kept)])(*values[len(kept) :])

    moved = bind(linear, options, *kept, *[tangents[index] for index in moving]) if real and moving else []
    by_place = dict(zip(real, moved))
    zeros = [ad.Zero(jax.typeof(value).to_tangent_aval()) for value in results]
    return results, [by_place.get(index, zero) for index, zero in enumerate(zeros)]


ad.primitive_jvps[program_p] = _jvp


def _transposed(cotangents: Sequence[Any], *operands: Any, jaxpr: ClosedJaxpr, options: Options, **_: Any) -> list[Any]:
    linear = [index for index, value in enumerate(operands) if ad.is_undefined_primal(value)]
    known = [value for value in operands if not ad.is_undefined_primal(value)]
    avals = [operands[index].aval for index in linear]

    def function(*values: Any) -> list[Any]:
        def of(*unknown: Any) -> list[Any]:
            by_place = dict(zip(linear, unknown))
            given = iter(values[: len(known)])
            return jaxpr_as_fun(jaxpr)(*[by_place[i] if i in by_place else next(given) for i in range(len(operands))])

        shapes = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in avals]
        return list(jax.linear_transpose(of, *shapes)(list(values[len(known) :])))

    given = [ad.instantiate_zeros(each) for each in cotangents]
    results = dict(zip(linear, bind(function, options, *known, *given)))
    return [results.get(index) for index in range(len(operands))]


ad.primitive_transposes[program_p] = _transposed


# Lowering.


@functools.lru_cache(maxsize=512)
@known_objects_kept()
def _compiled(jaxpr: ClosedJaxpr, options: Options, in_place: tuple[tuple[int, int], ...]) -> tuple[Executable, int] | None:
    """The program and its key; None where XLA is to compile it."""
    shapes = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in jaxpr.in_avals]
    try:
        function = _with_a_result(jaxpr) if jaxpr.effects else jaxpr_as_fun(jaxpr)
        program = load_program(function, shapes)
        name, policy = name_of(function), options.policy
        if options.tune is not False:
            from ..tuning.session import measured_policy  # few functions are tuned

            policy = measured_policy(program, name, options.tune, options.target, policy)
        compilation = Compilation.of_program(program, name, target=options.target, policy=policy, in_place=dict(in_place), kept=True)
        exe = compilation.executable()
    except CompileError as error:
        if not options.fallback:
            raise
        warnings.warn(f"hloom leaves a function to XLA: {error}", stacklevel=2)
        return None
    if isinstance(exe.device, CpuDevice) and not exe.program.updates and exe.device.is_native():
        return listed(exe), register(exe.device)
    warnings.warn(f"hloom leaves a function to XLA: the program {_not_callable(exe)}", stacklevel=2)
    return None


_SEEN = np.int8(0)
"""A result that waits for effects, of functions that have some: they may have no other."""


def _with_a_result(jaxpr: ClosedJaxpr) -> Callable[..., list[Any]]:
    return lambda *operands: [*jaxpr_as_fun(jaxpr)(*operands), _SEEN]


def _not_callable(exe: Executable) -> str:
    return "is for a GPU" if exe.program.on_gpu else "draws or keeps values" if exe.program.updates else "checks bounds"


def _lowered(context: Any, *operands: Any, jaxpr: ClosedJaxpr, options: Options, donated: tuple[int, ...]) -> Any:
    inside = getattr(lowering, "for_hloom", False)
    if not inside and any(map(_is_packed, [*jaxpr.in_avals, *jaxpr.out_avals])):
        of_bytes = functools.partial(_of_bytes, jaxpr=jaxpr, options=options)
        return mlir.lower_fun(of_bytes, multiple_results=True)(context, *operands)
    in_place = _in_place(jaxpr, donated)
    made = None if inside else _compiled(jaxpr, options, in_place)
    if made is None:
        return mlir.lower_fun(jaxpr_as_fun(jaxpr), multiple_results=True)(context, *operands)
    context.module_context.add_keepalive(made)
    # XLA copies an operand that somebody else still needs.
    has_effects = bool(jaxpr.effects)
    call = jax.ffi.ffi_lowering(_TARGET, has_side_effect=has_effects, operand_output_aliases=dict(made[0].program.in_place))
    if not has_effects:
        return call(context, *operands, program=np.int64(made[1]))
    seen = context.replace(avals_out=[*context.avals_out, jax.typeof(_SEEN)])
    return list(call(seen, *operands, program=np.int64(made[1])))[:-1]


def _of_bytes(*operands: Any, jaxpr: ClosedJaxpr, options: Options) -> list[Any]:
    """The op with elements of less than a byte given and taken as bytes: XLA has several of them in one, a program of hloom's never."""

    def unpacked(*given: Any) -> list[Any]:
        return list(map(_as_bytes, jaxpr_as_fun(jaxpr)(*map(_from_bytes, given, jaxpr.in_avals))))

    given = list(map(_as_bytes, operands))
    results = program_p.bind(*given, jaxpr=jax.make_jaxpr(unpacked)(*given), options=options, donated=())
    return list(map(_from_bytes, results, jaxpr.out_avals))


def _is_packed(value: Any) -> bool:
    if jnp.issubdtype(value.dtype, jnp.integer):
        return jnp.iinfo(value.dtype).bits < 8
    return jnp.issubdtype(value.dtype, jnp.floating) and jnp.finfo(value.dtype).bits < 8


def _as_bytes(value: Any) -> Any:
    if not _is_packed(value):
        return value
    whole = value if jnp.issubdtype(value.dtype, jnp.integer) else jax.lax.bitcast_convert_type(value, jnp.uint4)
    return whole.astype(jnp.int8)


def _from_bytes(value: Any, kind: Any) -> Any:
    if not _is_packed(kind):
        return value
    if jnp.issubdtype(kind.dtype, jnp.integer):
        return value.astype(kind.dtype)
    return jax.lax.bitcast_convert_type(value.astype(jnp.uint4), kind.dtype)


def _in_place(jaxpr: ClosedJaxpr, donated: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Donated operands, each with the first result of its type that has none yet, as JAX pairs them."""
    free = [(aval.shape, aval.dtype) for aval in jaxpr.out_avals]
    pairs: list[tuple[int, int]] = []
    for index in donated:
        aval = jaxpr.in_avals[index]
        taken = {result for _, result in pairs}
        result = next((n for n, kind in enumerate(free) if n not in taken and kind == (aval.shape, aval.dtype)), None)
        if result is not None:
            pairs.append((index, result))
    return tuple(pairs)


mlir.register_lowering(program_p, _lowered, platform="cpu")
mlir.register_lowering(program_p, mlir.lower_fun(lambda *operands, jaxpr, **_: jaxpr_as_fun(jaxpr)(*operands), multiple_results=True))

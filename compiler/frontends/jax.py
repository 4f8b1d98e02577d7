"""JAX functions and jax.export.Exported, through a StableHLO artifact: the one form that both sides' versions of MLIR agree on.

A function is exported with the example inputs' shapes and types; arrays it closes over become constants. Arguments that it does not use
stay arguments, so that a call gives what the function takes.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.export
import numpy as np
from jax.extend.core import jaxpr_as_fun
from jax.extend.source_info_util import register_exclusion
from torch_mlir import ir

from hloom.passes.common.custom_calls import is_known, known_targets
from hloom.passes.common.init_function import argument_attributes
from hloom.passes.common.ops import ANNOTATIONS
from hloom.passes.common.rewriting import update_signature
from hloom.passes.errors import CompileError, InvalidProgramError, ParseError, UnsupportedOpError
from hloom.runtime.comparison import random_array
from hloom.runtime.dtypes import NAMES, dtype_name
from hloom.runtime.open_shapes import Size
from hloom.runtime.signature import TensorSpec
from hloom.runtime.tensors import bits_of_keys, is_key

from ..reference import Reference
from ..source_program import Imported, main_function
from ..validate import unsupported_call
from . import jax_callbacks, jax_dots
from .jax_shardings import without_shardings
from .mlir_text import read_trusted
from .shardy_text import without_shardy
from .trees import Leaf, described

register_exclusion(str(Path(__file__).parents[1]))  # an op's location tells the caller's functions, not who traced them

lowering = threading.local()
"""`for_hloom`: JAX lowers a function for hloom, which takes what hloom.jit gave for the functions that it was given."""


def _checks_left_to_us() -> list[jax.export.DisabledSafetyCheck]:
    """XLA's own custom calls are refused by validate, which names them; export's own checks would refuse more than that."""
    calls = ["Sharding", *known_targets()]
    return [jax.export.DisabledSafetyCheck.platform(), *map(jax.export.DisabledSafetyCheck.custom_call, calls)]


def import_jax(source: Any, examples: tuple[Any, ...], keywords: dict[str, Any], context: ir.Context) -> Imported:
    """Raises InvalidProgramError where JAX cannot trace or export the function."""
    narrows = jax.dtypes.canonicalize_dtype(np.int64) != np.int64
    if isinstance(source, jax.stages.Lowered):
        return replace(_lowered(source, context), narrows=narrows)
    if isinstance(source, jax.stages.Compiled):
        raise InvalidProgramError("a jax.stages.Compiled is XLA's code", remedy="give the function, or what its .trace or .lower gives")
    exported = _as_exported(source, examples, keywords)
    if exported.nr_devices != 1:
        raise InvalidProgramError(f"the program is exported for {exported.nr_devices} devices", remedy="export it for one")
    in_tree, kwarg_tree = _described(exported.in_tree, keyword=True)
    out_tree = _described(exported.out_tree)
    try:
        module = read_trusted(without_shardings(exported.mlir_module_serialized), context)
    except ParseError as error:
        raise _foreign_call(exported) or error from None
    shapes, results = (_shapes(avals) for avals in (exported.in_avals, exported.out_avals))
    names = _names(exported)
    return Imported(module, "jax", in_tree, out_tree, kwarg_tree, names=names, narrows=narrows, shapes=shapes, result_shapes=results)


def _shapes(avals: Sequence[Any]) -> list[tuple[Size, ...]]:
    """Sizes, or what jax.export calls them ("b", "2*b")."""
    return [tuple(size if isinstance(size, int) else str(size) for size in _plain(aval).shape) for aval in avals]


def _plain(aval: Any) -> Any:
    """Of keys what their numbers are, of which the program is."""
    return jax.eval_shape(bits_of_keys, aval)


def _as_exported(source: Any, examples: tuple[Any, ...], keywords: dict[str, Any]) -> jax.export.Exported:
    try:
        if hasattr(source, "trace") and not isinstance(source, jax.stages.Traced):
            source = source.trace(*examples, **keywords)  # what jax.jit gave knows which arguments are static
        if isinstance(source, jax.stages.Traced):
            args, kwargs = source.args_info  # without the static ones
            return _export(_of_traced(source), *jax.tree_util.tree_map(_shape, (args, kwargs)))
        if not isinstance(source, jax.export.Exported):
            return _export(source, examples, keywords)
        if len(source.module_kept_var_idx) == len(source.in_avals) and len(source.platforms) == 1:
            return source
        if len(source.platforms) > 1 and "cpu" not in source.platforms:
            message = f"the program is exported for the platforms {', '.join(source.platforms)}"
            raise InvalidProgramError(message, remedy="export it for one of them, or for cpu too")
        args, kwargs = jax.tree_util.tree_unflatten(source.in_tree, source.in_avals)
        return _export(source.call, args, kwargs)  # gives the arguments back that the export had dropped, and says for which platform
    except CompileError:
        raise
    except Exception as error:
        if found := re.search(r"stablehlo\.custom_call @([\w.]+).*", str(error)):
            raise unsupported_call(found[1]) from error
        remedy = "for which jax.jit(function) works" if examples else "of the right shapes and types"
        message = f"JAX could not export the function: {type(error).__name__}: {error}"
        raise InvalidProgramError(message, remedy=f"give example inputs {remedy}") from error


def _lowered(source: jax.stages.Lowered, context: ir.Context) -> Imported:
    """What JAX has lowered is not traced again; arguments that the function does not use are gone from it, and are given back."""
    module = read_trusted(without_shardy(source.as_text()), context)
    main = main_function(module)
    leaves, structure = jax.tree_util.tree_flatten(source.args_info)
    out_tree = _described(jax.tree_util.tree_structure(source.out_info))
    if not _gave_back(main, leaves, source):
        return Imported(module, "jax", out_tree=out_tree)
    in_tree, kwarg_tree = _described(structure, keyword=True)
    return Imported(module, "jax", in_tree, out_tree, kwarg_tree, names=_named(source.args_info))


def _gave_back(main: ir.Operation, leaves: Sequence[Any], source: jax.stages.Lowered) -> bool:
    """Whether @main takes all of `leaves`, those too that JAX dropped as nothing uses them. JAX alone knows which these are, and does not
    tell in public."""
    block = main.regions[0].blocks[0]
    left = list(block.arguments)
    if len(left) == len(leaves):
        return True
    known = getattr(getattr(source, "_lowering", None), "compile_args", {}).get("kept_var_idx")
    names = [dtype_name(leaf.dtype) for leaf in leaves if not jax.numpy.issubdtype(leaf.dtype, jax.dtypes.extended)]
    if known is None or len(known) != len(left) or len(names) != len(leaves) or not set(names) <= set(NAMES):
        return False
    kept = dict(zip(sorted(known), zip(left, argument_attributes(main))))
    attributes: list[dict[str, ir.Attribute]] = []
    with main.location:
        for index, (leaf, name) in enumerate(zip(leaves, names)):
            argument = block.add_argument(ir.Type.parse(f"tensor<{'x'.join([*map(str, leaf.shape), name])}>"), main.location)
            before, given = kept.get(index, (None, {}))
            if before is not None:
                before.replace_all_uses_with(argument)
            attributes.append(given)
        for _ in left:
            block.erase_argument(0)
        update_signature(main)
        main.attributes["arg_attrs"] = ir.ArrayAttr.get(list(map(ir.DictAttr.get, attributes)))
    return True


def _described(structure: Any, *, keyword: bool = False) -> Any:
    """The structure as a file has it."""
    leaves = structure.num_leaves
    numbered = jax.tree_util.tree_unflatten(structure, map(Leaf, range(leaves)))
    return described(numbered, leaves, lambda value: not jax.tree_util.all_leaves([value]), keyword=keyword)


def _of_traced(source: jax.stages.Traced) -> Any:
    function = jaxpr_as_fun(source.jaxpr)
    structure = jax.tree_util.tree_structure(source.out_info)

    def traced(*args: Any, **kwargs: Any) -> Any:
        return jax.tree_util.tree_unflatten(structure, function(*jax.tree_util.tree_leaves((args, kwargs))))

    return traced


def _shape(argument: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(argument.shape, argument.dtype)


def _export(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> jax.export.Exported:
    jitted = jax.jit(function, keep_unused=True)
    checks, rules = _checks_left_to_us(), (*jax_callbacks.lowering_rules(), *jax_dots.lowering_rules())
    outer, lowering.for_hloom = getattr(lowering, "for_hloom", False), True
    try:
        return jax.export.export(jitted, platforms=["cpu"], disabled_checks=checks, _override_lowering_rules=rules)(*args, **kwargs)
    finally:
        lowering.for_hloom = outer


def _foreign_call(exported: jax.export.Exported) -> UnsupportedOpError | None:
    """The first custom call of a program that cannot be read: such calls carry attributes of dialects that StableHLO does not have."""
    for target in re.findall(r"stablehlo\.custom_call @([\w.]+)", exported.mlir_module()):
        if target not in ANNOTATIONS and not is_known(target):
            return unsupported_call(target)
    return None


def _names(exported: jax.export.Exported) -> list[str]:
    return _named(jax.tree_util.tree_unflatten(exported.in_tree, exported.in_avals))


def _named(arguments: Any) -> list[str]:
    paths, _ = jax.tree_util.tree_flatten_with_path(arguments)
    return [_name(path) for path, _ in paths]


def _name(path: tuple[Any, ...]) -> str:
    """arg0['w'] for the leaf at args[0]['w'], the keyword's own name for a keyword argument."""
    first, second, *rest = path
    in_args = getattr(first, "idx", 1) == 0
    head = f"arg{second.idx}" if in_args else str(second.key)
    return head + jax.tree_util.keystr(tuple(rest))


def jax_reference(source: Any, examples: Sequence[Any], given: Mapping[str, Any]) -> Reference:
    """What jax.jit computes, for `verify=True`: on the example inputs, on the CPU; on random ones where only shapes and types are known."""
    if isinstance(source, jax.export.Exported):
        args, keywords = jax.tree_util.tree_unflatten(source.in_tree, source.in_avals)
        function = source.call
    else:
        args, keywords = tuple(examples), dict(given)
        function = source
    leaves, structure = jax.tree_util.tree_flatten((args, keywords))
    avals = list(map(jax.api_util.shaped_abstractify, leaves))
    rng = np.random.default_rng(0)
    jitted = jax.jit(function)

    def run(inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        with jax.default_device(jax.local_devices(backend="cpu")[0]):
            args, keywords = jax.tree_util.tree_unflatten(structure, map(_as_given, avals, inputs))
            return [np.asarray(bits_of_keys(leaf)) for leaf in jax.tree_util.tree_leaves(jitted(*args, **keywords))]

    return Reference("jax.jit", [_example(leaf, _plain(aval), rng) for leaf, aval in zip(leaves, avals)], run)


def _as_given(aval: Any, value: np.ndarray) -> Any:
    return jax.random.wrap_key_data(jax.numpy.asarray(value), impl=aval.dtype._impl) if is_key(aval) else value


def _example(leaf: Any, plain: Any, rng: np.random.Generator) -> np.ndarray:
    if isinstance(leaf, (jax.ShapeDtypeStruct, jax.core.ShapedArray)):
        return random_array(TensorSpec("", dtype_name(plain.dtype), tuple(plain.shape)), rng)
    return np.asarray(bits_of_keys(leaf), plain.dtype)

"""Checks of a program as it arrived, before anything is compiled; each failure names the op, its place and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod

from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from hloom.dialects.storage import is_i1
from hloom.passes.common.custom_calls import NUMBERS, is_known, target_of_call
from hloom.passes.common.ops import ANNOTATIONS, CONTRACTIONS, PLANAR, is_accepted, remedy
from hloom.passes.common.rewriting import functions, inner_ops, ops_in, symbol_name, walk
from hloom.passes.errors import CompileError, InvalidProgramError, UnsupportedOpError
from hloom.passes.stablehlo.drop_annotations import is_annotation
from hloom.passes.stablehlo.flatten_tuples import flatten_tuples, has_tuples
from hloom.passes.stablehlo.quantized.types import stored_element
from hloom.passes.stablehlo.resolve_dynamic_calls import is_dynamic_call
from hloom.runtime.dtypes import NAMES

from .frontends.trial import try_in_child
from .source_program import main_function

STAGE = "input"
MAX_BYTES = 1 << 40
MAX_OPS = 1_000_000
MAX_NESTING = 100
_NOT_OF_COMPLEX = {"chlo.bessel_i1e", "chlo.ragged_dot"}
"""The verifier admits complex numbers, and upstream's legalization of CHLO has no words for them."""
_FUTURE = "!stablehlo.future"


def prepare(module: ir.Module) -> None:
    """Makes the entry the public @main, and drops what only hloom may say of a program.

    Raises InvalidProgramError if there is no entry or it is not clear which.
    """
    entry = _entry(module)
    for op in (module.operation, *functions(module.operation)):
        for name in [name for name in op.attributes if name.startswith("hloom.")]:
            del op.attributes[name]
    for function in functions(module.operation):
        is_entry = function == entry
        if not is_entry and symbol_name(function) == "main":
            _rename(module, function, "main.other")
        function.attributes["sym_visibility"] = ir.StringAttr.get("public" if is_entry else "private")
    if symbol_name(entry) != "main":
        _rename(module, entry, "main")


def make_entry(module: ir.Module, name: str) -> None:
    """Names the function `name` @main. Raises InvalidProgramError if there is none."""
    named = {symbol_name(function): function for function in functions(module.operation)}
    if name not in named:
        raise InvalidProgramError(f"the module has no function @{name}", stage=STAGE, remedy=f"it has {', '.join(named)}")
    for old, new in (("main", f"main.before.{name}"), (name, "main")):
        if old in named:
            _rename(module, named[old], new)


def _rename(module: ir.Module, function: ir.Operation, name: str) -> None:
    ir.SymbolTable.replace_all_symbol_uses(symbol_name(function), name, module.operation)
    function.attributes["sym_name"] = ir.StringAttr.get(name)


@contextmanager
def readable_names() -> Iterator[None]:
    """Raises InvalidProgramError where the bindings cannot make a str of a name in the program."""
    try:
        yield
    except (RuntimeError, UnicodeDecodeError) as error:
        if isinstance(error, RuntimeError) and "str_from_cstr" not in str(error):
            raise
        raise InvalidProgramError("a name in the program is not UTF-8", stage=STAGE, remedy="rename it") from None


def _entry(module: ir.Module) -> ir.Operation:
    found = [f for f in functions(module.operation) if len(f.regions[0].blocks)]
    if not found:
        raise InvalidProgramError("the module has no function with a body", stage=STAGE, remedy="give a module with a function @main")
    named = [f for f in found if symbol_name(f) == "main"]
    public = [f for f in found if "sym_visibility" not in f.attributes or ir.StringAttr(f.attributes["sym_visibility"]).value == "public"]
    for candidates in ([f for f in named if f in public], public, named, found):
        if len(candidates) == 1:
            return candidates[0]
    names = ", ".join(f"@{symbol_name(f)}" for f in public)
    raise InvalidProgramError(
        f"which function is the entry: {names or 'all are private'}?", stage=STAGE, remedy="name it @main, or choose one: --function=NAME"
    )


def check_structure(module: ir.Module) -> dict[str, ir.Operation]:
    """The functions by name. Raises InvalidProgramError or UnsupportedOpError for what no pass should see, whatever the shapes are."""
    for view in module.body.operations:
        if view.operation.name != "func.func":
            raise _unsupported(view.operation, f"a {view.operation.name} at the top level")
    by_name = _functions(module)
    for function in by_name.values():
        _check_nesting(function)
        _check_end(function)
    if has_tuples(module.operation):
        flatten_tuples(module.operation)
        by_name = _functions(module)
    _check_size(_call_order(by_name), by_name)
    return by_name


def validate(module: ir.Module) -> None:
    """Raises InvalidProgramError or UnsupportedOpError for the first thing that hloom does not compile."""
    by_name = check_structure(module)
    if _make_static(module):
        by_name = _functions(module)
    for name in _call_order(by_name):
        _check_op(by_name[name])
        for op in inner_ops(by_name[name]):
            _check_op(op)


def _functions(module: ir.Module) -> dict[str, ir.Operation]:
    return {symbol_name(f): f for f in functions(module.operation)}


def _call_order(by_name: dict[str, ir.Operation]) -> list[str]:
    """The functions that @main reaches, callees before callers. Raises InvalidProgramError on recursion and on calls of nothing."""
    callees = {name: _calls(function) for name, function in by_name.items()}
    done: dict[str, None] = {}
    path = ["main"]
    stack: list[tuple[str, Iterator[tuple[str, ir.Operation]]]] = [("main", iter(callees["main"]))]
    while stack:
        name, rest = stack[-1]
        following = next(rest, None)
        if following is None:
            stack.pop()
            path.pop()
            done[name] = None
            continue
        callee, op = following
        if callee in path:
            cycle = " → ".join(f"@{n}" for n in [*path[path.index(callee) :], callee])
            raise InvalidProgramError(f"recursion: {cycle}", op=op.name, loc=str(op.location), stage=STAGE, remedy="use stablehlo.while")
        if callee not in by_name or not len(by_name[callee].regions[0].blocks):
            where = {"op": op.name, "loc": str(op.location), "stage": STAGE}
            raise InvalidProgramError(f"@{callee} has no body", **where, remedy="define it in the module")
        if callee not in done:
            path.append(callee)
            stack.append((callee, iter(callees[callee])))
    return list(done)


def _calls(function: ir.Operation) -> list[tuple[str, ir.Operation]]:
    """Callees by func.call and by the decompositions of composites, each with the op that names it."""
    found = []
    for op in walk(function, lambda op: op.name in ("func.call", "stablehlo.composite")):
        attribute = op.attributes["callee" if op.name == "func.call" else "decomposition"]
        found.append((ir.FlatSymbolRefAttr(attribute).value, op))
    return found


def _check_nesting(function: ir.Operation) -> None:
    level, depth = [function], 0
    while level:
        level = [inner for op in level for region in op.regions for block in region.blocks for inner in ops_in(block)]
        level = [op for op in level if len(op.regions)]
        depth += 1
        if depth > MAX_NESTING:
            where = {"op": level[0].name, "loc": str(level[0].location)} if level else {}
            remedy = "call a function that does less"
            raise InvalidProgramError(f"regions nest deeper than {MAX_NESTING}", stage=STAGE, remedy=remedy, **where)


def _check_end(function: ir.Operation) -> None:
    """MLIR's verifier lets a function end in the return of a region; the inliner then crashes."""
    for block in function.regions[0].blocks:
        last = ops_in(block)[-1:]
        if last and last[0].name == "stablehlo.return":
            where = {"op": last[0].name, "loc": str(last[0].location), "stage": STAGE}
            raise InvalidProgramError("a function that ends in stablehlo.return", remedy="end it in func.return", **where)


def _check_size(order: list[str], by_name: dict[str, ir.Operation]) -> None:
    """Calls are inlined: functions that call each other twice, and so on, grow without bound."""
    sizes: dict[str, int] = {}
    for name in order:
        sizes[name] = sum(1 for _ in inner_ops(by_name[name])) + sum(sizes.get(callee, 0) for callee, _ in _calls(by_name[name]))
        if sizes[name] > MAX_OPS:
            message = f"@{name} has {sizes[name]} ops when its calls are inlined"
            remedy = f"programs have at most {MAX_OPS} ops; use stablehlo.while for what repeats"
            raise InvalidProgramError(message, loc=str(by_name[name].location), stage=STAGE, remedy=remedy)


def _make_static(module: ir.Module) -> bool:
    """Where inner shapes are dynamic but the arguments of @main are not, StableHLO's own passes find them. Returns whether they ran."""
    if not any(is_dynamic(result.type) for f in functions(module.operation) for op in inner_ops(f) for result in op.results):
        return False
    main = main_function(module)
    for argument in main.regions[0].blocks[0].arguments:
        _check_type(main, argument.type)
    pipeline = "builtin.module(inline,symbol-dce,stablehlo-refine-shapes,func.func(stablehlo-canonicalize-dynamism),canonicalize)"
    try:
        with module.context:
            try_in_child(lambda: PassManager.parse(pipeline).run(module.operation), 0)
            PassManager.parse(pipeline).run(module.operation)
    except ir.MLIRError as error:
        why = error.error_diagnostics[0].message if error.error_diagnostics else error
        message = f"the shapes of the program are not all known: {why}"
        raise InvalidProgramError(message, stage=STAGE, remedy="export it with static shapes") from None
    return True


def is_dynamic(kind: ir.Type) -> bool:
    return isinstance(kind, ir.RankedTensorType) and not kind.has_static_shape


def check_names(module: ir.Module) -> None:
    """Raises UnsupportedOpError for the first op of a program of open shapes that hloom compiles at no shape."""
    by_name = _functions(module)
    for name in _call_order(by_name):
        for op in inner_ops(by_name[name]):
            if not (op.name == "stablehlo.custom_call" and is_dynamic_call(target_of_call(op))):
                _check_name(op)


def _check_name(op: ir.Operation) -> bool:
    """Whether its types are to be checked too. Raises UnsupportedOpError."""
    name = op.name
    if name == "stablehlo.custom_call":
        target = target_of_call(op)
        if target in PLANAR:
            return False
        if target in ANNOTATIONS and not is_annotation(op):
            message, remedy = f"@{target} does not give back its operands", "compile the program for one device: export it without a mesh"
            raise UnsupportedOpError(message, op=name, loc=str(op.location), stage=STAGE, remedy=remedy)
        if (target not in ANNOTATIONS and not is_known(target)) or NUMBERS in op.attributes:
            raise unsupported_call(target, op)
    if not is_accepted(name):
        raise _unsupported(op, name)
    if name in _NOT_OF_COMPLEX and isinstance(ir.RankedTensorType(op.results[0].type).element_type, ir.ComplexType):
        raise _unsupported(op, f"{name} of complex numbers")
    return True


def _check_op(op: ir.Operation) -> None:
    name = op.name
    if not _check_name(op):
        return
    for region in op.regions:
        for block in region.blocks:
            for argument in block.arguments:
                _check_type(op, argument.type)
    for result in op.results:
        _check_type(op, result.type)
    if name == "stablehlo.bitcast_convert":
        _check_bitcast(op)
    _check_elements(op)


def _check_elements(op: ir.Operation) -> None:
    """What the verifier admits and no reference computes."""
    if op.name == "stablehlo.dynamic_iota" and is_i1(op.results[0].type.element_type):
        raise _unsupported(op, "stablehlo.dynamic_iota of i1")
    if op.name in CONTRACTIONS and isinstance(op.results[0].type.element_type, ir.IntegerType):
        if any(isinstance(value.type.element_type, ir.FloatType) for value in op.operands):
            raise _unsupported(op, f"{op.name} of floats into integers")


def _check_bitcast(op: ir.Operation) -> None:
    """Between elements of one width the shape stays: the verifier forgets to ask."""
    before, after = (ir.RankedTensorType(value.type) for value in (op.operands[0], op.results[0]))
    if isinstance(before.element_type, ir.ComplexType):
        if before.element_type != after.element_type:
            raise _unsupported(op, f"a bitcast of {before} to {after}")
        return
    if stored_element(before.element_type).width == stored_element(after.element_type).width and before.shape != after.shape:
        remedy = "elements of one width keep their shape"
        raise InvalidProgramError(f"a bitcast of {before} to {after}", op=op.name, loc=str(op.location), stage=STAGE, remedy=remedy)


def _check_type(op: ir.Operation, kind: ir.Type) -> None:
    if refusal := _refusal(kind):
        error, message, remedy = refusal
        raise error(message, op=op.name, loc=str(op.location), stage=STAGE, remedy=remedy)


def _refusal(kind: ir.Type) -> tuple[type[CompileError], str, str] | None:
    """What is raised of a value of that type, and with which message and remedy."""
    if str(kind).startswith(_FUTURE):
        return None  # async_done makes a value of it
    if isinstance(kind, ir.UnrankedTensorType):
        return InvalidProgramError, f"a value of unknown rank, {kind}", "export the program with static shapes"
    if not isinstance(kind, ir.RankedTensorType):
        return UnsupportedOpError, f"a value of type {kind}", "hloom computes on tensors"
    if not kind.has_static_shape:
        return InvalidProgramError, f"a value of dynamic shape, {kind}", "export the program with static shapes"
    if kind.encoding is not None and "bounds" in str(kind.encoding):
        return InvalidProgramError, f"a value of bounded dynamic shape, {kind}", "export the program with static shapes"
    if kind.encoding is not None:
        return UnsupportedOpError, f"a value of type {kind}, with an encoding", "hloom computes on dense tensors"
    element = stored_element(kind.element_type)
    if str(element) not in NAMES:
        known = "floats of 4 to 64 bits, complex<f32>, complex<f64>, i1, integers of 2, 4, 8 to 64 bits, quantized types stored as these"
        return UnsupportedOpError, f"elements of type {element}", f"hloom computes with {known}"
    width = 2 * element.element_type.width // 8 if isinstance(element, ir.ComplexType) else element.width // 8 or 1
    if prod(max(extent, 1) for extent in kind.shape) * width >= MAX_BYTES:
        return InvalidProgramError, f"a value of {kind} is too large", f"values have fewer than 2^40 bytes; is {kind} meant?"
    return None


def unsupported_call(target: str, op: ir.Operation | None = None) -> UnsupportedOpError:
    """The error for a custom call whose target nobody knows."""
    name, loc = "stablehlo.custom_call", None if op is None else str(op.location)
    message = f'register it with hloom.custom_call("{target}", function), or write the function with other ops'
    if target == "hloom":
        message = "this is XLA's program with a call of hloom's (hloom.jit): compile the function itself"
    return UnsupportedOpError(f"hloom does not compile {name} @{target}", op=name, loc=loc, stage=STAGE, remedy=message)


def _unsupported(op: ir.Operation, what: str) -> UnsupportedOpError:
    return UnsupportedOpError(f"hloom does not compile {what}", op=op.name, loc=str(op.location), stage=STAGE, remedy=remedy(op.name))

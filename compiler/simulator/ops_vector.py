"""vector: loads and stores of several elements a thread, and what moves elements within vectors."""

from __future__ import annotations

from itertools import product

from torch_mlir import ir

from hloom.passes.common.rewriting import integer

from .element_types import element_name, vector_shape
from .ops_arith import REDUCTIONS
from .ops_memory import filled, operand_groups, word_of
from .translate import Translator, emits, index_list, static_integers, width_of


@emits("vector.load")
def _load(t: Translator, op: ir.Operation) -> None:
    kind, (memory, *indices) = op.results[0].type, t.operands(op)
    t.touches(op.operands[0], read=True)
    if len(vector_shape(kind)) != 1:
        raise t.fail(op, f"a load of {kind}, which has not one dimension", "load a 1-D vector and shape_cast it")
    t.result(op, f"R.load({memory}, {index_list(indices)}, {width_of(kind)}, {t.mask}, {integer(op, 'alignment', 0)}, {t.site(op)})")


@emits("vector.store")
def _store(t: Translator, op: ir.Operation) -> None:
    kind, (value, memory, *indices) = op.operands[0].type, t.operands(op)
    t.touches(op.operands[1], write=True)
    if len(vector_shape(kind)) != 1:
        raise t.fail(op, f"a store of {kind}, which has not one dimension", "shape_cast it to a 1-D vector")
    t.line(f"R.store({memory}, {index_list(indices)}, {value}, {width_of(kind)}, {t.mask}, {integer(op, 'alignment', 0)}, {t.site(op)})")


@emits("vector.broadcast", "vector.splat")
def _broadcast(t: Translator, op: ir.Operation) -> None:
    t.result(op, f"broadcast({t.names[op.operands[0]]}, {vector_shape(op.results[0].type)})")


@emits("vector.extract")
def _extract(t: Translator, op: ir.Operation) -> None:
    source, *dynamic = t.operands(op)
    position = list(map(str, filled(op, "position", dynamic)))
    if not position:
        t.result(op, f"np.asarray({source})")
        return
    t.result(op, f"{source}[{', '.join(position)}]" if len(op.operands) == 1 else f"pick({source}, {index_list(position)})")


@emits("vector.insert")
def _insert(t: Translator, op: ir.Operation) -> None:
    value, target, *dynamic = t.operands(op)
    position = list(map(str, filled(op, "position", dynamic)))
    t.result(op, f"put({target}, {value}, {index_list(position)}, {vector_shape(op.results[0].type)}, R.whole)")


@emits("vector.reduction")
def _reduction(t: Translator, op: ir.Operation) -> None:
    value, *start = t.operands(op)
    kind = word_of(op.attributes["kind"])
    if kind in ("minui", "maxui"):
        function = "np.minimum" if kind == "minui" else "np.maximum"
        reduced = f"signed({function}.reduce(unsigned({value}), axis=0), {element_name(op.results[0].type)})"
        combine = f"signed({function}(unsigned({{}}), unsigned({{}})), {element_name(op.results[0].type)})"
    else:
        function = "np.bitwise_xor" if kind == "add" and element_name(op.results[0].type) == "i1" else REDUCTIONS[kind]
        reduced, combine = f"{function}.reduce({value}, axis=0)", f"{function}({{}}, {{}})"
    t.result(op, combine.format(reduced, start[0]) if start else reduced)


@emits("vector.shape_cast")
def _shape_cast(t: Translator, op: ir.Operation) -> None:
    name = t.names[op.operands[0]]
    t.result(op, f"{name}.reshape(*{vector_shape(op.results[0].type)}, *{name}.shape[-2:])")


@emits("vector.from_elements")
def _from_elements(t: Translator, op: ir.Operation) -> None:
    t.result(op, f"stack({index_list(t.operands(op))}, {vector_shape(op.results[0].type)})")


@emits("vector.to_elements")
def _to_elements(t: Translator, op: ir.Operation) -> None:
    name = t.names[op.operands[0]]
    for result, position in zip(op.results, product(*map(range, vector_shape(op.operands[0].type)))):
        t.line(f"{t.new(result)} = {name}[{', '.join(map(str, position))}]" if position else f"{t.new(result)} = {name}")


@emits("vector.bitcast")
def _bitcast(t: Translator, op: ir.Operation) -> None:
    kind, name = op.results[0].type, t.names[op.operands[0]]
    t.result(op, f"reinterpret({name}, {element_name(kind)}, {vector_shape(kind)})")


@emits("vector.shuffle")
def _shuffle(t: Translator, op: ir.Operation) -> None:
    a, b = t.operands(op)
    t.result(op, f"concatenate({a}, {b})[{static_integers(op, 'mask')}]")


@emits("vector.interleave")
def _interleave(t: Translator, op: ir.Operation) -> None:
    a, b = t.operands(op)
    shape = vector_shape(op.operands[0].type)
    order = [i // 2 + (i % 2) * shape[-1] for i in range(2 * shape[-1])]
    if len(shape) != 1:
        raise t.fail(op, "only 1-D vectors are interleaved")
    t.result(op, f"concatenate({a}, {b})[{order}]")


@emits("vector.transpose")
def _transpose(t: Translator, op: ir.Operation) -> None:
    order = static_integers(op, "permutation")
    t.result(op, f"{t.names[op.operands[0]]}.transpose({', '.join(map(str, [*order, len(order), len(order) + 1]))})")


def _slices(op: ir.Operation, sizes: list[int]) -> str:
    offsets, steps = ([ir.IntegerAttr(n).value for n in ir.ArrayAttr(op.attributes[name])] for name in ("offsets", "strides"))
    steps += [1] * (len(offsets) - len(steps))
    return ", ".join(f"{start}:{start + (size - 1) * step + 1}:{step}" for start, size, step in zip(offsets, sizes, steps))


@emits("vector.extract_strided_slice")
def _extract_slice(t: Translator, op: ir.Operation) -> None:
    sizes = [ir.IntegerAttr(n).value for n in ir.ArrayAttr(op.attributes["sizes"])]
    t.result(op, f"{t.names[op.operands[0]]}[{_slices(op, sizes)}]")


@emits("vector.insert_strided_slice")
def _insert_slice(t: Translator, op: ir.Operation) -> None:
    value, target = t.operands(op)
    sizes, shape = vector_shape(op.operands[0].type), vector_shape(op.results[0].type)
    sizes = [1] * (len(shape) - len(sizes)) + sizes
    t.result(op, f"np.broadcast_to({target}, (*{shape}, *R.whole)).copy()")
    t.line(f"{t.names[op.results[0]]}[{_slices(op, sizes)}] = {value}")


@emits("vector.step")
def _step(t: Translator, op: ir.Operation) -> None:
    t.result(op, f"np.arange({width_of(op.results[0].type)}).reshape(-1, 1, 1)")


@emits("vector.create_mask", "vector.constant_mask")
def _mask(t: Translator, op: ir.Operation) -> None:
    bounds = t.operands(op) if op.operands else list(map(str, static_integers(op, "mask_dim_sizes")))
    t.result(op, f"inside({index_list(bounds)}, {vector_shape(op.results[0].type)})")


@emits("vector.multi_reduction")
def _multi_reduction(t: Translator, op: ir.Operation) -> None:
    value, start = t.operands(op)
    kind = word_of(op.attributes["kind"])
    if kind not in REDUCTIONS:
        raise t.fail(op, f"a multi_reduction of kind {kind}")
    axes = tuple(static_integers(op, "reduction_dims"))
    t.result(op, f"{REDUCTIONS[kind]}({REDUCTIONS[kind]}.reduce({value}, axis={axes}), {start})")


@emits("vector.maskedload")
def _masked_load(t: Translator, op: ir.Operation) -> None:
    memory, *indices, mask, other = t.operands(op)
    t.touches(op.operands[0], read=True)
    steps = index_list(["0"] * (len(indices) - 1) + [f"lanes({width_of(op.results[0].type)})"])
    t.result(op, f"R.load_elements({memory}, {index_list(indices)}, {steps}, {mask}, {other}, {t.mask}, {t.site(op)})")


@emits("vector.maskedstore")
def _masked_store(t: Translator, op: ir.Operation) -> None:
    memory, *indices, mask, value = t.operands(op)
    t.touches(op.operands[0], write=True)
    steps = index_list(["0"] * (len(indices) - 1) + [f"lanes({width_of(op.operands[len(op.operands) - 1].type)})"])
    t.line(f"R.store_elements({memory}, {index_list(indices)}, {steps}, {mask}, {value}, {t.mask}, {t.site(op)})")


@emits("vector.gather")
def _gather(t: Translator, op: ir.Operation) -> None:
    memory, *indices, offsets, mask, other = t.operands(op)
    t.touches(op.operands[0], read=True)
    steps = index_list(["0"] * (len(indices) - 1) + [offsets])
    t.result(op, f"R.load_elements({memory}, {index_list(indices)}, {steps}, {mask}, {other}, {t.mask}, {t.site(op)})")


@emits("vector.scatter")
def _scatter(t: Translator, op: ir.Operation) -> None:
    memory, *indices, offsets, mask, value = t.operands(op)
    t.touches(op.operands[0], write=True)
    steps = index_list(["0"] * (len(indices) - 1) + [offsets])
    t.line(f"R.store_elements({memory}, {index_list(indices)}, {steps}, {mask}, {value}, {t.mask}, {t.site(op)})")


def _transfer(op: ir.Operation, shape: list[int]) -> tuple[list[str], list[bool]]:
    """For each dimension of the memory what is added to the index, and whether it may lie outside."""
    affine = ir.AffineMapAttr(op.attributes["permutation_map"]).value
    in_bounds = [ir.BoolAttr(flag).value for flag in ir.ArrayAttr(op.attributes["in_bounds"])]
    steps, outside = ["0"] * affine.n_dims, [False] * affine.n_dims
    for axis, (result, inside) in enumerate(zip(affine.results, in_bounds)):
        if isinstance(result, ir.AffineDimExpr):
            d = ir.AffineDimExpr(result).position
            steps[d], outside[d] = f"lanes({shape[axis]}, {len(shape) - 1 - axis})", not inside
    return steps, outside


@emits("vector.transfer_read")
def _transfer_read(t: Translator, op: ir.Operation) -> None:
    (memory,), indices, (padding,), mask = operand_groups(op, t.operands(op))
    t.touches(op.operands[0], read=True)
    places = _places(op, vector_shape(op.results[0].type), memory, indices, mask)
    t.result(op, f"R.load_elements({places[0]}, {padding}, {t.mask}, {t.site(op)}, {places[1]})")


@emits("vector.transfer_write")
def _transfer_write(t: Translator, op: ir.Operation) -> None:
    (value,), (memory,), indices, mask = operand_groups(op, t.operands(op))
    t.touches(op.operands[1], write=True)
    places = _places(op, vector_shape(op.operands[0].type), memory, indices, mask)
    t.line(f"R.store_elements({places[0]}, {value}, {t.mask}, {t.site(op)}, {places[1]})")


def _places(op: ir.Operation, shape: list[int], memory: str, indices: list[str], mask: list[str]) -> tuple[str, str]:
    """The first and the last arguments of load_elements and store_elements."""
    steps, outside = _transfer(op, shape)
    return f"{memory}, {index_list(indices)}, {index_list(steps)}, {mask[0] if mask else None}", f"{shape}, {outside}"

"""The state of lowering one function: the new value of every stablehlo value, and the helpers that the op families share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from torch_mlir import ir

from ...common.affine import index_at
from ...common.index_expression import loops_of
from ...common.ops import emit_scalar, is_elementwise
from ...common.rewriting import defining_op, ops_in
from ...common.scalars import Scalars, signless, signless_attribute
from ...errors import UnsupportedOpError
from . import generic
from .views import at_edge, fitted

Read = tuple[ir.Value, ir.AffineMap]


class Lowering:
    """New values by old ones. A splat constant stays an attribute until a tensor of it is asked for: bodies use it as a scalar."""

    def __init__(self, function: ir.Operation):
        self.scalars = Scalars(function)
        self._values: dict[ir.Value, ir.Value] = {}
        self._splats: dict[ir.Value, ir.Attribute] = {}

    def set(self, old: ir.Value, new: ir.Value) -> None:
        self._values[old] = new

    def set_splat(self, old: ir.Value, attribute: ir.Attribute) -> None:
        self._splats[old] = attribute

    def splat(self, old: ir.Value) -> ir.Attribute | None:
        """The (signless) value of every element of `old` if that is one known constant."""
        return self._splats.get(old)

    def tensor(self, old: ir.Value) -> ir.Value:
        """The new tensor of `old`."""
        if old not in self._values:
            kind = signless(old.type)
            self._values[old] = self.scalars.attribute(kind, ir.DenseElementsAttr.get_splat(kind, self._splats[old]))
        return self._values[old]

    def returned(self, old: ir.Value) -> ir.Value:
        """The new tensor of `old`, computed by some op: a copy of what is an argument or constant, or a view of one."""
        known = self.scalar_constant(old)
        if known is not None:
            return generic.fill(known, list(old.type.shape))
        value = self.tensor(old)
        return generic.copy(value) if at_edge(value) else value

    def scalar_constant(self, old: ir.Value) -> ir.Value | None:
        attribute = self.splat(old)
        return None if attribute is None else self.scalars.attribute(attribute.type, attribute)

    def structured(
        self,
        reads: Sequence[Read],
        outs: Sequence[ir.Value],
        out_maps: Sequence[ir.AffineMap],
        iterators: Sequence[str],
        body: Callable[[list[ir.Value], list[ir.Value]], Sequence[ir.Value]],
        keep_splats: bool = False,
    ) -> list[ir.Value]:
        """One generic whose body is `body(scalars read, scalars of outs)`.

        Splats among the reads become constants, unless they are kept because loops take their extents from them.
        """
        constants = [None if keep_splats else self.scalar_constant(old) for old, _ in reads]
        real = [(self.tensor(old), indexing) for (old, indexing), known in zip(reads, constants) if known is None]

        def emit(*arguments: ir.Value) -> Sequence[ir.Value]:
            inputs = iter(arguments[: len(real)])
            return body([next(inputs) if known is None else known for known in constants], list(arguments[len(real) :]))

        maps = [*(indexing for _, indexing in real), *out_maps]
        return list(generic.build_generic([value for value, _ in real], outs, maps, iterators, emit).results)

    def parallel(self, kind: ir.Type, reads: Sequence[Read], body: Callable[[list[ir.Value]], ir.Value]) -> ir.Value:
        """A tensor of the stablehlo type `kind`, each element computed by `body` from the scalars read at it."""
        shape = list(kind.shape)
        out = generic.empty(shape, signless(kind.element_type))
        rank = len(shape)
        return self.structured(reads, [out], [generic.identity(rank)], [generic.PARALLEL] * rank, lambda scalars, _: [body(scalars)])[0]

    def moved(self, kind: ir.Type, old: ir.Value, expressions: Sequence[ir.AffineExpr]) -> ir.Value:
        """`old`, no splat, read at `expressions` of the result's dims."""
        shape = list(kind.shape)
        point = tuple(index_at(e, loops_of(shape)) for e in expressions)
        source = fitted(self.tensor(old), point, shape)
        self.set(source, source)
        return self.parallel(kind, [(source, generic.affine_map(len(shape), expressions))], lambda scalars: scalars[0])

    def filled(self, init: ir.Value, shape: Sequence[int], element: ir.Type) -> ir.Value:
        """A tensor of that shape that holds the rank-0 tensor `init`, extended to the float type `element` if its own is narrower."""
        known = self.scalar_constant(init)
        if known is not None:
            if known.type != element:
                known = self.scalars.constant(element, ir.FloatAttr(self.splat(init)).value)
            return generic.fill(known, shape)
        rank = len(shape)
        maps = [generic.affine_map(rank, []), generic.identity(rank)]
        out = generic.empty(shape, element)
        extend = self.scalars.cast
        op = generic.build_generic(
            [self.tensor(init)], [out], maps, [generic.PARALLEL] * rank, lambda x, _: [extend("arith.extf", element, x)]
        )
        return op.results[0]

    def region(self, block: ir.Block, arguments: Sequence[ir.Value]) -> list[ir.Value]:
        """Emits the scalar code of a region of a reduction, a sort or a scatter, whose values are rank-0 tensors."""
        local, name = dict(zip(block.arguments, arguments)), block.owner.operation.name

        def scalar(old: ir.Value) -> ir.Value:
            if old in local:
                return local[old]
            known = self.scalar_constant(old)
            if known is None:
                raise unsupported(
                    defining_op(old) or block.owner, f"the body of {name} uses a value from outside it that is not a constant"
                )
            return known

        for op in ops_in(block):
            if op.name == "stablehlo.return":
                return [scalar(v) for v in op.operands]
            if op.name == "stablehlo.constant":
                value = ir.DenseElementsAttr(op.attributes["value"]).get_splat_value()
                self.set_splat(op.results[0], signless_attribute(value))
            elif op.name in ("stablehlo.reshape", "stablehlo.broadcast_in_dim"):
                local[op.results[0]] = scalar(op.operands[0])
            elif is_elementwise(op):
                local[op.results[0]] = emit_scalar(self.scalars, op, [scalar(v) for v in op.operands])
            else:
                raise unsupported(op, f"{op.name} in the body of {name} is not compiled")
        raise unsupported(block.owner, f"the body of {name} returns nothing")


def unsupported(op: ir.Operation, message: str) -> UnsupportedOpError:
    op = op.operation
    return UnsupportedOpError(message, op=op.name, loc=str(op.location), stage="linalg")


def elements(kind: ir.Type) -> int:
    return prod(kind.shape)

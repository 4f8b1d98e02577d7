"""Collectives on one device, tokens, the outside world, and calls of it."""

from __future__ import annotations

from ..grow import Grower
from ..program import Type, Value
from . import recipe
from .reducing import body

ALONE = "replica_groups = dense<0> : tensor<1x1xi64>"


def combining(element: str) -> str:
    return "or" if element == "i1" else "add"


@recipe("all_gather", by_xla=True)
def all_gather(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, low=1, full=True)
    return g.emit(name, [x], None, f"all_gather_dim = 0 : i64, {ALONE}", facts=g.facts[x])


@recipe("all_reduce", by_xla=True)
def all_reduce(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, low=1)
    return g.emit(name, [x], None, ALONE, [body(g, combining(element), element)], g.facts[x])


@recipe("reduce_scatter", by_xla=True)
def reduce_scatter(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, low=1, full=True)
    return g.emit(name, [x], None, f"scatter_dimension = 0 : i64, {ALONE}", [body(g, combining(element), element)], g.facts[x])


@recipe("all_to_all", by_xla=True)
def all_to_all(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, low=1)
    attributes = f"split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 1 : i64, {ALONE}"
    return g.emit(name, [x], None, attributes, facts=g.facts[x])


@recipe("collective_broadcast", by_xla=True)
def collective_broadcast(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    return g.emit(name, [x], None, ALONE, facts=g.facts[x])


@recipe("collective_permute", by_xla=True)
def collective_permute(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    pairs = g.rng.choice(("dense<0> : tensor<1x2xi64>", "dense<> : tensor<0x2xi64>"))
    return g.emit(name, [x], None, f"source_target_pairs = {pairs}", facts=g.facts[x])


@recipe("cross-replica-sum", by_xla=True, alone=True)
def cross_replica_sum(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    return g.emit(name, [x], None, ALONE, facts=g.facts[x])


@recipe("replica_id partition_id", by_xla=True)
def identity(g: Grower, name: str, element: str) -> Value:
    """It has one type: converted, so that it has a result of each."""
    value = g.emit(name, [], [Type((), "ui32")])
    return value if element == "ui32" else g.emit("convert", [value], Type((), element))


TOKEN = Type((), "!stablehlo.token")


@recipe("after_all create_token", by_xla=True, alone=True)
def tokens(g: Grower, name: str, element: str) -> Value:
    g.emit(name, [], [TOKEN])
    x = g.any(element)
    return g.emit("optimization_barrier", [x], None, facts=g.facts[x])


@recipe("infeed", alone=True)
def infeed(g: Grower, name: str, element: str) -> Value:
    token = g.emit("after_all", [], [TOKEN])
    return g.emit_all(name, [token], [Type((2,), element), TOKEN])[0]


@recipe("outfeed", alone=True)
def outfeed(g: Grower, name: str, element: str) -> Value:
    token = g.emit("after_all", [], [TOKEN])
    x = g.any(element)
    g.emit(name, [x, token], [TOKEN])
    return x


@recipe("send", alone=True)
def send(g: Grower, name: str, element: str) -> Value:
    token = g.emit("after_all", [], [TOKEN])
    x = g.any(element)
    g.emit(name, [x, token], [TOKEN], "channel_handle = #stablehlo.channel_handle<handle = 0, type = 2>, is_host_transfer = true")
    return x


@recipe("recv", alone=True)
def recv(g: Grower, name: str, element: str) -> Value:
    token = g.emit("after_all", [], [TOKEN])
    channel = "channel_handle = #stablehlo.channel_handle<handle = 0, type = 3>, is_host_transfer = true"
    return g.emit_all(name, [token], [Type((2,), element), TOKEN], channel)[0]


@recipe("custom_call", alone=True)
def custom_call(g: Grower, name: str, element: str) -> Value:
    """A target that nobody has."""
    x = g.any(element)
    return g.emit(name, [x], None, 'call_target_name = "nobody_has_this", api_version = 1 : i32')

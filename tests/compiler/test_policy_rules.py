"""Policies about fusions, tiles and loops: what each action does, what is required, and what a rule that matches nothing is told."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.compiler.parsing import parse_module
from hloom.dialects.context import make_context
from hloom.passes.fused.planner.policy import FuseRule, LoopRule, Match, Policy, PolicyError, TileRule, attach_policy, policy_of

LAYER = """
func.func @main(%x: tensor<256x128xf32>, %w: tensor<128x192xf32>) -> tensor<256x192xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<256x128xf32>, tensor<128x192xf32>) -> tensor<256x192xf32> loc("fc")
  %1 = stablehlo.tanh %0 : tensor<256x192xf32> loc("act")
  %2 = stablehlo.negate %1 : tensor<256x192xf32> loc("end")
  return %2 : tensor<256x192xf32>
}"""
TWICE = """
func.func @main(%x: tensor<64x128xf32>) -> (tensor<64xf32>, tensor<64x128xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.abs %x : tensor<64x128xf32> loc("e")
  %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1]
    : (tensor<64x128xf32>, tensor<f32>) -> tensor<64xf32> loc("s")
  %n = stablehlo.negate %e : tensor<64x128xf32> loc("n")
  return %s, %n : tensor<64xf32>, tensor<64x128xf32>
}"""
LOOP = """
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<TRIPS> : tensor<i32>
  %r:2 = stablehlo.while(%i = %c0, %v = %x) : tensor<i32>, tensor<8xf32>
  cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.add %i, %c1 : tensor<i32>
    %w = stablehlo.tanh %v : tensor<8xf32>
    stablehlo.return %j, %w : tensor<i32>, tensor<8xf32>
  }
  return %r#1 : tensor<8xf32>
}"""


def decided(text: str, policy, target: str = "cpu-avx512") -> tuple[list[list[str]], list[dict]]:
    """The ops of each group, in the order of the calls, and the records."""
    compilation = Compilation(load_program(text), target, policy=policy)
    report = compilation.artifact().manifest["report"]
    return [sorted(group["ops"]) for group in report["groups"]], report["decisions"]


def unmet(records: list[dict]) -> list[str]:
    return [each["reason"] for each in records if each["code"] == "POLICY_UNMET"]


def test_every_table_survives_a_file_an_attribute_and_a_dictionary(tmp_path):
    text = """
[[fuse]]
op = "tanh"
with = {op = "dot_general", loc = "fc*"}
action = "forbid"
[[fuse]]
module = "layers.3"
action = "group"
require = true
[[tile]]
op = "dot_general"
sizes = [96, 0]
[[tile]]
rows_together = 8
producer = false
cluster = true
[[loop]]
trips = "4-16"
unroll = false
"""
    (tmp_path / "p.toml").write_text(text)
    rules = Policy(
        fuse=(
            FuseRule(op="tanh", partner=Match(op="dot_general", loc="fc*"), action="forbid"),
            FuseRule(module="layers.3", action="group", require=True),
        ),
        tile=(TileRule(op="dot_general", sizes=(96, 0)), TileRule(rows_together=8, producer=False, cluster=True)),
        loop=(LoopRule(trips="4-16", unroll=False),),
    )
    assert Policy.of(tmp_path / "p.toml") == rules == Policy.of(rules.entries())
    module = parse_module(LAYER, make_context()).operation
    attach_policy(module, rules)
    assert policy_of(parse_module(str(module), make_context()).operation) == rules


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ({"fuse": [{"action": "fold"}]}, "action is force, forbid, group, duplicate, once, launch or alone, not 'fold'"),
        ({"fuse": [{"with": 3}]}, "an entry has keys and values, 3 has not"),
        ({"fuse": [{"with": {"ops": "*"}}]}, "there is no 'ops'"),
        ({"tile": [{"op": "*"}]}, "sizes is a list of numbers"),
        ({"tile": [{"sizes": [-1]}]}, "sizes is a list of numbers"),
        ({"tile": [{"rows_together": "8"}]}, "rows_together is a number, not '8'"),
        ({"tile": [{"producer": 1}]}, "producer is true or false, not 1"),
        ({"loop": [{"trips": "few"}]}, "trips is a number or from one to another"),
        ({"loop": [{"unroll": "yes"}]}, "unroll is true or false, not 'yes'"),
        ({"kernel": [{"use": "cost", "require": 1}]}, "require is true or false, not 1"),
    ],
)
def test_mistakes_are_told(policy, message):
    with pytest.raises(PolicyError, match=message):
        Policy.of(policy)


def test_what_is_forbidden_stays_apart_and_the_record_names_the_rule():
    assert decided(LAYER, None)[0] == [["dot_general", "negate", "tanh"]]
    groups, records = decided(LAYER, {"fuse": [{"op": "negate", "with": "tanh", "action": "forbid"}]})
    assert groups == [["dot_general", "tanh"], ["negate"]]
    (told,) = [each for each in records if each["code"] == "POLICY_FORBIDDEN"]
    assert told["figures"]["policy_rule"] == "fuse 1: op = 'negate', with = {'op': 'tanh'}, action = 'forbid'"


def test_of_two_rules_the_first_decides():
    keep, part = {"loc": "end*", "with": "tanh", "action": "force"}, {"op": "negate", "action": "forbid"}
    assert decided(LAYER, {"fuse": [keep, part]})[0] == [["dot_general"], ["negate", "tanh"]]
    assert decided(LAYER, {"fuse": [part, keep]})[0] == [["dot_general", "tanh"], ["negate"]]


def test_what_is_forced_is_made_against_the_price():
    """A target on which a kernel costs nothing and memory is free never merges; the rule does."""
    free = {"launch_ps": 0, "llc_bytes_per_second": 1 << 60, "dram_bytes_per_second": 1 << 60}
    target = hloom.Target().with_entries(free)
    assert len(decided(LAYER, None, target)[0]) == 3
    groups, records = decided(LAYER, {"fuse": [{"op": "negate", "with": "tanh"}]}, target)
    assert groups == [["dot_general"], ["negate", "tanh"]]
    (told,) = [each for each in records if each["figures"].get("policy_rule", "").startswith("fuse 1")]
    assert told["verdict"] == "fused" and told["reason"].endswith("against the price")


def test_force_is_never_stronger_than_legality():
    two = LAYER.replace("return %2 : tensor<256x192xf32>", "return %3 : tensor<256x256xf32>").replace(
        "-> tensor<256x192xf32> {", "-> tensor<256x256xf32> {"
    )
    dot = "(tensor<256x192xf32>, tensor<256x192xf32>) -> tensor<256x256xf32>"
    two = two.replace("  return", f'  %3 = stablehlo.dot_general %2, %2, contracting_dims = [1] x [1] : {dot} loc("fc2")\n  return')
    rule = {"loc": "fc2", "with": {"loc": "fc"}}
    groups, records = decided(two, {"fuse": [rule]})
    assert len(groups) == 2 and any(reason.startswith(("NOT_TILEABLE", "AXIS_CONFLICT", "no value")) for reason in unmet(records))
    with pytest.raises(PolicyError, match=r"the policy requires fuse 1.*; (NOT_TILEABLE|AXIS_CONFLICT|no value)"):
        decided(two, {"fuse": [{**rule, "require": True}]})


def test_a_group_asks_for_all_of_its_ops():
    forbid = {"op": "negate", "with": "tanh", "action": "forbid"}
    group = {"kind": "elementwise", "action": "group"}
    assert decided(LAYER, {"fuse": [group, forbid]})[0] == [["dot_general", "negate", "tanh"]]
    assert unmet(decided(LAYER, {"fuse": [forbid, {**group, "shape": "256x*"}]})[1]) == ["POLICY_FORBIDDEN: the policy keeps them apart"]


def test_once_and_duplicate_are_about_copies():
    groups, _ = decided(TWICE, {"fuse": [{"op": "abs", "action": "once"}, {"op": "abs", "action": "forbid"}]})
    assert ["abs"] in groups
    copies, records = decided(
        TWICE, {"fuse": [{"op": "abs", "action": "duplicate"}, {"op": "negate", "with": "reduce", "action": "forbid"}]}
    )
    assert sum("abs" in group for group in copies) == 2
    assert "FUSED_DUPLICATED" in {each["code"] for each in records}


def test_tiles_are_those_that_are_asked_for_and_results_stay():
    exe = hloom.compile(LAYER, target="cpu", policy={"tile": [{"op": "dot_general", "sizes": [32, 64]}]})
    (group,) = exe.report.data["groups"]
    assert group["tiles"] == 8 * 3
    x, w = (np.random.default_rng(0).standard_normal(shape, np.float32) for shape in ((256, 128), (128, 192)))
    np.testing.assert_allclose(exe(x, w), -np.tanh(x @ w), atol=1e-4)


@pytest.mark.parametrize(("sizes", "why"), [([8], "has 2 dimensions, the rule 1 sizes"), ([256, 192, 1], "the rule 3 sizes")])
def test_tiles_that_cannot_be_are_refused(sizes, why):
    rule = {"op": "dot_general", "sizes": sizes}
    assert why in unmet(decided(LAYER, {"tile": [rule]})[1])[0]
    with pytest.raises(PolicyError, match=f"the policy requires tile 1: .*{why}"):
        decided(LAYER, {"tile": [{**rule, "require": True}]})


def test_a_tile_that_no_cache_holds_is_refused():
    large = LAYER.replace("256x", "4096x")
    (reason,) = unmet(decided(large, {"tile": [{"op": "dot_general", "sizes": [0, 0]}]})[1])
    assert "have room" in reason


@pytest.mark.parametrize(
    ("target", "text", "code", "reason"),
    [
        ("sm_80", LAYER, "POLICY_FORCED", "3 rows of tiles together"),
        ("sm_80", TWICE, "POLICY_UNMET", "none of a GPU that computes a product in tiles"),
        ("cpu", LAYER, "POLICY_UNMET", "none of a GPU"),
    ],
    ids=["a product", "a sum", "on a CPU"],
)
def test_blocks_go_through_rows_of_tiles_together(target, text, code, reason):
    rules = {"kernel": [{"use": "generated"}], "tile": [{"rows_together": 3}]}
    _, records = decided(text, rules, target)
    (told,) = [each for each in records if each["code"] in ("POLICY_FORCED", "POLICY_UNMET")]
    assert told["code"] == code and reason in told["reason"]


@pytest.mark.parametrize("size", [1, 3, 7, 17, 50, 255])
def test_odd_tiles_keep_their_values(size):
    rng = np.random.default_rng(size)
    x, w = rng.standard_normal((256, 128), np.float32), rng.standard_normal((128, 192), np.float32)
    for sizes in ([size, 0], [0, size], [size, size]):
        exe = hloom.compile(LAYER, target="cpu", policy={"tile": [{"op": "dot_general", "sizes": sizes}]})
        np.testing.assert_allclose(exe(x, w), -np.tanh(x @ w), atol=1e-4)
    values = rng.standard_normal((64, 128), np.float32)
    exe = hloom.compile(TWICE, target="cpu", policy={"tile": [{"sizes": [size]}, {"sizes": [size, 0]}]})
    for found, expected in zip(exe(values), (np.abs(values).sum(1), -np.abs(values))):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def groups_of_loop(trips: int, policy) -> tuple[int, list[str]]:
    """How many tanh the groups hold, and what is unmet."""
    compilation = Compilation(load_program(LOOP.replace("TRIPS", str(trips))), "cpu-avx512", policy=policy)
    report = compilation.artifact().manifest["report"]
    return sum(group["ops"].get("tanh", 0) for group in report["groups"]), unmet(report["decisions"])


def test_loops_are_unrolled_as_asked():
    assert groups_of_loop(5, None) == (5, [])
    assert groups_of_loop(5, {"loop": [{"unroll": False}]}) == (1, [])
    assert groups_of_loop(5, {"loop": [{"trips": "6-9", "unroll": False}]}) == (5, ["it matches no loop"])
    assert groups_of_loop(40, None) == (1, [])
    assert groups_of_loop(40, {"loop": [{"trips": "40"}]}) == (40, [])
    assert "ops, and 4096 are the most" in groups_of_loop(5000, {"loop": [{}]})[1][0]
    with pytest.raises(PolicyError, match="the policy requires loop 1"):
        groups_of_loop(5000, {"loop": [{"require": True}]})


def test_a_rule_that_matches_nothing_tells_what_it_nearly_matches():
    (reason,) = unmet(decided(LAYER, {"fuse": [{"op": "tanh", "loc": "actor*"}]})[1])
    assert "near: tanh at act, whose loc is 'act'" in reason
    with pytest.raises(PolicyError, match="it matches no op that is fused; near: tanh at act"):
        decided(LAYER, {"fuse": [{"op": "tanh", "loc": "actor*", "require": True}]})
    with pytest.raises(PolicyError, match="with matches no op"):
        decided(LAYER, {"fuse": [{"op": "tanh", "with": "sine", "require": True}]})
    with pytest.raises(PolicyError, match="it matches no group's hero; near: dot_general at fc"):
        decided(LAYER, {"tile": [{"op": "dot", "sizes": [1], "require": True}]})


def test_a_library_that_is_required_and_is_not_there_is_an_error():
    short = LAYER.replace("f32", "f16")
    rule = {"op": "dot_general", "use": "library"}
    assert "no library takes it" in unmet(decided(short, {"kernel": [rule]})[1])[0]
    with pytest.raises(PolicyError, match="no library takes it, its types are none of the library's"):
        decided(short, {"kernel": [{**rule, "require": True}]})

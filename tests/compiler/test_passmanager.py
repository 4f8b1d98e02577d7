"""The textual pipeline: parsing, running, errors."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch_mlir import ir

from hloom.compiler.compile import Compilation
from hloom.compiler.debug import Debug, watching
from hloom.compiler.instrument import Instrumentation, Statistics, reproducer_pipeline, reproducer_text
from hloom.compiler.parsing import parse_module
from hloom.compiler.passmanager import Node, Step, parse_nodes, parse_options, parse_pipeline, pipeline_text, run_steps
from hloom.compiler.timing import Timing
from hloom.dialects.context import make_context
from hloom.passes.common.rewriting import functions, replace, value_of, walk
from hloom.passes.errors import CompileError, ParseError, PassFailure, PipelineError, UnsupportedOpError
from hloom.passes.registry import all_passes, register_pass

TEXT = "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { %0 = stablehlo.negate %a : tensor<4xf32>\n return %0 : tensor<4xf32> }"
EXAMPLES = Path(__file__).parents[2] / "examples"
seen = []


@register_pass("test-options", "records its options")
def _options(module, *, count: int = 1, ratio: float = 0.5, name: str = "x", on: bool = False):
    seen.append((count, ratio, name, on))


@register_pass("test-refuse", "refuses")
def _refuse(module):
    raise UnsupportedOpError("no", op="stablehlo.negate", loc="here", remedy="none")


@register_pass("test-bug", "has a fault")
def _bug(module):
    raise KeyError("oops")


@register_pass("test-invalid", "leaves invalid IR")
def _invalid(module):
    function = functions(module)[0]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([], []))


@register_pass("test-of-cosines", "counts its runs", ops=("stablehlo.cosine", "stablehlo.tan"))
def _of_cosines(module):
    seen.append("cosines")


@register_pass("test-make-cosines", "makes cosines of negations", ops=("stablehlo.negate",))
def _make_cosines(module):
    for op in walk(module, "stablehlo.negate"):
        with op.location, ir.InsertionPoint(op):
            replace(op, [value_of("stablehlo.cosine", op.results[0].type, list(op.operands))])


@register_pass("test-invalid-unchanged", "leaves invalid IR and denies it")
def _invalid_unchanged(module):
    _invalid(module)
    return False


@pytest.fixture
def module():
    return parse_module(TEXT, make_context())


def run(module, text, watch=None, stage=None):
    run_steps(module.operation, parse_pipeline(text, module.context), watch, stage=stage)


def test_options_reach_the_pass_typed(module):
    seen.clear()
    run(module, "builtin.module(test-options{count=3 ratio=1.5 name=abc on},test-options,cse)")
    assert seen == [(3, 1.5, "abc", True), (1, 0.5, "x", False)]


@pytest.mark.parametrize("options", ["count=x", "ratio=", "on=maybe", "other=1"])
def test_wrong_options_are_refused(module, options):
    with pytest.raises(PipelineError, match="test-options"):
        run(module, f"test-options{{{options}}}")


def test_a_pass_is_left_out_where_the_module_holds_none_of_its_ops(module):
    seen.clear()
    timing = Timing()
    run(module, "test-of-cosines,test-of-cosines", Instrumentation(timing=timing))
    assert not seen and len(timing.rows) == 2
    run(module, "test-of-cosines,test-make-cosines,test-of-cosines,test-make-cosines,test-of-cosines")
    assert seen == ["cosines", "cosines"] and "stablehlo.cosine" in str(module)


def test_an_op_in_a_region_counts():
    text = """func.func @main(%a: tensor<f32>) -> tensor<f32> { %p = stablehlo.constant dense<true> : tensor<i1>
      %0 = "stablehlo.if"(%p) ({ %1 = stablehlo.cosine %a : tensor<f32>
      stablehlo.return %1 : tensor<f32> }, { stablehlo.return %a : tensor<f32> }) : (tensor<i1>) -> tensor<f32>
      return %0 : tensor<f32> }"""
    seen.clear()
    run(parse_module(text, make_context()), "test-of-cosines")
    assert seen == ["cosines"]


def test_an_error_of_a_pass_gains_the_stage(module):
    with pytest.raises(UnsupportedOpError) as caught:
        run(module, "test-refuse", stage="fused")
    assert (caught.value.stage, caught.value.op, caught.value.loc, caught.value.remedy) == ("fused", "stablehlo.negate", "here", "none")


def test_a_fault_of_a_pass_is_a_pass_failure(module):
    with pytest.raises(PassFailure, match="'test-bug' broke: KeyError"):
        run(module, "test-bug")


def test_invalid_ir_is_laid_to_the_pass_that_made_it(module):
    with pytest.raises(PassFailure, match="'test-invalid' failed"):
        run(module, "test-invalid,cse")


@pytest.mark.parametrize("behind", ["", ",cse", ",test-options"])
def test_on_the_way_to_a_stage_invalid_ir_is_found_before_upstreams_passes_and_at_the_end(module, behind):
    with pytest.raises(PassFailure, match="one of the passes test-options, test-invalid.* failed") as caught:
        run(module, f"test-options,test-invalid{behind}", stage="fused")
    assert caught.value.stage == "fused" and "HLOOM_DEBUG=verify" in caught.value.remedy


def test_what_a_pass_says_is_unchanged_is_verified_on_request_alone(module):
    run(module, "test-invalid-unchanged", stage="fused")
    with pytest.raises(PassFailure, match="pass 'test-invalid-unchanged' failed"):
        run(module, "test-invalid-unchanged", Debug.parse("verify").apply(Instrumentation()), stage="fused")


@pytest.mark.parametrize("name", ["convolution", "mlp_layer_bf16", "residual_layernorm", "softmax"])
@pytest.mark.parametrize("target", ["cpu-avx512", "cpu-avx2", "sm_90a"])
def test_passes_that_say_so_leave_the_module_as_it_was(monkeypatch, name, target):
    idle, run_step = [], Step.run

    def watched(step, module):
        before = module.get_asm()
        changed = run_step(step, module)
        if not changed:
            assert module.get_asm() == before, step.name
            idle.append(step.name)
        return changed

    monkeypatch.setattr(Step, "run", watched)
    compilation = Compilation.of(str(EXAMPLES / f"{name}.mlir"), target=target)
    compilation.to("nvvm" if compilation.machine.kind == "cuda" else "llvm")
    assert "simplify-stablehlo" in idle


def test_verified_whole_on_request(module):
    with pytest.raises(PassFailure, match="pass 'test-invalid' failed"):
        run(module, "test-options,test-invalid", Debug.parse("verify").apply(Instrumentation()), stage="fused")


def test_pipeline_text_round_trips(module):
    steps = parse_pipeline("func.func(cse,canonicalize{top-down=false}),test-options{count=3}", module.context)
    text = pipeline_text(steps)
    assert [s.name for s in steps] == ["cse", "canonicalize", "test-options"]
    assert pipeline_text(parse_pipeline(text, module.context)) == text


def test_parse_nodes():
    assert parse_nodes("a{x={y z}},b(c,d())") == (
        Node("a", "x={y z}"),
        Node("b", children=(Node("c"), Node("d", children=()))),
    )
    assert parse_options("a=1 b={x y} c d='p q'") == {"a": "1", "b": "{x y}", "c": "true", "d": "p q"}


@given(st.text(alphabet="ab(){},= '-", max_size=20))
def test_any_pipeline_text_parses_or_is_refused(text):
    try:
        parse_nodes(text)
    except PipelineError as error:
        assert "column" in str(error)


def test_timing_and_statistics_have_a_row_a_pass(module):
    watch = Instrumentation(timing=Timing(), statistics=Statistics())
    run(module, "cse,test-options", watch)
    assert [row[1] for row in watch.timing.rows] == ["cse", "test-options"]
    assert [row[0] for row in watch.statistics.rows] == ["cse", "test-options"]
    assert "cse" in watch.timing.table() and "4 ops before" in watch.statistics.table()


def test_debug_settings(monkeypatch, capsys, module):
    monkeypatch.setenv("HLOOM_DEBUG", "print-after=cse+canonicalize,timing")
    with watching() as watch:
        run(module, "cse,symbol-dce,canonicalize", watch)
    err = capsys.readouterr().err
    assert err.count("IR Dump After") == 2 and "Execution time report" in err


@pytest.mark.parametrize("text", ["nosuch", "dump", "dump=", "timing=1", "elide=x"])
def test_debug_refuses(text):
    with pytest.raises(PipelineError, match="HLOOM_DEBUG"):
        Debug.parse(text)


def test_every_debug_key_is_documented():
    from pathlib import Path

    from hloom.compiler.debug import COMPILE_KEYS

    table = (Path(__file__).parents[2] / "docs" / "debug.md").read_text()
    assert [key for key in COMPILE_KEYS if f"`{key}" not in table] == []


RESOURCES = """{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F"
    }
  }
#-}"""


@pytest.mark.parametrize("module_text", ["module {}", f"module {{}}\n{RESOURCES}"])
def test_reproducer_round_trips(module_text):
    text = reproducer_text(module_text, 'builtin.module(a{b="c"})')
    assert reproducer_pipeline(text) == 'builtin.module(a{b="c"})'
    assert text.count("#-}") == 1
    parse_module(text, make_context())
    assert reproducer_pipeline(module_text) is None


@pytest.mark.parametrize(
    "source",
    [
        "module {" * 100_000,
        "module attributes {a = " + "[" * 100_000,
        "func.func private @f(" + "tuple<" * 100_000,
        b"\xff\xfe",
        b"ML\xefR",
        b"ML\xefR\x0dMLIR",
        "func.func @f(",
        '"unregistered.op"() : () -> ()',
    ],
)
def test_malformed_programs_are_parse_errors(source):
    with pytest.raises(ParseError) as caught:
        parse_module(source, make_context())
    assert isinstance(caught.value, CompileError)


def test_brackets_in_strings_and_arrows_do_not_count_as_nesting():
    brackets = "((" * 2000
    declarations = "".join(f"func.func private @f{i}() -> ()\n" for i in range(1500))
    text = f'module attributes {{a.b = "{brackets}"}} {{ // {brackets}\n{declarations}}}'
    assert len(functions(parse_module(text, make_context()).operation)) == 1500


def test_passes_of_others_come_last_in_the_list():
    names = [info.name for info in all_passes()]
    assert names.index("wrap-kernels") < names.index("test-options")

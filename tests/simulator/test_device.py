"""Whole programs of thunks on the simulated device."""

import ml_dtypes
import numpy as np
import pytest
from simulator_kernels import function

from hloom.compiler.simulator import SimulatedProgram, SimulationError
from hloom.passes.errors import ParseError

X = np.arange(256, dtype=np.float32)


def _kernel(name: str, line: str) -> str:
    body = f"""
      %v = memref.load %x[%i] : memref<256xf32>
      {line}
      memref.store %r, %o[%i] : memref<256xf32>"""
    return function(name, "%x: memref<256xf32> {llvm.noalias, llvm.readonly}, %o: memref<256xf32> {llvm.noalias}", body)


STOP = function(
    "below_1000",
    "%x: memref<256xf32> {llvm.noalias, llvm.readonly}, %o: memref<1xi8> {llvm.noalias}",
    """
      %limit = arith.constant 1000.0 : f32
      %last = arith.constant 255 : index
      %v = memref.load %x[%last] : memref<256xf32>
      %less = arith.cmpf olt, %v, %limit : f32
      %byte = arith.extui %less : i1 to i8
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        memref.store %byte, %o[%c0] : memref<1xi8>
      }""",
)
KERNELS = _kernel("twice", "%r = arith.addf %v, %v : f32") + _kernel("next", "%r = arith.addf %v, %f1 : f32") + STOP


def _program(
    thunks: str, *, name="main", arguments="tensor<256xf32>", results="tensor<256xf32>", arena=2048, attributes="", constants=""
) -> str:
    def sizes(types: str) -> str:
        widths = {"f32": 4, "i32": 4, "bf16": 2}
        parts = [kind.strip()[7:-1].split("x") for kind in types.split(", ")] if types else []
        return ", ".join(str(int(np.prod([int(n) for n in shape])) * widths[element]) for *shape, element in parts)

    each = len(arguments.split(", ")) + len(results.split(", "))
    attributes = attributes or ", ".join(["{}"] * each)
    return f"""
  "thunk.program"() ({{
    {thunks}
  }}) {{sym_name = "{name}", signature = ({arguments}) -> ({results}), value_attributes = [{attributes}],
     argument_bytes = array<i64: {sizes(arguments)}>,
     result_bytes = array<i64: {sizes(results)}>, arena_bytes = {arena} : i64, constants = [{constants}]}} : () -> ()"""


def _call(callee: str, source: tuple[int, int], target: tuple[int, int], size: int = 1024) -> str:
    reads, writes = (f"array<i64: {part[0]}, {part[1]}, {count}>" for part, count in ((source, 1024), (target, size)))
    attributes = f"callee = @{callee}, reads = {reads}, writes = {writes}, cost_ps = 1 : i64, tiles = 1 : i64, grain = 0 : i64, source = []"
    return f'"thunk.kernel"() {{{attributes}}} : () -> ()\n'


def _copy(source: tuple[int, int], target: tuple[int, int]) -> str:
    reads, writes = (f"array<i64: {part[0]}, {part[1]}, 1024>" for part in (source, target))
    return f'"thunk.copy"() {{reads = {reads}, writes = {writes}}} : () -> ()\n'


def _simulated(*programs: str, before: str = "") -> SimulatedProgram:
    return SimulatedProgram(f"module {{ {before}\n gpu.module @kernels {{ {KERNELS} }} {''.join(programs)} }}")


ARGUMENT, RESULT, ARENA = 0, 1, 2


def test_kernels_in_order():
    thunks = _call("next", (ARGUMENT, 0), (ARENA, 0)) + _call("twice", (ARENA, 0), (RESULT, 0))
    execution = _simulated(_program(thunks)).run([X])
    np.testing.assert_array_equal(execution.results[0], 2 * (X + 1))
    assert execution.counters.launches == 2 and execution.kernels["twice"].global_read_bytes == 1024
    assert execution.thunks == {"kernel": 2}


def test_loops():
    """x + 10, then doubled until the last element is 1000 or more."""
    body = _call("next", (ARENA, 0), (ARENA, 1024)) + _copy((ARENA, 1024), (ARENA, 0))
    thunks = _copy((ARGUMENT, 0), (ARENA, 0)) + f'"thunk.for"() ({{ {body} }}) {{trip_count = 10 : i64}} : () -> ()\n'
    condition = _call("below_1000", (ARENA, 0), (ARENA, 2048), 1)
    double = _call("twice", (ARENA, 0), (ARENA, 1024)) + _copy((ARENA, 1024), (ARENA, 0))
    thunks += f'"thunk.while"() ({{ {condition} }}, {{ {double} }}) {{reads = array<i64: 2, 2048, 1>}} : () -> ()\n' + _copy(
        (ARENA, 0), (RESULT, 0)
    )
    execution = _simulated(_program(thunks, arena=2112)).run([X])
    np.testing.assert_array_equal(execution.results[0], 4 * (X + 10))
    assert execution.kernels["below_1000"].launches == 3 and execution.kernels["next"].launches == 10


@pytest.mark.parametrize(("index", "expected"), [(0, X + 1), (1, 2 * X), (7, 2 * X), (-1, 2 * X)])
def test_cases(index, expected):
    branches = "".join(f'"thunk.sequence"() ({{ {_call(callee, (0, 0), (2, 0))} }}) : () -> ()\n' for callee in ("next", "twice"))
    thunks = f'"thunk.case"() ({{ {branches} }}) {{reads = array<i64: 1, 0, 4>}} : () -> ()\n'
    program = _simulated(_program(thunks, arguments="tensor<256xf32>, tensor<1xi32>"))
    np.testing.assert_array_equal(program.run([X, np.array([index], np.int32)]).results[0], expected)


def test_fill_and_profile_marks():
    thunks = '"thunk.profile_begin"() {id = 0 : i64, label = "x"} : () -> ()\n'
    thunks += '"thunk.fill"() {writes = array<i64: 1, 0, 1024>, pattern = array<i8: 0, 0, -128, 63>} : () -> ()\n'
    np.testing.assert_array_equal(_simulated(_program(thunks)).run([X]).results[0], np.ones(256, np.float32))


def test_constants_and_init():
    """@init doubles the second argument; @main adds nothing to a constant and gives both back."""
    init = _program(_call("twice", (0, 0), (1, 0)), name="init", attributes="{hloom.argument = 1 : i64}, {}")
    thunks = _copy((2, 0), (3, 0)) + _call("next", (6, 0), (4, 0))
    arguments, results = "tensor<256xf32>, tensor<256xf32>, tensor<256xf32>", "tensor<256xf32>, tensor<256xf32>"
    marks = "{}, {hloom.bound}, {hloom.init_result = 0 : i64}, {}, {}"
    main = _program(thunks, arguments=arguments, results=results, attributes=marks, constants="@table")
    table = 'memref.global "private" constant @table : memref<256xf32> = dense<2.5>'
    program = _simulated(init, main, before=table)
    execution = program.run([X, 3 * X])
    np.testing.assert_array_equal(execution.results[0], 6 * X)
    np.testing.assert_array_equal(execution.results[1], np.full(256, 3.5, np.float32))
    made = program.initialise([X, 5 * X])
    np.testing.assert_array_equal(made[0], 10 * X)
    again = program.run([X, X], made=made)
    np.testing.assert_array_equal(again.results[0], 10 * X)
    assert again.counters.launches == 1


def _gemm(epilogue: str, accumulate: int, reads: str, result: str = "f32") -> str:
    """16 x 8 by 8 x 16, the second operand transposed."""
    return (
        f'"thunk.gemm"() {{reads = array<i64: {reads}>, writes = array<i64: 4, 0, 1024>, transposed = array<i64: 0, 1>,'
        " sizes = array<i64: 1, 16, 16, 8>, leading = array<i64: 8, 8, 16>, strides = array<i64: 128, 128, 256>, element = bf16,"
        f' result = {result}, epilogue = "{epilogue}", accumulate = {accumulate} : i64, source = []}} : () -> ()\n'
    )


@pytest.mark.parametrize(("epilogue", "accumulate"), [("none", 0), ("bias_relu", 0), ("gelu", 1), ("bias_gelu", 1)])
def test_gemm(epilogue, accumulate):
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((16, 8)).astype(ml_dtypes.bfloat16) for _ in range(2))
    bias, residual = rng.standard_normal(16).astype(np.float32), rng.standard_normal((16, 16)).astype(np.float32)
    reads = "0, 0, 256, 1, 0, 256" + ", 2, 0, 64" * epilogue.startswith("bias") + ", 3, 0, 1024" * accumulate
    arguments = "tensor<16x8xbf16>, tensor<16x8xbf16>, tensor<16xf32>, tensor<16x16xf32>"
    program = _simulated(_program(_gemm(epilogue, accumulate, reads), arguments=arguments, results="tensor<16x16xf32>"))
    total = a.astype(np.float64) @ b.astype(np.float64).T + accumulate * residual + epilogue.startswith("bias") * bias
    if "relu" in epilogue:
        total = np.maximum(total, 0)
    if "gelu" in epilogue:
        total = total / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (total + 0.044715 * total**3)))
    np.testing.assert_allclose(program.run([a, b, bias, residual]).results[0], total, atol=1e-5)


@pytest.mark.parametrize("groups", [1, 2])
def test_conv(groups):
    """Of 2 images of 4 x 7 x 6 to 6 features, 3 x 2 taps, strides 2 and 1, a dilation of 2, channels last in x and y."""
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((2, 7, 6, 4)).astype(np.float32), rng.standard_normal((6, 4 // groups, 3, 2)).astype(np.float32)
    bias, residual = rng.standard_normal(6).astype(np.float32), rng.standard_normal((2, 4, 4, 6)).astype(np.float32)
    depth = 4 // groups
    thunks = f"""
    "thunk.conv"() {{reads = array<i64: 0, 0, {x.nbytes}, 1, 0, {w.nbytes}, 2, 0, 24, 3, 0, {residual.nbytes}>,
      writes = array<i64: 4, 0, {residual.nbytes}>,
      element = f32, input = array<i64: 2, 4, 7, 6>, filter = array<i64: 6, {depth}, 3, 2>, output = array<i64: 2, 6, 4, 4>,
      input_strides = array<i64: 168, 1, 24, 4>, filter_strides = array<i64: {6 * depth}, 6, 2, 1>,
      output_strides = array<i64: 96, 1, 24, 6>,
      window_strides = array<i64: 2, 1>, padding_low = array<i64: 1, 0>, padding_high = array<i64: 1, 0>, dilations = array<i64: 1, 2>,
      groups = {groups} : i64, makes = "output", bias = 1 : i64, residual = 1 : i64, relu = 1 : i64, source = []}} : () -> ()"""
    arguments = f"tensor<2x7x6x4xf32>, tensor<6x{depth}x3x2xf32>, tensor<6xf32>, tensor<2x4x4x6xf32>"
    found = _simulated(_program(thunks, arguments=arguments, results="tensor<2x4x4x6xf32>")).run([x, w, bias, residual]).results[0]
    padded = np.pad(x, [(0, 0), (1, 1), (0, 0), (0, 0)]).astype(np.float64)
    expected = bias + residual.astype(np.float64)
    for n, i, j, k in np.ndindex(2, 4, 4, 6):
        first = k // (6 // groups) * depth
        window = padded[n, 2 * i : 2 * i + 3, j : j + 3 : 2, first : first + depth]
        expected[n, i, j, k] += (window.transpose(2, 0, 1) * w[k]).sum()
    np.testing.assert_allclose(found, np.maximum(expected, 0), atol=1e-4)


@pytest.mark.parametrize(
    ("thunks", "message"),
    [
        (_call("twice", (ARENA, 0), (RESULT, 0)), "argument 0 of @twice: reads bytes 0 to 1024 of buffer 2, but nobody wrote byte 0"),
        (_copy((ARENA, 64), (RESULT, 0)), "the source of a copy: reads bytes 64"),
        ("", "result 0 of @main: reads bytes 0 to 1024 of buffer 1, but nobody wrote byte 0"),
        (_call("twice", (ARGUMENT, 0), (ARGUMENT, 0)), "writes buffer 0, an argument or a constant"),
        (_call("twice", (ARGUMENT, 0), (ARENA, 1032)), "bytes 1032 to 2056 of buffer 2, which has 2048"),
        (_call("twice", (ARGUMENT, 0), (ARENA, 8)), "a slice at byte 8 of buffer 2"),
        (_copy((ARGUMENT, 0), (ARENA, 0)) + _call("twice", (ARENA, 0), (ARENA, 512)), "overlap and are written"),
        (_call("other", (ARGUMENT, 0), (RESULT, 0)), "no kernel @other"),
        ('"thunk.unheard_of"() : () -> ()', "thunk.unheard_of"),
    ],
)
def test_faults(thunks, message):
    with pytest.raises((SimulationError, ParseError)) as caught:
        _simulated(_program(thunks)).run([X])
    assert message in str(caught.value)


def test_a_kernel_that_writes_what_it_only_reads():
    body = "      memref.store %f1, %x[%i] : memref<256xf32>\n      memref.store %f1, %o[%i] : memref<256xf32>"
    sly = function("sly", "%x: memref<256xf32>, %o: memref<256xf32>", body)
    text = f"module {{ gpu.module @kernels {{ {sly} }} {_program(_call('sly', (ARGUMENT, 0), (RESULT, 0)))} }}"
    with pytest.raises(SimulationError, match="argument 0 is written, but declared as only read"):
        SimulatedProgram(text)


def test_arguments_that_do_not_fit():
    program = _simulated(_program(_call("twice", (ARGUMENT, 0), (RESULT, 0))))
    for values in ([], [X.astype(np.float64)], [X[:100]]):
        with pytest.raises(SimulationError):
            program.run(values)

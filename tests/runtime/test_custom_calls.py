"""Custom calls: what a person registers, and what becomes of a call that is not as it should be."""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hloom
from hloom.runtime import custom_calls

ROOT = Path(__file__).parents[2]
TEXT = """func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.exponential %x : tensor<2x3xf32>
  %1 = stablehlo.custom_call @TARGET(%0) {CONFIG} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.negate %1 : tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}"""
X = np.arange(6, dtype=np.float32).reshape(2, 3)
Function = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_int64), ctypes.c_char_p)


@pytest.fixture(autouse=True)
def registry():
    """Leaves the names as they were."""
    before = dict(custom_calls._targets), dict(custom_calls.replacements)
    yield
    for table, kept in zip((custom_calls._targets, custom_calls.replacements), before):
        table.clear()
        table.update(kept)


def program(target: str = "mine", config: str = "") -> str:
    return TEXT.replace("TARGET", target).replace("CONFIG", config)


def test_a_python_function():
    hloom.custom_call("mine", lambda x: x + 1)
    np.testing.assert_allclose(hloom.compile(program(), target="cpu")(X), -(np.exp(X) + 1), rtol=1e-6)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ('mhlo.backend_config = {by = 2.0 : f32, of = "it", n = [1, 2]}', {"by": 2.0, "of": "it", "n": [1, 2]}),
        ('backend_config = "some text"', {"config": "some text"}),
        ("api_version = 4 : i32, backend_config = {flag = true}", {"flag": True}),
    ],
)
def test_the_configuration(config, expected):
    seen = []

    @hloom.custom_call("mine")
    def mine(x, **options):
        seen.append(options)
        return x

    hloom.compile(program(config=config), target="cpu")(X)
    assert seen == [expected]


def test_a_c_function_is_told_of_its_buffers():
    seen = []

    @Function
    def mine(buffers, numbers, config):
        seen.append((numbers[:12], config))
        ctypes.memset(buffers[1], 0, 24)

    hloom.custom_call("mine", mine)
    assert (hloom.compile(program(config='backend_config = "text"'), target="cpu")(X) == 0).all()
    assert seen == [([1, 1, 2, 32, 2, 2, 3, 2, 32, 2, 2, 3], b"text")]
    hloom.custom_call("mine", ctypes.cast(mine, ctypes.c_void_p).value)
    assert (hloom.compile(program(), target="cpu")(X) == 0).all()


def test_element_types_and_several_results():
    kinds = {"f64": "f64", "f16": "f16", "bf16": "bf16", "i1": "i1", "ui8": "ui8", "i64": "i64"}
    values = [np.ones((2, 3)) for _ in kinds]
    types = ", ".join(f"tensor<2x3x{kind}>" for kind in kinds)
    arguments = ", ".join(f"%{kind}: tensor<2x3x{kind}>" for kind in kinds)
    operands, results = ", ".join(f"%{kind}" for kind in kinds), ", ".join(f"%0#{i}" for i in range(len(kinds)))
    text = f"""func.func @main({arguments}) -> ({types}) {{
      %0:{len(kinds)} = stablehlo.custom_call @mine({operands}) : ({types}) -> ({types})
      return {results} : {types} }}"""
    hloom.custom_call("mine", lambda *given: tuple(given))
    exe = hloom.compile(text, target="cpu")
    given = [value.astype(spec.numpy_dtype) for value, spec in zip(values, exe.signature.inputs)]
    for value, result in zip(given, exe(*given)):
        assert result.dtype == value.dtype and (result == value).all()


def test_a_tuple_of_results():
    hloom.custom_call("two", lambda x: (x + 1, (x > 0).astype(np.int32)))
    text = """func.func @main(%x: tensor<3xf32>) -> (tensor<3xi32>, tensor<3xf32>) {
      %0 = stablehlo.custom_call @two(%x) : (tensor<3xf32>) -> tuple<tensor<3xf32>, tensor<3xi32>>
      %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<3xf32>, tensor<3xi32>>) -> tensor<3xi32>
      %2 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<3xf32>, tensor<3xi32>>) -> tensor<3xf32>
      return %1, %2 : tensor<3xi32>, tensor<3xf32>
    }"""
    x = np.array([1, -2, 3], np.float32)
    positive, more = hloom.compile(text, target="cpu")(x)
    np.testing.assert_array_equal(positive, [1, 0, 1])
    np.testing.assert_array_equal(more, x + 1)


def test_layouts_and_aliases():
    """A column-major operand arrives transposed; a result that aliases its operand begins as a copy of it, and the argument stays."""

    @Function
    def mine(buffers, numbers, config):
        assert numbers[3:7] == [32, 2, 3, 2]
        values = (ctypes.c_float * 6).from_address(buffers[1])
        values[0] += 100

    hloom.custom_call("mine", mine)
    text = """func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
      %0 = stablehlo.custom_call @mine(%x) {
        operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>],
        output_operand_aliases = [
          #stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]}
        : (tensor<2x3xf32>) -> tensor<2x3xf32>
      return %0, %x : tensor<2x3xf32>, tensor<2x3xf32> }"""
    given = X.copy()
    changed, same = hloom.compile(text, target="cpu")(given)
    assert (same == X).all() and (given == X).all()
    assert (changed - X == [[100, 0, 0], [0, 0, 0]]).all()


def test_in_a_loop():
    calls = []

    @hloom.custom_call("mine")
    def mine(x):
        calls.append(None)
        return x + 1

    text = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<3xf32>
        cond { %n = stablehlo.constant dense<5> : tensor<i32>
               %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
               stablehlo.return %p : tensor<i1> }
        do { %one = stablehlo.constant dense<1> : tensor<i32>
             %j = stablehlo.add %i, %one : tensor<i32>
             %w = stablehlo.custom_call @mine(%v) : (tensor<3xf32>) -> tensor<3xf32>
             stablehlo.return %j, %w : tensor<i32>, tensor<3xf32> }
      return %r#1 : tensor<3xf32> }"""
    exe = hloom.compile(text, target="cpu")
    assert (exe(np.zeros(3, np.float32)) == 5).all() and len(calls) == 5


def test_a_stablehlo_module_stands_in_its_place():
    hloom.custom_call("inner", "func.func @f(%a: tensor<2x3xf32>) -> tensor<2x3xf32> { return %a : tensor<2x3xf32> }")
    hloom.custom_call(
        "mine",
        """func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
             %0 = stablehlo.custom_call @inner(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
             %1 = call @twice(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
             return %1 : tensor<2x3xf32> }
           func.func private @twice(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
             %0 = stablehlo.add %a, %a : tensor<2x3xf32>
             return %0 : tensor<2x3xf32> }""",
    )
    np.testing.assert_allclose(hloom.compile(program(), target="cpu")(X), -2 * np.exp(X), rtol=1e-6)
    assert hloom.compile(program(), target="sim:sm_90a")(X).shape == X.shape


def refused(text: str, kind: type[Exception], *parts: str, target: str = "cpu") -> None:
    with pytest.raises(kind) as found:
        hloom.compile(text, target=target)
    for part in parts:
        assert part in str(found.value)


def test_what_is_refused():
    refused(program(), hloom.UnsupportedOpError, "@mine", "hloom.custom_call", "loc(")
    refused(program(config="hloom.numbers = array<i64: 1>"), hloom.UnsupportedOpError, "@mine")
    hloom.custom_call("mine", "func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> { return %a : tensor<3xf32> }")
    refused(program(), hloom.InvalidProgramError, "@mine", "tensor<2x3xf32>", "tensor<3xf32>")
    hloom.custom_call("mine", program())
    refused(program(), hloom.InvalidProgramError, "recursion")
    hloom.custom_call("mine", "no module")
    refused(program(), hloom.ParseError)
    hloom.custom_call("mine", 3.5)
    refused(program(), hloom.InvalidProgramError, "float")
    hloom.custom_call("mine", lambda x: x)
    refused(program(config="has_side_effect = true"), hloom.UnsupportedOpError, "@mine", "side effect")
    refused(program(), hloom.UnsupportedOpError, "@mine", "CPUs alone", target="sm_90a")
    with pytest.raises(hloom.ExecutionError):
        hloom.custom_call("", lambda x: x)


@pytest.mark.parametrize(
    ("config", "operands", "results", "part"),
    [
        ("", "tensor<4x4xf64>", "tensor<4x4xf64>, tensor<i32>", "operand 0"),
        ("", "tensor<4x4xf32>", "tensor<4x4xf32>", "gives 2 results"),
        ("", "tensor<4x3xf32>", "tensor<4x3xf32>, tensor<i32>", "operand 0"),
        ("", "tensor<2x4x4xf32>", "tensor<2x4x4xf32>, tensor<3xi32>", "batches"),
        ("uplo = 65 : ui8", "tensor<4x4xf32>", "tensor<4x4xf32>, tensor<i32>", "uplo = 65"),
        ("", "tensor<4x4xf32>", "tensor<4x4xf32>, tensor<i32>", "uplo = None"),
    ],
)
def test_malformed_calls_of_lapack(config, operands, results, part):
    count, kinds = results.count("tensor"), f"({results})"
    config = f"mhlo.backend_config = {{{config or 'uplo = 76 : ui8' if 'None' not in part else ''}}}"
    text = f"""func.func @main(%x: {operands}) -> {kinds} {{
      %0:{count} = "stablehlo.custom_call"(%x) {{call_target_name = "lapack_spotrf_ffi", {config}}} : ({operands}) -> {kinds}
      return {", ".join(f"%0#{i}" for i in range(count))} : {results} }}"""
    refused(text, hloom.InvalidProgramError, "lapack_spotrf_ffi", part)


def test_errors_of_python_functions():
    @hloom.custom_call("mine")
    def mine(x):
        raise ZeroDivisionError("of mine")

    exe = hloom.compile(program(), target="cpu")
    for _ in range(2):
        with pytest.raises(hloom.CustomCallError, match="of mine") as found:
            exe(X)
        assert isinstance(found.value.__cause__, ZeroDivisionError)
    hloom.custom_call("mine", lambda x: x[0])
    with pytest.raises(hloom.CustomCallError, match=re.escape("(2, 3)")):
        hloom.compile(program(), target="cpu")(X)
    with pytest.raises(hloom.CustomCallError, match="of mine"):
        exe(X)  # a program keeps what it was loaded with


def test_saved_programs(tmp_path):
    """Loading needs the function, or LAPACK, by name; no compiler."""
    hloom.custom_call("mine", lambda x: 2 * x)
    hloom.compile(program(), target="cpu").save(tmp_path / "mine.hloom")
    np.testing.assert_allclose(hloom.load(tmp_path / "mine.hloom")(X), -2 * np.exp(X), rtol=1e-6)
    del custom_calls._targets["mine"]
    with pytest.raises(hloom.LoadError, match="'mine'.*\n.*hloom.custom_call"):
        hloom.load(tmp_path / "mine.hloom")
    kind = "tensor<4x4xf32>"
    text = f"func.func @main(%a: {kind}) -> {kind} {{ %0 = stablehlo.cholesky %a, lower = true : {kind}\n return %0 : {kind} }}"
    hloom.compile(text, target="cpu").save(tmp_path / "lapack.hloom")
    code = f"""
import sys, numpy as np, hloom
def load(): return hloom.load({str(tmp_path / "lapack.hloom")!r})
if sys.argv[1:]: sys.modules["scipy_openblas32"] = None
found = load()(np.diag([1, 4, 9, 16]).astype(np.float32)).diagonal().tolist()
print(found, [name for name in sys.modules if name.startswith("torch_mlir")])
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[1.0, 2.0, 3.0, 4.0] []"
    missing = subprocess.run([sys.executable, "-c", code, "without"], capture_output=True, text=True)
    assert "HL212" in missing.stderr and "pip install scipy-openblas32" in missing.stderr


def test_the_example_of_the_documentation():
    pytest.importorskip("jax")
    page = (ROOT / "docs" / "api.md").read_text()
    (example,) = re.findall(r"```python\n(import jax\n.*?)```", page[page.index("## `hloom.custom_call") :], re.DOTALL)
    exec(example, {})


def test_unregistered_targets_of_jax_are_named():
    jax = pytest.importorskip("jax")
    with pytest.raises(hloom.UnsupportedOpError, match="@nobody.*"):
        hloom.compile(lambda x: jax.ffi.ffi_call("nobody", jax.ShapeDtypeStruct(x.shape, x.dtype))(x), X, target="cpu")


@pytest.mark.parametrize(
    ("config", "part"),
    [
        ("called_computations = [@f], mhlo.backend_config = {reduction_dim = 5 : i64}", "dimension 5"),
        ("mhlo.backend_config = {reduction_dim = 0 : i64}", "called_computations"),
        ("called_computations = [@g], mhlo.backend_config = {reduction_dim = 0 : i64}", "called_computations"),
    ],
)
def test_malformed_approximate_top_k(config, part):
    text = f"""func.func @main(%x: tensor<8xf32>, %n: tensor<f32>) -> tensor<3xf32> {{
      %0 = "stablehlo.custom_call"(%x, %n) {{call_target_name = "ApproxTopK", {config}}} : (tensor<8xf32>, tensor<f32>) -> tensor<3xf32>
      return %0 : tensor<3xf32> }}
    func.func private @f(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {{
      %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1> }}
    func.func private @g(%a: tensor<f32>) -> tensor<f32> {{ return %a : tensor<f32> }}"""
    refused(text, hloom.InvalidProgramError, "@ApproxTopK", part)


@pytest.mark.parametrize(
    ("target", "results", "part"),
    [
        ("lapack_ssyevd_ffi", "tensor<9x9xf32>, tensor<9xf32>, tensor<i32>", "mode = None"),
        ("lapack_sgesdd_ffi", "tensor<9x9xf32>, tensor<9xf32>", "gives 5 results"),
    ],
)
def test_malformed_calls_whose_vectors_nobody_reads(target, results, part):
    text = f"""func.func @main(%x: tensor<9x9xf32>) -> tensor<9xf32> {{
      %0:{results.count("tensor")} = stablehlo.custom_call @{target}(%x) : (tensor<9x9xf32>) -> ({results})
      return %0#1 : tensor<9xf32> }}"""
    refused(text, hloom.InvalidProgramError, target, part)


def test_workspace_that_is_not_to_be_had_is_an_error():
    """The routine's process lives on, and what it does next is right."""
    script = """
import resource, numpy as np, jax, jax.numpy as jnp, hloom
a = np.eye(3000, dtype=np.float32)  # 36 MB, and 72 MB of workspace
small, exe = (hloom.compile(lambda a: jnp.linalg.eigh(a, symmetrize_input=False)[1], x, target="cpu") for x in (a[:8, :8], a))
small(a[:8, :8].copy())
out = np.empty_like(a)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (54 << 20), -1))
try:
    exe.run([a], out)
except hloom.ExecutionError as error:
    print(error.code, error.message)
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
print(abs(small(a[:8, :8].copy())).sum())
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert found.stdout.splitlines() == ["HL200 no memory for the workspace of LAPACK's ssyevd", "8.0"]


@pytest.mark.parametrize(
    ("target", "operands", "results", "message"),
    [
        ("cusolver_getrf_ffi", ["4x4xi32"], ["4x4xi32", "4xi32", "i32"], "has elements of i32"),
        ("cusolver_gesvdj_ffi", ["4xf32"], ["4xf32"] * 5, "takes matrices and gives 5 results"),
        ("cusolver_gesvd_ffi", ["4x4xf32"], ["4x4xf32", "4xf32", "4x4xf32", "4x4xf32", "f32"], "info|result 4"),
        ("cusolver_geev_ffi", ["4x4xf32"], ["4x4xf32", "4xf32", "4x4xf32", "4x4xf32", "i32"], "result 1 of type tensor<4xf32>"),
        ("cusparse_gtsv2_ffi", ["3xf32", "4xf32", "4xf32", "4x1xf32"], ["4x1xf32"], "where"),
        ("cusolver_syrk_ffi", ["4x3xf32", "3x3xf32", "f32", "f32"], ["3x3xf32"], "an A of type"),
        ("cu_lu_pivots_to_permutation", ["4xi32"], ["3xi32"], "extents"),
        ("cu_lu_pivots_to_permutation", [], ["3xi32"], "takes 1 operands"),
        ("cu_cholesky_update_ffi", ["2x4x4xf32", "2x4xf32"], ["2x4x4xf32", "2x4xf32"], "one factor"),
        ("lapack_sgesdd_ffi", ["4x5xf32"], ["4x5xf32", "4xf32", "f32", "f32", "i32"], "result 2"),
    ],
)
def test_calls_that_are_none_of_cudas(target, operands, results, message):
    given = ", ".join(f"%a{i}: tensor<{kind}>" for i, kind in enumerate(operands))
    names, count = ", ".join(f"%a{i}" for i in range(len(operands))), f":{len(results)}" if len(results) > 1 else ""
    types = [", ".join(f"tensor<{kind}>" for kind in kinds) for kinds in (operands, results)]
    returned = ", ".join(f"%r#{i}" for i in range(len(results))) if count else "%r"
    config = "{compute_uv = true, full_matrices = true, mode = 65 : ui8}"
    text = f"""func.func @main({given}) -> ({types[1]}) {{
      %r{count} = stablehlo.custom_call @{target}({names}) {{mhlo.backend_config = {config}}} : ({types[0]}) -> ({types[1]})
      return {returned} : {types[1]} }}"""
    for device in ("cpu", "sm_90a"):
        with pytest.raises(hloom.InvalidProgramError, match=message):
            hloom.compile(text, target=device)

"""Kernels of each kind to machine code for three generations of GPUs: nothing spilled, nothing in local memory, wide accesses."""

import importlib
import re

import pytest
from cuda_kernels import (
    ATOMICS,
    BINARY,
    DYNAMIC,
    MASKED,
    MATMUL,
    REVERSED,
    SHUFFLED,
    UNARY,
    atomic,
    elementwise,
    math_function,
    module_of,
    shuffle,
)

import hloom
from hloom.compiler.cuda.assemble import Resources, assemble, assembler, parse_report, without_bounds
from hloom.compiler.cuda.errors import ToolchainError
from hloom.compiler.cuda.ptx import emit_ptx, lower_to_nvvm
from hloom.compiler.cuda.statistics import split_entries
from hloom.compiler.target import resolve
from hloom.passes.errors import CompileError

pytest.importorskip("cuda.core")
module = importlib.import_module("hloom.compiler.cuda.assemble")
GENERATIONS = ("sm_80", "sm_90a", "sm_100a")


@pytest.fixture(autouse=True, scope="module")
def _cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HLOOM_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def kernels_of(kernels, target):
    """PTX of each kernel, and what it uses; none may spill or have a stack."""
    ptx = emit_ptx(kernels.operation, resolve(target))
    cubin = assemble(ptx, resolve(target))
    assert cubin.bytes.startswith(b"\x7fELF")
    assert ".extern .func" not in ptx and "llvm." not in ptx
    bodies = split_entries(ptx)
    assert cubin.statistics.keys() == bodies.keys()
    for name, resources in cubin.statistics.items():
        assert resources.registers > 0 and resources.spills == 0 and resources.stack == 0, (name, resources)
    return bodies, cubin.statistics


@pytest.mark.parametrize("target", ["sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"])
def test_elementwise_moves_128_bits(target):
    bodies, _ = kernels_of(module_of(*map(elementwise, ("f32", "f16", "bf16", "f64"))), target)
    for name, body in bodies.items():
        for access in (r"ld\.global\.nc", r"st\.global"):
            assert re.findall(rf"{access}\.(v\d\.b\d+)", body) in (["v4.b32"], ["v2.b64"]), name


@pytest.mark.parametrize("target", GENERATIONS)
def test_integers_of_64_bits_are_loaded_whole(target):
    op = "%c = arith.constant 7 : i64\n %z = vector.broadcast %c : i64 to vector<2xi64>\n %r = arith.muli %x, %z : vector<2xi64>"
    bodies, _ = kernels_of(module_of(elementwise("i64", op=op), shuffle("i64", "i64")), target)
    assert "ld.global.nc.v2.b64" in bodies["elementwise_i64"]
    assert "ld.global.b64" in bodies["shuffle_i64"]


@pytest.mark.parametrize("target", GENERATIONS)
def test_shuffles_of_every_type(target):
    bodies, _ = kernels_of(module_of(*(shuffle(*types) for types in SHUFFLED)), target)
    words = {"vector_2xf16_": 1, "vector_4xf32_": 4, "vector_8xbf16_": 4, "vector_2xf64_": 4, "vector_2xi8_": 2, "f64": 2, "i64": 2}
    for name, body in bodies.items():
        assert body.count("shfl.sync.bfly.b32") == words.get(name.removeprefix("shuffle_"), 1), name


@pytest.mark.parametrize("target", GENERATIONS)
def test_shared_memory_barriers_and_masks(target):
    bodies, used = kernels_of(module_of(REVERSED, DYNAMIC, MASKED), target)
    assert used["reversed"].shared == 512 and used["reversed"].barriers == 1
    assert used["dynamic"].shared == 0
    assert "bar" in bodies["dynamic"]
    assert "@%p" in bodies["masked"]


@pytest.mark.parametrize("target", GENERATIONS)
def test_tensor_cores_and_asynchronous_copies(target):
    bodies, _ = kernels_of(module_of(MATMUL), target)
    body = bodies["matmul"]
    for wanted in (
        "cp.async.cg.shared.global",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    ):
        assert wanted in body


@pytest.mark.parametrize("target", GENERATIONS)
def test_atomics(target):
    bodies, _ = kernels_of(module_of(*(atomic(*kind) for kind in ATOMICS)), target)
    for name, body in bodies.items():
        assert "atom" in body or "red." in body, name
    assert "cas" in bodies["mulf_f32"]


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("element", ["f32", "f16", "bf16", "f64"])
def test_every_math_function(target, element):
    bodies, _ = kernels_of(module_of(*(math_function(op, element) for op in (*UNARY, *BINARY))), target)
    assert len(bodies) == len(UNARY) + len(BINARY)


def test_no_float_is_contracted_or_flushed_unasked():
    op = "%p = arith.mulf %x, %x : vector<4xf32>\n %r = arith.addf %p, %x : vector<4xf32>"
    bodies, _ = kernels_of(module_of(elementwise("f32", op=op)), "sm_90a")
    assert "mul.rn.f32" in bodies["elementwise_f32"] and "fma" not in bodies["elementwise_f32"] and "ftz" not in bodies["elementwise_f32"]


def test_a_module_at_nvvm_is_taken_as_it_is_and_none_is_changed():
    kernels = module_of(elementwise("f32"), MATMUL).operation
    before = str(kernels)
    lowered = lower_to_nvvm(kernels, resolve("sm_90a"))
    assert emit_ptx(lowered.operation, resolve("sm_90a")) == emit_ptx(kernels, resolve("sm_90a"))
    assert str(kernels) == before


def test_refused_ptx_says_why():
    with pytest.raises(ToolchainError, match="refused the PTX") as caught:
        assemble(".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { nosuch.f32 %r1; }", resolve("sm_90a"))
    assert "nosuch" in str(caught.value)


def test_without_an_assembler_the_error_says_what_to_install(monkeypatch):
    module.assembler.cache_clear()
    monkeypatch.setattr(module, "_nvjitlink", lambda: None)
    monkeypatch.setattr(module, "_ptxas", lambda: None)
    with pytest.raises(ToolchainError, match="cuda-compile"):
        assembler()


def test_ptxas_alone_will_do(monkeypatch):
    alone = module._ptxas()
    if alone is None:
        pytest.skip("no ptxas")
    ptx = emit_ptx(module_of(REVERSED).operation, resolve("sm_90a"))
    monkeypatch.setattr(module, "assembler", lambda: alone)
    used = assemble(ptx, resolve("sm_90a")).statistics["reversed"]
    assert used.registers > 0 and (used.spills, used.stack, used.shared, used.barriers) == (0, 0, 512, 1)
    with pytest.raises(ToolchainError, match="ptxas refused the PTX.*nosuch"):
        assemble(ptx.replace("bar.sync", "nosuch.sync"), resolve("sm_90a"))


def test_reports_are_read():
    report = """ptxas info    : Compiling entry function 'a' for 'sm_90a'
ptxas info    : Function properties for a
    40 bytes stack frame, 36 bytes spill stores, 40 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 4096 bytes smem, 400 bytes cmem[0]
ptxas info    : Compiling entry function 'b' for 'sm_90a'
ptxas info    : Function properties for b
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 17 registers, used 0 barriers
ptxas info    : Compiling entry function 'c' for 'sm_90a'
ptxas info    : (C7512) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources \
for the function 'c'
ptxas info    : Used 168 registers, used 1 barriers"""
    expected = {"a": Resources(255, 76, 40, 4096, 1), "b": Resources(17), "c": Resources(168, barriers=1, waits=True)}
    assert parse_report(report) == expected


def test_a_module_without_kernels_is_refused():
    from hloom.compiler.parsing import parse_module
    from hloom.dialects.context import make_context

    with pytest.raises(CompileError, match="one gpu.module"):
        emit_ptx(parse_module("module {}", make_context()).operation, resolve("sm_90a"))


GRADIENT_OF_A_NORM = """
  func.func @main(%x: tensor<25088x384xbf16>, %dy: tensor<25088x384xbf16>, %g: tensor<384xf32>, %m: tensor<25088xf32>,
                  %r: tensor<25088xf32>)
      -> tensor<25088x384xbf16> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %width = stablehlo.constant dense<384.0> : tensor<25088xf32>
    %xf = stablehlo.convert %x : (tensor<25088x384xbf16>) -> tensor<25088x384xf32>
    %df = stablehlo.convert %dy : (tensor<25088x384xbf16>) -> tensor<25088x384xf32>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<25088xf32>) -> tensor<25088x384xf32>
    %rb = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<25088xf32>) -> tensor<25088x384xf32>
    %gb = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<384xf32>) -> tensor<25088x384xf32>
    %c = stablehlo.subtract %xf, %mb : tensor<25088x384xf32>
    %h = stablehlo.multiply %c, %rb : tensor<25088x384xf32>
    %d = stablehlo.multiply %df, %gb : tensor<25088x384xf32>
    %dh = stablehlo.multiply %d, %h : tensor<25088x384xf32>
    %s = stablehlo.reduce(%d init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<25088x384xf32>, tensor<f32>) -> tensor<25088xf32>
    %t = stablehlo.reduce(%dh init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<25088x384xf32>, tensor<f32>) -> tensor<25088xf32>
    %a = stablehlo.divide %s, %width : tensor<25088xf32>
    %b = stablehlo.divide %t, %width : tensor<25088xf32>
    %ab = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<25088xf32>) -> tensor<25088x384xf32>
    %bb = stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<25088xf32>) -> tensor<25088x384xf32>
    %hb = stablehlo.multiply %h, %bb : tensor<25088x384xf32>
    %0 = stablehlo.subtract %d, %ab : tensor<25088x384xf32>
    %1 = stablehlo.subtract %0, %hb : tensor<25088x384xf32>
    %2 = stablehlo.multiply %1, %rb : tensor<25088x384xf32>
    %3 = stablehlo.convert %2 : (tensor<25088x384xf32>) -> tensor<25088x384xbf16>
    return %3 : tensor<25088x384xbf16>
  }"""


def test_a_kernel_that_would_spill_is_not_bounded():
    (kernel,) = hloom.compile(GRADIENT_OF_A_NORM, target="sm_90a").report.data["kernels"]
    assert kernel["spills"] == 0 and kernel["registers"] > 64


def test_only_the_named_kernels_lose_their_bounds():
    entry = ".visible .entry {}(\n\t.param .u64 x\n)\n.reqntid 128\n.minnctapersm 8\n{{\n\tret;\n}}\n"
    ptx = ".version 8.6\n" + entry.format("f") + entry.format("f_part_k")
    assert without_bounds(ptx, []) == ptx
    freed = without_bounds(ptx, ["f"])
    assert freed.count(".minnctapersm 8\n") == 1 and ".minnctapersm" not in freed.partition("f_part_k")[0]

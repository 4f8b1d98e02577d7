"""Library thunks on CUDA: what cuBLASLt, cuDNN and cuFFT are asked for, against stand-ins that compute."""

from __future__ import annotations

import importlib
import re

import ml_dtypes
import numpy as np
import pytest
from cuda_programs import artifact, loaded, tensor
from fake_cudnn import Cudnn, convolution
from fake_driver import FakeDriver, FakeGpuArray
from fake_libraries import CublasLt, Cufft, fake_libraries

from hloom.runtime.errors import CudaError, DamagedFileError, MissingLibraryError

DTYPES = {
    "f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8, "i32": np.int32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
}  # fmt: skip


def library_program(thunk: dict, inputs: list[tuple], result: tuple):
    """A program that is one thunk: it reads all inputs and writes the result. Tensors are (dtype, shape)."""
    sizes = [np.dtype(DTYPES[dtype]).itemsize * int(np.prod(shape)) for dtype, shape in [*inputs, result]]
    slices = [[number, 0, size] for number, size in enumerate(sizes)]
    body = [{**thunk, "reads": slices[:-1], "writes": slices[-1:], "source": []}]
    arguments = [tensor(f"x{number}", *given) for number, given in enumerate(inputs)]
    buffers = [*(["argument", number] for number in range(len(inputs))), ["result", 0], ["arena", 0]]
    return artifact(body, arguments, [tensor("r", *result)], buffers)


def gemm(batch, m, n, k, ta, tb, element, result, epilogue, accumulate):
    shapes = [(batch, k, m) if ta else (batch, m, k), (batch, n, k) if tb else (batch, k, n), (batch, m, n)]
    thunk = {
        "op": "gemm", "transposed": [ta, tb], "sizes": [batch, m, n, k], "leading": [shape[2] for shape in shapes],
        "strides": [shape[1] * shape[2] for shape in shapes], "element": element, "result": result, "epilogue": epilogue,
        "accumulate": accumulate,
    }  # fmt: skip
    inputs = [(element, shapes[0]), (element, shapes[1])]
    inputs += [(result, (n,))] * epilogue.startswith("bias") + [(result, shapes[2])] * accumulate
    return library_program(thunk, inputs, (result, shapes[2])), inputs


@pytest.mark.parametrize(("ta", "tb"), [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize(
    ("batch", "element", "result", "epilogue", "accumulate"),
    [
        (1, "f32", "f32", "none", 0),
        (3, "f64", "f64", "none", 1),
        (1, "f16", "f16", "bias_relu", 0),
        (2, "bf16", "f32", "bias", 1),
        (1, "f32", "f32", "bias_gelu", 1),
        (1, "f16", "f32", "relu", 0),
    ],
)
def test_matrix_products_are_those_of_numpy(ta, tb, batch, element, result, epilogue, accumulate):
    program, inputs = gemm(batch, 3, 5, 4, ta, tb, element, result, epilogue, accumulate)
    library = CublasLt()
    exe, driver = loaded(program, libraries=fake_libraries(cublasLt=library))
    rng = np.random.default_rng(0)
    values = [rng.standard_normal(shape).astype(DTYPES[dtype]) for dtype, shape in inputs]
    wide = [value.astype(np.float64) for value in values]
    expected = (wide[0].swapaxes(1, 2) if ta else wide[0]) @ (wide[1].swapaxes(1, 2) if tb else wide[1])
    if accumulate:
        expected = expected + wide[-1]
    if "bias" in epilogue:
        expected = expected + wide[2]
    if "relu" in epilogue:
        expected = np.maximum(expected, 0)
    if "gelu" in epilogue:
        expected = expected * (1 + np.tanh(np.sqrt(2 / np.pi) * (expected + 0.044715 * expected**3))) / 2
    np.testing.assert_allclose(exe(*values).astype(np.float64), expected, rtol=2e-2 if "16" in element + result else 1e-5, atol=1e-2)
    exe(*values)
    assert len(library.heuristics) == 1 and library.heuristics[0]["MIN_ALIGNMENT_A_BYTES"] == 16
    assert len(library.streams) == 1 + (len(driver.calls("capture")) - 1)  # once a recording, not once a call


@pytest.mark.parametrize(("element", "result"), [("i8", "i32"), ("f8E4M3FN", "f32"), ("f8E4M3FN", "bf16")])
def test_products_of_bytes(element, result):
    program, inputs = gemm(2, 16, 32, 48, 0, 1, element, result, "none", 0)
    exe, _ = loaded(program, libraries=fake_libraries(cublasLt=CublasLt()))
    rng = np.random.default_rng(0)
    values = [(100 * rng.standard_normal(shape)).clip(-127, 127).astype(DTYPES[dtype]) for dtype, shape in inputs]
    wide = [value.astype(np.float64) for value in values]
    np.testing.assert_allclose(
        exe(*values).astype(np.float64), wide[0] @ wide[1].swapaxes(1, 2), rtol=1e-2 if result == "bf16" else 1e-5, atol=1
    )


def test_products_of_no_type_that_the_library_has():
    with pytest.raises(DamagedFileError, match="multiplies i8 to f32"):
        loaded(gemm(1, 16, 16, 16, 0, 1, "i8", "f32", "none", 0)[0], libraries=fake_libraries(cublasLt=CublasLt()))


def test_slices_between_lower_what_is_promised_of_alignment():
    program, _ = gemm(1, 2, 2, 2, 0, 0, "f32", "f32", "none", 0)
    program.manifest["arguments"][1]["shape"] = [1, 4, 2]
    program.manifest["programs"]["main"]["body"][0]["reads"][1] = [1, 8, 16]
    library = CublasLt()
    loaded(program, libraries=fake_libraries(cublasLt=library))
    found = [library.heuristics[0][f"MIN_ALIGNMENT_{name}_BYTES"] for name in "ABCD"]
    assert found == [8, 16, 16, 16]  # cuBLASLt's A is our B


def test_split_sums_are_added_in_the_type_of_the_arithmetic():
    program, _ = gemm(1, 2, 2, 2, 0, 0, "f16", "f16", "none", 0)
    library = CublasLt()
    loaded(program, libraries=fake_libraries(cublasLt=library))
    assert library.heuristics[0]["REDUCTION_SCHEME_MASK"] == library.ReductionScheme.COMPUTE_TYPE


@pytest.mark.parametrize("unusable", [{"algorithms": 0}, {"state": 15}])
def test_no_algorithm(unusable):
    program, _ = gemm(1, 2, 2, 2, 0, 0, "f32", "f32", "none", 0)
    library = CublasLt()
    vars(library).update(unusable)
    with pytest.raises(CudaError, match='no algorithm for the matrix product 1x2x2x2 f32.*\n.*"dot_general", "use": "generated"'):
        loaded(program, libraries=fake_libraries(cublasLt=library))


def test_the_names_are_those_of_the_library():
    real, ours = importlib.import_module("nvmath.bindings.cublasLt"), CublasLt()
    for name in ("MatmulDescAttribute", "MatrixLayoutAttribute", "MatmulPreferenceAttribute", "Epilogue", "ReductionScheme"):
        assert {member.name: int(getattr(real, name)[member.name]) for member in getattr(ours, name)} == {
            member.name: int(member) for member in getattr(ours, name)
        }
    attribute = real.MatmulPreferenceAttribute.REDUCTION_SCHEME_MASK
    assert real.get_matmul_preference_attribute_dtype(attribute) == ours.get_matmul_preference_attribute_dtype(attribute)
    assert {"ptr", "state"} <= set(dir(real.MatmulHeuristicResult(1)))


def test_a_library_that_fails_says_at_what():
    program, inputs = gemm(1, 2, 2, 2, 0, 0, "f32", "f32", "none", 0)
    library = CublasLt()
    library.matmul = lambda *_: 1 / 0  # type: ignore[method-assign]
    exe, driver = loaded(program, libraries=fake_libraries(cublasLt=library))
    with pytest.raises(CudaError, match="cuBLASLt failed running a matrix product: ZeroDivisionError"):
        exe(*(np.ones(shape, np.float32) for _, shape in inputs))
    assert driver.calls("abandon")


def test_what_the_libraries_made_goes_with_the_program():
    library, cudnn = CublasLt(), Cudnn()
    exes = [
        loaded(gemm(1, 2, 2, 2, 0, 0, "f32", "f32", "bias", 0)[0], libraries=fake_libraries(cublasLt=library))[0],
        loaded(conv(2)[0], libraries=fake_libraries(cudnn=cudnn))[0],
    ]
    assert any(library.objects) and cudnn.handles
    del exes
    assert not any(library.objects) and not cudnn.handles


def test_a_library_that_is_missing_says_what_to_install():
    program, _ = gemm(1, 2, 2, 2, 0, 0, "f32", "f32", "none", 0)
    with pytest.raises(MissingLibraryError, match="cuBLASLt.*\n.*pip install nvmath-python nvidia-cublas"):
        loaded(program, libraries=fake_libraries())


def test_products_without_elements_call_nothing():
    program, _ = gemm(1, 0, 5, 4, 0, 0, "f32", "f32", "none", 0)
    exe, _ = loaded(program, libraries=fake_libraries())
    assert exe(np.zeros((1, 0, 4), np.float32), np.zeros((1, 4, 5), np.float32)).shape == (1, 0, 5)


def test_types_that_the_library_has_not():
    program, _ = gemm(1, 2, 2, 2, 0, 0, "f32", "f32", "none", 0)
    program.manifest["programs"]["main"]["body"][0]["element"] = "i16"
    with pytest.raises(DamagedFileError, match="element should be .* is 'i16'"):
        loaded(program)


# Convolutions.


def conv(spatial, bias=1, residual=1, relu=1, channels_last=True, element="f16", makes="output"):
    n, c, k = 2, 8, 16
    window, size = [3] * spatial, [7, 6, 5][:spatial]
    made = [extent - 1 for extent in size]

    def strides(sizes):
        order = [0, *range(2, 2 + spatial), 1] if channels_last else range(2 + spatial)
        found, step = [0] * (2 + spatial), 1
        for axis in reversed(list(order)):
            found[axis], step = step, step * sizes[axis]
        return found

    x, w, y = [n, c, *size], [k, c, *window], [n, k, *made]
    thunk = {
        "op": "conv", "element": element, "input": x, "filter": w, "output": y, "input_strides": strides(x), "filter_strides": strides(w),
        "output_strides": strides(y), "window_strides": [1] * spatial, "padding_low": [1] * spatial, "padding_high": [0] * spatial,
        "dilations": [1] * spatial, "groups": 1, "bias": bias, "residual": residual, "relu": relu, "makes": makes,
    }  # fmt: skip
    read = {"output": (x, w), "filter": (x, y), "input": (y, w)}[makes]
    inputs = [*((element, each) for each in read), *[(element, [k])] * bias, *[(element, y)] * residual]
    return library_program(thunk, inputs, (element, thunk[makes])), inputs


def seen(value, thunk, name):
    """As cuDNN's strides have it: n, c, spatial."""
    flat, sizes, strides = value.reshape(-1), thunk[name], thunk[name + "_strides"]
    return np.lib.stride_tricks.as_strided(flat, sizes, [stride * flat.itemsize for stride in strides])


def convolved(program, inputs):
    """The convolution's result and what it should be; the stand-in's graphs."""
    library = Cudnn()
    exe, _ = loaded(program, libraries=fake_libraries(cudnn=library))
    (thunk,) = program.manifest["programs"]["main"]["body"]
    rng = np.random.default_rng(0)
    values = [rng.standard_normal(shape).astype(DTYPES[dtype]) for dtype, shape in inputs]

    found = seen(exe(*values), thunk, "output")
    x, w, *rest = values
    wide = [seen(value, thunk, name).astype(np.float64) for value, name in ((x, "input"), (w, "filter"))]
    expected = convolution(*wide, *(thunk[name] for name in ("padding_low", "padding_high", "window_strides", "dilations")))
    if thunk["bias"]:
        expected = expected + rest.pop(0).astype(np.float64).reshape(-1, *[1] * (expected.ndim - 2))
    if thunk["residual"]:
        expected = expected + seen(rest[0], thunk, "output")
    return found, np.maximum(expected, 0) if thunk["relu"] else expected, library.graphs


@pytest.mark.parametrize("spatial", [1, 2, 3])
@pytest.mark.parametrize(("bias", "residual", "relu"), [(0, 0, 0), (1, 0, 1), (1, 1, 1), (0, 1, 0)])
def test_convolutions_are_one_graph(spatial, bias, residual, relu):
    found, expected, (graph,) = convolved(*conv(spatial, bias, residual, relu))
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=2e-2, atol=5e-2)
    assert [len(given.dim) for given in graph.executed] == [max(2, spatial) + 2] * (3 + bias + residual)  # two spatial dimensions at least
    assert [given.stride[1] for given in graph.executed if given.dim[1] > 1] == [1] * (3 + bias + residual)


@pytest.mark.parametrize("relu", [0, 1])
def test_convolutions_in_f32_are_not_computed_as_tf32(relu):
    found, expected, (graph,) = convolved(*conv(2, 1, 1, relu, element="f32"))
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=1e-5, atol=1e-5)
    assert graph.done.index("deselect_numeric_notes") < graph.done.index("check_support")


def test_half_precision_keeps_the_tensor_cores_and_sums_in_f32():
    _, _, (graph,) = convolved(*conv(2))
    assert graph.deselected == {"REDUCED_PRECISION_REDUCTION"}


@pytest.mark.parametrize(("spatial", "element", "channels_last"), [(2, "f16", False), (2, "f32", False), (3, "f32", True)])
@pytest.mark.parametrize(("residual", "relu"), [(0, 1), (1, 0), (1, 1)])
def test_where_there_is_no_plan_without_a_bias_zeros_are_one(spatial, element, channels_last, residual, relu):
    found, expected, graphs = convolved(*conv(spatial, 0, residual, relu, channels_last, element))
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=2e-2, atol=5e-2)
    assert len(graphs) == 2 and graphs[1].bias_ is not None


@pytest.mark.parametrize("bias", [0, 1])
def test_without_a_plan_a_warning_says_that_a_plain_kernel_computes_it(bias):
    library = Cudnn()
    library.has_no_plans = True
    reason = "no plan for the f16 convolution 2x8x7x6 * 16x8x3x3: No valid engine configs for the graph; a slow kernel computes it"
    with pytest.warns(RuntimeWarning, match=re.escape(reason) + ".*" + re.escape('{"op": "convolution", "use": "generated"}')):
        _, driver = loaded(conv(2, bias)[0], FakeDriver({"hloom_convolution": lambda *given: None}), fake_libraries(cudnn=library))
    assert ("load", "ptx") in driver.calls("load")


@pytest.mark.parametrize("element", ["f16", "f32"])
@pytest.mark.parametrize(("spatial", "makes"), [(1, "filter"), (2, "filter"), (1, "input"), (2, "input")])
def test_gradients(spatial, makes, element):
    """By the definition: what y gains from a change of x or w is, times the gradient by y, what the gradient says."""
    library = Cudnn()
    program, inputs = conv(spatial, 0, 0, 0, element=element, makes=makes)
    (thunk,) = program.manifest["programs"]["main"]["body"]
    rng = np.random.default_rng(0)
    values = [rng.standard_normal(shape).astype(DTYPES[dtype]) for dtype, shape in inputs]
    exe, _ = loaded(program, libraries=fake_libraries(cudnn=library))
    gradient = seen(exe(*values), thunk, makes).astype(np.float64)
    read = dict(zip(("input", "output") if makes == "filter" else ("output", "filter"), values))
    wide = {name: seen(value, thunk, name).astype(np.float64) for name, value in read.items()}
    change = rng.standard_normal(gradient.shape)
    x, w = (change if name == makes else wide[name] for name in ("input", "filter"))
    gained = convolution(x, w, *(thunk[name] for name in ("padding_low", "padding_high", "window_strides", "dilations")))
    rounded = np.abs(gradient * change).sum() * (1e-3 if element == "f16" else 1e-6)
    np.testing.assert_allclose((gradient * change).sum(), (gained * wide["output"]).sum(), rtol=0, atol=rounded)
    (graph,) = library.graphs
    assert "NONDETERMINISTIC" in graph.deselected and ("TENSOR_CORE" in graph.deselected) == (element == "f32")


@pytest.mark.parametrize("makes", ["filter", "input"])
def test_without_a_plan_a_gradient_has_a_plain_kernel_too(makes):
    library = Cudnn()
    library.has_no_plans = True
    with pytest.warns(RuntimeWarning, match=f"no plan for the gradient by the {makes} of the f16 convolution 2x8x7x6"):
        loaded(conv(2, 0, 0, 0, makes=makes)[0], FakeDriver({"hloom_convolution": lambda *given: None}), fake_libraries(cudnn=library))


def test_gradients_have_no_epilogue():
    with pytest.raises(DamagedFileError, match="adds to the gradient by its filter"):
        loaded(conv(2, 0, 0, 1, makes="filter")[0], libraries=fake_libraries(cudnn=Cudnn()))


def test_cudnn_missing():
    program, _ = conv(2)
    with pytest.raises(MissingLibraryError, match="nvidia-cudnn-cu13"):
        loaded(program, libraries=fake_libraries())


# Transforms and solvers.


def test_fourier_transforms():
    rng = np.random.default_rng(0)
    signal = rng.standard_normal((3, 4, 6, 2)).astype(np.float32)
    thunk = {"op": "fft", "transform": "ifft", "lengths": [4, 6], "batch": 3, "element": "f32"}
    exe, _ = loaded(library_program(thunk, [("f32", signal.shape)], ("f32", signal.shape)), libraries=fake_libraries(cufft=Cufft()))
    expected = np.fft.ifft2(signal.view(np.complex64)[..., 0]) * 24
    np.testing.assert_allclose(exe(signal).view(np.complex64)[..., 0], expected, rtol=1e-4, atol=1e-4)
    real = rng.standard_normal((2, 7))
    thunk = {"op": "fft", "transform": "rfft", "lengths": [7], "batch": 2, "element": "f64"}
    exe, _ = loaded(library_program(thunk, [("f64", real.shape)], ("f64", (2, 4, 2))), libraries=fake_libraries(cufft=Cufft()))
    np.testing.assert_allclose(exe(real).view(np.complex128)[..., 0], np.fft.rfft(real))


def test_transforms_to_real_numbers_leave_what_they_read():
    spectrum = np.fft.rfft2(np.random.default_rng(0).standard_normal((3, 4, 6))).view(np.float64).reshape(3, 4, 4, 2)
    thunk = {"op": "fft", "transform": "irfft", "lengths": [4, 6], "batch": 3, "element": "f64"}
    made = library_program(thunk, [("f64", spectrum.shape)], ("f64", (3, 4, 6)))
    exe, _ = loaded(made, libraries=fake_libraries(cufft=Cufft()))
    given = FakeGpuArray(spectrum)
    np.testing.assert_allclose(exe(given).numpy(), np.fft.irfft2(spectrum.view(np.complex128)[..., 0], s=(4, 6)))
    np.testing.assert_array_equal(given.host, spectrum)

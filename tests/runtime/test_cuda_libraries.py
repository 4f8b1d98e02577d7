"""Library thunks on CUDA: what cuBLASLt, cuDNN, cuFFT, cuSOLVER and cuBLAS are asked for, against stand-ins that compute."""

from __future__ import annotations

from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest
from cuda_programs import artifact, loaded, tensor
from fake_libraries import Cublas, CublasLt, Cufft, Cusolver, fake_libraries

from hloom.runtime.errors import CudaError, DamagedFileError, MissingLibraryError

DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


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


def test_slices_between_lower_what_is_promised_of_alignment():
    program, _ = gemm(1, 2, 2, 2, 0, 0, "f32", "f32", "none", 0)
    program.manifest["programs"]["main"]["body"][0]["reads"][1] = [1, 8, 8]
    library = CublasLt()
    loaded(program, libraries=fake_libraries(cublasLt=library))
    found = [library.heuristics[0][f"MIN_ALIGNMENT_{name}_BYTES"] for name in "ABCD"]
    assert found == [8, 16, 16, 16]  # cuBLASLt's A is our B


def test_no_algorithm():
    program, _ = gemm(1, 2, 2, 2, 0, 0, "f32", "f32", "none", 0)
    library = CublasLt()
    library.algorithms = 0
    with pytest.raises(CudaError, match="no algorithm for the matrix product 1x2x2x2 f32"):
        loaded(program, libraries=fake_libraries(cublasLt=library))


def test_a_library_that_fails_says_at_what():
    program, inputs = gemm(1, 2, 2, 2, 0, 0, "f32", "f32", "none", 0)
    library = CublasLt()
    library.matmul = lambda *_: 1 / 0  # type: ignore[method-assign]
    exe, driver = loaded(program, libraries=fake_libraries(cublasLt=library))
    with pytest.raises(CudaError, match="cuBLASLt failed running a matrix product: ZeroDivisionError"):
        exe(*(np.ones(shape, np.float32) for _, shape in inputs))
    assert driver.calls("abandon")


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
    program.manifest["programs"]["main"]["body"][0]["element"] = "i8"
    with pytest.raises(DamagedFileError, match="i8 to f32"):
        loaded(program)


# Convolutions: built with cuDNN's front end where it is installed; that the library takes the graph is for tests/gpu.


def conv(spatial, bias=1, residual=1, relu=1, channels_last=True):
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
        "op": "conv", "element": "f16", "input": x, "filter": w, "output": y, "input_strides": strides(x), "filter_strides": strides(w),
        "output_strides": strides(y), "window_strides": [1] * spatial, "padding_low": [1] * spatial, "padding_high": [0] * spatial,
        "dilations": [1] * spatial, "groups": 1, "bias": bias, "residual": residual, "relu": relu,
    }  # fmt: skip
    inputs = [("f16", x), ("f16", w), *[("f16", [k])] * bias, *[("f16", y)] * residual]
    return library_program(thunk, inputs, ("f16", y)), inputs


class Unplanned:
    """The graph of cuDNN's front end, but for what needs the library or a GPU."""

    made: list = []

    def __init__(self, graph):
        self.graph = graph
        self.executed: list = []
        Unplanned.made.append(self)

    def __getattr__(self, name):
        return getattr(self.graph, name)

    def validate(self):
        """Needs the library."""

    build_operation_graph = validate

    def create_execution_plans(self, modes):
        self.modes = modes

    check_support = build_plans = validate

    def get_workspace_size(self):
        return 12345

    def execute(self, tensors, workspace, handle):
        self.executed.append((tensors, workspace, handle))


@pytest.mark.parametrize("spatial", [1, 2, 3])
@pytest.mark.parametrize(("bias", "residual", "relu"), [(0, 0, 0), (1, 0, 1), (1, 1, 1), (0, 1, 0)])
def test_convolutions_are_one_graph(spatial, bias, residual, relu):
    cudnn = pytest.importorskip("cudnn")
    streams = []
    module = SimpleNamespace(
        create_handle=lambda: 9,
        set_stream=lambda handle, stream: streams.append((handle, stream)),
        pygraph=lambda **given: Unplanned(cudnn.pygraph(**given)),
        data_type=cudnn.data_type,
        heur_mode=cudnn.heur_mode,
    )
    program, inputs = conv(spatial, bias, residual, relu)
    exe, driver = loaded(program, libraries=fake_libraries(cudnn=module))
    exe(*(np.zeros(shape, np.float16) for _, shape in inputs))
    graph = Unplanned.made[-1]
    ((tensors, workspace, handle),) = graph.executed
    sizes = [max(2, spatial) + 2] * (3 + bias + residual)
    assert [len(given.get_dim()) for given in tensors] == sizes and handle == 9 and len(streams) == 1
    *_, y = tensors
    channel = 1
    assert y.get_stride()[channel] == 1 and y.get_dim()[:2] == [2, 16]
    assert len(set(tensors.values())) == 3 + bias + residual and workspace % 256 == 0


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


@pytest.mark.parametrize("lower", [0, 1])
def test_cholesky_factors(lower):
    rng = np.random.default_rng(0)
    square = rng.standard_normal((2, 4, 4))
    matrices = square @ square.swapaxes(1, 2) + 4 * np.eye(4)
    thunk = {"op": "cholesky", "sizes": [2, 4], "lower": lower, "element": "f64"}
    program = library_program(thunk, [("f64", matrices.shape)], ("f64", matrices.shape))
    found = loaded(program, libraries=fake_libraries(cusolverDn=Cusolver()))[0](matrices)
    factors = np.linalg.cholesky(matrices)
    half = np.tril if lower else np.triu
    np.testing.assert_allclose(half(found), factors if lower else factors.swapaxes(1, 2))


@pytest.mark.parametrize("left", [0, 1])
@pytest.mark.parametrize("lower", [0, 1])
@pytest.mark.parametrize("transposed", [0, 1])
@pytest.mark.parametrize("unit", [0, 1])
def test_triangular_solves(left, lower, transposed, unit):
    rng = np.random.default_rng(0)
    m, n = 3, 5
    order = m if left else n
    a, b = rng.standard_normal((2, order, order)) + 3 * np.eye(order), rng.standard_normal((2, m, n))
    thunk = {"op": "triangular_solve", "sizes": [2, m, n], "left": left, "lower": lower, "transposed": transposed, "element": "f64"}
    program = library_program({**thunk, "unit_diagonal": unit}, [("f64", a.shape), ("f64", b.shape)], ("f64", b.shape))
    x = loaded(program, libraries=fake_libraries(cublas=Cublas()))[0](a, b)
    triangle = np.tril(a) if lower else np.triu(a)
    if unit:
        triangle = triangle - triangle * np.eye(order) + np.eye(order)
    triangle = triangle.swapaxes(1, 2) if transposed else triangle
    np.testing.assert_allclose(triangle @ x if left else x @ triangle, b)

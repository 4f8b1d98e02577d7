"""Calling a program: values in and out, without copies, and clear errors for what does not fit."""

from __future__ import annotations

import gc
import threading

import ml_dtypes
import numpy as np
import pytest
from runtime_programs import ADD, F4, add_artifact, addresses_program, artifact, bound_artifact, copy_program, function, named

from hloom.runtime import dtypes, tensors
from hloom.runtime.errors import ArityError, CpuFeatureError, DtypeError, InputError, LoadError, NotBoundError, ShapeError
from hloom.runtime.executable import Executable, load
from hloom.runtime.tensors import TORCH_NAMES

ONES = np.ones(4, np.float32)


def test_numpy_in_numpy_out():
    exe = Executable(add_artifact())
    result = exe(ONES, np.arange(4, dtype=np.float32))
    assert type(result) is np.ndarray
    assert result.tolist() == [1, 2, 3, 4]
    assert str(exe.signature) == "(a: 4xf32, b: 4xf32) -> (r: 4xf32)"


@pytest.mark.parametrize("name", dtypes.NAMES)
def test_every_type_goes_through(name):
    dtype = dtypes.numpy_dtype(name)
    value = np.arange(6).reshape(2, 3).astype(dtype)
    result = copy_program(name, (2, 3), value.nbytes)(value)
    assert result.dtype == dtype and result.tobytes() == value.tobytes()


@pytest.mark.parametrize("torch_name", TORCH_NAMES)
def test_torch_in_torch_out(torch_name):
    torch = pytest.importorskip("torch")
    name, dtype = TORCH_NAMES[torch_name], getattr(torch, torch_name)
    value = torch.arange(6).reshape(2, 3).to(dtype)
    result = copy_program(name, (2, 3), value.nbytes)(value)
    assert isinstance(result, torch.Tensor) and result.dtype == dtype
    assert torch.equal(result.view(torch.uint8), value.view(torch.uint8))


@pytest.mark.parametrize("name", ["f32", "bf16", "f16", "i1", "i32", "ui8", "i4", "ui2", "f8E4M3FN"])
def test_jax_in_jax_out(name):
    jax = pytest.importorskip("jax")
    value = jax.numpy.asarray(np.arange(128 * 4).reshape(128, 4).astype(dtypes.numpy_dtype(name)))
    result = copy_program(name, (128, 4), value.nbytes)(value)
    assert isinstance(result, jax.Array) and result.dtype == value.dtype
    assert np.asarray(result).tobytes() == np.asarray(value).tobytes()


@pytest.mark.in_place
def test_inputs_are_not_copied():
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    values = [np.ones((64, 64), np.float32), torch.ones(64, 64, dtype=torch.bfloat16), jax.numpy.ones((64, 64), "bfloat16")]
    values += [np.ones((64, 64), ml_dtypes.bfloat16)]
    exe = addresses_program([("a", "f32", (64, 64)), *[(name, "bf16", (64, 64)) for name in "bcd"]])
    seen = exe(*values).tolist()
    assert seen == [values[0].ctypes.data, values[1].data_ptr(), values[2].unsafe_buffer_pointer(), values[3].ctypes.data]


@pytest.mark.in_place
def test_results_are_aligned_and_not_copied():
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    # The result tells the address that the program wrote it to.
    body = "%a = ptrtoint ptr %p1 to i64\nstore i64 %a, ptr %p1, align 4"
    text = function("hloom_main", 2, body)
    exe = Executable(artifact(text, [("x", "f32", ())], [("r", "ui32", (2,))], [["argument", 0], ["result", 0]]))
    for value, address_of in [
        (np.float32(0), lambda r: r.ctypes.data),
        (torch.zeros(()), lambda r: r.data_ptr()),
        (jax.numpy.zeros(()), lambda r: r.unsafe_buffer_pointer()),
    ]:
        result = exe(value)
        low, high = (int(part) for part in result)
        assert low + (high << 32) == address_of(result)
        assert address_of(result) % 64 == 0


def test_strided_inputs_are_made_dense():
    torch = pytest.importorskip("torch")
    value = np.arange(6, dtype=np.float32).reshape(3, 2)
    exe = copy_program("f32", (2, 3), 24)
    assert np.array_equal(exe(value.T), value.T)
    assert torch.equal(exe(torch.from_numpy(value).T), torch.from_numpy(value.T.copy()))


def test_python_numbers_and_other_arrays():
    exe = copy_program("i32", (), 4)
    assert exe(7) == 7 and exe(np.int32(8)) == 8
    with pytest.raises(DtypeError, match="Python float"):
        exe(7.0)
    with pytest.raises(DtypeError, match="does not fit"):
        exe(2**40)

    class Exporter:
        def __init__(self, array):
            self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__

    assert np.array_equal(Executable(add_artifact())(Exporter(ONES), ONES), ONES * 2)


@pytest.mark.parametrize(
    ("inputs", "error", "text"),
    [
        ((ONES,), ArityError, "takes 2 inputs, got 1"),
        ((ONES, ONES, ONES), ArityError, "takes 2 inputs, got 3"),
        ((ONES, np.ones(5, np.float32)), ShapeError, r"b should have shape \(4,\), got \(5,\)"),
        ((ONES, np.ones((4, 1), np.float32)), ShapeError, r"got \(4, 1\)"),
        ((ONES, np.ones(4)), DtypeError, "b should have element type f32, got f64"),
        ((ONES, np.ones(4, ">f4")), DtypeError, "element type f32"),
        ((ONES, "text"), InputError, "b should be an array, got str"),
        ((ONES, None), InputError, "got NoneType"),
        ((ONES, [1.0] * 4), InputError, "got list"),
        ((ONES, np.array([None] * 4)), DtypeError, "got object"),
        ((ONES, 1.0), ShapeError, r"got \(\)"),
    ],
)
def test_values_that_do_not_fit(inputs, error, text):
    exe = Executable(add_artifact())
    with pytest.raises(error, match=text):
        exe(*inputs)
    assert exe(ONES, ONES).tolist() == [2, 2, 2, 2]


def test_torch_tensors_that_have_no_memory_here():
    torch = pytest.importorskip("torch")
    exe = Executable(add_artifact())
    with pytest.raises(InputError, match="lies on meta"):
        exe(torch.ones(4, device="meta"), ONES)
    with pytest.raises(InputError, match="no dense memory"):
        exe(torch.ones(4).to_sparse(), ONES)
    assert exe(torch.nn.Parameter(torch.ones(4)), ONES).tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize("wide", [False, True])
def test_results_in_jax_are_what_device_put_gives(wide):
    jax = pytest.importorskip("jax")
    device = jax.local_devices(backend="cpu")[0]
    with jax.enable_x64(wide):
        for name in ("f32", "f64", "bf16", "i1", "i8", "i64", "ui64", "i4", "f8E4M3FN", "complex<f32>", "complex<f64>"):
            for shape in ((), (3,), (0, 2), (2, 5)):
                array = np.ones(shape, dtypes.numpy_dtype(name))
                found, wanted = tensors.TO_KIND["jax"](array), jax.device_put(array, device)
                assert (found.aval, found.sharding, found.committed) == (wanted.aval, wanted.sharding, wanted.committed)
                assert np.array_equal(np.asarray(found), np.asarray(wanted))


def test_results_in_jax_without_its_short_road(monkeypatch):
    jax = pytest.importorskip("jax")
    short = tensors._short_jax_put.__wrapped__
    assert short() is not None
    with monkeypatch.context() as patch:
        patch.delattr("jax._src.lib.xla_client.batched_device_put")
        assert short() is None
    monkeypatch.setattr(tensors, "_short_jax_put", lambda: None)
    result = tensors.TO_KIND["jax"](np.ones(3, np.float32))
    assert isinstance(result, jax.Array) and result.shape == (3,)


def test_jax_tracers_are_refused():
    jax = pytest.importorskip("jax")
    with pytest.raises(InputError, match="cannot be read"):
        jax.jit(Executable(add_artifact()))(ONES, ONES)


def test_pytrees_keep_their_structure():
    argument = {"dict": [["a", "*"], ["b", {"list": ["*", None]}]]}
    exe = Executable(add_artifact(in_tree={"tuple": [argument]}, out_tree={"dict": [["sum", "*"]]}))
    result = exe({"b": [ONES, None], "a": ONES})
    assert list(result) == ["sum"] and result["sum"].tolist() == [2, 2, 2, 2]
    with pytest.raises(ArityError, match=r"inputs\[0\]\['b'\] should be a list of 2, got 1"):
        exe({"a": ONES, "b": [ONES]})
    with pytest.raises(ArityError, match="keys"):
        exe({"a": ONES})
    with pytest.raises(ArityError, match="should be None"):
        exe({"a": ONES, "b": [ONES, ONES]})
    with pytest.raises(ArityError, match="all arguments by position, got a, b by name"):
        exe(a=ONES, b=ONES)


@pytest.mark.in_place
def test_run_writes_into_given_outputs():
    torch = pytest.importorskip("torch")
    exe = Executable(add_artifact())
    out = np.zeros(4, np.float32)
    exe.run((ONES, ONES), out)
    assert out.tolist() == [2, 2, 2, 2]
    tensor = torch.zeros(4)
    exe.run((ONES, ONES), tensor)
    assert tensor.tolist() == [2, 2, 2, 2]
    with pytest.raises(InputError, match="overlaps a"):
        exe.run((out, ONES), out)
    with pytest.raises(InputError, match="dense"):
        exe.run((ONES, ONES), np.zeros(8, np.float32)[::2])
    out.flags.writeable = False
    with pytest.raises(InputError, match="read-only"):
        exe.run((ONES, ONES), out)
    with pytest.raises(ShapeError):
        exe.run((ONES, ONES), np.zeros(3, np.float32))


def test_bound_values_are_prepared_once(tmp_path):
    exe = Executable(bound_artifact())
    with pytest.raises(NotBoundError, match="not bound: w"):
        exe(ONES)
    exe.bind({"w": ONES})
    assert exe(ONES).tolist() == [13] * 4  # x + (w + 10) + w
    exe.bind({1: 2 * ONES})
    assert exe(ONES).tolist() == [15] * 4
    exe.bind([3 * ONES])
    assert exe(ONES).tolist() == [17] * 4

    exe.save(tmp_path / "with.hloom")
    assert load(tmp_path / "with.hloom")(ONES).tolist() == [17] * 4
    exe.save(tmp_path / "without.hloom", weights=False)
    bare = load(tmp_path / "without.hloom")
    with pytest.raises(NotBoundError):
        bare(ONES)
    bare.bind({"w": ONES})
    assert bare(ONES).tolist() == [13] * 4


def test_bound_values_that_change_where_they_lie(tmp_path):
    exe, values = Executable(bound_artifact()), np.ones(4, np.float32)
    assert not exe.refresh()  # nothing is bound
    exe.bind([values])
    for factor in (2, 3):
        values[:] = factor
        assert exe.refresh() and exe(ONES).tolist() == [11 + 2 * factor] * 4
    exe.save(tmp_path / "program.hloom")
    assert load(tmp_path / "program.hloom")(ONES).tolist() == [17] * 4
    other = exe.another()
    assert not other.refresh()
    other.bind([values])
    values[:] = 5
    assert other.refresh() and other(ONES).tolist() == [21] * 4

    exe.bind([np.ones(8, np.float32)[::2]])  # a copy is bound
    assert not exe.refresh()


def test_binding_what_does_not_fit():
    exe = Executable(bound_artifact())
    with pytest.raises(ArityError, match="no value for w; nothing to bind at v"):
        exe.bind({"v": ONES})
    with pytest.raises(ArityError, match="nothing to bind at 0"):
        exe.bind({0: ONES, 1: ONES})
    with pytest.raises(ArityError, match="binds 1 values, got 2"):
        exe.bind([ONES, ONES])
    with pytest.raises(ShapeError, match="w should have shape"):
        exe.bind({"w": np.ones(3, np.float32)})
    with pytest.raises(ArityError):
        Executable(add_artifact()).bind({"w": ONES})


def test_bound_memory_outlives_the_caller():
    exe = Executable(bound_artifact())
    exe.bind({"w": np.full(4, 5, np.float32)})
    gc.collect()
    junk = [np.full(4, 77, np.float32) for _ in range(1000)]
    assert exe(ONES).tolist() == [21] * 4 and junk


def test_no_inputs_no_elements():
    body = "store float 3.0, ptr %p0"
    exe = Executable(artifact(function("hloom_main", 1, body), [], [("r", "f32", ())], [["result", 0]]))
    assert exe().shape == () and exe() == 3
    assert copy_program("f32", (0, 3), 0)(np.zeros((0, 3), np.float32)).shape == (0, 3)


def test_two_threads_call_at_once():
    # Each call passes its input through the arena, slowly: calls that shared one would see each other's values.
    loop = """
  %x = load float, ptr %p0
  br label %loop
loop:
  %i = phi i64 [0, %0], [%next, %loop]
  %v = phi float [%x, %0], [%back, %loop]
  store volatile float %v, ptr %p1
  %back = load volatile float, ptr %p1
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 300000
  br i1 %more, label %loop, label %done
done:
  store float %back, ptr %p2
"""
    text = function("hloom_main", 3, loop)
    exe = Executable(artifact(text, [("x", "f32", ())], [("r", "f32", ())], [["argument", 0], ["arena", 64], ["result", 0]]))
    wrong: list[float] = []

    def work(value: float) -> None:
        wrong.extend(r for _ in range(40) if (r := float(exe(value))) != value)

    threads = [threading.Thread(target=work, args=(float(value),)) for value in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def resident_kib() -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def test_calls_leave_no_memory_behind():
    exe = copy_program("f32", (4096,), 16384)
    value = np.ones(4096, np.float32)

    def calls(count: int) -> None:
        for _ in range(count):
            exe(value)

    calls(2000)
    before = resident_kib()
    calls(20000)  # 320 MB if a result a call stayed
    assert resident_kib() - before < 2048


def test_results_live_as_long_as_views_of_them():
    exe = copy_program("f32", (4096,), 16384)
    kept = [exe(np.full(4096, value, np.float32))[::2] for value in range(20)]
    for value, array in enumerate(kept):
        assert (array == value).all()


def test_features_that_this_cpu_lacks():
    with pytest.raises(CpuFeatureError, match="needs avx10, "):
        Executable(add_artifact(target={"name": "x", "features": ["avx10", "sse2", "zz"]}))


def test_code_that_calls_what_is_not_there():
    text = "declare void @nowhere()\n" + function("hloom_main", 3, ADD + "\ncall void @nowhere()")
    slots = [["argument", 0], ["argument", 1], ["result", 0]]
    with pytest.raises(LoadError, match="does not link"):
        Executable(artifact(text, [named("a"), named("b")], [F4], slots))

"""What a GPU would not forgive, injected, and found with kernel, op, location and thread."""

import re

import numpy as np
import pytest
from simulator_kernels import WORKGROUP, function, kernel, kernels

from hloom.compiler.simulator import Kernels, SimulationError

IN = "%x: memref<256xf32> {llvm.noalias, llvm.readonly}, %o: memref<256xf32>"
SHARED = f"memref<64xf32, {WORKGROUP}>"
OWN = f"workgroup(%s : {SHARED})"
X = np.arange(256, dtype=np.float32)

LOAD = "      %v = memref.load %x[%i] : memref<256xf32>\n"
PUT = f"      memref.store %v, %s[%t] : {SHARED}\n"
BARRIER = "      gpu.barrier\n"
GET = f"      %back = arith.subi %c63, %t : index\n      %w = memref.load %s[%back] : {SHARED}\n"
STORE = "      memref.store %w, %o[%i] : memref<256xf32>\n"
REVERSE = LOAD + PUT + BARRIER + GET + STORE


def _complaint(body: str, arguments: str = IN, arrays: list[np.ndarray] | None = None, **more) -> SimulationError:
    module = kernel(arguments, body, **{"own": OWN, **more})
    with pytest.raises(SimulationError) as caught:
        module.launch("k", arrays or [X, np.zeros(256, np.float32)])
    return caught.value


def test_the_kernel_is_right_as_it_stands():
    out = np.zeros(256, np.float32)
    kernel(IN, REVERSE, own=OWN).launch("k", [X, out])
    np.testing.assert_array_equal(out, X.reshape(4, 64)[:, ::-1].reshape(-1))


CONDITION = "      %few = arith.cmpi ult, %t, %c32 : index\n"
FAULTS = {
    "removed barrier": (REVERSE.replace(BARRIER, ""), "race: reads what another thread of the block wrote", 0),
    "removed store to shared memory": (REVERSE.replace(PUT, ""), "reads uninitialised memory: element 63", 0),
    "half a store": (
        CONDITION + REVERSE.replace(PUT, "      scf.if %few {\n" + PUT + "      }\n"),
        "reads uninitialised memory: element 63",
        0,
    ),
    "slot reused without a barrier": (
        REVERSE.replace(STORE, f"      memref.store %f0, %s[%t] : {SHARED}\n" + STORE),
        "race: writes what another thread of the block read",
        0,
    ),
    "two writers of one word": (
        LOAD + f"      %half = arith.divui %t, %c2 : index\n      memref.store %v, %s[%half] : {SHARED}\n",
        "race: several threads write one word in one instruction: element 0",
        0,
    ),
    "two writers, one after the other": (
        LOAD + PUT + f"      %back = arith.subi %c63, %t : index\n      memref.store %v, %s[%back] : {SHARED}\n",
        "race: writes what another thread of the block wrote",
        0,
    ),
    "divergent barrier": (
        CONDITION + REVERSE.replace(BARRIER, "      scf.if %few {\n" + BARRIER + "      }\n"),
        "a barrier that not all threads of the block reach",
        32,
    ),
    "off by one at the end": (
        REVERSE.replace("%v = memref.load %x[%i]", "%next = arith.addi %i, %c1 : index\n      %v = memref.load %x[%next]"),
        "load out of bounds: index 256 of dimension 0 of argument 0, which has 256",
        63,
    ),
    "off by one at the beginning": (
        REVERSE.replace("memref.store %w, %o[%i]", "%last = arith.subi %i, %c1 : index\n      memref.store %w, %o[%last]"),
        "store out of bounds: index -1 of dimension 0 of argument 1",
        0,
    ),
    "off by one in shared memory": (
        REVERSE.replace("%w = memref.load %s[%back]", "%b1 = arith.addi %back, %c1 : index\n %w = memref.load %s[%b1]"),
        "load out of bounds: index 64 of dimension 0 of shared memory 0, which has 64",
        0,
    ),
    "output not written wholly": (
        CONDITION + REVERSE.replace(STORE, "      scf.if %few {\n" + STORE + "      }\n"),
        "nobody wrote 128 of 256",
        None,
    ),
    "blocks write the same words": (
        REVERSE.replace("%o[%i]", "%o[%t]"),
        "race: several threads write one word in one instruction: element 0 of argument 1",
        0,
    ),
    "writes a readonly argument": (
        LOAD + "      memref.store %v, %x[%i] : memref<256xf32>\n",
        "writes argument 0, which is llvm.readonly",
        None,
    ),
    "several readers, then a writer": (
        LOAD
        + PUT
        + BARRIER
        + f"      %w = memref.load %s[%c0] : {SHARED}\n      %leader = arith.cmpi eq, %t, %c0 : index\n      scf.if %leader {{\n"
        + f"        memref.store %w, %s[%c0] : {SHARED}\n      }}\n",
        "race: writes what another thread of the block read, without a barrier between: element 0",
        0,
    ),
    "shuffle from a thread that is elsewhere": (
        LOAD
        + "      %m = arith.remui %t, %c2 : index\n      %even = arith.cmpi eq, %m, %c0 : index\n      scf.if %even {\n"
        + "        %y, %ok = gpu.shuffle xor %v, %one, %w32 : f32\n      }\n",
        "a shuffle from a lane that is not active",
        0,
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name):
    body, message, thread = FAULTS[name]
    complaint = _complaint(body)
    assert message in complaint.message
    assert complaint.code == "HL215" and complaint.kernel == "k" and complaint.thread == thread
    if thread is not None:
        assert complaint.op and re.search(r'"-":\d+:\d+', complaint.loc)


def test_a_misaligned_vector():
    body = """
      %j0 = arith.muli %i, %c4 : index
      %j = arith.addi %j0, %c1 : index
      %few = arith.cmpi ult, %i, %c32 : index
      scf.if %few {
        %v = vector.load %x[%j] {alignment = 16 : i64} : memref<256xf32>, vector<4xf32>
      }"""
    assert "misaligned: 16 bytes promised, at byte 4 of argument 0" in _complaint(body).message
    kernel(IN, body.replace(" {alignment = 16 : i64}", "")).launch("k", [X, X.copy()])


def test_a_vector_that_overhangs():
    body = """
      %j = arith.muli %i, %c4 : index
      %v = vector.load %x[%j] {alignment = 16 : i64} : memref<254xf32>, vector<4xf32>"""
    complaint = _complaint(body, "%x: memref<254xf32>", [X[:254]], grid="1, 1, 1")
    assert "index 252 to 255 of dimension 0" in complaint.message and complaint.thread == 63


def test_bounds_of_each_dimension():
    """Index (1, 16) of 16 x 16 lies in the buffer, but not in the row."""
    body = "      %c16 = arith.constant 16 : index\n      %v = memref.load %x[%c1, %c16] : memref<16x16xf32>"
    assert "index 16 of dimension 1" in _complaint(body, "%x: memref<16x16xf32>", [X]).message


def test_global_memory_read_after_another_block_wrote_it():
    """In place, where each thread reads its neighbour's element."""
    body = """
      %c255 = arith.constant 255 : index
      %j = arith.subi %c255, %i : index
      %v = memref.load %x[%j] : memref<256xf32>
      memref.store %v, %x[%i] : memref<256xf32>"""
    assert "race: writes what a thread of block 3 read" in _complaint(body, "%x: memref<256xf32>", [X.copy()]).message


def test_global_memory_is_ordered_within_a_block_by_barriers():
    body = """
      memref.store %f1, %o[%i] : memref<256xf32>
      gpu.barrier
      %back = arith.subi %c63, %t : index
      %j = arith.addi %before, %back : index
      %v = memref.load %o[%j] : memref<256xf32>
      %w = arith.addf %v, %v : f32
      gpu.barrier
      memref.store %w, %o[%i] : memref<256xf32>"""
    out = np.zeros(256, np.float32)
    kernel("%o: memref<256xf32>", body).launch("k", [out])
    np.testing.assert_array_equal(out, np.full(256, 2))
    for where in (0, 1):
        parts = body.split("gpu.barrier\n")
        assert (
            "race"
            in _complaint("".join(parts[: where + 1]) + "gpu.barrier\n".join(parts[where + 1 :]), "%o: memref<256xf32>", [out]).message
        )


def test_global_memory_read_by_all_then_written_by_one():
    """All blocks read word 0; then its block's last thread writes it, after a barrier that does not concern the other blocks."""
    body = """
      %v = memref.load %x[%c0] : memref<1xf32>
      gpu.barrier
      %own = arith.cmpi eq, %i, %c63 : index
      scf.if %own {
        memref.store %v, %x[%c0] : memref<1xf32>
      }"""
    assert "race: writes what" in _complaint(body, "%x: memref<1xf32>", [np.zeros(1, np.float32)]).message
    kernel("%x: memref<1xf32>", body, grid="1, 1, 1").launch("k", [np.zeros(1, np.float32)])
    without = body.replace("gpu.barrier", "")
    assert "race: writes what" in _complaint(without, "%x: memref<1xf32>", [np.zeros(1, np.float32)], grid="1, 1, 1").message


def test_plain_and_atomic_accesses_of_one_word():
    body = """
      %old = memref.atomic_rmw addf %f1, %o[%c0] : (f32, memref<1xf32>) -> f32
      %v = memref.load %o[%c0] : memref<1xf32>"""
    assert "race: reads what an atomic operation wrote" in _complaint(body, "%o: memref<1xf32>", [np.zeros(1, np.float32)]).message


def test_atomics_in_shared_memory():
    """After a barrier everybody may read what they made."""
    added = f"      %old = memref.atomic_rmw addf %f1, %s[%c0] : (f32, {SHARED}) -> f32\n"
    body = LOAD + PUT + BARRIER + added + BARRIER + f"      %w = memref.load %s[%c0] : {SHARED}\n" + STORE
    out = np.zeros(256, np.float32)
    kernel(IN, body, own=OWN).launch("k", [X, out])
    np.testing.assert_array_equal(out, np.repeat(X[::64] + 64, 64))
    assert "reads what an atomic operation wrote" in _complaint(body.replace(added + BARRIER, added)).message
    assert "writes what another thread of the block wrote" in _complaint(body.replace(PUT + BARRIER, PUT)).message


def test_arguments_that_overlap():
    body = LOAD + "      memref.store %v, %o[%i] : memref<256xf32>"
    buffer = np.zeros(384, np.float32)
    module = kernel(IN, body)
    with pytest.raises(SimulationError, match="overlap and are written, but argument 0 is llvm.noalias"):
        module.launch("k", [buffer[:256], buffer[128:]])
    module.launch("k", [X, buffer[128:]])
    plain = kernel("%x: memref<256xf32>, %o: memref<256xf32>", body)
    with pytest.raises(SimulationError, match="race"):
        plain.launch("k", [buffer[:256], buffer[128:]])


def test_an_argument_without_elements_overlaps_nothing():
    body = "      memref.store %f1, %o[%i] : memref<256xf32>"
    out = np.zeros(256, np.float32)
    kernel("%x: memref<0xf32> {llvm.noalias}, %o: memref<256xf32>", body).launch("k", [out[128:128], out])
    assert out.all()


def test_faults_beyond_the_first_batch_of_blocks():
    """Only the last of 2000 blocks leaves the array; checks see every block."""
    body = "      %v = memref.load %x[%i] : memref<127999xf32>"
    module = kernel("%x: memref<127999xf32>", body, grid="2000, 1, 1")
    with pytest.raises(SimulationError) as caught:
        module.launch("k", [np.zeros(127999, np.float32)])
    assert (caught.value.block, caught.value.thread) == (1999, 63)


def test_views_of_one_arena_share_what_is_known_of_it():
    """A barrier is missing between two uses of the same bytes as different types."""
    wide, narrow = f"memref<64xf32, {WORKGROUP}>", f"memref<128xf16, {WORKGROUP}>"
    body = f"""
      %arena = gpu.dynamic_shared_memory : memref<?xi8, {WORKGROUP}>
      %a = memref.view %arena[%c0][] : memref<?xi8, {WORKGROUP}> to {wide}
      %h = memref.view %arena[%c0][] : memref<?xi8, {WORKGROUP}> to {narrow}
      %zero = arith.constant 0.0 : f16
      memref.store %f1, %a[%t] : {wide}
      memref.store %zero, %h[%t] : {narrow}"""
    complaint = _complaint(body, shared_bytes=256)
    assert "race" in complaint.message and "dynamic shared memory" in complaint.message
    kernel(IN, body.replace(f"      memref.store %zero, %h[%t] : {narrow}", ""), shared_bytes=256).launch("k", [X, X.copy()])
    assert "hloom.shared_bytes is 0" in _complaint(body).message


def test_a_thread_may_write_what_it_alone_has_read():
    """Words of an arena whose narrowest view has elements of half a word."""
    wide, narrow = f"memref<64xf32, {WORKGROUP}>", f"memref<128xf16, {WORKGROUP}>"
    body = f"""
      %arena = gpu.dynamic_shared_memory : memref<?xi8, {WORKGROUP}>
      %a = memref.view %arena[%c0][] : memref<?xi8, {WORKGROUP}> to {wide}
      %h = memref.view %arena[%c0][] : memref<?xi8, {WORKGROUP}> to {narrow}
      memref.store %f1, %a[%t] : {wide}
      gpu.barrier
      %v = memref.load %a[%t] : {wide}
      memref.store %v, %a[%t] : {wide}"""
    kernel(IN, body, shared_bytes=256).launch("k", [X, X.copy()])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('llvm.inline_asm "bar.sync 0;", "" : () -> ()', "llvm.inline_asm cannot be simulated"),
        ("%h = arith.constant 0.0 : f16\n %y, %ok = gpu.shuffle xor %h, %one, %w32 : f16", "there is no shuffle of f16"),
        ("%q = arith.constant 1 : i4", "no values of type i4"),
        ('gpu.printf "x"', "the simulator does not know gpu.printf"),
    ],
)
def test_what_cannot_be_simulated_is_refused(body, message):
    complaint = _complaint(body)
    assert message in complaint.message and complaint.op and complaint.loc


def test_arrays_that_do_not_fit():
    module = kernel(IN, LOAD)
    for arrays in ([X], [X, X.astype(np.float64)], [X, X[:128]], [X, np.zeros(512, np.float32)[::2]]):
        with pytest.raises(SimulationError, match="kernel: k"):
            module.launch("k", arrays)
    with pytest.raises(SimulationError, match="no kernel @other; there are k"):
        module.launch("other", [])


def test_without_checks_faults_pass():
    out = np.zeros(256, np.float32)
    kernel(IN, FAULTS["removed barrier"][0], own=OWN).launch("k", [X, out], checks=False)
    np.testing.assert_array_equal(out, X.reshape(4, 64)[:, ::-1].reshape(-1))


def test_a_module_may_change_after_it_was_given():
    from torch_mlir import ir

    from hloom.dialects.context import make_context

    text = f"module {{ gpu.module @kernels {{ {function('k', IN, REVERSE, own=OWN)} }} }}"
    module = ir.Module.parse(text, context=make_context())
    simulated = Kernels(module)
    for op in list(module.body.operations):
        op.operation.erase()
    out = np.zeros(256, np.float32)
    simulated.launch("k", [X, out])
    assert out[0] == 63


def test_several_kernels():
    module = kernels(function("a", IN, REVERSE, own=OWN), function("b", IN, LOAD + "      memref.store %v, %o[%i] : memref<256xf32>"))
    out = np.zeros(256, np.float32)
    module.launch("b", [X, out])
    assert module.names == ["a", "b"] and np.array_equal(out, X)

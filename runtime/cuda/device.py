"""An NVIDIA GPU as a device (runtime/program.py): a call is one launch of a graph that was recorded from the thunk program; where a step
of it waits for the GPU, the call enqueues the program.

Constants, bound values and the arena lie in one allocation whose addresses never change. Calls of one executable run one after the
other on the GPU, since they share the arena: a call on another stream than the last waits for it there; the host never does, unless arrays
of the host go in or come out.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..artifact import Buffer
from ..errors import ArityError, CudaError, DamagedFileError
from ..lazy import lazy
from ..program import LoadedProgram, Slot
from ..signature import TensorSpec
from ..tensors import TO_KIND, TorchAddresses, refuse_overlap
from ..thunks import read_program
from .arrays import ALIGNMENT, Located, caller_streams, finished, locate, new_result
from .driver import default_driver
from .graphs import Addresses, GraphCache, recording
from .kinds import profile
from .layout import Allocation, StaticLayout
from .libraries import Libraries
from .order import Held, follow
from .requirements import require_gpu
from .step import COUNTER_BYTES, BufferAddresses, Context, Needs, Region


class CudaDevice:
    """Runs a program's thunks on a GPU."""

    def __init__(self, program: LoadedProgram, driver: Any = None, libraries: Libraries | None = None):
        self.program = program
        self._steps = {entry: Region(read_program(program.manifest, entry)) for entry in program.slots}
        self._driver = driver or default_driver()
        require_gpu(program.target, self._driver.name, self._driver.capability)
        self._lock = threading.Lock()
        self._has_worked = False
        self._launched_ns = 0
        self._staging: dict[int, int] = {}
        self._held = Held(self._driver)
        self._graphs = GraphCache(self._recorder("main"))
        self._libraries = libraries or Libraries()
        needs = Needs(program.manifest.get("kernels", {}), self._libraries)
        with self._driver.current():
            self._load(needs)
        slots = program.slots["main"]
        self._read = [slot for slot in slots if slot[0] == "argument" and slot not in self._static]
        self._written = [slot for slot in slots if slot[0] == "result"]
        """What a call gives: by the addresses of these, in this order, graphs are kept."""
        places = {index: place for place, index in enumerate(program.positions)}
        self._places = [places[index] for _, index in self._read]
        """Where among the inputs each that is read stands."""

    # Loading.

    def _load(self, needs: Needs) -> None:
        for steps in self._steps.values():
            steps.prepare(needs)
        self._stream = self._driver.stream
        self._done = self._driver.new_event()
        self._static = self._layout(needs).allocate(self._driver)
        self._initialise(needs)

    def _layout(self, needs: Needs) -> StaticLayout:
        program, layout = self.program, StaticLayout()
        for name, blob in program.constants().items():
            layout.add(("constant", name), len(blob))
        for slot in program.kept_slots():
            layout.add(slot, program.kept_spec(slot).nbytes)
        layout.add("arena", program.arena_bytes())
        layout.add("workspace", needs.workspace)
        layout.add("zeros", needs.zeros)
        layout.add("counters", COUNTER_BYTES * needs.counters)
        return layout

    def _initialise(self, needs: Needs) -> None:
        driver, static = self._driver, self._static
        for name, blob in self.program.constants().items():
            driver.upload(static.address(("constant", name)), blob, self._stream)
        if needs.zeros:
            driver.upload(static.address("zeros"), bytes(needs.zeros), self._stream)
        code = bytes(self.program.blobs.get("cubin", b""))
        if needs.launches and not code:
            raise DamagedFileError("the file holds no machine code: it was made for the simulator", remedy="compile without --simulate")
        context = Context(
            driver=driver,
            module=driver.load(code) if code else None,
            libraries=needs.libraries,
            workspace=static.address("workspace"),
            workspace_bytes=needs.workspace,
            counters=static.address("counters"),
            zeros=static.address("zeros"),
        )
        for steps in self._steps.values():
            steps.initialise(context)

    def _recorder(self, entry: str) -> Callable[[], Any]:
        """What begins to record the entry's graph."""
        turns = any(step.inside for step in self._steps[entry].steps)
        return self._driver.recorder if turns else self._driver.capture  # type: ignore[no-any-return]

    # Order.

    def _turn(self, values: Sequence[Any] = ()) -> _Turn:
        """A call's turn on the GPU: the stream for its work, and a list for the arrays that the work uses.

        The work comes after the last call's, since they share memory, and after what the frameworks of `values` have enqueued by now; what
        they enqueue later comes after it.
        """
        return _Turn(self, values)

    def _begin_turn(self, values: Sequence[Any]) -> tuple[int, list[int]]:
        """The stream of the turn, and those of other frameworks."""
        driver = self._driver
        stream, *others = caller_streams(values, driver.index) or (self._stream,)
        if driver.is_captured(stream) or any(map(driver.is_captured, others)):
            remedy = "call it outside of the capture: it is a CUDA graph of its own"
            raise CudaError("a program cannot be called while its caller's stream is captured", remedy=remedy)
        for other in others:
            follow(driver, stream, other)
        if self._has_worked:
            driver.wait(stream, self._done)
        self._held.drop()
        driver.free_waiting()
        return stream, others

    def _end_turn(self, stream: int, others: Sequence[int], used: Sequence[Located]) -> None:
        self._has_worked = True
        try:
            self._held.add([located for located in used if located.is_lent], stream)
            self._driver.record(self._done, stream)
            for other in others:
                self._driver.wait(other, self._done)
            self._held.drop()
        except CudaError:
            self._driver.synchronise(stream)  # what cannot be ordered on the device is waited for by the host
            raise

    def _locate(self, spec: TensorSpec, value: Any, stream: int, used: list[Located], writable: bool = False) -> Located:
        used.append(locate(spec, value, self._driver, stream, writable=writable))
        return used[-1]

    # Bound values.

    def bind(self, arrays: Mapping[int, Any]) -> None:
        with self._turn([*arrays.values()]) as (stream, used):
            bound = self.program.signature.bound
            found = {("argument", index): self._locate(spec, arrays[index], stream, used) for index, spec in bound.items()}
            temporary = self._init_memory()
            try:
                for slot, located in found.items():
                    place = next((memory for memory in (self._static, temporary) if slot in memory), None)
                    if place is not None:
                        self._copy_in(place.address(slot), located, bound[slot[1]], stream)
                if "init" in self._steps:
                    self._run_init(temporary, stream)
            finally:
                self._driver.synchronise(stream)  # what was given may be changed after this, and `temporary` goes

    def _init_memory(self) -> Allocation:
        """What `init` uses and `main` does not: freed when the values are bound."""
        layout = StaticLayout()
        for kind, value in self.program.slots.get("init", []):
            if kind == "argument" and (kind, value) not in self._static:
                layout.add((kind, value), self.program.signature.bound[value].nbytes)
            elif kind == "result" and ("init", value) not in self._static:
                layout.add(("init", value), self.program.init_results[value].nbytes)
            elif kind == "arena":
                layout.add("arena", value)
        return layout.allocate(self._driver)

    def _run_init(self, temporary: Allocation, stream: int) -> None:
        def address(slot: Slot) -> int:
            kind, value = slot
            name = {"result": ("init", value), "arena": "arena"}.get(kind, slot)
            return (temporary if name in temporary else self._static).address(name)

        init, buffers = self._steps["init"], BufferAddresses([address(slot) for slot in self.program.slots["init"]])
        if init.waits:
            init.execute(self._driver.enqueuer(stream), buffers)
        else:
            with recording(self._recorder("init")) as recorder:
                init.execute(recorder, buffers)
                graph = recorder.finish()
            graph.launch(stream)
        self._driver.synchronise(stream)

    def start(self, kept: Mapping[str, Buffer]) -> None:
        with self._turn() as (stream, _):
            for slot in self.program.kept_slots():
                self._driver.upload(self._static.address(slot), self.program.kept_blob(slot, kept), stream)

    def kept(self) -> Mapping[str, Buffer]:
        blobs: dict[str, Buffer] = {}
        with self._turn() as (stream, _):
            for slot in self.program.kept_slots():
                array = np.empty(self.program.kept_spec(slot).nbytes, np.uint8)
                self._driver.download(array, self._static.address(slot), stream)
                blobs[f"{slot[0]}.{slot[1]}"] = array.data
        return blobs

    # Calling.

    @lazy
    def _torch_addresses(self) -> tuple[TorchAddresses, TorchAddresses]:
        signature, index = self.program.signature, self._driver.index
        return TorchAddresses(signature.inputs, index), TorchAddresses(signature.outputs, index)

    def call(self, inputs: Sequence[Any], outputs: Sequence[Any] | None = None, *, in_place: bool = False) -> list[Any]:
        with self._turn([*inputs, *(outputs or ())]) as (stream, used):
            if outputs is not None and self._call_again(inputs, outputs, stream):
                return list(outputs)
            specs = self.program.signature.inputs
            found = [self._locate(spec, value, stream, used) for spec, value in zip(specs, inputs)]
            addresses = [self._input(place, found[place], specs[place], stream) for place in self._places]
            if any(located.host is not None for located in found):
                self._driver.synchronise(stream)  # the caller may change what it gave
            if outputs is None:
                return self._call_fresh(found, addresses, stream)
            self._call_into(outputs, addresses, found, stream, used)
            return list(outputs)

    def _call_again(self, inputs: Sequence[Any], outputs: Sequence[Any], stream: int) -> bool:
        """A call on tensors of torch's where a graph was kept for their addresses, so that nothing is left to be looked at: whether it is
        one. The call that made the graph saw that outputs overlap nothing."""
        if "torch" not in sys.modules or len(self._places) != len(inputs) or len(outputs) != len(self.program.signature.outputs):
            return False
        given, results = (lookup.of(values) for lookup, values in zip(self._torch_addresses, (inputs, outputs)))
        if None in given or None in results:
            return False
        places = (*[given[place] for place in self._places], *[results[number] for _, number in self._written])
        graph = self._graphs.kept(places)  # type: ignore[arg-type]
        if graph is None:
            return False
        self._launched_ns = time.monotonic_ns()
        graph.launch(stream)
        return True

    def _call_fresh(self, found: Sequence[Located], addresses: Sequence[int], stream: int) -> list[Any]:
        kind, on_gpu = self._results_kind(found)
        made = [new_result(kind if on_gpu else "host", spec, self._driver, stream) for spec in self.program.signature.outputs]
        self._launch(addresses, [address for _, address in made], stream)
        if on_gpu:
            return [finished(kind, result) for result, _ in made]
        hosts = [result.numpy() for result, _ in made]
        return [TO_KIND[kind](host) for host in hosts] if kind in TO_KIND else hosts

    def _call_into(
        self,
        outputs: Sequence[Any],
        addresses: Sequence[int],
        inputs: Sequence[Located],
        stream: int,
        used: list[Located],
    ) -> None:
        specs = self.program.signature.outputs
        if len(outputs) != len(specs):
            raise ArityError(f"the program has {len(specs)} results, got {len(outputs)} outputs")
        found = [self._locate(spec, value, stream, used, writable=True) for spec, value in zip(specs, outputs)]
        taken = [(located.address, spec) for located, spec in zip(inputs, self.program.signature.inputs) if located.host is None]
        temporary: dict[int, Any] = {}
        places = []
        for number, (located, spec) in enumerate(zip(found, specs)):
            if located.host is None:
                refuse_overlap(located.address, spec, taken)
                taken.append((located.address, spec))
            if located.host is None and located.address % ALIGNMENT == 0:
                places.append(located.address)
            else:
                temporary[number], address = new_result("host", spec, self._driver, stream)
                places.append(address)
        self._launch(addresses, places, stream)
        for number, ours in temporary.items():
            target = found[number]
            if target.host is not None:
                self._driver.download(target.host, ours.address, stream)
            else:
                self._driver.copy(target.address, ours.address, specs[number].nbytes, stream)

    def _results_kind(self, found: Sequence[Located]) -> tuple[str, bool]:
        """The framework of the results, and whether they stay on the GPU: as the first input there, else the first that is not NumPy's."""
        there = next((located.kind for located in found if located.host is None), None)
        if there is not None:
            return there, True
        return next((located.kind for located in found if located.kind != "numpy"), "numpy"), False

    def _input(self, place: int, located: Located, spec: TensorSpec, stream: int) -> int:
        """Where the program reads an input: in place, or in memory of our own if it lies on the host or at an odd address."""
        if located.host is None and located.address % ALIGNMENT == 0:
            return located.address
        if place not in self._staging:
            self._staging[place] = self._driver.allocate(max(spec.nbytes, 1))
        self._copy_in(self._staging[place], located, spec, stream)
        return self._staging[place]

    def _copy_in(self, target: int, located: Located, spec: TensorSpec, stream: int) -> None:
        """Not over when this returns."""
        if located.host is not None:
            self._driver.upload(target, located.host, stream, wait=False)
        else:
            self._driver.copy(target, located.address, spec.nbytes, stream)

    def _launch(self, read: Sequence[int], results: Sequence[int], stream: int) -> None:
        places = (*read, *[results[number] for _, number in self._written])
        if self._steps["main"].waits:
            self._launched_ns = time.monotonic_ns()
            self._record_main(self._driver.enqueuer(stream), places)
            return
        graph = self._graphs.get(places, self._record_main)
        self._launched_ns = time.monotonic_ns()
        graph.launch(stream)

    def _record_main(self, recorder: Any, varying: Addresses) -> None:
        there = dict(zip([*self._read, *self._written], varying))
        buffers = [there[slot] if slot in there else self._static.address(_static_name(slot)) for slot in self.program.slots["main"]]
        self._steps["main"].execute(recorder, BufferAddresses(buffers))

    def measurements(self) -> list[tuple[int, int, int]]:
        """Of the last call alone: the events are recorded again by each."""
        with self._lock, self._driver.current():
            if not self._launched_ns:
                return []
            self._driver.await_event(self._done)
            found = profile.measurements(self._driver, self._steps["main"].steps)
            return [(number, self._launched_ns + begin, self._launched_ns + end) for number, begin, end in found]

    def __del__(self) -> None:
        """What the program's code, graphs, memory and libraries go with: nothing may still run."""
        try:
            with self._driver.current():
                if self._has_worked:
                    self._driver.await_event(self._done)
                self._libraries.close()
                self._graphs.clear()
        except Exception:  # no contextlib: at exit it may be gone
            pass
        for address in getattr(self, "_staging", {}).values():
            self._driver.free(address)
        if done := getattr(self, "_done", 0):
            self._driver.free_event(done)


class _Turn:
    """The block of `CudaDevice._turn`; a class, for each call is inside one."""

    __slots__ = ("_current", "_device", "_others", "_stream", "_used", "_values")

    def __init__(self, device: CudaDevice, values: Sequence[Any]):
        self._device, self._values = device, values

    def __enter__(self) -> tuple[int, list[Located]]:
        device = self._device
        device._lock.acquire()
        try:
            self._current = device._driver.current()
            self._current.__enter__()
            try:
                self._stream, self._others = device._begin_turn(self._values)
            except BaseException:
                self._current.__exit__(None, None, None)
                raise
        except BaseException:
            device._lock.release()
            raise
        self._used: list[Located] = []
        return self._stream, self._used

    def __exit__(self, *error: object) -> None:
        device = self._device
        try:
            device._end_turn(self._stream, self._others, self._used)
        finally:
            self._current.__exit__(*error)
            device._lock.release()


def _static_name(slot: Slot) -> Any:
    return "arena" if slot[0] == "arena" else slot

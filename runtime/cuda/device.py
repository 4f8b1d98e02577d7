"""An NVIDIA GPU as a device (runtime/program.py): a call is one launch of a graph that was recorded from the thunk program.

Constants, bound values and the arena lie in one allocation whose addresses never change. Calls of one executable run one after the
other on the GPU, since they share the arena: a call on another stream than the last waits for it there; the host never does, unless arrays
of the host go in or come out.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..artifact import Buffer
from ..errors import ArityError, DamagedFileError
from ..program import Program, Slot
from ..signature import TensorSpec
from ..tensors import TO_KIND, refuse_overlap
from ..thunks import read_program
from . import profile
from .arrays import ALIGNMENT, Located, caller_stream, finished, locate, new_result
from .conditions import Conditions
from .driver import default_driver
from .graphs import Addresses, GraphCache
from .layout import Allocation, Layout
from .libraries import Libraries
from .requirements import require_conditions, require_gpu
from .sequence import Sequence as Steps
from .step import COUNTER_BYTES, Context, Memory, Needs


class CudaDevice:
    """Runs a program's thunks on a GPU."""

    def __init__(self, program: Program, driver: Any = None, libraries: Libraries | None = None):
        self.program = program
        self._steps = {entry: Steps(read_program(program.manifest, entry)) for entry in program.slots}
        self._driver = driver or default_driver()
        require_gpu(program.target, self._driver.name, self._driver.capability)
        self._driver.use()
        needs = Needs(program.manifest.get("kernels", {}), libraries or Libraries())
        for steps in self._steps.values():
            steps.prepare(needs)
        if needs.conditions:
            require_conditions(self._driver.version)
        self._stream = self._driver.stream
        self._done = self._driver.new_event()
        self._last_stream: int | None = None
        self._launched_ns = 0
        self._lock = threading.Lock()
        self._static = self._layout(needs).allocate(self._driver)
        self._staging: dict[int, int] = {}
        self._initialise(needs)
        slots = program.slots["main"]
        self._varying = [slot for slot in slots if slot[0] == "result" or (slot[0] == "argument" and slot not in self._static)]
        self._graphs = GraphCache(self._driver)

    # Loading.

    def _layout(self, needs: Needs) -> Layout:
        program, layout = self.program, Layout()
        for name, blob in program.constants().items():
            layout.add(("constant", name), len(blob))
        for slot in program.kept_slots():
            layout.add(slot, program.kept_spec(slot).nbytes)
        layout.add("arena", program.arena_bytes())
        layout.add("workspace", needs.workspace)
        layout.add("counters", COUNTER_BYTES * needs.counters)
        return layout

    def _initialise(self, needs: Needs) -> None:
        driver, static = self._driver, self._static
        for name, blob in self.program.constants().items():
            driver.upload(static.address(("constant", name)), blob, self._stream)
        code = bytes(self.program.blobs.get("cubin", b""))
        if needs.launches and not code:
            raise DamagedFileError("the file holds no machine code: it was made for the simulator", remedy="compile without --simulate")
        context = Context(
            driver=driver,
            module=driver.load(code) if code else None,
            libraries=needs.libraries,
            conditions=Conditions(driver) if needs.conditions else None,
            workspace=static.address("workspace"),
            workspace_bytes=needs.workspace,
            counters=static.address("counters"),
            launches=needs.launches,
        )
        for steps in self._steps.values():
            steps.initialise(context)

    # Bound values.

    def bind(self, arrays: Mapping[int, Any]) -> None:
        with self._lock:
            driver = self._driver
            driver.use()
            caller = caller_stream(arrays.values(), driver.index)
            stream = self._stream if caller is None else caller
            self._follow(stream)
            bound = self.program.signature.bound
            found = {("argument", index): locate(spec, arrays[index], driver.index, stream) for index, spec in bound.items()}
            temporary = self._init_memory()
            for slot, located in found.items():
                place = next((memory for memory in (self._static, temporary) if slot in memory), None)
                if place is not None:
                    self._copy_in(place.address(slot), located, bound[slot[1]], stream)
            if "init" in self._steps:
                self._run_init(temporary, stream)
            driver.synchronise(stream)  # what was given may be changed after this

    def _init_memory(self) -> Allocation:
        """What `init` uses and `main` does not: freed when the values are bound."""
        layout = Layout()
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

        recorder = self._driver.recorder()
        self._steps["init"].execute(recorder, Memory([address(slot) for slot in self.program.slots["init"]]))
        graph = recorder.finish()
        graph.launch(stream)
        self._driver.synchronise(stream)

    def start(self, kept: Mapping[str, Buffer]) -> None:
        with self._lock:
            self._driver.use()
            self._follow(self._stream)
            for slot in self.program.kept_slots():
                self._driver.upload(self._static.address(slot), self.program.kept_blob(slot, kept), self._stream)

    def kept(self) -> Mapping[str, Buffer]:
        blobs: dict[str, Buffer] = {}
        with self._lock:
            self._driver.use()
            self._follow(self._stream)
            for slot in self.program.kept_slots():
                array = np.empty(self.program.kept_spec(slot).nbytes, np.uint8)
                self._driver.download(array, self._static.address(slot), self._stream)
                blobs[f"{slot[0]}.{slot[1]}"] = array.data
        return blobs

    # Calling.

    def call(self, inputs: Sequence[Any], outputs: Sequence[Any] | None = None) -> list[Any]:
        with self._lock:
            driver = self._driver
            driver.use()
            caller = caller_stream([*inputs, *(outputs or ())], driver.index)
            stream = self._stream if caller is None else caller
            specs = self.program.signature.inputs
            found = [locate(spec, value, driver.index, stream) for spec, value in zip(specs, inputs)]
            self._follow(stream)
            given = dict(zip(self.program.positions, zip(found, specs)))
            addresses = {
                ("argument", index): self._input(index, *given[index], stream) for kind, index in self._varying if kind == "argument"
            }
            if outputs is None:
                return self._call_fresh(found, addresses, stream)
            self._call_into(outputs, addresses, [(located, spec) for located, spec in given.values()], stream)
            return list(outputs)

    def _call_fresh(self, found: Sequence[Located], addresses: dict[Slot, int], stream: int) -> list[Any]:
        kind, on_gpu = self._results_kind(found)
        made = [new_result(kind if on_gpu else "host", spec, self._driver, stream) for spec in self.program.signature.outputs]
        self._launch(addresses, [address for _, address in made], stream)
        if on_gpu:
            return [finished(kind, result) for result, _ in made]
        hosts = [result.numpy() for result, _ in made]
        return [TO_KIND[kind](host) for host in hosts] if kind in TO_KIND else hosts

    def _call_into(self, outputs: Sequence[Any], addresses: dict[Slot, int], inputs: list[tuple[Located, TensorSpec]], stream: int) -> None:
        specs = self.program.signature.outputs
        if len(outputs) != len(specs):
            raise ArityError(f"the program has {len(specs)} results, got {len(outputs)} outputs")
        found = [locate(spec, value, self._driver.index, stream, writable=True) for spec, value in zip(specs, outputs)]
        taken = [(located.address, spec) for located, spec in inputs if located.host is None]
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

    def _input(self, index: int, located: Located, spec: TensorSpec, stream: int) -> int:
        """Where the program reads an input: in place, or in memory of our own if it lies on the host or at an odd address."""
        if located.host is None and located.address % ALIGNMENT == 0:
            return located.address
        if index not in self._staging:
            self._staging[index] = self._driver.allocate(max(spec.nbytes, 1))
        self._copy_in(self._staging[index], located, spec, stream)
        return self._staging[index]

    def _copy_in(self, target: int, located: Located, spec: TensorSpec, stream: int) -> None:
        if located.host is not None:
            self._driver.upload(target, located.host, stream)
        else:
            self._driver.copy(target, located.address, spec.nbytes, stream)

    def _launch(self, addresses: dict[Slot, int], results: Sequence[int], stream: int) -> None:
        varying = addresses | {("result", number): address for number, address in enumerate(results)}
        graph = self._graphs.get(tuple(varying[slot] for slot in self._varying), self._record_main)
        self._launched_ns = time.monotonic_ns()
        graph.launch(stream)
        self._driver.record(self._done, stream)
        self._last_stream = stream

    def _follow(self, stream: int) -> None:
        """Work on the stream from now on comes after the last call."""
        if self._last_stream not in (None, stream):
            self._driver.wait(stream, self._done)

    def _record_main(self, recorder: Any, varying: Addresses) -> None:
        there = dict(zip(self._varying, varying))
        buffers = [there[slot] if slot in there else self._static.address(_static_name(slot)) for slot in self.program.slots["main"]]
        self._steps["main"].execute(recorder, Memory(buffers))

    def measurements(self) -> list[tuple[int, int, int]]:
        """Of the last call alone: the events are recorded again by each."""
        with self._lock:
            self._driver.use()
            if self._last_stream is not None:
                self._driver.synchronise(self._last_stream)
                found = profile.measurements(self._driver, self._steps["main"].steps)
                return [(number, self._launched_ns + begin, self._launched_ns + end) for number, begin, end in found]
        return []

    def __del__(self) -> None:
        for address in getattr(self, "_staging", {}).values():
            self._driver.free(address)
        if done := getattr(self, "_done", 0):
            self._driver.free_event(done)


def _static_name(slot: Slot) -> Any:
    return "arena" if slot[0] == "arena" else slot

"""The CPU as a device: a program's entries are native functions of one array of pointers, its *buffers*.

A call takes a *frame* (such an array with its own arena) from those the entry keeps, so several threads may call at once.
"""

from __future__ import annotations

import copy
import ctypes
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .artifact import Buffer
from .bounds import REPORT
from .custom_calls import SYMBOL, addresses, checked, is_registered
from .errors import ArityError
from .huge_pages import Returning, move_to_huge_pages
from .jax_calls import JaxCalls
from .lazy import lazy
from .library import profile_events
from .linking import LinkedCode, require
from .manifest import check_made_for, interface
from .memory import Scratch, result_factory, side_by_side
from .program import LoadedProgram, Slot
from .tensors import TO_KIND, TorchAddresses, address_of, refuse_overlap, share_memory, torch_factory, view


class _Frame:
    """The buffers of one running call: those that never change are set, arguments and results are not."""

    __slots__ = ("address", "arena", "pointers")

    def __init__(self, fixed: Sequence[int], arena: tuple[int, int] | None):
        self.pointers = (ctypes.c_uint64 * (len(fixed) + 1))(*fixed)  # the last one is for arguments that the entry does not read
        self.address = ctypes.addressof(self.pointers)
        self.arena = None
        if arena is not None:
            index, nbytes = arena
            self.arena = Scratch(nbytes)
            self.pointers[index] = self.arena.address


class _Entry:
    """An entry of the program with all buffers that stay the same from call to call."""

    def __init__(self, function: Any, slots: Sequence[Slot], fixed: Mapping[Slot, int], owners: Any):
        self.function = function
        self.owners = owners
        self.arguments = {value: index for index, (kind, value) in enumerate(slots) if kind == "argument"}
        self.results = [index for _, index in sorted((value, index) for index, (kind, value) in enumerate(slots) if kind == "result")]
        self.fixed = [fixed.get(slot, 0) for slot in slots]
        self.arena = next(((index, value) for index, (kind, value) in enumerate(slots) if kind == "arena"), None)
        self.by_xla = JaxCalls()
        self._idle: list[_Frame] = []

    def take(self) -> _Frame:
        try:
            return self._idle.pop()
        except IndexError:
            return _Frame(self.fixed, self.arena)

    def give(self, frame: _Frame) -> None:
        self._idle.append(frame)

    def renewed(self, addresses: Mapping[int, int], owners: Any) -> _Entry:
        """The same entry with other buffers in some places, and the frames that wait. Calls that run go on with the older ones."""
        made = copy.copy(self)
        made.owners, made.fixed, made._idle, made.by_xla = owners, list(self.fixed), [], JaxCalls()
        while self._idle:
            try:
                made._idle.append(self._idle.pop())
            except IndexError:  # another thread took the last one
                break
        for place, address in addresses.items():
            made.fixed[place] = address
            for frame in made._idle:
                frame.pointers[place] = address
        return made


class CpuDevice:
    """Runs a program's native code in this process."""

    def __init__(self, program: LoadedProgram):
        self.program = program
        self.signature = program.signature
        self._functions = self._link(program)
        self._kept: dict[str, Buffer] = {}
        self._main: _Entry | None = None
        self._init: _Entry | None = None
        """It holds none of the arrays that it reads: a caller may have no use for them."""
        self._has_copies = True
        """Whether bound values are not where the caller has them."""
        self._slots: list[int] = []
        """Where the inputs' pointers go."""
        self._run: slice | None = None
        """The same where one follows the other."""
        self._returning: Returning | None = None
        self._own_kind = program.kind if program.kind in sys.modules else "numpy"
        self._fast = [(spec.numpy_dtype, spec.shape, spec) for spec in program.signature.inputs]
        places = {position: number for number, position in enumerate(program.positions)}
        slots = {value: index for index, (kind, value) in enumerate(program.slots["main"]) if kind == "argument"}
        self._updates = [(places[argument], slots[argument], result) for argument, result in program.in_place.items()]
        self._apart: list[int] = []
        """Where the arguments were that shared no memory with what is updated."""
        self._factories = [result_factory(spec) for spec in program.signature.outputs]

    def _link(self, program: LoadedProgram) -> Mapping[str, Any]:
        """The entries as functions of a frame's address."""
        require(program.target)
        code = [bytes(blob) for name, blob in program.blobs.items() if name.startswith("code")]
        outside, checks = addresses(program.manifest) if any(SYMBOL.encode() in blob for blob in code) else ({}, set())
        self._code = LinkedCode(code, program.symbols.values(), outside)
        check_made_for(interface(program.manifest, program.blobs), self._code.interface, "the machine code")
        functions = {kind: self._code.entries[name] for kind, name in program.symbols.items()}
        self.calls_functions = any(is_registered(symbol.removeprefix(SYMBOL)) for symbol in outside)
        """Whether it calls what a person registered, which may be Python's."""
        self._reports = any(REPORT in blob for blob in code)
        return {kind: checked(entry, checks) for kind, entry in functions.items()} if checks else functions

    # Calling.

    @lazy
    def _torch_addresses(self) -> TorchAddresses:
        return TorchAddresses(self.signature.inputs)

    @lazy
    def _torch_factories(self) -> list[Callable[[], tuple[Any, int]]]:
        return [torch_factory(spec, large) for spec, large in zip(self.signature.outputs, self._factories)]

    def call(self, inputs: Sequence[Any], outputs: Sequence[Any] | None = None, *, in_place: bool = False) -> list[Any]:
        """`in_place`: the inputs that the program updates can be written. Results are those arrays then, or copies of such as are not dense
        and row-major. What shares memory with another input is copied, too."""
        main = self._main
        assert main is not None, "not started"
        if "jax" in sys.modules and outputs is None and (made := main.by_xla.results(self, inputs)) is not None:
            return made
        frame = main.take()
        pointers = frame.pointers
        there: dict[int, tuple[Any, int]] = {}
        try:
            owners, kind = self._set_inputs(main, pointers, inputs)
            if self._returning is not None:
                self._returning.look(pointers)
            if in_place:
                there = self._updated(main, pointers, inputs, owners)
            if outputs is None:
                results = []
                for number, make in enumerate(self._torch_factories if kind == "torch" else self._factories):
                    result, pointers[main.results[number]] = there[number] if number in there else make()
                    results.append(result)
            else:
                results, kind = list(outputs), "given"
                owners.update(enumerate(self._set_outputs(main, pointers, results), len(inputs)))
            if self._updates and not there:
                self._copy_updated(main, pointers)
            main.function(frame.address)
        finally:
            main.give(frame)
        del owners
        return [result if n in there else TO_KIND[kind](result) for n, result in enumerate(results)] if kind == "jax" else results

    def _updated(self, main: _Entry, pointers: Any, inputs: Sequence[Any], owners: Mapping[int, Any]) -> dict[int, tuple[Any, int]]:
        """The results that are written over inputs, by number: the arrays, and where they are. None, where inputs share memory."""
        addresses = pointers[: len(self.program.manifest["arguments"])]
        if addresses != self._apart:
            written = {number for number, _, _ in self._updates}
            slots = enumerate(zip(self.program.positions, self.signature.inputs))
            if share_memory((addresses[main.arguments[p]], spec.nbytes, number in written) for number, (p, spec) in slots):
                return {}
            self._apart = addresses
        return {result: (owners[n] if n in owners else inputs[n], addresses[slot]) for n, slot, result in self._updates}

    def _copy_updated(self, main: _Entry, pointers: Any) -> None:
        """Gives the results that are written over inputs the inputs' values: the inputs themselves stay as they are."""
        for _, slot, result in self._updates:
            ctypes.memmove(pointers[main.results[result]], pointers[slot], self.signature.outputs[result].nbytes)

    def _set_outputs(self, main: _Entry, pointers: Any, outputs: Sequence[Any]) -> list[Any]:
        """Sets the results' pointers to given arrays; returns what must outlive the call."""
        specs = self.signature.outputs
        if len(outputs) != len(specs):
            raise ArityError(f"the program has {len(specs)} results, got {len(outputs)} outputs")
        slots = main.arguments
        taken = [(pointers[slots[i]], spec) for i, spec in zip(self.program.positions, self.signature.inputs) if i in slots]
        owners = []
        for index, spec, output in zip(main.results, specs, outputs):
            found = view(spec, output, writable=True)
            refuse_overlap(found.address, spec, taken)
            taken.append((found.address, spec))
            pointers[index] = found.address
            owners.append(found.owner)
        return owners

    def _set_inputs(self, main: _Entry, pointers: Any, inputs: Sequence[Any]) -> tuple[dict[int, Any], str]:
        """Sets the arguments' pointers; returns what must outlive the call beside the inputs, by their numbers, and the arrays' kind."""
        owners: dict[int, Any] = {}
        may_be_torchs = "torch" in sys.modules and inputs and type(inputs[0]) is not np.ndarray
        places: list[int | None] = self._torch_addresses.of(inputs) if may_be_torchs else [None] * len(inputs)
        kind = self._look_at_others(places, inputs, owners) if None in places else "torch" if inputs else self._own_kind
        if self._run is not None:
            pointers[self._run] = places
            return owners, kind
        for slot, address in zip(self._slots, places):
            pointers[slot] = address
        return owners, kind

    def _look_at_others(self, places: list[int | None], inputs: Sequence[Any], owners: dict[int, Any]) -> str:
        """Sets the places that are not known yet, and what must outlive the call; returns the arrays' kind."""
        kind = "numpy"
        for number, (value, (dtype, shape, spec)) in enumerate(zip(inputs, self._fast)):
            if places[number] is not None:
                kind = "torch" if kind == "numpy" else kind
            elif type(value) is np.ndarray and value.dtype == dtype and value.shape == shape and value.flags.c_contiguous:
                places[number] = address_of(value)
            else:
                found = view(spec, value)
                places[number] = found.address
                owners[number] = found.owner
                if kind == "numpy":
                    kind = found.kind
        return kind

    def is_native(self) -> bool:
        """Whether a call of `main` is one of its code alone, and nothing is reported to Python after it."""
        return self._main is not None and not self._reports

    def frame(self) -> tuple[int, list[int], list[int], list[int], tuple[int, int] | None]:
        """For callers other than Python: the entry's address, the pointers that stay, the slots of a call's arguments (-1: not read) and
        results, and the arena's slot and bytes."""
        main = self._main
        assert main is not None, "not started"
        function: Any = self._code.entries[self.program.symbols["main"]]
        entry = ctypes.cast(function, ctypes.c_void_p).value or 0
        arguments = [main.arguments.get(position, -1) for position in self.program.positions]
        return entry, list(main.fixed), arguments, list(main.results), main.arena

    # Bound values.

    def another(self) -> CpuDevice:
        """The same code, for other bound values beside these."""
        device = copy.copy(self)
        device._kept, device._main, device._init, device._has_copies = {}, None, None, True
        return device

    def bind(self, arrays: Mapping[int, Any]) -> None:
        program = self.program
        views = {index: view(spec, arrays[index]) for index, spec in self.signature.bound.items()}
        made = side_by_side(program.init_results)
        if "init" in self._functions:
            fixed: dict[Slot, int] = {("argument", index): found.address for index, found in views.items()}
            self._init = self._entry("init", fixed, None)
            self._run_init(made)
        kept: dict[str, Buffer] = {}
        as_given = []
        for kind, index in program.kept_slots():
            if kind == "init":
                kept[f"init.{index}"] = _bytes(made[index][0])
            else:
                found, nbytes = views[index], self.signature.bound[index].nbytes
                kept[f"argument.{index}"] = _memory(found.address, nbytes, found.owner)
                as_given.append((found.address, nbytes))
        self.start(kept)
        move_to_huge_pages(as_given)
        self._has_copies = any(found.owner is not arrays[index] for index, found in views.items())

    def refresh(self) -> bool:
        """Computes anew what `init` makes of the bound arrays, which the caller still has where they were. Calls that run go on with the
        older ones. False where that takes the arrays."""
        main = self._main
        if main is None or self._has_copies:
            return False
        if self._init is None:
            return True
        made = side_by_side(self.program.init_results)
        self._run_init(made)
        renewed = {index: made[value][1] for index, (kind, value) in enumerate(self.program.slots["main"]) if kind == "init"}
        arrays, constants = main.owners
        arrays = {**arrays, **{("init", number): array for number, (array, _) in enumerate(made)}}
        self._kept = {**self._kept, **{f"init.{number}": _bytes(array) for number, (array, _) in enumerate(made)}}
        self._main = main.renewed(renewed, (arrays, constants))
        return True

    def _run_init(self, made: Sequence[tuple[np.ndarray, int]]) -> None:
        assert self._init is not None
        frame = self._init.take()  # and not given back: nothing else asks for its arena
        for slot, (_, address) in zip(self._init.results, made):
            frame.pointers[slot] = address
        self._init.function(frame.address)

    def start(self, kept: Mapping[str, Buffer]) -> None:
        arrays = {slot: _array(self.program.kept_blob(slot, kept)) for slot in self.program.kept_slots()}
        fixed = {slot: array.ctypes.data for slot, array in arrays.items()}
        self._kept, self._main = dict(kept), self._entry("main", fixed, arrays)
        unread = len(self._main.fixed)
        self._slots = [self._main.arguments.get(position, unread) for position in self.program.positions]
        self._run = _run(self._slots)
        read = [(slot, spec.nbytes) for slot, spec in zip(self._slots, self.signature.inputs) if slot != unread]
        self._returning = Returning.of(read)

    def kept(self) -> Mapping[str, Buffer]:
        return self._kept

    def _entry(self, kind: str, fixed: dict[Slot, int], owners: Any) -> _Entry:
        constants = {name: _array(blob) for name, blob in self.program.constants().items()}
        fixed = fixed | {("constant", name): array.ctypes.data for name, array in constants.items()}
        return _Entry(self._functions[kind], self.program.slots[kind], fixed, (owners, constants))

    def measurements(self) -> list[tuple[int, int, int]]:
        return profile_events()


def _run(slots: list[int]) -> slice | None:
    """Slots as a slice, if they are one."""
    return slice(slots[0], slots[-1] + 1) if slots and slots == list(range(slots[0], slots[0] + len(slots))) else None


def _bytes(array: np.ndarray) -> Buffer:
    return array.reshape(-1).view(np.uint8).data


def _array(data: Buffer) -> np.ndarray:
    return np.frombuffer(data, np.uint8) if len(data) else np.empty(0, np.uint8)


def _memory(address: int, nbytes: int, owner: Any) -> memoryview:
    """The bytes there, holding `owner`."""
    raw = (ctypes.c_char * nbytes).from_address(address)
    raw._owner = owner  # type: ignore[attr-defined]
    return memoryview(raw).cast("B")

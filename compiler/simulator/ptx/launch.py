"""PTX modules, and launches of their entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..counters import Counters
from ..errors import SimulationError
from ..lockstep import Launch
from . import ops_async, ops_float, ops_integer, ops_matrix, ops_memory, ops_threads  # noqa: F401  each registers its instructions
from .machine import Machine
from .parser import BYTES, ModuleParser
from .regions import Region, Regions
from .spaces import Anywhere, DeviceMemory
from .syntax import Entry, Variable
from .translate import Translator

THREADS_AT_ONCE = 16384
_ALIGNMENT = 256
_ELEMENT_BYTES = {"f16": 2, "bf16": 2, "s8": 1, "u8": 1, "e4m3": 1, "e5m2": 1}


class Module:
    """A PTX text. Entries are translated when they are first launched.

    module = Module(text)
    launch(module, "fusion_0", (4, 1, 1), (256, 1, 1), 0, struct.pack("QQ", x.ctypes.data, y.ctypes.data))
    """

    def __init__(self, text: str | bytes):
        parsed = ModuleParser(text.decode() if isinstance(text, bytes) else text)
        self.target, self.entries = parsed.target, parsed.entries
        self._variables = parsed.variables
        self._memory: dict[str, np.ndarray] = {}
        for variable in parsed.variables.values():
            if variable.space in ("global", "const"):
                self._give_memory(variable)
        self._code: dict[str, Translator] = {}

    def global_address(self, name: str) -> tuple[int, int]:
        """Where a variable of the module lies in the host's memory, and its bytes."""
        if name not in self._memory:
            raise SimulationError(f"the module has no global variable {name}")
        return self._variables[name].address, self._variables[name].size

    def code(self, name: str) -> Translator:
        """The numpy program that runs an entry."""
        if name not in self.entries:
            raise SimulationError(f"no kernel {name}; there are {', '.join(self.entries) or 'none'}")
        if name not in self._code:
            self._code[name] = Translator(self.entries[name], self._variables)
        return self._code[name]

    def owns(self, address: int, nbytes: int) -> bool:
        """Whether the bytes lie in one of the module's variables."""
        found = (self.global_address(name) for name in self._memory)
        return any(start <= address and address + nbytes <= start + size for start, size in found)

    def _give_memory(self, variable: Variable) -> None:
        memory = aligned(variable.size)
        memory[:] = np.frombuffer((variable.content or b"").ljust(variable.size, b"\0"), np.uint8)
        self._memory[variable.name] = memory
        variable.address = memory.ctypes.data


def aligned(size: int) -> np.ndarray:
    """Memory of the host, aligned as a GPU's."""
    raw = np.zeros(size + _ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT
    return raw[start : start + size]


class _Seen:
    """The device's memory, and the module's variables."""

    def __init__(self, memory: DeviceMemory, module: Module):
        self._memory, self._module = memory, module

    def check(self, address: int, nbytes: int, write: bool) -> None:
        if not self._module.owns(address, nbytes):
            self._memory.check(address, nbytes, write)


def launch(
    module: Module,
    entry: str,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    dynamic_shared_bytes: int,
    params: bytes,
    memory: DeviceMemory | None = None,
    *,
    cluster: tuple[int, int, int] = (1, 1, 1),
    cooperative: bool = False,
    externals: Mapping[str, Callable[..., Any]] | None = None,
    written: Sequence[Region] = (),
    checks: bool = True,
    sample: bool = True,
) -> Counters:
    """Runs a kernel to its end. `params` are the bytes of its parameters, as the entry places them. Raises SimulationError.

    `written` is global memory that the kernel writes, in which races are looked for. `externals` are functions that PTX may call: each is
    called with integers, once a thread. Blocks of a launch that is not `cooperative` do not wait for each other: of a kernel that tries,
    they run one by one. `checks=False` leaves out races, uninitialised and misaligned accesses, not what `memory` refuses.
    """
    code = module.code(entry)
    _check(module.entries[entry], grid, block, params, cluster)
    blocks_together = module.entries[entry].cluster
    given = Launch(entry, code.sites, block, grid, dynamic_shared_bytes, _unit(code, "shared"), checks, sample, blocks_together)
    given.counters.launches = 1
    blocks, threads = int(np.prod(grid)), int(np.prod(block))
    parameters = aligned(-(-len(params) // 16) * 16 or 16)
    parameters[: len(params)] = np.frombuffer(params, np.uint8)
    shared_end = code.shared_start + dynamic_shared_bytes
    at_once = 1 if code.looks or code.opaque else max(1, THREADS_AT_ONCE // threads)
    at_once = blocks if cooperative else -(-at_once // blocks_together) * blocks_together
    seen = _Seen(memory or Anywhere(), module)
    regions = Regions(written if checks and not _swaps(code) else (), _unit(code, "global"))
    with np.errstate(all="ignore"):
        for first in range(0, blocks, at_once):
            machine = Machine(given, first, min(at_once, blocks - first), seen, parameters, shared_end, code.entry.local_bytes)
            late = code.arrives | code.awaits if blocks_together > 1 else code.arrives
            machine.externals, machine.regions, machine.meets = externals or {}, regions, (code.looks, late)
            machine.run(code.code, code.registers())
    regions.check(entry)
    return given.counters


def _check(entry: Entry, grid: tuple[int, ...], block: tuple[int, ...], params: bytes, cluster: tuple[int, ...]) -> None:
    wrong = None
    threads = int(np.prod(block))
    if len(params) < entry.parameter_bytes:
        wrong = f"{len(params)} bytes of parameters, the kernel takes {entry.parameter_bytes}"
    elif min(*grid, *block) < 1:
        wrong = f"a grid of {grid} and a block of {block}"
    elif entry.max_threads is not None and threads > entry.max_threads:
        wrong = f"{threads} threads a block, the kernel takes at most {entry.max_threads}"
    elif entry.required_block is not None and block != entry.required_block:
        wrong = f"a block of {block}, the kernel takes {entry.required_block}"
    elif tuple(cluster) not in ((1, 1, 1), (entry.cluster, 1, 1)):
        wrong = "clusters that the kernel does not ask for are not simulated"
    elif grid[0] % entry.cluster or (entry.cluster > 1 and grid[1:] != (1, 1)):
        wrong = f"a grid of {grid} in clusters of {entry.cluster}"
    if wrong:
        raise SimulationError(wrong, kernel=entry.name)


def _swaps(code: Translator) -> bool:
    """Whether it compares and swaps in global memory: what such a loop reads first, others may write meanwhile."""
    return any(i.parts[0] == "atom" and "cas" in i.parts and "shared" not in i.parts for i in code.sites)


def _unit(code: Translator, space: str) -> int:
    """The least that an instruction may access of that space at once, at most 4 bytes."""
    least = 4
    others = {"global", "shared", "param", "const", "local"} - {space}
    for instruction in code.sites:
        parts = instruction.parts
        if parts[0] in ("ld", "st", "atom", "red") and not others & set(parts):
            least = min(least, BYTES.get(parts[-1], 4))
        if parts[:2] == ["cp", "async"] and len(instruction.operands) == 4:
            least = min(least, 1 if parts[2] in ("ca", "cg") else 4)
        if parts[0] == "ldmatrix":
            least = min(least, 2)
        if parts[0] == "wgmma" and parts[-1] in _ELEMENT_BYTES:
            least = min(least, _ELEMENT_BYTES[parts[-1]])
    return least

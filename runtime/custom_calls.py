"""Outside code that programs call by the name of a target: what a person registered, and LAPACK's routines.

    void function(void **buffers, const int64_t *numbers, const char *config);

`buffers` are the operands, then the results, dense. For a target that a person registered, `numbers` are the counts of operands and of
results, then for each buffer its DLPack type code, its bits, its rank and its extents; `config` is the call's configuration, as JSON where
it is a dictionary, else as it is.
"""

from __future__ import annotations

import ctypes
import functools
import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .dtypes import numpy_dtype
from .errors import CustomCallError, ExecutionError, LoadError
from .lapack import check_memory, lapack_address
from .thunks import read_program, walk

SYMBOL = "hloom_call."
"""What precedes a target's name in the object code that calls it."""
FUNCTION = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_int64), ctypes.c_char_p)
_CODES = {0: "i", 1: "ui", 2: "f", 4: "bf", 6: "i"}
"""DLPack's type codes: an element type's name is this and its bits."""


@dataclass(frozen=True)
class HostTarget:
    """A function in this process. `owner` keeps it alive; `check`, called after a program that calls it, raises what went wrong."""

    address: int
    owner: Any
    check: Callable[[], None] | None = None


_targets: dict[str, HostTarget] = {}
replacements: dict[str, Any] = {}
"""StableHLO modules that stand in for calls when a program is compiled (compiler/frontends/replaced_calls.py)."""
_replaced: list[HostTarget] = []
"""Programs that were loaded before go on calling these."""
_here = threading.local()


def custom_call(name: str, function: Any = None) -> Any:
    """Registers what programs do that call the custom-call target `name`, from here on in this process.

    `function` is one of these:
    - a C function, as its address or as a ctypes function, with the signature above; CPUs call it;
    - a Python function, which CPUs call with an array for each operand and a keyword for each entry of the call's configuration, and which
      gives an array, or a tuple of them;
    - a StableHLO module, as text, bytecode, a path or an ir.Module, whose entry stands in the call's place when a program is compiled.

    Without it, gives a decorator for a Python function. A saved program that calls a C or Python function needs it registered before it is
    loaded. Programs that were loaded before keep what they were loaded with.
    """
    if function is None:
        return functools.partial(_registered, name)
    return _registered(name, function)


def _registered(name: str, function: Any) -> Any:
    if not isinstance(name, str) or not name or "\0" in name:
        raise ExecutionError(f"a custom-call target should have a name, got {name!r}")
    target = _host_target(function)
    if name in _targets:
        _replaced.append(_targets.pop(name))
    replacements.pop(name, None)
    if target is None:
        replacements[name] = function
    else:
        _targets[name] = target
    return function


def is_registered(name: str) -> bool:
    """Whether a person has registered a C or Python function under that name."""
    return name in _targets


def registered() -> list[str]:
    """All names that a person has registered."""
    return [*_targets, *replacements]


def _host_target(function: Any) -> HostTarget | None:
    """What to call for the address of a C function, a ctypes function, or Python code; None for anything else."""
    if isinstance(function, int) and not isinstance(function, bool) and function > 0:
        return HostTarget(function, None)
    if isinstance(function, ctypes._CFuncPtr):  # type: ignore[attr-defined]
        return HostTarget(ctypes.cast(function, ctypes.c_void_p).value or 0, function)
    if not callable(function):
        return None
    entry = FUNCTION(lambda buffers, numbers, config: _run(function, buffers, numbers, config))
    return HostTarget(ctypes.cast(entry, ctypes.c_void_p).value or 0, entry, _raise_first)


def addresses(manifest: Mapping[str, Any]) -> tuple[dict[str, int], set[Callable[[], None]]]:
    """The symbols of all targets that a program calls, with their functions; and what is to be called after it.

    Raises LoadError for a target that nobody registered.
    """
    thunks = (thunk for entry in manifest["programs"] for thunk in walk(read_program(manifest, entry)))
    names = {thunk["target"] for thunk in thunks if thunk.kind == "custom_call"}
    found: dict[str, int] = {}
    checks = set()
    for name in sorted(names):
        target = _targets.get(name) or HostTarget(lapack_address(name) or 0, None, check_memory)
        if not target.address:
            remedy = f'register it before loading: hloom.custom_call("{name}", function)'
            raise LoadError(f"the program calls the custom-call target {name!r}, which nobody registered", remedy=remedy)
        found[SYMBOL + name] = target.address
        if target.check:
            checks.add(target.check)
    return found, checks


def checked(entry: Callable[[int], None], checks: Iterable[Callable[[], None]]) -> Callable[[int], None]:
    """`entry`, which then raises what the functions that it called could not."""

    def run(buffers: int) -> None:
        entry(buffers)
        for check in checks:
            check()

    return run


def _raise_first() -> None:
    """Raises CustomCallError for the first Python function that raised since the last check."""
    error = _first_error()
    if error is not None:
        raise CustomCallError(_message(error), remedy="the exception before this one says where") from error


@ctypes.CFUNCTYPE(ctypes.c_void_p)
def take_error() -> int | None:
    """The same for callers that are not Python: the address of a message, which lives to the thread's next one."""
    error = _first_error()
    if error is None:
        return None
    _here.told = ctypes.create_string_buffer(f"hloom: {_message(error)}".encode())
    return ctypes.addressof(_here.told)


def _first_error() -> BaseException | None:
    error, _here.error = getattr(_here, "error", None), None
    return error


def _message(error: BaseException) -> str:
    return f"a custom call's Python function raised {type(error).__name__}: {error}"


# Python functions.


def _run(function: Callable[..., Any], buffers: Any, numbers: Any, config: bytes) -> None:
    """Calls the function on arrays over the operands' memory, and copies what it gives to the results'."""
    operands, results = _arrays(buffers, numbers)
    try:
        for operand in operands:
            operand.flags.writeable = False
        given = function(*operands, **_keywords(config.decode()))
        values = list(given) if isinstance(given, (tuple, list)) else [given]
        if len(values) != len(results):
            raise ValueError(f"the function gives {len(values)} results, the call has {len(results)}")
        for number, (value, result) in enumerate(zip(values, results)):
            value = np.asarray(value)
            if value.shape != result.shape or value.dtype != result.dtype:
                raise ValueError(f"result {number} should be {result.dtype}{result.shape}, is {value.dtype}{value.shape}")
            result[...] = value
    except BaseException as error:  # nothing may pass through the program's machine code
        if getattr(_here, "error", None) is None:
            _here.error = error
        for result in results:
            result.reshape(-1).view(np.uint8)[...] = 0


def _keywords(config: str) -> dict[str, Any]:
    if not config:
        return {}
    try:
        found = json.loads(config)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"config": config}


def _arrays(buffers: Any, numbers: Any) -> tuple[list[np.ndarray], list[np.ndarray]]:
    operands, results, place = numbers[0], numbers[1], 2
    found = []
    for index in range(operands + results):
        code, bits, rank = numbers[place : place + 3]
        shape = tuple(numbers[place + 3 : place + 3 + rank])
        place += 3 + rank
        dtype = _dtype(code, bits)
        count = int(np.prod(shape, dtype=np.int64))
        if count:
            memory = (ctypes.c_uint8 * (count * dtype.itemsize)).from_address(buffers[index])
            found.append(np.ctypeslib.as_array(memory).view(dtype).reshape(shape))
        else:
            found.append(np.empty(shape, dtype))
    return found[:operands], found[operands:]


def _dtype(code: int, bits: int) -> np.dtype:
    if code == 5:
        return np.dtype(f"c{bits // 8}")
    return numpy_dtype("i1" if code == 6 else f"{_CODES[code]}{bits}")

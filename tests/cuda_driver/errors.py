"""The driver's error codes, as far as the emulated one gives them, and what makes it give one."""

from __future__ import annotations

from enum import IntEnum


class Code(IntEnum):
    INVALID_VALUE = 1
    OUT_OF_MEMORY = 2
    NOT_INITIALIZED = 3
    DEINITIALIZED = 4
    NO_DEVICE = 100
    INVALID_DEVICE = 101
    INVALID_IMAGE = 200
    INVALID_CONTEXT = 201
    NO_BINARY_FOR_GPU = 209
    INVALID_PTX = 218
    INVALID_HANDLE = 400
    ILLEGAL_STATE = 401
    NOT_FOUND = 500
    NOT_READY = 600
    ILLEGAL_ADDRESS = 700
    LAUNCH_OUT_OF_RESOURCES = 701
    LAUNCH_FAILED = 719
    COOPERATIVE_LAUNCH_TOO_LARGE = 720
    NOT_PERMITTED = 800
    NOT_SUPPORTED = 801
    STREAM_CAPTURE_UNSUPPORTED = 900
    STREAM_CAPTURE_INVALIDATED = 901
    STREAM_CAPTURE_MERGE = 902
    STREAM_CAPTURE_UNMATCHED = 903
    STREAM_CAPTURE_UNJOINED = 904
    STREAM_CAPTURE_ISOLATION = 905
    STREAM_CAPTURE_IMPLICIT = 906
    CAPTURED_EVENT = 907
    STREAM_CAPTURE_WRONG_THREAD = 908
    GRAPH_EXEC_UPDATE_FAILURE = 910
    INVALID_CLUSTER_SIZE = 912
    UNKNOWN = 999


class Refused(Exception):
    """A call that the driver refuses: the code that it gives, and why."""

    def __init__(self, code: Code, why: str):
        super().__init__(f"{code.name}: {why}")
        self.code, self.why = code, why


class Fault(Exception):
    """Work that does what it must not, found when it runs: the context is of no use from then on."""

    def __init__(self, why: str, code: Code = Code.ILLEGAL_ADDRESS):
        super().__init__(why)
        self.code = code


def require(holds: object, code: Code, why: str) -> None:
    if not holds:
        raise Refused(code, why)

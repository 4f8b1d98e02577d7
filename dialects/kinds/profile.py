"""profile_begin and profile_end: the marks of a measurement, which insert-profiling sets."""

from torch_mlir import ir

from ..host_function import HostFunction
from ..thunk import Machine, ThunkOp


class _Mark(ThunkOp):
    def lower(self, host: HostFunction, loops: int) -> None:
        host.call(f"hloom_{self.kind}", [host.constant(self.id.value)], "i64")

    def simulate(self, machine: Machine) -> None:
        """Measures nothing."""


class ProfileBegin(_Mark, name="profile_begin"):
    """Starts the measurement number `id`, of what `label` says; `hloom_profile_begin(int64_t id)` on the CPU."""

    id: ir.IntegerAttr
    label: ir.StringAttr


class ProfileEnd(_Mark, name="profile_end"):
    """Ends the measurement number `id`; `hloom_profile_end(int64_t id)` on the CPU."""

    id: ir.IntegerAttr

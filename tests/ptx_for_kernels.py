"""pytest --ptx: where a test simulates kernels for a GPU, the PTX that is emitted for them runs instead."""

from __future__ import annotations


def install() -> None:
    import hloom.compiler.simulator as simulator
    from hloom.compiler.simulator import ptx_kernels, simulated_device
    from hloom.compiler.target import resolve

    target_of = ptx_kernels.target_of

    def target_or_usual(op):
        found = target_of(op)
        return found if found.kind == "cuda" else resolve("sm_90a")  # of modules that tests wrote without one

    ptx_kernels.target_of = target_or_usual
    simulator.Kernels = ptx_kernels.PtxKernels
    simulated_device.SimulatedDevice.kernels = staticmethod(lambda: ptx_kernels.PtxKernels)

"""pytest --ptx: where a test simulates kernels for a GPU, the PTX that is emitted for them runs instead."""

from __future__ import annotations


def install() -> None:
    import hloom.compiler.simulator as simulator
    from hloom.compiler.simulator import ptx_kernels, simulated_device

    simulator.Kernels = ptx_kernels.PtxKernels
    simulated_device.SimulatedDevice.kernels = staticmethod(lambda: ptx_kernels.PtxKernels)

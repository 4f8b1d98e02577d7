"""What a simulated call did, as a table: the thunks by kind, then one row a kernel."""

from __future__ import annotations

from typing import Any

_HEADER = [
    *("kernel", "launches", "read", "written", "sectors/read", "sectors/write"),
    *("bank conflicts", "shuffles", "barriers", "atomics", "mma"),
]


def print_counters(device: Any) -> None:
    """Prints the counters of the last call of a SimulatedDevice."""
    rows = [[name, *_figures(counters)] for name, counters in device.last.kernels.items()]
    print("simulated: " + (", ".join(f"{kind} {count}" for kind, count in device.last.thunks.items()) or "nothing"))
    table = [_HEADER, *rows] if rows else []
    widths = [max(map(len, column)) for column in zip(*table)]
    for row in table:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def _figures(counters: Any) -> list[str]:
    conflicts = f"{counters.bank_conflicts:.2f}" if counters.shared_requests else "-"
    return [
        *(str(counters.launches), str(counters.global_read_bytes), str(counters.global_written_bytes)),
        *(f"{counters.sectors_per_read:.1f}", f"{counters.sectors_per_write:.1f}", conflicts),
        *(str(counters.shuffles), str(counters.barriers), str(counters.atomics), str(counters.mma)),
    ]

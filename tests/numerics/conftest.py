"""Each test compiles for a CPU of tests/machines.py, unless it names its target."""

from machines import any_cpu as any_cpu

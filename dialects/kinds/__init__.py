"""The kinds of work in a host program, one a file, which is found by being here.

A kind is an op of lhlo, which works on buffers, and the op of thunk that it becomes, which works on slices: what they hold, what must hold
of them, how a CPU and the simulator run them and what the report says of them. Adding a kind takes a file here and one in
runtime/cuda/kinds, with what an artifact holds of it and how CUDA runs it.

No file here has `from __future__ import annotations`: the fields of ops are read from the annotations as types, not as text.
"""

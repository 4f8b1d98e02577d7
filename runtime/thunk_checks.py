"""Host programs of a manifest against its buffers and launches: what each op reads and writes lies inside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .errors import DamagedFileError
from .thunk_schema import FLOATS

Op = Mapping[str, Any]
_REGIONS = ("body", "cond", "branches")


def check_program(
    entry: str, body: Sequence[Op], sizes: Sequence[int], writable: Sequence[bool], launches: Mapping[str, Any] | None
) -> None:
    """Raises DamagedFileError where the program, which the schema took, leaves its buffers of these sizes, or writes one it may not.

    `launches` are those of a GPU's kernels; None for a CPU, whose kernels take their own tiles.
    """
    for number, op in enumerate(_walk(body)):
        for message in _faults(op, sizes, writable, launches):
            raise DamagedFileError(
                f"the manifest does not describe a program: op {number} of programs.{entry}, {op['op']}, {message}",
                remedy="write the file again",
            )


def _walk(body: Sequence[Op]) -> Iterator[Op]:
    for op in body:
        yield op
        for region in _REGIONS:
            yield from _walk(op.get(region, ()))


def _faults(op: Op, sizes: Sequence[int], writable: Sequence[bool], launches: Mapping[str, Any] | None) -> Iterator[str]:
    reads, writes = op.get("reads", ()), op.get("writes", ())
    for buffer, offset, size in (*reads, *writes):
        if buffer >= len(sizes):
            yield f"has a slice of buffer {buffer} of {len(sizes)}"
        elif offset + size > sizes[buffer]:
            yield f"has the slice of bytes {offset} to {offset + size} of buffer {buffer}, which has {sizes[buffer]}"
    for buffer, _, _ in writes:
        if not writable[buffer]:
            yield f"writes buffer {buffer}, an argument or a constant"
    match op["op"]:
        case "kernel" if launches is not None:
            yield from _kernel(op, launches)
        case "copy" if reads[0][2] != writes[0][2]:
            yield f"copies {reads[0][2]} bytes to {writes[0][2]}"
        case "fill" if writes[0][2] % len(op["pattern"]):
            yield f"fills {writes[0][2]} bytes with a pattern of {len(op['pattern'])}"
        case "gemm":
            yield from _gemm(op)
        case "conv":
            yield from _conv(op)
        case "fft":
            yield from _fft(op)
        case "cholesky":
            batch, n = op["sizes"]
            yield from _matrices(op, [(batch, n, n)] * 2)
        case "triangular_solve":
            batch, m, n = op["sizes"]
            order = m if op["left"] else n
            yield from _matrices(op, [(batch, order, order), (batch, m, n), (batch, m, n)])


def _kernel(op: Op, launches: Mapping[str, Any]) -> Iterator[str]:
    slices = [*op["reads"], *op["writes"]]
    launch = launches.get(op["callee"])
    if launch is None:
        yield f"runs {op['callee']}, which is not among the kernels"
        return
    if launch["noalias"] and len(launch["noalias"]) != len(slices):
        yield f"gives {len(slices)} addresses to {op['callee']}, which takes {len(launch['noalias'])}"
    for tensor in launch.get("tensor_maps", ()):
        if not len(tensor["extents"]) == len(tensor["strides"]) == len(tensor["box"]):
            yield f"has a tensor map of {op['callee']} whose extents, strides and box are of different numbers"
        elif tensor["strides"][-1] != FLOATS[tensor["dtype"]]:
            yield f"has a tensor map of {op['callee']} whose innermost stride is not an element"
        elif tensor["argument"] >= len(op["reads"]):
            yield f"has a tensor map of argument {tensor['argument']} of {op['callee']}, which reads {len(op['reads'])}"
        else:
            end = tensor["offset"] + _reach(tensor["extents"], tensor["strides"]) + FLOATS[tensor["dtype"]]
            if end > slices[tensor["argument"]][2]:
                yield f"has a tensor map of {op['callee']} that ends at byte {end} of {slices[tensor['argument']][2]}"


def _gemm(op: Op) -> Iterator[str]:
    bias, accumulate = op["epilogue"].startswith("bias"), op["accumulate"]
    if len(op["reads"]) != 2 + bias + accumulate or len(op["writes"]) != 1:
        yield "wants A, B, the bias and the residual to read, and one slice to write"
        return
    batch, m, n, k = op["sizes"]
    shapes = [(k, m) if op["transposed"][0] else (m, k), (n, k) if op["transposed"][1] else (k, n), (m, n)]
    matrices = [("A", 0, op["element"], op["reads"][0]), ("B", 1, op["element"], op["reads"][1]), ("C", 2, op["result"], op["writes"][0])]
    if accumulate:
        matrices.append(("the residual", 2, op["result"], op["reads"][-1]))
    for name, at, element, (_, _, size) in matrices:
        extents, strides = (batch, *shapes[at]), (op["strides"][at], op["leading"][at], 1)
        if shapes[at][0] > 1 and op["leading"][at] < shapes[at][1]:
            yield f"has rows of {name} that overlap"
        yield from _inside(name, extents, strides, element, size)
    if bias:
        yield from _inside("the bias", (n,), (1,), op["result"], op["reads"][2][2])


def _conv(op: Op) -> Iterator[str]:
    spatial = len(op["window_strides"])
    tensors = [(op[name], op[f"{name}_strides"]) for name in ("input", "filter", "output")]
    windows = [op[name] for name in ("window_strides", "padding_low", "padding_high", "dilations")]
    if {len(part) - 2 for pair in tensors for part in pair} | {len(part) for part in windows} != {spatial}:
        yield "has sizes, strides and windows of different numbers of dimensions"
        return
    if len(op["reads"]) != 2 + op["bias"] + op["residual"] or len(op["writes"]) != 1:
        yield "wants x, w, the bias and the residual to read, and one slice to write"
        return
    (n, c, *image), (k, depth, *taps), (batch, features, *result) = (sizes for sizes, _ in tensors)
    if (n, k, c) != (batch, features, depth * op["groups"]) or k % op["groups"]:
        yield f"has {op['groups']} groups, which do not take {c} to {k} channels"
    for extent, tap, made, stride, low, high, dilation in zip(image, taps, result, *windows):
        if min(stride, dilation) < 1 or made != max(0, (low + extent + high - (tap - 1) * dilation - 1) // stride + 1):
            yield f"has a window of {tap} over {extent} elements that gives no {made}"
    named = [("x", 0, op["reads"][0]), ("w", 1, op["reads"][1]), ("y", 2, op["writes"][0])]
    if op["residual"]:
        named.append(("the residual", 2, op["reads"][-1]))
    for name, at, (_, _, size) in named:
        yield from _inside(name, *tensors[at], op["element"], size)
    if op["bias"]:
        yield from _inside("the bias", (k,), (1,), op["element"], op["reads"][2][2])


def _fft(op: Op) -> Iterator[str]:
    lengths = op["lengths"]
    whole, half = (op["batch"], *lengths, 2), (op["batch"], *lengths[:-1], lengths[-1] // 2 + 1, 2)
    shapes = {"rfft": (whole[:-1], half), "irfft": (half, whole[:-1])}.get(op["transform"], (whole, whole))
    for name, shape, (_, _, size) in zip(("signal", "result"), shapes, (op["reads"][0], op["writes"][0])):
        yield from _inside(f"the {name}", shape, _dense(shape), op["element"], size)


def _matrices(op: Op, shapes: Sequence[tuple[int, ...]]) -> Iterator[str]:
    for shape, (_, _, size) in zip(shapes, (*op["reads"], *op["writes"])):
        yield from _inside("a matrix", shape, _dense(shape), op["element"], size)


def _inside(name: str, extents: Sequence[int], strides: Sequence[int], element: str, size: int) -> Iterator[str]:
    if min(extents) and (_reach(extents, strides) + 1) * FLOATS[element] > size:
        yield f"reaches past the slice of {name}, which has {size} bytes"


def _reach(extents: Sequence[int], strides: Sequence[int]) -> int:
    """How far the last element lies from the first."""
    return sum((extent - 1) * stride for extent, stride in zip(extents, strides))


def _dense(shape: Sequence[int]) -> tuple[int, ...]:
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.append(strides[-1] * extent)
    return tuple(reversed(strides))

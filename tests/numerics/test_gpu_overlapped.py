"""Contractions on GPUs whose epilogue runs beside the next tile's products (overlapped.py), on the simulator, against numpy."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import pytest
from test_gpu_matmul import LAYOUTS, Case, run
from torch_mlir import ir

from hloom.compiler.cuda.assemble import assembler, parse_report
from hloom.compiler.cuda.ptx import emit_ptx
from hloom.compiler.target import load_target
from hloom.dialects.context import make_context
from hloom.passes.gpu.contraction.choose_kernel import try_distribute

TWO_PROCESSORS = replace(load_target("sm_90a"), multiprocessors=2)
HEAVY = "\n".join(f"    %h{n + 1} = arith.mulf %h{n}, %{'half' if n % 2 else 'two'} : f32" for n in range(32))
"""What computes much, and nothing."""


@dataclass(frozen=True)
class Heavy(Case):
    def text(self) -> str:
        constants = "%zero = arith.constant 0.0 : f32\n  %half = arith.constant 0.5 : f32\n  %two = arith.constant 2.0 : f32"
        relu = f"%h0 = arith.maximumf %s, %zero : f32\n{HEAVY}\n    %y = arith.addf %h32, %zero : f32"
        return super().text().replace("%zero = arith.constant 0.0 : f32", constants).replace("%y = arith.maximumf %s, %zero : f32", relu)

    __str__ = Case.__str__


def _heavy(rows: int, cols: int, inner: int, **more: object) -> Heavy:
    element = str(more.pop("element", "bf16"))
    return Heavy(rows, cols, inner, element, result=element, bias_relu=True, **more)


def _grid(printed: str) -> int:
    return int(re.findall(r"known_grid_size = array<i32: (\d+)", printed)[0])


@pytest.mark.parametrize("transposed", LAYOUTS)
def test_tiles_that_follow_each_other(transposed):
    case = _heavy(512, 384, 512, left_transposed=transposed[0], right_transposed=transposed[1])
    counters, printed = run(case, TWO_PROCESSORS)
    assert _grid(printed) == 2 and 'tile = "128x192x64"' in printed and counters.bank_conflicts <= 1.2


@pytest.mark.parametrize(
    "case",
    [
        _heavy(300, 400, 456, element="f16"),  # tiles, steps and columns past the end
        _heavy(640, 192, 64 * 13, right_transposed=True),  # more steps than turns, an odd number of tiles
        _heavy(256, 192, 448, batch=3),
    ],
    ids=str,
)
def test_odd_sizes(case):
    _, printed = run(case, TWO_PROCESSORS)
    assert _grid(printed) == 2 and "nvvm.wgmma.mma_async" in printed


def test_little_work_is_not_worth_it():
    _, printed = run(Case(512, 512, 512, "bf16", result="bf16", bias_relu=True), TWO_PROCESSORS)
    assert _grid(printed) > 2


def test_nothing_spills_or_is_serialised():
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(
            _heavy(500, 384, 512, right_transposed=True).text().replace("arith.mulf %h3, %half", "arith.divf %h3, %two")
        )
        assert try_distribute(module.body.operations[0].operation, TWO_PROCESSORS)
        assert _grid(str(module)) == 2
        ptx = emit_ptx(module.operation, TWO_PROCESSORS)
    _, report = assembler().run(ptx, "sm_90a")
    used = parse_report(report)["k"]
    assert not used.spills and not used.stack and used.registers <= 255 and "(C75" not in report

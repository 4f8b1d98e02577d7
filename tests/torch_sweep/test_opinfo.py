"""Of torch's own database of operators no sample is wrong that runs here; all operators' run with HLOOM_SWEEP=all."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("expecttest", reason="torch's own tests want it")

from opinfo import chosen
from sweep_workers import run

ALL = os.environ.get("HLOOM_SWEEP") == "all"
SHARE = r"^(expand|log10|std_mean|index_select|addmm|nn\.functional\.group_norm|as_strided\.partial_views)$"


def test_no_sample_is_wrong():
    settings = chosen() if ALL else chosen(SHARE, types="float32", first=True)
    found = run(settings, workers=1, judge="opinfo_verdict")
    faults = {" ".join(setting): told for setting, told in found.items() if told[0] == "wrong"}
    assert settings and not faults, faults

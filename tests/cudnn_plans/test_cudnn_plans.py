"""What the planner may give to cuDNN has a plan there: cuDNN itself plans, for GPUs that are not here, as the runtime asks it to.

cuDNN and cuBLAS are a gigabyte: `pip install 'hloom[test-cudnn]'` brings them, and without them this is skipped.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))
import conv_thunks
import real_cudnn

from hloom.passes.library_calls.conv import Conv

HERE = Path(__file__).parent
WINDOWS = 40

if absent := real_cudnn.missing():
    pytest.skip(f"not installed: {absent} (the extra test-cudnn)", allow_module_level=True)


def plans(folder: Path, device: str, thunks: list[dict]) -> list[dict]:
    """What cuDNN answers, in a process of its own."""
    lines = "".join(json.dumps({"device": device, "thunk": thunk}) + "\n" for thunk in thunks)
    done = subprocess.run(
        [sys.executable, str(HERE / "plan_all.py"), str(folder)], input=lines, capture_output=True, text=True, timeout=800
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("device", real_cudnn.DEVICES)
def test_what_the_planner_may_choose_has_a_plan(device, tmp_path):
    every = list(conv_thunks.of_every_layout())
    seed = real_cudnn.DEVICES.index(device)
    thunks = [
        *every[seed :: len(real_cudnn.DEVICES)],
        *conv_thunks.random_windows(WINDOWS, seed),
        *conv_thunks.random_gradients(WINDOWS, seed),
    ]
    assert not any(_form(thunk).obstacle for thunk in thunks)
    found = plans(tmp_path, device, thunks)
    assert len(found) == len(thunks)
    lacking = [(answer["error"], thunk) for answer, thunk in zip(found, thunks) if "plan" not in answer]
    assert not lacking, lacking[:3]
    assert not any(answer["zero_bias"] for answer, thunk in zip(found, thunks) if thunk["bias"])


def test_what_has_none_is_told(tmp_path):
    """A filter for twice the channels that there are."""
    thunk = conv_thunks.conv_thunk("f16", x=[2, 32, 14, 14], features=64, window=[3, 3], padding=(1, 1))
    thunk["filter"] = [64, 64, 3, 3]
    (found,) = plans(tmp_path, "sm_90", [thunk])
    assert "no plan for the f16 convolution 2x32x14x14 * 64x64x3x3" in found["error"]


def _form(thunk: dict) -> Conv:
    return Conv(
        **{name: tuple(value) if isinstance(value, list) else value for name, value in thunk.items() if name in Conv.__annotations__}
    )

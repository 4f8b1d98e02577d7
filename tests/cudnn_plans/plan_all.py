"""Reads thunks as JSON, a line each with a device, and answers on stdout with the plan that the runtime would run, or why there is none.

python plan_all.py FOLDER < lines        {"device": "sm_90", "thunk": {…}} → {"plan": "eng…", "zero_bias": false} or {"error": "…"}
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from real_cudnn import Planner, load

from hloom.runtime.cuda.kinds.conv import ConvStep
from hloom.runtime.thunks import Thunk


def main(folder: str) -> None:
    cudnn = load(Path(folder))
    planners: dict[str, Planner] = {}
    for line in sys.stdin:
        asked = json.loads(line)
        device = asked["device"]
        planner = planners.setdefault(device, Planner(cudnn, device))
        step = ConvStep(Thunk("conv", attributes=asked["thunk"]))
        step._cudnn, step._handle = planner, 0
        try:
            graph, _ = step._plan()
            answer = {"plan": graph.plan, "zero_bias": step.zero_bias}
        except Exception as error:
            answer = {"error": str(error).partition("\n")[0]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

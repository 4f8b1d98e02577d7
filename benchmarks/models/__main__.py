"""Times hloom on whole models with random weights beside its peers.

python -m benchmarks.models                                      the quick run: one short round of every row, batch 1 and 8
python -m benchmarks.models resnet50 text --peers hloom,openvino   families and rows by name, `*` allowed
python -m benchmarks.models resnet18 --dtype bf16                  in bf16: eager of a bf16 module, OpenVINO told to compute in it
python -m benchmarks.models --full                               three rounds of long slices, all peers
"""

from __future__ import annotations

import sys

from ..layers.command import main

if __name__ == "__main__":
    sys.exit(main("models", __doc__ or ""))

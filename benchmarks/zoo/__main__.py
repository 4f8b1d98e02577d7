"""Times torch.compile(model, backend="hloom") on public models with random weights, beside eager and inductor (torch.compile's default).

python -m benchmarks.zoo                                 one short round of every row
python -m benchmarks.zoo decoder resnet34                families and rows by name, `*` allowed
python -m benchmarks.zoo timm --dtype bf16               in bf16
"""

from __future__ import annotations

import sys

from ..layers.command import main

if __name__ == "__main__":
    sys.exit(main("zoo", __doc__ or ""))

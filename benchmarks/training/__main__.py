"""Times steps of training, and holds their gradients against f64.

python -m benchmarks.training                    one short round of every row
python -m benchmarks.training resnet18 text      rows and families by name, `*` allowed
python -m benchmarks.training --full             three rounds of long slices
"""

from __future__ import annotations

import sys

from ..layers.command import main

if __name__ == "__main__":
    sys.exit(main("training", __doc__ or ""))

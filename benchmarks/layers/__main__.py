"""Times hloom on single layers beside its peers.

python -m benchmarks.layers                                         the quick run: one short round of every row
python -m benchmarks.layers conv3x3 vgg_stem_3x3 --peers hloom,eager   families and rows by name, `*` allowed
python -m benchmarks.layers --full                                  three rounds of long slices, all peers: a night
"""

from __future__ import annotations

import sys

from .command import main

if __name__ == "__main__":
    sys.exit(main("layers", __doc__ or ""))

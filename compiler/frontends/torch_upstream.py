"""What torch-mlir's table decomposes ops by, an op at a time.

The table holds torch's own decompositions of core ATen and of composite ops, less those whose results torch-mlir cannot lower. To make it
torch looks at each overload of each op it knows, which takes longer than the export of a small model.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch._decomp import _core_aten_decompositions_post_autograd, get_decompositions
from torch._export.utils import _get_decomp_for_cia, _is_preservable_cia_op
from torch._ops import OpOverload
from torch.export.decomp_utils import PRESERVED_ATEN_CIA_OPS
from torch_mlir.extras.fx_decomp_util import _EXPANDED_DECOMP_EXCLUDE, DEFAULT_DECOMPOSITIONS

_Decomposition = Callable[..., Any]


def upstream_decomposition(op: Any) -> _Decomposition | None:
    """The op's entry in torch-mlir's `get_decomposition_table()`, None where it has none."""
    if not isinstance(op, OpOverload):
        return None
    added, core = _tables()
    if op in added:
        return added[op]
    if op._overloadpacket in _EXPANDED_DECOMP_EXCLUDE:
        return None
    if op in core:
        return core[op]
    if op in PRESERVED_ATEN_CIA_OPS or not _is_preservable_cia_op(op):
        return None
    return _get_decomp_for_cia(op)


@functools.cache
def _tables() -> tuple[dict[Any, _Decomposition], dict[Any, _Decomposition]]:
    """What torch-mlir adds to torch's, and torch's of core ATen."""
    return get_decompositions(DEFAULT_DECOMPOSITIONS), _core_aten_decompositions_post_autograd()

"""thunk.custom_call: outside code. CPUs call it; no GPU does."""

from __future__ import annotations

from ...schema import each, integer, matching, text
from ...thunk_schema import NAMES, moving
from ...thunks import ThunkKind

_FIELDS = {
    **moving(),
    "target": matching(r".+", "the name of a target"),
    "numbers": each(integer()),
    "config": text,
    "source": NAMES,
}


class CustomCallKind(ThunkKind, kind="custom_call", fields=_FIELDS):
    """`numbers` and `config` are handed to the function beside its buffers."""

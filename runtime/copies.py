"""Pickles and deep copies of executables: the bytes that `save` writes, weights and state as they are, loaded again.

pickle.dumps(exe)         the file's bytes; where they are read, what hloom.load checks is checked
copy.deepcopy(exe)        a program with weights and a state of its own
copy.copy(exe)            another handle on the same program
"""

from __future__ import annotations

import io
from typing import Any, TypeVar

from .artifact import Artifact

_T = TypeVar("_T")


class Copied:
    """What executables inherit that can be copied and pickled."""

    def artifact(self, weights: bool = True) -> Artifact:
        raise NotImplementedError

    @classmethod
    def of_artifact(cls, artifact: Artifact) -> Any:
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        file = io.BytesIO()
        self.artifact().write(file)
        return _restored, (type(self), file.getvalue())

    def __copy__(self: _T) -> _T:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other


def _restored(kind: type[Copied], data: bytes) -> Any:
    return kind.of_artifact(Artifact.of("the pickle", data))

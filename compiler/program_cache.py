"""Programs that were compiled before, by what they were made from: source, target, options, tools, and hloom's own code.

Entries are `.hloom` files in the cache directory (artifact_cache.py).
"""

from __future__ import annotations

from collections.abc import Callable

from hloom.runtime.artifact import Artifact
from hloom.runtime.errors import ExecutionError
from hloom.runtime.program import LoadedProgram

from .artifact_cache import read_artifact, write_artifact
from .cache import key_of
from .parsing import bytecode_of
from .source_program import SourceProgram
from .versions import versions

_KIND = "programs"


def program_key(program: SourceProgram, options: tuple[object, ...]) -> str:
    """Names the artifact of `program`, whose module carries target and policy already; to be taken before any pass has run."""
    trees = (program.in_tree, program.kwarg_tree, program.out_tree)
    described = (program.kind, program.inputs, program.outputs, trees, program.updates, sorted(program.state))
    return key_of((bytecode_of(program.module), repr(described), repr(options), *versions()))


def kept_or_made(key: str, make: Callable[[], Artifact]) -> Artifact:
    """The artifact of that name; one that is not there is made, and kept if the cache directory can be written."""
    artifact = _read(key)
    if artifact is None:
        artifact = make()
        write_artifact(_KIND, key, artifact)
    return artifact


def _read(key: str) -> Artifact | None:
    artifact = read_artifact(_KIND, key)
    if artifact is None:
        return None
    try:
        LoadedProgram.read(artifact)
    except ExecutionError:
        return None
    return artifact

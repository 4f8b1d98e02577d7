"""What a PTX text says, as Python values."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Register:
    """`name` is a Python name, one of its own for each scope; a special register such as %tid.x keeps its own."""

    name: str
    bits: int
    """1 for a predicate, 0 for a special register."""


@dataclass(frozen=True)
class Immediate:
    """A number: an integer, or the bits of a float of `bits` bits."""

    value: int
    bits: int = 0


@dataclass(frozen=True)
class Symbol:
    name: str


@dataclass(frozen=True)
class Address:
    """[base + offset], and the coordinates of a tensor."""

    base: Operand
    offset: int = 0
    coordinates: Group | None = None


@dataclass(frozen=True)
class Group:
    """{a, b}, (a, b), or d|p."""

    parts: tuple[Operand, ...]


@dataclass(frozen=True)
class Negated:
    """!%p"""

    predicate: Operand


Operand = Register | Immediate | Symbol | Address | Group | Negated


@dataclass(frozen=True)
class Instruction:
    line: int
    opcode: str
    operands: tuple[Operand, ...]
    predicate: Operand | None
    text: str
    target: str = ""
    """The label of a branch."""

    @property
    def location(self) -> str:
        return f"line {self.line} of the PTX"

    @property
    def parts(self) -> list[str]:
        return self.opcode.split(".")

    def __str__(self) -> str:
        return self.text


@dataclass
class Variable:
    """Memory with a name: `space` is shared, local, global, const or param; `content` is None where nothing is said of it."""

    name: str
    space: str
    size: int
    align: int
    content: bytes | None = None
    external: bool = False
    address: int = 0
    """Where it lies in its space."""


@dataclass
class Entry:
    """A kernel. `params` has name, bytes, alignment and offset of each."""

    name: str
    params: list[tuple[str, int, int, int]]
    max_threads: int | None = None
    """By .maxntid or .reqntid, together; `required_block` by the latter."""
    required_block: tuple[int, ...] | None = None
    cluster: int = 1
    """The blocks of a cluster, by .reqnctapercluster, neighbours along x."""
    variables: dict[str, Variable] = field(default_factory=dict)
    """Those of the entry itself."""
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    """The instruction that each stands before."""
    dynamic_shared: bool = False

    @property
    def parameter_bytes(self) -> int:
        return max((offset + size for _, size, _, offset in self.params), default=0)

    @property
    def shared_bytes(self) -> int:
        """Static shared memory."""
        return _end([v for v in self.variables.values() if v.space == "shared" and not v.external])

    @property
    def local_bytes(self) -> int:
        return _end([v for v in self.variables.values() if v.space == "local"])


def place(variables: list[Variable], start: int) -> int:
    """Gives the variables addresses one after the other; the end."""
    for variable in variables:
        variable.address = -(-start // variable.align) * variable.align
        start = variable.address + variable.size
    return start


def _end(variables: list[Variable]) -> int:
    end = 0
    for variable in variables:
        end = -(-end // variable.align) * variable.align + variable.size
    return end

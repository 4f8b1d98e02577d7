"""Random PyTorch programs: a module's source, and what it is called with."""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import torch

from .builder import RECIPES, Builder, Line, Var
from .recipes import load

load()

ROADS = ("compile", "compile", "train", "train", "export", "dynamic", "parts")
"""`parts`: graphs may break."""
EXTENTS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 33)
SIZES = 3
"""So many sets of sizes a program with open sizes is called with."""
TYPES = ("float64", "bfloat16", "float16", "int64", "int64", "int32", "uint8", "int8", "bool", "complex64", *["float32"] * 7)
MOST = 3000
"""Elements of an input."""
LAYOUTS = ("dense", "dense", "dense", "transposed", "stepped", "expanded", "offset")


@dataclass(frozen=True)
class TorchProgram:
    road: str
    modules: tuple[str, ...]
    lines: tuple[Line, ...]
    results: tuple[str, ...]
    inputs: tuple[tuple[torch.Tensor, ...], ...]
    """Of each set of sizes."""

    def text(self) -> str:
        return "\n".join(
            [
                "class Program(torch.nn.Module):",
                "    def __init__(self):",
                "        super().__init__()",
                *(f"        self.{module}" for module in self.modules),
                "",
                f"    def forward(self, {', '.join(f'a{n}' for n in range(len(self.inputs[0])))}):",
                *(f"        {line.text}" for line in self.lines),
                f"        return [{', '.join(self.results)}]",
            ]
        )

    @property
    def names(self) -> set[str]:
        return {self.road, *(line.recipe for line in self.lines if line.recipe)}

    def told(self) -> str:
        values = [told(f"a{n}", x) for n, x in enumerate(self.inputs[0])]
        return "\n".join([f"# {self.road}", *values, self.text()])

    def data(self) -> bytes:
        """Its inputs, as they lie in memory."""
        stream = io.BytesIO()
        torch.save([[x.detach() for x in each] for each in self.inputs], stream)
        return stream.getvalue()


def told(name: str, x: torch.Tensor) -> str:
    values = f" = {x.tolist()}" if x.numel() <= 16 else ""
    return f"# {name}: {x.dtype} {list(x.shape)}, strides {list(x.stride())}{values}"


def program(seed: int, number: int, recipes: Sequence[str] = (), size: int = 8, large: bool = False) -> TorchProgram | None:
    """`recipes`: of these families only. None if no line suited."""
    rng = np.random.RandomState(zlib.crc32(f"{seed}.{number}".encode()))
    road = ROADS[rng.randint(len(ROADS))]
    inputs = drawn_inputs(rng, SIZES if road == "dynamic" else 1, 4 * MOST if large else MOST)
    if road == "compile" and rng.rand() < 0.15:
        inputs[0] += [inputs[0][0][1:], inputs[0][0].flatten()][: rng.randint(1, 3)]
    copies = [[x.requires_grad_(road == "train" and differs(x)) for x in copies_of(each)] for each in inputs]
    torch.manual_seed(0)
    with torch.set_grad_enabled(road == "train"):
        b = Builder(rng, list(recipes) or drawn_themes(rng, road), copies, road)
        b.run(rng.randint(2, 4 + size))
    if not b.lines:
        return None
    results = drawn_results(rng, b.pool)
    if road == "train" and not _has_gradients(b, results):
        road = "compile"
    return TorchProgram(road, tuple(b.modules), tuple(b.lines), results, tuple(map(tuple, inputs)))


def _has_gradients(b: Builder, results: Sequence[str]) -> bool:
    """Whether eager has: it has none of what is written after it was read."""
    made = [b.environments[0][name] for name in results]
    try:
        torch.autograd.backward([x for x in made if x.requires_grad], [torch.ones_like(x) for x in made if x.requires_grad])
        return True
    except Exception:
        return False


def differs(x: torch.Tensor) -> bool:
    return x.is_floating_point() or x.is_complex()


def copied(x: torch.Tensor) -> torch.Tensor:
    """As it lies, in memory of its own."""
    return copies_of([x])[0]


def _whole(x: torch.Tensor) -> torch.Tensor:
    whole = torch.empty(x.untyped_storage().nbytes() // x.itemsize, dtype=x.dtype)
    whole.untyped_storage().copy_(x.untyped_storage())
    return whole


def copies_of(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """As they lie, in memory of their own; what shares memory does so too."""
    owners = {x.untyped_storage().data_ptr(): x for x in tensors}
    wholes = {place: _whole(x) for place, x in owners.items()}
    return [wholes[x.untyped_storage().data_ptr()].as_strided(x.shape, x.stride(), x.storage_offset()) for x in tensors]


def drawn_themes(rng: np.random.RandomState, road: str) -> list[str]:
    """A few families, of some the likelier: what meets often is what is near."""
    names = list(RECIPES)
    themes = [names[n] for n in rng.permutation(len(names))[: rng.randint(4, 14)]]
    if road == "parts":
        themes += ["broken"] * 3
    if rng.rand() < 0.5:
        themes += ["view", "write", "binary", "unary"]
    return themes


def drawn_results(rng: np.random.RandomState, pool: Sequence[Var]) -> tuple[str, ...]:
    """The last value, and some others; now and then an input."""
    others = [v.name for v in pool[:-1] if rng.rand() < (0.1 if v.name.startswith("a") else 0.35)]
    return (*others, pool[-1].name)


def drawn_inputs(rng: np.random.RandomState, sets: int, most: int) -> list[list[torch.Tensor]]:
    extents = [EXTENTS[rng.randint(len(EXTENTS))] for _ in range(3)]
    other = [dict(zip(extents, (EXTENTS[rng.randint(2, len(EXTENTS))] for _ in extents))) for _ in range(sets - 1)]
    found: list[list[torch.Tensor]] = [[] for _ in range(sets)]
    for n in range(rng.randint(1, 5)):
        shape = [extents[rng.randint(len(extents))] for _ in range(rng.choice([0, 1, 2, 2, 3, 3, 4]) if n else rng.randint(1, 5))]
        while prod(shape) > most:
            shape[int(np.argmax(shape))] = 3
        if rng.rand() < 0.04 and shape:
            shape[rng.randint(len(shape))] = 0
        dtype = TYPES[rng.randint(len(TYPES))] if n else ("float32", "float32", "float32", "bfloat16", "int64")[rng.randint(5)]
        layout, state = LAYOUTS[rng.randint(len(LAYOUTS))], rng.randint(10**6)
        open_dims = [sets > 1 and rng.rand() < 0.7 for _ in shape]
        for place, sizes in enumerate([{}, *other]):
            now = [sizes.get(extent, extent) if is_open and extent > 1 else extent for extent, is_open in zip(shape, open_dims)]
            found[place].append(drawn(np.random.RandomState(state), now, dtype, layout))
    return found


def drawn(rng: np.random.RandomState, shape: Sequence[int], dtype: str, layout: str) -> torch.Tensor:
    if not shape or layout == "dense":
        return values(rng, shape, dtype)
    match layout:
        case "transposed":
            return values(rng, [*shape[1:], shape[0]], dtype).movedim(-1, 0)
        case "stepped":
            return values(rng, [*shape[:-1], 2 * shape[-1] + 1], dtype)[..., 1::2]
        case "expanded":
            return values(rng, [1, *shape[1:]], dtype).expand(*shape)
        case _:
            return values(rng, [shape[0] + 2, *shape[1:]], dtype)[2:]


def values(rng: np.random.RandomState, shape: Sequence[int], dtype: str) -> torch.Tensor:
    """Floats are quarters or normal ones, integers small ones with some extreme ones among them."""
    kind = getattr(torch, dtype)
    if dtype == "bool":
        return torch.from_numpy(np.asarray(rng.rand(*shape) < 0.5))
    quarters = rng.randint(-8, 9, size=tuple(shape)) / 4
    if kind.is_complex:
        return torch.from_numpy(np.asarray(quarters + 1j * rng.randint(-8, 9, size=tuple(shape)) / 4)).to(kind)
    if kind.is_floating_point:
        return torch.from_numpy(np.asarray(quarters if rng.rand() < 0.5 else rng.standard_normal(tuple(shape)))).to(kind)
    info = torch.iinfo(kind)
    small = rng.randint(0 if not info.min else -5, 9, size=tuple(shape))
    extreme = np.where(rng.rand(*shape) < 0.5, info.min, info.max)
    return torch.from_numpy(np.asarray(np.where(rng.rand(*shape) < 0.03, extreme, small))).to(kind)

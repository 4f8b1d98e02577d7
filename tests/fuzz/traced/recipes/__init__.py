"""Families of JAX programs. A recipe takes values of a Builder and gives back what it makes of them."""

from importlib import import_module

FAMILIES = (
    *("elementwise", "movement", "contracting", "windows", "reducing", "ordering", "indexing", "control"),
    *("general", "library", "linear_algebra", "programs"),
)


def load() -> None:
    for family in FAMILIES:
        import_module(f"{__name__}.{family}")

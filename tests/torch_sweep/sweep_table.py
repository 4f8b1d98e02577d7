"""The table in docs/torch.md: what of the sweep is right, and what is refused and why; generated, never written by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from sweep_workers import Setting, Told

DOCS = Path(__file__).parents[2] / "docs" / "torch.md"
BEGIN, END = "<!-- the sweep's table: written by tests/torch_sweep -->", "<!-- the end of the sweep's table -->"

_NEEDS = {
    "sort": "sort median nanmedian kthvalue mode topk argsort msort unique_dim _unique2 unique_consecutive quantile nanquantile",
    "scatter": """
        max_unpool2d max_unpool3d index_put index_add index_copy index_reduce scatter scatter_add scatter_reduce put
        as_strided_scatter diagonal_scatter masked_scatter slice_inverse segment_reduce""",
    "complex numbers": """
        complex polar view_as_real view_as_complex view_as_real_copy view_as_complex_copy _conj _conj_physical conj_physical
        resolve_conj angle""",
    "FFT": "stft istft _fft_r2c _fft_c2r _fft_c2c",
    "linear algebra": """
        cholesky cholesky_inverse cholesky_solve linalg_slogdet linalg_det _linalg_det det logdet slogdet geqrf inverse pinverse linalg_pinv
        linalg_inv_ex linalg_lu_factor_ex linalg_lu_solve lu_unpack linalg_matrix_exp _linalg_svd linalg_svd ormqr linalg_qr
        linalg_householder_product triangular_solve lobpcg""",
    "sizes that depend on values": "item nonzero nonzero_static combinations masked_select bincount unique argwhere repeat_interleave",
    "random numbers": "native_dropout bernoulli",
}


def need(op: str) -> str:
    """What a refused op waits for: the first of the classes that lists it, else a lowering."""
    return next((name for name, ops in _NEEDS.items() if op in ops.split()), "a lowering")


def table(found: Mapping[Setting, Told], total: int) -> str:
    """Markdown: the figures, the refusals by name, and the names that are right at every setting that ran."""
    kinds = Counter(kind for kind, _ in found.values())
    own = {setting: told for setting, told in found.items() if told[0] != "refused" or need(told[1]) == "a lowering"}
    right = sum(kind == "right" for kind, _ in own.values())
    share = 100 * right / len(own) if own else 0
    lines = [
        BEGIN,
        f"Of {total} settings {len(found)} ran: {kinds['right']} right, {kinds['refused']} refused, {kinds['wrong']} wrong.",
        f"Of the {len(own)} that wait for none of {', '.join(_NEEDS)}, {share:.1f}% are right.",
        "",
        "| name | refused at | torch op | needs |",
        "|---|---|---|---|",
    ]
    names = list(dict.fromkeys(name for name, _ in found))
    for name in names:
        told = [found[setting] for setting in found if setting[0] == name]
        ops = list(dict.fromkeys(why for kind, why in told if kind == "refused"))
        if ops:
            count = sum(kind == "refused" for kind, _ in told)
            needs = list(dict.fromkeys(map(need, ops)))
            lines.append(f"| {name} | {count} of {len(told)} | {', '.join(ops)} | {', '.join(needs)} |")
    wrong = [f"`{name}{text}`: {why}" for (name, text), (kind, why) in found.items() if kind == "wrong"]
    if wrong:
        lines += ["", "Wrong:", "", *(f"- {each}" for each in wrong)]
    whole = [name for name in names if all(kind == "right" for (each, _), (kind, _) in found.items() if each == name)]
    lines += ["", f"Right at every setting that ran ({len(whole)}): {', '.join(whole)}.", END]
    return "\n".join(lines)


def write(found: Mapping[Setting, Told], total: int) -> None:
    """Puts the table into docs/torch.md, in the place of the one that is there."""
    text = DOCS.read_text()
    if BEGIN in text:
        text = text[: text.index(BEGIN)] + text[text.index(END) + len(END) :].lstrip("\n")
    DOCS.write_text(f"{text.rstrip()}\n\n{table(found, total)}\n")

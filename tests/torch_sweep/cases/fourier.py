"""torch.fft: sizes that are cut and filled up, odd and even ones, each way to scale, several dimensions, real and complex numbers."""

from __future__ import annotations

CASES: dict[str, tuple[str, ...]] = {}

for name in "fft ifft".split():
    CASES[name] = ("(c(8))", "(f(3, 5), 7, 0, norm='ortho')", "(c(2, 6).mT, 4, norm='forward')")
for name in "fft2 ifft2 fftn ifftn".split():
    CASES[name] = ("(c(4, 6))", "(f(2, 3, 5), (4, 2), norm='ortho')", "(c(3, 4, 2), dim=(2, 0))")
for name in "rfft ihfft".split():
    CASES[name] = ("(f(8))", "(d(3, 5), 7, 0, norm='ortho')", "(f(2, 6).mT, 3, norm='forward')")
for name in "rfft2 rfftn ihfft2 ihfftn".split():
    CASES[name] = ("(f(4, 6))", "(d(2, 3, 5), (4, 2), norm='ortho')", "(f(3, 4, 2), dim=(2, 0))")
for name in "irfft hfft".split():
    CASES[name] = ("(c(5))", "(f(3, 5), 7, 0, norm='ortho')", "(c(2, 6).mT, 3, norm='forward')")
for name in "irfft2 irfftn hfft2 hfftn".split():
    CASES[name] = ("(c(4, 4))", "(c(2, 3, 5), (4, 6), norm='ortho')", "(c(3, 4, 2), dim=(2, 0))")
for name in "fftfreq rfftfreq".split():
    CASES[name] = ("(8)", "(5, 0.25)", "(1, dtype=torch.float64)")
for name in "fftshift ifftshift".split():
    CASES[name] = ("(f(5))", "(i32(3, 4), dim=0)", "(c(4, 5), dim=(0, 1))")
CASES = {f"torch.fft.{name}": settings for name, settings in CASES.items()}

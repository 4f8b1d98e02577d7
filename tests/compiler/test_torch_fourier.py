"""torch.fft, stft and istft: every kind, normalisation and number of dimensions, as eager computes it."""

from __future__ import annotations

import pytest

import hloom

torch = pytest.importorskip("torch")


def one_dimension(x, z):
    f = torch.fft
    yield from (f.fft(x), f.fft(x, 13), f.ifft(x, norm="ortho"), f.fft(z, dim=0, norm="forward"), f.ifft(z, 5))
    yield from (f.rfft(x), f.rfft(x, 6, norm="ortho"), f.rfft(x, dim=0, norm="forward"), f.irfft(f.rfft(x), 9), f.irfft(z))
    yield from (f.hfft(z, norm="ortho"), f.ihfft(x, norm="forward"), f.fft(x > 0))


def many_dimensions(x, z):
    x, z, f = torch.stack([x, 2 * x])[:, :, None], torch.stack([z, 2j * z])[:, :, None], torch.fft
    yield from (f.fftn(z), f.ifftn(z, norm="ortho"), f.fftn(x, dim=(3, 0)), f.fft2(z), f.ifft2(x), f.rfftn(x), f.rfftn(x, dim=(2, 3, 0)))
    yield from (f.irfftn(f.rfftn(x, norm="forward"), s=x.shape, norm="forward"), f.rfft2(x, s=(4, 6)), f.irfft2(z), f.hfftn(z), f.ihfft2(x))


def shifts(x, z):
    f = torch.fft
    return f.fftshift(x), f.ifftshift(f.fft(z), dim=0), x[0] * f.fftfreq(9), x[0, :5] * f.rfftfreq(9, 0.5)


def short_time(x, z):
    signal, window = x.reshape(-1).repeat(2, 3), torch.hann_window(16)
    spectrum = torch.stft(signal, 16, 4, window=window, return_complex=True)
    yield spectrum
    yield torch.stft(signal, 16, 5, 10, center=False, normalized=True, onesided=False, return_complex=True)
    yield torch.istft(spectrum, 16, 4, window=window)
    yield torch.istft(spectrum[0], 16, 4, window=window, normalized=True, length=100)
    yield torch.istft(torch.stft(signal, 16, 8, center=False, onesided=False, return_complex=True), 16, 8, center=False)


@pytest.mark.parametrize("module", [one_dimension, many_dimensions, shifts, short_time])
def test_as_torch_computes_it(module):
    torch.manual_seed(0)
    x, z = torch.randn(5, 9), torch.randn(5, 9, dtype=torch.complex64)

    def every(x, z):
        return tuple(module(x, z))

    for found, expected in zip(hloom.compile(every, x, z)(x, z), every(x, z), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=2e-5)


def test_doubles():
    x = torch.randn(3, 31, dtype=torch.float64)
    torch.testing.assert_close(hloom.compile(lambda x: torch.fft.rfft(x), x)(x), torch.fft.rfft(x), rtol=1e-12, atol=1e-12)

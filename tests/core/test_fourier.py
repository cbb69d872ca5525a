# SPDX-License-Identifier: MIT
"""Fourier transforms compared with NumPy's, their gradients, and spectrograms."""

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, ShapeError

pytestmark = pytest.mark.core

ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
REAL = {"rfft", "ihfft", "rfft2", "rfftn", "ihfft2", "ihfftn"}


def signal(name, *shape, dtype=np.float64):
    rng = np.random.default_rng(0)
    x = rng.normal(size=shape)
    if name not in REAL:
        x = x + 1j * rng.normal(size=shape)
    return x.astype(
        np.result_type(dtype, np.complex64) if x.dtype.kind == "c" else dtype
    )


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("name", ONE)
def test_values_of_one_dimension(name, norm):
    x = signal(name, 3, 7)
    for n, dim in ((None, -1), (5, 0), (9, 1)):
        expected = getattr(np.fft, name)(x, n, dim, norm)
        found = getattr(ac.fft, name)(ac.tensor(x), n, dim, norm)
        np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)


@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "irfftn"])
def test_values_of_several_dimensions(name):
    x = signal(name, 3, 4, 6)
    np.testing.assert_allclose(
        getattr(ac.fft, name)(ac.tensor(x)).numpy(),
        getattr(np.fft, name)(x),
        atol=1e-12,
    )
    found = getattr(ac.fft, name)(ac.tensor(x), s=(5, 6), dim=(0, 2), norm="ortho")
    expected = getattr(np.fft, name)(x, s=(5, 6), axes=(0, 2), norm="ortho")
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)


def test_the_precision_of_float32_is_kept():
    x = ac.rand(16)
    assert ac.fft.rfft(x).dtype is ac.complex64
    assert ac.fft.irfft(ac.fft.rfft(x)).dtype is ac.float32
    assert ac.fft.fft(ac.arange(4)).dtype is ac.complex64


@pytest.mark.parametrize("name", [n + s for n in ONE for s in ("", "2", "n")])
def test_gradients(name):
    x = ac.tensor(signal(name, 2, 4), requires_grad=True)
    function = getattr(ac.fft, name)
    assert ac.autograd.gradcheck(function, x, fast_mode=True)
    assert ac.autograd.gradgradcheck(lambda x: function(x).abs(), x, fast_mode=True)


def test_frequencies():
    for n in (4, 5):
        np.testing.assert_allclose(
            ac.fft.fftfreq(n, 0.5).numpy(), np.fft.fftfreq(n, 0.5)
        )
        np.testing.assert_allclose(ac.fft.rfftfreq(n).numpy(), np.fft.rfftfreq(n))
        x = np.arange(3.0 * n).reshape(3, n)
        assert ac.fft.fftshift(ac.tensor(x)).tolist() == np.fft.fftshift(x).tolist()
        assert (
            ac.fft.ifftshift(ac.tensor(x), 1).tolist()
            == np.fft.ifftshift(x, 1).tolist()
        )


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: ac.fft.rfft(ac.ones(2) * 1j),
            DTypeError,
            "expects a real input tensor",
        ),
        (
            lambda: ac.fft.fft(ac.ones(2), 0),
            ArgumentError,
            "Invalid number of data points",
        ),
        (lambda: ac.fft.fft(ac.ones(2), norm="x"), ArgumentError, "norm"),
        (lambda: ac.fft.fft(ac.ones(())), ArgumentError, "tensor has no dimensions"),
        (
            lambda: ac.fft.fft(ac.ones(2).half()),
            DTypeError,
            "Unsupported dtype float16",
        ),
        (lambda: ac.fft.fftn(ac.ones(2), dim=(0, 0)), ArgumentError, "must be unique"),
        (
            lambda: ac.fft.fftn(ac.ones(2), s=(1, 2), dim=(0,)),
            ArgumentError,
            "same length",
        ),
        (
            lambda: ac.fft.fftn(ac.ones(2), s=(1, 2)),
            ArgumentError,
            "only has 1 dimensions",
        ),
        (lambda: ac.fft.rfftn(ac.ones(2), dim=()), ArgumentError, "at least one axis"),
        (lambda: ac.fft.fftfreq(0), ArgumentError, "must be 1 or more"),
        (lambda: ac.stft(ac.ones(9), 4), ArgumentError, "requires the return_complex"),
        (lambda: ac.stft(ac.ones(9), 4, 0), ArgumentError, "hop_length > 0"),
        (lambda: ac.stft(ac.ones(9), 4, 1, 5), ArgumentError, "win_length <= n_fft"),
        (
            lambda: ac.stft(ac.ones(9), 4, window=ac.ones(3)),
            ShapeError,
            "1D window tensor",
        ),
        (lambda: ac.istft(ac.ones(3, 2), 4), DTypeError, "complex-valued input"),
        (lambda: ac.istft(ac.ones(2, 2) * 1j, 4), ShapeError, "frequency dimension"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_other_refusals_of_spectrograms():
    x = ac.ones(9)
    with pytest.raises(ShapeError, match="expected a 1D or 2D tensor"):
        ac.stft(ac.ones(1, 1, 9), 4, return_complex=True)
    with pytest.raises(ArgumentError, match="0 < n_fft <= 9"):
        ac.stft(x, 12, center=False, return_complex=True)
    with pytest.raises(ArgumentError, match="Cannot have onesided output"):
        ac.stft(x * 1j, 4, onesided=True)
    with pytest.raises(ArgumentError, match="align_to_window should only"):
        ac.stft(x, 4, align_to_window=True, return_complex=True)
    spectra = ac.ones(3, 2) * 1j
    with pytest.raises(ArgumentError, match="return_complex=True needs all"):
        ac.istft(spectra, 4, return_complex=True)
    with pytest.raises(ArgumentError, match="windows leave points uncovered"):
        ac.istft(spectra, 4, window=ac.zeros(4))
    with pytest.raises(ShapeError, match="2 or 3 dimensions"):
        ac.istft(spectra[0], 4)


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("onesided", [True, False])
def test_a_spectrogram_has_an_inverse(normalized, onesided):
    x = ac.rand(2, 64, dtype=ac.float64)
    words = {"hop_length": 4, "win_length": 12, "window": ac.hann_window(12).double()}
    words |= {"normalized": normalized, "onesided": onesided}
    spectra = ac.stft(x, 16, **words, return_complex=True)
    assert spectra.shape == (2, 9 if onesided else 16, 17)
    assert ac.allclose(ac.istft(spectra, 16, **words), x)
    assert ac.istft(spectra, 16, **words, length=70).shape == (2, 70)


def test_gradients_of_spectrograms():
    x = ac.rand(16, dtype=ac.float64, requires_grad=True)
    window = ac.hann_window(4).double()

    def there(x):
        return ac.stft(x, 4, 2, window=window, return_complex=False)

    def back(x):
        spectra = ac.stft(x, 4, 2, window=window, return_complex=True)
        return ac.istft(spectra * (1 + 1j), 4, 2, window=window)

    assert ac.autograd.gradcheck(there, x, fast_mode=True)
    assert ac.autograd.gradcheck(back, x, fast_mode=True)


def test_batches_of_vmap():
    x = ac.tensor(signal("fft", 3, 2, 6))
    for name in ("fft", "fft2", "irfft"):
        function = getattr(ac.fft, name)
        rows = ac.stack([function(row) for row in x])
        assert ac.allclose(ac.vmap(function)(x), rows)

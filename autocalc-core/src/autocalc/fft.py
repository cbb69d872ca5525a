# SPDX-License-Identifier: MIT
"""Fourier transforms, with gradients; the names are those of `torch.fft`.

The reference kernels call NumPy's pocketfft, which keeps the precision of float32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._aliases import lookup as _lookup
from autocalc._ops.fourier.frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from autocalc._ops.fourier.one_dimension import fft, hfft, ifft, ihfft, irfft, rfft
from autocalc._ops.fourier.several_dimensions import (
    fftn,
    hfftn,
    ifftn,
    ihfftn,
    irfftn,
    rfftn,
)
from autocalc._ops.fourier.two_dimensions import (
    fft2,
    hfft2,
    ifft2,
    ihfft2,
    irfft2,
    rfft2,
)

__all__ = ["fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn"]
__all__ += ["ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "ihfft2", "ihfftn"]
__all__ += ["irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn"]

if not _TYPE_CHECKING:  # a type checker knows the names that exist
    __getattr__ = _lookup(__name__)

# SPDX-License-Identifier: MIT
"""Short-time Fourier transforms, and the signals that have them."""

from __future__ import annotations

from typing import Any

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.method import method
from autocalc._ops.arranging import joining
from autocalc._ops.complex_numbers import parts
from autocalc._ops.convolutions.padding import pad
from autocalc._ops.creation.constants import ones, zeros
from autocalc._ops.creation.ranges import arange
from autocalc._ops.elementwise import arithmetic
from autocalc._ops.fourier._signals import complex_to_complex, real_to_half
from autocalc._ops.fourier._signals import half_to_real as to_signal
from autocalc._ops.indexing import scattering
from autocalc._ops.reductions import extrema
from autocalc._ops.views import view, windows
from autocalc._ops.views.slicing import slice_op
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int, check_flags
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import ArgumentError, DTypeError, ShapeError

__all__ = ["istft", "stft"]


@method("stft")
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """Return the short-time Fourier transform: the spectra of overlapping frames.

    ``X[k, t] = sum_j window[j] input[t hop_length + j] exp(-2 pi i j k / n_fft)``

    Parameters
    ----------
    input
        A signal of shape ``[L]``, or several of shape ``[B, L]``.
    n_fft
        The number of points of each frame.
    hop_length
        The distance of the frames; by default ``n_fft // 4``.
    win_length
        The length of the window, in the middle of the frame; by default `n_fft`.
    window
        The factors of the points of a frame, of shape ``[win_length]``; by default 1.
    center
        True to pad the signal at both ends, so that the middle of frame t is point
        ``t hop_length``.
    pad_mode
        How the signal is padded: "reflect", "constant", "replicate" or "circular".
    normalized
        True to divide the spectra by the square root of `n_fft`.
    onesided
        True for the first ``n_fft // 2 + 1`` frequencies, which is the default for real
        signals; False for all frequencies.
    return_complex
        True for a complex result; False for pairs of real numbers in a last dimension.
        It must be given unless the signal or the window is complex.
    align_to_window
        Without `center`, whether frames start with the window, not with its frame of
        `n_fft` points; None means False.

    Returns
    -------
    Tensor
        A tensor of shape ``[frequencies, frames]`` or ``[B, frequencies, frames]``.

    Raises
    ------
    ArgumentError
        If `return_complex` is missing, or a length does not fit.
    ShapeError
        If the signal or the window has another shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> window = ac.hann_window(8)
    >>> ac.stft(ac.ones(32), 8, window=window, return_complex=True).shape
    autocalc.Size([5, 17])
    """
    where = "stft"
    x = check_tensor(where, input)
    check_flags(
        where, center=center, normalized=normalized, onesided=onesided,
        return_complex=return_complex, align_to_window=align_to_window,
    )  # fmt: skip
    hop, length, frame = _lengths(where, n_fft, hop_length, win_length, window)
    real = not (x.is_complex() or (window is not None and window.is_complex()))
    if return_complex is None:
        if real:
            raise ArgumentError(
                "stft: stft requires the return_complex parameter be given for real "
                "inputs; return_complex=True returns complex numbers."
            )
        return_complex = True
    if align_to_window is not None and center:
        raise ArgumentError(
            "stft: stft align_to_window should only be set when center = false."
        )
    single = x.ndim == 1
    if x.ndim not in (1, 2):
        raise ShapeError(
            f"stft: `input` has shape {tuple(x.shape)}; expected a 1D or 2D tensor, "
            "[L] or [B, L]."
        )
    x = view.reshape(x, (1, -1)) if single else x
    if center:
        side = n_fft // 2
        x = pad(x, (side, side), pad_mode)
    elif align_to_window and length < n_fft:
        before = (n_fft - length) // 2
        x = pad(x, (before, n_fft - length - before))
    if not 0 < n_fft <= x.shape[-1]:
        raise ArgumentError(
            f"stft: expected 0 < n_fft <= {x.shape[-1]}, the length of the signal, but "
            f"got n_fft={n_fft}."
        )
    frames = windows.unfold(x, -1, n_fft, hop)  # [B, frames, n_fft]
    if frame is not None:
        frames = arithmetic.mul(frames, frame)
    found = _spectra(frames, onesided, real, normalized)
    found = view.transpose(found, 1, 2)
    found = view.reshape(found, tuple(found.shape[1:])) if single else found
    return found if return_complex else parts.view_as_real(found)


def _lengths(
    where: str, n_fft: Any, hop_length: Any, win_length: Any, window: Any
) -> tuple[int, int, Tensor | None]:
    """Return the distance of frames, the window's length, and the window of a frame."""
    size = as_int(where, "n_fft", n_fft)
    hop = size // 4 if hop_length is None else as_int(where, "hop_length", hop_length)
    length = size if win_length is None else as_int(where, "win_length", win_length)
    if hop <= 0:
        raise ArgumentError(f"{where}: expected hop_length > 0, but got {hop}.")
    if not 0 < length <= size:
        raise ArgumentError(
            f"{where}: expected 0 < win_length <= n_fft, but got win_length={length} "
            f"and n_fft={size}."
        )
    if window is None:
        if length == size:
            return hop, length, None
        return hop, length, _centred(ones(length), size)
    if check_tensor(where, window).shape != (length,):
        raise ShapeError(
            f"{where}: expected a 1D window tensor of size equal to "
            f"win_length={length}, but got a window of shape {tuple(window.shape)}."
        )
    return hop, length, _centred(window, size)


def _centred(window: Tensor, size: int) -> Tensor:
    """Return a window with zeros at both sides, of `size` points."""
    less = size - window.shape[0]
    return pad(window, (less // 2, less - less // 2)) if less else window


def _spectra(
    frames: Tensor, onesided: bool | None, real: bool, normalized: bool
) -> Tensor:
    norm = "ortho" if normalized else "backward"
    if onesided is None:
        onesided = real
    if onesided and not real:
        raise ArgumentError(
            "stft: Cannot have onesided output if window or input is complex; give "
            "onesided=False."
        )
    run = real_to_half if onesided else complex_to_complex
    return run("stft", frames, None, (-1,), norm, True)


@method("istft")
def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """Return the signal whose short-time Fourier transform is given; see `stft`.

    Frames are transformed back, multiplied by the window, and added where they overlap.
    The sum is divided by the sum of the squares of the windows.

    Parameters
    ----------
    input
        Complex spectra of shape ``[frequencies, frames]`` or ``[B, frequencies,
        frames]``.
    n_fft
        The number of points of each frame.
    hop_length
        The distance of the frames; by default ``n_fft // 4``.
    win_length
        The length of the window; by default `n_fft`.
    window
        The window of `stft`; by default 1.
    center
        Whether the signal was padded at both ends.
    normalized
        Whether the spectra were divided by the square root of `n_fft`.
    onesided
        Whether there are only ``n_fft // 2 + 1`` frequencies; by default this is found
        from the shape.
    length
        The length of the result; by default as long as the frames determine it.
    return_complex
        Whether the signal is complex; then all frequencies are needed.

    Raises
    ------
    ArgumentError
        If the windows leave a point uncovered, or a length does not fit.
    DTypeError
        If `input` is real.
    ShapeError
        If `input` has another shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> window, signal = ac.hann_window(8), ac.arange(32.0)
    >>> spectra = ac.stft(signal, 8, window=window, return_complex=True)
    >>> ac.allclose(ac.istft(spectra, 8, window=window), signal, atol=1e-5)
    True
    """
    where = "istft"
    x = check_tensor(where, input)
    check_flags(
        where, center=center, normalized=normalized, onesided=onesided,
        return_complex=return_complex,
    )  # fmt: skip
    if not x.is_complex():
        raise DTypeError(
            f"istft: istft requires a complex-valued input tensor, but `input` is "
            f"{x.dtype.name}; use view_as_complex() on pairs of real numbers."
        )
    hop, _, frame = _lengths(where, n_fft, hop_length, win_length, window)
    single = x.ndim == 2
    if x.ndim not in (2, 3) or not x.numel():
        raise ShapeError(
            f"istft: `input` has shape {tuple(x.shape)}; expected a tensor with 2 or 3 "
            "dimensions, [B, frequencies, frames], that is not empty."
        )
    x = view.reshape(x, (1, *x.shape)) if single else x
    _check_frequencies(x, n_fft, onesided, return_complex)
    frames = _frames(
        view.transpose(x, 1, 2), n_fft, onesided, normalized, return_complex
    )
    if frame is None:
        frame = ones(
            n_fft, dtype=frames.dtype.to_real(), device=place_of_tensor(frames)
        )
    total = _overlapped(arithmetic.mul(frames, frame), hop)
    squares = arithmetic.mul(frame, frame)
    weights = view.reshape(squares, (1, 1, -1)).expand(1, frames.shape[1], n_fft)
    found = _trimmed(total, _overlapped(weights, hop), n_fft, center, length)
    return view.reshape(found, (-1,)) if single else found


def _check_frequencies(
    x: Tensor, n_fft: int, onesided: bool | None, return_complex: bool
) -> None:
    have = x.shape[1]
    if onesided is None:
        onesided = have != n_fft
    if return_complex and onesided:
        raise ArgumentError(
            "istft: cannot have onesided output if window or input is complex: "
            "return_complex=True needs all frequencies, onesided=False."
        )
    wanted = n_fft // 2 + 1 if onesided else n_fft
    if have != wanted:
        raise ShapeError(
            f"istft: expected the frequency dimension to be {wanted} for "
            f"n_fft={n_fft}, but `input` has {have} frequencies."
        )


def _frames(
    x: Tensor, n_fft: int, onesided: bool | None, normalized: bool, complex_: bool
) -> Tensor:
    """Return the frames [B, frames, n_fft] of spectra."""
    norm = "ortho" if normalized else "backward"
    if complex_:
        return complex_to_complex("istft", x, None, (-1,), norm, False)
    half = n_fft // 2 + 1
    if onesided is False or (onesided is None and x.shape[-1] == n_fft != half):
        x = slice_op(x, (..., slice(0, half)))
    return to_signal("istft", x, (n_fft,), (-1,), norm, False)


def _overlapped(frames: Tensor, hop: int) -> Tensor:
    """Return the sums of overlapping frames, [B, points]."""
    batch, count, size = frames.shape
    points = size + hop * (count - 1)
    start = arange(count, device=place_of_tensor(frames))
    places = view.reshape(arithmetic.mul(start, hop), (-1, 1))
    places = arithmetic.add(places, arange(size, device=place_of_tensor(frames)))
    empty = zeros(batch, points, dtype=frames.dtype, device=place_of_tensor(frames))
    lines = view.reshape(frames, (batch, count * size))
    return scattering.index_add(empty, 1, view.reshape(places, (-1,)), lines)


def _trimmed(
    total: Tensor, weights: Tensor, n_fft: int, center: bool, length: int | None
) -> Tensor:
    """Return the part that is asked for, divided by the sum of the squared windows."""
    start = n_fft // 2 if center else 0
    end = total.shape[-1] - start if length is None else start + length
    cut = (..., slice(start, min(end, total.shape[-1])))
    total, weights = slice_op(total, cut), slice_op(weights, cut)
    least = (
        extrema.amin(arithmetic.abs(weights.detach())).item() if total.numel() else 1
    )
    if not least > 1e-11:
        raise ArgumentError(
            f"istft: window overlap add min: {least:.3g}; the windows leave points "
            "uncovered. Use a smaller hop_length, or center=True."
        )
    found = arithmetic.div(total, weights)
    missing = end - start - found.shape[-1]
    if missing > 0:
        shape = (found.shape[0], missing)
        more = zeros(shape, dtype=found.dtype, device=place_of_tensor(found))
        found = joining.cat_op((found, more), 1)
    return found

# SPDX-License-Identifier: MIT
"""Functions under the names that they had before, with PyTorch's warning."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from autocalc._ops.images.resizing import interpolate
from autocalc._tensor import Tensor
from autocalc.nn._clip import clip_grad_norm_


def _warn_of_upsample(old: str) -> None:
    message = (
        f"`nn.functional.{old}` is deprecated. Use `nn.functional.interpolate` instead."
    )
    warnings.warn(message, UserWarning, stacklevel=3)


def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Do what `interpolate` does, with a warning: an old name.

    Parameters
    ----------
    input
        (N, C, ...): one to three dimensions after the channels.
    size, scale_factor, mode, align_corners
        As those of `interpolate`.

    Raises
    ------
    ArgumentError, ShapeError
        As `interpolate`.

    Examples
    --------
    >>> import warnings
    >>> import autocalc as ac
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     ac.nn.functional.upsample(ac.ones(1, 1, 2), scale_factor=2).shape
    autocalc.Size([1, 1, 4])
    """
    _warn_of_upsample("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(
    input: Tensor, size: Any = None, scale_factor: Any = None
) -> Tensor:
    """Do what `interpolate` does by default, with a warning: an old name.

    Parameters
    ----------
    input
        (N, C, ...): one to three dimensions after the channels.
    size, scale_factor
        As those of `interpolate`.

    Raises
    ------
    ArgumentError, ShapeError
        As `interpolate`.

    Examples
    --------
    >>> import warnings
    >>> import autocalc as ac
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     ac.nn.functional.upsample_nearest(ac.ones(1, 1, 2), scale_factor=2).shape
    autocalc.Size([1, 1, 4])
    """
    _warn_of_upsample("upsample_nearest")
    return interpolate(input, size, scale_factor)


def upsample_bilinear(
    input: Tensor, size: Any = None, scale_factor: Any = None
) -> Tensor:
    """Do what `interpolate` does with "bilinear" and `align_corners`: an old name.

    Parameters
    ----------
    input
        (N, C, H, W).
    size, scale_factor
        As those of `interpolate`.

    Raises
    ------
    ArgumentError, ShapeError
        As `interpolate`.

    Examples
    --------
    >>> import warnings
    >>> import autocalc as ac
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     ac.nn.functional.upsample_bilinear(ac.ones(1, 1, 2, 2), size=3).shape
    autocalc.Size([1, 1, 3, 3])
    """
    _warn_of_upsample("upsample_bilinear")
    return interpolate(input, size, scale_factor, "bilinear", align_corners=True)


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Do what `clip_grad_norm_` does, with a warning: an old name.

    Parameters
    ----------
    parameters, max_norm, norm_type, error_if_nonfinite, foreach
        As those of `clip_grad_norm_`.

    Raises
    ------
    GradError, ArgumentError
        As `clip_grad_norm_`.

    Examples
    --------
    >>> import warnings
    >>> import autocalc as ac
    >>> w = ac.tensor([3.0, 4.0], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     ac.nn.utils.clip_grad_norm([w], 5.0).item()
    10.0
    """
    message = (
        "`nn.utils.clip_grad_norm` is now deprecated in favor of "
        "`nn.utils.clip_grad_norm_`."
    )
    warnings.warn(message, FutureWarning, stacklevel=2)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)

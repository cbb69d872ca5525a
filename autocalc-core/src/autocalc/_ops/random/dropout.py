# SPDX-License-Identifier: MIT
"""Dropout: set elements or channels to 0 at random."""

from __future__ import annotations

from typing import Any

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.checks import check_float, check_probability, check_shape
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import multi, nary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.kinds import KINDS, elsewhere
from autocalc._ops.creation.constants import ones
from autocalc._ops.elementwise import arithmetic
from autocalc._ops.views import _writing
from autocalc._ops.views.conversion import laid_as
from autocalc._tensor import Tensor, make
from autocalc._tensor.checks import FLAG, check_flag
from autocalc._tensor.device import place_of_tensor
from autocalc._tensor.generator import Generator, chosen
from autocalc.errors import DTypeError, ShapeError

# The inputs are a, seed and offset; the results are (out, mask).
dropout_op = multi("dropout", saves="mask:a")


@dropout_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Pass the cotangent of `out` on where elements were kept; `mask` has none."""
    (mask,) = n.saved
    return k.dropout_backward(g[0], mask, *n.attributes), None, None


dropout_backward = nary("dropout_backward", saves="mask:g")


@dropout_backward.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Apply the same function: it is linear, symmetric, and so its own adjoint."""
    (mask,) = n.saved
    return k.dropout_backward(g, mask, *n.attributes), None


def dropout(
    input: Tensor,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Set elements to 0 with probability `p`; multiply the rest by 1 / (1 - p).

    Parameters
    ----------
    input
        The input tensor, of any shape, of float32 or float64.
    p
        The probability that an element is set to 0, between 0 and 1.
    training
        False to return `input` unchanged.
    inplace
        True to also write the result into `input`.
    generator
        The generator of the random numbers; by default the default generator.

    Raises
    ------
    ArgumentError
        If `p` is not between 0 and 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> y = ac.nn.functional.dropout(ac.ones(1000), 0.2)
    >>> sorted(set(y.tolist()))
    [0.0, 1.25]
    """
    if training.__class__ is not FLAG:
        training = check_flag("dropout", "training", training)
    if inplace.__class__ is not FLAG:
        inplace = check_flag("dropout", "inplace", inplace)
    p = check_probability("dropout", p)
    if input.__class__ is not Tensor:
        if KINDS and (own := elsewhere("dropout", input)) is not None:
            return own(input, p, training)  # type: ignore[no-any-return]  # a tensor
        check_tensor("dropout", input)
    if not training or p == 0.0:
        return input
    if not input.dtype.is_differentiable:
        raise DTypeError(f"dropout: needs float32 or float64, not {input.dtype.name}.")
    words = input.numel()  # one random word for each element
    seed, offset = chosen("dropout", generator).draw(words)
    dropped, _ = dropout_op(input, make(seed, None), make(offset, None), float(p))
    if inplace:
        return _writing.into(input, dropped, "dropout_")
    return dropped if input._array.flags.c_contiguous else laid_as(input, dropped)


@declared
def dropout1d(
    input: Tensor,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Set whole channels of signals to 0 with probability `p`; see `dropout2d`.

    Parameters
    ----------
    input
        A tensor of shape (N, C, L) or (C, L); each channel is either kept or set to 0.
    p, training, inplace, generator
        The same as in `dropout`.

    Raises
    ------
    ShapeError
        If `input` has neither two nor three dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> y = ac.nn.functional.dropout1d(ac.ones(4, 2, 3))
    >>> bool((y[..., :1] == y).all())
    True
    """
    p = check_probability("dropout1d", p)
    check_float("dropout1d", input)
    if input.ndim not in (2, 3):
        raise ShapeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input "
            f"of shape {input.shape}; it must be (N, C, L) or (C, L)."
        )
    if not training or p == 0.0:
        return input
    dropped = _channels(input, (*input.shape[:-1], 1), p, generator)
    return _writing.into(input, dropped, "dropout1d_") if inplace else dropped


@declared
def dropout2d(
    input: Tensor,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Set whole channels to 0 with probability `p`; multiply the rest by 1 / (1 - p).

    Tompson and others: Efficient object localization using convolutional networks
    (CVPR 2015).

    Parameters
    ----------
    input
        A tensor of shape (N, C, ...): each of the N * C channels is either kept or set
        to 0.
    p, training, inplace, generator
        The same as in `dropout`.

    Raises
    ------
    ShapeError
        If `input` has no channels.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.dropout2d(ac.ones(1, 2, 1, 1), p=0.0).shape
    autocalc.Size([1, 2, 1, 1])
    """
    p = check_probability("dropout2d", p)
    check_float("dropout2d", input)
    check_shape("dropout2d", "input", input, "(N, C, ...)")
    if not training or p == 0.0:
        return input
    shape = (*input.shape[:2], *[1] * (input.ndim - 2))
    dropped = _channels(input, shape, p, generator)
    return _writing.into(input, dropped, "dropout2d_") if inplace else dropped


@declared
def dropout3d(
    input: Tensor,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Set whole channels of volumes to 0 with probability `p`; see `dropout2d`.

    Parameters
    ----------
    input
        A tensor of shape (N, C, D, H, W) or (C, D, H, W); each channel is either kept
        or set to 0.
    p, training, inplace, generator
        The same as in `dropout`.

    Raises
    ------
    ShapeError
        If `input` has neither four nor five dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> y = ac.nn.functional.dropout3d(ac.ones(4, 2, 3, 3, 3))
    >>> bool((y[..., :1, :1, :1] == y).all())
    True
    """
    p = check_probability("dropout3d", p)
    check_float("dropout3d", input)
    check_shape("dropout3d", "input", input, "(N, C, D, H, W) or (C, D, H, W)")
    if not training or p == 0.0:
        return input
    dropped = _channels(input, (*input.shape[:-3], 1, 1, 1), p, generator)
    return _writing.into(input, dropped, "dropout3d_") if inplace else dropped


@rounded_once
def _channels(
    x: Tensor, shape: tuple[int, ...], p: float, generator: Generator | None
) -> Tensor:
    """Apply dropout to a tensor of ones of `shape`, and multiply x by the result."""
    kept = dropout(
        ones(shape, dtype=x.dtype, device=place_of_tensor(x)), p, generator=generator
    )
    return arithmetic.mul(x, kept)

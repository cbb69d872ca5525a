# SPDX-License-Identifier: MIT
"""Dropout: in training, elements or channels set to zero at random."""

from __future__ import annotations

from autocalc._ops._operator.checks import check_probability
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_switches
from autocalc.nn import functional
from autocalc.nn._module.module import Module


class _DropoutBase(Module):
    """The common part: the probability, and whether the input is written to."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        check_switches(type(self).__name__, inplace=inplace)
        super().__init__()
        p = check_probability(type(self).__name__, p)
        self.p = p
        self.inplace = bool(inplace)

    def extra_repr(self) -> str:
        """Name the probability."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutBase):
    """Sets elements to 0 with probability `p` and multiplies the rest by 1 / (1 - p).

    After `eval` the input passes unchanged.

    Parameters
    ----------
    p
        The weight of the batch in the running statistics, from 0 to 1.
    inplace
        True to also write the result into the input.

    Raises
    ------
    ArgumentError
        If `p` is not from 0 to 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.Dropout(0.2)
    >>> bool((layer.eval()(ac.ones(3)) == 1).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` with elements dropped, in training."""
        return functional.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutBase):
    """Sets whole channels of signals to 0 with probability `p`.

    The rest is multiplied by 1 / (1 - p).  After `eval` the input passes unchanged.

    Parameters
    ----------
    p
        The weight of the batch in the running statistics, from 0 to 1.
    inplace
        True to also write the result into the input.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Dropout1d(0.2)(ac.ones(8, 3, 5)).shape
    autocalc.Size([8, 3, 5])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return an input (N, C, L) or (C, L) with channels dropped, in training."""
        return functional.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutBase):
    """Sets whole channels to 0 with probability `p`.

    The rest is multiplied by 1 / (1 - p).  After `eval` the input passes unchanged.

    Parameters
    ----------
    p
        The weight of the batch in the running statistics, from 0 to 1.
    inplace
        True to also write the result into the input.

    Examples
    --------
    >>> import autocalc as ac
    >>> _ = ac.manual_seed(0)
    >>> ac.nn.Dropout2d(0.5)(ac.ones(1, 4, 1, 2)).flatten(1)  # four channels of two
    tensor([[0., 0., 2., 2., 2., 2., 2., 2.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return an input (N, C, H, W) with channels dropped, in training."""
        return functional.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutBase):
    """Sets whole channels of volumes to 0 with probability `p`.

    The rest is multiplied by 1 / (1 - p).  After `eval` the input passes unchanged.

    Parameters
    ----------
    p
        The weight of the batch in the running statistics, from 0 to 1.
    inplace
        True to also write the result into the input.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Dropout3d(0.2)(ac.ones(8, 3, 2, 4, 5)).shape
    autocalc.Size([8, 3, 2, 4, 5])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return an input (N, C, D, H, W) with channels dropped, in training."""
        return functional.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutBase):
    """Sets elements to selu(-inf) with probability `p`, keeping mean 0 and variance 1.

    For networks of `SELU`; see `functional.alpha_dropout`.  After `eval` the input
    passes unchanged.

    Parameters
    ----------
    p
        The weight of the batch in the running statistics, from 0 to 1.
    inplace
        True to also write the result into the input.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.AlphaDropout(0.2)
    >>> bool((layer.eval()(ac.ones(3)) == 1).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` with elements dropped, in training."""
        return functional.alpha_dropout(input, self.p, self.training, self.inplace)


class FeatureAlphaDropout(_DropoutBase):
    """Sets whole channels to selu(-inf), keeping mean 0 and variance 1.

    For networks of `SELU`; see `functional.feature_alpha_dropout`.  After `eval` the
    input passes unchanged.

    Parameters
    ----------
    p
        The weight of the batch in the running statistics, from 0 to 1.
    inplace
        True to also write the result into the input.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.FeatureAlphaDropout(0.2)(ac.zeros(8, 3, 5)).shape
    autocalc.Size([8, 3, 5])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return an input (N, C, ...) with channels dropped, in training."""
        return functional.feature_alpha_dropout(
            input, self.p, self.training, self.inplace
        )

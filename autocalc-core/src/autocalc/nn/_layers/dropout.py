# SPDX-License-Identifier: MIT
"""Dropout: in training, elements or channels are set to 0 at random."""

from __future__ import annotations

from autocalc._ops._operator.checks import check_probability
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_switches
from autocalc.nn import functional
from autocalc.nn._module.module import Module


class _DropoutBase(Module):
    """The common part: the probability, and whether the input is overwritten."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        check_switches(type(self).__name__, inplace=inplace)
        super().__init__()
        p = check_probability(type(self).__name__, p)
        self.p = p
        self.inplace = bool(inplace)

    def extra_repr(self) -> str:
        """Return the probability as text for `repr`."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutBase):
    """Sets random elements to 0 in training, with probability `p`.

    The other elements are multiplied by 1 / (1 - p).  After `eval` the output is the
    input.

    Srivastava et al.: Dropout: a simple way to prevent neural networks from overfitting
    (JMLR 2014).

    Parameters
    ----------
    p
        The probability that an element is set to 0; from 0 to 1.
    inplace
        True to also write the result into the input tensor.

    Raises
    ------
    ArgumentError
        If `p` is not between 0 and 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.Dropout(0.2)
    >>> bool((layer.eval()(ac.ones(3)) == 1).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return `input`; in training, random elements are 0."""
        return functional.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutBase):
    """Sets random channels of signals to 0 in training, with probability `p`.

    The other channels are multiplied by 1 / (1 - p).  After `eval` the output is the
    input.

    Parameters
    ----------
    p
        The probability that a channel is set to 0; from 0 to 1.
    inplace
        True to also write the result into the input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Dropout1d(0.2)(ac.ones(8, 3, 5)).shape
    autocalc.Size([8, 3, 5])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` (N, C, L) or (C, L); in training, random channels are 0."""
        return functional.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutBase):
    """Sets random channels of images to 0 in training, with probability `p`.

    The other channels are multiplied by 1 / (1 - p).  After `eval` the output is the
    input.

    Parameters
    ----------
    p
        The probability that a channel is set to 0; from 0 to 1.
    inplace
        True to also write the result into the input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> _ = ac.manual_seed(0)
    >>> ac.nn.Dropout2d(0.5)(ac.ones(1, 4, 1, 2)).flatten(1)  # four channels of two
    tensor([[0., 0., 2., 2., 2., 2., 2., 2.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` (N, C, H, W); in training, random channels are 0."""
        return functional.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutBase):
    """Sets random channels of volumes to 0 in training, with probability `p`.

    The other channels are multiplied by 1 / (1 - p).  After `eval` the output is the
    input.

    Parameters
    ----------
    p
        The probability that a channel is set to 0; from 0 to 1.
    inplace
        True to also write the result into the input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Dropout3d(0.2)(ac.ones(8, 3, 2, 4, 5)).shape
    autocalc.Size([8, 3, 2, 4, 5])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` (N, C, D, H, W); in training, random channels are 0."""
        return functional.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutBase):
    """Dropout for networks with `SELU`: it keeps the mean 0 and the variance 1.

    In training, random elements become selu(-inf) with probability `p`.  Then all
    elements are scaled and shifted; `functional.alpha_dropout` has the formula.  After
    `eval` the output is the input.

    Parameters
    ----------
    p
        The probability that an element is replaced; from 0 to 1.
    inplace
        True to also write the result into the input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.AlphaDropout(0.2)
    >>> bool((layer.eval()(ac.ones(3)) == 1).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return `input`; in training, random elements are replaced."""
        return functional.alpha_dropout(input, self.p, self.training, self.inplace)


class FeatureAlphaDropout(_DropoutBase):
    """Channel dropout for networks with `SELU`: it keeps the mean 0 and the variance 1.

    In training, all elements of random channels become selu(-inf), with probability
    `p`.  Then all elements are scaled and shifted; `functional.feature_alpha_dropout`
    has the formula. After `eval` the output is the input.

    Parameters
    ----------
    p
        The probability that a channel is replaced; from 0 to 1.
    inplace
        True to also write the result into the input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.FeatureAlphaDropout(0.2)(ac.zeros(8, 3, 5)).shape
    autocalc.Size([8, 3, 5])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` (N, C, ...); in training, random channels are replaced."""
        return functional.feature_alpha_dropout(
            input, self.p, self.training, self.inplace
        )

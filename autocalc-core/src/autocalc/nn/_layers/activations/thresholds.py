# SPDX-License-Identifier: MIT
"""Activations that replace small values."""

from __future__ import annotations

from autocalc._tensor import Tensor
from autocalc.nn import functional
from autocalc.nn._layers.activations.in_place import InPlace
from autocalc.nn._module.module import Module


class Threshold(InPlace):
    """Returns x where x > threshold, otherwise `value`.

    Parameters
    ----------
    threshold, value
        The threshold, and the value that replaces the elements that are not larger.
    inplace
        True to also write the result into the input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Threshold(1.0, -1.0)(ac.tensor([0.5, 2.0]))
    tensor([-1.,  2.])
    """

    _settings = ("threshold", "value")

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold = threshold
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Return threshold(x)."""
        return functional.threshold(input, self.threshold, self.value, self.inplace)


class _Shrink(Module):
    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        """Return the limit as text for `repr`."""
        return str(self.lambd)


class Hardshrink(_Shrink):
    """Hard shrinkage: x where abs(x) > lambd, otherwise 0.

    Parameters
    ----------
    lambd
        The constant lambd of the formula.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Hardshrink(0.5)(ac.tensor([-2.0, 0.25, 1.0]))
    tensor([-2.,  0.,  1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return hardshrink(x)."""
        return functional.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """Soft shrinkage: sign(x) * max(abs(x) - lambd, 0).

    Parameters
    ----------
    lambd
        The constant lambd of the formula; 0 or more.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Softshrink(0.5)(ac.tensor([-2.0, 0.25, 1.0]))
    tensor([-1.5000,  0.0000,  0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return softshrink(x)."""
        return functional.softshrink(input, self.lambd)

# SPDX-License-Identifier: MIT
"""Padding layers for signals, images and volumes."""

from __future__ import annotations

from collections.abc import Sequence

from autocalc._ops._operator.arguments import check_tensor
from autocalc._tensor import Tensor
from autocalc._tensor.checks import integers, plain
from autocalc.errors import ArgumentError, ShapeError
from autocalc.nn import functional
from autocalc.nn._module.module import Module


class _Pad(Module):
    """A border around the last dimensions.

    Parameters
    ----------
    padding
        The number of elements before and after the last dimension, then before and
        after the dimension in front of it, and so on; or one number for all.
    """

    dims: int
    mode: str

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__()
        where = type(self).__name__
        amounts = integers(where, "padding", padding)
        if isinstance(plain(padding), int):
            amounts *= 2 * self.dims
        if len(amounts) != 2 * self.dims:
            raise ArgumentError(
                f"{where}: `padding` is {padding}; give one number, or {2 * self.dims} "
                "numbers: two for each dimension, beginning with the last one."
            )
        self.padding = amounts

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` of shape (N, C, ...) or (C, ...), padded."""
        where = type(self).__name__
        if check_tensor(where, input).ndim not in (self.dims + 1, self.dims + 2):
            raise ShapeError(
                f"{where}: expected {self.dims + 1}D or {self.dims + 2}D input (got "
                f"{input.ndim}D input): `input` has shape {input.shape}."
            )
        return functional.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        """Return the padding as text for `repr`."""
        return f"{self.padding}"


class _ConstantPad(_Pad):
    """A border of one value around the last dimensions of any tensor.

    Parameters
    ----------
    padding
        The number of elements before and after the last dimension, then before and
        after the dimension in front of it, and so on; or one number for all.
    value
        The value of the border.
    """

    def __init__(self, padding: int | Sequence[int], value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Return `input`, padded."""
        return functional.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """Return the padding and value as text for `repr`."""
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_ConstantPad):
    """A border of 0 around the last dimensions of any tensor.

    Parameters
    ----------
    padding
        The number of elements before and after the last dimension, then before and
        after the dimension in front of it, and so on; or one number for all.
    """

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """Return the padding as text for `repr`."""
        return f"{self.padding}"


class ConstantPad1d(_ConstantPad):
    """Pads the last dimension with a constant value.

    Parameters
    ----------
    padding
        The numbers of elements (before, after), or one integer for both.
    value
        The value of the padding.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.ConstantPad1d((1, 2), 9.0)(ac.tensor([[1.0, 2.0]]))
    tensor([[9., 1., 2., 9., 9.]])
    """

    dims = 1


class ConstantPad2d(_ConstantPad):
    """Pads the last two dimensions with a constant value.

    Parameters
    ----------
    padding
        The numbers of elements (left, right, top, bottom), or one integer for all of
        them.
    value
        The value of the padding.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.ConstantPad2d((1, 2, 0, 1), 9.0)(ac.tensor([[1.0, 2.0]]))
    tensor([[9., 1., 2., 9., 9.],
            [9., 9., 9., 9., 9.]])
    """

    dims = 2


class ConstantPad3d(_ConstantPad):
    """Pads the last three dimensions with a constant value.

    Parameters
    ----------
    padding
        The numbers of elements (left, right, top, bottom, front, back), or one integer
        for all of them.
    value
        The value of the padding.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.ConstantPad3d((1, 0, 0, 0, 0, 1), 9.0)(ac.tensor([[[1.0, 2.0]]]))
    tensor([[[9., 1., 2.]],
    <BLANKLINE>
            [[9., 9., 9.]]])
    """

    dims = 3


class ZeroPad1d(_ZeroPad):
    """Pads the last dimension with zeros.

    Parameters
    ----------
    padding
        The numbers of elements (before, after), or one integer for both.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.ZeroPad1d((1, 2))(ac.tensor([[1.0, 2.0]]))
    tensor([[0., 1., 2., 0., 0.]])
    """

    dims = 1


class ZeroPad2d(_ZeroPad):
    """Pads the last two dimensions with zeros.

    Parameters
    ----------
    padding
        The numbers of elements (left, right, top, bottom), or one integer for all of
        them.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.ZeroPad2d((1, 2, 0, 1))(ac.tensor([[1.0, 2.0]]))
    tensor([[0., 1., 2., 0., 0.],
            [0., 0., 0., 0., 0.]])
    """

    dims = 2


class ZeroPad3d(_ZeroPad):
    """Pads the last three dimensions with zeros.

    Parameters
    ----------
    padding
        The numbers of elements (left, right, top, bottom, front, back), or one integer
        for all of them.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.ZeroPad3d((1, 0, 0, 0, 0, 1))(ac.tensor([[[1.0, 2.0]]]))
    tensor([[[0., 1., 2.]],
    <BLANKLINE>
            [[0., 0., 0.]]])
    """

    dims = 3


class ReflectionPad1d(_Pad):
    """Pads the last dimension with the mirror image of the input.

    The element at the border is not repeated.

    Parameters
    ----------
    padding
        The numbers of elements (before, after), or one integer for both.  They must be
        smaller than the size of the dimension.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.ReflectionPad1d(2)(ac.tensor([[1.0, 2.0, 3.0]]))
    tensor([[3., 2., 1., 2., 3., 2., 1.]])
    """

    dims = 1
    mode = "reflect"


class ReflectionPad2d(_Pad):
    """Pads the last two dimensions with the mirror image of the input.

    The elements at the border are not repeated.

    Parameters
    ----------
    padding
        The numbers of elements (left, right, top, bottom), or one integer for all of
        them.  They must be smaller than the sizes of the dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.ReflectionPad2d((1, 1, 1, 0))(ac.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
    tensor([[[4., 3., 4., 3.],
             [2., 1., 2., 1.],
             [4., 3., 4., 3.]]])
    """

    dims = 2
    mode = "reflect"


class ReflectionPad3d(_Pad):
    """Pads the last three dimensions with the mirror image of the input.

    The elements at the border are not repeated.

    Parameters
    ----------
    padding
        The numbers of elements (left, right, top, bottom, front, back), or one integer
        for all of them.  They must be smaller than the sizes of the dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> volume = ac.tensor([[[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]]])
    >>> ac.nn.ReflectionPad3d((2, 0, 0, 0, 1, 0))(volume)
    tensor([[[[6., 5., 4., 5., 6.]],
    <BLANKLINE>
             [[3., 2., 1., 2., 3.]],
    <BLANKLINE>
             [[6., 5., 4., 5., 6.]]]])
    """

    dims = 3
    mode = "reflect"


class ReplicationPad1d(_Pad):
    """Pads the last dimension with copies of the elements at its border.

    Parameters
    ----------
    padding
        The numbers of elements (before, after), or one integer for both.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.ReplicationPad1d(2)(ac.tensor([[1.0, 2.0, 3.0]]))
    tensor([[1., 1., 1., 2., 3., 3., 3.]])
    """

    dims = 1
    mode = "replicate"


class ReplicationPad2d(_Pad):
    """Pads the last two dimensions with copies of the elements at their borders.

    Parameters
    ----------
    padding
        The numbers of elements (left, right, top, bottom), or one integer for all of
        them.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.ReplicationPad2d((1, 1, 1, 0))(ac.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
    tensor([[[1., 1., 2., 2.],
             [1., 1., 2., 2.],
             [3., 3., 4., 4.]]])
    """

    dims = 2
    mode = "replicate"


class ReplicationPad3d(_Pad):
    """Pads the last three dimensions with copies of the elements at their borders.

    Parameters
    ----------
    padding
        The numbers of elements (left, right, top, bottom, front, back), or one integer
        for all of them.

    Examples
    --------
    >>> import autocalc as ac
    >>> volume = ac.tensor([[[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]]])
    >>> ac.nn.ReplicationPad3d((2, 0, 0, 0, 1, 0))(volume)
    tensor([[[[1., 1., 1., 2., 3.]],
    <BLANKLINE>
             [[1., 1., 1., 2., 3.]],
    <BLANKLINE>
             [[4., 4., 4., 5., 6.]]]])
    """

    dims = 3
    mode = "replicate"


class CircularPad1d(_Pad):
    """Pads the last dimension with the values of its opposite end.

    Parameters
    ----------
    padding
        The numbers of elements (before, after), or one integer for both.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.CircularPad1d(2)(ac.tensor([[1.0, 2.0, 3.0]]))
    tensor([[2., 3., 1., 2., 3., 1., 2.]])
    """

    dims = 1
    mode = "circular"


class CircularPad2d(_Pad):
    """Pads the last two dimensions with the values of their opposite ends.

    Parameters
    ----------
    padding
        The numbers of elements (left, right, top, bottom), or one integer for all of
        them.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.CircularPad2d((1, 1, 1, 0))(ac.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
    tensor([[[4., 3., 4., 3.],
             [2., 1., 2., 1.],
             [4., 3., 4., 3.]]])
    """

    dims = 2
    mode = "circular"


class CircularPad3d(_Pad):
    """Pads the last three dimensions with the values of their opposite ends.

    Parameters
    ----------
    padding
        The numbers of elements (left, right, top, bottom, front, back), or one integer
        for all of them.

    Examples
    --------
    >>> import autocalc as ac
    >>> volume = ac.tensor([[[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]]])
    >>> ac.nn.CircularPad3d((2, 0, 0, 0, 1, 0))(volume)
    tensor([[[[5., 6., 4., 5., 6.]],
    <BLANKLINE>
             [[2., 3., 1., 2., 3.]],
    <BLANKLINE>
             [[5., 6., 4., 5., 6.]]]])
    """

    dims = 3
    mode = "circular"

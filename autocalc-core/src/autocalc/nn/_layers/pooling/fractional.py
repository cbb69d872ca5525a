# SPDX-License-Identifier: MIT
"""Max pooling layers with random steps between the windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops.convolutions._spatial import sizes_of
from autocalc._ops.pooling.fractional_pooling import Ratios, Sizes, checked_sizes
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flags
from autocalc.nn import functional
from autocalc.nn._module.module import Module


class _FractionalMaxPool(Module):
    _dims: ClassVar[int]
    _function: ClassVar[Callable[..., Any]]

    _random_samples: Tensor | None

    def __init__(
        self,
        kernel_size: Sizes,
        output_size: Sizes | None = None,
        output_ratio: Ratios | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        where = type(self).__name__
        check_flags(where, return_indices=return_indices)
        if _random_samples is not None:
            check_tensor(where, _random_samples)
        super().__init__()
        self.kernel_size = sizes_of(where, "kernel_size", kernel_size, self._dims)
        self.output_size, self.output_ratio = checked_sizes(
            where, self._dims, output_size, output_ratio
        )
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)

    def forward(self, input: Tensor) -> Any:
        """Return the maxima; with `return_indices`, (maxima, indices)."""
        return self._function(
            input, self.kernel_size, self.output_size, self.output_ratio,
            self.return_indices, self._random_samples,
        )  # fmt: skip


class FractionalMaxPool2d(_FractionalMaxPool):
    """Fractional max pooling of images: windows with random steps of different sizes.

    Graham: Fractional max-pooling (2014).

    Parameters
    ----------
    kernel_size, output_size, output_ratio, return_indices, _random_samples
        The same as for `functional.fractional_max_pool2d`.  Give either `output_size`
        or `output_ratio`.

    Raises
    ------
    ArgumentError
        If `output_size` and `output_ratio` are both given or both missing, or if an
        argument is out of range.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.FractionalMaxPool2d(3, output_size=(13, 12))(ac.zeros(2, 4, 50, 32)).shape
    autocalc.Size([2, 4, 13, 12])
    """

    _dims = 2
    _function = staticmethod(functional.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    """Fractional max pooling of volumes: windows with random steps of different sizes.

    Parameters
    ----------
    kernel_size, output_size, output_ratio, return_indices, _random_samples
        The same as for `functional.fractional_max_pool3d`.  Give either `output_size`
        or `output_ratio`.

    Raises
    ------
    ArgumentError
        If `output_size` and `output_ratio` are both given or both missing, or if an
        argument is out of range.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.FractionalMaxPool3d(2, output_ratio=0.5)(ac.zeros(2, 4, 9, 8, 8)).shape
    autocalc.Size([2, 4, 4, 4, 4])
    """

    _dims = 3
    _function = staticmethod(functional.fractional_max_pool3d)

# SPDX-License-Identifier: MIT
"""Channel norms that take the number of channels from the first input."""

from __future__ import annotations

from autocalc._tensor import Tensor
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.errors import ShapeError
from autocalc.nn._layers.lazy.linear import _Lazy
from autocalc.nn._layers.norms.batch_norm import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    _BatchNorm,
    _ChannelNorm,
    _InstanceNorm,
)
from autocalc.nn._module.uninitialized import UninitializedBuffer


class _LazyNorm(_Lazy, _ChannelNorm):
    """A norm that reads `num_features` from the first input."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: str | Device | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            0, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        if affine:
            self._empty(bias, device, dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)

    def reset_running_stats(self) -> None:
        """Reset the running mean to 0, the variance to 1 and the batch count to 0."""
        if self._sized:
            super().reset_running_stats()

    def _refused(self, input: Tensor, ndims: tuple[int, ...], form: str) -> ShapeError:
        return ShapeError(
            f"{type(self).__name__}: `input` has shape {input.shape}; it must have "
            f"{' or '.join(map(str, ndims))} dimensions, {form}."
        )

    def _shapes(self, size: int) -> dict[str, tuple[int, ...]]:
        self.num_features = size
        names = ("weight", "bias", "running_mean", "running_var")
        return dict.fromkeys(names, (size,))


class _LazyBatchNorm(_LazyNorm, _BatchNorm):
    def _size_of(self, input: Tensor) -> int:
        if input.ndim not in self._ndims:
            raise self._refused(input, self._ndims, "(N, C, ...)")
        return input.shape[1]


class _LazyInstanceNorm(_LazyNorm, _InstanceNorm):
    def _size_of(self, input: Tensor) -> int:
        dims = self._dims
        if input.ndim not in (dims + 1, dims + 2):
            ndims = dims + 1, dims + 2
            raise self._refused(input, ndims, "(C, ...) or (N, C, ...)")
        return input.shape[-dims - 1]


class LazyBatchNorm1d(_LazyBatchNorm, BatchNorm1d):
    """A `BatchNorm1d` that sets `num_features` at the first call, from the input.

    Parameters
    ----------
    eps, momentum, affine, track_running_stats, bias, device, dtype
        The same as for `BatchNorm1d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> norm = ac.nn.LazyBatchNorm1d()
    >>> norm(ac.randn(5, 4)).shape, norm.running_mean.shape
    (autocalc.Size([5, 4]), autocalc.Size([4]))
    """

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyBatchNorm, BatchNorm2d):
    """A `BatchNorm2d` that sets `num_features` at the first call, from the input.

    Parameters
    ----------
    eps, momentum, affine, track_running_stats, bias, device, dtype
        The same as for `BatchNorm2d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.LazyBatchNorm2d()(ac.randn(5, 4, 3, 3)).shape
    autocalc.Size([5, 4, 3, 3])
    """

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyBatchNorm, BatchNorm3d):
    """A `BatchNorm3d` that sets `num_features` at the first call, from the input.

    Parameters
    ----------
    eps, momentum, affine, track_running_stats, bias, device, dtype
        The same as for `BatchNorm3d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.LazyBatchNorm3d()(ac.randn(5, 4, 3, 3, 3)).shape
    autocalc.Size([5, 4, 3, 3, 3])
    """

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyInstanceNorm, InstanceNorm1d):
    """An `InstanceNorm1d` that sets `num_features` at the first call, from the input.

    As in PyTorch, it has a weight, a bias and running statistics by default.

    Parameters
    ----------
    eps, momentum, affine, track_running_stats, bias, device, dtype
        The same as for `InstanceNorm1d`.

    Raises
    ------
    ShapeError
        If the first input does not have the shape (N, C, L) or (C, L).

    Examples
    --------
    >>> import autocalc as ac
    >>> norm = ac.nn.LazyInstanceNorm1d()
    >>> norm(ac.randn(5, 4, 3)).shape, norm.num_features
    (autocalc.Size([5, 4, 3]), 4)
    """

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyInstanceNorm, InstanceNorm2d):
    """An `InstanceNorm2d` that sets `num_features` at the first call, from the input.

    As in PyTorch, it has a weight, a bias and running statistics by default.

    Parameters
    ----------
    eps, momentum, affine, track_running_stats, bias, device, dtype
        The same as for `InstanceNorm2d`.

    Raises
    ------
    ShapeError
        If the first input does not have the shape (N, C, H, W) or (C, H, W).

    Examples
    --------
    >>> import autocalc as ac
    >>> norm = ac.nn.LazyInstanceNorm2d()
    >>> norm(ac.randn(5, 4, 3, 3)).shape, norm.num_features
    (autocalc.Size([5, 4, 3, 3]), 4)
    """

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyInstanceNorm, InstanceNorm3d):
    """An `InstanceNorm3d` that sets `num_features` at the first call, from the input.

    As in PyTorch, it has a weight, a bias and running statistics by default.

    Parameters
    ----------
    eps, momentum, affine, track_running_stats, bias, device, dtype
        The same as for `InstanceNorm3d`.

    Raises
    ------
    ShapeError
        If the first input does not have the shape (N, C, D, H, W) or (C, D, H, W).

    Examples
    --------
    >>> import autocalc as ac
    >>> norm = ac.nn.LazyInstanceNorm3d()
    >>> norm(ac.randn(5, 4, 3, 3, 3)).shape, norm.num_features
    (autocalc.Size([5, 4, 3, 3, 3]), 4)
    """

    cls_to_become = InstanceNorm3d

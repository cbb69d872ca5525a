# SPDX-License-Identifier: MIT
"""Layers that take their input's size from the first example.

At the first call the parameters get their shapes and values, and the layer becomes the
ordinary one.
"""

from __future__ import annotations

from typing import Any, ClassVar

from autocalc._ops._arguments import check_tensor
from autocalc._ops._checks import check_sizes
from autocalc._tensor import Tensor
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError, ShapeError
from autocalc.nn._batch_norm import BatchNorm1d, BatchNorm2d, _BatchNorm
from autocalc.nn._conv import Conv1d, Conv2d, Sizes, _Conv
from autocalc.nn._linear import Linear
from autocalc.nn._module import Module
from autocalc.nn._uninitialized import (
    UninitializedBuffer,
    UninitializedParameter,
    is_lazy,
)


class _Lazy(Module):
    """Gets its parameters before the first forward, and becomes another class then."""

    _becomes: ClassVar[type[Module]]
    _sized: bool = False

    def _wait(self) -> None:
        """Let the first call find the sizes."""
        self._first = self.register_forward_pre_hook(self._begin, with_kwargs=True)

    def _begin(
        self, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        del module
        given = (*args, *kwargs.values())
        self.initialize_parameters(given[0] if given else None)
        self._first.remove()
        del self._first, self._sized
        self.__class__ = self._becomes  # type: ignore[assignment]  # a base of it

    def has_uninitialized_params(self) -> bool:
        """Return whether there are parameters or buffers without a shape."""
        return any(map(is_lazy, (*self.parameters(), *self.buffers())))

    def initialize_parameters(self, input: Any) -> None:
        """Give the parameters the shapes that `input` asks for, and first values."""
        size = self._size_of(check_tensor(type(self).__name__, input))
        shapes = self._shapes(size)
        self._sized = True
        if not self.has_uninitialized_params():
            return  # a state was loaded
        for registry in (self._parameters, self._buffers):
            for name, tensor in registry.items():
                if is_lazy(tensor):
                    tensor.materialize(shapes[name])
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew once their shapes are known."""
        if self._sized:
            super().reset_parameters()  # type: ignore[misc]  # of the layer

    def _size_of(self, input: Tensor) -> int:
        """Return the input's size; raise if the layer cannot take it."""
        raise NotImplementedError

    def _shapes(self, size: int) -> dict[str, tuple[int, ...]]:
        """Take in the size; return the shapes of parameters and buffers."""
        raise NotImplementedError

    def _empty(self, bias: bool, dtype: DType | None) -> None:
        """Put parameters without a shape in the places of weight and bias."""
        for name in ("weight", "bias") if bias else ("weight",):
            self.register_parameter(name, UninitializedParameter(dtype=dtype))


class LazyLinear(_Lazy, Linear):
    """A `Linear` that takes `in_features` from the first example.

    Parameters
    ----------
    out_features, bias, dtype
        Those of `Linear`.

    Attributes
    ----------
    weight, bias
        Each an `UninitializedParameter` until the first call.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.LazyLinear(3)
    >>> layer(ac.randn(5, 4)).shape
    (5, 3)
    >>> layer
    Linear(in_features=4, out_features=3, bias=True)
    """

    _becomes = Linear

    def __init__(
        self,
        out_features: int,
        bias: bool = True,
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        check_sizes("LazyLinear", out_features=out_features)
        Linear.__init__(self, 0, out_features, bias, device, dtype)
        self._empty(bias, dtype)
        self._wait()

    def _size_of(self, input: Tensor) -> int:
        if not input.ndim:
            message = "LazyLinear: `input` has shape (); it must be (..., in_features)."
            raise ShapeError(message)
        return input.shape[-1]

    def _shapes(self, size: int) -> dict[str, tuple[int, ...]]:
        self.in_features = size
        return {
            "weight": (self.out_features, size),
            "bias": (self.out_features,),
        }


class _LazyConv(_Lazy, _Conv):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes | str = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        # As many channels as groups, for the checks of the other arguments.
        _Conv.__init__(
            self, groups, out_channels, kernel_size, stride, padding, dilation, groups,
            bias, padding_mode, device, dtype,
        )  # fmt: skip
        self.in_channels = 0
        self._empty(bias, dtype)
        self._wait()

    def _size_of(self, input: Tensor) -> int:
        where, dims = type(self).__name__, self._dims
        if input.ndim not in (dims + 1, dims + 2):
            message = (
                f"{where}: `input` has shape {input.shape}; it must have {dims + 1} "
                f"or {dims + 2} dimensions, (N, C, ...) or (C, ...)."
            )
            raise ShapeError(message)
        channels = input.shape[-dims - 1]
        if channels < 1 or channels % self.groups:
            message = (
                f"{where}: `input` has shape {input.shape}; its {channels} channels "
                f"must be a multiple of `groups`={self.groups}, and not 0."
            )
            raise ArgumentError(message)
        return channels

    def _shapes(self, size: int) -> dict[str, tuple[int, ...]]:
        self.in_channels = size
        filters = (self.out_channels, size // self.groups, *self.kernel_size)
        return {"weight": filters, "bias": (self.out_channels,)}


class LazyConv1d(_LazyConv, Conv1d):
    """A `Conv1d` that takes `in_channels` from the first example; see `LazyConv2d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.LazyConv1d(8, 3)(ac.zeros(1, 4, 9)).shape
    (1, 8, 7)
    """

    _becomes = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A `Conv2d` that takes `in_channels` from the first example.

    Parameters
    ----------
    out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode
        Those of `Conv2d`.
    dtype
        Of the parameters.

    Attributes
    ----------
    weight, bias
        Each an `UninitializedParameter` until the first call.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.LazyConv2d(16, 3)
    >>> layer(ac.zeros(2, 3, 8, 8)).shape
    (2, 16, 6, 6)
    >>> layer
    Conv2d(3, 16, kernel_size=(3, 3), stride=(1, 1))
    """

    _becomes = Conv2d


class _LazyBatchNorm(_Lazy, _BatchNorm):
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
        _BatchNorm.__init__(
            self, 0, eps, momentum, affine, track_running_stats, device, dtype,
            bias=bias,
        )  # fmt: skip
        if affine:
            self._empty(bias, dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(dtype=dtype)
            self.running_var = UninitializedBuffer(dtype=dtype)
        self._wait()

    def reset_running_stats(self) -> None:
        """Set running means to 0, variances to 1 and the count of batches to 0."""
        if self._sized:
            super().reset_running_stats()

    def _size_of(self, input: Tensor) -> int:
        if input.ndim not in self._ndims:
            message = (
                f"{type(self).__name__}: `input` has shape {input.shape}; it must have "
                f"{' or '.join(map(str, self._ndims))} dimensions, (N, C, ...)."
            )
            raise ShapeError(message)
        return input.shape[1]

    def _shapes(self, size: int) -> dict[str, tuple[int, ...]]:
        self.num_features = size
        names = ("weight", "bias", "running_mean", "running_var")
        return dict.fromkeys(names, (size,))


class LazyBatchNorm1d(_LazyBatchNorm, BatchNorm1d):
    """A `BatchNorm1d` that takes `num_features` from the first batch.

    Parameters
    ----------
    eps, momentum, affine, track_running_stats, bias, dtype
        Those of `BatchNorm1d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> norm = ac.nn.LazyBatchNorm1d()
    >>> norm(ac.randn(5, 4)).shape, norm.running_mean.shape
    ((5, 4), (4,))
    """

    _becomes = BatchNorm1d


class LazyBatchNorm2d(_LazyBatchNorm, BatchNorm2d):
    """A `BatchNorm2d` that takes `num_features` from the first batch.

    Parameters
    ----------
    eps, momentum, affine, track_running_stats, bias, dtype
        Those of `BatchNorm2d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.LazyBatchNorm2d()(ac.randn(5, 4, 3, 3)).shape
    (5, 4, 3, 3)
    """

    _becomes = BatchNorm2d

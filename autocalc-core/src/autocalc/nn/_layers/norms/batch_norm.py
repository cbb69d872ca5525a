# SPDX-License-Identifier: MIT
"""Layers that normalise each channel, over a batch or within an example."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

from autocalc._dispatch.selection.state import host_numbers
from autocalc._graph._grad_mode import no_grad
from autocalc._kernels.norm._activated import RELU, PostOp
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.checks import check_sizes
from autocalc._ops.convolutions._spatial import batched, unbatched
from autocalc._ops.creation.constants import empty, ones, zeros
from autocalc._ops.creation.from_data import tensor
from autocalc._ops.norms.batch_norm import batch_norm_activation
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_switches
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType, int64
from autocalc.errors import AutocalcWarning, ShapeError
from autocalc.nn import _init, functional
from autocalc.nn._module.module import Module
from autocalc.nn._module.parameter import Parameter


class _ChannelNorm(Module):
    """A norm with a weight, a bias and running statistics for each channel."""

    #: Version 1 had no ``num_batches_tracked``.
    _version = 2

    weight: Parameter | None
    bias: Parameter | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def _init(
        self,
        num_features: int,
        eps: float,
        momentum: float | None,
        affine: bool,
        track_running_stats: bool,
        device: str | Device | None,
        dtype: DType | None,
        bias: bool,
    ) -> None:
        where = type(self).__name__
        check_switches(
            where, affine=affine, track_running_stats=track_running_stats, bias=bias
        )
        Module.__init__(self)
        (num_features,) = check_sizes(where, num_features=num_features)
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = bool(affine)
        self.track_running_stats = bool(track_running_stats)
        for name, present in (("weight", affine), ("bias", affine and bias)):
            values = empty(num_features, dtype=dtype, device=device)
            self.register_parameter(name, Parameter(values) if present else None)
        kept = track_running_stats
        mean = zeros(num_features, dtype=dtype, device=device) if kept else None
        var = ones(num_features, dtype=dtype, device=device) if kept else None
        count = tensor(0, dtype=int64, device=device) if kept else None
        self.register_buffer("running_mean", mean)
        self.register_buffer("running_var", var)
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: Mapping[str, Any],
        *rest: Any,
    ) -> None:
        key = prefix + "num_batches_tracked"
        count = self.num_batches_tracked
        if (local_metadata.get("version") or 1) < 2 and count is not None:
            state_dict.setdefault(key, count)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def reset_running_stats(self) -> None:
        """Set running means to 0, variances to 1 and the count of batches to 0."""
        with no_grad():
            if self.running_mean is not None:
                self.running_mean.zero_()
            if self.running_var is not None:
                self.running_var.fill_(1)
            if self.num_batches_tracked is not None:
                self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Set the weight to 1 and the bias to 0; reset the running statistics."""
        self.reset_running_stats()
        if self.weight is not None:
            _init.ones_(self.weight)
        if self.bias is not None:
            _init.zeros_(self.bias)

    def extra_repr(self) -> str:
        """Return the size and settings as text for `repr`."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


#: Running statistics, weight and bias, training, momentum and eps.
_Arguments = tuple[
    Tensor | None, Tensor | None, Tensor | None, Tensor | None, bool, float, float
]


class _BatchNorm(_ChannelNorm):
    _ndims: ClassVar[tuple[int, ...]]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: str | Device | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        self._init(num_features, eps, momentum, affine, track_running_stats, device,
                   dtype, bias)  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` normalised; in training, update the running statistics."""
        return functional.batch_norm(input, *self._arguments(input))

    def relu(self, input: Tensor, residual: Tensor | None = None) -> Tensor:
        """Return ``relu(self(input) + residual)``.

        One kernel computes it in the forward pass, and one kernel in the backward pass.

        No intermediate results are stored; see `nn.functional.batch_norm_relu`.  The
        hooks of this module are not called.
        """
        return self._activated(input, RELU, residual)

    def _activated(
        self, input: Tensor, activation: PostOp, residual: Tensor | None = None
    ) -> Tensor:
        """Return ``activation(self(input) + residual)``, as `relu` does."""
        return batch_norm_activation(
            activation, input, *self._arguments(input), residual
        )

    def _arguments(self, input: Tensor) -> _Arguments:
        """Count a batch; return the arguments of the functions after the input."""
        if check_tensor(type(self).__name__, input).ndim not in self._ndims:
            shapes = {
                2: "(N, C)",
                3: "(N, C, L)",
                4: "(N, C, H, W)",
                5: "(N, C, D, H, W)",
            }
            raise ShapeError(
                f"{type(self).__name__}: `input` has shape {input.shape}; it must be "
                f"{' or '.join(shapes[n] for n in self._ndims)}."
            )
        keeps = self.running_mean is not None
        used = keeps and (self.track_running_stats or not self.training)
        return (
            self.running_mean if used else None,
            self.running_var if used else None,
            self.weight,
            self.bias,
            self.training or not keeps,
            self._share(),
            self.eps,
        )

    def _share(self) -> float:
        """Count this batch; return its share in the running statistics."""
        count = self.num_batches_tracked
        if self.training and self.track_running_stats and count is not None:
            with no_grad():
                count.add_(1)
            if self.momentum is None:  # the mean over all batches so far
                of = (count._array,)
                return host_numbers(lambda: (1 / int(count.item()),), of)[0]
        return 0.0 if self.momentum is None else self.momentum


class BatchNorm1d(_BatchNorm):
    """Batch normalization of inputs of shape (N, C) or (N, C, L).

    Parameters
    ----------
    num_features, eps, momentum, affine, track_running_stats, device, dtype, bias
        The same as for `BatchNorm2d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.BatchNorm1d(4, affine=False)
    >>> abs(layer(ac.randn(100, 4) + 3).mean().item()) < 1e-5
    True
    """

    _ndims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalization of images of shape (N, C, H, W).

    Each channel is normalised::

        y = (x - mean) / sqrt(var + eps) * weight + bias

    In training, the mean and the variance of each channel are computed from the batch,
    over N, H and W. After `eval`, the running mean and the running variance are used
    instead.  Each training step updates them::

        running = (1 - momentum) * running + momentum * batch

    Ioffe, Szegedy: Batch normalization (ICML 2015).

    Parameters
    ----------
    num_features
        The number of channels, C.
    eps
        A small constant that is added to the variance, to avoid a division by 0.
    momentum
        The weight of the current batch in the running statistics, from 0 to 1.  None
        computes the mean over all batches instead.
    affine
        True for a learned weight and a learned bias.
    track_running_stats
        True to keep running statistics.  If False, the statistics of the batch are used
        after `eval`, too.
    device, dtype
        The floating-point dtype of the parameters and of the statistics.  None means
        the default dtype.
    bias
        True for a bias in addition to the weight.  It has no effect if `affine` is
        False.

    Attributes
    ----------
    weight, bias
        The weight, initially 1, and the bias, initially 0, each of shape (C,). None if
        they are disabled.
    running_mean, running_var, num_batches_tracked
        The running mean, initially 0, and the running variance, initially 1, each of
        shape (C,), and the number of batches seen.  None without running statistics.

    Raises
    ------
    ShapeError
        If the input does not have four dimensions, or if a channel of the batch has
        only one value in training.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.BatchNorm2d(3)
    >>> layer(ac.randn(8, 3, 4, 4)).shape, layer.num_batches_tracked.item()
    (autocalc.Size([8, 3, 4, 4]), 1)
    >>> list(layer.state_dict())  # doctest: +NORMALIZE_WHITESPACE
    ['weight', 'bias', 'running_mean', 'running_var', 'num_batches_tracked']
    """

    _ndims = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalization of volumes of shape (N, C, D, H, W).

    Parameters
    ----------
    num_features, eps, momentum, affine, track_running_stats, device, dtype, bias
        The same as for `BatchNorm2d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.BatchNorm3d(3)(ac.randn(2, 3, 4, 5, 5)).shape
    autocalc.Size([2, 3, 4, 5, 5])
    """

    _ndims = (5,)


class _InstanceNorm(_ChannelNorm):
    _dims: ClassVar[int]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: str | Device | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        self._init(num_features, eps, momentum, affine, track_running_stats, device,
                   dtype, bias)  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` normalised; in training, update the running statistics."""
        where = type(self).__name__
        x, had_batch = batched(where, input, self._dims)
        if x.shape[1] != self.num_features:
            wrong = (
                f"{where}: `input` of shape {input.shape} has {x.shape[1]} channels, "
                f"but the layer has num_features={self.num_features}."
            )
            if self.affine or self.track_running_stats:
                raise ShapeError(wrong)
            message = (
                f"{wrong} It has no weights or statistics, so it accepts any number of "
                "channels."
            )
            warnings.warn(message, AutocalcWarning, stacklevel=3)
        out = functional.instance_norm(
            x,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return unbatched(out, had_batch)


class InstanceNorm1d(_InstanceNorm):
    """Instance normalization of signals of shape (N, C, L) or (C, L).

    Parameters
    ----------
    num_features, eps, momentum, affine, track_running_stats, device, dtype, bias
        The same as for `InstanceNorm2d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.InstanceNorm1d(3)(ac.randn(8, 3, 4)).shape
    autocalc.Size([8, 3, 4])
    """

    _dims = 1


class InstanceNorm2d(_InstanceNorm):
    """Instance normalization of images of shape (N, C, H, W) or (C, H, W).

    It normalises each channel of each image over H and W, with the formula of
    `BatchNorm2d`.

    Ulyanov, Vedaldi, Lempitsky: Instance normalization (2016).

    Parameters
    ----------
    num_features, eps, momentum, affine, track_running_stats, device, dtype, bias
        The same as for `BatchNorm2d`.  By default there are no parameters and no
        running statistics.

    Raises
    ------
    ShapeError
        If the input has a wrong number of dimensions or of channels, or if each channel
        has only one pixel.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.InstanceNorm2d(3)(ac.randn(8, 3, 4, 4)).shape
    autocalc.Size([8, 3, 4, 4])
    """

    _dims = 2


class InstanceNorm3d(_InstanceNorm):
    """Instance normalization of volumes of shape (N, C, D, H, W) or (C, D, H, W).

    Parameters
    ----------
    num_features, eps, momentum, affine, track_running_stats, device, dtype, bias
        The same as for `InstanceNorm2d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.InstanceNorm3d(3)(ac.randn(2, 3, 4, 5, 5)).shape
    autocalc.Size([2, 3, 4, 5, 5])
    """

    _dims = 3

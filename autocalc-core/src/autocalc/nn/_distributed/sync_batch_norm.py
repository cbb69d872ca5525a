# SPDX-License-Identifier: MIT
"""Batch norm over the batches of all processes."""

from __future__ import annotations

from typing import Any

from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_type
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.distributed import ProcessGroup
from autocalc.distributed._group import current_group, group_of
from autocalc.errors import ArgumentError, ShapeError
from autocalc.nn import functional
from autocalc.nn._distributed.sync_norm import sync_batch_norm
from autocalc.nn._layers.norms.batch_norm import _BatchNorm
from autocalc.nn._module.module import Module
from autocalc.nn._module.uninitialized import is_lazy


class SyncBatchNorm(_BatchNorm):
    """Batch normalization with the statistics of the batches of all processes.

    In training, the mean and the variance of each channel are computed over the inputs
    of all ranks.  So n ranks, each with one part of a batch, compute the same as
    `BatchNorm1d`, `BatchNorm2d` or `BatchNorm3d` with the whole batch.  All ranks have
    to call the layer.

    After `eval`, without a process group, or in a group of one rank, it is an ordinary
    batch norm.

    Parameters
    ----------
    num_features, eps, momentum, affine, track_running_stats, device, dtype, bias
        The same as for `BatchNorm2d`.
    process_group
        The group of ranks, made by `distributed.new_group`.  None means all ranks.

    Attributes
    ----------
    weight, bias, running_mean, running_var, num_batches_tracked
        The same as for `BatchNorm2d`.

    Raises
    ------
    ArgumentError
        If this rank is not in `process_group`, or if the group has been destroyed.
    ShapeError
        If the shape of the input is not (N, C), (N, C, L), (N, C, H, W) or (N, C, D, H,
        W).

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.SyncBatchNorm(3)(ac.randn(8, 3, 4, 4)).shape
    autocalc.Size([8, 3, 4, 4])
    """

    _ndims = (2, 3, 4, 5)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: str | Device | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        _check_group("SyncBatchNorm", process_group)
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype,
            bias=bias,
        )  # fmt: skip
        self.process_group = process_group

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` normalised; in training, update the running statistics."""
        mean, var, weight, bias, by_batch, share, eps = self._arguments(input)
        group = self._group()
        if not by_batch or group is None:
            return functional.batch_norm(
                input, mean, var, weight, bias, by_batch, share, eps
            )
        if input.shape[1] != self.num_features:
            raise ShapeError(
                f"SyncBatchNorm: `input` of shape {input.shape} has {input.shape[1]} "
                f"channels, but the layer has num_features={self.num_features}."
            )
        return sync_batch_norm(input, mean, var, weight, bias, share, eps, group)

    def relu(self, input: Tensor, residual: Tensor | None = None) -> Tensor:
        """Return ``relu(self(input) + residual)``.

        If there are no other ranks, one kernel computes the forward pass, and one
        kernel computes the backward pass.
        """
        if self._group() is None:
            return super().relu(input, residual)
        y = self(input)
        return functional.relu(y if residual is None else y + residual, inplace=True)

    def _group(self) -> ProcessGroup | None:
        """Return the ranks whose batches count, or None if there are no other ranks."""
        if not self.training:
            return None
        group = self.process_group
        found = current_group() if group is None else group_of("SyncBatchNorm", group)
        return None if found is None or found.size() == 1 else found

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """Replace each batch norm in a module by a `SyncBatchNorm`; return the module.

        Parameters
        ----------
        module
            The module, changed in place.  If it is a batch norm itself, the new layer
            is returned instead.  The new layers share the parameters and the running
            statistics of the old ones.
        process_group
            The group of ranks, made by `distributed.new_group`.  None means all ranks.

        Raises
        ------
        DTypeError
            If `module` is not a `Module`.
        ArgumentError
            If this rank is not in `process_group`, or if a lazy batch norm has not yet
            been called.

        Examples
        --------
        >>> import autocalc as ac
        >>> net = ac.nn.Sequential(ac.nn.Linear(3, 4), ac.nn.BatchNorm1d(4))
        >>> type(ac.nn.SyncBatchNorm.convert_sync_batchnorm(net)[1]).__name__
        'SyncBatchNorm'
        """
        where = "convert_sync_batchnorm"
        _check_group(where, process_group)
        check_type(where, "module", module, Module, "a Module")
        if isinstance(module, _BatchNorm) and not isinstance(module, SyncBatchNorm):
            return _converted(cls, module, process_group)
        for name, child in module.named_children():
            setattr(module, name, cls.convert_sync_batchnorm(child, process_group))
        return module


def _check_group(where: str, group: Any) -> None:
    """Raise if the given group does not contain this rank."""
    if group is not None:
        group_of(where, group)


def _converted(
    cls: type[SyncBatchNorm], norm: _BatchNorm, process_group: Any
) -> SyncBatchNorm:
    """Return a norm with the tensors and settings of `norm`."""
    if any(map(is_lazy, (*norm.parameters(), *norm.buffers()))):
        raise ArgumentError(
            f"convert_sync_batchnorm: a {type(norm).__name__} has no parameters yet; "
            f"call the network once on an example first."
        )
    made = cls(
        norm.num_features,
        norm.eps,
        norm.momentum,
        norm.affine,
        norm.track_running_stats,
        process_group,
        bias=norm.bias is not None,
    )
    for name in norm._names:
        setattr(made, name, getattr(norm, name))
    made.training = norm.training
    return made

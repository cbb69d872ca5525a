# SPDX-License-Identifier: MIT
"""A last linear layer and the cross-entropy after it, as one module."""

from __future__ import annotations

import math

from autocalc._ops._operator.arguments import check_tensor, integers
from autocalc._ops._operator.checks import check_sizes
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int, check_switches, number
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError, ShapeError
from autocalc.nn import functional
from autocalc.nn._functional.linear_cross_entropy import LinearCrossEntropyOptions
from autocalc.nn._layers.linear import Linear
from autocalc.nn._layers.losses.loss import _WeightedLoss


class LinearCrossEntropyLoss(_WeightedLoss):
    """A linear layer and the cross-entropy of its outputs, as one loss.

    The batch can be cut into chunks of rows, so that the logits of all rows are never
    in memory at the same time.

    Parameters
    ----------
    in_features, num_classes
        The number of features F of the input and the number of classes C.
    out_features
        The sizes d1, ... if each sample has losses at several positions.  By default,
        each sample has one position.
    bias
        True to add a bias to the linear layer.
    device, dtype
        The device and the floating-point dtype of the parameters.  None means the
        default device and the default dtype.
    reduction, weight, ignore_index, label_smoothing, options
        The same as for `functional.linear_cross_entropy`.

    Attributes
    ----------
    linear
        The linear layer, with C * d1 * ... outputs.

    Raises
    ------
    ArgumentError
        If an argument is out of range.
    ShapeError
        If the shape of `weight` is not (num_classes,).

    Examples
    --------
    >>> import autocalc as ac
    >>> options = ac.nn.LinearCrossEntropyOptions(batch_chunk_size=4)
    >>> loss = ac.nn.LinearCrossEntropyLoss(8, 1000, options=options)
    >>> loss(ac.randn(10, 8), ac.randint(1000, (10,))).shape
    autocalc.Size([])
    >>> list(loss.state_dict())
    ['linear.weight']
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: str | Device | None = None,
        dtype: DType | None = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        where = "LinearCrossEntropyLoss"
        check_switches(where, bias=bias)
        in_features, num_classes = check_sizes(
            where, in_features=in_features, num_classes=num_classes
        )
        if weight is not None and check_tensor(where, weight).shape != (num_classes,):
            raise ShapeError(
                f"{where}: expected weight shape to be ({num_classes},), got "
                f"{tuple(weight.shape)}: `weight` has one number for each class."
            )
        smoothing = number(where, "label_smoothing", label_smoothing)
        if not 0 <= smoothing <= 1:
            message = (
                f"{where}: expected label_smoothing to be in range [0, 1], got "
                f"{smoothing}."
            )
            raise ArgumentError(message)
        if ignore_index is not None:
            as_int(where, "ignore_index", ignore_index)
        super().__init__(weight, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = integers(where, "out_features", out_features)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        outputs = num_classes * math.prod(self.out_features)
        self.linear = Linear(in_features, outputs, bias, device, dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of targets for inputs of shape (N, F) or (F,).

        The targets are those of `functional.linear_cross_entropy`.
        """
        rows = self.num_classes, *self.out_features
        bias = self.linear.bias
        return functional.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*rows, self.linear.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(rows),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        """Return the sizes and the settings as text for `repr`."""
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, "
            f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )

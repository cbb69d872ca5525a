# SPDX-License-Identifier: MIT
"""Losses of several labels for one row of scores."""

from __future__ import annotations

from autocalc._ops._operator.arguments import Operand
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float, refuse_booleans
from autocalc._ops._operator.coerce import as_operand, cast
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops.activations import rectifiers
from autocalc._ops.creation.ranges import arange
from autocalc._ops.elementwise import arithmetic, comparison
from autocalc._ops.elementwise.zero_weights import weigh_op
from autocalc._ops.indexing import indexing, masking
from autocalc._ops.losses import _loss_reduction, binary_losses
from autocalc._ops.losses.margin_losses import check_rows
from autocalc._ops.reductions import logical
from autocalc._ops.reductions import reduction as reduction_ops
from autocalc._ops.sequences import scans
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import number
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import ShapeError


@rounded_once(promotes=True)
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Operand,
    weight: Operand | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the mean over classes of -(t log(s) + (1 - t) log(1 - s)).

    Here s = sigmoid(input).  The logarithms are computed from the logits, without
    overflow.

    Parameters
    ----------
    input
        The logits, of shape (..., C).
    target
        The targets t, 0 or 1 for each class; `target` and `input` are broadcast.
    weight
        A factor for each class, of shape (C,), or for each element.
    size_average, reduce
        Deprecated: use `reduction`.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.

    Raises
    ------
    ShapeError
        If `input` is 0-d, `target` or `weight` has more dimensions than `input`, or the
        shapes do not broadcast.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, t = ac.tensor([[0.0, 1000.0]]), ac.tensor([[1.0, 1.0]])
    >>> ac.nn.functional.multilabel_soft_margin_loss(x, t)
    tensor(0.3466)
    """
    where = "multilabel_soft_margin_loss"
    reduction = _loss_reduction.chosen(where, size_average, reduce, reduction)
    check_float(where, input)
    if input.ndim == 0:
        raise ShapeError(
            f"{where}: `input` is 0-d; it needs a dimension for the classes."
        )
    _fewer_dimensions(where, "target", target, input)
    if isinstance(target, Tensor):
        refuse_booleans(where, target)
    dtype = target.dtype if isinstance(target, Tensor) else input.dtype
    loss = binary_losses.of_logits(input, as_operand(target, dtype))
    if weight is not None:
        _fewer_dimensions(where, "weight", weight, input)
        loss = weigh_op(weight, loss)
    return _loss_reduction.reduced(reduction_ops.mean(loss, -1), reduction)


def _fewer_dimensions(where: str, name: str, given: Operand, input: Tensor) -> None:
    """Raise unless it is a number, or a tensor of at most as many dimensions.

    `input` sets the largest number of dimensions.
    """
    if isinstance(given, Tensor) and given.ndim <= input.ndim:
        return
    if isinstance(given, Tensor):
        raise ShapeError(
            f"{where}: `{name}` has shape {given.shape}, more dimensions than `input` "
            f"of shape {input.shape}; its last dimension must be that of the classes."
        )
    number(where, name, given)


@autocasts("float32")
@rounded_once
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return sum_ij max(1 - (x_j - x_i), 0) / C for labels j and other classes i.

    Parameters
    ----------
    input
        The scores x, a tensor of shape (N, C) or (C,).
    target
        The labels, a tensor of int64 with the shape of `input`.  In each row, the
        labels before the first negative number count.
    size_average, reduce
        Deprecated: use `reduction`.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.

    Raises
    ------
    ShapeError
        If the shapes of `input` and `target` differ, or are neither (N, C) nor (C,).
    DTypeError
        If the labels are not int64.
    KernelDataError
        If a label is C or more.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, y = ac.tensor([[0.1, 0.2, 0.4, 0.8]]), ac.tensor([[3, 0, -1, 1]])
    >>> ac.nn.functional.multilabel_margin_loss(x, y)
    tensor(0.8500)
    """
    where = "multilabel_margin_loss"
    reduction = _loss_reduction.chosen(where, size_average, reduce, reduction)
    check_float(where, input)
    _loss_reduction.same_shape(where, input, target)
    check_rows(where, input)
    shape = input.shape[:-1]
    labels = indexing.long_positions(where, target, name="`target`")
    if input.ndim < 2:
        input, labels = view.reshape(input, (1, -1)), view.reshape(labels, (1, -1))
    loss = _of_label_lists(input, labels)
    return _loss_reduction.reduced(view.reshape(loss, shape), reduction)


def _of_label_lists(rows: Tensor, labels: Tensor) -> Tensor:
    """Return the loss of each row; axis 1 of the differences is j, axis 2 is i."""
    ends = cast(comparison.lt(labels, 0), dtypes.int64)
    given = comparison.eq(scans.cumsum(ends, 1), 0)
    labels = masking.where(given, labels, 0)
    scores = indexing.gather_op(rows, labels, 1)
    lead = arithmetic.sub_op(view.unsqueeze(scores, 2), view.unsqueeze(rows, 1))
    classes = comparison.eq(
        view.unsqueeze(labels, 2), arange(rows.shape[1], device=place_of_tensor(rows))
    )
    given = view.unsqueeze(given, 2)
    named = reduction_ops.any(logical.logical_and(classes, given), 1, keepdim=True)
    counts = logical.logical_and(given, logical.logical_not(named))
    short = rectifiers.relu_op(arithmetic.sub_op(1.0, lead))
    total = reduction_ops.sum(masking.where(counts, short, 0.0), (1, 2))
    return arithmetic.div_op(total, float(rows.shape[1]))

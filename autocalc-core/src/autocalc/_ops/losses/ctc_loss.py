# SPDX-License-Identifier: MIT
"""CTC: the probability of a text over all its alignments with a longer sequence.

There may be blanks between the labels of a text and around them.  So a text of S labels
has 2 S + 1 places.  alpha(t, s) is the logarithm of the total probability of all paths
that reach place s after t + 1 steps.  Graves and others: Connectionist temporal
classification (ICML 2006).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from autocalc._dispatch.selection.state import check_values, recorder
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float, check_reduction
from autocalc._ops._operator.coerce import cast
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops.arranging import joining
from autocalc._ops.creation.constants import full
from autocalc._ops.creation.from_data import tensor
from autocalc._ops.creation.ranges import arange
from autocalc._ops.elementwise import arithmetic, clamping, comparison
from autocalc._ops.indexing import indexing, masking
from autocalc._ops.reductions import reduction as reduction_ops
from autocalc._ops.reductions import softmax as softmax_ops
from autocalc._ops.sequences import scans
from autocalc._ops.views import broadcasting, splitting, view
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.checks import as_int, require, sequence
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import ArgumentError, DTypeError, ShapeError

#: Represents the logarithm of 0; differences of minus infinity would be NaN.
_NEVER = -1e30


class _Lengths(NamedTuple):
    """Lengths, the largest length and the sum; None while `compile` records tensors."""

    numbers: Tensor  # [N]
    longest: int
    total: int | None


class _Texts(NamedTuple):
    """Texts with blanks around and between their labels."""

    places: Tensor  # [N, 2 S + 1]
    lengths: Tensor  # [N], without blanks
    may_skip: Tensor  # [N, 2 S + 1]: whether the blank before it can be skipped


@autocasts("float32")
@declared
@rounded_once
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Return -log of the total probability of all alignments of a text (CTC).

    An alignment is a sequence of one class for each step.  Removing its repetitions,
    and then its blanks, gives the text.  The sum over all alignments is computed with
    the recursion ``alpha(t, s) = logsumexp(alpha(t - 1, s), alpha(t - 1, s - 1),
    alpha(t - 1, s - 2)) + log_probs[t, label(s)]``.  Here label(s) is element s of the
    text with a blank before and after each of its labels. alpha(t, s) is the logarithm
    of the total probability of all sequences of t steps that end with label(s).  The
    last of the three terms counts only if label(s) is not blank and differs from
    label(s - 2).

    Graves, Fernández, Gomez, Schmidhuber: Connectionist temporal classification
    (ICML 2006).

    Parameters
    ----------
    log_probs
        The log-probabilities of the classes at each step, as `log_softmax` returns
        them: a tensor of shape [T, N, C] or [T, C].
    targets
        The texts: integers other than `blank`.  They are either a tensor of shape [N,
        S], of which the first `target_lengths` elements of each row count, or one
        vector of shape [sum(target_lengths)] that holds all texts.
    input_lengths
        The lengths of the sequences: N integers from 0 to T, in a tensor or a list.
    target_lengths
        The lengths of the texts: N integers, in a tensor or a list.
    blank
        The index of the blank class.
    reduction
        ``"mean"`` divides each loss by its target length and takes the mean; ``"sum"``
        adds the losses; ``"none"`` returns one loss for each text.
    zero_infinity
        True to return 0 instead of infinity for a text that has no alignment, for
        example because it is longer than the sequence.  The gradient of this loss is 0
        even if `zero_infinity` is False.

    Raises
    ------
    ShapeError
        If the shapes of the tensors do not fit together.
    ArgumentError
        If a length is out of range, or `blank` is not a class.
    DTypeError
        If targets or lengths are not integers.
    KernelDataError
        If a label is not a class.

    Examples
    --------
    >>> import autocalc as ac
    >>> half = ac.full((2, 1, 2), 0.5).log()
    >>> loss = ac.nn.functional.ctc_loss(half, ac.tensor([[1]]), [2], [1])
    >>> (-loss).exp()  # 01, 10 and 11, of four
    tensor(0.7500)
    """
    where = "ctc_loss"
    check_reduction(where, reduction)
    steps, had_batch = _steps(where, log_probs)
    blank = _class(where, blank, steps.shape[2])
    last = _lengths(where, "input_lengths", input_lengths, *steps.shape[1::-1])
    texts = _texts(where, targets, target_lengths, steps.shape[1], blank)
    losses = _negative_log_likelihoods(steps, texts, last.numbers)
    impossible = comparison.gt(losses.detach(), -_NEVER / 2)
    losses = masking.masked_fill(losses, impossible, 0.0 if zero_infinity else math.inf)
    return _reduced(losses, texts.lengths, reduction, had_batch)


def _negative_log_likelihoods(steps: Tensor, texts: _Texts, lasting: Tensor) -> Tensor:
    """Return the losses, [N]; the steps have the shape [T, N, C]."""
    count, size = texts.places.shape
    places = broadcasting.expand(
        view.unsqueeze(texts.places, 0), (steps.shape[0], count, size)
    )
    emitted = indexing.gather(clamping.clamp(steps, min=_NEVER), 2, places)
    never = full(
        (count, size), _NEVER, dtype=steps.dtype, device=place_of_tensor(steps)
    )
    first = comparison.eq(arange(size), 0)
    alpha = masking.where(first, 0.0, never)  # before the first step
    for t in range(steps.shape[0]):
        skipped = masking.where(texts.may_skip, _shifted(alpha, 2), never)
        ways = joining.stack([alpha, _shifted(alpha, 1), skipped])
        new = arithmetic.add(
            softmax_ops.logsumexp_op(ways, (0,), False), splitting.select(emitted, 0, t)
        )
        goes_on = view.unsqueeze(comparison.gt(lasting, t), 1)
        alpha = masking.where(goes_on, new, alpha)
    return arithmetic.neg(
        softmax_ops.logsumexp_op(_ends(alpha, texts.lengths), (1,), False)
    )


def _shifted(alpha: Tensor, by: int) -> Tensor:
    """Return alpha(s - by), or the value for impossible places where there is none."""
    by = min(by, alpha.shape[1])
    before = full(
        (alpha.shape[0], by), _NEVER, dtype=alpha.dtype, device=place_of_tensor(alpha)
    )
    kept = splitting.narrow(alpha, 1, 0, alpha.shape[1] - by)
    return joining.cat([before, kept], 1)


def _ends(alpha: Tensor, lengths: Tensor) -> Tensor:
    """Return alpha at the last blank and at the last label, [N, 2]."""
    last = view.unsqueeze(2 * lengths, 1)
    label = indexing.gather(alpha, 1, clamping.clamp(last - 1, min=0))
    label = masking.masked_fill(label, comparison.eq(last, 0), _NEVER)
    return joining.cat([indexing.gather(alpha, 1, last), label], 1)


def _reduced(losses: Tensor, lengths: Tensor, how: str, had_batch: bool) -> Tensor:
    if how == "mean":
        each = clamping.clamp(cast(lengths, losses.dtype), min=1)
        return reduction_ops.mean(arithmetic.div(losses, each))
    if how == "sum":
        return reduction_ops.sum(losses)
    return losses if had_batch else view.squeeze(losses, 0)


# ---- arguments -----------------------------------------------------------------------


def _steps(where: str, log_probs: Tensor) -> tuple[Tensor, bool]:
    """Return the steps as [T, N, C], and whether there was a batch dimension."""
    check_float(where, log_probs)
    if log_probs.ndim == 3:
        return log_probs, True
    if log_probs.ndim == 2:
        return view.unsqueeze(log_probs, 1), False
    raise ShapeError(
        f"{where}: `log_probs` has shape {log_probs.shape}; it must be [T, N, C] or "
        f"[T, C]."
    )


def _class(where: str, blank: Any, classes: int) -> int:
    number = as_int(where, "blank", blank)
    require(where, "blank", number, 0 <= number < classes, f"from 0 to {classes - 1}")
    return number


def _lengths(where: str, name: str, given: Any, count: int, most: int) -> _Lengths:
    """Return `count` lengths from 0 to `most`."""
    if isinstance(given, Tensor):
        given = view.reshape(given, (-1,))
        if recorder() is not None and given.shape[0] == count:

            def check(lengths: Any) -> None:
                _check_lengths(where, name, make(lengths, None).tolist(), most)

            check_values(check, given._array)
            return _Lengths(cast(given, dtypes.int64), most, None)
        given = given.tolist()
    values = given if isinstance(given, (tuple, list)) else sequence(where, name, given)
    lengths = [as_int(where, name, value) for value in values]
    if len(lengths) != count:
        message = f"{where}: `{name}` holds {len(lengths)} lengths; give {count}."
        raise ShapeError(message)
    _check_lengths(where, name, lengths, most)
    numbers = tensor(lengths, dtype=dtypes.int64)
    return _Lengths(numbers, max(lengths, default=0), sum(lengths))


def _check_lengths(where: str, name: str, lengths: list[int], most: int) -> None:
    if not all(0 <= n <= most for n in lengths):
        raise ArgumentError(
            f"{where}: `{name}` is {lengths}; lengths must be from 0 to {most}."
        )


def _texts(where: str, targets: Any, given: Any, count: int, blank: int) -> _Texts:
    """Return the texts with blanks inserted."""
    if check_tensor(where, targets).is_floating_point() or (
        targets.dtype is dtypes.bool_
    ):
        raise DTypeError(
            f"{where}: `targets` has dtype {targets.dtype.name}; labels must be "
            f"integers."
        )
    whole = targets.ndim == 2 and targets.shape[0] == count
    if not whole and targets.ndim != 1:
        raise ShapeError(
            f"{where}: `targets` has shape {targets.shape}; for {count} texts it must "
            f"be [{count}, S] or [sum(target_lengths)]."
        )
    most = targets.shape[-1]
    lengths = _lengths(where, "target_lengths", given, count, most)
    if not whole and lengths.total not in (most, None):
        numbers = lengths.numbers.tolist()
        raise ShapeError(
            f"{where}: `targets` holds {most} labels, but the sum of `target_lengths` "
            f"is {numbers}; for texts in one vector, both must be equal."
        )
    labels = cast(targets, dtypes.int64)
    labels = labels if whole else _in_rows(labels, lengths)
    return _with_blanks(labels, lengths.numbers, blank)


def _in_rows(labels: Tensor, lengths: _Lengths) -> Tensor:
    """Return concatenated texts as rows [N, S]."""
    numbers, longest, _ = lengths
    if not longest:
        return full((numbers.shape[0], 0), 0, dtype=dtypes.int64)
    starts = scans.cumsum(numbers, 0) - numbers
    places = view.unsqueeze(starts, 1) + arange(longest)
    last = labels.shape[0] - 1
    return indexing.take(labels, clamping.clamp(places, max=last))


def _with_blanks(labels: Tensor, lengths: Tensor, blank: int) -> _Texts:
    """Put blanks around and between the labels, and in place of padding."""
    count, size = labels.shape
    padding = comparison.ge(arange(size), view.unsqueeze(lengths, 1))
    labels = masking.masked_fill(labels, padding, blank)
    blanks = full((count, size), blank, dtype=dtypes.int64)
    pairs = view.reshape(joining.stack([blanks, labels], 2), (count, 2 * size))
    places = joining.cat([pairs, full((count, 1), blank, dtype=dtypes.int64)], 1)
    before = full((count, min(2, 2 * size + 1)), blank, dtype=dtypes.int64)
    before = joining.cat(
        [before, splitting.narrow(places, 1, 0, max(2 * size - 1, 0))], 1
    )
    differs = comparison.ne(places, before)
    return _Texts(places, lengths, differs & comparison.ne(places, blank))

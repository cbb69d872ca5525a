# SPDX-License-Identifier: MIT
"""Losses that PyTorch has at the top level, too, where numbers name their reductions.

0 is no reduction, which is what these functions do by default, 1 the mean, 2 the sum.
"""

from __future__ import annotations

from typing import Any

from autocalc._tensor import Tensor
from autocalc._tensor.checks import short
from autocalc.errors import ArgumentError
from autocalc.nn import functional

_NAMES = ("none", "mean", "sum")


def _named(where: str, reduction: Any) -> str:
    """Return the name of a reduction that is given by a number."""
    if reduction.__class__ is not int or reduction not in (0, 1, 2):
        message = (
            f"{where}: `reduction` is {short(reduction)}; here it is a number: 0 for "
            f"none, 1 for the mean, 2 for the sum. nn.functional.{where} takes names."
        )
        raise ArgumentError(message)
    return _NAMES[reduction]


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = 0,
) -> Tensor:
    """Return that of `nn.functional` with the reduction as a number.

    Parameters
    ----------
    input, target, weight, pos_weight
        See `nn.functional.binary_cross_entropy_with_logits`.
    reduction
        0 for none, 1 for the mean, 2 for the sum.

    Raises
    ------
    ArgumentError
        If `reduction` is none of these.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.binary_cross_entropy_with_logits(ac.tensor([0.0, 1.0]), ac.ones(2))
    tensor([0.6931, 0.3133])
    """
    name = _named("binary_cross_entropy_with_logits", reduction)
    return functional.binary_cross_entropy_with_logits(
        input, target, weight, reduction=name, pos_weight=pos_weight
    )


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    reduction: int = 0,
) -> Tensor:
    """Return `nn.functional.cosine_embedding_loss` with the reduction as a number.

    Parameters
    ----------
    input1, input2, target, margin
        See `nn.functional.cosine_embedding_loss`.
    reduction
        0 for none, 1 for the mean, 2 for the sum.

    Raises
    ------
    ArgumentError
        If `reduction` is none of these.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.cosine_embedding_loss(ac.ones(2, 3), ac.ones(2, 3), ac.tensor([-1.0, -1.0]))
    tensor([1., 1.])
    """
    name = _named("cosine_embedding_loss", reduction)
    return functional.cosine_embedding_loss(
        input1, input2, target, margin, reduction=name
    )


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = 0,
    zero_infinity: bool = False,
) -> Tensor:
    """Return `nn.functional.ctc_loss` with the reduction as a number.

    Parameters
    ----------
    log_probs, targets, input_lengths, target_lengths, blank, zero_infinity
        See `nn.functional.ctc_loss`.
    reduction
        0 for none, 1 for the mean, 2 for the sum.

    Raises
    ------
    ArgumentError
        If `reduction` is none of these.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.ctc_loss(ac.zeros(2, 1, 3), ac.tensor([[1]]), (2,), (1,))
    tensor([-1.0986])
    """
    name = _named("ctc_loss", reduction)
    return functional.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, name, zero_infinity
    )


def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0
) -> Tensor:
    """Return `nn.functional.hinge_embedding_loss` with the reduction as a number.

    Parameters
    ----------
    input, target, margin
        See `nn.functional.hinge_embedding_loss`.
    reduction
        0 for none, 1 for the mean, 2 for the sum.

    Raises
    ------
    ArgumentError
        If `reduction` is none of these.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.hinge_embedding_loss(ac.tensor([0.5, 0.5]), ac.tensor([1.0, -1.0]))
    tensor([0.5000, 0.5000])
    """
    name = _named("hinge_embedding_loss", reduction)
    return functional.hinge_embedding_loss(input, target, margin, reduction=name)


def kl_div(
    input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False
) -> Tensor:
    """Return `nn.functional.kl_div` with the reduction as a number.

    Parameters
    ----------
    input, target, log_target
        See `nn.functional.kl_div`.
    reduction
        0 for none, 1 for the mean, 2 for the sum.

    Raises
    ------
    ArgumentError
        If `reduction` is none of these.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.kl_div(ac.zeros(2), ac.ones(2))
    tensor([0., 0.])
    """
    name = _named("kl_div", reduction)
    return functional.kl_div(input, target, reduction=name, log_target=log_target)


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    reduction: int = 0,
) -> Tensor:
    """Return `nn.functional.margin_ranking_loss` with the reduction as a number.

    Parameters
    ----------
    input1, input2, target, margin
        See `nn.functional.margin_ranking_loss`.
    reduction
        0 for none, 1 for the mean, 2 for the sum.

    Raises
    ------
    ArgumentError
        If `reduction` is none of these.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.margin_ranking_loss(ac.tensor([0.5, 1.0]), ac.ones(2), ac.ones(2))
    tensor([0.5000, 0.0000])
    """
    name = _named("margin_ranking_loss", reduction)
    return functional.margin_ranking_loss(
        input1, input2, target, margin, reduction=name
    )


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool,
    full: bool,
    eps: float,
    reduction: int,
) -> Tensor:
    """Return `nn.functional.poisson_nll_loss` with the reduction as a number.

    Parameters
    ----------
    input, target, log_input, full, eps
        See `nn.functional.poisson_nll_loss`.
    reduction
        0 for none, 1 for the mean, 2 for the sum.

    Raises
    ------
    ArgumentError
        If `reduction` is none of these.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.poisson_nll_loss(ac.zeros(2), ac.ones(2), True, False, 1e-8, 0)
    tensor([1., 1.])
    """
    name = _named("poisson_nll_loss", reduction)
    return functional.poisson_nll_loss(
        input, target, log_input, full, eps=eps, reduction=name
    )


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 0,
) -> Tensor:
    """Return `nn.functional.triplet_margin_loss` with the reduction as a number.

    Parameters
    ----------
    anchor, positive, negative, margin, p, eps, swap
        See `nn.functional.triplet_margin_loss`.
    reduction
        0 for none, 1 for the mean, 2 for the sum.

    Raises
    ------
    ArgumentError
        If `reduction` is none of these.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.triplet_margin_loss(ac.ones(2, 3), ac.ones(2, 3), ac.ones(2, 3))
    tensor([1., 1.])
    """
    name = _named("triplet_margin_loss", reduction)
    return functional.triplet_margin_loss(
        anchor, positive, negative, margin, p, eps, swap, reduction=name
    )

# SPDX-License-Identifier: MIT
"""Negative log-likelihoods of counts and of measurements."""

from __future__ import annotations

from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flags
from autocalc.nn import functional
from autocalc.nn._layers.losses.loss import _Loss


class PoissonNLLLoss(_Loss):
    """Negative log-likelihood of a Poisson distribution: exp(x) - t x.

    x is the logarithm of the expected count, and t is the count.  Input and target have
    the same shape.

    Parameters
    ----------
    log_input
        True if the input is the logarithm of the expected count.  If False, the input
        is the expected count, and the loss is x - t log(x + eps).
    full
        True to add Stirling's approximation of log(t!) where t > 1.
    size_average, reduce
        Deprecated; use `reduction` instead.
    eps
        The constant eps of the formula, which avoids log(0).
    reduction
        The reduction of the losses of all elements: ``"mean"``, ``"sum"`` or
        ``"none"``.

    Examples
    --------
    >>> import autocalc as ac
    >>> log_rate, count = ac.tensor([0.0, 1.0]), ac.tensor([2.0, 3.0])
    >>> ac.nn.PoissonNLLLoss(reduction="none")(log_rate, count)  # 1, e - 3
    tensor([ 1.0000, -0.2817])
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        check_flags("PoissonNLLLoss", log_input=log_input, full=full)
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of the inputs x and of the counts t."""
        return functional.poisson_nll_loss(
            log_input,
            target,
            self.log_input,
            self.full,
            eps=self.eps,
            reduction=self.reduction,
        )


class GaussianNLLLoss(_Loss):
    """Negative log-likelihood of a normal distribution: (log(v) + (x - t)^2 / v) / 2.

    x is the expected value, t is the target, and v = max(var, eps) is the variance.

    Parameters
    ----------
    full
        True to add the constant log(2 pi) / 2.
    eps
        The smallest variance; it limits `var` from below.
    reduction
        The reduction of the losses of all elements: ``"mean"``, ``"sum"`` or
        ``"none"``.

    Examples
    --------
    >>> import autocalc as ac
    >>> mean, measured = ac.tensor([1.0, 2.0]), ac.tensor([1.0, 4.0])
    >>> ac.nn.GaussianNLLLoss(reduction="none")(mean, measured, ac.tensor([1.0, 4.0]))
    tensor([0.0000, 1.1931])
    """

    def __init__(
        self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
    ) -> None:
        check_flags("GaussianNLLLoss", full=full)
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        """Return the loss of expected values, targets and variances."""
        return functional.gaussian_nll_loss(
            input, target, var, self.full, self.eps, self.reduction
        )

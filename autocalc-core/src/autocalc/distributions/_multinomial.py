# SPDX-License-Identifier: MIT
"""The multinomial distribution: how often each kind comes."""

from __future__ import annotations

from typing import Any

from autocalc._ops.creation.like import ones_like, zeros_like
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int
from autocalc.distributions import constraints
from autocalc.distributions._categorical import Categorical, OfKinds
from autocalc.distributions._counted import weighed
from autocalc.distributions._counts import Binomial
from autocalc.distributions._special import lgamma
from autocalc.errors import ArgumentError


class Multinomial(OfKinds):
    """Multinomial distribution: probability n! prod p_i^k_i / k_i! of the counts k_i.

    The counts are those of K classes in n draws.

    Parameters
    ----------
    total_count
        The number of draws n; an integer of 0 or more.
    probs
        The probabilities of the K classes, of shape (..., K).  They are normalised to a
        sum of 1. Give either `probs` or `logits`.
    logits
        The logarithms of the probabilities, of shape (..., K).  A constant may be added
        to all of them.
    validate_args
        True to check the parameters here, and the values passed to methods.  None means
        the default of `Distribution.set_default_validate_args`.

    Raises
    ------
    DTypeError
        If `total_count` is not an integer.
    ShapeError
        If the parameter has no dimension.
    ArgumentError
        If a parameter violates its constraint, or if not exactly one of `probs` and
        `logits` is given.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.Multinomial(4, ac.tensor([0.0, 1.0])).sample()
    tensor([0., 4.])
    """

    _is_one_hot = True

    def __init__(
        self,
        total_count: int = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self.total_count = as_int("Multinomial", "total_count", total_count)
        if self.total_count < 0:
            message = f"Multinomial: `total_count`={total_count}; it must be 0 or more."
            raise ArgumentError(message)
        super().__init__(probs, logits, validate_args)

    @property
    def support(self) -> constraints.Constraint:
        """The constraint that all possible values satisfy."""
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        result: Tensor = self.total_count * self.probs
        return result

    @property
    def variance(self) -> Tensor:
        """The variance."""
        result: Tensor = self.total_count * self.probs * (1 - self.probs)
        return result

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples of shape ``(*sample_shape, *batch_shape, K)``."""
        shape = self._extended_shape(sample_shape)
        outer = shape[: len(shape) - len(self._batch_shape) - 1]
        kinds = self._kinds((self.total_count, *outer)).movedim(0, -1)
        empty = zeros_like(self.probs.detach()).expand(shape).clone()
        ones = ones_like(kinds, dtype=empty.dtype)
        return empty.scatter_add(-1, kinds, ones)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability of `value`."""
        k = self._checked("log_prob", value).to(self.logits.dtype)
        ways = lgamma(k.sum(-1) + 1) - lgamma(k + 1).sum(-1)
        return ways + weighed(k, self.logits).sum(-1)

    def entropy(self) -> Tensor:
        """Return the entropy in nats, a sum over all counts of all classes."""
        one = Categorical(probs=self.probs, validate_args=False)
        count = Binomial(self.total_count, self.probs, validate_args=False)
        orders = count._expectation(lambda k: lgamma(k + 1)).sum(-1)
        whole = lgamma(self.probs.new_tensor(self.total_count + 1.0))
        result: Tensor = self.total_count * one.entropy() + orders - whole
        return result

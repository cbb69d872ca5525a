# SPDX-License-Identifier: MIT
"""Mixtures of distributions of one class."""

from __future__ import annotations

from typing import Any

from autocalc._graph._grad_mode import no_grad
from autocalc._ops.reductions.softmax import logsumexp_op
from autocalc._tensor import Tensor
from autocalc._tensor.checks import integers, short
from autocalc.distributions import constraints
from autocalc.distributions._categorical import Categorical
from autocalc.distributions._distribution import Distribution
from autocalc.errors import DTypeError, ShapeError


class MixtureSameFamily(Distribution):
    """Mixture of K distributions of the same class: density sum_k w_k p_k(x).

    A categorical distribution holds the weights w_k.

    Parameters
    ----------
    mixture_distribution
        A `Categorical` distribution of K classes.  It has no batch dimensions, or the
        same batch dimensions as the mixture.
    component_distribution
        The K distributions, as one distribution with a batch shape (..., K).
    validate_args
        True to check the values passed to methods.  None means the default of
        `Distribution.set_default_validate_args`.

    Raises
    ------
    DTypeError
        If an argument is not a distribution of the right class.
    ShapeError
        If the shapes of the two distributions do not match.

    Examples
    --------
    >>> import autocalc as ac
    >>> d = ac.distributions
    >>> two = d.MixtureSameFamily(
    ...     d.Categorical(ac.ones(2)), d.Normal(ac.tensor([-1.0, 1.0]), 1.0)
    ... )
    >>> two.mean, two.variance
    (tensor(0.), tensor(2.))
    """

    def __init__(
        self,
        mixture_distribution: Any,
        component_distribution: Any,
        validate_args: bool | None = None,
    ) -> None:
        _check_classes(mixture_distribution, component_distribution)
        mixture, components = mixture_distribution, component_distribution
        batch = components.batch_shape
        _check_shapes(mixture, batch)
        self._mixture_distribution = mixture
        self._component_distribution = components
        super().__init__(batch[:-1], components.event_shape, validate_args)

    @property
    def mixture_distribution(self) -> Categorical:
        """The categorical distribution of the weights."""
        result: Categorical = self._mixture_distribution
        return result

    @property
    def component_distribution(self) -> Distribution:
        """The distributions that are mixed."""
        result: Distribution = self._component_distribution
        return result

    @property
    def support(self) -> constraints.Constraint:
        """The constraint that all possible values satisfy."""
        each = self._component_distribution.support
        return constraints.MixtureSameFamilyConstraint(each)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Distribution:
        """Return a copy whose parameters are expanded to `batch_shape`."""
        batch = integers("MixtureSameFamily.expand", "batch_shape", batch_shape)
        new = self._instance_or_empty(_instance)
        count = self._component_distribution.batch_shape[-1]
        new._component_distribution = self._component_distribution.expand(
            (*batch, count)
        )
        new._mixture_distribution = self._mixture_distribution.expand(batch)
        return super().expand(batch, _instance=new)

    def _wide_mixture(self) -> Any:
        """Return the choosing distribution of all of the batch."""
        mixture = self._mixture_distribution
        same = mixture.batch_shape == self._batch_shape
        return mixture if same else mixture.expand(self._batch_shape)

    def _averaged(self, x: Any) -> Any:
        """Return `x` of the components, weighted and summed."""
        weights = self._wide_mixture().probs
        for _ in self._event_shape:
            weights = weights.unsqueeze(-1)
        return (weights * x).sum(-1 - len(self._event_shape))

    def _for_all(self, x: Tensor) -> Tensor:
        """Return `x` with a dimension of 1 in place of that of the components."""
        return x.unsqueeze(-1 - len(self._event_shape))

    @property
    def mean(self) -> Tensor:
        """The mean."""
        result: Tensor = self._averaged(self._component_distribution.mean)
        return result

    @property
    def variance(self) -> Tensor:
        """The variance: the mean of the variances plus the variance of the means."""
        each = self._component_distribution
        away = each.mean - self._for_all(self.mean)
        result: Tensor = self._averaged(each.variance) + self._averaged(away * away)
        return result

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples, ``(*sample_shape, *batch_shape, *event_shape)``."""
        with no_grad():
            kinds = self._wide_mixture().sample(sample_shape)
            drawn: Any = self._component_distribution.sample(sample_shape)
            index = kinds.reshape((*kinds.shape, 1, *(1 for _ in self._event_shape)))
            index = index.expand((*kinds.shape, 1, *self._event_shape))
            result: Tensor = drawn.gather(kinds.ndim, index).squeeze(kinds.ndim)
            return result

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density or of the probability of `value`."""
        x = self._for_all(self._checked("log_prob", value))
        log = self._component_distribution.log_prob(x)
        weights = self._mixture_distribution.logits.log_softmax(-1)
        return logsumexp_op(log + weights, (log.ndim - 1,), False)

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of a value less than or equal to `value`."""
        x = self._for_all(self._checked("cdf", value))
        share: Any = self._component_distribution.cdf(x)
        result: Tensor = (share * self._mixture_distribution.probs).sum(-1)
        return result

    def __repr__(self) -> str:
        parts = f"{self._mixture_distribution}, {self._component_distribution}"
        return f"MixtureSameFamily({parts})"


def _check_classes(mixture: Any, components: Any) -> None:
    where = "MixtureSameFamily"
    if not isinstance(mixture, Categorical) or mixture._is_one_hot:
        raise DTypeError(
            f"{where}: `mixture_distribution` is {short(mixture)}; it must be a "
            f"Categorical."
        )
    if not isinstance(components, Distribution):
        raise DTypeError(
            f"{where}: `component_distribution` is {short(components)}; it must be a "
            f"distribution."
        )


def _check_shapes(mixture: Any, batch: tuple[int, ...]) -> None:
    count = mixture.param_shape[-1]
    own = mixture.batch_shape
    fits = bool(batch) and batch[-1] == count and len(own) < len(batch)
    pairs = zip(reversed(own), reversed(batch[:-1]), strict=False)
    if not fits or any(n not in {1, m} for n, m in pairs):
        raise ShapeError(
            f"MixtureSameFamily: the components have the batch shape {batch} and the "
            f"mixture {mixture.param_shape}. They must be [..., K] with the same K, "
            "and the dimensions before K must be equal or 1."
        )

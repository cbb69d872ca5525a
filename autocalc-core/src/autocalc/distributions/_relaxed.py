# SPDX-License-Identifier: MIT
"""Continuous distributions near those of kinds, with gradients of draws.

Maddison, Mnih and Teh, "The Concrete Distribution", ICLR 2017.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from autocalc._kernels.rules import broadcast_shapes
from autocalc._ops.creation.from_data import tensor
from autocalc._ops.creation.like import ones_like
from autocalc._ops.indexing.masking import where
from autocalc._ops.losses.binary_losses import logistic_loss_op
from autocalc._ops.random.random_draws import rand
from autocalc._tensor import Tensor
from autocalc.distributions import constraints
from autocalc.distributions._categorical import Categorical, OneHotCategorical
from autocalc.distributions._counted import inside
from autocalc.distributions._distribution import (
    Constraints,
    Distribution,
    broadcast_values,
)
from autocalc.distributions._special import lgamma
from autocalc.distributions._transformed import TransformedDistribution
from autocalc.distributions._transforms_of_numbers import ExpTransform, SigmoidTransform
from autocalc.distributions._yes_or_no import Bernoulli


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """`OneHotCategorical` with straight-through gradients in `rsample`.

    The samples are one-hot vectors.  In the backward pass, a gradient of a sample is
    passed to the probabilities unchanged.

    Parameters
    ----------
    probs
        The probabilities of the K classes, of shape (..., K).  They are normalised to a
        sum of 1.  Give either `probs` or `logits`.
    logits
        The logarithms of the probabilities, of shape (..., K).  A constant may be added
        to all of them.
    validate_args
        True to check the parameters here, and the values passed to methods.  None means
        the default of `Distribution.set_default_validate_args`.

    Raises
    ------
    ShapeError
        If the parameter has no dimension.
    ArgumentError
        If a parameter violates its constraint, or if not exactly one of the two
        parameters is given.

    Examples
    --------
    >>> import autocalc as ac
    >>> probs = ac.tensor([0.0, 1.0]).requires_grad_()
    >>> drawn = ac.distributions.OneHotCategoricalStraightThrough(probs).rsample()
    >>> drawn.tolist(), drawn.requires_grad
    ([0.0, 1.0], True)
    """

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Return one-hot samples; their gradients are passed to the probabilities."""
        probs = self.probs
        result: Tensor = self.sample(sample_shape) + (probs - probs.detach())
        return result


class _Relaxed(Distribution):
    """A distribution with a temperature, near another one of kinds."""

    has_rsample = True
    #: The one of kinds.
    _kind: Any
    temperature: Any

    def _set_temperature(self, temperature: Any) -> None:
        (value,) = broadcast_values(type(self).__name__, temperature=temperature)
        if not isinstance(temperature, Tensor):
            value = tensor(temperature, dtype=self._kind.logits.dtype)
        self.temperature = value.reshape(()) if value.numel() == 1 else value

    def _wide(self, batch: tuple[int, ...]) -> None:
        if self._kind.batch_shape != batch:
            self._kind = self._kind.expand(batch)

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        result: Tensor = self._kind.probs
        return result

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities, or the log-odds."""
        result: Tensor = self._kind.logits
        return result

    @property
    def param_shape(self) -> tuple[int, ...]:
        """The shape of the parameter."""
        shape: tuple[int, ...] = self._kind.param_shape
        return shape

    def expand(self, batch_shape: Any, _instance: Any = None) -> Distribution:
        """Return a copy whose parameters are expanded to `batch_shape`."""
        new: Any = super().expand(batch_shape, _instance)
        new._kind = self._kind.expand(new.batch_shape)
        return new  # type: ignore[no-any-return]  # a distribution

    def _uniforms(self, sample_shape: Any) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return inside(rand(shape, dtype=self._kind.logits.dtype))

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}(temperature: {self.temperature.tolist()}, {self._kind})"


class LogitRelaxedBernoulli(_Relaxed):
    """The log-odds of a `RelaxedBernoulli`: (logits + noise) / temperature.

    The noise is log(u / (1 - u)), where u is uniform on (0, 1).

    Parameters
    ----------
    temperature
        The temperature; above 0.  A tensor or a number.
    probs
        The probabilities of 1.  Give either `probs` or `logits`.
    logits
        The log-odds log(p / (1 - p)); a tensor or a number.
    validate_args
        True to check the parameters here, and the values passed to methods.  None means
        the default of `Distribution.set_default_validate_args`.

    Raises
    ------
    ArgumentError
        If a parameter violates its constraint, or if not exactly one of the two
        parameters is given.
    """

    arg_constraints: ClassVar[Constraints] = {
        "temperature": constraints.positive,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.real

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self._kind = Bernoulli(probs, logits, validate_args)
        self._set_temperature(temperature)
        batch = broadcast_shapes(
            "RelaxedBernoulli", self.temperature.shape, self._kind.batch_shape
        )
        self._wide(batch)
        super().__init__(batch, validate_args=validate_args)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples through which gradients flow to the parameters."""
        u = self._uniforms(sample_shape)
        result: Tensor = (u.log() - (-u).log1p() + self.logits) / self.temperature
        return result

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        away: Any = self.logits - self._checked("log_prob", value) * self.temperature
        ones = ones_like(away)
        result: Tensor = self.temperature.log() - logistic_loss_op(away, ones, ones)
        return result


class ExpRelaxedCategorical(_Relaxed):
    """The logarithms of the values of a `RelaxedOneHotCategorical`.

    They are log_softmax((logits + noise) / temperature).  The noise is -log(-log(u)),
    where u is uniform on (0, 1).

    Parameters
    ----------
    temperature
        The temperature; above 0.  A number, or a tensor of the batch shape.
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
    ShapeError
        If the parameter has no dimension.
    ArgumentError
        If a parameter violates its constraint, or if not exactly one of the two
        parameters is given.
    """

    arg_constraints: ClassVar[Constraints] = {
        "temperature": constraints.positive,
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    support = constraints.real_vector
    _event_dims: ClassVar[Mapping[str, int]] = {"probs": 1, "logits": 1}

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self._kind = Categorical(probs, logits, validate_args)
        self._set_temperature(temperature)
        batch = broadcast_shapes(
            "RelaxedOneHotCategorical", self.temperature.shape, self._kind.batch_shape
        )
        self._wide(batch)
        super().__init__(batch, self._kind.param_shape[-1:], validate_args)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples through which gradients flow to the parameters."""
        noise: Any = -(-self._uniforms(sample_shape).log()).log()
        score = (self.logits + noise) / self.temperature.unsqueeze(-1)
        result: Tensor = score.log_softmax(-1)
        return result

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        value = self._checked("log_prob", value)
        possible = self.logits > -math.inf  # the other kinds have no part in it
        at = where(possible, value, 0.0) * self.temperature.unsqueeze(-1)
        log = where(possible, (self.logits - at).log_softmax(-1), 0.0)
        log = where(possible | (value == -math.inf), log, -math.inf)
        count = possible.sum(-1).to(self.temperature.dtype)
        scale = lgamma(count) + (count - 1) * self.temperature.log()
        result: Tensor = log.sum(-1) + scale
        return result


class _OfRelaxed(TransformedDistribution):
    """What becomes of a distribution with a temperature."""

    has_rsample = True

    @property
    def temperature(self) -> Tensor:
        """The temperature."""
        result: Tensor = self.base_dist.temperature  # type: ignore[attr-defined]
        return result

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities, or the log-odds."""
        result: Tensor = self.base_dist.logits  # type: ignore[attr-defined]
        return result

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        result: Tensor = self.base_dist.probs  # type: ignore[attr-defined]
        return result


class RelaxedBernoulli(_OfRelaxed):
    """Relaxed Bernoulli distribution: numbers between 0 and 1 with gradients.

    A sample is sigmoid((logits + noise) / temperature), where the noise has a logistic
    distribution.  The lower the temperature, the closer the samples are to 0 or 1.

    Maddison, Mnih, Teh: The concrete distribution (ICLR 2017).

    Parameters
    ----------
    temperature
        The temperature; above 0.  A tensor or a number.
    probs
        The probabilities of 1.  Give either `probs` or `logits`.
    logits
        The log-odds log(p / (1 - p)); a tensor or a number.
    validate_args
        True to check the parameters here, and the values passed to methods.  None means
        the default of `Distribution.set_default_validate_args`.

    Raises
    ------
    ArgumentError
        If a parameter violates its constraint, or if not exactly one of the two
        parameters is given.

    Examples
    --------
    >>> import autocalc as ac
    >>> d = ac.distributions.RelaxedBernoulli(0.5, ac.tensor([0.5, 0.5]))
    >>> d.log_prob(ac.tensor([0.5, 0.9]))
    tensor([-0.6931,  0.0408])
    """

    arg_constraints: ClassVar[Constraints] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits, validate_args)
        super().__init__(base, SigmoidTransform(), validate_args)


class RelaxedOneHotCategorical(_OfRelaxed):
    """Relaxed one-hot distribution: vectors of probabilities with gradients.

    A sample is softmax((logits + noise) / temperature), where the noise has a Gumbel
    distribution.  The lower the temperature, the closer the samples are to one-hot
    vectors.

    Jang, Gu, Poole: Categorical reparameterization with Gumbel-Softmax (ICLR 2017).

    Parameters
    ----------
    temperature
        The temperature; above 0.  A number, or a tensor of the batch shape.
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
    ShapeError
        If the parameter has no dimension.
    ArgumentError
        If a parameter violates its constraint, or if not exactly one of the two
        parameters is given.

    Examples
    --------
    >>> import autocalc as ac
    >>> d = ac.distributions.RelaxedOneHotCategorical(1.0, ac.ones(2))
    >>> d.log_prob(ac.tensor([0.5, 0.5]))
    tensor(0.)
    """

    arg_constraints: ClassVar[Constraints] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args)
        super().__init__(base, ExpTransform(), validate_args)

    @property
    def support(self) -> constraints.Constraint:
        """The constraint that all possible values satisfy."""
        return constraints.simplex

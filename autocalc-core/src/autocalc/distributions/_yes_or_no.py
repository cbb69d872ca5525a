# SPDX-License-Identifier: MIT
"""Distributions of one probability: yes or no, and how long until yes."""

from __future__ import annotations

from typing import Any, ClassVar

from autocalc._ops._operator.coerce import coerce
from autocalc._ops.activations.smooth import softplus
from autocalc._ops.creation.like import ones_like
from autocalc._ops.elementwise.exponential import weighed_log
from autocalc._ops.elementwise.special_functions import weighed_log1p
from autocalc._ops.indexing.masking import where
from autocalc._ops.losses.binary_losses import logistic_loss_op
from autocalc._ops.random import distributions as draws
from autocalc._ops.random.random_draws import rand
from autocalc._tensor import Tensor
from autocalc.distributions import constraints
from autocalc.distributions._counted import (
    enumerated,
    finite,
    logarithms,
    logarithms_of_rest,
)
from autocalc.distributions._distribution import Constraints, Distribution, one_of_two
from autocalc.distributions._exponential_family import ExponentialFamily


class _YesOrNo(Distribution):
    """A distribution that one probability describes, or its log odds."""

    arg_constraints: ClassVar[Constraints] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    probs: Tensor
    logits: Tensor

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        where = type(self).__name__
        name, value = one_of_two(where, probs=probs, logits=logits)
        (value,) = self._broadcast_values(**{name: value})
        self.__dict__[name] = value
        super().__init__(value.shape, validate_args=validate_args)

    @property
    def _given(self) -> Any:
        return self.__dict__["probs" if "probs" in self.__dict__ else "logits"]

    def __getattr__(self, name: str) -> Any:
        if name == "logits" and "probs" in self.__dict__:
            p = self.__dict__["probs"]
            return logarithms(p) - logarithms_of_rest(p)
        if name == "probs" and "logits" in self.__dict__:
            return self.__dict__["logits"].sigmoid()
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    @property
    def _rest(self) -> Any:
        """The probability of 0."""
        if "probs" in self.__dict__:
            return 1 - self.__dict__["probs"]
        return (-self.__dict__["logits"]).sigmoid()

    def _as_given(self, value: Any) -> Any:
        """Return integers and truth values in the parameters' dtype."""
        return value if value.is_floating_point() else value.to(self._given.dtype)

    def _log_of(self, yes: Tensor, no: Tensor) -> Tensor:
        """Return yes * log(p) + no * log(1 - p); a factor of 0 counts for nothing."""
        if "probs" in self.__dict__:
            p = self.__dict__["probs"]
            return weighed_log(yes, p) + weighed_log1p(no, -p)
        logits = self.__dict__["logits"]
        return -logistic_loss_op(*coerce(type(self).__name__, logits, yes, no))

    def _entropy_of_one(self) -> Tensor:
        """Return the entropy of one question."""
        if "probs" in self.__dict__:
            p = self.__dict__["probs"]
            less = where(p > 0.5, 1 - p, p)
            return -(weighed_log(less, less) + weighed_log1p(1 - less, -less))
        logits = finite(self.__dict__["logits"])
        return logistic_loss_op(logits, self.probs, self._rest)

    @property
    def param_shape(self) -> tuple[int, ...]:
        """The shape of the parameter."""
        shape: tuple[int, ...] = self._given.shape
        return shape


class Bernoulli(_YesOrNo, ExponentialFamily):
    """Bernoulli distribution: 1 with probability p, otherwise 0.

    Parameters
    ----------
    probs
        The probability p; a tensor or a number.  Give either `probs` or `logits`.
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
    >>> ac.distributions.Bernoulli(0.25).log_prob(ac.tensor(1.0)).exp()
    tensor(0.2500)
    """

    has_enumerate_support = True
    support = constraints.boolean

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.probs

    @property
    def mode(self) -> Tensor:
        """The more probable value; NaN if both are equally probable."""
        p = self.probs
        return (p > 0.5).to(p.dtype) + 0 / (p != 0.5).to(p.dtype)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        result: Tensor = self.probs * self._rest
        return result

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples of shape ``(*sample_shape, *batch_shape)``."""
        shape = self._extended_shape(sample_shape)
        return draws.bernoulli(self.probs.detach().expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability of `value`."""
        value = self._as_given(self._checked("log_prob", value))
        return self._log_of(value, 1 - value)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return self._entropy_of_one()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        return softplus(natural_params[0])

    _mean_carrier_measure = 0

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return the values 0 and 1 along the first dimension."""
        return enumerated(self, 2, expand, self._given.dtype)


class Geometric(_YesOrNo):
    """Geometric distribution: probability p (1 - p)^k of k failures before a success.

    Parameters
    ----------
    probs
        The probability p of a success; above 0.  A tensor or a number.  Give either
        `probs` or `logits`.
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
    >>> ac.distributions.Geometric(0.25).mean
    tensor(3.)
    """

    arg_constraints: ClassVar[Constraints] = {
        "probs": constraints.Constraint(
            "numbers above 0 and up to 1", lambda x: (x > 0) & (x <= 1)
        ),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    @property
    def mean(self) -> Tensor:
        """The mean."""
        result: Tensor = self._rest / self.probs
        return result

    @property
    def mode(self) -> Tensor:
        """The most probable value: 0."""
        return self.probs * 0

    @property
    def variance(self) -> Tensor:
        """The variance."""
        result: Tensor = self._rest / self.probs / self.probs
        return result

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples of shape ``(*sample_shape, *batch_shape)``."""
        p = self.probs.detach()
        u = 1 - rand(self._extended_shape(sample_shape), dtype=p.dtype)
        return (u.log() / (-p).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability of `value`."""
        value = self._as_given(self._checked("log_prob", value))
        return self._log_of(ones_like(value), value)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return self._entropy_of_one() / self.probs

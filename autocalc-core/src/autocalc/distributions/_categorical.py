# SPDX-License-Identifier: MIT
"""One of several kinds, as a number or as a vector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from autocalc._ops.creation.constants import eye
from autocalc._ops.creation.ranges import arange
from autocalc._ops.embedding.rows import one_hot
from autocalc._ops.random import distributions as draws
from autocalc._ops.reductions.softmax import logsumexp_op
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flag
from autocalc.distributions import constraints
from autocalc.distributions._counted import enumerated, logarithms, weighed
from autocalc.distributions._distribution import (
    Constraints,
    Distribution,
    broadcast_values,
    one_of_two,
)
from autocalc.errors import ShapeError


class OfKinds(Distribution):
    """The base of the distributions over K classes with given probabilities."""

    arg_constraints: ClassVar[Constraints] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    _event_dims: ClassVar[Mapping[str, int]] = {"probs": 1, "logits": 1}
    #: What the parameter is called in `__dict__`.
    _name: str
    _is_one_hot = False

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        where = type(self).__name__
        name, value = one_of_two(where, probs=probs, logits=logits)
        (value,) = broadcast_values(where, **{name: value})
        if value.ndim < 1:
            message = (
                f"{where}: `{name}` is 0-d; it needs a dimension for the categories."
            )
            raise ShapeError(message)
        if name == "probs":
            value = value / value.sum(-1, True)
        else:
            value = value - logsumexp_op(value, (value.ndim - 1,), True)
        self._name = name
        self.__dict__[name] = value
        event = value.shape[-1:] if self._is_one_hot else ()
        super().__init__(value.shape[:-1], event, validate_args)

    def __getattr__(self, name: str) -> Any:
        if name == "logits" and "probs" in self.__dict__:
            return logarithms(self.__dict__["probs"])
        if name == "probs" and "logits" in self.__dict__:
            return self.__dict__["logits"].softmax(-1)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    @property
    def param_shape(self) -> tuple[int, ...]:
        """The shape of `probs` and `logits`."""
        shape: tuple[int, ...] = self.__dict__[self._name].shape
        return shape

    @property
    def _num_events(self) -> int:
        return self.param_shape[-1]

    def _kinds(self, sample_shape: Any) -> Tensor:
        """Return kinds drawn, ``[*sample_shape, *batch_shape]``."""
        shape = self._extended_shape(sample_shape)
        shape = shape[: len(shape) - len(self._event_shape)]
        flat = self.probs.detach().reshape(-1, self._num_events)
        count = 1
        for n in shape[: len(shape) - len(self._batch_shape)]:
            count *= n
        if not count or not flat.shape[0]:
            return arange(0).reshape(shape)
        drawn = draws.multinomial(flat, count, True)
        return drawn.t().reshape(shape)


class Categorical(OfKinds):
    """Categorical distribution: one of K classes, numbered from 0 to K - 1.

    Parameters
    ----------
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
    >>> d = ac.distributions.Categorical(ac.tensor([1.0, 1.0, 2.0]))
    >>> d.log_prob(ac.tensor(2)).exp()
    tensor(0.5000)
    """

    has_enumerate_support = True

    @property
    def support(self) -> constraints.Constraint:
        """The constraint that all possible values satisfy."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        """NaN, because classes have no mean."""
        result: Tensor = self.__dict__[self._name].sum(-1) * float("nan")
        return result

    @property
    def variance(self) -> Tensor:
        """NaN, because classes have no variance."""
        return self.mean

    @property
    def mode(self) -> Tensor:
        """The most probable class."""
        result: Tensor = self.__dict__[self._name].argmax(-1)
        return result

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Return int64 samples of shape ``(*sample_shape, *batch_shape)``."""
        return self._kinds(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability of `value`."""
        result: Tensor = self._log_prob_of(self._checked("log_prob", value).long())
        return result

    def _log_prob_of(self, kinds: Any) -> Any:
        shape = (*kinds.shape, self._num_events)
        logits = self.logits
        if kinds.ndim < logits.ndim - 1:
            shape = (*logits.shape[: logits.ndim - 1 - kinds.ndim], *shape)
        mask = one_hot(kinds, self._num_events) == 1
        return logits.masked_fill(~mask, 0).sum(-1)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return -weighed(self.probs, self.logits).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all classes along the first dimension."""
        values: Tensor = enumerated(self, self._num_events, expand, arange(0).dtype)
        return values


class OneHotCategorical(Categorical):
    """One-hot categorical distribution: one of K classes, as a one-hot vector.

    Parameters
    ----------
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
    >>> d = ac.distributions.OneHotCategorical(ac.tensor([0.0, 1.0]))
    >>> d.sample()
    tensor([0., 1.])
    """

    _is_one_hot = True

    @property
    def support(self) -> constraints.Constraint:
        """The constraint that all possible values satisfy."""
        return constraints.one_hot

    @property
    def mean(self) -> Tensor:
        """The mean of the vectors: the probabilities."""
        result: Tensor = self.probs
        return result

    @property
    def variance(self) -> Tensor:
        """The variance of each element of the vectors."""
        result: Tensor = self.probs * (1 - self.probs)
        return result

    @property
    def mode(self) -> Tensor:
        """The most probable vector."""
        return self._vectors(self.__dict__[self._name].argmax(-1))

    def _vectors(self, kinds: Tensor) -> Tensor:
        return one_hot(kinds, self._num_events).to(self.__dict__[self._name].dtype)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples of shape ``(*sample_shape, *batch_shape, K)``."""
        return self._vectors(self._kinds(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability of `value`."""
        result: Tensor = self._log_prob_of(self._checked("log_prob", value).argmax(-1))
        return result

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all K one-hot vectors along the first dimension."""
        check_flag("OneHotCategorical.enumerate_support", "expand", expand)
        n = self._num_events
        values = eye(n).to(self.__dict__[self._name].dtype)
        values = values.view(n, *(1 for _ in self._batch_shape), n)
        return values.expand(n, *self._batch_shape, n) if expand else values

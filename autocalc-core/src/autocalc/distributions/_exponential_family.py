# SPDX-License-Identifier: MIT
"""`ExponentialFamily`, whose entropies and divergences are slopes of one function."""

from __future__ import annotations

from typing import Any

from autocalc._graph._grad_mode import enable_grad, is_grad_enabled
from autocalc._kernels.rules import broadcast_shapes
from autocalc._tensor import Tensor
from autocalc.autograd import grad
from autocalc.distributions._distribution import Distribution


class ExponentialFamily(Distribution):
    """The base class of distributions with density exp(t(x) . theta - F(theta) + k(x)).

    A subclass defines three members.  `_natural_params` is a tuple of the natural
    parameters theta, `_log_normalizer` is the function F, and `_mean_carrier_measure`
    is the mean of k(x).

    The gradient of F is the mean of t(x).  The entropy, and the divergence between two
    distributions of the same class, are computed from this gradient.  A subclass can
    define formulas of its own instead.

    Parameters
    ----------
    batch_shape
        The shape of a batch of independent distributions with parameters of their own.
    event_shape
        The shape of one value.
    validate_args
        True to check the parameters here, and the values passed to methods.  None means
        the default of `Distribution.set_default_validate_args`.

    Raises
    ------
    ArgumentError
        If a parameter violates its constraint.

    Examples
    --------
    >>> import autocalc as ac
    >>> class Waiting(ac.distributions.ExponentialFamily):
    ...     _mean_carrier_measure = 0
    ...     def __init__(self, rate):
    ...         self.rate = rate
    ...         super().__init__(rate.shape)
    ...     @property
    ...     def _natural_params(self):
    ...         return (-self.rate,)
    ...     def _log_normalizer(self, x):
    ...         return -(-x).log()
    >>> Waiting(ac.tensor(1.0)).entropy()
    tensor(1.)
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        """The natural parameters."""
        self._refuse("_natural_params")

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        """Return F of natural parameters."""
        self._refuse("_log_normalizer")

    @property
    def _mean_carrier_measure(self) -> Any:
        """The mean of k."""
        self._refuse("_mean_carrier_measure")

    def entropy(self) -> Tensor:
        """Return the entropy in nats: F(theta) - theta . F'(theta) - mean(k(x))."""
        theta, value, slopes = _expanded_at(self)
        result = value - self._mean_carrier_measure
        for x, slope in zip(theta, slopes, strict=True):
            result = result - _summed_to(x * slope, len(self._batch_shape))
        return result  # type: ignore[no-any-return]  # a tensor


def bregman_divergence(p: Any, q: Any) -> Any:
    """Return the divergence of two of a class: F(q) - F(p) - (q - p) . F'(p)."""
    theta, value, slopes = _expanded_at(p)
    others = q._natural_params
    result = q._log_normalizer(*others) - value
    ndims = len(broadcast_shapes("kl_divergence", p.batch_shape, q.batch_shape))
    for x, other, slope in zip(theta, others, slopes, strict=True):
        result = result - _summed_to((other - x) * slope, ndims)
    return result


def _expanded_at(d: Any) -> tuple[Any, Any, Any]:
    """Return natural parameters, F of them and its slopes."""
    theta = d._natural_params
    with enable_grad():
        inner = [x if x.requires_grad else x.detach().requires_grad_() for x in theta]
        value = d._log_normalizer(*inner)
        slopes: Any = grad(value.sum(), inner, create_graph=True)
    if is_grad_enabled() and any(x.requires_grad for x in theta):
        return theta, value, slopes
    return theta, value.detach(), [slope.detach() for slope in slopes]


def _summed_to(x: Tensor, ndims: int) -> Tensor:
    """Return `x` summed over all dimensions but the first ones."""
    return x.sum(tuple(range(ndims, x.ndim))) if x.ndim > ndims else x

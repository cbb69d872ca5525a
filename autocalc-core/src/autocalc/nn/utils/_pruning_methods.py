# SPDX-License-Identifier: MIT
"""Pruning rules: by size, at random, by norm, and by a given mask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autocalc._ops.matrices import vector_norms
from autocalc._ops.random import random_draws
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError, DTypeError, ShapeError
from autocalc.nn._module.module import Module
from autocalc.nn.utils._pruning import BasePruningMethod, checked_dim

if TYPE_CHECKING:
    from typing_extensions import Self


def _check_amount(where: str, amount: Any) -> None:
    if isinstance(amount, bool) or not isinstance(amount, (int, float)):
        raise DTypeError(
            f"{where}: `amount` is a {type(amount).__name__}; it must be an int or a "
            f"float."
        )
    if amount < 0 or (isinstance(amount, float) and amount > 1):
        raise ArgumentError(
            f"{where}: `amount` is {amount}; it must be a fraction from 0.0 to 1.0, or "
            f"an int of 0 or more."
        )


def _number_to_prune(where: str, amount: float, size: int) -> int:
    """Return how many of `size` elements or slices are set to zero."""
    is_fraction = amount.__class__ is float
    count = round(amount * size) if is_fraction else int(amount)
    if count > size:
        raise ArgumentError(
            f"{where}: `amount` is {amount}, but there are only {size} elements or "
            "slices to prune."
        )
    return count


class Identity(BasePruningMethod):
    """A pruning rule that prunes nothing: its mask is 1 everywhere.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.utils.prune.Identity().prune(ac.ones(2))
    tensor([1., 1.])
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return `default_mask`."""
        return default_mask


class _ByScore(BasePruningMethod):
    """A rule that prunes the elements with the smallest scores."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: float) -> None:
        _check_amount(type(self).__name__, amount)
        self.amount = amount

    def _scores(self, t: Tensor) -> Tensor:
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return `default_mask` with `amount` more elements set to 0."""
        count = _number_to_prune(type(self).__name__, self.amount, t.numel())
        mask: Tensor = default_mask.clone()
        if count:
            least = self._scores(t).reshape(-1).topk(count, largest=False)[1]
            mask.view(-1)[least] = 0
        return mask


class RandomUnstructured(_ByScore):
    """A pruning rule that prunes random elements.

    Parameters
    ----------
    amount
        The number of elements, or a fraction from 0 to 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.utils.prune.RandomUnstructured(3).prune(ac.ones(4)).sum()
    tensor(1.)
    """

    def _scores(self, t: Tensor) -> Tensor:
        return random_draws.rand(t.shape)


class L1Unstructured(_ByScore):
    """A pruning rule that prunes the elements with the smallest absolute values.

    Parameters
    ----------
    amount
        The number of elements, or a fraction from 0 to 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.utils.prune.L1Unstructured(0.5).prune(ac.tensor([1.0, -3, 2, 0.5]))
    tensor([ 0., -3.,  2.,  0.])
    """

    def _scores(self, t: Tensor) -> Tensor:
        return t.abs()


class _Structured(BasePruningMethod):
    """A rule that prunes the slices along a dimension with the smallest scores."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        _check_amount(type(self).__name__, amount)
        self.amount = amount
        self.dim = dim

    def _scores(self, t: Tensor, dim: int) -> Tensor:
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return `default_mask` with `amount` more slices set to 0."""
        where = type(self).__name__
        if t.ndim < 2:
            raise ShapeError(
                f"{where}: the tensor has shape {t.shape}; only tensors of two or more "
                f"dimensions have slices. Use an unstructured rule."
            )
        dim = checked_dim(where, t, self.dim)
        count = _number_to_prune(where, self.amount, t.shape[dim])
        mask: Tensor = default_mask.clone()
        if count:
            least = self._scores(t, dim).topk(count, largest=False)[1]
            mask[(slice(None),) * dim + (least,)] = 0
        return mask


class RandomStructured(_Structured):
    """A pruning rule that prunes random slices.

    Parameters
    ----------
    amount
        The number of slices, or a fraction from 0 to 1.
    dim
        The dimension along which the slices are counted.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.utils.prune.RandomStructured(2, dim=0).prune(ac.ones(3, 2)).sum()
    tensor(2.)
    """

    def _scores(self, t: Tensor, dim: int) -> Tensor:
        return random_draws.rand(t.shape[dim])


class LnStructured(_Structured):
    """A pruning rule that prunes the slices with the smallest norms.

    Parameters
    ----------
    amount
        The number of slices, or a fraction from 0 to 1.
    n
        The order of the norm, as for `ac.norm`.
    dim
        The dimension along which the slices are counted.

    Examples
    --------
    >>> import autocalc as ac
    >>> rule = ac.nn.utils.prune.LnStructured(1, n=2, dim=0)
    >>> rule.prune(ac.tensor([[3.0, 4.0], [1.0, 1.0]]))
    tensor([[3., 4.],
            [0., 0.]])
    """

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _scores(self, t: Tensor, dim: int) -> Tensor:
        others = tuple(d for d in range(t.ndim) if d != dim)
        return vector_norms.norm(t, self.n, others)


class CustomFromMask(BasePruningMethod):
    """A pruning rule with a given mask.

    Parameters
    ----------
    mask
        A tensor of zeros and ones with the shape of the parameter.

    Examples
    --------
    >>> import autocalc as ac
    >>> rule = ac.nn.utils.prune.CustomFromMask(ac.tensor([0, 1]))
    >>> rule.prune(ac.tensor([2.0, 3.0]))
    tensor([0., 3.])
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the product of the two masks."""
        if default_mask.shape != self.mask.shape:
            raise ShapeError(
                f"CustomFromMask: `mask` has shape {self.mask.shape}, but the "
                f"parameter has shape {t.shape}; they must be equal."
            )
        product: Tensor = default_mask * self.mask.to(default_mask.dtype)
        return product

    @classmethod
    def apply(cls, module: Module, name: str, mask: Tensor) -> Self:  # type: ignore[override]  # as PyTorch has it
        """Prune the parameter ``module.name`` with a given mask."""
        return super().apply(module, name, mask=mask)

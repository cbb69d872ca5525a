# SPDX-License-Identifier: MIT
"""Pruning: some elements of a parameter are set to 0 and stay 0 in training."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from autocalc._ops.creation import like
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError, DTypeError
from autocalc.nn._module.module import Module
from autocalc.nn.utils._flat_parameters import parameters_to_vector
from autocalc.nn.utils._pruning import (
    BasePruningMethod,
    PruningContainer,
    pruning_of,
    prunings,
    take_away,
)
from autocalc.nn.utils._pruning_methods import (
    CustomFromMask,
    Identity,
    L1Unstructured,
    LnStructured,
    RandomStructured,
    RandomUnstructured,
)

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]

M = TypeVar("M", bound=Module)


def identity(module: M, name: str) -> M:
    """Give the parameter ``module.name`` a mask of ones; return the module.

    Nothing is pruned, but the parameter is stored as ``name_orig`` and ``name_mask``.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.utils.prune.identity(ac.nn.Linear(2, 1), "weight")
    >>> layer.weight_mask
    tensor([[1., 1.]])
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: M, name: str, amount: float) -> M:
    """Prune random elements of the parameter ``module.name``; return the module.

    Parameters
    ----------
    module, name
        The module, changed in place, and the name of the parameter.
    amount
        The number of elements, or a fraction from 0 to 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.utils.prune.random_unstructured(ac.nn.Linear(2, 3), "weight", 2)
    >>> layer.weight_mask.sum()
    tensor(4.)
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: M, name: str, amount: float, importance_scores: Tensor | None = None
) -> M:
    """Prune the elements with the smallest absolute values; return the module.

    The parameter is then stored as a parameter ``name_orig`` and a buffer
    ``name_mask``. ``name`` is their product.

    Parameters
    ----------
    module, name
        The module, changed in place, and the name of the parameter.
    amount
        The number of elements, or a fraction of the elements that are not pruned yet.
    importance_scores
        Values that are compared instead of those of the parameter; they have its shape.

    Raises
    ------
    ArgumentError
        If `amount` is negative, a fraction above 1, or more than the number of
        elements.
    ShapeError
        If `importance_scores` does not have the shape of the parameter.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.Linear(4, 1)
    >>> with ac.no_grad():
    ...     _ = layer.weight.copy_(ac.tensor([[3.0, -1.0, 2.0, -4.0]]))
    >>> _ = ac.nn.utils.prune.l1_unstructured(layer, "weight", amount=0.5)
    >>> layer.weight.detach()
    tensor([[ 3., -0.,  0., -4.]])
    >>> list(layer.state_dict())
    ['bias', 'weight_orig', 'weight_mask']
    """
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: M, name: str, amount: float, dim: int) -> M:
    """Prune random slices of ``module.name`` along `dim`; return the module.

    Parameters
    ----------
    module, name
        The module, changed in place, and the name of the parameter.
    amount
        The number of slices, or a fraction of the slices that are not pruned yet.
    dim
        The dimension along which the slices are counted.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.utils.prune.random_structured(ac.nn.Linear(2, 3), "weight", 2, 0)
    >>> layer.weight_mask.sum()
    tensor(2.)
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: M,
    name: str,
    amount: float,
    n: Any,
    dim: int,
    importance_scores: Tensor | None = None,
) -> M:
    """Prune the slices along `dim` with the smallest norms; return the module.

    Parameters
    ----------
    module, name
        The module, changed in place, and the name of the parameter.
    amount
        The number of slices, or a fraction of the slices that are not pruned yet.
    n
        The order of the norm, as for `ac.norm`.
    dim
        The dimension along which the slices are counted.
    importance_scores
        Values whose norms are compared instead of those of the parameter; they have its
        shape.

    Raises
    ------
    ShapeError
        If the parameter has only one dimension.
    DimensionError
        If the parameter has no dimension `dim`.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.Linear(2, 2)
    >>> with ac.no_grad():
    ...     _ = layer.weight.copy_(ac.tensor([[3.0, 4.0], [1.0, 1.0]]))
    >>> ac.nn.utils.prune.ln_structured(layer, "weight", 1, n=2, dim=0).weight_mask
    tensor([[1., 1.],
            [0., 0.]])
    """
    LnStructured.apply(
        module, name, amount, n, dim, importance_scores=importance_scores
    )
    return module


def custom_from_mask(module: M, name: str, mask: Tensor) -> M:
    """Prune the elements of ``module.name`` where a mask is 0; return the module.

    Parameters
    ----------
    module, name
        The module, changed in place, and the name of the parameter.
    mask
        A tensor of zeros and ones with the shape of the parameter.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.Linear(2, 2)
    >>> _ = ac.nn.utils.prune.custom_from_mask(layer, "bias", ac.tensor([0, 1]))
    >>> layer.bias_mask
    tensor([0., 1.])
    """
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: Mapping[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune several parameters together: the smallest of all their elements become 0.

    Parameters
    ----------
    parameters
        Pairs of a module and the name of one of its parameters.
    pruning_method
        An unstructured pruning rule, such as `L1Unstructured`.
    importance_scores
        Values that are compared instead of those of the parameter, for some of the
        pairs.
    kwargs
        Arguments of the pruning rule, such as `amount`.

    Raises
    ------
    DTypeError
        If the pruning rule is not unstructured, or if `parameters` is not a sequence of
        pairs.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.nn.utils import prune
    >>> one, two = ac.nn.Linear(2, 2), ac.nn.Linear(2, 2)
    >>> both = [(one, "weight"), (two, "weight")]
    >>> prune.global_unstructured(both, prune.L1Unstructured, amount=6)
    >>> one.weight_mask.sum() + two.weight_mask.sum()
    tensor(2.)
    """
    if not isinstance(parameters, Iterable):
        raise DTypeError(
            f"global_unstructured: `parameters` is a {type(parameters).__name__}; it "
            "must contain pairs of a module and a name."
        )
    places = list(parameters)
    scores = dict(importance_scores or {})
    values = [getattr(module, name) for module, name in places]
    masks = [getattr(module, f"{name}_mask", None) for module, name in places]
    rule = pruning_method(**kwargs)
    if rule.PRUNING_TYPE != "unstructured":
        raise DTypeError(
            f"global_unstructured: the PRUNING_TYPE of {pruning_method.__name__} is "
            f"{rule.PRUNING_TYPE!r}; it must be 'unstructured'."
        )
    mask = PruningContainer(rule).compute_mask(
        _flat(scores.get(place, x) for place, x in zip(places, values, strict=True)),
        _flat(
            like.ones_like(x) if m is None else m
            for m, x in zip(masks, values, strict=True)
        ),
    )
    start = 0
    for (module, name), x in zip(places, values, strict=True):
        part = mask[start : start + x.numel()].reshape(x.shape)
        custom_from_mask(module, name, part)
        start += x.numel()


def _flat(tensors: Iterable[Tensor]) -> Tensor:
    flat: Tensor = parameters_to_vector([x.detach() for x in tensors])
    return flat


def remove(module: M, name: str) -> M:
    """Turn the pruned ``module.name`` into an ordinary parameter; return the module.

    Raises
    ------
    ArgumentError
        If the parameter is not pruned.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.utils.prune.l1_unstructured(ac.nn.Linear(2, 1), "weight", 1)
    >>> list(ac.nn.utils.prune.remove(layer, "weight").state_dict())
    ['bias', 'weight']
    """
    method = pruning_of(module, name)
    if method is None:
        raise ArgumentError(
            f"remove: the parameter {name!r} of {type(module).__name__} is not pruned."
        )
    take_away(module, method)
    return module


def is_pruned(module: Module) -> bool:
    """Return whether any parameter of a module or of its submodules is pruned.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.Linear(2, 2)
    >>> before = ac.nn.utils.prune.is_pruned(layer)
    >>> _ = ac.nn.utils.prune.identity(layer, "weight")
    >>> before, ac.nn.utils.prune.is_pruned(layer)
    (False, True)
    """
    return any(prunings(one) for one in module.modules())

# SPDX-License-Identifier: MIT
"""Functions that limit gradients, together or one by one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.complex_calls import REAL_OF
from autocalc._dispatch.selection.upcast import computed_in
from autocalc._ops._operator.checks import check_float
from autocalc._ops._operator.kinds import is_of_kind
from autocalc._ops.creation.from_data import tensor
from autocalc._tensor import Tensor, make
from autocalc._tensor.checks import FLAG, all_of, check_flag, check_flags, require
from autocalc._tensor.dtypes import float64
from autocalc.errors import ArgumentError, DTypeError, GradError


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients by one factor, in place, to limit their norm to `max_norm`.

    The norm of the gradients is the norm of one vector that holds all their elements.
    Every gradient is multiplied by::

        min(1, max_norm / (norm + 1e-6))

    Pascanu, Mikolov, Bengio: On the difficulty of training recurrent neural networks
    (ICML 2013).

    Parameters
    ----------
    parameters
        One tensor, or an iterable of tensors.  Their ``grad`` is scaled.  Tensors
        without a gradient are skipped.
    max_norm
        The largest norm that the gradients may have afterwards; 0 or more.
    norm_type
        The order p of the norm; above 0.  ``math.inf`` gives the largest absolute
        value.
    error_if_nonfinite
        True to raise an error if the norm is NaN or infinite.  By default the gradients
        are scaled anyway, and become NaN or 0.
    foreach
        Accepted for compatibility with PyTorch.  It has no effect.

    Returns
    -------
    Tensor
        The norm of the gradients before scaling, of shape ().

    Raises
    ------
    GradError
        If the norm is not finite and `error_if_nonfinite` is True.  The gradients are
        unchanged then.
    ArgumentError
        If `max_norm` is negative or NaN, or `norm_type` is not above 0.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.tensor([3.0, 4.0], requires_grad=True)
    >>> (w * w).sum().backward()  # the gradient is 2 w, its norm 10
    >>> ac.nn.utils.clip_grad_norm_([w], max_norm=5.0).item()
    10.0
    >>> w.grad
    tensor([3.0000, 4.0000])
    """
    if error_if_nonfinite.__class__ is not FLAG:
        error_if_nonfinite = check_flag(
            "clip_grad_norm", "error_if_nonfinite", error_if_nonfinite
        )
    if foreach is not None:
        check_flag("clip_grad_norm", "foreach", foreach)
    where = "clip_grad_norm_"
    limit = _number(where, "max_norm", max_norm, at_least=0.0)
    p = _order(where, norm_type)
    batches = _by_dtype(where, parameters)
    if not batches:
        return tensor(0.0)
    norms = [_norm([g._array for g in grads], p) for grads in batches]
    norm = norms[0] if len(norms) == 1 else _norm(list(map(_wide, norms)), p)
    if error_if_nonfinite and not math.isfinite(norm.item()):
        raise GradError(
            f"{where}: the norm of the gradients is {norm.item()}, which cannot be "
            f"scaled to {limit}. Find the cause of these values, or pass "
            "error_if_nonfinite=False."
        )
    for grads in batches:
        _scale(grads, norm, limit)
    return make(_rounded(norm, [g._array for grads in batches for g in grads]), None)


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Return the norm of several tensors, taken as one vector of all their elements.

    Parameters
    ----------
    tensors
        One tensor, or an iterable of tensors.
    norm_type
        The order p of the norm; above 0.  ``math.inf`` gives the largest absolute
        value.
    error_if_nonfinite
        True to raise an error if the norm is NaN or infinite.
    foreach
        Accepted for compatibility with PyTorch.  It has no effect.

    Returns
    -------
    Tensor
        The norm, of shape ().

    Raises
    ------
    GradError
        If the norm is not finite and `error_if_nonfinite` is True.
    ArgumentError
        If `norm_type` is not above 0.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.utils.get_total_norm([ac.tensor([3.0]), ac.tensor([4.0])]).item()
    5.0
    """
    where = "get_total_norm"
    check_flags(where, error_if_nonfinite=error_if_nonfinite)
    check_flags(where, **({} if foreach is None else {"foreach": foreach}))
    p = _order(where, norm_type)
    one = isinstance(tensors, Tensor)
    given: list[Any] = [tensors] if one else all_of(where, "tensors", tensors)
    batches: dict[Any, list[Any]] = {}
    for x in given:
        check_float(where, x)
        batches.setdefault(x._array.dtype, []).append(x._array)
    norms = [_norm(group, p) for group in batches.values()]
    if not norms:
        return tensor(0.0)
    norm = norms[0] if len(norms) == 1 else _norm(list(map(_wide, norms)), p)
    if error_if_nonfinite and not math.isfinite(norm.item()):
        raise GradError(
            f"{where}: the norm of the tensors is {norm.item()}. Find the cause of "
            "these values, or pass error_if_nonfinite=False."
        )
    return make(_rounded(norm, [a for group in batches.values() for a in group]), None)


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    total_norm: Tensor,
    foreach: bool | None = None,
) -> None:
    """Scale all gradients in place by min(1, max_norm / (total_norm + 1e-6)).

    Parameters
    ----------
    parameters
        One tensor, or an iterable of tensors.  Their ``grad`` is scaled.  Tensors
        without a gradient are skipped.
    max_norm
        The largest norm that the gradients may have afterwards; 0 or more.
    total_norm
        The norm of all gradients before scaling, as returned by `get_total_norm`.  It
        has one element.
    foreach
        Accepted for compatibility with PyTorch.  It has no effect.

    Raises
    ------
    ArgumentError
        If `max_norm` is negative or NaN, or `total_norm` has more than one element.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.tensor([3.0, 4.0], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> norm = ac.nn.utils.get_total_norm([w.grad])
    >>> ac.nn.utils.clip_grads_with_norm_([w], 5.0, norm)
    >>> w.grad
    tensor([3.0000, 4.0000])
    """
    where = "clip_grads_with_norm_"
    check_flags(where, **({} if foreach is None else {"foreach": foreach}))
    limit = _number(where, "max_norm", max_norm, at_least=0.0)
    check_float(where, total_norm)
    if total_norm.numel() != 1:
        message = (
            f"{where}: `total_norm` has shape {total_norm.shape}; it must be a number "
            "or a tensor of one element."
        )
        raise ArgumentError(message)
    norm = arrays.reshape(total_norm._array, ())
    for grads in _by_dtype(where, parameters):
        _scale(grads, norm, limit)


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor],
    clip_value: float,
    foreach: bool | None = None,
) -> None:
    """Clamp every element of every gradient in place to [-clip_value, clip_value].

    Parameters
    ----------
    parameters
        One tensor, or an iterable of tensors.  Their ``grad`` is clamped.  Tensors
        without a gradient are skipped.
    clip_value
        The largest absolute value that an element may have afterwards; 0 or more.
    foreach
        Accepted for compatibility with PyTorch.  It has no effect.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.tensor([3.0, -4.0], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> ac.nn.utils.clip_grad_value_([w], 7.0)
    >>> w.grad
    tensor([ 6., -7.])
    """
    check_flags("clip_grad_value", foreach=foreach)
    where = "clip_grad_value_"
    limit = _number(where, "clip_value", clip_value, at_least=0.0)
    for grads in _by_dtype(where, parameters):
        low, high = (arrays.constant(x, grads[0]._array) for x in (-limit, limit))
        for g in grads:
            arrays.clamp(g._array, low, high, into=g._array)
        _count_writes(grads)


def _order(where: str, norm_type: float) -> float:
    """Return the order p of a norm, which must be above 0."""
    p = _number(where, "norm_type", norm_type, at_least=0.0)
    if p == 0:
        message = f"{where}: `norm_type` is 0; it must be above 0, or math.inf."
        raise ArgumentError(message)
    return p


def _number(where: str, name: str, value: Any, at_least: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    require(where, name, value, number >= at_least, "a number, 0 or more")
    return number


def _by_dtype(where: str, parameters: Tensor | Iterable[Tensor]) -> list[list[Tensor]]:
    """Return the gradients grouped by dtype, each gradient once."""
    one = isinstance(parameters, Tensor)
    given: list[Any] = (
        [parameters] if one else all_of(where, "parameters", parameters, stacklevel=4)
    )
    batches: dict[Any, dict[int, Tensor]] = {}
    for i, param in enumerate(given):
        if not isinstance(param, Tensor):
            raise DTypeError(
                f"{where}: `parameters[{i}]` is a {type(param).__name__}; it must be a "
                f"Tensor."
            )
        grad: Any = param.grad
        if is_of_kind(grad):
            param.grad = grad = grad.coalesce()
            grad = grad.values()  # norms and writes concern the values
        if grad is not None:
            batches.setdefault(grad._array.dtype, {})[id(grad)] = grad
    return [list(batch.values()) for batch in batches.values()]


def _scale(grads: list[Tensor], norm: Any, limit: float) -> None:
    """Scale gradients of one dtype; half precision is computed in float32."""
    in_pairs = grads[0].is_complex()
    each = [arrays.as_pairs(g._array) if in_pairs else g._array for g in grads]
    dtype = computed_in(each[0].dtype)
    factor = _factor(norm if norm.dtype == dtype else arrays.cast(norm, dtype), limit)
    arrays.scale(each, factor)
    _count_writes(grads)


def _rounded(norm: Any, elements: list[Any]) -> Any:
    """Return the norm of arrays in their common dtype, if they have one."""
    kinds = {REAL_OF.get(a.dtype, a.dtype) for a in elements}
    dtype = kinds.pop() if len(kinds) == 1 else norm.dtype
    return norm if norm.dtype == dtype else arrays.cast(norm, dtype)


def _norm(grads: list[Any], p: float) -> Any:
    """Return the p-norm of all elements as a 0-d array; for halves in float32."""
    if grads[0].dtype.kind == "c":
        grads = [arrays.as_pairs(g) if p == 2 else arrays.abs(g) for g in grads]
    dtype = computed_in(grads[0].dtype)
    if grads[0].dtype != dtype:
        grads = [arrays.cast(g, dtype) for g in grads]
    if p == 2:
        return arrays.grad_norm(grads)
    flat = [arrays.reshape(arrays.abs(g), (g.size,)) for g in grads if g.size]
    largest = arrays.zeros((), dtype)
    for a in flat:
        largest = arrays.maximum(largest, arrays.max(a, (0,), False))
    if p == math.inf or not flat:
        return largest
    # In units of the largest size, no power overflows or underflows.
    zero, one, inf = (arrays.constant(v, largest) for v in (0.0, 1.0, math.inf))
    unit = arrays.where(arrays.compare(largest, zero, "gt"), largest, one)
    unit = arrays.where(arrays.compare(unit, inf, "lt"), unit, one)
    exponent = arrays.constant(p, largest)
    total = arrays.zeros((), dtype)
    for a in flat:
        powers = arrays.pow(arrays.div(a, unit), exponent)
        total = arrays.add(total, arrays.sum(powers, (0,), False))
    return arrays.mul(unit, arrays.pow(total, arrays.constant(1 / p, total)))


def _wide(norm: Any) -> Any:
    """Return a norm in float64, to be combined with the norms of other dtypes."""
    return arrays.cast(norm, float64.numpy)


def _factor(norm: Any, limit: float) -> Any:
    """Return min(1, limit / (norm + 1e-6)) as a 0-d array."""
    above = arrays.add(norm, arrays.constant(1e-6, norm))
    ratio = arrays.div(arrays.constant(limit, norm), above)
    return arrays.minimum(ratio, arrays.constant(1.0, norm))


def _count_writes(grads: list[Tensor]) -> None:
    """Count the writes, so that a changed saved array is detected."""
    for grad in grads:
        grad._bump()

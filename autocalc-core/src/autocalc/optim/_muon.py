# SPDX-License-Identifier: MIT
"""Muon: steps along the orthogonal matrix nearest to an average of gradients."""

from __future__ import annotations

import math
from typing import Any

from autocalc._dispatch.selection.state import host_numbers
from autocalc._graph._grad_mode import no_grad
from autocalc._ops._operator.checks import check_shape
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flag
from autocalc.optim._optimizer import Group, Optimizer, Params, is_number
from autocalc.optim._per_parameter import changing, kept, shrinking, updated
from autocalc.optim._rates import rate_of
from autocalc.optim._settings import settings_of


def _ratio(adjust_lr_fn: str | None, rows: int, columns: int) -> float:
    """Return the factor by which the step depends on the shape of a matrix."""
    if adjust_lr_fn == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1, rows / columns))


class Muon(Optimizer):
    """Muon: momentum with orthogonalised updates; for matrices only.

    A step updates a matrix p with the gradient g, where m is initially 0::

        m = momentum * m + (1 - momentum) * g
        u = momentum * m + (1 - momentum) * g    if nesterov, else m
        x = u / max(norm(u), eps)
        x = a * x + (b * (x @ x.T) + c * (x @ x.T) @ (x @ x.T)) @ x    ns_steps times
        p *= 1 - lr * weight_decay
        p -= lr * ratio * x

    The line with `ns_steps` is the Newton-Schulz iteration.  It moves the singular
    values of x towards 1.  With the default coefficients and a few iterations, they end
    between about 0.7 and 1.2.  A matrix with more rows than columns is transposed for
    the iteration.  Use `AdamW` for embeddings, vectors and the last layer.

    Jordan et al.: Muon, an optimizer for hidden layers in neural networks (2024).

    Parameters
    ----------
    params
        The parameters: an iterable of matrices, or of dicts with the key ``"params"``
        and settings that differ from the defaults.
    lr, weight_decay, momentum, nesterov, eps, ns_steps
        The constants of the formula above.
    ns_coefficients
        The coefficients (a, b, c) of the iteration.
    adjust_lr_fn
        The rule for `ratio`.  ``"original"`` and None mean sqrt(max(1, rows /
        columns)).  ``"match_rms_adamw"`` means 0.2 * sqrt(max(rows, columns)); then
        good learning rates are those of `AdamW`.
    master_weights
        True to keep a float32 copy of each bfloat16 or float16 parameter in the state,
        and to update that copy.
    stochastic_rounding
        True to round updated bfloat16 and float16 parameters up or down at random, so
        that the mean of the rounding errors is 0.

    Raises
    ------
    ShapeError
        If a parameter is not a matrix.
    ArgumentError
        If a setting is out of range.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.zeros(2, 2, requires_grad=True)
    >>> muon = ac.optim.Muon([w], lr=0.1, weight_decay=0.0)
    >>> w.grad = ac.tensor([[0.0, 3.0], [-3.0, 0.0]])
    >>> muon.step()
    >>> w[0, 1].item() == -w[1, 0].item() and -0.13 < w[0, 1].item() < -0.06
    True
    """

    _buffers = frozenset({"momentum_buffer"})

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
        *,
        master_weights: bool = False,
        stochastic_rounding: bool = False,
    ) -> None:
        super().__init__(params, settings_of(locals()))

    def _check_param(self, i: int, param: Any, known: set[int]) -> None:
        super()._check_param(i, param, known)
        check_shape(
            "Muon",
            f"params[{i}]",
            param,
            ("a matrix. Use AdamW for the other parameters"),
        )

    def _check_group(self, group: Group) -> None:
        super()._check_group(group)
        self._check_not_negative(group, "momentum", "eps")
        check_flag("Muon", "nesterov", group["nesterov"])
        three, steps = group["ns_coefficients"], group["ns_steps"]
        holds = (
            isinstance(three, (tuple, list))
            and len(three) == 3
            and all(map(is_number, three))
        )
        self._check(group, "ns_coefficients", holds, "three numbers")
        holds = type(steps) is int and 0 <= steps < 100
        self._check(group, "ns_steps", holds, "an integer from 0 to 99")
        words = ("original", "match_rms_adamw")
        holds = group["adjust_lr_fn"] is None or group["adjust_lr_fn"] in words
        self._check(group, "adjust_lr_fn", holds, f"None, {words[0]!r} or {words[1]!r}")

    def _step_group(self, i: int, group: Group) -> None:
        del i
        with no_grad():
            numbers = host_numbers(lambda: _numbers_of(group), reads=changing(group))
            for batch in self._batches(group):
                for param, grad, state in batch.each():
                    updated(_update, param, grad, state, group, *numbers)

    def _step_key(self, state: dict[str, Any]) -> None:
        """Return None: a first step is like any other, so one batch holds all."""


def _numbers_of(group: Group) -> tuple[float, ...]:
    momentum = group["momentum"]
    return momentum, 1 - momentum, shrinking(group), -rate_of(group)


def _update(
    param: Tensor, grad: Tensor, state: dict[str, Any], group: Group, *numbers: float
) -> None:
    """Move one parameter along its orthogonalised direction."""
    momentum, new, shrink, step = numbers
    mean = kept(state, "momentum_buffer", grad).lerp_(grad, new)
    update = grad.lerp(mean, momentum) if group["nesterov"] else mean
    update = _orthogonal(update, group)
    ratio = _ratio(group["adjust_lr_fn"], *param.shape) if param.numel() else 1.0
    param.mul_(shrink)
    param.add_(update, alpha=step * ratio)


def _orthogonal(update: Tensor, group: Group) -> Tensor:
    """Return a matrix with the same singular vectors and singular values near 1."""
    a, b, c = group["ns_coefficients"]
    tall = update.shape[0] > update.shape[1]
    x = update.t() if tall else update
    x = x / x.norm().clamp(min=group["eps"])
    for _ in range(group["ns_steps"]):
        square = x @ x.t()
        x = a * x + (b * square + c * (square @ square)) @ x
    return x.t() if tall else x

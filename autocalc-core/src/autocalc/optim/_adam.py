# SPDX-License-Identifier: MIT
"""Adam and AdamW: steps along the mean gradient, divided by its deviation."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc.optim import _recorded
from autocalc.optim._counting import CountingOptimizer
from autocalc.optim._optimizer import Averaging, Group, Params
from autocalc.optim._settings import settings_of


class _Adam(Averaging, CountingOptimizer):
    """The common part of both, which differ in their weight decay."""

    _decoupled: bool

    _buffers = frozenset({"exp_avg", "exp_avg_sq", "max_exp_avg_sq"})

    _update = _recorded.adam

    def _settings(self, group: Group) -> tuple[Any, ...]:
        return (
            *group["betas"],
            group["eps"],
            group["weight_decay"],
            self._decoupled,
            group["maximize"],
        )

    def _step_group(self, i: int, group: Group) -> None:
        settings = self._settings(group)
        for batch, step in self._counted_batches(group):
            kept = [batch.kept("exp_avg"), batch.kept("exp_avg_sq")]
            if group["amsgrad"]:
                kept.append(batch.kept("max_exp_avg_sq"))
            update = arrays.amsgrad if group["amsgrad"] else arrays.adamw
            lr = self._rate(i, group, batch.dtype)
            update(batch.params, *kept, batch.grads, lr, step, *settings)
            self._updated(batch, group)


class AdamW(_Adam):
    """AdamW: Adam with decoupled weight decay.

    Step t = 1, 2, ... updates a parameter p with the gradient g, where m and v are
    initially 0::

        p *= 1 - lr * weight_decay
        m += (1 - beta1) * (g - m)
        v = beta2 * v + (1 - beta2) * g**2
        p -= lr * (m / (1 - beta1**t)) / (sqrt(v / (1 - beta2**t)) + eps)

    Loshchilov, Hutter: Decoupled weight decay regularization (ICLR 2019).

    Parameters
    ----------
    params
        The parameters: an iterable of tensors, or of dicts with the key ``"params"``
        and settings that differ from the defaults.
    lr, betas, eps, weight_decay
        The constants of the formula above.
    amsgrad
        True to use the largest v of all steps so far instead of the current v (Reddi,
        Kale, Kumar: On the convergence of Adam and beyond, ICLR 2018).
    maximize
        True to move along the gradient, which increases the objective.
    foreach, fused, capturable
        Accepted for compatibility with PyTorch.  It has no effect, because one kernel
        call always updates all parameters.
    differentiable
        True to record each step in the autograd graph, so that gradients flow through
        the updates.  Then the parameters are no longer leaves, and a step is slower.
    master_weights
        True to keep a float32 copy of each bfloat16 or float16 parameter in the state,
        and to update that copy.
    stochastic_rounding
        True to round updated bfloat16 and float16 parameters up or down at random, so
        that the mean of the rounding errors is 0.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.tensor([1.0, -3.0], requires_grad=True)
    >>> adamw = ac.optim.AdamW([w], lr=0.5, weight_decay=0.0)
    >>> (w * w).sum().backward()
    >>> adamw.step()
    >>> w
    tensor([ 0.5000, -2.5000], requires_grad=True)
    """

    _decoupled = True

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        master_weights: bool = False,
        stochastic_rounding: bool = False,
    ) -> None:
        super().__init__(params, settings_of(locals()))


class Adam(_Adam):
    """Adam: steps along the running mean of the gradients, divided by their magnitude.

    The formula is the one of `AdamW`, except for the weight decay.  Here it is added to
    the gradient at the beginning: g += weight_decay * p.

    Kingma, Ba: Adam, a method for stochastic optimization (ICLR 2015).

    Parameters
    ----------
    params
        The parameters: an iterable of tensors, or of dicts with the key ``"params"``
        and settings that differ from the defaults.
    lr, betas, eps, weight_decay
        The constants of the formula of `AdamW`.
    amsgrad
        True to use the largest v of all steps so far instead of the current v (Reddi,
        Kale, Kumar: On the convergence of Adam and beyond, ICLR 2018).
    maximize
        True to move along the gradient, which increases the objective.
    foreach, fused, capturable
        Accepted for compatibility with PyTorch.  It has no effect, because one kernel
        call always updates all parameters.
    differentiable
        True to record each step in the autograd graph, so that gradients flow through
        the updates.  Then the parameters are no longer leaves, and a step is slower.
    master_weights
        True to keep a float32 copy of each bfloat16 or float16 parameter in the state,
        and to update that copy.
    stochastic_rounding
        True to round updated bfloat16 and float16 parameters up or down at random, so
        that the mean of the rounding errors is 0.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.tensor([1.0, 1.0], requires_grad=True)
    >>> adam = ac.optim.Adam([w], lr=0.25)
    >>> (w * ac.tensor([1.0, -100.0])).sum().backward()
    >>> adam.step()
    >>> w.detach()  # the first step is of size lr, whatever the gradient's
    tensor([0.7500, 1.2500])
    """

    _decoupled = False

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        master_weights: bool = False,
        stochastic_rounding: bool = False,
    ) -> None:
        super().__init__(params, settings_of(locals()))

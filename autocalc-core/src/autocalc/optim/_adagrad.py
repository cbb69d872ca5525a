# SPDX-License-Identifier: MIT
"""Adagrad: steps divided by the root of the sum of all squared gradients."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._graph._grad_mode import no_grad
from autocalc._ops.creation.like import full_like
from autocalc._tensor import Tensor, make
from autocalc.optim import _recorded
from autocalc.optim._batch import Batch
from autocalc.optim._counting import CountingOptimizer
from autocalc.optim._optimizer import Group, Params
from autocalc.optim._rates import rate_of
from autocalc.optim._rows import rows_of
from autocalc.optim._settings import settings_of


class Adagrad(CountingOptimizer):
    """Adagrad: gradient steps divided by the root of the sum of all squared gradients.

    Step t = 1, 2, ... updates a parameter p with the gradient g, where s is the sum of
    the squared gradients::

        g += weight_decay * p
        s += g**2
        p -= lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps)

    A gradient may be sparse, as those of ``Embedding(sparse=True)``.  Without weight
    decay, a step then changes only the rows that have a gradient.

    Duchi, Hazan, Singer: Adaptive subgradient methods (JMLR 2011).

    Parameters
    ----------
    params
        The parameters: an iterable of tensors, or of dicts with the key ``"params"``
        and settings that differ from the defaults.
    lr, lr_decay, weight_decay, eps
        The constants of the formula above.
    initial_accumulator_value
        The initial value of s; 0 or more.
    maximize
        True to move along the gradient, which increases the objective.
    foreach, fused
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
    >>> adagrad = ac.optim.Adagrad([w], lr=0.5)
    >>> (w * w).sum().backward()
    >>> adagrad.step()
    >>> w
    tensor([ 0.5000, -2.5000], requires_grad=True)
    """

    _buffers = frozenset({"sum"})

    _update = _recorded.adagrad

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        master_weights: bool = False,
        stochastic_rounding: bool = False,
    ) -> None:
        super().__init__(params, settings_of(locals()))

    def _check_group(self, group: Group) -> None:
        super()._check_group(group)
        self._check_not_negative(group, "lr_decay", "eps", "initial_accumulator_value")

    def _settings(self, group: Group) -> tuple[Any, ...]:
        return (
            group["lr_decay"],
            group["eps"],
            group["weight_decay"],
            group["maximize"],
        )

    def _step_group(self, i: int, group: Group) -> None:
        settings = self._settings(group)
        for batch, step in self._counted_batches(group):
            if "sum" not in batch.states[0]:
                self._begin(batch, group["initial_accumulator_value"])
            lr = self._rate(i, group, batch.dtype)
            total = batch.kept("sum")
            arrays.adagrad(batch.params, total, batch.grads, lr, step, *settings)
            self._updated(batch, group)

    def _step_rows(self, group: Group, param: Tensor, grad: Any) -> None:
        """Update the rows that have a gradient."""
        state = self.state[param]
        if "sum" not in state:
            state["sum"] = full_like(param, group["initial_accumulator_value"])
        (t,) = self._numbers_alone(group, state)
        lr = rate_of(group) / (1 + (t - 1) * group["lr_decay"])
        rows = rows_of("Adagrad", group, grad)
        with no_grad():
            rows.add_to(state["sum"], rows.values * rows.values)
            root = rows.of(state["sum"]).sqrt() + group["eps"]
            rows.add_to(param, rows.values / root * -lr)

    @staticmethod
    def _begin(batch: Batch, value: float) -> None:
        for state, param in zip(batch.states, batch.params, strict=True):
            state["sum"] = make(arrays.full(param.shape, value, param.dtype), None)

# SPDX-License-Identifier: MIT
"""Lion: steps of one size, by the sign of an average of gradients."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc.optim._optimizer import Group, Optimizer, Params, check_betas
from autocalc.optim._settings import settings_of


class Lion(Optimizer):
    """Lion: steps of constant size, with the sign of a running mean of the gradients.

    A step updates a parameter p with the gradient g, where m is initially 0::

        p *= 1 - lr * weight_decay
        p -= lr * sign(beta1 * m + (1 - beta1) * g)
        m = beta2 * m + (1 - beta2) * g

    PyTorch has no such optimizer.  The names of the arguments and of the state are
    those of the authors' program.  The state is half as large as that of `AdamW`.  Good
    learning rates are 3 to 10 times smaller than for `AdamW`.

    Chen et al.: Symbolic discovery of optimization algorithms (NeurIPS 2023).

    Parameters
    ----------
    params
        The parameters: an iterable of tensors, or of dicts with the key ``"params"``
        and settings that differ from the defaults.
    lr, betas, weight_decay
        The constants of the formula above.
    maximize
        True to move along the gradient, which increases the objective.
    master_weights
        True to keep a float32 copy of each bfloat16 or float16 parameter in the state,
        and to update that copy.
    stochastic_rounding
        True to round updated bfloat16 and float16 parameters up or down at random, so
        that the mean of the rounding errors is 0.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.tensor([1.0, -3.0, 0.0], requires_grad=True)
    >>> lion = ac.optim.Lion([w], lr=0.5)
    >>> (w * w).sum().backward()
    >>> lion.step()
    >>> w
    tensor([ 0.5000, -2.5000,  0.0000], requires_grad=True)
    """

    _buffers = frozenset({"exp_avg"})

    def __init__(
        self,
        params: Params,
        lr: float = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
        master_weights: bool = False,
        stochastic_rounding: bool = False,
    ) -> None:
        super().__init__(params, settings_of(locals()))

    def _check_group(self, group: Group) -> None:
        super()._check_group(group)
        self._check(group, "betas", *check_betas(group["betas"]))

    def _settings(self, group: Group) -> tuple[Any, ...]:
        return (*group["betas"], group["weight_decay"], group["maximize"])

    def _step_group(self, i: int, group: Group) -> None:
        settings = self._settings(group)
        for batch in self._batches(group):
            lr = self._rate(i, group, batch.dtype)
            means = batch.kept("exp_avg")
            arrays.lion(batch.params, means, batch.grads, lr, *settings)
            self._updated(batch, group)

    def _step_key(self, state: dict[str, Any]) -> None:
        """Return None: a first step is like any other, so one batch holds all."""

# SPDX-License-Identifier: MIT
"""SparseAdam: Adam that updates only the rows that have a gradient."""

from __future__ import annotations

from math import sqrt
from typing import Any

from autocalc._graph._grad_mode import no_grad
from autocalc._ops._operator.kinds import is_of_kind
from autocalc._ops.creation.like import zeros_like
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError
from autocalc.optim._counting import CountingOptimizer
from autocalc.optim._optimizer import Averaging, Group, Params
from autocalc.optim._rates import rate_of
from autocalc.optim._rows import rows_of
from autocalc.optim._settings import settings_of


class SparseAdam(Averaging, CountingOptimizer):
    """Adam for sparse gradients: only the rows that have a gradient change.

    The averages of a row change only in the steps in which the row has a gradient.  In
    step t = 1, 2, ... each such row of a parameter p with the gradient g is updated as
    by `Adam`::

        m += (1 - beta1) * (g - m)
        v += (1 - beta2) * (g**2 - v)
        p -= lr * sqrt(1 - beta2**t) / (1 - beta1**t) * m / (sqrt(v) + eps)

    Kingma, Ba: Adam: A method for stochastic optimization (ICLR 2015).

    Parameters
    ----------
    params
        The parameters, such as those of ``Embedding(sparse=True)``: an iterable of
        tensors, or of dicts with the key ``"params"`` and settings that differ from the
        defaults.
    lr, betas, eps
        The constants of the formula above.
    maximize
        True to move along the gradient, which increases the objective.

    Raises
    ------
    ArgumentError
        If a parameter is sparse itself or, in a step, if a gradient is dense.

    Examples
    --------
    >>> import autocalc as ac
    >>> words = ac.nn.Embedding(1000, 4, sparse=True)
    >>> adam = ac.optim.SparseAdam(words.parameters(), lr=0.1)
    >>> words(ac.tensor([3, 5])).sum().backward()
    >>> words.weight.grad.coalesce().indices()
    tensor([[3, 5]])
    >>> adam.step()
    """

    _buffers = frozenset({"exp_avg", "exp_avg_sq"})

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, settings_of(locals()))

    def _check_param(self, i: int, param: Any, known: set[int]) -> None:
        if is_of_kind(param):
            raise ArgumentError(
                f"SparseAdam: requires dense parameter tensors, but `params[{i}]` is "
                "sparse; only gradients may be."
            )
        super()._check_param(i, param, known)

    def _step_group(self, i: int, group: Group) -> None:
        del i
        for param in group["params"]:
            grad = param.grad
            if grad is None:
                continue
            if not is_of_kind(grad):
                raise ArgumentError(
                    "SparseAdam: does not support dense gradients, please consider "
                    "Adam instead; or make the embedding with sparse=True."
                )
            with no_grad():
                self._step_rows(group, param, grad)

    def _step_rows(self, group: Group, param: Tensor, grad: Any) -> None:
        """Update the rows that have a gradient."""
        state = self.state[param]
        for name in ("exp_avg", "exp_avg_sq"):
            if name not in state:
                state[name] = zeros_like(param.detach())
        (t,) = self._numbers_alone(group, state)
        rows = rows_of("SparseAdam", group, grad)
        (beta1, beta2), g = group["betas"], rows.values
        m, v = rows.of(state["exp_avg"]), rows.of(state["exp_avg_sq"])
        more_m, more_v = (g - m) * (1 - beta1), (g * g - v) * (1 - beta2)
        rows.add_to(state["exp_avg"], more_m)
        rows.add_to(state["exp_avg_sq"], more_v)
        size = rate_of(group) * sqrt(1 - beta2**t) / (1 - beta1**t)
        direction = (m + more_m) / ((v + more_v).sqrt() + group["eps"])
        rows.add_to(param, direction * -size)

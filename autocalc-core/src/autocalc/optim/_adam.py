# SPDX-License-Identifier: MIT
"""Adam and AdamW: steps of the size of the gradient's mean over its deviation."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch._arrays import arrays
from autocalc._dtypes import int64
from autocalc._tensor import Tensor, make
from autocalc.errors import ArgumentError
from autocalc.optim._optimizer import Batch, Group, Optimizer, Params, is_number


class _Adam(Optimizer):
    """What both have; they differ in how they decay weights."""

    _decoupled: bool

    def __init__(
        self,
        params: Params,
        lr: float,
        betas: tuple[float, float],
        eps: float,
        weight_decay: float,
        amsgrad: bool,
        maximize: bool,
    ) -> None:
        settings = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
        }
        super().__init__(params, settings)

    def _check_group(self, group: Group) -> None:
        super()._check_group(group)
        betas = group["betas"]
        self._check_not_negative(group, "eps")
        numbers = isinstance(betas, (tuple, list)) and len(betas) == 2
        fits = numbers and all(is_number(b) and 0 <= b < 1 for b in betas)
        self._check(group, "betas", fits, "two numbers from 0 to below 1")
        if group["amsgrad"]:
            message = (
                f"{self._name}: `amsgrad` is not available; leave it out, or lower "
                f"`betas[1]`."
            )
            raise ArgumentError(message)

    def _step_group(self, i: int, group: Group) -> None:
        settings = (
            *group["betas"],
            group["eps"],
            group["weight_decay"],
            self._decoupled,
            group["maximize"],
        )
        batches = self._batches(group)
        all_step = sum(len(b.params) for b in batches) == len(group["params"])
        waiting = set() if all_step else self._waiting(group)
        for batch in batches:
            means, squares = batch.kept("exp_avg"), batch.kept("exp_avg_sq")
            step = self._counted(batch, waiting)
            lr = self._rate(i, group, batch.dtype)
            arrays.adamw(batch.params, means, squares, batch.grads, lr, step, *settings)
            batch.bump()

    def _age(self, state: dict[str, Any]) -> int:
        """Parameters that began together share the tensor that counts their steps."""
        return id(state.get("step"))

    def _waiting(self, group: Group) -> set[int]:
        """Return the ages of the parameters that have no gradient this time."""
        return {
            self._age(self.state[param])
            for param in group["params"]
            if param.grad is None and param in self.state
        }

    def _counted(self, batch: Batch, waiting: set[int]) -> Any:
        """Count a step and return the count; part with those that wait."""
        step = batch.states[0].get("step")
        if step is None:
            self._share(batch.states, 0)
        elif id(step) in waiting:
            self._share(batch.states, step.item())
        # A cell that the host refreshes, as the learning rate is: a kernel call that
        # adds 1 would cost ten times as much.
        cell = batch.states[0]["step"]._array
        cell[()] = cell.item() + 1
        return cell

    @staticmethod
    def _share(states: list[dict[str, Any]], count: int) -> None:
        """Give these states one new counter."""
        step = make(arrays.full((), count, int64.numpy), None)
        for state in states:
            state["step"] = step

    def _loaded(self, state: dict[Tensor, dict[str, Any]]) -> None:
        """Let equal counts be shared: PyTorch gives each parameter its own."""
        for group in self.param_groups:
            together: dict[Any, list[dict[str, Any]]] = {}
            for param in group["params"]:
                values = state.get(param, {})
                if "step" in values:
                    key = (param.dtype, int(values["step"]))
                    together.setdefault(key, []).append(values)
            for (_, count), states in together.items():
                self._share(states, count)


class AdamW(_Adam):
    """Adam whose weight decay acts on the weights and not through the gradient.

    ::

        p *= 1 - lr * weight_decay
        m += (1 - beta1) * (g - m)
        v = beta2 * v + (1 - beta2) * g**2
        p -= lr * (m / (1 - beta1**t)) / (sqrt(v / (1 - beta2**t)) + eps)

    Loshchilov, Hutter: Decoupled weight decay regularization (ICLR 2019).

    Parameters
    ----------
    params
        Tensors, or groups: dicts with ``"params"`` and settings of their own.
    lr, betas, eps, weight_decay
        As in the formula.
    amsgrad
        Must be False; there for PyTorch's argument order.
    maximize
        Go up the gradient.
    foreach, fused
        Accepted so that programs carry over; a step is always one kernel call.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.tensor([1.0, -3.0], requires_grad=True)
    >>> adamw = ac.optim.AdamW([w], lr=0.5, weight_decay=0.0)
    >>> (w * w).sum().backward()
    >>> adamw.step()
    >>> w
    tensor([ 0.5, -2.5], requires_grad=True)
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
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize)


class Adam(_Adam):
    """Steps of the size of the gradient's mean over its deviation.

    As `AdamW`, but weight decay is added to the gradient: g += weight_decay * p.

    Kingma, Ba: Adam, a method for stochastic optimization (ICLR 2015).

    Parameters
    ----------
    params
        Tensors, or groups: dicts with ``"params"`` and settings of their own.
    lr, betas, eps, weight_decay
        As in the formula of `AdamW`.
    amsgrad
        Must be False; there for PyTorch's argument order.
    maximize
        Go up the gradient.
    foreach, fused
        Accepted so that programs carry over; a step is always one kernel call.
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
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize)

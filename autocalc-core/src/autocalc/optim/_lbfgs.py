# SPDX-License-Identifier: MIT
"""L-BFGS: Newton's method with a curvature estimated from the last steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from autocalc._dispatch.selection.state import refuse_reading
from autocalc._graph._grad_mode import enable_grad, no_grad
from autocalc._ops.arranging.joining import cat
from autocalc._ops.creation.like import zeros_like
from autocalc._tensor import Tensor
from autocalc._tensor.checks import number, plain
from autocalc.errors import ArgumentError
from autocalc.optim._optimizer import Group, Optimizer, Params, refuse
from autocalc.optim._rates import rate_of
from autocalc.optim._schedulers._base import OUTSIDE
from autocalc.optim._settings import settings_of
from autocalc.optim._strong_wolfe import Point, Search, strong_wolfe
from autocalc.optim._wide import SETTINGS

State = dict[str, Any]

#: If the gradient changed less than this along a step, the step says nothing about the
#: curvature.
_LEAST_CURVATURE = 1e-10


class LBFGS(Optimizer):
    """L-BFGS: a quasi-Newton method that estimates the curvature from the last steps.

    An iteration updates the parameters p, taken as one vector with the gradient g.
    Here s' is the transpose of s::

        d = -H g             # H: the estimated inverse of the second derivative
        p += t * d           # t: lr, or by a line search
        s, y = t * d, g_new - g
        H = (1 - s y' / (y' s)) H (1 - y s' / (y' s)) + s s' / (y' s)

    The matrix H is never stored.  Instead, H g is computed from the last `history_size`
    pairs (s, y), where H starts as the number s' y / (y' y).  The method needs the
    gradient of the whole data set, not of a batch.  One call of `step` makes up to
    `max_iter` iterations, and calls the closure at least once in each.

    Liu, Nocedal: On the limited memory BFGS method for large scale optimization (1989).

    Parameters
    ----------
    params
        The parameters: an iterable of tensors.  There can be only one group.
    lr
        The step length t.  In the very first iteration it is multiplied by min(1, 1 /
        sum(abs(g))).
    max_iter, max_eval
        The largest number of iterations, and of calls of the closure, in one call of
        `step`. The default of `max_eval` is max_iter * 5 / 4.
    tolerance_grad
        A call of `step` ends when no element of the gradient has an absolute value
        above this number.
    tolerance_change
        A call of `step` ends when the parameters or the loss change by less than this
        number.
    history_size
        The number of pairs (s, y) that are stored.
    line_search_fn
        None, or ``"strong_wolfe"``: a line search for a t with a smaller loss and a
        flatter slope (the strong Wolfe conditions).

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.tensor([1.0, -3.0], requires_grad=True)
    >>> lbfgs = ac.optim.LBFGS([w], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     lbfgs.zero_grad()
    ...     loss = ((w - ac.tensor([2.0, 5.0])) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> lbfgs.step(closure)  # the loss at first
    tensor(65., grad_fn=<sum>)
    >>> w
    tensor([2.0000, 5.0000], requires_grad=True)
    """

    _buffers = frozenset({"d", "old_dirs", "old_stps", "prev_flat_grad"})
    #: PyTorch uses "al" as scratch space; `_loaded` drops it.
    _numbers = frozenset(
        {"func_evals", "n_iter", "t", "ro", "H_diag", "prev_loss", "al"}
    )

    def __init__(
        self,
        params: Params,
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if max_eval is None and isinstance(plain(max_iter), int):
            max_eval = max(max_iter * 5 // 4, 1)
        super().__init__(params, settings_of(locals()))

    def add_param_group(self, param_group: Any) -> None:
        """Set the parameters; only one group is allowed.

        Parameters
        ----------
        param_group
            A dict with the key ``"params"`` and settings that differ from the defaults.

        Raises
        ------
        ArgumentError
            If the optimizer has a group already.

        Examples
        --------
        >>> import autocalc as ac
        >>> lbfgs = ac.optim.LBFGS([ac.ones(2, requires_grad=True)])
        >>> len(lbfgs.param_groups)
        1
        """
        if self.param_groups:
            raise ArgumentError(
                "LBFGS: several groups of parameters were given; give one group, "
                "because all parameters share one curvature."
            )
        super().add_param_group(param_group)

    def _check_group(self, group: Group) -> None:
        self._check_rate(group)
        refuse("LBFGS", **{name: group.get(name, False) for name in SETTINGS})
        self._check_not_negative(group, "tolerance_grad", "tolerance_change")
        for name in ("max_iter", "max_eval", "history_size"):
            value = plain(group[name])
            holds = isinstance(value, int) and not isinstance(value, bool) and value > 0
            self._check(group, name, holds, "an integer above 0")
        holds = group["line_search_fn"] in (None, "strong_wolfe")
        self._check(group, "line_search_fn", holds, "None or 'strong_wolfe'")

    # ---- steps -----------------------------------------------------------------------

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Make up to `max_iter` iterations.

        Parameters
        ----------
        closure
            A function that computes the loss and the gradients, and returns the loss.
            It is called many times.

        Returns
        -------
        The loss before the first iteration.

        Raises
        ------
        ArgumentError
            If `closure` is None.

        Examples
        --------
        >>> import autocalc as ac
        >>> w = ac.tensor([4.0], requires_grad=True)
        >>> lbfgs = ac.optim.LBFGS([w], lr=0.5)
        >>> def closure():
        ...     lbfgs.zero_grad()
        ...     (loss := (w * w).sum()).backward()
        ...     return loss
        >>> lbfgs.step(closure).item(), w.item() < 1e-4
        (16.0, True)
        """
        if not callable(closure):
            raise ArgumentError(
                f"LBFGS.step: `closure` is {closure!r}; it must be a function that "
                f"computes the loss and its gradients and returns the loss."
            )
        refuse_reading("LBFGS.step", OUTSIDE)
        group = self.param_groups[0]
        state = self.state[group["params"][0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        with no_grad():
            first = self._evaluated(closure)
            state["func_evals"] += 1
            self._iterate(closure, first, group, state)
        return first.result

    def _iterate(
        self, closure: Callable[[], Any], here: _Loss, group: Group, state: State
    ) -> None:
        evaluations = 1
        for i in range(group["max_iter"]):
            if _largest(here.grad) <= group["tolerance_grad"]:
                return
            d = self._direction(here.grad, state, group["history_size"])
            state["prev_flat_grad"], state["prev_loss"] = here.grad, here.loss
            slope = _dot(here.grad, d)
            if slope > -group["tolerance_change"]:
                return
            here, more = self._move(closure, here, slope, i, evaluations)
            evaluations += more
            state["func_evals"] += more
            change = _largest(d) * abs(state["t"])
            gain = abs(here.loss - state["prev_loss"])
            still = change <= group["tolerance_change"]
            if evaluations >= group["max_eval"] or still:
                return
            if gain < group["tolerance_change"]:
                return

    def _direction(self, grad: Tensor, state: State, history_size: int) -> Tensor:
        """Learn from the last step, and return the direction of the next step."""
        state["n_iter"] += 1
        if state["n_iter"] == 1:
            state.update(d=-grad, old_dirs=[], old_stps=[], ro=[], H_diag=1.0)
            first = min(1.0, 1.0 / float(grad.abs().sum()))
            state["t"] = first * rate_of(self.param_groups[0])
            return state["d"]  # type: ignore[no-any-return]  # a tensor
        _learn(grad - state["prev_flat_grad"], state, history_size)
        state["d"] = d = _newton(grad, state)
        state["t"] = rate_of(self.param_groups[0])
        return d

    def _move(
        self,
        closure: Callable[[], Any],
        here: _Loss,
        slope: float,
        i: int,
        evaluations: int,
    ) -> tuple[_Loss, int]:
        """Take the step; return the new loss and the number of evaluations."""
        group = self.param_groups[0]
        state = self.state[group["params"][0]]
        if group["line_search_fn"] is not None:
            most = group["max_eval"] - evaluations
            return self._search(closure, here, slope, most)
        self._add(state["t"], state["d"])
        if i + 1 == group["max_iter"]:  # the loss would not be used
            return here, 0
        return self._evaluated(closure), 1

    def _search(
        self, closure: Callable[[], Any], here: _Loss, slope: float, most: int
    ) -> tuple[_Loss, int]:
        group = self.param_groups[0]
        state = self.state[group["params"][0]]
        d, start = state["d"], [p.detach().clone() for p in group["params"]]

        def evaluate(t: float) -> Point:
            self._add(t, d)
            found = self._evaluated(closure)
            for p, value in zip(group["params"], start, strict=True):
                p.copy_(value)
            return Point(t, found.loss, found.grad, _dot(found.grad, d))

        search = Search(evaluate, Point(0.0, here.loss, here.grad, slope), most)
        least = _over(group["tolerance_change"], _largest(d))
        point = strong_wolfe(search, state["t"], least)
        state["t"] = point.t
        self._add(point.t, d)
        return _Loss(None, point.loss, point.grad), search.evaluations

    def _evaluated(self, closure: Callable[[], Any]) -> _Loss:
        """Call the closure; return its result, and the loss and gradient as numbers."""
        with enable_grad():
            result = closure()
        grads = [
            (zeros_like(p) if p.grad is None else p.grad).detach().reshape(-1)
            for p in self.param_groups[0]["params"]
        ]
        return _Loss(result, number("LBFGS.step", "closure()", result), cat(grads))

    def _add(self, t: float, d: Tensor) -> None:
        """Move all parameters by t * d."""
        params = self.param_groups[0]["params"]
        for p, part in zip(params, d.split([p.numel() for p in params]), strict=True):
            p.add_(part.reshape(p.shape).to(p.dtype), alpha=t)

    # ---- state -----------------------------------------------------------------------

    def _state_shape(self, name: str, param: Tensor) -> tuple[int, ...]:
        del name, param
        return (sum(p.numel() for p in self.param_groups[0]["params"]),)

    def _loaded(self, state: dict[Tensor, dict[str, Any]]) -> None:
        for values in state.values():
            values.pop("al", None)


class _Loss(NamedTuple):
    """The result of the closure, the loss, and the flat gradient."""

    result: Any
    loss: float
    grad: Tensor


def _learn(y: Tensor, state: State, history_size: int) -> None:
    """Add the pair of the last step to the history."""
    s = state["d"] * state["t"]
    ys = _dot(y, s)
    if ys <= _LEAST_CURVATURE:
        return
    for name, value in (("old_dirs", y), ("old_stps", s), ("ro", 1 / ys)):
        state[name] = [*state[name], value][-history_size:]
    state["H_diag"] = ys / _dot(y, y)


def _newton(grad: Tensor, state: State) -> Tensor:
    """Return -H g by the two-loop recursion over the history."""
    pairs = list(zip(state["old_stps"], state["old_dirs"], state["ro"], strict=True))
    d, weights = -grad, list[float]()
    for s, y, rho in reversed(pairs):
        weights.append(rho * _dot(s, d))
        d.sub_(y, alpha=weights[-1])
    d.mul_(state["H_diag"])
    for (s, y, rho), weight in zip(pairs, reversed(weights), strict=True):
        d.add_(s, alpha=weight - rho * _dot(y, d))
    return d


def _dot(a: Tensor, b: Tensor) -> float:
    return float(a.dot(b))


def _largest(x: Tensor) -> float:
    """Return the largest absolute value, or 0 if there are no elements."""
    return float(x.abs().max()) if x.numel() else 0.0


def _over(a: float, b: float) -> float:
    return a / b if b else math.inf

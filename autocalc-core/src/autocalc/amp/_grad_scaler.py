# SPDX-License-Identifier: MIT
"""Losses that are scaled, so that gradients of float16 do not vanish."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._dispatch.selection.state import refuse_reading
from autocalc._graph._grad_mode import no_grad
from autocalc._tensor import Tensor, limits
from autocalc._tensor import checks as _checks
from autocalc._tensor.checks import number
from autocalc._tensor.dtypes import float16, float32
from autocalc.errors import ArgumentError, DTypeError
from autocalc.optim import Optimizer

#: The largest number of float32, in which losses are scaled.
_LARGEST = limits.finfo(float32).max


class GradScaler:
    """Multiply the loss by a scale, so that small float16 gradients are not lost.

    The smallest positive number of float16 is 6e-8, so smaller gradients become 0. If
    the loss is multiplied by a large scale, its gradients are larger, too. Before the
    step of the optimizer, the gradients are divided by the scale. If a gradient is
    infinite or NaN, the step is skipped and the scale is reduced.

    Parameters
    ----------
    device
        ``"cpu"``; for ``"cuda"`` the scaler is switched off, as in PyTorch without a
        GPU.
    init_scale
        The initial scale.
    growth_factor, backoff_factor
        The factors by which the scale is multiplied: `growth_factor` after
        `growth_interval` steps with finite gradients, and `backoff_factor` after a step
        with a gradient that is infinite or NaN.
    growth_interval
        The number of steps with finite gradients between two increases.
    enabled
        With False, `step` only calls the optimizer, and all other methods do nothing.

    References
    ----------
    .. [1] P. Micikevicius et al., "Mixed Precision Training", ICLR 2018,
       arXiv:1710.03740, section 3.2.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.Linear(4, 3)
    >>> optimizer = ac.optim.SGD(layer.parameters(), lr=0.1)
    >>> scaler = ac.amp.GradScaler("cpu", init_scale=1024.0)
    >>> with ac.autocast("cpu", dtype=ac.float16):
    ...     loss = layer(ac.ones(2, 4)).float().square().mean()
    >>> scaler.scale(loss).backward()
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> scaler.get_scale()
    1024.0
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _checks.check_flags("GradScaler", enabled=enabled)
        self._enabled = enabled and device == "cpu"
        self._scale = number("GradScaler", "init_scale", init_scale)
        self._growth_tracker = 0
        self._growth_interval = growth_interval
        self._growth_factor = number("GradScaler", "growth_factor", growth_factor)
        self._backoff_factor = number("GradScaler", "backoff_factor", backoff_factor)
        if not self._growth_factor > 1 or not 0 < self._backoff_factor < 1:
            raise ArgumentError(
                f"GradScaler: `growth_factor` is {growth_factor} and `backoff_factor` "
                f"is {backoff_factor}; `growth_factor` must be above 1, and "
                "`backoff_factor` between 0 and 1."
            )
        # By optimizer since the last `update`: whether its gradients were divided,
        # whether all are finite, and whether it made its step.
        self._seen: dict[Optimizer, dict[str, bool]] = {}

    def scale(self, outputs: Any) -> Any:
        """Return a tensor, or a list or tuple of tensors, multiplied by the scale.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.amp.GradScaler("cpu", init_scale=8.0).scale(ac.ones(2))
        tensor([8., 8.])
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._scale
        if isinstance(outputs, (list, tuple)):
            return type(outputs)([self.scale(one) for one in outputs])
        raise DTypeError(
            f"GradScaler.scale: `outputs` is a {type(outputs).__name__}; it must be a "
            f"tensor, or a list or tuple of tensors."
        )

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide the gradients by the scale now, for example to clip them.

        Otherwise `step` divides them.

        Raises
        ------
        ArgumentError
            If `unscale_` was already called after the last `update`.

        Examples
        --------
        >>> import autocalc as ac
        >>> w = ac.ones(2, requires_grad=True)
        >>> scaler = ac.amp.GradScaler("cpu", init_scale=8.0)
        >>> scaler.scale(w.sum()).backward()
        >>> scaler.unscale_(ac.optim.SGD([w], lr=0.1))
        >>> w.grad
        tensor([1., 1.])
        """
        if not self._enabled:
            return
        refuse_reading("GradScaler: whether gradients are finite is read")
        seen = self._of(optimizer)
        if seen["unscaled"] or seen["stepped"]:
            done = "`step`" if seen["stepped"] else "`unscale_`"
            raise ArgumentError(
                f"GradScaler.unscale_: {done} was already called for this optimizer "
                "after the last `update`. Call `update` once after each step."
            )
        seen["unscaled"], finite = True, True
        with no_grad():
            for grad in _gradients(optimizer):
                grad.mul_(1 / self._scale)
                finite = finite and bool(grad.isfinite().all())
        seen["finite"] = finite

    def step(self, optimizer: Optimizer, *args: Any, **words: Any) -> Any:
        """Call ``optimizer.step`` if all gradients are finite; return its result.

        Gradients that `unscale_` has not yet divided are divided first.

        Raises
        ------
        ArgumentError
            If `step` was already called after the last `update`, or a `closure` is
            given.

        Examples
        --------
        >>> import autocalc as ac
        >>> w = ac.ones(2, requires_grad=True)
        >>> scaler = ac.amp.GradScaler("cpu")
        >>> scaler.scale(w.sum()).backward()
        >>> scaler.step(ac.optim.SGD([w], lr=0.5))
        >>> w
        tensor([0.5000, 0.5000], requires_grad=True)
        """
        if not self._enabled:
            return optimizer.step(*args, **words)
        if "closure" in words or any(map(callable, args)):
            raise ArgumentError(
                "GradScaler.step: `closure` is given; GradScaler cannot scale a loss "
                "that the optimizer computes. Call the optimizer without a GradScaler."
            )
        if self._of(optimizer)["stepped"]:
            raise ArgumentError(
                "GradScaler.step: it was already called for this optimizer after the "
                "last `update`. Call `update` once after each step."
            )
        if not self._of(optimizer)["unscaled"]:
            self.unscale_(optimizer)
        seen = self._of(optimizer)
        seen["stepped"] = True
        return optimizer.step(*args, **words) if seen["finite"] else None

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Adapt the scale to the last gradients, or set it to `new_scale`.

        Examples
        --------
        >>> import autocalc as ac
        >>> scaler = ac.amp.GradScaler("cpu")
        >>> scaler.update(4.0)
        >>> scaler.get_scale()
        4.0
        """
        if not self._enabled:
            return
        if new_scale is not None:
            given = new_scale.item() if isinstance(new_scale, Tensor) else new_scale
            self._scale = number("GradScaler.update", "new_scale", given)
        elif not self._seen:
            raise ArgumentError(
                "GradScaler.update: there was no call of `step` or `unscale_` since "
                "the last `update`. Call `step` first."
            )
        elif not all(seen["finite"] for seen in self._seen.values()):
            self._scale *= self._backoff_factor
            self._growth_tracker = 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                grown = self._scale * self._growth_factor
                self._scale = grown if grown <= _LARGEST else self._scale
                self._growth_tracker = 0
        self._seen.clear()

    def _of(self, optimizer: Optimizer) -> dict[str, bool]:
        new = {"unscaled": False, "finite": True, "stepped": False}
        return self._seen.setdefault(optimizer, new)

    def is_enabled(self) -> bool:
        """Return whether the scaler is switched on.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.amp.GradScaler("cuda").is_enabled()
        False
        """
        return self._enabled

    def get_scale(self) -> float:
        """Return the scale; 1 if the scaler is switched off.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.amp.GradScaler("cpu").get_scale()
        65536.0
        """
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """Return the growth factor."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set the growth factor."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """Return the backoff factor."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set the backoff factor."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Return the number of steps with finite gradients before the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set the number of steps with finite gradients before the scale grows."""
        self._growth_interval = new_interval

    def state_dict(self) -> dict[str, Any]:
        """Return the state, for `load_state_dict`; empty if the scaler is switched off.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.amp.GradScaler("cpu").state_dict()["scale"]
        65536.0
        """
        if not self._enabled:
            return {}
        return {
            "scale": self._scale,
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the state that `state_dict` returned.

        Raises
        ------
        ArgumentError
            If the state is empty, because it was saved by a scaler that is switched
            off.

        Examples
        --------
        >>> import autocalc as ac
        >>> scaler = ac.amp.GradScaler("cpu", init_scale=2.0)
        >>> scaler.load_state_dict(ac.amp.GradScaler("cpu").state_dict())
        >>> scaler.get_scale()
        65536.0
        """
        if not self._enabled:
            return
        if not state_dict:
            raise ArgumentError(
                "GradScaler.load_state_dict: `state_dict` is empty; it is the state "
                "of a GradScaler that was switched off. Make a new GradScaler."
            )
        self._scale = float(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._growth_tracker = state_dict["_growth_tracker"]


def _gradients(optimizer: Optimizer) -> Iterator[Tensor]:
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.grad is not None:
                if parameter.grad.dtype is float16:
                    raise ArgumentError(
                        "GradScaler.unscale_: a gradient has dtype float16, in which "
                        "it would become 0 when it is divided by the scale. Keep "
                        "parameters in float32, and compute under `autocast`."
                    )
                yield parameter.grad

# SPDX-License-Identifier: MIT
"""Mixed precision, as programs for graphics processors ask for it: switched off.

Operators compute in float32 and float64 alone.  `autocast` for "cuda" and `GradScaler`
have no effect, as where PyTorch finds no such device; `autocast` for the CPU is an
error.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import Any, TypeVar

from autocalc._tensor import Tensor
from autocalc._tensor import checks as _checks
from autocalc.errors import DTypeError
from autocalc.optim import Optimizer

__all__ = ["GradScaler", "autocast"]

F = TypeVar("F", bound=Callable[..., Any])


class autocast:
    """A context, or a decorator, that changes nothing.

    Parameters
    ----------
    device_type
        ``"cuda"``, or ``"cpu"`` with ``enabled=False``.
    dtype, cache_enabled
        Without effect.
    enabled
        Whether lower precision is asked for.

    Raises
    ------
    DTypeError
        If lower precision is asked for on the CPU.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.amp.autocast("cuda"):
    ...     ac.ones(1).dtype
    autocalc.float32
    """

    def __init__(
        self,
        device_type: str = "cuda",
        dtype: Any = None,  # noqa: ARG002  without effect
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        _checks.check_flags("autocast", enabled=enabled, cache_enabled=cache_enabled)
        if enabled and device_type == "cpu":
            message = (
                "autocast: lower precision on 'cpu' is not available; AutoCalc "
                "computes in float32 and float64. Pass enabled=False, or leave "
                "autocast out."
            )
            raise DTypeError(message)

    def __enter__(self) -> autocast:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pass

    def __call__(self, function: F) -> F:
        """Return `function`, wrapped in nothing."""

        @wraps(function)
        def run(*args: Any, **words: Any) -> Any:
            return function(*args, **words)

        return run  # type: ignore[return-value]  # the same signature


class GradScaler:
    """Scales nothing: gradients of float32 need no scale.

    Takes PyTorch's arguments; `scale` returns the loss, `step` calls the optimizer.

    Examples
    --------
    >>> import autocalc as ac
    >>> scaler = ac.amp.GradScaler("cuda")
    >>> scaler.is_enabled(), scaler.get_scale()
    (False, 1.0)
    """

    def __init__(self, device: str = "cuda", *args: Any, **words: Any) -> None:
        pass

    def scale(self, outputs: Tensor) -> Tensor:
        """Return `outputs`."""
        return outputs

    def unscale_(self, optimizer: Optimizer) -> None:
        """Do nothing."""

    def step(self, optimizer: Optimizer, *args: Any, **words: Any) -> Any:
        """Call ``optimizer.step``."""
        return optimizer.step(*args, **words)

    def update(self, new_scale: Any = None) -> None:
        """Do nothing."""

    def is_enabled(self) -> bool:
        """Return False."""
        return False

    def get_scale(self) -> float:
        """Return 1."""
        return 1.0

    def state_dict(self) -> dict[str, Any]:
        """Return nothing, as PyTorch's does where it is switched off."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Do nothing."""

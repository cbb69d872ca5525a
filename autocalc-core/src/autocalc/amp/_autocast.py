# SPDX-License-Identifier: MIT
"""The context in which operators choose lower precision, and functions of one's own."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import Any, TypeVar

from autocalc._dispatch.selection.state import current
from autocalc._ops._operator.autocasting import Autocast, Under
from autocalc._ops._operator.coerce import cast
from autocalc._tensor import Tensor
from autocalc._tensor import checks as _checks
from autocalc._tensor.dtypes import DType, bfloat16, float16, float64
from autocalc.errors import ArgumentError, DTypeError

F = TypeVar("F", bound=Callable[..., Any])

#: What `autocast` computes in by default.
_DEFAULT: dict[str, DType] = {"cpu": bfloat16, "cuda": float16}

#: The dtypes that it can compute in.
_LOWER = (bfloat16, float16)


class autocast:
    """Compute matrix products in lower precision: a context or a decorator.

    Matrix products, convolutions and attention convert float32 operands to `dtype` and
    return results of this dtype. Losses, `prod`, quantiles and decompositions convert
    operands of lower precision to float32. `cat`, `stack` and `index_copy` use the
    widest dtype among their operands. All other operators compute in the dtypes of
    their operands, and float64 is never converted. Each of these groups contains the
    same operators as in PyTorch on the CPU.

    Parameters stay in float32, and so do their gradients. In a context, a parameter is
    converted once, and again after each write into it. Calls with ``out=`` and in-place
    calls convert nothing.

    Parameters
    ----------
    device_type
        ``"cpu"``; ``"cuda"`` has no effect, as in PyTorch without a GPU.
    dtype
        ``ac.bfloat16``, the default, or ``ac.float16``, which overflows above 65504 and
        needs a `GradScaler`. Any other dtype switches the context off, with a warning.
    enabled
        True to compute in lower precision; False switches `autocast` off inside another
        context.
    cache_enabled
        True, the default, to keep the converted parameters until the outermost context
        ends.

    Notes
    -----
    Call the backward pass outside of the context: each operator computes its gradient
    in the precision of its operands. A compiled function may be called in the context,
    or contain the context; its program then includes the conversions.

    References
    ----------
    .. [1] P. Micikevicius et al., "Mixed Precision Training", ICLR 2018,
       arXiv:1710.03740.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer, x = ac.nn.Linear(4, 3), ac.ones(2, 4)
    >>> with ac.autocast("cpu"):
    ...     y = layer(x)
    ...     loss = ac.nn.functional.mse_loss(y, ac.zeros(2, 3))
    >>> y.dtype, loss.dtype
    (autocalc.bfloat16, autocalc.float32)
    >>> loss.backward()
    >>> layer.weight.grad.dtype
    autocalc.float32
    """

    def __init__(
        self,
        device_type: str = "cuda",
        dtype: DType | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        _checks.check_flags("autocast", enabled=enabled, cache_enabled=cache_enabled)
        self.device = _checked_device("autocast", device_type)
        self.fast_dtype = _DEFAULT[self.device] if dtype is None else dtype
        self._enabled = enabled and self.device == "cpu"
        self._keeps = cache_enabled is None or cache_enabled
        self._under = Under(self._mode)
        if self._enabled and self.fast_dtype not in _LOWER:
            self._enabled = False
            warnings.warn(
                f"autocast: `dtype` is {dtype}; on the CPU it must be bfloat16 or "
                f"float16. The context has no effect.",
                UserWarning,
                stacklevel=2,
            )

    def _mode(self) -> Autocast | None:
        outer: Autocast | None = current().autocast
        if not self._enabled:
            return None if self.device == "cpu" else outer
        same = outer is not None and outer.dtype is self.fast_dtype
        kept = outer.kept if outer is not None and same else {}
        return Autocast(self.fast_dtype, kept if self._keeps else None)

    def __enter__(self) -> autocast:
        self._under.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._under.__exit__()

    def __call__(self, function: F) -> F:
        """Return a function that runs `function` in the context."""

        @wraps(function)
        def run(*args: Any, **words: Any) -> Any:
            with Under(self._mode):  # of its own: other threads may call it, too
                return function(*args, **words)

        return run  # type: ignore[return-value]  # the same signature


def _checked_device(where: str, device_type: Any) -> str:
    if not isinstance(device_type, str):
        raise DTypeError(
            f"{where}: `device_type` is {device_type!r}; it must be a string, such as "
            "'cpu'."
        )
    if device_type not in _DEFAULT:
        raise ArgumentError(
            f"{where}: `device_type` is {device_type!r}; use 'cpu'; 'cuda' is "
            "accepted, too, but has no effect."
        )
    return device_type


def is_autocast_available(device_type: str) -> bool:
    """Return whether `autocast` has an effect on a device of this type.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.amp.is_autocast_available("cpu"), ac.amp.is_autocast_available("cuda")
    (True, False)
    """
    return device_type == "cpu"


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Return whether the current context computes in lower precision.

    Parameters
    ----------
    device_type
        ``"cpu"``; any other type gives False, and so does None, which means ``"cuda"``.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.autocast("cpu"):
    ...     ac.is_autocast_enabled("cpu")
    True
    """
    return device_type == "cpu" and current().autocast is not None


def is_autocast_cpu_enabled() -> bool:
    """Return ``is_autocast_enabled("cpu")``; this is an older name.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.is_autocast_cpu_enabled()
    False
    """
    return is_autocast_enabled("cpu")


def get_autocast_cpu_dtype() -> DType:
    """Return ``get_autocast_dtype("cpu")``; this is an older name.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.get_autocast_cpu_dtype()
    autocalc.bfloat16
    """
    return get_autocast_dtype("cpu")


def get_autocast_dtype(device_type: str) -> DType:
    """Return the dtype of the current `autocast` context, or the default one.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.get_autocast_dtype("cpu")
    autocalc.bfloat16
    """
    device = _checked_device("get_autocast_dtype", device_type)
    mode = current().autocast if device == "cpu" else None
    found: DType = _DEFAULT[device] if mode is None else mode.dtype
    return found


def custom_fwd(
    fwd: F | None = None, *, device_type: str, cast_inputs: DType | None = None
) -> Any:
    """Decorate the `forward` of an `autograd.Function` for use under `autocast`.

    Parameters
    ----------
    fwd
        The method; without it, a decorator is returned.
    device_type
        ``"cpu"``; ``"cuda"`` has no effect.
    cast_inputs
        A dtype to which floating-point tensors, except those of float64, are converted
        while `autocast` is on; the method then runs with `autocast` off. By default,
        the method runs in the `autocast` context of its call.

    Examples
    --------
    >>> import autocalc as ac
    >>> class Square(ac.autograd.Function):
    ...     @staticmethod
    ...     @ac.amp.custom_fwd(device_type="cpu", cast_inputs=ac.float32)
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...
    ...     @staticmethod
    ...     @ac.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, g):
    ...         return 2 * ctx.saved_tensors[0] * g
    >>> with ac.autocast("cpu"):
    ...     Square.apply(ac.ones(2).bfloat16()).dtype
    autocalc.float32
    """
    if fwd is None:
        return lambda found: custom_fwd(
            found, device_type=device_type, cast_inputs=cast_inputs
        )
    method, device = fwd, _checked_device("custom_fwd", device_type)

    @wraps(method)
    def run(*args: Any, **words: Any) -> Any:
        ctx = args[0]
        ctx._autocast_dtype = get_autocast_dtype(device)
        ctx._used_autocast = is_autocast_enabled(device)
        if cast_inputs is None or not ctx._used_autocast:
            return method(*args, **words)
        ctx._used_autocast = False
        with autocast(device, enabled=False):
            return method(
                *_cast_all(args, cast_inputs), **_cast_all(words, cast_inputs)
            )

    return run


def custom_bwd(bwd: F | None = None, *, device_type: str) -> Any:
    """Decorate the `backward` of a `Function` whose `forward` has `custom_fwd`.

    The method runs in the `autocast` context in which the forward pass ran.

    Parameters
    ----------
    bwd
        The method; without it, a decorator is returned.
    device_type
        The same as in `custom_fwd`, whose docstring shows an example.

    Examples
    --------
    >>> import autocalc as ac
    >>> @ac.amp.custom_bwd(device_type="cpu")
    ... def backward(ctx, g):
    ...     return g
    """
    if bwd is None:
        return lambda found: custom_bwd(found, device_type=device_type)
    method, device = bwd, _checked_device("custom_bwd", device_type)

    @wraps(method)
    def run(*args: Any, **words: Any) -> Any:
        ctx = args[0]
        used = ctx._used_autocast
        with autocast(device, enabled=used, dtype=ctx._autocast_dtype):
            return method(*args, **words)

    return run


def _cast_all(x: Any, dtype: DType) -> Any:
    """Return the tensors in tuples, lists and dicts as another dtype."""
    if isinstance(x, Tensor):
        cast_it = x.is_floating_point() and x.dtype is not float64
        return cast(x, dtype) if cast_it else x
    if isinstance(x, dict):
        return {key: _cast_all(one, dtype) for key, one in x.items()}
    if x.__class__ in (list, tuple):
        return x.__class__(_cast_all(one, dtype) for one in x)
    return x

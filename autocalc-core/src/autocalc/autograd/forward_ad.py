# SPDX-License-Identifier: MIT
"""Forward mode: derivatives along a direction, computed together with the values.

Inside of a `dual_level`, `make_dual` gives a tensor a *tangent*: the derivative of the
tensor along some direction.  Each operation on it then also computes the tangent of its
result, which `unpack_dual` returns.
"""

from __future__ import annotations

from contextlib import ContextDecorator as _ContextDecorator
from typing import Any as _Any
from typing import NamedTuple as _NamedTuple

from autocalc._dispatch.device.duals import DualLevel as _DualLevel
from autocalc._dispatch.device.duals import functions as _functions
from autocalc._ops.views.duals import paired as _paired
from autocalc._ops.views.duals import primal_of as _primal_of
from autocalc._ops.views.duals import tangent_of as _tangent_of
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_type as _check_type
from autocalc.autograd._levels import new_dual as _new_dual
from autocalc.errors import DTypeError, GradError, ShapeError

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]

#: The level that is entered, or None.  There is at most one.
_entered: _DualLevel | None = None


def enter_dual_level() -> int:
    """Enter a level of forward mode; return its number, 0.

    Prefer `dual_level`, which also leaves the level.

    Raises
    ------
    GradError
        If a level is entered already.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.autograd import forward_ad
    >>> forward_ad.enter_dual_level()
    0
    >>> forward_ad.exit_dual_level()
    """
    global _entered
    if _entered is not None:
        raise GradError(
            "enter_dual_level: a level is entered already. Nested forward mode AD is "
            "not supported at the moment: leave the level first, or use func.jvp, "
            "whose calls can be nested."
        )
    _entered = _new_dual()
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Leave the level of forward mode; tensors lose their tangents.

    Parameters
    ----------
    level
        The number of the level: 0, or None.

    Raises
    ------
    GradError
        If no level is entered, or `level` is another number.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.autograd import forward_ad
    >>> level = forward_ad.enter_dual_level()
    >>> forward_ad.exit_dual_level(level=level)
    """
    global _entered
    if _entered is None or level not in (0, None):
        raise GradError(
            f"exit_dual_level: level {level} is not the last one that was entered. "
            f"Trying to exit a forward AD level that was not the last one that was "
            f"created. This is not supported. Use dual_level() in a with statement."
        )
    _entered.active = False
    _entered = None


class dual_level(_ContextDecorator):
    """Enter a level of forward mode in a ``with`` statement, or for a function.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.autograd import forward_ad
    >>> with forward_ad.dual_level():
    ...     x = forward_ad.make_dual(ac.tensor(3.0), ac.tensor(1.0))
    ...     print(forward_ad.unpack_dual(x * x).tangent)
    tensor(6.)
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *_: object) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """Return a tensor with a tangent, in the memory of `tensor`.

    Parameters
    ----------
    tensor
        The primal: a floating-point tensor.
    tangent
        The derivative of the primal along the direction: a tensor of the same shape and
        dtype.
    level
        The number of the level: 0, or None.

    Returns
    -------
    Tensor
        The dual tensor.  Gradients of reverse mode pass through it to both parts.

    Raises
    ------
    GradError
        If no level is entered.
    DTypeError
        If one of the tensors is not a floating-point tensor, or their dtypes differ.
    ShapeError
        If the shapes differ.
    DeviceError
        If a tensor is not on the CPU.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.autograd import forward_ad
    >>> with forward_ad.dual_level():
    ...     x = forward_ad.make_dual(ac.tensor(0.0), ac.tensor(2.0))
    ...     print(forward_ad.unpack_dual(x.sin()))
    UnpackedDualTensor(primal=tensor(0.), tangent=tensor(2.))
    """
    here = _at("make_dual", level)
    _check_type("make_dual", "tensor", tensor, Tensor, "a tensor")
    _check_type("make_dual", "tangent", tangent, Tensor, "a tensor")
    for name, x in (("primal", tensor), ("tangent", tangent)):
        if not x.is_floating_point():
            raise DTypeError(
                f"make_dual: the {name} is {x.dtype.name}; Expected {name} to be "
                f"floating point or complex, but got: {x.dtype}. Convert it with "
                f".float()."
            )
    if tensor.shape != tangent.shape:
        raise ShapeError(
            f"make_dual: the primal has shape {tuple(tensor.shape)}, and the tangent "
            f"{tuple(tangent.shape)}; Trying to set a forward gradient that has a "
            f"different size than that of the original Tensor, this is not supported."
        )
    if tensor.dtype is not tangent.dtype:
        raise DTypeError(
            f"make_dual: the primal is {tensor.dtype.name}, and the tangent "
            f"{tangent.dtype.name}; they must have one dtype. Convert the tangent."
        )
    for name, x in (("primal", tensor), ("tangent", tangent)):
        if _tangent_of(x, here) is not None:
            raise GradError(
                f"make_dual: the {name} of shape {tuple(x.shape)} has a forward "
                f"gradient at the same level already. Take its primal by unpack_dual."
            )
    dual = _paired(tensor, tangent, here)
    if dual._array.raw.level is here:
        dual._array.raw.held = tangent
    return dual


def _at(where: str, level: int | None) -> _DualLevel:
    if _entered is None or level not in (0, None):
        raise GradError(
            f"{where}: no level of forward mode is entered. Trying to create a dual "
            f"Tensor for forward AD but no level exists, make sure to "
            f"enter_dual_level() first."
        )
    return _entered


class UnpackedDualTensor(_NamedTuple):
    """The parts of a dual tensor, as `unpack_dual` returns them.

    Attributes
    ----------
    primal
        The values without the tangent.
    tangent
        The derivative along the direction, or None for a tensor without a tangent.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.autograd import forward_ad
    >>> parts = forward_ad.unpack_dual(ac.tensor(2.0))
    >>> parts.primal, parts.tangent
    (tensor(2.), None)
    """

    primal: Tensor
    tangent: Tensor | None


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """Return the primal and the tangent of a tensor.

    Parameters
    ----------
    tensor
        A tensor with or without a tangent.
    level
        The number of the level: 0, or None.

    Returns
    -------
    UnpackedDualTensor
        The primal and the tangent.  The tangent is None if the tensor has none, or if
        no level is entered.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.autograd import forward_ad
    >>> forward_ad.unpack_dual(ac.tensor(1.0)).tangent is None
    True
    """
    _check_type("unpack_dual", "tensor", tensor, Tensor, "a tensor")
    if _entered is None or level not in (0, None):
        return UnpackedDualTensor(tensor, None)
    raw: _Any = getattr(tensor._array, "raw", None)
    held = getattr(raw, "held", None)
    if held is None or held._array is not raw._tangent or raw.level is not _entered:
        held = _tangent_of(tensor, _entered)
    return UnpackedDualTensor(_primal_of(tensor, _entered), held)


def _is_fwd_grad_enabled() -> bool:
    return _functions.enabled


class _set_fwd_grad_enabled(_ContextDecorator):
    """Switch tangents on or off, and restore the state at the end of a block."""

    def __init__(self, mode: bool) -> None:
        self.before = _functions.enabled
        _functions.enabled = bool(mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        _functions.enabled = self.before


def __getattr__(name: str) -> _Any:
    if name == "_current_level":  # programs for PyTorch read it
        return -1 if _entered is None else 0
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

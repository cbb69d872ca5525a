# SPDX-License-Identifier: MIT
"""Functions that can be inverted, with which distributions are made of others.

Each is called as a function.  ``inv`` is the way back, ``log_abs_det_jacobian(x, y)``
the logarithm of its slope.  All of them work element by element.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NoReturn

from autocalc._ops._arguments import check_tensor
from autocalc._ops.activations import softplus
from autocalc._tensor import Tensor
from autocalc._tensor.checks import number, sequence, short
from autocalc.distributions import constraints
from autocalc.errors import ArgumentError, DTypeError

__all__ = [
    "AffineTransform",
    "ComposeTransform",
    "ExpTransform",
    "SigmoidTransform",
    "TanhTransform",
    "Transform",
]


class Transform:
    """The base of transforms.

    Attributes
    ----------
    domain, codomain
        What it takes and what it gives.
    sign
        1 where it rises, -1 where it falls.
    """

    domain: constraints.Constraint = constraints.real
    codomain: constraints.Constraint = constraints.real
    sign: Any = 1

    def __call__(self, x: Any) -> Tensor:
        """Return the transformed `x`."""
        result: Tensor = self._call(check_tensor(type(self).__name__, x))
        return result

    def inv(self, y: Any) -> Tensor:
        """Return what becomes `y`."""
        result: Tensor = self._inverse(check_tensor(f"{type(self).__name__}.inv", y))
        return result

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Tensor:
        """Return log abs(dy / dx) at `x`, which becomes `y`."""
        where = f"{type(self).__name__}.log_abs_det_jacobian"
        result: Tensor = self._log_slope(check_tensor(where, x), check_tensor(where, y))
        return result

    @property
    def parameters(self) -> list[Tensor]:
        """Tensors that it holds, whose shapes broadcast with what it takes."""
        return [v for v in self.__dict__.values() if isinstance(v, Tensor)]

    def _call(self, x: Any) -> Any:
        self._refuse("function", "_call")

    def _inverse(self, y: Any) -> Any:
        self._refuse("inverse", "_inverse")

    def _log_slope(self, x: Any, y: Any) -> Any:
        self._refuse("slope", "_log_slope")

    def _refuse(self, what: str, method: str) -> NoReturn:
        message = f"{type(self).__name__}: a transform needs its {what}, `{method}`."
        raise NotImplementedError(message)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class ExpTransform(Transform):
    """y = exp(x).

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.transforms.ExpTransform()(ac.tensor([0.0, 1.0]))
    tensor([1.    , 2.7183])
    """

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def _log_slope(self, x: Any, y: Any) -> Any:
        return x


class SigmoidTransform(Transform):
    """y = 1 / (1 + exp(-x)).

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.transforms.SigmoidTransform().inv(ac.tensor([0.5]))
    tensor([0.])
    """

    codomain = constraints.unit_interval

    def _call(self, x: Any) -> Any:
        return x.sigmoid()

    def _inverse(self, y: Any) -> Any:
        return y.log() - (-y).log1p()

    def _log_slope(self, x: Any, y: Any) -> Any:
        return -softplus(-x) - softplus(x)


class TanhTransform(Transform):
    """y = tanh(x).

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.transforms.TanhTransform()(ac.tensor([0.0]))
    tensor([0.])
    """

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return y.atanh()

    def _log_slope(self, x: Any, y: Any) -> Any:
        return 2 * (math.log(2) - x - softplus(-2 * x))


class AffineTransform(Transform):
    """y = loc + scale x.

    Parameters
    ----------
    loc
        A tensor or a number.
    scale
        A tensor or a number, not 0.

    Raises
    ------
    DTypeError
        If one is neither.
    ArgumentError
        If `scale` is 0.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.transforms.AffineTransform(1.0, 2.0)(ac.tensor([0.0, 1.0]))
    tensor([1., 3.])
    """

    def __init__(self, loc: Any, scale: Any) -> None:
        self.loc, self.scale = (
            x if isinstance(x, Tensor) else number("AffineTransform", name, x)
            for name, x in (("loc", loc), ("scale", scale))
        )
        zero = self.scale == 0
        if zero.any() if isinstance(zero, Tensor) else zero:
            message = f"AffineTransform: `scale` is {short(scale)}; it must not be 0."
            raise ArgumentError(message)

    @property
    def sign(self) -> Any:
        """1 where it rises, -1 where it falls."""
        scale = self.scale
        return scale.sign() if isinstance(scale, Tensor) else math.copysign(1, scale)

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def _log_slope(self, x: Any, y: Any) -> Any:
        size = self.scale
        log = size.abs().log() if isinstance(size, Tensor) else math.log(abs(size))
        return x * 0 + log

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        pairs = ((self.loc, other.loc), (self.scale, other.scale))
        return all(a is b or _all_equal(a, b) for a, b in pairs)

    def __hash__(self) -> int:
        return hash(AffineTransform)

    def __repr__(self) -> str:
        return f"AffineTransform({short(self.loc)}, {short(self.scale)})"


def _all_equal(a: Any, b: Any) -> bool:
    same = a == b
    return bool(same.all()) if isinstance(same, Tensor) else bool(same)


class ComposeTransform(Transform):
    """Several transforms, one after the other.

    Parameters
    ----------
    parts
        The transforms, the first one first.

    Raises
    ------
    DTypeError
        If one is no transform.

    Examples
    --------
    >>> import autocalc as ac
    >>> t = ac.distributions.transforms
    >>> both = t.ComposeTransform([t.AffineTransform(0.0, 2.0), t.ExpTransform()])
    >>> both(ac.tensor([0.0])), both.inv(ac.tensor([1.0]))
    (tensor([1.]), tensor([0.]))
    """

    def __init__(self, parts: Sequence[Transform]) -> None:
        self.parts = checked_transforms("ComposeTransform", "parts", parts)
        if self.parts:
            self.domain = self.parts[0].domain
            self.codomain = self.parts[-1].codomain

    @property
    def sign(self) -> Any:
        """1 where it rises, -1 where it falls."""
        return math.prod(part.sign for part in self.parts)

    @property
    def parameters(self) -> list[Tensor]:
        """Tensors that the parts hold."""
        return [x for part in self.parts for x in part.parameters]

    def _call(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for part in reversed(self.parts):
            y = part.inv(y)
        return y

    def _log_slope(self, x: Any, y: Any) -> Any:
        total = x * 0
        for part in self.parts:
            y = part(x)
            total = total + part.log_abs_det_jacobian(x, y)
            x = y
        return total

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(ComposeTransform)

    def __repr__(self) -> str:
        return f"ComposeTransform({self.parts})"


def checked_transforms(where: str, name: str, given: Any) -> list[Transform]:
    """Return transforms as a list; one alone counts as a list of it."""
    parts = [given] if isinstance(given, Transform) else sequence(where, name, given)
    for part in parts:
        if not isinstance(part, Transform):
            message = f"{where}: `{name}` holds {short(part)}; it must be a Transform."
            raise DTypeError(message)
    return parts

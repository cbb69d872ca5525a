# SPDX-License-Identifier: MIT
"""`Transform`, the base of transforms, and the way back of each."""

from __future__ import annotations

import copy
from typing import Any, NoReturn
from weakref import ref

from autocalc._ops._operator.arguments import check_tensor
from autocalc._tensor import Tensor
from autocalc._tensor.checks import (
    as_int,
    check_type,
    integers,
    require,
    sequence,
    short,
)
from autocalc.distributions import constraints
from autocalc.errors import DTypeError, ShapeError


class _NoSign:
    """The sign of the derivative; an error if the transform has none."""

    def __get__(self, transform: Any, owner: Any = None) -> Any:
        if transform is None:
            return self
        message = (
            f"{owner.__name__}: this transform has no `sign`, because it is neither "
            "increasing nor decreasing everywhere."
        )
        raise NotImplementedError(message)


class Transform:
    """The base class of transforms.

    A subclass defines `_call` and `_inverse`.  If it is `bijective`, it also defines
    `log_abs_det_jacobian`.

    Parameters
    ----------
    cache_size
        1 to keep the last input and output, so that the inverse is not computed again.
        0 to keep nothing.

    Attributes
    ----------
    domain, codomain
        The constraints of the inputs and of the outputs.
    bijective
        True if each output has exactly one input.
    sign
        The sign of the derivative: 1 or -1.

    Raises
    ------
    ArgumentError
        If `cache_size` is not 0 or 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> class Cube(ac.distributions.Transform):
    ...     bijective, sign = True, 1
    ...     def _call(self, x):
    ...         return x**3
    ...     def _inverse(self, y):
    ...         return y.sign() * y.abs() ** (1 / 3)
    ...     def log_abs_det_jacobian(self, x, y):
    ...         return (3 * x * x).log()
    >>> Cube()(ac.tensor(2.0)), Cube().inv(ac.tensor(8.0))
    (tensor(8.), tensor(2.))
    """

    domain: Any = constraints.real
    codomain: Any = constraints.real
    bijective: Any = False
    sign: Any = _NoSign()
    _cache_size = 0
    _cached_x_y: tuple[Any, Any] = (None, None)
    _way_back: Any = None  # a weak reference to it

    def __init__(self, cache_size: int = 0) -> None:
        self._cache_size = self._checked_size(cache_size)
        super().__init__()  # that of a mix-in, such as a module

    def _checked_size(self, cache_size: Any) -> int:
        where = type(self).__name__
        size = as_int(where, "cache_size", cache_size)
        require(where, "cache_size", size, size in {0, 1}, "0 or 1")
        return size

    def with_cache(self, cache_size: int = 1) -> Transform:
        """Return a copy of the transform with another cache size."""
        size = self._checked_size(cache_size)
        if size == self._cache_size:
            return self
        new = copy.copy(self)
        new._cache_size, new._way_back = size, None
        return new

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        for own in ("_cached_x_y", "_way_back"):
            state.pop(own, None)
        return state

    @property
    def event_dim(self) -> int:
        """The number of trailing dimensions of one value: the larger of both sides."""
        found: int = self.domain.event_dim
        if found == self.codomain.event_dim:
            return found
        raise ShapeError(
            f"{type(self).__name__}.event_dim: a value has {found} dimensions before "
            f"the transform and {self.codomain.event_dim} after it; use `domain` or "
            "`codomain`."
        )

    @property
    def inv(self) -> Transform:
        """The inverse transform."""
        kept: Transform | None = self._way_back and self._way_back()
        if kept is None:
            kept = Inverse(self)
            self._way_back = ref(kept)
        return kept

    def __call__(self, x: Any) -> Tensor:
        """Return the transformed `x`."""
        check_value(type(self).__name__, x, self.domain)
        if self._cache_size and x is self._cached_x_y[0]:
            return self._cached_x_y[1]  # type: ignore[no-any-return]  # a tensor
        result: Tensor = self._call(x)
        self._keep(x, result)
        return result

    def _inv_call(self, y: Any) -> Tensor:
        """Return the x of which the result is `y`."""
        check_value(f"{type(self).__name__}.inv", y, self.codomain)
        if self._cache_size and y is self._cached_x_y[1]:
            return self._cached_x_y[0]  # type: ignore[no-any-return]  # a tensor
        result: Tensor = self._inverse(y)
        self._keep(result, y)
        return result

    def _keep(self, x: Any, y: Any) -> None:
        if self._cache_size:
            self._cached_x_y = x, y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Tensor:
        """Return log(abs(det(dy / dx))) for the input `x` and the output `y`."""
        where = f"{type(self).__name__}.log_abs_det_jacobian"
        check_value(where, x, self.domain)
        check_value(where, y, self.codomain)
        result: Tensor = self._log_slope(x, y)
        return result

    def forward_shape(self, shape: Any) -> tuple[int, ...]:
        """Return the shape of the output for an input of `shape`."""
        where = f"{type(self).__name__}.forward_shape"
        return self._forward_shape(where, self._checked_shape(where, shape, "domain"))

    def inverse_shape(self, shape: Any) -> tuple[int, ...]:
        """Return the shape of the input for an output of `shape`."""
        where = f"{type(self).__name__}.inverse_shape"
        return self._inverse_shape(where, self._checked_shape(where, shape, "codomain"))

    def _checked_shape(self, where: str, shape: Any, side: str) -> tuple[int, ...]:
        sizes, needed = integers(where, "shape", shape), getattr(self, side).event_dim
        if len(sizes) < needed:
            message = f"{where}: `shape`={sizes}; it needs {needed} dimensions or more."
            raise ShapeError(message)
        return sizes

    def _forward_shape(self, where: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape

    def _inverse_shape(self, where: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape

    def _call(self, x: Any) -> Any:
        self._refuse("function", "_call")

    def _inverse(self, y: Any) -> Any:
        self._refuse("inverse", "_inverse")

    def _log_slope(self, x: Any, y: Any) -> Any:
        self._refuse("slope", "log_abs_det_jacobian")

    def _refuse(self, what: str, method: str) -> NoReturn:
        message = f"{type(self).__name__}: a transform needs its {what}, `{method}`."
        raise NotImplementedError(message)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Plain(Transform):
    """A transform without parameters: all of a class are equal."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


class Inverse(Transform):
    """The inverse of a transform; both use the same cache."""

    def __init__(self, transform: Transform) -> None:
        self._of = transform

    @property
    def _cache_size(self) -> int:  # type: ignore[override]  # of the other one
        return self._of._cache_size

    @property
    def domain(self) -> Any:
        """The constraint of the inputs."""
        return self._of.codomain

    @property
    def codomain(self) -> Any:
        """The constraint of the outputs."""
        return self._of.domain

    @property
    def bijective(self) -> Any:
        """Whether each output has exactly one input."""
        return self._of.bijective

    @property
    def sign(self) -> Any:
        """The sign of the derivative: 1 or -1."""
        return self._of.sign

    @property
    def inv(self) -> Transform:
        """The transform whose inverse this is."""
        return self._of

    def with_cache(self, cache_size: int = 1) -> Transform:
        """Return a copy of the transform with another cache size."""
        return self._of.with_cache(cache_size).inv

    def __call__(self, x: Any) -> Tensor:
        """Return what becomes `x` by the other one."""
        return self._of._inv_call(x)

    def _inv_call(self, y: Any) -> Tensor:
        return self._of(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Tensor:
        """Return log(abs(det(dy / dx))) for the input `x` and the output `y`."""
        return -self._of.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> tuple[int, ...]:
        """Return the shape of the output for an input of `shape`."""
        return self._of.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> tuple[int, ...]:
        """Return the shape of the input for an output of `shape`."""
        return self._of.forward_shape(shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Inverse) and self._of == other._of

    def __hash__(self) -> int:
        return hash((Inverse, self._of))

    def __repr__(self) -> str:
        return f"{self._of}.inv"


def check_value(where: str, x: Any, needed: Any) -> None:
    """Raise unless `x` is a tensor with the dimensions of a value."""
    if check_tensor(where, x).ndim < needed.event_dim:
        raise ShapeError(
            f"{where}: the value has shape {x.shape}; it needs at least "
            f"{needed.event_dim} dimensions."
        )


def checked_transform(where: str, name: str, given: Any) -> Transform:
    """Return `given` if it is a transform."""
    return check_type(where, name, given, Transform, "a Transform")


def checked_transforms(where: str, name: str, given: Any) -> list[Transform]:
    """Return transforms as a list; one alone counts as a list of it."""
    parts = [given] if isinstance(given, Transform) else sequence(where, name, given)
    for part in parts:
        if not isinstance(part, Transform):
            message = f"{where}: `{name}` holds {short(part)}; it must be a Transform."
            raise DTypeError(message)
    return parts


def all_equal(a: Any, b: Any) -> bool:
    """Return whether two numbers or tensors are equal in all elements."""
    if a is b:
        return True
    if not isinstance(a, Tensor) and not isinstance(b, Tensor):
        return bool(a == b)
    shapes = {x.shape for x in (a, b) if isinstance(x, Tensor)}
    return len(shapes) == 1 and bool((a == b).all())

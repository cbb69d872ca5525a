# SPDX-License-Identifier: MIT
"""Transforms side by side, each of a part of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops.arranging.joining import cat, stack
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int, short
from autocalc.distributions import constraints
from autocalc.distributions._constraints_joined import (
    check_length,
    lengths_given,
    place_among_values,
)
from autocalc.distributions._independent import summed
from autocalc.distributions._transform import Transform, checked_transforms
from autocalc.errors import ArgumentError


class _Joined(Transform):
    """Several transforms along a dimension."""

    def __init__(self, tseq: Any, dim: int, cache_size: int) -> None:
        super().__init__(cache_size)
        where = type(self).__name__
        self.transforms = checked_transforms(where, "tseq", tseq)
        if not self.transforms:
            message = f"{where}: `tseq` is {short(tseq)}; it needs one or more."
            raise ArgumentError(message)
        if self._cache_size:
            size = self._cache_size
            self.transforms = [t.with_cache(size) for t in self.transforms]
        self.dim = as_int(where, "dim", dim)

    def with_cache(self, cache_size: int = 1) -> Transform:
        """Return a copy whose parts have another cache size."""
        size = self._checked_size(cache_size)
        if size == self._cache_size:
            return self
        new: Any = super().with_cache(size)
        new.transforms = [t.with_cache(size) for t in self.transforms]
        return new  # type: ignore[no-any-return]  # a transform

    @property
    def bijective(self) -> Any:
        """Whether each output has exactly one input."""
        return all(t.bijective for t in self.transforms)

    def _parts(self, x: Any) -> Any:
        """Return the part of each transform."""
        raise NotImplementedError

    def _joined(self, parts: list[Any]) -> Any:
        """Return parts as one tensor."""
        raise NotImplementedError

    def __call__(self, x: Any) -> Tensor:
        """Return the transformed `x`."""
        self._check(type(self).__name__, x)
        return super().__call__(x)

    def _inv_call(self, y: Any) -> Tensor:
        self._check(f"{type(self).__name__}.inv", y)
        return super()._inv_call(y)

    def _check(self, where: str, x: Any) -> None:
        check_length(where, check_tensor(where, x), self.dim, self._length)

    @property
    def _length(self) -> int:
        return len(self.transforms)

    def _call(self, x: Any) -> Any:
        pairs = zip(self.transforms, self._parts(x), strict=True)
        return self._joined([t(part) for t, part in pairs])

    def _inverse(self, y: Any) -> Any:
        pairs = zip(self.transforms, self._parts(y), strict=True)
        return self._joined([t.inv(part) for t, part in pairs])

    def _slopes(self, x: Any, y: Any) -> list[Any]:
        """Return the logarithms of the parts' slopes, each of as few dimensions."""
        where = f"{type(self).__name__}.log_abs_det_jacobian"
        self._check(where, x)
        self._check(where, y)
        most = max(t.event_dim for t in self.transforms)
        parts = zip(self.transforms, self._parts(x), self._parts(y), strict=True)
        return [
            summed(t.log_abs_det_jacobian(a, b), most - t.event_dim)
            for t, a, b in parts
        ]

    def _place(self, x: Any) -> int | None:
        most = max(t.event_dim for t in self.transforms)
        return place_among_values(self.dim, x.ndim, most)

    def _like(self, other: Any) -> bool:
        same = type(self) is type(other) and self.dim == other.dim
        return same and self.transforms == other.transforms

    def __eq__(self, other: object) -> bool:
        return self._like(other)

    def __hash__(self) -> int:
        return hash((type(self), self.dim))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.transforms}, {self.dim})"


class CatTransform(_Joined):
    """Applies different transforms to the parts of a tensor along a dimension.

    Parameters
    ----------
    tseq
        A sequence of transforms, one for each part.
    dim
        The dimension along which the parts are concatenated.
    lengths
        The lengths of the parts.  The default is 1 for each part.
    cache_size
        1 to keep the last input and output, so that the inverse is not computed again.
        0 to keep nothing.

    Raises
    ------
    DTypeError
        If an element is not a `Transform`.
    ArgumentError
        If `tseq` is empty, if `lengths` does not have one element for each part, or if
        `cache_size` is not 0 or 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> d = ac.distributions
    >>> parts = d.CatTransform([d.ExpTransform(), d.identity_transform], 0, [1, 2])
    >>> parts(ac.tensor([0.0, 5.0, 6.0]))
    tensor([1., 5., 6.])
    """

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = lengths_given("CatTransform", lengths, len(self.transforms))

    @property
    def length(self) -> int:
        """The size of the tensor along the dimension."""
        return sum(self.lengths)

    @property
    def _length(self) -> int:
        return self.length

    @property
    def event_dim(self) -> int:
        """The number of trailing dimensions that form one value."""
        return max(t.event_dim for t in self.transforms)

    @property
    def domain(self) -> Any:
        """The constraint of the inputs."""
        each = [t.domain for t in self.transforms]
        return constraints.cat(each, self.dim, self.lengths)

    @property
    def codomain(self) -> Any:
        """The constraint of the outputs."""
        each = [t.codomain for t in self.transforms]
        return constraints.cat(each, self.dim, self.lengths)

    def _parts(self, x: Any) -> Any:
        return x.split(self.lengths, self.dim)

    def _joined(self, parts: list[Any]) -> Any:
        return cat(parts, self.dim)

    def _log_slope(self, x: Any, y: Any) -> Any:
        slopes, place = self._slopes(x, y), self._place(x)
        return sum(slopes[1:], slopes[0]) if place is None else cat(slopes, place)

    def _like(self, other: Any) -> bool:
        return super()._like(other) and self.lengths == other.lengths

    def __repr__(self) -> str:
        return f"CatTransform({self.transforms}, {self.dim}, {self.lengths})"


class StackTransform(_Joined):
    """Applies different transforms to the slices of a tensor along a dimension.

    Parameters
    ----------
    tseq
        A sequence of transforms, one for each slice.
    dim
        The dimension along which the slices are stacked.
    cache_size
        1 to keep the last input and output, so that the inverse is not computed again.
        0 to keep nothing.

    Raises
    ------
    DTypeError
        If an element is not a `Transform`.
    ArgumentError
        If `tseq` is empty, or `cache_size` is not 0 or 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> d = ac.distributions
    >>> both = d.StackTransform([d.ExpTransform(), d.identity_transform], -1)
    >>> both(ac.tensor([[0.0, 5.0], [1.0, 6.0]]))
    tensor([[1.0000, 5.0000],
            [2.7183, 6.0000]])
    """

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0
    ) -> None:
        super().__init__(tseq, dim, cache_size)

    @property
    def domain(self) -> Any:
        """The constraint of the inputs."""
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @property
    def codomain(self) -> Any:
        """The constraint of the outputs."""
        return constraints.stack([t.codomain for t in self.transforms], self.dim)

    def _parts(self, x: Any) -> Any:
        return x.unbind(self.dim)

    def _joined(self, parts: list[Any]) -> Any:
        return stack(parts, self.dim)

    def _log_slope(self, x: Any, y: Any) -> Any:
        slopes, place = self._slopes(x, y), self._place(x)
        return sum(slopes[1:], slopes[0]) if place is None else stack(slopes, place)

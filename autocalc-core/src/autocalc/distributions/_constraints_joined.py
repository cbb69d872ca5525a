# SPDX-License-Identifier: MIT
"""Constraints made of others: of more dimensions, side by side, of a mixture."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops.arranging.joining import cat as cat_of
from autocalc._ops.arranging.joining import stack as stack_of
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int, integers, require, sequence
from autocalc.distributions._constraint import Constraint, check_constraint
from autocalc.errors import ArgumentError, DimensionError, ShapeError

#: What arrays of so many dimensions are called.
_ARRAYS = {0: "{}", 1: "vectors of {}", 2: "matrices of {}"}


class independent(Constraint):  # PyTorch's name
    """A constraint on arrays: all their elements satisfy another constraint.

    The last dimensions become part of one value, which satisfies this constraint if all
    its elements satisfy `base_constraint`.

    Parameters
    ----------
    base_constraint
        The constraint of the elements.
    reinterpreted_batch_ndims
        The number of dimensions that become part of one value.

    Raises
    ------
    DTypeError
        If `base_constraint` is not a constraint, or if `reinterpreted_batch_ndims` is
        not an integer.
    ArgumentError
        If `reinterpreted_batch_ndims` is negative.

    Examples
    --------
    >>> import autocalc as ac
    >>> constraints = ac.distributions.constraints
    >>> vectors = constraints.independent(constraints.positive, 1)
    >>> vectors.check(ac.tensor([[1.0, 2.0], [1.0, -2.0]]))
    tensor([ True, False])
    """

    def __init__(self, base_constraint: Any, reinterpreted_batch_ndims: int) -> None:
        base = check_constraint("independent", "base_constraint", base_constraint)
        name = "reinterpreted_batch_ndims"
        ndims = as_int("independent", name, reinterpreted_batch_ndims)
        require("independent", name, ndims, ndims >= 0, "0 or more")
        self.base_constraint, self.reinterpreted_batch_ndims = base, ndims
        words = _ARRAYS.get(ndims, "arrays of {}")
        super().__init__(words, bounds=(base_constraint,))

    @property
    def is_discrete(self) -> Any:
        """Whether the values are integers."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:
        """The number of trailing dimensions that form one value."""
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def _test(self, value: Any) -> Any:
        result = self.base_constraint.check(value)
        for _ in range(self.reinterpreted_batch_ndims):
            result = result.all(-1)
        return result


class MixtureSameFamilyConstraint(Constraint):
    """The constraint of a `MixtureSameFamily`, made from that of the components.

    Parameters
    ----------
    base_constraint
        The constraint of the components.

    Raises
    ------
    DTypeError
        If `base_constraint` is not a constraint.

    Examples
    --------
    >>> import autocalc as ac
    >>> constraints = ac.distributions.constraints
    >>> above = constraints.greater_than(ac.tensor([0.0, 2.0]))
    >>> constraints.MixtureSameFamilyConstraint(above).check(ac.tensor([1.0, 3.0]))
    tensor([False,  True])
    """

    _name = "values of all components: {}"

    def __init__(self, base_constraint: Any) -> None:
        where = "MixtureSameFamilyConstraint"
        base = check_constraint(where, "base_constraint", base_constraint)
        self.base_constraint = base
        super().__init__(bounds=(base_constraint,))

    @property
    def is_discrete(self) -> Any:
        """Whether the values are integers."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:
        """The number of trailing dimensions that form one value."""
        return self.base_constraint.event_dim

    def _test(self, value: Any) -> Any:
        wide = value.unsqueeze(-1 - self.event_dim)
        result = self.base_constraint.check(wide)
        while result.ndim > value.ndim - self.event_dim:
            result = result.all(-1)
        return result


class _Joined(Constraint):
    """Several constraints along a dimension."""

    def __init__(self, cseq: Any, dim: int) -> None:
        where = type(self).__name__
        self.cseq = [
            check_constraint(where, "cseq", c) for c in sequence(where, "cseq", cseq)
        ]
        if not self.cseq:
            message = f"{where}: `cseq` is empty; it needs one constraint or more."
            raise ArgumentError(message)
        self.dim = as_int(where, "dim", dim)
        super().__init__("values along dimension {} in {}", bounds=(dim, self.cseq))

    @property
    def is_discrete(self) -> Any:
        """Whether the values of any part are integers."""
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> Any:
        """The number of trailing dimensions that form one value."""
        return max(c.event_dim for c in self.cseq)

    @property
    def _length(self) -> int:
        return len(self.cseq)

    def check(self, value: Tensor) -> Tensor:
        """Return for each value whether its parts satisfy their constraints."""
        where = f"{type(self).__name__}.check"
        check_length(where, check_tensor(where, value), self.dim, self._length)
        return super().check(value)

    def _checks(self, parts: Any) -> list[Any]:
        """Return of the values of each part whether they are in its set."""
        most = max(c.event_dim for c in self.cseq)
        pairs = zip(self.cseq, parts, strict=True)
        return [independent(c, most - c.event_dim).check(part) for c, part in pairs]

    def _place(self, value: Any) -> int | None:
        most = max(c.event_dim for c in self.cseq)
        return place_among_values(self.dim, value.ndim, most)


def check_length(where: str, x: Any, dim: int, needed: int) -> None:
    """Raise unless `x` is so long along `dim`."""
    if not -x.ndim <= dim < x.ndim:
        raise DimensionError(
            f"{where}: `dim`={dim} is not a dimension of the value, which has shape "
            f"{x.shape}."
        )
    if x.shape[dim] != needed:
        raise ShapeError(
            f"{where}: the value has shape {x.shape}; along dimension {dim} it must "
            f"have {needed} elements."
        )


def lengths_given(where: str, lengths: Any, count: int) -> list[int]:
    """Return the lengths of `count` parts, each 1 if they are left out."""
    found = (1,) * count if lengths is None else integers(where, "lengths", lengths)
    if len(found) != count or any(n < 0 for n in found):
        raise ArgumentError(
            f"{where}: `lengths`={lengths}; it must hold {count} numbers, one for each "
            "part, all 0 or more."
        )
    return list(found)


def place_among_values(dim: int, ndim: int, event_dim: int) -> int | None:
    """Return where `dim` is among values of `event_dim` dimensions, from the end.

    None says that it is one of a value's own.
    """
    place = (dim if dim < 0 else dim - ndim) + event_dim
    return place if place < 0 else None


class cat(_Joined):  # PyTorch's name
    """A constraint on arrays whose parts along a dimension have different constraints.

    Parameters
    ----------
    cseq
        A sequence of constraints, one for each part.
    dim
        The dimension along which the parts are concatenated.
    lengths
        The lengths of the parts.  The default is 1 for each part.

    Raises
    ------
    DTypeError
        If an element of `cseq` is not a constraint.
    ArgumentError
        If `cseq` is empty, or if `lengths` does not have one element for each part.

    Examples
    --------
    >>> import autocalc as ac
    >>> c = ac.distributions.constraints
    >>> c.cat([c.positive, c.boolean], 0, [2, 1]).check(ac.tensor([1.0, -1.0, 0.0]))
    tensor([ True, False,  True])
    """

    def __init__(
        self,
        cseq: Sequence[Constraint],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
    ) -> None:
        super().__init__(cseq, dim)
        self.lengths = lengths_given("cat", lengths, len(self.cseq))

    @property
    def _length(self) -> int:
        return sum(self.lengths)

    def _test(self, value: Any) -> Any:
        checks = self._checks(value.split(self.lengths, self.dim))
        place = self._place(value)
        return _all_of(checks) if place is None else cat_of(checks, place)


class stack(_Joined):  # PyTorch's name
    """A constraint on arrays whose slices along a dimension have different constraints.

    Parameters
    ----------
    cseq
        A sequence of constraints, one for each slice.
    dim
        The dimension along which the slices are stacked.

    Raises
    ------
    DTypeError
        If an element of `cseq` is not a constraint.
    ArgumentError
        If `cseq` is empty.

    Examples
    --------
    >>> import autocalc as ac
    >>> c = ac.distributions.constraints
    >>> c.stack([c.positive, c.boolean], -1).check(ac.tensor([[1.0, 2.0]]))
    tensor([[ True, False]])
    """

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        super().__init__(cseq, dim)

    @property
    def event_dim(self) -> Any:
        """The number of trailing dimensions that form one value."""
        most: int = super().event_dim
        return most + 1 if -most <= self.dim < 0 else most

    def _test(self, value: Any) -> Any:
        checks = self._checks(value.unbind(self.dim))
        place = self._place(value)
        return _all_of(checks) if place is None else stack_of(checks, place)


def _all_of(checks: list[Any]) -> Any:
    return functools.reduce(operator.and_, checks)

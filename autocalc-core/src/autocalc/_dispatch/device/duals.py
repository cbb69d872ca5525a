# SPDX-License-Identifier: MIT
"""Dual arrays: values with their derivative along a direction.

In forward mode, a tensor holds a *dual* array p + e t: the *primal* p with the values,
and the *tangent* t, which is their derivative.  The number e belongs to one call, and
e e = 0.  Like a batched array, a dual array is an array on a device of its own.
Kernels for these devices are made from forward rules (`autocalc._forward`).

The reverse pass through dual arrays needs no rules of its own.  Let u be the cotangent
of the primal of y, and v that of its tangent.  The dual array v + e u, with the parts
exchanged, is then the cotangent of y.  The rules of reverse mode, in dual numbers, lead
from it to the exchanged cotangent of x.  Such a cotangent is marked as `adjoint`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from autocalc._dispatch.device.batches import Level
from autocalc._dispatch.device.without_work import WithoutWork
from autocalc.errors import GradError


class DualLevel(Level):
    """The number e of one call in forward mode."""

    __slots__ = ()

    #: What follows the number in the name of a device.
    letter = "d"

    #: Its number is higher than those of all levels that exist: see `dual_parts.pair`.
    highest = True

    def __init__(self, start: int = 0) -> None:
        super().__init__(1, start)

    def __repr__(self) -> str:
        return f"<dual level {self.number}>"


class Functions:
    """What dual arrays need from modules above.

    Attributes
    ----------
    k
        The functions on arrays; `_forward` provides them.
    enabled
        Whether kernels compute tangents.
    """

    k: Any = None
    enabled = True


functions = Functions()

See = Callable[[Any], Any]


class Dual:
    """A primal and a tangent; without a tangent, it is zero.

    Parameters
    ----------
    level
        The number e.
    part
        The dtype of the parts, which says where they are.
    primal, tangent
        Arrays on any device; None for a new array that is not yet computed, and for a
        tangent of zero.
    shape
        The shape of each part.
    adjoint
        Whether this is a cotangent with exchanged parts.
    """

    __slots__ = (
        *("_adjoint", "_primal", "_tangent", "held", "level", "part", "root", "see"),
        "shape",
    )

    def __init__(
        self,
        level: DualLevel,
        part: Any,
        primal: Any,
        tangent: Any,
        shape: Any,
        *,
        adjoint: bool = False,
    ) -> None:
        self.level, self.part, self.shape = level, part, tuple(shape)
        self._primal, self._tangent = primal, tangent
        self._adjoint = adjoint
        #: The tensor of a user whose array is the tangent, or None.
        self.held: Any = None
        #: For a view: the array that it is a view of, and the function of the view.
        self.root: Dual | None = None
        self.see: See | None = None

    #: Whether another array may have the same memory: that of its parts.
    is_view = True

    # ---- parts -------------------------------------------------------------------

    @property
    def primal(self) -> Any:
        """The values; memory is allocated at the first use."""
        if self._primal is None:
            self._primal = functions.k.empty(self.shape, self.part)
        return self._primal

    @property
    def tangent(self) -> Any:
        """The tangent, or None for zero."""
        if self.root is None:
            return self._tangent
        whole = self.root._tangent
        return None if whole is None else self.see(whole)  # type: ignore[misc]  # a view

    @property
    def adjoint(self) -> bool:
        """Whether this is a cotangent with exchanged parts."""
        return self._adjoint if self.root is None else self.root._adjoint

    @adjoint.setter
    def adjoint(self, adjoint: bool) -> None:
        (self.root or self)._adjoint = adjoint

    def give(self, primal: Any) -> bool:
        """Take a new array as the primal, if nothing has used the memory yet."""
        if self._primal is not None or not primal.flags.c_contiguous:
            return False
        self._primal = primal
        return True

    def put_tangent(self, tangent: Any) -> None:
        """Store a tangent; in a view, only that part of the whole array changes."""
        root = self.root
        if root is None:
            self._tangent = tangent
            return
        if tangent is None and root._tangent is None:
            return
        k = functions.k
        given = [a for a in (root._tangent, tangent) if a is not None]
        there = k.joined_dtype(root.primal, *given)
        whole = k.empty_like(root.primal, root.shape, there)
        known = k.constant(0, whole) if root._tangent is None else root._tangent
        k.copy(known, into=whole)
        place = self.see(whole)  # type: ignore[misc]  # a view has it
        k.copy(k.constant(0, whole) if tangent is None else tangent, into=place)
        root._tangent = whole

    # ---- what the engine asks of an array ----------------------------------------

    @property
    def dtype(self) -> Any:
        """NumPy's dtype of the elements."""
        return getattr(self.part, "numpy", self.part)

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides of the primal in bytes."""
        if self._primal is not None:
            strides: tuple[int, ...] = self._primal.strides
            return strides
        return _in_rows(self.shape, self.part.itemsize)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def flags(self) -> Any:
        """The layout of the primal."""
        if self._primal is None:
            return SimpleNamespace(c_contiguous=True)
        return SimpleNamespace(c_contiguous=self._primal.flags.c_contiguous)

    # ---- views -------------------------------------------------------------------

    def _view(self, primal: Any, see: See, part: Any = None) -> Dual:
        part = self.part if part is None else part
        found = Dual(self.level, part, primal, None, primal.shape)
        first = self.see
        found.root = self.root or self
        found.see = see if first is None else lambda a: see(first(a))
        return found

    def __getitem__(self, index: Any) -> Dual:
        k = functions.k
        return self._view(self.primal[index], lambda a: k.slice(a, index))

    def reshape(self, *shape: Any) -> Dual:
        """Return a view in another shape; the strides must allow it."""
        seen = self.primal.reshape(*shape)
        k = functions.k
        plain = not hasattr(seen, "raw")  # arrays of devices raise by themselves
        if plain and seen.size and not k.may_overlap(seen, self.primal):
            raise ValueError("cannot reshape without a copy")
        return self._view(seen, lambda a: k.reshape(a, seen.shape))

    def transpose(self, *axes: Any) -> Dual:
        """Return a view with the dimensions in another order."""
        return self._view(self.primal.transpose(*axes), lambda a: a.transpose(*axes))

    def view(self, dtype: Any = None) -> Dual:
        """Return a view; one of other elements has no tangent."""
        if dtype is None:
            return self._view(self.primal.view(), lambda a: a.view())
        seen = self.primal.view(dtype)
        return Dual(self.level, seen.dtype, seen, None, seen.shape)

    def strided(self, shape: Any, strides: Any, offset: int) -> Dual:
        """Return a view with these strides, `offset` bytes after the first element."""
        k, step = functions.k, self.part.itemsize
        primal = k.strided(self.primal, shape, strides, offset // step)
        like = self.strides

        def see(a: Any) -> Any:
            a = laid_out(a, like)
            return k.strided(a, shape, strides, offset // step)

        def repeat(a: Any) -> Any:
            return k.expand(a, shape)

        repeats = len(shape) >= self.ndim and not offset
        lead = len(shape) - self.ndim
        repeats = repeats and all(
            (n == m and s == z) or (n == 1 and z == 0) or m == 1
            for n, s, m, z in zip(
                self.shape, like, shape[lead:], strides[lead:], strict=True
            )
        )
        return self._view(primal, repeat if repeats else see)


@lru_cache(1024)
def _in_rows(shape: tuple[int, ...], step: int) -> tuple[int, ...]:
    """Return the strides of an array in row-major order."""
    steps = []
    for size in reversed(shape):
        steps.append(step)
        step *= max(size, 1)
    return tuple(reversed(steps))


def laid_out(a: Any, strides: tuple[int, ...]) -> Any:
    """Return a tangent with the strides of its primal: the array itself, or a copy."""
    if tuple(a.strides) == tuple(strides):
        return a
    sizes = zip(a.shape, strides, a.strides, strict=True)
    if any(n > 1 and (step < 0 or (step == 0 != own)) for n, step, own in sizes):
        raise GradError(
            f"forward_ad: a view by strides of a tensor whose strides are {strides} "
            f"has no tangent. Call contiguous() on the tensor first."
        )
    k = functions.k
    ends = sum((n - 1) * step for n, step in zip(a.shape, strides, strict=True))
    memory = k.zeros((ends // a.itemsize + 1,), a.dtype)
    out = k.strided(memory, a.shape, strides)
    k.copy(a, into=out)
    return out


def no_room(shape: Any) -> GradError:
    """Return the error for a tangent that would get lost in plain memory."""
    return GradError(
        f"forward_ad: a tangent cannot be stored in an array of shape {tuple(shape)} "
        f"that was made without one. Write into a tensor made from a dual tensor, such "
        f"as by zeros_like or clone, or return a new tensor instead of using out=."
    )


class DualLibrary(WithoutWork):
    """The array library of places with dual levels.

    Parameters
    ----------
    level
        The level of the outermost parts: the one with the highest number.
    part
        Returns the dtype of parts at the place without that level.
    every
        All levels of the place, by number.
    """

    def __init__(
        self, level: Callable[[], DualLevel], part: See, every: Callable[[], Any]
    ) -> None:
        self._level, self._part, self._every = level, part, every

    @property
    def level(self) -> DualLevel:
        """The living level of the outermost parts."""
        return self._level()

    @property
    def levels(self) -> Any:
        """The living levels of the place."""
        return self._every()

    def empty(self, shape: Any, dtype: Any) -> Dual:
        """Return a new array; its memory is allocated when it is used."""
        return Dual(self.level, self._part(dtype), None, None, shape)

    def number(self, value: Any, dtype: Any) -> Dual:
        """Return a number without a tangent."""
        part = self._part(dtype)
        return Dual(self.level, part, functions.k.number(value, dtype), None, ())

    def from_host(self, array: Any) -> Dual:
        """Return an array without a tangent."""
        part = self._part(array.dtype)
        primal = part.copied(array) if hasattr(part, "copied") else array.copy()
        return Dual(self.level, part, primal, None, array.shape)

    def repeated(self, raw: Any) -> Dual:
        """Return an array that fewer levels have, or none, with all of them.

        `raw` is a NumPy array, or that of a device.
        """
        part, tangent, adjoint = self._part(raw.dtype), None, False
        array: Any = raw
        if raw.__class__ is Dual and raw.level is self.level:
            array, tangent, adjoint = raw.primal, raw.tangent, raw.adjoint
            if tangent is not None:
                tangent = functions.k.repeated(tangent, part)
        primal = functions.k.repeated(array, part)
        return Dual(self.level, part, primal, tangent, raw.shape, adjoint=adjoint)

    def to_host(self, array: Dual) -> Any:
        """Return the values without the tangent."""
        primal = array.primal
        return primal.host() if hasattr(primal, "host") else primal.copy()

    def strided(self, array: Dual, shape: Any, strides: Any, offset: int) -> Dual:
        """Return a view that begins `offset` bytes after the start of the array."""
        return array.strided(shape, strides, offset)

    def address(self, array: Dual) -> int:
        """Return the address of the first element; of a new array, a number."""
        if array._primal is None:  # recordings ask for it before the kernel runs
            return id(array)
        primal = array.primal
        if hasattr(primal, "host"):
            return int(primal.address)
        return int(primal.__array_interface__["data"][0])

    def may_share_memory(self, a: Dual, b: Dual) -> bool:
        """Return whether a write to one of the arrays may change the other one."""
        return bool(functions.k.may_overlap(a.primal, b.primal))

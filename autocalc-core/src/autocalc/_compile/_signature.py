# SPDX-License-Identifier: MIT
"""The key of a call: a program is valid for calls with the same key."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from autocalc._compile._followed import Followed
from autocalc._compile._structure import flatten
from autocalc._dispatch.device.addresses import address
from autocalc._dispatch.selection.state import current
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import get_default_dtype

#: Classes of values that are part of the key.
PLAIN = (bool, complex, str, bytes, type(None))


class Signature:
    """The arguments of one call, and the key under which its programs are stored.

    Attributes
    ----------
    args, kwargs
        The arguments as given.
    tensors
        The tensors among the arguments, in order.
    key
        The nesting; plain values except numbers; other objects by identity; the shapes,
        dtypes, strides and `requires_grad` of tensors; the grad mode, the choice of
        kernels, the default dtype and autocast.
    numbers
        The numbers among the arguments, by their place in the key.
    held
        The objects that the key contains by identity.
    """

    __slots__ = ("args", "held", "key", "kwargs", "numbers", "tensors")

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.args, self.kwargs = args, kwargs
        leaves: list[Any] = []
        nesting = flatten((args, kwargs) if kwargs else args, leaves)
        state = current()
        selection = state.selection
        self.tensors: list[Tensor] = []
        self.numbers: dict[Any, Any] = {}
        self.held: list[Any] = [selection.tables]
        default = id(get_default_dtype())
        cast = state.autocast
        autocast = None if cast is None else (cast.dtype, cast.kept is None)
        context = state.grad, id(selection.tables), default, autocast
        parts: list[Hashable] = [nesting, context]
        arrays = []
        for leaf in leaves:
            if isinstance(leaf, Tensor):
                self.tensors.append(leaf)
                arrays.append(leaf._array)
                if leaf._edge is None and not leaf.__dict__:
                    parts.append(id(leaf.__class__))
                else:  # parameters, histories and attributes: the key needs identity
                    parts.append(id(leaf))
                    self.held.append(leaf)
            elif leaf.__class__ is float or leaf.__class__ is int:
                parts.append(leaf.__class__ is float)
                self.numbers[len(parts)] = leaf
            elif isinstance(leaf, PLAIN):
                parts.append((leaf.__class__, leaf))
            else:
                parts.append(id(leaf))
                self.held.append(leaf)
        if len(arrays) > 1:
            parts.append(_shared(arrays))
        self.key: Hashable = (*parts, selection.key_of(*arrays))

    @property
    def integers(self) -> set[Any]:
        """The places of the integers among the arguments."""
        return {place for place, x in self.numbers.items() if x.__class__ is int}

    def followed(
        self, before: dict[Any, Any], following: Followed
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments, in which numbers that changed are followed.

        `before` holds the numbers of an earlier call.
        """
        places = iter(self.numbers)
        args = tuple([following.argument(x, before, places) for x in self.args])
        kwargs = self.kwargs.items()
        return args, {k: following.argument(x, before, places) for k, x in kwargs}


def _shared(arrays: list[Any]) -> Hashable:
    """Return which arrays share memory, and their distances; None if none do."""
    owners = [id(a if a.base is None else a.base) for a in arrays]
    if len(set(owners)) == len(owners):
        return None
    firsts = [arrays[owners.index(owner)] for owner in owners]
    return tuple(
        (owners.index(owner), address(a) - address(first))
        for owner, a, first in zip(owners, arrays, firsts, strict=True)
    )

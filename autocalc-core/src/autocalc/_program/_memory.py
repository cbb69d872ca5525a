# SPDX-License-Identifier: MIT
"""The memory that a recording uses: slots, which are found by the arrays that own them.

A *slot* is one piece of memory.  It was made during the recording (and may be freed
again), or it existed before.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from sys import getrefcount
from typing import Any

from autocalc._dispatch.device.addresses import address, span
from autocalc._kernels.spec import Array, DType, Shape
from autocalc._program._views import Operand, View, base_of, owner_of


class Slot:
    """One piece of memory.

    Attributes
    ----------
    index
        The slot's number in the program.
    nbytes
        The slot's size.
    made
        Whether the recorded function made the memory, and kernels filled it.
    kept
        Whether the recorded function made the memory, and Python filled it: a constant.
    filled, undefined
        Whether Python filled it, or nothing did; known for `ac.tensor` and `ac.empty`
        only.
    array
        The array that owns the memory; None once a temporary is freed.
    address
        The memory's address when the slot was added.
    lent
        The number of references to the memory that callbacks hold.
    """

    __slots__ = (
        *("_array", "address", "filled", "index", "kept", "lent", "made", "nbytes"),
        "undefined",
    )

    def __init__(self, index: int, array: Array, made: bool) -> None:
        self.index = index
        self.nbytes = span(array)
        self.made = made
        self.kept = self.filled = self.undefined = False
        self.lent = 0
        self.address = address(array)
        self._array: Any = weakref.ref(array) if made else array

    @property
    def array(self) -> Any:
        """The array that owns the memory; None once it is freed."""
        return self._array() if self.made else self._array

    def keep(self) -> None:
        """Treat the memory as existing before: Python and no kernel filled it."""
        self._array, self.made, self.kept = self.array, False, True

    def unkeep(self) -> None:
        """Treat the memory as a temporary after all, because a kernel fills it."""
        self._array, self.made = weakref.ref(self.array), True
        self.kept = self.filled = False

    def replace(self, array: Array) -> None:
        """Let another array of the same size own the memory."""
        self._array = array

    def is_held(self) -> bool:
        """Return whether anything besides callbacks holds memory that was made."""
        array = self.array
        return array is not None and getrefcount(array) - OWN_REFERENCES > self.lent

    def __repr__(self) -> str:
        return f"<Slot {self.index}: {self.nbytes} bytes>"


def _own_references() -> int:
    local = object()
    return getrefcount(local)


#: References to an array that belong to no holder: a local name, and the argument of
#: `getrefcount`. Python 3.14 borrows the argument from the name and does not count it.
OWN_REFERENCES = _own_references()


class Memory:
    """Allocates memory for a recorded function, and finds slots by their arrays."""

    def __init__(self, empty: Callable[[Shape, DType], Array]) -> None:
        self._empty = empty
        self._by_id: dict[int, tuple[Slot, weakref.ref[Any]]] = {}
        self.slots: list[Slot] = []
        self._lent: set[int] = set()

    def empty(self, shape: Shape, dtype: DType) -> Array:
        """Return a new array whose memory is a slot of its own."""
        array = self._empty(shape, dtype)
        self.add(owner_of(array), made=True)
        return array

    def add(self, root: Array, *, made: bool) -> Slot:
        """Add a slot for the memory of `root` and of all arrays that view it."""
        slot = Slot(len(self.slots), root, made)
        self.slots.append(slot)
        self._by_id[id(root)] = slot, weakref.ref(root)
        return slot

    def slot_of(self, array: Array) -> Slot:
        """Return the slot of `array`; add one if the memory existed before."""
        return self._known(array) or self.add(owner_of(array), made=False)

    def _known(self, array: Any) -> Slot | None:
        """Return the slot of the first known array among `array` and its bases."""
        while array is not None:
            found = self._by_id.get(id(array))
            if found is not None and found[1]() is array:  # else it had this id before
                return found[0]
            array = base_of(array)
        return None

    def view(self, array: Array) -> View:
        """Return the view of `array`."""
        slot = self._known(array) or self.add(owner_of(array), made=False)
        offset = address(array) - slot.address
        return View(slot.index, offset, array.shape, array.strides, array.dtype)

    def is_made(self, array: Array) -> bool:
        """Return whether the memory of `array` was made while recording."""
        slot = self._known(array)
        return slot is not None and slot.made

    @contextmanager
    def lending(self, views: Iterable[View]) -> Iterator[None]:
        """Count how many references to made memory a callback takes and gives back.

        The callback holds these references, not the recorded function.
        """
        self._lent |= {view.slot for view in views if self.slots[view.slot].made}
        lent = [slot for i in self._lent if (slot := self.slots[i]).array is not None]
        before = [getrefcount(slot.array) for slot in lent]
        try:
            yield
        finally:
            for slot, count in zip(lent, before, strict=True):
                if slot.array is not None:
                    slot.lent += getrefcount(slot.array) - count

    def let_go(self) -> None:
        """Release all arrays, so that memory that tensors replace is freed."""
        self._by_id.clear()
        for slot in self.slots:
            if not slot.made:
                slot.replace(None)

    def operand(self, x: Any) -> Operand:
        """Return the views of an operand: None, one view, or a tuple of views."""
        if x is None:
            return None
        if isinstance(x, (list, tuple)):
            return tuple(map(self.view, x))
        return self.view(x)

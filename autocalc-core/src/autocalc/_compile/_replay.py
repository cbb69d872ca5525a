# SPDX-License-Identifier: MIT
"""A program bound to memory: parameters by pointer, temporaries in one arena."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from autocalc._compile._bookkeeping import (
    Bookkeeping,
    Follower,
    Owner,
    Result,
    ResultLeaf,
    bookkeeping,
    find,
)
from autocalc._compile._index_errors import explained
from autocalc._compile._layout import layout
from autocalc._compile._structure import rebuild
from autocalc._compile._trace import (
    Argument,
    Copied,
    Given,
    Gradient,
    NewLeaf,
    Owned,
    Same,
    Trace,
)
from autocalc._dispatch.engine.native import executor as native_executor
from autocalc._graph._node import Leaf
from autocalc._program._executor import (
    Placement,
    PythonExecutor,
    calls_of,
    placement_of,
)
from autocalc._program._form import Program
from autocalc._program._plan import Plan
from autocalc._program._views import View
from autocalc._tensor import Tensor
from autocalc.errors import CompileError, KernelIndexError

_BYTE = np.dtype(np.uint8)
_TENSORS = (Argument, Owned, Gradient)


class _Bound(NamedTuple):
    """The memory and other state of a bound program.

    For followers it keeps what holds no memory: `followed` contains (slot, owner,
    offset, whether the array is compared).
    """

    program: Program
    offsets: dict[int, int]
    gradients: list[tuple[Leaf, View]]
    arena: Any
    fixed: dict[int, Any]
    followed: list[tuple[int, Owner, int, bool]]
    written: list[Owner]
    leaves: list[ResultLeaf]


class Replay:
    """Runs a program in place of the function.

    Only one thread may run it: a run raises `CompileError` while another one is active.

    Parameters
    ----------
    program, plan
        The instructions, and the places of temporaries.
    trace
        The recording that the program came from.
    empty
        Allocates memory.
    """

    def __init__(
        self, program: Program, plan: Plan, trace: Trace, empty: Callable[..., Any]
    ) -> None:
        self.program = program
        self.plan = plan
        self._shared = [leaf for leaf, v in trace.gradients if v.slot in program.shared]
        program, offsets, gradients = layout(program, plan, trace.gradients)
        arena = empty((plan.nbytes if offsets else 0,), _BYTE)
        places = {s: Placement(arena, o) for s, o in offsets.items()}
        for slot in program.others:
            root = program.own.get(slot)
            root = trace.memory.slots[slot].array if root is None else root
            places[slot] = Placement(root, 0)
        for slot in program.results:
            places[slot] = Placement(empty((program.sizes[slot],), _BYTE), 0)
        for instruction in program.instructions:
            if instruction.callback is not None:
                instruction.callback.leaves = [leaf for leaf, _ in trace.gradients]
        make_one = native_executor or PythonExecutor
        executor = make_one(calls_of(program.instructions, places), places)
        self._nesting, self._order = trace.nesting, trace.order
        followers = list(_followers(program, trace))
        written = list(_written(program, trace))
        leaves = list(map(_leaf, trace.leaves))
        results = list(_results(program, gradients, places))
        around = executor, empty, places, followers, results, written, leaves
        self._around = bookkeeping(*around)
        self._empty = empty
        followed = [(f.slot, f.owner, f.offset, f.array is not None) for f in followers]
        moving = {slot for slot, *_ in followed}
        fixed = {s: places[s].root for s in program.others if s not in moving}
        bound = dict(offsets), list(gradients), arena, fixed, followed, written, leaves
        self._bound = _Bound(program, *bound)

    def rebound(
        self, make_timed: Callable[..., Any], tensors: list[Tensor]
    ) -> Bookkeeping:
        """Bind the program a second time, to run it in another way.

        Temporaries keep their places, and results get memory of their own.  The
        executor is ``make_timed(instructions, calls, places)``.  `tensors` are the
        arguments of a call.
        """
        bound = self._bound
        program = bound.program
        places, followers = self._placed(tensors)
        calls = calls_of(program.instructions, places)
        executor = make_timed(program.instructions, calls, places)
        results = list(_results(program, bound.gradients, places))
        around = executor, self._empty, places, followers, results
        return Bookkeeping(*around, bound.written, bound.leaves)

    def _placed(
        self, tensors: list[Tensor]
    ) -> tuple[dict[int, Placement], list[Follower]]:
        """Return the places of the program's memory in a call with these arguments."""
        bound = self._bound
        program = bound.program
        places = {s: Placement(bound.arena, o) for s, o in bound.offsets.items()}
        places |= {s: Placement(root, 0) for s, root in bound.fixed.items()}
        followers: list[Follower] = []
        for slot, owner, offset, compared in bound.followed:
            array = find(owner, tensors)._array
            places[slot] = placement_of(array, -offset)
            given = array if compared else None
            followers.append(Follower(slot, owner, offset, given))
        for slot in program.results:
            places[slot] = Placement(self._empty((program.sizes[slot],), _BYTE), 0)
        return places, followers

    def holds(self) -> bool:
        """Return whether every tensor still has its recorded place and layout."""
        return self._around.holds()

    def _explained(
        self, error: KernelIndexError, tensors: list[Tensor]
    ) -> KernelIndexError:
        """Return the error of a kernel, extended by the range of its indices."""
        program, kernel = self._bound.program, error.found[0]
        found = [one for one in program.instructions if one.name == kernel]
        places, _ = self._placed(tensors)
        return explained(error, calls_of(found, places))

    def run(self, tensors: list[Tensor]) -> Any:
        """Run the program with these arguments; return what the function returns."""
        try:
            leaves = self._around.run(tensors)
        except CompileError:  # the program did not run
            raise
        except BaseException as error:
            for leaf in self._shared:  # temporaries have overwritten its gradient
                leaf.grad = None
            if isinstance(error, KernelIndexError):
                raise self._explained(error, tensors) from None
            raise
        if self._nesting is None:
            return leaves[0]
        if self._order is not None:
            leaves = [leaves[i] for i in self._order]
        return rebuild(self._nesting, iter(leaves).__next__)


def _followers(program: Program, trace: Trace) -> Iterator[Follower]:
    """Yield the slots whose memory may be different in the next call."""
    for slot in sorted(program.others):
        binding = trace.bindings.get(slot)
        if isinstance(binding, Argument):
            yield Follower(slot, binding.number, binding.offset, None)
        elif isinstance(binding, (Owned, Gradient)):
            if isinstance(binding, Owned):
                array = binding.tensor._array
            else:
                array = binding.leaf.grad._array
            owner = _owner(binding)
            yield Follower(slot, owner, trace.offset_of(slot, array), array)


def _results(
    program: Program,
    gradients: Sequence[tuple[Leaf, View]],
    places: dict[int, Placement],
) -> Iterator[Result]:
    there: dict[int, list[tuple[Leaf, View]]] = {}
    for leaf, view in gradients:
        there.setdefault(view.slot, []).append((leaf, view))
    for slot in sorted(program.results):
        root, some = places[slot].root, there.get(slot, [])
        yield Result(slot, program.sizes[slot], root, some)


def _written(program: Program, trace: Trace) -> Iterator[Owner]:
    """Yield the tensors that a run writes."""
    written = {v.slot for i in program.instructions for v in i.writes()}
    for slot, binding in trace.bindings.items():
        if slot in written and isinstance(binding, _TENSORS):
            yield _owner(binding)


def _owner(binding: Argument | Owned | Gradient) -> Owner:
    """Return the owner of a slot's memory."""
    if isinstance(binding, Argument):
        return binding.number
    return binding.tensor if isinstance(binding, Owned) else binding.leaf


def _leaf(leaf: NewLeaf | Copied | Given | Same) -> ResultLeaf:
    if isinstance(leaf, Given):
        return leaf.number
    if isinstance(leaf, Copied):
        return leaf.array
    return (leaf.value,) if isinstance(leaf, Same) else leaf.view

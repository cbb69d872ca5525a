# SPDX-License-Identifier: MIT
"""Elementwise chains: consecutive kernels run in one pass over memory.

::

    t = a + b, u = t * t, v = exp(u)   becomes  v = [add, mul, exp](a, b)

The kernel set makes the fused kernel (`KernelSet.fuser`), which gives the same bits.
Values that only the chain reads are never written to memory.  Two instructions are
joined if one reads the result of the other, or if both read the same array.  No third
instruction may have to run between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from heapq import heapify, heappop, heappush
from typing import Any

from autocalc._dispatch.device.addresses import repeating_strides
from autocalc._dispatch.plugins.discovery import fuser_of
from autocalc._kernels.kernel_set import Chain, ChainStep, Fuse, FusedKernel
from autocalc._kernels.spec import Budget, KernelSpec, Meta, Work
from autocalc._kernels.table import TABLE
from autocalc._program._flow import one
from autocalc._program._form import Instruction, Program, meta, views_of
from autocalc._program._views import View

#: The farthest distance for a join: what the instructions use lives that long.
WINDOW = 128

#: The farthest distance between instructions that only read the same array.
NEAR = 16

#: The steps after which a search for instructions in between gives up and answers yes.
PATIENCE = 1000


def run(program: Program, *, least: int = 1) -> Program:
    """Let elementwise kernels with at least `least` elements run in chains."""
    fusers = _Fusers(least)
    if not any(map(fusers.of, program.instructions)):
        return program
    groups = _Groups(program, fusers)
    for at, instruction in enumerate(program.instructions):
        if fusers.of(instruction) is not None:
            groups.join(at)
    return groups.result()


class _Fusers:
    """The fusers of the kernel sets; each is made once."""

    def __init__(self, least: int) -> None:
        self._least = least
        self._made: dict[str, Fuse | None] = {}

    def of(self, instruction: Instruction) -> Fuse | None:
        """Return the fuser that may add an instruction to a chain; None if none may."""
        spec = instruction.spec
        if spec is None or not spec.elementwise or instruction.native is None:
            return None
        outputs = list(views_of(instruction.outputs))
        if len(outputs) != 1 or math.prod(outputs[0].shape) < self._least:
            return None
        name = instruction.chosen
        if name not in self._made:
            self._made[name] = fuser_of(name)
        return self._made[name]


class _Groups:
    """The instructions by their places; instructions in one group run as one kernel.

    The first place of a group identifies the group.
    """

    def __init__(self, program: Program, fusers: _Fusers) -> None:
        self.program = program
        self._fusers = fusers
        self._instructions = program.instructions
        self._group = list(range(len(self._instructions)))
        self._members = {at: [at] for at in self._group}
        self._kernels: dict[int, tuple[_Chain, FusedKernel]] = {}
        self._after, self._before = _order(self._instructions)
        self._users: dict[int, set[int]] = {}
        self._readers: dict[View, int] = {}
        for at, instruction in enumerate(self._instructions):
            for view in instruction.views():
                self._users.setdefault(view.slot, set()).add(at)

    def join(self, at: int) -> None:
        """Join an instruction with makers of its operands and with other readers."""
        instruction = self._instructions[at]
        shape = one(instruction.outputs[0]).shape
        # First come the groups that made its operands, the latest one first: a value
        # that a chain passes on in a register is neither written nor read.
        makers = {self._group[i] for i in self._before[at]}
        for other in sorted(makers, key=lambda g: -self._members[g][-1]):
            self._unite(self._group[other], self._group[at], at)
        # Then come groups that read the same array, such as relu(x) and x * 2: one pass
        # reads it once. Only near groups count, because what a chain uses lives until
        # it runs.
        reads = [v for v in instruction.reads() if v.shape == shape]
        for view in reads:
            reader = self._readers.get(view)
            if reader is not None and at - reader <= NEAR:
                self._unite(self._group[reader], self._group[at], at)
            self._readers[view] = at

    def _unite(self, a: int, b: int, now: int) -> None:
        """Merge two groups if they fit and nothing has to run between them."""
        if a == b:
            return
        members = sorted(self._members[a] + self._members[b])
        alike = len({self._like(at) for at in members}) == 1
        if not alike or members[-1] - members[0] > WINDOW:
            return
        # t = a + b, s = sum(t), u = t * s: the product cannot join the addition, since
        # `sum` must run after the addition and before the product.
        if self._is_between(a, b, now) or self._is_between(b, a, now):
            return
        # The kernel set may refuse a chain, for example if it needs too many registers.
        made = self._fuse(members)
        if made is None:
            return
        first, other = min(a, b), max(a, b)
        self._members[first] = members
        del self._members[other]
        self._kernels.pop(other, None)
        self._kernels[first] = made
        for at in members:
            self._group[at] = first

    def _like(self, at: int) -> Any:
        instruction = self._instructions[at]
        if self._fusers.of(instruction) is None:
            return at
        return instruction.chosen, one(instruction.outputs[0]).shape

    def _is_between(self, start: int, goal: int, now: int) -> bool:
        """Return whether something must run after one group and before the other."""
        # A search along "must run after", from group to group. The direct edge from
        # `start` to `goal` is allowed, because the chain itself keeps that order.
        waiting = list(self._next(start, now) - {goal})
        seen = {start, *waiting}
        while waiting:
            if len(seen) > PATIENCE:
                return True
            following = self._next(waiting.pop(), now)
            if goal in following:
                return True
            waiting += following - seen
            seen |= following
        return False

    def _next(self, group: int, now: int) -> set[int]:
        """Return the groups up to place `now` that depend directly on a group."""
        found = {
            self._group[i]
            for at in self._members[group]
            for i in self._after[at]
            if i <= now
        }
        return found - {group}

    def _fuse(self, members: list[int]) -> tuple[_Chain, FusedKernel] | None:
        instructions = [self._instructions[at] for at in members]
        inside = set(members)

        def is_seen(slot: int) -> bool:
            return slot not in self.program.temporaries or bool(
                self._users[slot] - inside
            )

        chain = _Chain.of(instructions, is_seen)
        fuse = self._fusers.of(instructions[0])
        if chain is None or fuse is None:
            return None
        kernel = fuse(chain.described)
        return None if kernel is None else (chain, kernel)

    def result(self) -> Program:
        """Return the program with a call for each chain."""
        instructions = [self._instruction(group) for group in self._sorted()]
        used = {v.slot for one in instructions for v in one.views()}
        temporaries = self.program.temporaries & used
        return replace(self.program, instructions=instructions, temporaries=temporaries)

    def _sorted(self) -> Iterator[int]:
        """Yield the groups in an order that respects dependencies and keeps places."""
        # Kahn's topological sort. Of the groups that are ready, the one with the
        # smallest number comes first, so that the order stays near the program's and
        # lives stay short.
        waits = dict.fromkeys(self._members, 0)
        end = len(self._instructions)
        following = {group: self._next(group, end) for group in self._members}
        for groups in following.values():
            for group in groups:
                waits[group] += 1
        ready = [group for group, count in waits.items() if not count]
        heapify(ready)
        while ready:
            group = heappop(ready)
            yield group
            for other in following[group]:
                waits[other] -= 1
                if not waits[other]:
                    heappush(ready, other)

    def _instruction(self, group: int) -> Instruction:
        if group not in self._kernels:
            return self._instructions[group]
        chain, kernel = self._kernels[group]
        members = [self._instructions[at] for at in self._members[group]]
        return Instruction(
            _spec(chain, members),
            members[0].chosen,
            kernel.function,
            kernel.native,
            (tuple(chain.outputs),),
            (tuple(chain.inputs),),
            kernel.attributes,
            members[-1].line,
            tuple(n for i in members for n in (i.fused or (i.name,))),
        )


def _order(instructions: list[Instruction]) -> tuple[list[set[int]], list[set[int]]]:
    """Return what must run after each instruction, and whose results it uses."""
    after: list[set[int]] = [set() for _ in instructions]
    makers: list[set[int]] = [set() for _ in instructions]
    writer: dict[int, int] = {}
    readers: dict[int, set[int]] = {}
    host: int | None = None
    for at, instruction in enumerate(instructions):
        reads = {view.slot for view in instruction.reads()}
        writes = {view.slot for view in instruction.writes()}
        # Dependencies: read after write, write after write, and write after read. Calls
        # of the host keep their order among themselves, because they may do anything.
        makers[at] = {writer[slot] for slot in reads | writes if slot in writer}
        earlier = set(makers[at])
        for slot in writes:
            earlier |= readers.get(slot, set())
        if instruction.spec is None:
            earlier |= set() if host is None else {host}
            host = at
        for i in earlier - {at}:
            after[i].add(at)
        for slot in reads:
            readers.setdefault(slot, set()).add(at)
        for slot in writes:
            writer[slot] = at
            readers[slot] = set()
    return after, makers


class _Chain:
    """The instructions of a group as steps over numbered values.

    Attributes
    ----------
    outputs, inputs
        The operands in memory.
    described
        The description of the chain that a kernel set fuses.
    """

    def __init__(self, instructions: list[Instruction]) -> None:
        self._shape = one(instructions[0].outputs[0]).shape
        self._values: list[View] = []
        self._steps: list[ChainStep] = []
        self._made: dict[int, int] = {}
        self._read: dict[View, int] = {}
        self.outputs: list[View] = []
        self.inputs: list[View] = []
        self.described: Chain

    @classmethod
    def of(
        cls, instructions: list[Instruction], is_seen: Callable[[int], bool]
    ) -> _Chain | None:
        """Return the chain of these instructions; None if their memory overlaps.

        `is_seen` says whether anything outside of the chain reads what is written to a
        slot.
        """
        chain = cls(instructions)
        if not all(map(chain._add, instructions)):
            return None
        outputs = [v for slot, v in chain._made.items() if is_seen(slot)]
        if not outputs:
            return None
        chain._describe(outputs)
        return chain

    def _add(self, instruction: Instruction) -> bool:
        """Append a step; return False if it reads a value in another layout."""
        operands: list[int | None] = []
        for x in instruction.inputs:
            number = None if x is None else self._operand(one(x))
            if number == -1:
                return False
            operands.append(number)
        # A chain has one value for each slot. A slot that an earlier step reads or
        # writes in another layout would hold two values in one memory.
        out = one(instruction.outputs[0])
        views = [v for v in self._read if v.slot == out.slot]
        if out.slot in self._made:
            views.append(self._values[self._made[out.slot]])
        if any(view != out for view in views):
            return False
        self._values.append(out)
        self._made[out.slot] = len(self._values) - 1
        operands.insert(0, len(self._values) - 1)
        step = ChainStep(instruction.name, tuple(operands), instruction.attributes)
        self._steps.append(step)
        return True

    def _operand(self, view: View) -> int:
        """Return the number of the value that a step reads; -1 if it has none."""
        made = self._made.get(view.slot)
        if made is not None:
            return made if self._values[made] == view else -1
        view = _expanded(view, self._shape)
        if view not in self._read:
            self._values.append(view)
            self._read[view] = len(self._values) - 1
        return self._read[view]

    def _describe(self, outputs: list[int]) -> None:
        """Renumber the values: first the outputs, then the inputs, then all others."""
        # Kernel sets expect this order: v = [add, mul, exp](a, b) is
        # add(t=3, a=1, b=2), mul(u=4, 3, 3), exp(v=0, 4).
        order = [*outputs, *self._read.values()]
        order += sorted(set(range(len(self._values))) - set(order))
        number: dict[int | None, int | None] = {v: i for i, v in enumerate(order)}
        number[None] = None
        self.outputs = [self._values[v] for v in outputs]
        self.inputs = list(self._read)
        self.described = Chain(
            self._shape,
            len(self.outputs),
            len(self.inputs),
            tuple(self._values[v].dtype for v in order),
            tuple(
                step._replace(operands=tuple(number[v] for v in step.operands))
                for step in self._steps
            ),
        )


def _expanded(view: View, shape: tuple[int, ...]) -> View:
    """Return a view whose elements are repeated to fill a shape."""
    strides = repeating_strides(view.shape, view.strides, shape)
    return view._replace(shape=shape, strides=strides)


def _spec(chain: _Chain, members: list[Instruction]) -> KernelSpec:
    """Return the spec of a chain; each chain has its own, outside of the table."""
    described = chain.described

    def reference(xp: Any, inputs: Any, *_: Any) -> list[Any]:
        first = described.outputs
        values = dict(enumerate(inputs, first))
        for step in described.steps:
            out, *operands = step.operands
            assert out is not None, "a kernel without an output"
            given = [None if v is None else values[v] for v in operands]
            made = TABLE[step.kernel].reference(xp, *given, *step.attributes)
            values[out] = made
        return [values[i] for i in range(first)]

    return KernelSpec(
        "elementwise_chain",
        "standalone",
        "outs* ; ins*",
        "Elementwise kernels in one pass over memory.",
        rule=lambda *_: tuple(Meta(v.shape, v.dtype) for v in chain.outputs),
        reference=reference,
        budget=Budget("that of its kernels", lambda *_: [0.0] * described.outputs),
        samples=lambda _: (),
        work=lambda *_: _work(chain, members),
    )


def _work(chain: _Chain, members: list[Instruction]) -> Work:
    flops = 0.0
    for instruction in members:
        spec = instruction.spec
        assert spec is not None, "the host is in no chain"
        metas = map(meta, instruction.inputs)
        flops += spec.work(*metas, *instruction.attributes).flops
    views = (*chain.outputs, *chain.inputs)
    return Work(flops, float(sum(_distinct(view) for view in views)))


def _distinct(view: View) -> int:
    """Return the bytes of a view's elements, where repeated ones count once."""
    size = view.dtype.itemsize
    for n, stride in zip(view.shape, view.strides, strict=True):
        size *= n if stride else 1
    return size

# SPDX-License-Identifier: MIT
"""A program: a flat list of instructions over slots of memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autocalc._dispatch._callers import UserLine
from autocalc._kernels.kernel_set import MAX_DIMS
from autocalc._kernels.spec import Array, KernelSpec, Meta
from autocalc._program._views import Operand, View


class UserCall(ABC):
    """A call of a user's function between kernels; it is given a list of arrays.

    Attributes
    ----------
    leaves
        The leaves of the graph that lose their gradients if it raises.
    """

    __slots__ = ("leaves",)
    leaves: Sequence[Any]

    @property
    @abstractmethod
    def name(self) -> str:
        """The function's name."""

    @abstractmethod
    def key(self) -> Any:
        """Return a value that is equal for functions that do the same."""

    @abstractmethod
    def __call__(self, arrays: Sequence[Any]) -> None:
        """Call the function."""


@dataclass(frozen=True)
class Source:
    """A draw from a generator: it returns two new arrays, seed and offset.

    Such a call of the host fills no memory: its outputs are the arrays themselves.
    """

    function: Callable[[int], tuple[Any, Any]]
    words: int

    def __call__(self) -> tuple[Any, Any]:
        """Draw."""
        return self.function(self.words)


@dataclass(frozen=True)
class Settings:
    """The attributes of a kernel that are settings, as they are when `read` is called.

    `keys` are those that may change, as (dict's id, key).
    """

    read: Callable[[], tuple[Any, ...]]
    keys: frozenset[tuple[int, Any]]


@dataclass(slots=True)
class Instruction:
    """One kernel call, or one piece of Python that the host runs.

    A call that moves with a number is the host's: its function is given bytes.

    Attributes
    ----------
    spec
        The kernel's spec; None where the host runs `function`: a `UserCall`, which
        takes the inputs, a moving call, which takes the bytes of the slots that it
        uses, or a function without arguments.
    chosen
        The set whose implementation runs.
    function, native
        The implementation, and its C form if it has one that takes the operands.
    outputs, inputs
        Operands in the order of the signature; in-out ones are among the outputs.
    attributes
        Plain values in the order of the signature, the accumulation mask last.
    line
        The user's line that led to the call.
    fused
        Names of the kernels that this instruction stands for, if it is more than one;
        the kernel of a call that moves.
    recomputed
        Whether it computes again, to save memory, what an earlier one has computed.
    settings
        What its attributes are read from, if they are settings.
    """

    spec: KernelSpec | None
    chosen: str
    function: Callable[..., Any]
    native: Any
    outputs: tuple[Operand, ...]
    inputs: tuple[Operand, ...]
    attributes: tuple[Any, ...]
    line: UserLine | None = None
    fused: tuple[str, ...] = ()
    recomputed: bool = False
    settings: Settings | None = None

    def __post_init__(self) -> None:
        """Leave out the C form where operands have more dimensions than that takes."""
        if any(len(view.shape) > MAX_DIMS for view in self.views()):
            self.native = None

    @property
    def name(self) -> str:
        """The kernel's name, or what the host does."""
        if self.spec is not None:
            return self.spec.name
        if self.callback is not None:
            return "callback"
        return f"host: {self.fused[0]}" if self.fused else "host"

    @property
    def callback(self) -> UserCall | None:
        """The call of a user's function; None for kernels and the host."""
        return self.function if isinstance(self.function, UserCall) else None

    @property
    def accumulated(self) -> int:
        """The mask of outputs that are added into."""
        spec = self.spec
        return self.attributes[-1] if spec is not None and spec.accumulates else 0

    def views(self) -> Iterator[View]:
        """Yield every view, outputs first."""
        yield from views_of(self.outputs)
        yield from views_of(self.inputs)

    def writes(self) -> list[View]:
        """Return the views that are written."""
        return list(views_of(self.outputs))

    def reads(self) -> list[View]:
        """Return the views that are read: inputs, and outputs that hold operands."""
        held: list[View] = []
        for i, output in enumerate(self.outputs):
            if self._is_read(i):
                held.extend(views_of((output,)))
        return [*views_of(self.inputs), *held]

    def _is_read(self, i: int) -> bool:
        if self.spec is None:
            return not isinstance(self.function, Source)
        in_place = self.spec.outputs[i].name in self.spec.writes
        return in_place or bool(self.accumulated >> i & 1)

    def moved(self, place: Callable[[View], View]) -> Instruction:
        """Return the instruction with each view put elsewhere."""
        return replace(
            self,
            outputs=tuple(_moved(x, place) for x in self.outputs),
            inputs=tuple(_moved(x, place) for x in self.inputs),
        )


def views_of(operands: tuple[Operand, ...]) -> Iterator[View]:
    """Yield the views of operands, of which some are absent or lists."""
    for x in operands:
        if isinstance(x, View):
            yield x
        elif x is not None:
            yield from x


def meta(operand: Operand) -> Any:
    """Return the meta of an operand, for a rule or an estimate of work."""
    if operand is None:
        return None
    if isinstance(operand, View):
        return Meta(operand.shape, operand.dtype)
    return tuple(Meta(view.shape, view.dtype) for view in operand)


def _moved(operand: Operand, place: Callable[[View], View]) -> Operand:
    if operand is None:
        return None
    if isinstance(operand, View):
        return place(operand)
    return tuple(map(place, operand))


@dataclass(slots=True)
class Program:
    """A recorded function: calls of kernels over slots.

    Attributes
    ----------
    instructions
        In the order in which they run.
    sizes
        Bytes of each slot.
    temporaries
        Slots that are made and freed within a run: the plan gives them room.
    results
        Slots that are made and stay: returned tensors, gradients, and what callbacks
        are given.
    gradients
        Those of `results` that only hold gradients which the run makes.
    shared
        Those of `gradients` that the plan gives room among the temporaries.
    others
        Slots that were there before: arguments, parameters, states, constants.
    constants
        Those of `others` that nothing ever writes, with the memory that they are.
    own
        Those of `others` that passes made, with the memory that they are.
    parameters
        Those of `others` that are parameters and buffers of modules.
    exported
        Those of `parameters` that other libraries may write unseen.
    prologue
        Calls that run only when what they read of `parameters` has changed.
    limit
        Most bytes of the arena that it may need; None for no limit.
    needed
        Bytes of the arena before recomputation; None where that was not asked for.
    """

    instructions: list[Instruction]
    sizes: dict[int, int]
    temporaries: set[int] = field(default_factory=set)
    results: set[int] = field(default_factory=set)
    gradients: set[int] = field(default_factory=set)
    shared: set[int] = field(default_factory=set)
    others: set[int] = field(default_factory=set)
    constants: dict[int, Array] = field(default_factory=dict)
    own: dict[int, Array] = field(default_factory=dict)
    parameters: set[int] = field(default_factory=set)
    exported: set[int] = field(default_factory=set)
    prologue: list[Instruction] = field(default_factory=list)
    limit: int | None = None
    needed: int | None = None

    def kept(self) -> set[int]:
        """Return the slots whose content is seen after a run."""
        return self.results | self.others

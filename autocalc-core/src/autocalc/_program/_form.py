# SPDX-License-Identifier: MIT
"""A program: a flat list of instructions over slots of memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from autocalc._dispatch._callers import UserLine
from autocalc._kernels.kernel_set import MAX_DIMS
from autocalc._kernels.spec import Array, KernelSpec, Meta
from autocalc._program._views import Operand, View


class UserCall(ABC):
    """A call of a user's function between kernels, with a list of arrays.

    Attributes
    ----------
    leaves
        The leaves of the graph that lose their gradients if the function raises.
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
    """A draw from a generator that returns two new arrays, seed and offset.

    This call of the host fills no memory: its outputs are the arrays themselves.
    """

    function: Callable[[int], tuple[Any, Any]]
    words: int

    def __call__(self) -> tuple[Any, Any]:
        """Draw."""
        return self.function(self.words)


@dataclass(frozen=True)
class Settings:
    """The attributes of a kernel that are settings; `read` returns current values.

    `keys` identifies the settings that may change, as (dict's id, key).
    """

    read: Callable[[], tuple[Any, ...]]
    keys: frozenset[tuple[int, Any]]


@dataclass(slots=True)
class Instruction:
    """One kernel call, or one piece of Python that the host runs.

    A call that moves with a number belongs to the host: its function receives bytes.

    Attributes
    ----------
    spec
        The kernel's spec, or None where the host runs `function`.  The function is then
        a `UserCall`, which takes the inputs; a moving call, which takes the bytes of
        the slots that it uses; or a function without arguments.
    chosen
        The kernel set whose implementation runs.
    function, native
        The implementation, and its C form if there is one that takes the operands.
    outputs, inputs
        The operands in the order of the signature; in-out operands are among the
        outputs.
    attributes
        The plain values in the order of the signature; the accumulation mask comes
        last.
    line
        The user's line that led to the call.
    fused
        The names of the kernels that this instruction replaces, if it replaces more
        than one; or the kernel of a call that moves.
    recomputed
        Whether it repeats an earlier computation, to save memory.
    settings
        The source of its attributes, if they are settings.
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
    _writes: tuple[View, ...] = field(init=False, repr=False, compare=False)
    _reads: tuple[View, ...] = field(init=False, repr=False, compare=False)
    _views: tuple[View, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """List the views once, because every pass asks for them.

        Drop the C form if an operand has more dimensions than it supports.
        """
        self._writes, inputs = views_of(self.outputs), views_of(self.inputs)
        self._reads = inputs + views_of(self._read_outputs())
        self._views = self._writes + inputs
        if [view for view in self._views if view.shape[MAX_DIMS:]]:
            self.native = None

    @property
    def name(self) -> str:
        """The kernel's name, or a name for the host's work."""
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
        """The mask of the outputs to which the kernel adds."""
        spec = self.spec
        return self.attributes[-1] if spec is not None and spec.accumulates else 0

    def views(self) -> tuple[View, ...]:
        """Return every view, outputs first."""
        return self._views

    def writes(self) -> tuple[View, ...]:
        """Return the views that are written."""
        return self._writes

    def reads(self) -> tuple[View, ...]:
        """Return the views that are read: inputs, and outputs with old content."""
        return self._reads

    def _read_outputs(self) -> tuple[Operand, ...]:
        """Return the outputs whose old content is read."""
        spec, outputs = self.spec, self.outputs
        if spec is None:
            return () if isinstance(self.function, Source) else outputs
        mask = self.accumulated
        if not (mask or spec.writes):
            return ()
        pairs = enumerate(zip(outputs, spec.outputs, strict=True))
        held = [x for i, (x, o) in pairs if mask >> i & 1 or o.name in spec.writes]
        return tuple(held)

    def moved(self, place: Callable[[View], View]) -> Instruction:
        """Return the instruction with each view replaced by another."""
        return replace(
            self,
            outputs=tuple(_moved(x, place) for x in self.outputs),
            inputs=tuple(_moved(x, place) for x in self.inputs),
        )


def views_of(operands: tuple[Operand, ...]) -> tuple[View, ...]:
    """Return the views of operands; operands may be absent or lists."""
    found = [(x,) if x.__class__ is View else x for x in operands if x is not None]
    return tuple(chain.from_iterable(found))  # type: ignore[arg-type]  # no View is left


def meta(operand: Operand) -> Any:
    """Return the shape and dtype of an operand, for a rule or an estimate of work."""
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
    """A recorded function as calls of kernels over slots.

    Attributes
    ----------
    instructions
        The instructions, in order.
    sizes
        The bytes of each slot.
    temporaries
        Slots that live only within a run; the plan places them in the arena.
    results
        Slots that are made and outlive the run: returned tensors, gradients, and
        operands of callbacks.
    gradients
        The slots among `results` that only hold gradients made by the run.
    shared
        The slots among `gradients` that the plan places among the temporaries.
    others
        Slots that existed before: arguments, parameters, states, constants.
    constants
        The slots among `others` that nothing ever writes, with their memory.
    own
        The slots among `others` that passes made, with their memory.
    parameters
        The slots among `others` that are parameters and buffers of modules.
    exported
        The slots among `parameters` that other libraries may write unnoticed.
    prologue
        Calls that run only when the `parameters` that they read have changed.
    limit
        The most bytes that the arena may have; None for no limit.
    needed
        The bytes of the arena before recomputation; None without recomputation.
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
        """Return the slots whose content is visible after a run."""
        return self.results | self.others

# SPDX-License-Identifier: MIT
"""Records a call of tensors as a short program, which then runs in its place."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from autocalc._dispatch._callers import warnings_given
from autocalc._dispatch.selection.state import current, enter, leave
from autocalc._graph._node import Node, Version
from autocalc._kernels.adapter import restore, silence
from autocalc._ops._operator.view_tracker import base_of, view_chain_of, view_of
from autocalc._program._executor import execute
from autocalc._program._form import Source
from autocalc._program._native_steps import native_steps
from autocalc._program._opaque import OpaqueArray, noting_reads, opaque, plain
from autocalc._program._short_executor import ShortExecutor
from autocalc._program._short_recorder import RequirementError, ShortRecorder
from autocalc._program._steps import Draw, NoProgramError, Step, Steps
from autocalc._tensor import Tensor, make
from autocalc._tensor.generator import Generator, default_generator, drawing_from
from autocalc.errors import KernelIndexError

_running = threading.local()


class Result(NamedTuple):
    """A tensor that a call returns.

    Attributes
    ----------
    counted
        Whether it has a version cell.
    input
        The number of the tensor that the result is a view of, or -1 for a new tensor.
    way
        The steps of the view tracker from that tensor to the result; empty if the
        result is that tensor.
    """

    counted: bool
    input: int
    way: tuple[Any, ...]


class ShortCall(NamedTuple):
    """A recorded call, without its function.

    Attributes
    ----------
    steps
        The steps that run, in order.
    results
        The registers of the results; empty for a function that writes its first
        argument.
    cls
        The class of a result of several tensors; None for one tensor.
    counted
        Whether the write creates a version cell.
    returns_none
        Whether a function that writes returns None.
    """

    steps: Steps
    results: tuple[Result, ...]
    cls: Any
    counted: bool
    returns_none: bool

    def native(self) -> tuple[Any, ...] | None:
        """Return the program for the native engine; None if it does not fit there."""
        try:
            steps, registers = native_steps(self.steps)
        except NoProgramError:
            return None
        pairs = zip(registers, self.results, strict=True)
        results = tuple([(register, *result) for register, result in pairs])
        return steps, results, self.cls, self.counted, self.returns_none


def record(
    definition: Any,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    inputs: tuple[Any, ...],
    written: Any = None,
) -> tuple[Any, ShortCall | None]:
    """Run the definition; return its result and a call that repeats it, or None.

    `inputs` are the arrays of the tensors among the arguments, each once.  `written` is
    the tensor that the definition may write.
    """
    tensors = _tensors((args, *keywords.values()))
    firsts = [next(x for x in tensors if x._array is a) for a in inputs]
    before = None
    if written is not None:
        cell = written._version
        before = written._array.copy(), None if cell is None else cell.count
    recorder = _recorder()
    token = enter(selection=recorder.selection)
    _running.recorder = recorder
    draw = default_generator.source()
    try:
        with drawing_from(lambda: _Drawing(recorder, draw)), _opaque(tensors) as found:
            reads, arrays = found
            guards = [arrays[id(x)] for x in firsts]
            recorder.start(guards, in_place=written is not None)
            warned = warnings_given()
            result = definition(*args, **keywords)
    finally:
        _running.recorder = None
        leave(token)
    several = result if isinstance(result, tuple) else (result,)
    call = _Recording(recorder, firsts, guards, inputs, before)
    try:
        if reads or warned != warnings_given():
            raise NoProgramError
        return result, call.written(result) if written is not None else call.new(result)
    except NoProgramError:
        return result, None
    finally:
        for x in several:
            if isinstance(x, Tensor):
                x._array = plain(x._array)


def record_write(definition: Any, args: Any, keywords: Any, inputs: Any) -> Any:
    """Do the same as `record` for a function that writes its first argument."""
    return record(definition, args, keywords, inputs, args[0])


def program_of(function: Any, *args: Any) -> Steps | None:
    """Return the steps that repeat ``function(*args)``, or None if none can."""
    tensors = {id(x): x for x in _tensors(args)}.values()
    inputs = tuple([x._array for x in tensors])
    call = record(inspect.unwrap(function), args, {}, inputs)[1]
    return None if call is None else call.steps


def holds(truth: Any) -> bool:
    """Return the truth value that a one-element array holds.

    A function that continues only if the value is true may call this before it draws or
    writes.  Its program then checks the value again, and runs the function if the value
    is false.
    """
    found = bool(plain(truth).item())
    recorder = getattr(_running, "recorder", None)
    if isinstance(truth, OpaqueArray):
        if found and recorder is not None:
            recorder.require(truth)
        else:
            bool(truth)  # no program can repeat this read
    return found


def leave_undefined(array: Any) -> None:
    """Note that a recorded call may return new memory without filling it."""
    recorder = getattr(_running, "recorder", None)
    if recorder is not None:
        recorder.leave_undefined(array)


class _Drawing(Generator):
    """A generator that draws as the default generator does, and tells the recorder."""

    def __init__(self, recorder: ShortRecorder, now: Any) -> None:
        super().__init__()
        self._recorder, self._now = recorder, now

    def draw(self, words: int) -> tuple[Any, Any]:
        """Take words from the generator that is the default outside the recording."""
        source = Source(default_generator.draw, words)
        return self._recorder.draw(self._now, source)


def _recorder() -> ShortRecorder:
    """Return the recorder of this thread for the current kernel selection."""
    now = current().selection
    tables, recorder = getattr(_running, "known", (None, None))
    if recorder is None or tables is not now.tables:
        recorder = ShortRecorder(now)
        _running.known = now.tables, recorder
    return recorder


def _tensors(arguments: Any) -> list[Any]:
    """Return the tensors among arguments, also those in lists and tuples."""
    found: list[Any] = []
    for x in arguments:
        if isinstance(x, Tensor):
            found.append(x)
        elif isinstance(x, (list, tuple)):
            found += _tensors(x)
    return found


@contextmanager
def _opaque(tensors: list[Any]) -> Iterator[tuple[list[bool], dict[int, Any]]]:
    """Make the arrays of tensors opaque in this block; yield the reads and arrays."""
    tensors = list({id(x): x for x in tensors}.values())
    arrays = [x._array for x in tensors]
    found = {id(x): opaque(x._array) for x in tensors}
    for x in tensors:
        x._array = found[id(x)]
    try:
        with noting_reads() as reads:
            yield reads, found
    finally:
        for x, a in zip(tensors, arrays, strict=True):
            if x._array is found[id(x)]:  # the call did not replace it
                x._array = a


class _Recording(NamedTuple):
    """A call that was recorded."""

    recorder: ShortRecorder
    tensors: list[Any]
    guards: list[Any]
    inputs: tuple[Any, ...]
    before: Any

    def written(self, result: Any) -> ShortCall:
        """Return the short call for a function that wrote its first argument."""
        x = self.tensors[0]
        if result is not None and result is not x:
            raise NoProgramError
        old, count = self.before
        new = x._version
        recorded = self.recorder.finish([])
        if 0 not in self.recorder.written or (
            new is not None and new.count != (count or 0) + 1
        ):
            raise NoProgramError
        steps = recorded.steps()
        self._run(steps, (old, *self.inputs[1:]))
        _compare(x._array, old)
        return ShortCall(
            steps, (), None, count is None and new is not None, result is None
        )

    def new(self, result: Any) -> ShortCall:
        """Return the short call for a function that returns new tensors or views."""
        several = result if isinstance(result, tuple) else (result,)
        results = tuple(map(self._result, several))
        recorded = self.recorder.finish(list(map(self._array, several)))
        fresh = [
            v
            for (v, _), r in zip(recorded.results, results, strict=True)
            if r.input < 0
        ]
        slots = self.recorder.memory.slots
        if len(set(fresh)) < len(fresh) or any(
            (view.slot < len(self.inputs)) != (result.input >= 0)
            for (view, _), result in zip(recorded.results, results, strict=True)
        ):
            raise NoProgramError
        steps = recorded.steps()
        found = self._run(steps, self.inputs)
        for x, a, (view, _) in zip(several, found, recorded.results, strict=True):
            _compare(x._array, a, undefined=slots[view.slot].undefined)
        cls = type(result) if isinstance(result, tuple) else None
        return ShortCall(steps, results, cls, False, False)

    def _array(self, x: Any) -> Any:
        """Return the opaque array of a result."""
        for given, guard in zip(self.tensors, self.guards, strict=True):
            if x is given:
                return guard
        return x._array

    def _result(self, x: Any) -> Result:
        if x.__class__ is not Tensor:
            raise NoProgramError
        if not isinstance(x._array, np.ndarray):  # on a device
            raise NoProgramError
        for i, given in enumerate(self.tensors):
            if base_of(given) is base_of(x):
                steps, chain, end = [], view_chain_of(x), view_chain_of(given)
                while chain is not None and chain is not end:
                    chain, *step = chain
                    steps.append(tuple(step))
                if chain is end and _follows(x, given, steps):
                    return Result(False, i, tuple(reversed(steps)))
        cell = x._version
        if x._view is not None or x._edge is not None or (cell and cell.count):
            raise NoProgramError
        return Result(cell is not None, -1, ())

    def _run(self, steps: Steps, inputs: Sequence[Any]) -> list[Any]:
        """Run the steps; the draws return the same values as in the recording."""
        drawn = iter(self.recorder.drawn)

        def again(step: Step) -> Step:
            if not isinstance(step, Draw):
                return step
            return Draw(Source(lambda _: next(drawn), step.source.words))

        steps = steps._replace(steps=tuple(map(again, steps.steps)))
        return ShortExecutor(steps, current().selection.empty).run(inputs)


def _follows(x: Any, given: Any, steps: Sequence[Any]) -> bool:
    """Return whether these steps, from last to first, made and recorded a view."""
    edge = x._edge
    if not steps:
        return x is given
    if not current().grad or given._edge is None:
        return edge is None
    for op, attributes, shape in steps:
        if not isinstance(edge, Node) or edge.op is not op:
            return False
        if (edge.attributes, edge.shapes) != (attributes, (shape,)):
            return False
        (edge,) = edge.edges
    return edge is given._edge


def _compare(a: Any, b: Any, *, undefined: bool = False) -> None:
    """Raise unless arrays are equal; of undefined memory compare only the layout."""
    if (a.shape, a.strides, a.dtype) != (b.shape, b.strides, b.dtype):
        raise NoProgramError
    if not undefined and plain(a).tobytes() != plain(b).tobytes():
        raise NoProgramError


class ShortProgram:
    """The short call that Python runs in place of a function."""

    __slots__ = ("_call", "_executor", "_is_new", "_results")

    def __init__(self, call: ShortCall, inputs: tuple[Any, ...]) -> None:
        self._call = call
        #: Whether it returns one new tensor, as most functions do.
        self._is_new = call.cls is None and call.results == (Result(False, -1, ()),)
        pairs = zip(call.steps.results, call.results, strict=True)
        self._results = [(register, *result) for register, result in pairs]
        self._executor = ShortExecutor(call.steps, current().selection.empty)
        self._executor.shorten(call.steps, inputs)

    # All of this but the loop is one frame: a call on 16 elements takes no longer than
    # a few frames.
    def run(
        self,
        tensors: list[Any],
        definition: Any,
        args: tuple[Any, ...],
        keywords: dict[str, Any],
    ) -> Any:
        """Run the program; if a kernel fails, the definition raises the error."""
        bound = self._executor
        registers = [x._array for x in tensors]
        registers += bound.constants
        before = silence()
        try:
            execute(bound.steps, registers, bound.empty)
        except Exception as error:
            if bound.writes and error.__class__ is not RequirementError:
                raise _explained(error, definition, args, keywords) from None
            registers = []
        finally:
            restore(before)
        if not registers and bound.steps:
            return definition(*args, **keywords)
        if self._is_new:
            return make(registers[bound.results[0]], None)
        if not self._results:
            return _written(args[0], self._call.counted, self._call.returns_none)
        several = [
            _wrapped(registers[i], counted, of, way, tensors)
            for i, counted, of, way in self._results
        ]
        cls = self._call.cls
        if cls is None:
            return several[0]
        return tuple(several) if cls is tuple else cls(*several)


def _explained(
    error: Exception, definition: Any, args: tuple[Any, ...], keywords: dict[str, Any]
) -> Exception:
    """Return the definition's error for an index, because that error states the range.

    The definition runs on a copy of its first argument, because the program may have
    begun to write into it.
    """
    if isinstance(error, KernelIndexError) and args and args[0].__class__ is Tensor:
        try:
            definition(make(args[0]._array.copy(), None), *args[1:], **keywords)
        except KernelIndexError as found:
            return found
    return error


def _written(x: Any, counted: bool, returns_none: bool) -> Any:
    """Count the write; return what the function returns."""
    if counted:
        x._version = x._version or Version()
    x._bump()
    return None if returns_none else x


def _wrapped(array: Any, counted: bool, of: int, way: Any, tensors: list[Any]) -> Any:
    """Return the tensor of a result: a new one, a view of an input, or the input."""
    if of < 0:
        made: Any = make(array, None)
        if counted:
            made._version = Version()
        return made
    x = tensors[of]
    if not way:
        return x
    view: Any = view_of(x, array, *way[-1][:2])
    held = x._view
    base, chain = held if held.__class__ is tuple else (x, None)
    for step in way:
        chain = (chain, *step)
    view._view = base, chain
    return view

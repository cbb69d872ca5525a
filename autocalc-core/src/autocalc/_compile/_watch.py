# SPDX-License-Identifier: MIT
"""Watches a recorded function and guards the Python values that it reads.

A replay reads no Python values, so the guards must show whether one has changed.  While
a function is recorded, this module sees each Python function that runs.  `_reads.py`
determines what its code can read, and `_users_code.py` guards that before the code
runs.  Values that other functions return to the code are guarded as well.  For
AutoCalc's modules and optimizers all attributes are guarded.  If code asks a tensor for
its size or its place in the graph, the tensor is guarded as it was.

A value that has changed leads to a new recording.  A value that the function itself
changes is an effect, which a replay would not repeat.  So are draws from random
generators other than AutoCalc's, and elements taken from iterators.
"""

from __future__ import annotations

import gc
import io
import random
import sys
from inspect import CO_OPTIMIZED
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from autocalc._compile._classes import method_of
from autocalc._compile._followed import Followed
from autocalc._compile._found import Found, is_opaque
from autocalc._compile._guards import PLAIN, AnyGuard, Drawn, Guard
from autocalc._compile._insides import surroundings
from autocalc._compile._objects import held_by, may_be_read, numpy_state
from autocalc._compile._outside import logs, read_by_library, read_from_outside
from autocalc._compile._own_objects import OwnObjects
from autocalc._compile._picked import Picked
from autocalc._compile._places import Result
from autocalc._compile._reads import EVERYTHING, reads_of
from autocalc._compile._recorder import StepRecorder
from autocalc._compile._tracked import given
from autocalc._compile._users_code import UsersCode
from autocalc._compile._whose import answer_of, asks_for_size, is_message, kind_of
from autocalc._dispatch._callers import UserLine
from autocalc._graph._grad_mode import is_grad_enabled
from autocalc._graph._node import Leaf, leaves
from autocalc._tensor import Tensor

#: Methods of Python's random generators, all in C.
_DRAWS = frozenset({"random", "getrandbits", "randbytes", "seed", "setstate"})

#: Methods of files, all in C.
_WRITES = frozenset({"write", "writelines"})

#: Methods that return the text of a tensor.
_TEXTS = frozenset({"__repr__", "__format__"})


#: The methods that handle calls of code, by the kind of the code.
_SEEN_BY = {"users": "_users_frame", "asked": "_asked", "answered": "_answered",
            "own": "_own_frame", "library": "_library_frame"}  # fmt: skip

#: Kinds of code that may be the user's, or run for it: None is not determined yet.
_MAY_BE_USERS = frozenset({None, "users"})
_MAY_BE_FOR_USERS = _MAY_BE_USERS | {"library"}

#: The names of functions in C whose calls count wherever they are.
_ALWAYS_SEEN = _DRAWS | _WRITES | {print.__name__}


class FunctionWatch:
    """A ``with`` block in which the calls of Python functions are seen.

    Attributes
    ----------
    prints
        The lines that print.
    own
        The modules, optimizers and other objects of AutoCalc that ran.
    sizes
        The shapes that the user's code read from tensors.
    asked
        The tensors of which the user's code read anything.  For each tensor: its edge
        before the first read, and whether the code read the gradient that it had
        before.
    records
        Whether gradients are recorded when the function has returned.

    Parameters
    ----------
    recording
        The recorder of the same block.
    function
        The function that is recorded.
    following
        The followed numbers; a number is pinned where its use cannot be seen.
    """

    def __init__(
        self, recording: StepRecorder, function: Any, following: Followed
    ) -> None:
        self.prints: list[UserLine] = []
        self.sizes: list[Any] = []
        self.asked: dict[int, tuple[Tensor, bool, Any]] = {}
        self._found = Found()
        self.own = OwnObjects(self._found)
        self._found.functions.know(function)
        self._users = UsersCode(self._found)
        self._recording, self._function = recording, function
        self._spans = following.spans
        self._picked = Picked(following.spans, following.names())
        self._prints_now = False
        self._message: FrameType | None = None  # the frame that logs AutoCalc's message
        # Callbacks of the garbage collector are no part of the function.
        codes = [getattr(callback, "__code__", None) for callback in gc.callbacks]
        self._kinds: dict[int, str] = {id(code): "" for code in codes if code}
        self._codes = codes  # keeps code objects alive whose ids are in `_kinds`

    @property
    def guards(self) -> list[AnyGuard]:
        """The guards of all values that were read."""
        return self._found.guards

    @property
    def numbers(self) -> list[Guard]:
        """The guards of numbers that may be inputs."""
        return [g for g in self.guards if isinstance(g, Guard) and g.is_number]

    def __enter__(self) -> FunctionWatch:
        self._drawn, self.records = numpy_state(), is_grad_enabled()
        self._gradients = {leaf: _id_of(leaf.grad) for leaf in leaves()}
        for leaf in self._gradients:
            for hook in (
                *(leaf.hooks or {}).values(),
                *(leaf.accumulated or {}).values(),
            ):
                self._found.functions.know(hook)
        self._before: Any = sys.getprofile()
        sys.setprofile(self._event_with_numbers if self._spans else self._event)
        return self

    def __exit__(self, *error: object) -> None:
        if hasattr(self._before, "enable"):  # cProfile's profiler is no function
            sys.setprofile(None)
            self._before.enable()
        else:
            sys.setprofile(self._before)
        self._gradients.clear()
        before, self.records = self.records, is_grad_enabled()
        if self.records is not before:
            self.guards.append(Drawn("whether gradients are recorded", None))
        self.own.states()  # the state after the step
        self._found.forget_the_dead()
        if self._spans:
            self._put_plain_numbers()
        if self._users.may_draw and numpy_state() != self._drawn:
            what = "the random numbers that NumPy draws; draw with AutoCalc's"
            self.guards.append(Drawn(what, None))

    def _put_plain_numbers(self) -> None:
        """Replace the followed numbers that the function has stored by plain ones."""
        for guard in self.guards:
            if isinstance(guard, Guard) and guard.place.is_writable:
                now = guard.get()
                if (number := given(now)) is not now:
                    guard.place.put(number)

    # ---- events --------------------------------------------------------------------

    def _event(self, frame: FrameType, event: str, arg: Any) -> None:
        # Code inside a kernel or the host's own work is ignored: it counts as one call.
        if self._recording.inside:
            return
        if self._message is not None:  # a logger handles a message of AutoCalc
            if frame is self._message and event == "return":
                self._message = None
            return
        # Almost all events are of AutoCalc's own code and need one look-up. The kind of
        # code is determined only once: the user's, AutoCalc's of a kind that matters
        # here, or "".
        code = frame.f_code
        kind = self._kinds.get(id(code))
        if event == "call":
            see = _SEEN_BY.get(self._learn(frame) if kind is None else kind)
            if see is not None:
                getattr(self, see)(frame, code)
        elif event == "return":
            back = frame.f_back
            if back is not None and (
                kind == "users" or self._kinds.get(id(back.f_code)) in _MAY_BE_USERS
            ):
                self._ended(frame, arg)
        elif event == "c_call":
            if kind in _MAY_BE_FOR_USERS or arg.__name__ in _ALWAYS_SEEN:
                self._called(frame, arg)
        elif arg is print:  # `print` has returned or raised
            self._prints_now = False

    def _ended(self, frame: FrameType, value: Any) -> None:
        """Handle the end of a function that is the user's or that the user called."""
        self._class_body(frame)
        self._stored(frame)
        if value is not None:
            self._returned(frame, value)

    def _event_with_numbers(self, frame: FrameType, event: str, arg: Any) -> None:
        """Handle an event, and see which code receives followed numbers."""
        if self._recording.inside:
            return
        self._event(frame, event, arg)
        if self._message is not None:
            return
        if event == "call":
            self._picked.calls(frame.f_back)
            if self._kinds.get(id(frame.f_code)) == "library":
                self._picked.library(frame)
        elif event == "return":
            if self._kinds.get(id(frame.f_code)) in {"users", "own"}:
                self._picked.returns(frame)
            self._picked.gives(frame.f_back, arg)
        elif event == "c_call" and self._is_users(frame):
            self._picked.calls_c(frame, arg)
            if arg.__module__ == "math":
                for span in self._spans.values():
                    span.pin()

    def _users_frame(self, frame: FrameType, code: CodeType) -> None:
        self._users.runs(frame, code)

    def _is_users(self, frame: FrameType | None) -> bool:
        if frame is None:
            return False
        kind = self._kinds.get(id(frame.f_code))
        return (self._learn(frame) if kind is None else kind) == "users"

    def _line(self) -> UserLine | None:
        """Return the line of the user's code that runs, outside of Python's library."""
        frame: FrameType | None = sys._getframe()
        while frame is not None and not self._is_users(frame):
            frame = frame.f_back
        if frame is None:
            return None
        code = frame.f_code
        return UserLine(code.co_filename, frame.f_lineno, code.co_name)

    def _learn(self, frame: FrameType) -> str:
        """Determine the kind of the code that runs in a frame."""
        code = frame.f_code
        self._codes.append(code)
        kind = self._kinds[id(code)] = kind_of(code, frame.f_globals)
        return kind

    def _called(self, frame: FrameType, function: Any) -> None:
        """Handle a call of a function in C."""
        of = getattr(function, "__self__", None)
        written = isinstance(of, io.IOBase) and function.__name__ in _WRITES
        if function is print or (written and of is not sys.stderr):
            self._prints_now = function is print
            line = None if self._caller(frame) is None else self._line()
            if line is not None and line not in self.prints:
                self.prints.append(line)
            return
        if function.__name__ in _DRAWS and isinstance(of, random.Random):
            what = "the random numbers that Python draws; draw with AutoCalc's"
            self.guards.append(Drawn(what, self._line()))
        elif (caller := self._caller(frame)) is not None:
            outside = read_from_outside(function, frame, caller)
            surroundings(self._found, function, caller.f_code)
            if outside:  # gc is off during a recording: its calls fail at once
                given = outside, self._line(), None, None
                at_once = function.__module__ == "gc"
                self.guards.append(Drawn(*given, reads=True, at_once=at_once))

    def _caller(self, frame: FrameType | None) -> FrameType | None:
        """Return the user's frame on whose behalf a frame of Python's library runs."""
        while frame is not None and self._kinds.get(id(frame.f_code)) == "library":
            frame = frame.f_back
        return frame if self._is_users(frame) else None

    def _asked(self, frame: FrameType, code: CodeType) -> None:
        """Note what the user's code reads from a tensor."""
        tensor = frame.f_locals.get("self")
        if not (isinstance(tensor, Tensor) and self._is_users(frame.f_back)):
            return
        if asks_for_size(code):
            self.sizes.append(tuple(tensor._array.shape))
        known = tensor, False, tensor._edge
        _, grad, edge = self.asked.get(id(tensor), known)
        if code.co_name == "grad" and isinstance(leaf := tensor._edge, Leaf):
            grad |= _id_of(leaf.grad) == self._gradients.get(leaf)
        self.asked[id(tensor)] = tensor, grad, edge

    def _answered(self, frame: FrameType, code: CodeType) -> None:
        """Handle a read of a tensor's text by the user's code; prints and logs may."""
        back = frame.f_back
        while back is not None and back.f_code.co_name in _TEXTS:
            back = back.f_back
        if back is None or self._prints_now or logs(back):
            return
        if self._caller(back) is not None:
            self.guards.append(Drawn(answer_of(code), self._line(), reads=True))

    def _own_frame(self, frame: FrameType, code: CodeType) -> None:
        """Handle a method call of one of AutoCalc's modules or optimizers."""
        thing: Any = frame.f_locals.get("self")
        back: Any = frame.f_back
        is_called = self._is_users(back)
        with self._found.perhaps_made():
            if is_called:
                method_of(self._found, type(thing), code.co_name)
            if hasattr(thing, "_names") and hasattr(thing, "training"):
                if self._found.first(thing, "run"):
                    for module in thing.modules():  # some run as parts of others
                        self.own.module(module)
            elif hasattr(thing, "param_groups"):
                self.own.optimizer(thing)
            elif is_called and code.co_name != "step":
                # The step of a scheduler is the host's work, in replays too.
                self.own.other(thing, reads_of(code), back.f_code)

    def _returned(self, frame: FrameType, value: Any) -> None:
        """Handle the value that a function returns to the user's code."""
        back = frame.f_back
        if back is None or not self._is_users(back):
            return
        code = frame.f_code
        if self._kinds.get(id(code)) == "setting" and isinstance(value, PLAIN):
            name = code.co_name
            function, thing = frame.f_globals.get(name), frame.f_locals.get("self")
            if thing is not None:
                place = Result(self._found.held(thing), name)
                self._found.place(f"{name}()", place, value, back.f_code)
            elif getattr(function, "__code__", None) is code:
                place = Result(self._found.held(function))
                self._found.place(f"{name}()", place, value, back.f_code)
        elif isinstance(value, ModuleType):  # as `importlib.import_module` returns it
            self._users.module(
                value.__name__, value, reads_of(back.f_code), back.f_code
            )
        elif isinstance(value, Tensor) or not is_opaque(value):
            reads = reads_of(back.f_code)
            what = f"{code.co_name}()"
            with self._found.perhaps_made():
                self._found.inside(what, value, reads, back.f_code, temporary=True)

    def _stored(self, frame: FrameType) -> None:
        """Handle the values that a user's function has put into its arguments.

        The callers of this function may read attributes of these values that only their
        own code names.
        """
        code, back = frame.f_code, frame.f_back
        if self._kinds.get(id(code)) != "users" or not reads_of(code).stores:
            return
        count = code.co_argcount + code.co_kwonlyargcount
        given = [frame.f_locals.get(name) for name in code.co_varnames[:count]]
        parts = [part for value in given for part in held_by(value)]
        with self._found.perhaps_made():
            while parts and back is not None and self._is_users(back):
                reads = reads_of(back.f_code)
                for part in parts:
                    what = f"what {code.co_name}() puts into an object"
                    self._found.inside(what, part, reads, back.f_code, temporary=True)
                back = back.f_back

    def _class_body(self, frame: FrameType) -> None:
        """Handle the values in the body of a class that the user's code makes."""
        back = frame.f_back
        if frame.f_code.co_flags & CO_OPTIMIZED or back is None:  # it is a function
            return
        if self._is_users(back):
            reads = reads_of(back.f_code)
            with self._found.perhaps_made():
                for name, value in list(frame.f_locals.items()):
                    given = name, value, reads, back.f_code
                    self._found.inside(*given, temporary=True)

    def _library_frame(self, frame: FrameType, code: CodeType) -> None:
        """Guard what Python's library reads from arguments of the user's code."""
        if is_message(frame):
            self._message = frame
        back = self._caller(frame.f_back)
        if back is None:
            return
        reads = reads_of(code)
        outside = read_by_library(frame)
        if outside and back is frame.f_back:
            self.guards.append(Drawn(outside, self._line(), reads=True))
        self._users.generated(frame, code, back.f_code)
        if reads.dynamic or "__reduce_ex__" in reads.constants:
            reads = EVERYTHING
        closes = "__closure__" in reads_of(code).names
        with self._found.perhaps_made():
            for name, value in frame.f_locals.items():
                if may_be_read(value):
                    self._found.inside(name, value, reads, back.f_code, temporary=True)
                if closes and isinstance(value, FunctionType):
                    self._found.inside(name, value.__closure__, reads, back.f_code)


def _id_of(gradient: Any) -> int | None:
    return None if gradient is None else id(gradient)

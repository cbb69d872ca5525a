# SPDX-License-Identifier: MIT
"""Steps that read what Python, C or the process keeps, and what changes there.

A program is made twice, for eager and for compiled code: a step of one tensor, and what
changes between its calls.
"""

from __future__ import annotations

import abc
import collections
import contextvars
import ctypes
import dataclasses
import datetime as dt
import functools
import io
import logging
import os
import queue
import sqlite3
import sys
import tempfile
import threading
import time
import types
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

import autocalc as ac
from autocalc import nn, optim

Made = tuple[Callable[..., Any], Callable[[], object]]

PROGRAMS: dict[str, Callable[[], Made]] = {}

#: Those that no guard can see: they are refused.
OUTSIDE: dict[str, Callable[[], Made]] = {}


def program(make: Callable[[], Made]) -> Callable[[], Made]:
    PROGRAMS[make.__name__] = make
    return make


def outside(make: Callable[[], Made]) -> Callable[[], Made]:
    OUTSIDE[make.__name__] = make
    return make


def nothing() -> None:
    pass


# ---- methods that operations look for ------------------------------------------------

#: A method that a class gets later, what it does, and how a step asks for it.
SPECIAL: dict[str, tuple[Any, Callable[[Any], float]]] = {
    "__bool__": (lambda self: False, lambda c: 2.0 if c else 5.0),
    "__len__": (lambda self: 0, lambda c: 2.0 if c else 5.0),
    "__eq__": (lambda self, other: True, lambda c: 2.0 if c != "" else 5.0),
    "__str__": (lambda self: "text", lambda c: len(str(c))),
    "__repr__": (lambda self: "text", lambda c: len(f"{c!r}")),
    "__format__": (lambda self, how: "text", lambda c: len(f"{c}")),
    "__call__": (lambda self: 1, lambda c: 2.0 if callable(c) else 5.0),
    "__getattr__": (lambda self, name: 5.0, lambda c: getattr(c, "rate", 2.0)),
    "__contains__": (lambda self, x: False, lambda c: 2.0 if 1 in c else 5.0),
}


def with_method(name: str, *, on_base: bool) -> Made:
    class Base:
        def __iter__(self) -> Any:
            return iter([1])

        def __repr__(self) -> str:
            return "made"

    class Own(Base):
        pass

    own = Own()
    method, ask = SPECIAL[name]
    kind = Base if on_base else Own
    return lambda a: a * ask(own), lambda: setattr(kind, name, method)


for _name in SPECIAL:
    for _on in (False, True):
        PROGRAMS[f"{_name} {_on}"] = functools.partial(with_method, _name, on_base=_on)


def abstract(ask: Callable[[Any, Any], bool]) -> Made:
    class Shape(abc.ABC):  # noqa: B024  classes are registered for it
        pass

    class Square:
        pass

    return (lambda a: a * (5.0 if ask(Square, Shape) else 2.0)), lambda: Shape.register(
        Square
    )


def matched(one: Any, kind: Any) -> bool:
    match one():
        case kind():
            return True
    return False


ASKED: dict[str, Callable[[Any, Any], bool]] = {
    "isinstance": lambda one, kind: isinstance(one(), kind),
    "one of several": lambda one, kind: isinstance(one(), (int, kind)),
    "issubclass": issubclass,
    "match": matched,
}

for _name, _ask in ASKED.items():
    PROGRAMS[f"registered: {_name}"] = functools.partial(abstract, _ask)


@program
def dispatched_by_an_abstract_class() -> Made:
    class Shape(abc.ABC):  # noqa: B024  classes are registered for it
        pass

    class Square:
        pass

    @functools.singledispatch
    def rate(of: Any) -> float:
        return 2.0

    rate.register(Shape, lambda of: 5.0)
    square = Square()
    return lambda a: a * rate(square), lambda: Shape.register(Square)


@program
def dispatched_method() -> Made:
    class Rates:
        @functools.singledispatchmethod
        def rate(self, of: Any) -> float:
            return 2.0

    rates = Rates()
    method: Any = vars(Rates)["rate"]
    return lambda a: a * rates.rate(1), lambda: method.register(
        int, lambda self, of: 5.0
    )


# ---- what is generated for a class ---------------------------------------------------


def defaults_of(kind: Any, method: str) -> Made:
    changed = getattr(kind, method)
    return lambda a: a * kind().rate, lambda: setattr(changed, "__defaults__", (5.0,))


@program
def default_of_a_named_tuple() -> Made:
    class Settings(NamedTuple):
        rate: float = 2.0

    return defaults_of(Settings, "__new__")


@program
def default_of_a_data_class() -> Made:
    @dataclasses.dataclass
    class Settings:
        rate: float = 2.0

    return defaults_of(Settings, "__init__")


@program
def default_factory() -> Made:
    rates: Any = collections.defaultdict(lambda: 2.0)

    def step(a: Any) -> Any:
        return a * rates["x"] * rates.pop("x")

    return step, lambda: setattr(rates, "default_factory", lambda: 5.0)


# ---- numbers and texts with attributes -----------------------------------------------


def with_attribute(kind: Any, value: Any) -> Made:
    made = type("Own", (kind,), {})(value)
    made.rate = 2.0
    return lambda a: a * made.rate, lambda: setattr(made, "rate", 5.0)


def passed_on(kind: Any, value: Any) -> Made:
    own = type("Own", (kind,), {"get": lambda self: self.rate})
    made = own(value)
    made.rate = 2.0
    return lambda a: a * made.get(), lambda: setattr(made, "rate", 5.0)


for _kind, _value in ((int, 1), (float, 1.0), (str, "x"), (tuple, ()), (bytes, b"x")):
    for _make in (with_attribute, passed_on):
        _name = f"{_make.__name__} of {_kind.__name__}"
        PROGRAMS[_name] = functools.partial(_make, _kind, _value)


@program
def attribute_in_a_format() -> Made:
    settings = SimpleNamespace(part=SimpleNamespace(rate=2.0))

    def step(a: Any) -> Any:
        form = "{.part.rate}"
        return a * float(form.format(settings))

    return step, lambda: setattr(settings.part, "rate", 5.0)


@program
def arguments_of_an_error() -> Made:
    kept = ValueError(2.0)

    def step(a: Any) -> Any:
        try:
            raise kept
        except ValueError as error:
            return a * error.args[0]

    return step, lambda: setattr(kept, "args", (5.0,))


@program
def name_of_a_function() -> Made:
    def named() -> None:
        pass

    return lambda a: a * len(named.__name__), lambda: setattr(named, "__name__", "n")


# ---- NumPy, buffers, C ---------------------------------------------------------------


def record() -> Any:
    return np.array([(2.0,)], dtype=[("rate", "f8")])


@program
def element_of_a_record() -> Made:
    records = record()
    kept = [records[0]]
    return lambda a: a * float(kept[0]["rate"]), lambda: records.__setitem__("rate", 5)


@program
def attribute_of_records() -> Made:
    records: Any = record().view(np.recarray)
    return lambda a: a * float(records.rate[0]), lambda: records.rate.fill(5.0)


@program
def array_of_objects() -> Made:
    objects = np.empty(1, object)
    objects[0] = SimpleNamespace(rate=2.0)
    return lambda a: a * objects[0].rate, lambda: setattr(objects[0], "rate", 5.0)


@program
def shape_of_an_array() -> Made:
    array = np.ones((2, 3))
    return lambda a: a * array.shape[0], lambda: array.resize((3, 2), refcheck=False)


@program
def elements_by_an_attribute() -> Made:
    array = np.ones((1, 2))
    return lambda a: a * float(array.T[0, 0]), lambda: array.fill(5.0)


@program
def polynomial() -> Made:
    made: Any = np.poly1d([2.0])
    return lambda a: a * float(made(1.0)), lambda: made.__setitem__(0, 5.0)


@program
def number_in_c() -> Made:
    number = ctypes.c_double(2.0)
    return lambda a: a * number.value, lambda: setattr(number, "value", 5.0)


@program
def structure_in_c() -> Made:
    class Settings(ctypes.Structure):
        _fields_ = (("rate", ctypes.c_double),)

    made = Settings(2.0)
    return lambda a: a * made.rate, lambda: setattr(made, "rate", 5.0)


@program
def array_in_c() -> Made:
    made = (ctypes.c_double * 2)(2.0, 0.0)
    return lambda a: a * made[0], lambda: made.__setitem__(0, 5.0)


@program
def state_of_a_partial_function() -> Made:
    made = functools.partial(lambda rate, a: a * rate, 2.0)
    state = (made.func, (5.0,), {}, {})
    return made, lambda: made.__setstate__(state)  # type: ignore[attr-defined]


# ---- what Python's library reads -----------------------------------------------------


@program
def variable_of_another_context() -> Made:
    rate = contextvars.ContextVar("rate", default=2.0)
    other = contextvars.copy_context()
    return lambda a: a * other.run(rate.get), lambda: other.run(rate.set, 5.0)


@program
def variable_of_the_environment() -> Made:
    os.environ["RATE_OF_A_TEST"] = "2"
    return (
        lambda a: a * float(os.getenv("RATE_OF_A_TEST", "1")),
        lambda: os.environ.update(RATE_OF_A_TEST="5"),
    )


@program
def event() -> Made:
    made = threading.Event()
    return lambda a: a * (5.0 if made.is_set() else 2.0), made.set


@program
def lock() -> Made:
    made = threading.Lock()
    return lambda a: a * (5.0 if made.locked() else 2.0), made.acquire


@program
def level_of_a_logger() -> Made:
    parent = logging.getLogger("autocalc_test_parent")
    parent.setLevel(logging.ERROR)
    logger = logging.getLogger("autocalc_test_parent.child")
    return lambda a: a * logger.getEffectiveLevel(), lambda: parent.setLevel(10)


@program
def size_of_a_queue() -> Made:
    waiting: queue.Queue[int] = queue.Queue()
    return lambda a: a * (1.0 + waiting.qsize()), lambda: waiting.put(1)


@program
def name_of_a_thread() -> Made:
    thread = threading.Thread(name="one")
    return lambda a: a * len(thread.name), lambda: setattr(thread, "name", "three")


@program
def another_module_of_the_name() -> Made:
    def put(rate: float) -> None:
        module: Any = types.ModuleType("autocalc_test_conf")
        module.rate = rate
        sys.modules["autocalc_test_conf"] = module

    def step(a: Any) -> Any:
        import autocalc_test_conf  # type: ignore[import-not-found]

        return a * autocalc_test_conf.rate

    put(2.0)
    return step, lambda: put(5.0)


# ---- modules, optimizers -------------------------------------------------------------


class Doubled(nn.Module):
    def forward(self, a: Any) -> Any:
        return a * 2


class Tripled(nn.Module):
    def forward(self, a: Any) -> Any:
        return a * 3


def times_five(self: Any, a: Any) -> Any:
    return a * 5


@program
def class_of_a_module() -> Made:
    model: Any = Doubled()
    return lambda a: model(a) * 1, lambda: setattr(model, "__class__", Tripled)


@program
def call_of_a_module() -> Made:
    kind: Any = type("Own", (Doubled,), {})
    model = kind()
    return lambda a: model(a) * 1, lambda: setattr(
        kind, "__call__", lambda self, a: a * 5
    )


@program
def buffer_that_is_added() -> Made:
    class Sum(nn.Module):
        def forward(self, a: Any) -> Any:
            return a + sum(b for _, b in self.named_buffers())

    model = Sum()
    model.register_buffer("one", ac.ones(3))
    return model, lambda: model.register_buffer("two", ac.ones(3))


@program
def method_of_a_layer() -> Made:
    kind: Any = type("Own", (nn.Tanh,), {"__module__": "autocalc.own"})
    layer = kind()
    return lambda a: layer(a) * 1, lambda: setattr(
        kind, "forward", lambda self, a: a * 5
    )


MAKERS: dict[str, Callable[[Any], Any]] = {
    "SGD": lambda parameters: optim.SGD(parameters, lr=0.1, momentum=0.9),
    "Adam": lambda parameters: optim.Adam(parameters, lr=0.1),
    "RMSprop": lambda parameters: optim.RMSprop(parameters, lr=0.1),
}


def forget(optimizer: Any) -> None:
    optimizer.state.clear()


def forget_one(optimizer: Any) -> None:
    for kept in optimizer.state.values():
        kept.clear()


def replace(optimizer: Any) -> None:
    for kept in optimizer.state.values():
        for name, tensor in kept.items():
            kept[name] = ac.ones_like(tensor)


def other_groups(optimizer: Any) -> None:
    optimizer.param_groups = [{**optimizer.param_groups[0], "lr": 0.01}]


CHANGES = (forget, forget_one, replace, other_groups)


def optimized(name: str, change: Callable[[Any], None]) -> Made:
    w = nn.Parameter(ac.ones(3))
    optimizer = MAKERS[name]([w])

    def step(a: Any) -> Any:
        optimizer.zero_grad()
        (w * w * a).sum().backward()
        optimizer.step()
        return w * 1.0

    return step, lambda: change(optimizer)


for _name in MAKERS:
    for _change in CHANGES:
        _title = f"{_name} {_change.__name__}"
        PROGRAMS[_title] = functools.partial(optimized, _name, _change)


# ---- outside of the program ----------------------------------------------------------


def called(function: Callable[[], Any]) -> Made:
    return lambda a: a * float(bool(function())), nothing


def text_file() -> Path:
    path = Path(tempfile.mkdtemp()) / "rate"
    path.write_text("2.0")
    return path


def read_lines() -> list[str]:
    with text_file_of_all.open() as file:
        return file.readlines()


text_file_of_all = text_file()

READ: dict[str, Callable[[], Any]] = {
    "time.perf_counter": time.perf_counter,
    "time.time": lambda: time.time() > 0,
    "datetime.now": lambda: (
        dt.datetime.now(dt.UTC).year
        if sys.version_info >= (3, 11)
        else dt.datetime.now().year
    ),
    "date.today": dt.date.today,
    "os.urandom": lambda: os.urandom(1),
    "os.getcwd": os.getcwd,
    "os.listdir": lambda: os.listdir("."),  # noqa: PTH208  the call is tested
    "os.path.exists": lambda: os.path.exists("."),  # noqa: PTH110  likewise
    "Path.exists": lambda: Path().exists(),
    "Path.read_text": text_file_of_all.read_text,
    "readlines": read_lines,
    "StringIO.getvalue": io.StringIO("x").getvalue,
    "sys.getrecursionlimit": sys.getrecursionlimit,
    "a queue in C": queue.SimpleQueue().qsize,
}

for _name, _function in READ.items():
    OUTSIDE[_name] = functools.partial(called, _function)


class Closed(sqlite3.Connection):
    """A data base that closes itself."""

    def __del__(self) -> None:
        self.close()


@outside
def database() -> Made:
    made = sqlite3.connect(":memory:", factory=Closed)
    made.execute("create table t (rate real)")
    made.execute("insert into t values (2.0)")
    return (
        lambda a: a * made.execute("select rate from t").fetchone()[0],
        lambda: made.execute("update t set rate = 5.0"),
    )


@outside
def gradients_switched_off() -> Made:
    def step(a: Any) -> Any:
        ac.set_grad_enabled(not ac.is_grad_enabled())
        return a * 2

    return step, nothing

# SPDX-License-Identifier: MIT
"""Steps that read what Python's library, NumPy or C keep, and what changes there.

A program is made twice, for eager and for compiled code: a step of one tensor, and what
changes between its calls.
"""

from __future__ import annotations

import asyncio
import ctypes
import dataclasses
import decimal
import functools
import gc
import hashlib
import inspect
import io
import linecache
import os
import random
import signal
import sys
import tempfile
import threading
import tracemalloc
import weakref
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

import autocalc as ac

Made = tuple[Callable[..., Any], Callable[[], object]]

#: Of what these read guards see the changes.
LIBRARIES: dict[str, Callable[[], Made]] = {}

#: Those that no guard can see: they are refused.
IN_C: dict[str, Callable[[], Made]] = {}


def library(make: Callable[[], Made]) -> Callable[[], Made]:
    LIBRARIES[make.__name__] = make
    return make


def in_c(make: Callable[[], Made]) -> Callable[[], Made]:
    IN_C[make.__name__] = make
    return make


class Thing:
    """An object to which weak references may lead."""


def nothing() -> None:
    pass


# ---- objects of the library ----------------------------------------------------------


@library
def notes_of_a_field() -> Made:
    notes = {"rate": 2.0}

    @dataclasses.dataclass
    class Own:
        x: float = dataclasses.field(default=1.0, metadata=notes)

    return (
        lambda a: a * dataclasses.fields(Own)[0].metadata["rate"],
        lambda: notes.update(rate=5.0),
    )


@library
def end_of_an_object() -> Made:
    kept = [Thing()]
    end = weakref.finalize(kept[0], nothing)
    return lambda a: a * (2.0 if end.alive else 5.0), kept.clear


@library
def context_of_decimals() -> Made:
    context = decimal.Context(prec=3)

    def step(a: Any) -> Any:
        return a * float(context.divide(decimal.Decimal(1), decimal.Decimal(3)))

    return step, lambda: setattr(context, "prec", 1)


@library
def block_of_decimals() -> Made:
    context = decimal.Context(prec=3)

    def step(a: Any) -> Any:
        with decimal.localcontext(context):
            return a * float(decimal.Decimal(1) / 3)

    return step, lambda: setattr(context, "prec", 1)


@library
def owner_of_a_lock() -> Made:
    lock: Any = threading.RLock()
    return lambda a: a * (5.0 if lock._is_owned() else 2.0), lock.acquire


@library
def state_of_bits() -> Made:
    made: Any = np.random.default_rng(1)

    def step(a: Any) -> Any:
        return a * (made.bit_generator.state["state"]["state"] % 97 + 1)

    return step, made.random


# ---- what only methods in C tell -----------------------------------------------------


@in_c
def element_of_xml() -> Made:
    root = ET.fromstring("<a rate='2'/>")
    return lambda a: a * float(root.get("rate", "1")), lambda: root.set("rate", "5")


@in_c
def text_of_xml() -> Made:
    root = ET.fromstring("<a><b>2</b></a>")
    return lambda a: a * float(root[0].text or 1), lambda: setattr(root[0], "text", "5")


@in_c
def digest() -> Made:
    made = hashlib.sha256(b"x")
    return lambda a: a * (made.digest()[0] + 1), lambda: made.update(b"y")


@in_c
def compression() -> Made:
    made = zlib.compressobj()
    return lambda a: a * len(made.copy().flush()), lambda: made.compress(bytes(999))


@in_c
def task() -> Made:
    loop = asyncio.new_event_loop()
    future = loop.create_future()
    loop.close()
    return lambda a: a * (5.0 if future.done() else 2.0), nothing


@in_c
def pointer() -> Made:
    number = ctypes.c_double(2.0)
    made = ctypes.pointer(number)
    return lambda a: a * made.contents.value, lambda: setattr(number, "value", 5.0)


@in_c
def number_at_an_address() -> Made:
    number = ctypes.c_double(2.0)
    place = ctypes.addressof(number)
    return (
        lambda a: a * ctypes.c_double.from_address(place).value,
        lambda: setattr(number, "value", 5.0),
    )


@in_c
def text_at_an_address() -> Made:
    text = ctypes.create_string_buffer(b"2")
    place = ctypes.addressof(text)
    return (
        lambda a: a * float(ctypes.string_at(place)),
        lambda: setattr(text, "value", b"5"),
    )


@in_c
def function_in_c() -> Made:
    ask = ctypes.pythonapi.Py_IsInitialized
    return lambda a: a * (1 + ask()), nothing


@in_c
def place_in_a_file() -> Made:
    file = io.BytesIO(b"2345")
    return lambda a: a * (1 + file.tell()), lambda: file.read(1)


def rates() -> Path:
    path = Path(tempfile.mkdtemp()) / "rates"
    path.write_text("2\n")
    return path


@in_c
def lines_of_a_file() -> Made:
    path = rates()

    def step(a: Any) -> Any:
        with path.open() as file:
            for line in file:
                a = a * float(line)
        return a

    return step, lambda: path.write_text("5\n")


@in_c
def line_by_its_number() -> Made:
    path = str(rates())
    return lambda a: a * float(linecache.getline(path, 1)), nothing


@in_c
def array_in_a_file() -> Made:
    path = rates().with_name("array")
    np.array([2.0]).tofile(path)
    return (
        lambda a: a * float(np.fromfile(path)[0]),
        lambda: np.array([5.0]).tofile(path),
    )


@in_c
def tensors_in_a_file() -> Made:
    path = rates().with_name("tensors")
    ac.save({"x": ac.ones(3)}, path)
    return lambda a: a * ac.load(path)["x"], lambda: ac.save({"x": ac.zeros(3)}, path)


ASKED: dict[str, Callable[[], Any]] = {
    "threading.active_count": threading.active_count,
    "threading.enumerate": threading.enumerate,
    "tracemalloc.is_tracing": tracemalloc.is_tracing,
    "gc.isenabled": gc.isenabled,
    "random.getstate": random.getstate,
    "np.random.get_state": np.random.get_state,
    "signal.getsignal": lambda: signal.getsignal(signal.SIGINT),
    "os.times": os.times,
    "weakref.getweakrefcount": lambda: weakref.getweakrefcount(Thing),
    "sys._getframe": lambda: len(sys._getframe(0).f_back.f_locals) + 1,
    "currentframe": lambda: inspect.currentframe().f_locals is not None,
}


def asked(name: str) -> Made:
    ask = ASKED[name]
    return lambda a: a * float(bool(ask())), nothing


for _name in ASKED:
    IN_C[_name] = functools.partial(asked, _name)


@in_c
def variable_of_a_generator() -> Made:
    def rate() -> Any:
        kept = 2.0
        while True:
            kept = (yield) or kept

    made = rate()
    next(made)
    return lambda a: a * made.gi_frame.f_locals["kept"], lambda: made.send(5.0)

# SPDX-License-Identifier: MIT
"""A compiled step sees a changed value in whatever form its code reads it.

Python versions compile the same statement to other instructions: two loads become one,
a comprehension runs in its function, a call marks its function elsewhere.  Each form
reads an attribute of an argument, of ``self``, of a variable and of a global.
"""

from __future__ import annotations

import sys
import textwrap
import threading
from collections import deque
from contextlib import nullcontext  # noqa: F401  the forms use it
from types import MappingProxyType
from typing import Any

import pytest

import autocalc as ac

pytestmark = pytest.mark.core

x = ac.tensor([1.0, 2.0, 3.0])


class Thing:
    """An object whose attributes are read."""

    def __init__(self, a: float) -> None:
        self.a, self.flag, self.items = a, True, [a, a + 1]


def things() -> Thing:
    thing: Any = Thing(2.0)
    thing.sub, thing.subs = Thing(3.0), [Thing(4.0), Thing(5.0)]
    thing.f, thing.fs, thing.queue = double, [double], deque([double])
    thing.view = MappingProxyType({"f": double})
    return thing


def double(x: Any) -> Any:
    return x * 2


def negated(x: Any) -> Any:
    return -x


def times(x: Any, v: Any) -> Any:
    return x * v


def change_number(o: Any) -> None:
    o.a += 1.5


def change_inner_number(o: Any) -> None:
    o.sub.a += 1.5


def change_inner_numbers(o: Any) -> None:
    o.subs[1].a += 1.5


def change_flag(o: Any) -> None:
    o.flag = not o.flag


def change_items(o: Any) -> None:
    o.items[0] += 1.5


def change_function(o: Any) -> None:
    o.f = negated


def change_functions(o: Any) -> None:
    o.fs[0] = o.queue[0] = negated
    o.view = MappingProxyType({"f": negated})


CHANGES = [
    change_number,
    change_inner_number,
    change_inner_numbers,
    change_flag,
    change_items,
    change_function,
    change_functions,
]

#: More names than the argument of one instruction counts.
_MANY = "if x is None: " + "; ".join(f"n{i}.m{i} = 'k{i}'" for i in range(300))

FORMS = {
    "attribute": "return x * o.a",
    "two lines": "y = x * 2\nreturn o.a * y",
    "one line": "y = x * 2; return o.a * y",
    "one line, inner": "y = x * 2; return o.sub.a * y",
    "one line, two": "y = o; z = y.sub; return z.a * x",
    "one line, flag": "y = x * 2; return y if o.flag else -y",
    "one line, call": "y = x * 2; return o.f(y)",
    "one line, getattr": "y = x * 2; return y * getattr(o, 'a')",
    "getattr": "return x * getattr(o, 'a')",
    "getattr, default": "return x * getattr(o, 'a', 1.0)",
    "getattr, other": "return x * getattr(o, 'b', o.a)",
    "getattr, inner": "return x * getattr(o.sub, 'a')",
    "getattr, computed": "n = 'aa'; return x * getattr(o, n[1:])",
    "getattr, two": "g = getattr; n = 'a'; return x * g(o, n)",
    "tuple": "p, q = o, x; return q * p.a",
    "tuple of three": "p, q, r = o, x, 1; return q * p.a",
    "swap": "p, q = x, o\nq, p = p, q\nreturn q * p.a",
    "chain": "p = q = o; return x * q.a * p.sub.a",
    "walrus": "return x * (p := o).a",
    "walrus, after": "return (y := x * 2) * o.a",
    "if": "return x * (o.a if o.flag else 1.0)",
    "if not": "if not o.flag: return x * o.a\nreturn -x * o.sub.a",
    "and": "return x * (o.flag and o.a)",
    "or": "return (o.f or double)(x)",
    "compare": "return x if 0 < o.a < 4 else -x",
    "is": "return x if o.f is double else -x",
    "in": "return x if 2.0 in o.items else -x",
    "augmented": "y = x; y = y + 1; y *= o.a; return y",
    "augmented number": "v = 1.0; v += o.a; return x * v",
    "for": "for h in (1.0, 2.0): x = x * h * o.a\nreturn x",
    "for, elements": "for q in o.subs: x = x * q.a\nreturn x",
    "for, pairs": "for i, q in enumerate(o.subs): x = x * q.a + i\nreturn x",
    "while": "i = 0\nwhile i < 2: i += 1; x = x * o.a\nreturn x",
    "unpacked": "p, q = o.items; return x * p",
    "unpacked rest": "p, *q = o.items; return x * p",
    "unpacked things": "p, q = o.subs; return x * q.a",
    "slice": "return x * o.items[:1][0]",
    "slice of names": "i = 0; j = 1; return x * o.items[i:j][0]",
    "last": "return x * o.subs[-1].a",
    "list comprehension": "return sum([x * h * o.a for h in (1.0, 2.0)])",
    "set comprehension": "return x * sum({h * o.a for h in (1.0, 2.0)})",
    "dict comprehension": "return {k: x * o.a for k in (1, 2)}[2]",
    "generator": "return sum(x * h * o.a for h in (1.0, 2.0))",
    "nested": "return sum([sum([q.a * o.a for q in o.subs]) * x for _ in '1'])",
    "comprehension, elements": "return sum([x * q.a for q in o.subs])",
    "condition": "return sum([x * h for h in (1, 2) if h < o.a - 1 or o.flag])",
    "comprehension, lambda": "return sum([(lambda: x * h * o.a)() for h in (1, 2)])",
    "comprehension, same name": "v = sum([o for o in (1.0, 2.0)]); return x * o.a * v",
    "comprehension, shadowed": "return x * sum([o.a for o in o.subs])",
    "comprehension, two": "return sum([x * p.a * q.a for p in o.subs for q in (o, p)])",
    "comprehension, walrus": "return sum([(y := x * o.a) for _ in '12']) + y",
    "generator, deferred": "g = (q.a for q in o.subs); return x * sum(g)",
    "star": "return times(*[x, o.a])",
    "star of names": "p = [x, o.a]; return times(*p)",
    "keywords": "return times(v=o.a, x=x)",
    "star keywords": "return times(**{'x': x, 'v': o.a})",
    "method": "return o.f(x)",
    "method, star": "p = [x]; return o.f(*p)",
    "method, kept": "f = o.f; return f(x)",
    "call of an element": "return o.fs[0](x)",
    "call of a queue's": "return o.queue[0](x)",
    "call of a view's": "return o.view['f'](x)",
    "call of a name's": "fs = o.fs; return fs[0](x)",
    "call of a chosen": "f = o.f if o.flag else negated; return f(x if o.flag else -x)",
    "format": "return x * float(f'{o.a}')",
    "format, aligned": "return x * float(f'{o.a:.3f}')",
    "assert": "assert o.a > 0, o.a; return x * o.a",
    "try": "try: return x * o.a\nfinally: x = None",
    "except": "try: return x * o.b\nexcept AttributeError: return x * o.a",
    "raised": "try: raise OSError(o.a)\nexcept OSError as e: return x * e.args[0]",
    "with": "with nullcontext(): y = x * 2; return y * o.a",
    "with, as": "with nullcontext(o) as p: return x * p.a",
    "match": "match o:\n case Thing(a=v, flag=True): return x * v\n case _: return -x",
    "match, number": "match o.a:\n    case 2.0: return x\n    case v: return x * v",
    "match, elements": "match o.items:\n    case [v, *_]: return x * v",
    "function": "def g(): return o.a\nreturn x * g()",
    "inner function": "def g():\n def h(): return o.a\n return h\nreturn x * g()()",
    "function, default": "def g(v=o.a): return v\nreturn x * g()",
    "function, argument": "def g(p, y): z = y; return p.a * z\nreturn g(o, x)",
    "lambda": "return (lambda p: x * p.a)(o)",
    "class": "class C: v = o.a\nreturn x * C.v",
    "class, method": "class C:\n    def g(self): return x * o.a\nreturn C().g()",
    "yield": "def g(): yield o.a; yield o.sub.a\nreturn x * sum(g())",
    "yield from": "def g(): yield from o.items\nreturn x * sum(g())",
    "deleted": "p = o; y = x; v = p.a; del p; return y * v",
    "import": "import math; y = x; return y * math.sqrt(o.a)",
    "many names": f"{_MANY}\ny = x; return y * o.a",
    "many names, getattr": f"{_MANY}\nreturn x * getattr(o, 'a')",
    "many names, import": f"{_MANY}\nfrom math import sqrt; return x * sqrt(o.a)",
    "many names, call": f"{_MANY}\nreturn o.fs[0](x) * times(x, o.a)",
}  # fmt: skip
if sys.version_info >= (3, 12):
    FORMS |= {
        "type parameter": "def g[T](v: T) -> T: return v * o.a\nreturn g(x)",
        "class with a parameter": "class C[T]: v = o.a\nreturn x * C.v",
        "format of formats": "return x * float(f'{f'{o.a}'}')",
    }


def indented(form: str, depth: int = 1) -> str:
    return textwrap.indent(form, "    " * depth)


#: Programs that read a thing `o` by the form, each with a function `step`.
ROOTS = {
    "argument": "def read(o, x):\n{1}\ndef step(x): return read(o, x)",
    "keyword": "def read(x, *, o): \n{1}\ndef step(x): return read(x, o=o)",
    "self": "def read(o, x):\n{1}\nThing = type('Thing', (Thing,), {{'read': read}})\n"
    "o.__class__ = Thing\ndef step(x): return o.read(x)",
    "variable": "def make(o):\n    def step(x):\n{2}\n    return step\nstep = make(o)",
    "global": "def step(x):\n    global o\n{1}",
}


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("name", FORMS)
def test_a_form_of_code_sees_what_changes(name: str, root: str) -> None:
    form = FORMS[name]
    source = ROOTS[root].format("", indented(form), indented(form, 2))
    o = things()
    there = {**globals(), "o": o}
    exec(compile(source, f"<{root}, {name}>", "exec"), there)
    step = there["step"]
    run = ac.compile(step)
    for _ in range(3):
        assert run(x).tolist() == step(x).tolist()
    for change in CHANGES:
        change(o)
        for _ in range(2):
            assert run(x).tolist() == step(x).tolist(), change.__name__


CONTAINERS = {
    "list": lambda f: [f],
    "deque": lambda f: deque([f]),
    "dict": lambda f: {0: f},
}
CALLS = {
    "argument": "def read(fs, x): return fs[0](x)\ndef step(x): return read(o.fs, x)",
    "argument, sum": "def read(fs, x): return fs[0](x + 1)\n"
    "def step(x): return read(o.fs, x)",
    "variable": "def make(fs):\n    return lambda x: fs[0](x)\nstep = make(o.fs)",
    "global": "fs = o.fs\ndef step(x): return fs[0](x)",
}


@pytest.mark.parametrize("kind", CONTAINERS)
@pytest.mark.parametrize("root", CALLS)
def test_a_called_element_is_seen_when_it_changes(kind: str, root: str) -> None:
    make: Any = CONTAINERS[kind]
    o: Any = things()
    o.fs = make(double)
    there = {**globals(), "o": o}
    exec(CALLS[root], there)
    run = ac.compile(there["step"])
    for f in (double, double, double, negated, negated, double):
        o.fs[0] = f
        assert run(x).tolist() == there["step"](x).tolist()


class Base:
    k = 2.0


class Derived(Base):
    k = 9.0

    def plain(self, x: Any) -> Any:
        y = x * 2
        return y * super().k

    def kept(self, x: Any) -> Any:
        parent = super()
        return x * parent.k

    def named(self, x: Any) -> Any:
        return sum([super(Derived, self).k * x for _ in "1"])

    def inner(self, x: Any) -> Any:
        def get() -> Any:
            return super(Derived, self).k

        return x * get()

    @classmethod
    def of_class(cls, x: Any) -> Any:
        return x * super().k


@pytest.mark.parametrize("name", ["plain", "kept", "named", "inner", "of_class"])
def test_super_passes_over_attributes(name: str, monkeypatch: Any) -> None:
    o: Any = Derived()
    o.k = 7.0
    method = getattr(o, name)
    run = ac.compile(method)
    for k in (2.0, 2.0, 2.0, 3.0, 4.0):
        monkeypatch.setattr(Base, "k", k)
        assert run(x).tolist() == method(x).tolist()


def test_subclasses_of_a_class() -> None:
    class Scale:
        by = 2.0

    class Large(Scale):
        by = 3.0

    def step(x: Any) -> Any:
        for kind in Scale.__subclasses__():
            x = x * kind.by
        return x

    run = ac.compile(step)
    for by in (3.0, 3.0, 3.0, 4.0, 5.0):
        Large.by = by
        assert run(x).tolist() == step(x).tolist()
    one_more = type("Larger", (Scale,), {"by": 6.0})
    assert run(x).tolist() == step(x).tolist() == [30.0, 60.0, 90.0]
    del one_more


class Settings(threading.local):
    by = 2.0

    def read(self, x: Any) -> Any:
        return x * self.by


@pytest.mark.parametrize("kind", [threading.local, Settings])
def test_attributes_of_a_thread(kind: Any) -> None:
    settings: Any = kind()
    settings.by = 2.0
    run = ac.compile(lambda x: x * settings.by)
    for by in (2.0, 2.0, 2.0, 3.0, 4.0):
        settings.by = by
        assert run(x).tolist() == [by, 2 * by, 3 * by]
    seen: list[Any] = []

    def other() -> None:
        settings.by = 5.0
        seen.append(run(x).tolist())

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen == [[5.0, 10.0, 15.0]]
    assert run(x).tolist() == [4.0, 8.0, 12.0]


def test_a_method_of_a_threads_settings_is_recorded_once() -> None:
    settings = Settings()
    run = ac.compile(settings.read)
    for by in (2.0, 2.0, 2.0, 2.0, 3.0, 3.0):
        settings.by = by
        assert run(x).tolist() == [by, 2 * by, 3 * by]
    assert len(run.programs) <= 2

# SPDX-License-Identifier: MIT
"""Random steps that read a value out of containers, and what changes there.

A program nests one to five containers or objects and reads what is in the innermost
one.  It uses that value, and after some calls one of the layers changes.
"""

from __future__ import annotations

import dataclasses
import functools
import random
import re
from collections import ChainMap
from collections.abc import Callable
from contextlib import nullcontext
from itertools import chain, islice
from operator import attrgetter, itemgetter, methodcaller
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from tests.compile.stale_layers import LAYERS
from tests.compile.stale_things import Lazy, Record

import autocalc as ac
from autocalc import nn
from autocalc.errors import CompileError

DEPTH = 5

#: How a layer changes. "in place" changes the tensor or the module itself.
CHANGES = ("in place", "replaced", "removed", "added")


class Kind(NamedTuple):
    """A kind of value: two of them, and code that uses one with the tensor `a`."""

    first: Callable[[], Any]
    then: Callable[[], Any]
    uses: tuple[str, ...]


def linear(scale: float) -> nn.Module:
    layer = nn.Linear(3, 3).requires_grad_(False)
    layer.weight.fill_(scale)
    return layer


def replace_weight(module: Any) -> None:
    module.weight = nn.Parameter(module.weight * 3.0, requires_grad=False)


_TEXTS = ("len(f'{v}')", "len('%s' % (v,))", "len('{}'.format(v))", "len(str(v))",
          "len(repr(v))", "len('%-3s' % v)", "sum(map(ord, f'{v!r}'))")  # fmt: skip

KINDS = {
    "float": Kind(
        lambda: 2.0,
        lambda: 3.5,
        (
            *("a * v", "a * v if v > 2.5 else a - v", "a.add(a, alpha=v)", "a * -v"),
            *("a * max(v, 2.5)", "a * round(v)", "a * TABLE[v]", "scaled(a, v)"),
            *("a * (1 - v * 0.5)", "a * float(v)", "a * int(v)", "a * math.sqrt(v)"),
            *("a * sum([v, 1.0])", "a * (v in (2.0, 9.0))", "a * bool(v == 3.5)"),
            *("ac.tensor([v] * 3) * a", "a * np.float32(v)", "a * {2.0: 7}.get(v, 1)"),
            *("a * sorted([v, 3.0])[0]", "a * float('%.2f' % v)", "a.clamp(max=v)"),
            *("F.dropout(a, 0.0) * v", "a * len([0] * int(v))", "a * v**2",
               "a - v % 3"),
            *("a * any(w > 3 for w in [v])", "a * divmod(v, 2)[0]", "a * hash(v)"),
            *("a * v.is_integer()", "a.pow(v)", "ac.full((3,), v) + a", "a * abs(v)"),
        ),
    ),
    "int": Kind(
        lambda: 2,
        lambda: 3,
        (
            *("a * v", "a + 1 if v == 2 else a.exp()", "a * TABLE[v]", "scaled(a, v)"),
            *("a * [1, 5, 7, 9][v]", "a * (4, 5, 6, 8)[-v]", "a[:v].sum() + a", "a**v"),
            *("a * len(range(v))", "ac.stack([a] * v).sum(0)", "a * (v >> 1)"),
            *("a * sum(i for i in range(v))", "a * ('abcd'[v] == 'c')", "a * 2**v"),
            *("a * len([1, 2, 3, 4][:v])", "a * '%d' % v if False else a * v",
               "a * ~v"),
            *("a * int('%d' % v)", "a * bytes([0, 4, 6, 9])[v]", "a * (v & 1)"),
            *("a * itemgetter(v)([1, 5, 7, 9])", "a * float(f'{v:d}')", "a.sum(0) * v"),
            *("a * dict(zip(range(5), [1, 5, 7, 9, 2]))[v]", "a / v", "a * (v % 2)"),
            *("a * {2: 7, 3: 9}[v]", "a * (not v - 2)", "a.repeat(v)[:3] * v", "v - a"),
        ),
    ),
    "bool": Kind(
        lambda: True,
        lambda: False,
        (
            *("a * 2 if v else a + 7", "a * v", "a * (3 if not v else 4)",
               "a * int(v)"),
            *("a * [5, 6][v]", "a * all([v, 1])", "a.sum(0, keepdim=v) + a", "a * -v"),
            *("a * (v is True)", "a if v and len(a) else a.exp()", "a * (v or 9)"),
        ),
    ),
    "str": Kind(
        lambda: "exp",
        lambda: "tanh",
        (
            *("getattr(a, v)()", "a * 2 if v == 'exp' else a - 1", "a * TABLE[v]"),
            *("a * len(v)", "getattr(ac, v)(a)", "a * len(v.upper() + v[0])"),
            *("a * (v in {'exp', 'log'})", "a * (v < 'f')", "a * ord(v[0])"),
            *("methodcaller(v)(a)", "a * len(f'{v:>4}|{v}')", "a * v.startswith('e')"),
            *("matched_text(a, v)", "a * bool(re.match('e', v))",
               "a * len(v.encode())"),
            *("a * len(list(v))", "a * {'exp': 3}.get(v, 5)", "a * len('-'.join(v))"),
        ),
    ),
    "None": Kind(
        lambda: None,
        lambda: 5.0,
        (
            *("a * 2 if v is None else a * v", "a * (v or 1.5)", "a * len(str(v))"),
            *("a * (3 if v else 4)", "a * isinstance(v, float)", "a * (v == None)"),
            *("a.clamp(max=v) if v else a", "a * {None: 3}.get(v, 4)", "a * bool(v)"),
        ),
    ),
    "tensor": Kind(
        lambda: ac.ones(3) * 2,
        lambda: ac.ones(3) * 9,
        (
            *("a + v", "a * v[0]", "v.sum() + a", "ac.stack([a, v]).sum(0)",
               "v * v - a"),
            *("scaled(a, v)", "a + v.to(ac.float32)", "a @ v + a", "a + v.reshape(3)"),
            *("a + v.clone()", "ac.cat([a, v])[2:5]", "a + v if v is not None else a"),
        ),
    ),
    "larger tensor": Kind(
        lambda: ac.ones(3),
        lambda: ac.ones(5),
        ("a * len(v)", "a * v.shape[0]", "a * v.numel()", "a + v.sum()",
               "a * v.size(0)"),
    ),
    "module": Kind(
        lambda: linear(1.0),
        lambda: linear(-2.0),
        (
            *("v(a)", "v.forward(a)", "a @ v.weight", "F.linear(a, v.weight, v.bias)"),
            *("nn.Sequential(v)(a)", "scaled(v(a), 2)",
               "next(v.parameters()).sum() + a"),
            "sum(p.sum() for p in v.parameters()) + a",
            "a + v.state_dict()['weight'][0]",
            *("a + dict(v.named_parameters())['weight'][0]", "v(v(a))"),
        ),
    ),
    "another kind of module": Kind(
        nn.Tanh,
        nn.ReLU,
        (
            *("v(a)", "a * isinstance(v, nn.Tanh)", "a * len(type(v).__name__)"),
            *("a * len(repr(v))", "a * (v.__class__ is nn.Tanh)", "a * len(f'{v}')"),
        ),
    ),
    "function": Kind(
        lambda: lambda *a: a[-1] + 1.0,
        lambda: lambda *a: a[-1] * 3.0,
        ("v(a)", "[f(a) for f in [v]][0]", "list(map(v, [a]))[0]", "v(*[a])"),
    ),
    "class": Kind(
        lambda: int, lambda: float,
        ("a * isinstance(2, v)", "a * len(v.__name__)", "a + v('2')", "a * (v is int)"),
    ),
}  # fmt: skip

for _kind in ("float", "int", "bool", "str", "None"):
    KINDS[_kind] = KINDS[_kind]._replace(
        uses=(*KINDS[_kind].uses, *(f"a * {text}" for text in _TEXTS))
    )

#: What changes a value itself.
IN_PLACE: dict[str, tuple[Callable[[Any], object], ...]] = {
    "tensor": (
        lambda v: v.mul_(3.0),
        lambda v: v.__setitem__(0, 7.0),
        lambda v: setattr(v, "data", ac.ones(3) * 4),
        lambda v: v.copy_(ac.ones(3) * 5),
    ),
    "larger tensor": (lambda v: setattr(v, "data", ac.ones(6)),),
    "module": (
        lambda v: v.weight.fill_(-4.0),
        lambda v: setattr(v, "bias", None),
        replace_weight,
        lambda v: v.load_state_dict(linear(3.0).state_dict()),
        lambda v: v.register_forward_hook(lambda m, a, out: out * 2.0),
    ),
}

#: Where the step finds the outermost container; ``{body}`` reads it as ``R``.
ROOTS = {
    "variable": "def make(R):\n def step(a):\n{body}\n return step",
    "global": "def step(a):\n{body}\ndef make(_):\n return step",
    "default": "def make(given):\n def step(a, R=given):\n{body}\n return step",
    "keyword": "def make(given):\n def step(a, *, R=given):\n{body}\n return step",
    "argument": "def get(a, R):\n{body}\ndef make(R):\n return lambda a: get(a, R)",
    "keywords": "def get(a, **kw):\n    R = kw['R']\n{body}\n"
    "def make(R):\n return lambda a: get(a, **{{'R': R}})",
    "star": "def get(a, *args):\n    R, = args\n{body}\n"
    "def make(R):\n return lambda a: get(a, *(R,))",
    "attribute": "class Trainer:\n def step(self, a):\n    R = self.held\n{body}\n"
    "def make(R):\n trainer = Trainer()\n trainer.held = R\n return trainer.step",
    "class attribute": "class Trainer:\n def step(self, a):\n    R = self.held\n"
    "{body}\n"
    "def make(R):\n Trainer.held = R\n return Trainer().step",
    "class method": "class Trainer:\n @classmethod\n def step(cls, a):\n"
    "    R = cls.held\n{body}\ndef make(R):\n Trainer.held = R\n return Trainer.step",
    "called object": "class Trainer:\n def __call__(self, a):\n    R = self.held\n"
    "{body}\n"
    "def make(R):\n trainer = Trainer()\n trainer.held = R\n return trainer",
    "module": "class Net(nn.Module):\n def forward(self, a):\n    R = self.held[0]\n"
    "{body}\ndef make(R):\n net = Net()\n net.held = [R]\n return net",
    "enclosing functions": "def make(R):\n def outer():\n  def middle():\n"
    "   def step(a):\n{body}\n   return step\n  return middle\n return outer()()",
    "partial": "def get(R, a):\n{body}\ndef make(R):\n return partial(get, R)",
    "decorated": "def make(R):\n def step(a):\n{body}\n @functools.wraps(step)\n"
    " def wrapper(*args, **kw):\n  return step(*args, **kw)\n return wrapper",
    "inner function": "def make(R):\n def step(a):\n  def inner():\n{body}\n"
    "  return inner()\n return step",
    "generator": "def make(R):\n def rows(a):\n  yield get(a)\n def get(a):\n{body}\n"
    " return lambda a: list(rows(a))[0]",
}

#: How the step reads it.
FORMS = (
    "v = {read}",
    "v = {read}",
    "v = (lambda: {read})()",
    "v = [{read} for _ in range(1)][0]",
    "v = next({read} for _ in (1,))",
    "if (v := {read}) is STOP: raise ValueError",
    "with nullcontext(): v = {read}",
    "for v in ({read},): pass",
    "v = taken({read}, k=1)",
    "v = {read} if len(a) == 3 else STOP",
    "match {read}:\n  case v: pass",
    "try: v = {read}\nfinally: pass",
    "class Inner: v = {read}\nv = Inner.v",
    "def inner(): return {read}\nv = inner()",
    "def rows(): yield {read}\nv = [*rows()][0]",
    "v, *_ = [{read}, 1]",
    "found = {{'v': {read}}}\nv = found['v']",
    "v = wait = []\nwhile v is wait: v = {read}",
)

_HELPERS = """
def scaled(a, v): return a * v
def taken(*args, **kw): return args[0]
def first(rows):
    for v in rows:
        return v
    raise IndexError
def entered(thing):
    with thing as v:
        return v
def matched(thing):
    match thing:
        case Record(v=v): return v
    raise AttributeError
def matched_text(a, v):
    match v:
        case 'exp': return a * 2
        case _: return a - 3
"""

_ABSENT = "KeyError, IndexError, AttributeError, StopIteration, TypeError, NameError"
_ABSENT += ", RuntimeError"


class Program:
    """A random step; its parts are drawn from a seed."""

    def __init__(self, seed: int) -> None:
        draw = self.draw = random.Random(seed)
        self.depth = draw.randint(1, DEPTH)
        self.names = [draw.choice(list(LAYERS)) for _ in range(self.depth)]
        self.layers = [LAYERS[name] for name in self.names]
        self.kind = draw.choice(list(KINDS))
        self.use = draw.choice(KINDS[self.kind].uses)
        self.root = draw.choice(list(ROOTS))
        self.form = draw.choice(FORMS)
        self.change, self.level = self._changes(), draw.randrange(self.depth)
        if self.change in {"removed", "added"}:
            can = [i for i, layer in enumerate(self.layers) if layer.drop]
            self.level = draw.choice(can)
        self.read = "R"
        for layer in self.layers:
            self.read = draw.choice(layer.reads).replace("{}", self.read)
            self.read = self.read.replace("{{", "{").replace("}}", "}")
        self.things = self.nested(0, KINDS[self.kind].first())

    def __str__(self) -> str:
        parts = self.root, self.form, self.read, self.use, self.change, self.level
        return f"{self.names} {parts}"

    def _changes(self) -> str:
        can = ["replaced"]
        if any(layer.drop for layer in self.layers):
            can += ["removed", "added"]
        if self.kind in IN_PLACE:
            can.append("in place")
        return self.draw.choice(can)

    def nested(self, level: int, value: Any) -> list[Any]:
        """Return the layers from one on, each in the one before it, and the value."""
        found = [value]
        for layer in reversed(self.layers[level:]):
            found.insert(0, layer.make(found[0]))
        return found

    def source(self) -> str:
        """Return the code."""
        form = self.form.replace("{read}", self.read)
        form = form.replace("{{", "{").replace("}}", "}")
        lines = "\n".join("     " + line for line in form.splitlines())
        body = (
            f"    try:\n{lines}\n     if v is STOP: raise KeyError\n"
            f"    except ({_ABSENT}): return a - 100.0\n"
            f"    return {self.use}"
        )
        text = ROOTS[self.root].replace("{{", "{").replace("}}", "}")
        return _HELPERS + text.replace("{body}", body)

    def step(self) -> Callable[[ac.Tensor], ac.Tensor]:
        """Return the step."""
        there: dict[str, Any] = {**_NAMES, "R": self.things[0]}
        exec(compile(self.source(), "<a program>", "exec"), there)
        made: Callable[[ac.Tensor], ac.Tensor] = there["make"](self.things[0])
        return made

    def apply(self) -> None:
        """Change what the step reads."""
        layer, thing = self.layers[self.level], self.things[self.level]
        if self.change == "in place":
            self.draw.choice(IN_PLACE[self.kind])(self.things[-1])
        elif self.change == "removed":
            assert layer.drop is not None
            layer.drop(thing)
        else:
            layer.put(thing, self.nested(self.level + 1, KINDS[self.kind].then())[0])

    def run(self) -> bool:
        """Return whether the step is right at each call; False if it is refused."""
        if self.change == "added":
            drop = self.layers[self.level].drop
            assert drop is not None
            drop(self.things[self.level])
        step = self.step()
        run = ac.compile(step)
        with ac.no_grad():
            before = self.draw.randint(1, 5)
            for call in range(before + 3):
                if call == before:
                    self.apply()
                found = outcome(run)
                if found == "refused":
                    return False
                wanted = outcome(step)
                assert same(found, wanted), (
                    f"{self}: call {call} of {before} gave {found}, not {wanted}"
                )
        return True


def outcome(step: Any) -> Any:
    """Return the numbers that a step gives, its error, or that it is refused."""
    try:
        return step(X).tolist()
    except CompileError as error:
        assert re.search(r"\S+:\d+, in ", str(error)), error  # noqa: PT017
        return "refused"
    except Exception as error:  # whatever eager code raises
        return type(error)


def same(a: Any, b: Any) -> bool:
    """Return whether two outcomes are the same."""
    if isinstance(a, type) or isinstance(b, type):
        return a is b
    return bool(np.allclose(a, b, rtol=1e-5, equal_nan=True))


X = ac.tensor([1.0, 2.0, 3.0])

_NAMES = {
    "ChainMap": ChainMap,
    "F": nn.functional,
    "Lazy": Lazy,
    "MappingProxyType": MappingProxyType,
    "Record": Record,
    "STOP": object(),
    "TABLE": {2.0: 3.0, 3.5: 7.0, 3: 11.0, "exp": 4.0, "tanh": 9.0},
    "__name__": "a_program",
    "ac": ac,
    "attrgetter": attrgetter,
    "chain": chain,
    "dataclasses": dataclasses,
    "functools": functools,
    "islice": islice,
    "itemgetter": itemgetter,
    "math": __import__("math"),
    "methodcaller": methodcaller,
    "nn": nn,
    "np": np,
    "nullcontext": nullcontext,
    "partial": functools.partial,
    "re": re,
}

# SPDX-License-Identifier: MIT
"""Values in random containers within containers: compiled steps see every change.

A program nests up to four containers or objects, reads what is in the innermost one,
and uses it.  After some calls what one of them holds is replaced.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
import random
import types
from collections import ChainMap, OrderedDict, UserDict, deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn

x = ac.tensor([1.0, 2.0, 3.0])


class Thing:
    """An object with attributes."""

    def __init__(self, v: Any) -> None:
        self.v = v


class Slots:
    __slots__ = ("v",)

    def __init__(self, v: Any) -> None:
        self.v = v


class Open(dict[str, Any]):
    """A dict whose elements are attributes."""

    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


@dataclasses.dataclass
class Record:
    v: Any


class Module(nn.Module):
    def __init__(self, v: Any) -> None:
        super().__init__()
        self.kept = [v]


class Hidden:
    """An object whose value is read by methods."""

    def __init__(self, v: Any) -> None:
        self._v = [v]

    @property
    def v(self) -> Any:
        return self._v[0]

    def get(self) -> Any:
        return self._v[0]

    def __getitem__(self, place: int) -> Any:
        return self._v[place]

    def __iter__(self) -> Any:
        return iter(self._v)


def put(thing: Any, v: Any) -> None:
    thing.v = v


def put_first(thing: Any, v: Any) -> None:
    thing[0] = v


def put_key(thing: Any, v: Any) -> None:
    thing["v"] = v


def put_hidden(thing: Any, v: Any) -> None:
    thing._v[0] = v


def of_class(v: Any) -> Any:
    return type("Made", (), {"v": v})()


def python_module(v: Any) -> Any:
    module: Any = types.ModuleType("conf")
    module.v = v
    return module


class Container(NamedTuple):
    """How a container is made, how code reads it, and how another value gets in."""

    make: Callable[[Any], Any]
    read: str
    put: Callable[[Any, Any], None]


def made_dict(v: Any) -> Any:
    return {"v": v, "other": 0}


def made_list(v: Any) -> Any:
    return [v, 0]


CONTAINERS = [
    Container(made_dict, "{}['v']", put_key),
    Container(made_dict, "{}.get('v', None)", put_key),
    Container(made_dict, "next(iter({}.values()))", put_key),
    Container(made_dict, "dict({})['v']", put_key),
    Container(made_dict, "({{}} | {})['v']", put_key),
    Container(made_dict, "(lambda v, other: v)(**{})", put_key),
    Container(made_dict, "operator.itemgetter('v')({})", put_key),
    Container(made_list, "{}[0]", put_first),
    Container(made_list, "{}[-2]", put_first),
    Container(made_list, "[v for v in {}][0]", put_first),
    Container(made_list, "list(zip({}, range(2)))[0][0]", put_first),
    Container(made_list, "list(map(lambda v: v, {}))[0]", put_first),
    Container(made_list, "(lambda *v: v)(*{})[0]", put_first),
    Container(made_list, "functools.reduce(lambda a, b: a, {})", put_first),
    Container(lambda v: [v, *range(300)], "{}[0]", put_first),
    Container(lambda v: deque([v]), "{}[0]", lambda c, v: c.appendleft(v)),
    Container(lambda v: OrderedDict(v=v), "{}['v']", put_key),
    Container(lambda v: UserDict(v=v), "{}['v']", put_key),
    Container(lambda v: ChainMap({}, {"v": v}), "{}['v']", put_key),
    Container(lambda v: Open(v=v), "{}.v", put),
    Container(Thing, "{}.v", put),
    Container(Thing, "getattr({}, 'v')", put),
    Container(Thing, "getattr({}, 'V'.lower())", put),
    Container(Thing, "vars({})['v']", put),
    Container(Thing, "operator.attrgetter('v')({})", put),
    Container(Slots, "{}.v", put),
    Container(Record, "{}.v", put),
    Container(Module, "{}.kept[0]", lambda m, v: put_first(m.kept, v)),
    Container(Hidden, "{}.v", put_hidden),
    Container(Hidden, "{}.get()", put_hidden),
    Container(Hidden, "{}[0]", put_hidden),
    Container(Hidden, "list({})[0]", put_hidden),
    Container(of_class, "{}.v", lambda thing, v: setattr(type(thing), "v", v)),
    Container(of_class, "{}.v", put),
    Container(python_module, "{}.v", put),
    Container(lambda v: types.SimpleNamespace(v=v), "{}.v", put),
]

#: How a value is used, the first value and the other one.
USES: list[tuple[Callable[[Any, ac.Tensor], ac.Tensor], Any, Any]] = [
    (lambda v, a: a * v, 2.0, 3.5),
    (lambda v, a: a * v if v > 2.5 else a - v, 2.0, 3.5),
    (lambda v, a: a * v, 2, 5),
    (lambda v, a: a * len(f"{v}"), 1, 1000),
    (lambda v, a: a * 2 if v else a + 7, True, False),
    (lambda v, a: getattr(a, v)(), "exp", "tanh"),
    (lambda v, a: a * 2 if v is None else a * v, None, 4.0),
    (lambda v, a: a + v, ac.ones(3) * 2, ac.ones(3) * 9),
    (lambda v, a: v(a), lambda *a: a[-1] + 1, lambda *a: a[-1] * 3),
]

#: How the step comes to the outermost container.
ROOTS = {
    "variable": "def make(R):\n    return lambda a: use({}, a)",
    "global": "def make(_):\n    return lambda a: use({}, a)",
    "default": "def make(given):\n    return lambda a, R=given: use({}, a)",
    "argument": "def get(R):\n    return {}\n"
    "def make(R):\n    return lambda a: use(get(R), a)",
    "attribute": "class Trainer:\n    def step(self, a):\n"
    "        R = self.held\n        return use({}, a)\n"
    "def make(R):\n    trainer = Trainer()\n    trainer.held = R\n"
    "    return trainer.step",
}


def nested(chosen: list[Container], value: Any) -> list[Any]:
    """Return containers, each in the one before it, with the value in the last one."""
    found: list[Any] = []
    for container in reversed(chosen):
        value = container.make(value)
        found.insert(0, value)
    return found


def run_program(seed: int) -> None:
    draw = random.Random(seed)
    chosen = draw.choices(CONTAINERS, k=draw.randint(1, 4))
    use, first, then = draw.choice(USES)
    things, read = nested(chosen, first), "R"
    for container in chosen:
        read = container.read.format(read)
    there: dict[str, Any] = {
        "use": use,
        "R": things[0],
        "operator": operator,
        "functools": functools,
        "__name__": "a_program",
    }
    exec(draw.choice(list(ROOTS.values())).format(read), there)
    step = there["make"](things[0])
    run = ac.compile(step)
    with ac.no_grad():
        for _ in range(draw.randint(2, 5)):
            assert np.allclose(run(x).numpy(), step(x).numpy()), read
        assert run.programs
        level = draw.randrange(len(chosen))
        inner = [*nested(chosen[level + 1 :], then), then][0]
        chosen[level].put(things[level], inner)
        for _ in range(3):
            assert np.allclose(run(x).numpy(), step(x).numpy()), read


@pytest.mark.parametrize("block", range(10))
def test_random_containers(block: int) -> None:
    for seed in range(20 * block, 20 * block + 20):
        run_program(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10, 80))
def test_more_random_containers(block: int) -> None:
    test_random_containers(block)

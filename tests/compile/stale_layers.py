# SPDX-License-Identifier: MIT
"""Containers and objects that hold a value: how code reads it, and how it changes."""

from __future__ import annotations

import types
from collections import (
    ChainMap,
    OrderedDict,
    UserDict,
    UserList,
    defaultdict,
    deque,
    namedtuple,
)
from collections.abc import Callable
from typing import Any, NamedTuple

from tests.compile.stale_things import (
    Dynamic,
    Frozen,
    Indirect,
    Inherited,
    Kept,
    Late,
    Lazy,
    MyList,
    Open,
    Owner,
    Pair,
    Record,
    Slots,
    Thing,
    WithPartial,
    a_cached_function,
    a_class,
    a_closure,
    a_default,
    a_default_dict,
    a_dict,
    a_function,
    a_module,
    a_partial,
    a_proxy,
    a_reference,
    a_variable,
    a_word,
    a_word_of_a_partial,
    an_enum,
    array_of_objects,
    closures,
    default_of_a_data_class,
    described,
    drop_all,
    drop_attribute,
    drop_key,
    of_a_base,
    of_a_class,
    of_a_metaclass,
    on,
    on_class,
    put_attribute,
    put_cached,
    put_default,
    put_first,
    put_key,
    put_on_base,
    put_source,
    with_attribute,
)


class Layer(NamedTuple):
    """A kind of container or object that holds one value.

    Attributes
    ----------
    make
        Makes one with a value in it.
    reads
        Code that reads the value; ``{}`` is the container.
    put
        Puts another value in the place of the first, or adds it after `drop`.
    drop
        Takes the value away; None where that cannot be.
    """

    make: Callable[[Any], Any]
    reads: tuple[str, ...]
    put: Callable[[Any, Any], None]
    drop: Callable[[Any], None] | None = None


_GET = (
    "{}.v",
    "getattr({}, 'v', STOP)",
    "getattr({}, 'V'.lower())",
    "attrgetter('v')({})",
)
_OWN = (*_GET, "vars({})['v']", "{}.__dict__['v']", "object.__getattribute__({}, 'v')")
_KEYS = ("{}['v']", "itemgetter('v')({})", "dict({})['v']")
_DICT = (
    *(*_KEYS, "{}.get('v', STOP)", "next(iter({}.values()))", "({{}} | {})['v']"),
    *("(lambda v, **_: v)(**{})", "[v for k, v in {}.items() if k == 'v'][0]"),
    *("{}.copy()['v']", "dict(sorted({}.items()))['v']", "{{**{}}}['v']"),
    *("'{{0[v]}}'.format({}) and {}['v']", "[*{}.values()][0]"),
    *("{}.setdefault('v', 0)", "dict.__getitem__({}, 'v')", "ChainMap({})['v']"),
    *("MappingProxyType({})['v']", "list(map({}.get, 'v'))[0]"),
)
_FIRST = ("{}[0]", "{}[-len({})]", "[v for v in {}][0]", "next(iter({}))")
_LIST = (
    *(*_FIRST, "{}[:1][0]", "list(zip({}, range(2)))[0][0]", "(lambda *v: v)(*{})[0]"),
    *("list(map(lambda v: v, {}))[0]", "functools.reduce(lambda a, b: a, {})"),
    *("list(enumerate({}))[0][1]", "itemgetter(0)({})", "[*{}][0]", "tuple({})[0]"),
    *("list(filter(lambda v: True, {}))[0]", "(v := {})[0]", "[*reversed({})][-1]"),
    *("{}.copy()[0]", "{}.__getitem__(0)", "({} + [1])[0]", "(lambda: {}[0])()"),
    *("(v for v in {}).__next__()", "list(chain({}, [1]))[0]", "first({})"),
    *("next(islice({}, 1))", "{}[slice(1)][0]"),
    "max([({}[0], 1)], key=lambda p: 1)[0]",
)  # fmt: skip
_CALLED = ("{}()", "[f() for f in [{}]][0]", "(lambda f: f())({})", "{}.__call__()")

LAYERS: dict[str, Layer] = {
    "dict": Layer(a_dict, _DICT, put_key, drop_key),
    "defaultdict": Layer(a_default_dict, _KEYS, put_key),
    "OrderedDict": Layer(lambda v: OrderedDict(v=v), _DICT, put_key, drop_key),
    "UserDict": Layer(lambda v: UserDict(v=v), _KEYS, put_key, drop_key),
    "ChainMap": Layer(
        lambda v: ChainMap({}, {"v": v}), _KEYS, put_key, lambda c: c.maps[1].clear()
    ),
    "mapping proxy": Layer(
        a_proxy, ("{}[0]['v']", "{}[0].get('v', STOP)", "dict({}[0])['v']"),
        lambda pair, v: put_key(pair[1], v), lambda pair: drop_key(pair[1]),
    ),
    "mapping of one's own": Layer(
        Kept, _KEYS, on("inside", put_key), on("inside", drop_key)
    ),
    "attribute dict": Layer(
        lambda v: Open(v=v), ("{}.v", "{}['v']"), put_key, drop_key
    ),
    "list": Layer(lambda v: [v, 0], _LIST, put_first, drop_all),
    "long list": Layer(lambda v: [v, *range(300)], _FIRST, put_first, drop_all),
    "list of one's own": Layer(lambda v: MyList([v]), _LIST, put_first, drop_all),
    "UserList": Layer(lambda v: UserList([v]), ("{}[0]",), put_first, drop_all),
    "deque": Layer(lambda v: deque([v]), _FIRST, put_first, drop_all),
    "tuple of a list": Layer(
        lambda v: ([v],), ("{}[0][0]",), lambda t, v: put_first(t[0], v),
        lambda t: t[0].clear(),
    ),
    "named tuple of a list": Layer(
        lambda v: Pair([v]), ("{}.v[0]", "{}[0][0]", "{}._asdict()['v'][0]"),
        lambda t, v: put_first(t.v, v), lambda t: t.v.clear(),
    ),
    "object": Layer(Thing, _OWN, put_attribute, drop_attribute),
    "slots": Layer(Slots, _GET, put_attribute, drop_attribute),
    "inherited slots": Layer(Inherited, _GET, put_attribute, drop_attribute),
    "name space": Layer(
        lambda v: types.SimpleNamespace(v=v), _OWN, put_attribute, drop_attribute
    ),
    "data class": Layer(
        Record, (*_OWN, "dataclasses.asdict(Record({}.v))['v']", "matched({})"),
        put_attribute, drop_attribute,
    ),
    "frozen data class": Layer(
        Frozen, _GET, lambda thing, v: object.__setattr__(thing, "v", v)
    ),
    "class": Layer(a_class, (*_GET, "vars({})['v']"), put_attribute, drop_attribute),
    "attribute of the class": Layer(
        of_a_class, (*_GET, "type({}).v"), on_class(put_attribute),
        on_class(drop_attribute),
    ),
    "hidden attribute of the class": Layer(of_a_class, _GET, put_attribute),
    "attribute of a base": Layer(of_a_base, _GET, put_on_base),
    "uncovered attribute of a base": Layer(of_a_base, _GET, on_class(put_attribute)),
    "attribute of the metaclass": Layer(of_a_metaclass, _GET, on_class(put_attribute)),
    "Python module": Layer(a_module, _OWN, put_attribute, drop_attribute),
    "attribute of a function": Layer(
        a_function, ("{}.v", "{}()"), put_attribute, drop_attribute
    ),
    "closure": Layer(a_closure, _CALLED, lambda get, v: get.put(v)),
    "closure in a closure": Layer(
        closures, ("{}()()",), lambda get, v: get.put(v)
    ),
    "default": Layer(a_default, _CALLED, put_default),
    "default of a keyword": Layer(
        a_word, _CALLED, lambda get, v: get.__kwdefaults__.update(v=v)
    ),
    "partial": Layer(
        a_partial, _CALLED, lambda get, v: put_first(get.args[0], v),
        lambda get: get.args[0].clear(),
    ),
    "keyword of a partial": Layer(
        a_word_of_a_partial, _CALLED, lambda get, v: get.keywords.update(v=v)
    ),
    "partial method": Layer(WithPartial, ("{}.get()",), on("kept", put_first)),
    "context variable": Layer(
        a_variable, ("{}.get()",), lambda variable, v: variable.set(v)
    ),
    "weak reference": Layer(
        a_reference, ("{}[0]().v",), lambda pair, v: put_attribute(pair[1], v),
        lambda pair: drop_attribute(pair[1]),
    ),
    "object that a weak reference leads to": Layer(
        a_reference, ("{}[0]().v",),
        lambda pair, v: pair.__setitem__(slice(None), a_reference(v)),
    ),
    "enumeration": Layer(
        an_enum, ("{}.FIRST.v", "{}['FIRST'].v", "{}(1).v"),
        lambda made, v: put_attribute(made.FIRST, v),
        lambda made: drop_attribute(made.FIRST),
    ),
    "cached function": Layer(a_cached_function, ("{}()",), put_cached),
    "cached property": Layer(Late, _GET, put_source),
    "property": Layer(
        Lazy,
        ("{}.v", "{}.get()", "{}()", "{}[0]", "list({})[0]", "next({}.walk())",
         "entered({})", "[*{}][0]", "getattr({}, 'get')()", "methodcaller('get')({})",
         "Lazy.get({})", "Lazy.v.fget({})", "list({}.walk())[0]"),
        on("_v", put_first), on("_v", drop_all),
    ),
    "attributes by __getattr__": Layer(
        Dynamic, ("{}.v", "getattr({}, 'v')"), on("kept", put_key), on("kept", drop_key)
    ),
    "attributes by __getattribute__": Layer(
        Indirect, ("{}.v", "getattr({}, 'v')"), on("inner", put_attribute),
        on("inner", drop_attribute),
    ),
    "descriptor": Layer(described, _GET, put_attribute, drop_attribute),
    "number with an attribute": Layer(
        with_attribute(int, 1), _OWN, put_attribute, drop_attribute
    ),
    "error": Layer(
        ValueError, ("{}.args[0]",), lambda error, v: setattr(error, "args", (v,))
    ),
    "array of objects": Layer(
        array_of_objects, ("{}[0]", "{}.tolist()[0]", "next(iter({}))"), put_first
    ),
    "default factory": Layer(
        lambda v: defaultdict(lambda: v), ("{}.default_factory()",),
        lambda thing, v: setattr(thing, "default_factory", lambda: v),
    ),
    "default of a named tuple": Layer(
        lambda v: namedtuple("Made", "v", defaults=[v]),  # noqa: PYI024  v has no type
        ("{}().v", "{}()[0]"),
        lambda kind, v: put_default(kind.__new__, v),
    ),
    "default of a data class": Layer(
        default_of_a_data_class, ("{}().v",),
        lambda kind, v: put_default(kind.__init__, v),
    ),
    "module": Layer(
        Owner, ("{}.kept[0]", "{}.forward()", "{}()"), on("kept", put_first),
        on("kept", drop_all),
    ),
}  # fmt: skip

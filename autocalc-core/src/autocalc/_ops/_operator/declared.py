# SPDX-License-Identifier: MIT
"""Carry out what the signature of a public function declares: flags, names, `out`.

::

    @declared
    def sum(
        input: Tensor,
        dim: Dims = None,
        keepdim: bool = False,
        *,
        out: Tensor | None = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> Tensor: ...

- A parameter of type `bool` is a flag: ``sum(x, keepdim="x")`` raises "sum: `keepdim`
  is 'x'; it must be True or False.".  The body gets a `bool`, even if the user passed a
  NumPy boolean.
- `axis` and `keepdims` are the NumPy names of `dim` and `keepdim`; `out` takes the
  result.  The body never gets these three: it reads `dim` and `keepdim`, and returns
  its result.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import update_wrapper
from inspect import Parameter
from types import CodeType
from typing import Any, TypeVar

from autocalc._ops._operator.numpy_names import dim_or_axis, keepdim_or_keepdims
from autocalc._ops._operator.out import apply_out
from autocalc._tensor.checks import FLAG, check_flag

CallT = TypeVar("CallT", bound=Callable[..., Any])

#: Maps annotations that declare a flag to the test that the flag needs no check.
_FLAGS = {
    "bool": "{0}.__class__ is FLAG",
    "bool | None": "{0}.__class__ is FLAG or {0} is None",
}

#: Maps the name of a parameter to its NumPy name, which the body never gets.
_NUMPY_NAMES = {"dim": "axis", "keepdim": "keepdims"}

#: Annotations of a required `dim`, which may also be given as `axis`.
_NEEDED = ("NeededDim", "NeededDims")

#: Globals that the generated code uses.
_READ = (FLAG, apply_out, check_flag, dim_or_axis, keepdim_or_keepdims)

_STARS: dict[Any, str] = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}


def declared(function: CallT) -> CallT:
    """Carry out what the signature of a function declares.

    The returned function first accepts any arguments.  Its first call replaces its code
    by one line with the signature of `function`::

        lambda input, dim=None, keepdim=False: _body(
            This takes 30 to 70 ns a call; a wrapper for any signature would take 200
            ns.  And importing the module compiles no code.  A function that takes less
            than a microsecond checks its flags itself: ``if flag.__class__ is not FLAG:
            flag = check_flag(...)``.

    This takes 30 to 70 ns a call, a wrapper for any signature 200 ns; and an import
    compiles no line.  A function that takes less than a microsecond does all this
    itself: ``if flag.__class__ is not FLAG: flag = check_flag(...)``.
    """
    kinds = inspect.unwrap(function).__annotations__
    if _FLAGS.keys().isdisjoint(kinds.values()) and not unseen(kinds):
        return function

    _body = function

    def _call(*args: Any, **words: Any) -> Any:
        _complete(_call, _body)
        return _call(*args, **words)

    update_wrapper(_call, function)
    return _call  # type: ignore[return-value]  # with the signature of `function`


def _complete(call: Any, body: Any) -> None:
    """Generate the code of a declared function."""
    definition = inspect.unwrap(body)
    # Set the defaults first: another thread may call the function at any moment.
    call.__defaults__ = definition.__defaults__
    call.__kwdefaults__ = definition.__kwdefaults__
    call.__code__ = _calling(definition)


def complete(function: Any) -> None:
    """Generate the code of a function if it is declared and was never called."""
    code = function.__code__
    if code.co_name == "_call" and code.co_filename == _complete.__code__.co_filename:
        closure = dict(zip(code.co_freevars, function.__closure__, strict=True))
        _complete(function, closure["_body"].cell_contents)


def unseen(parameters: Collection[str]) -> set[str]:
    """Return the parameters that the body never gets."""
    names = {theirs for ours, theirs in _NUMPY_NAMES.items() if ours in parameters}
    return (names | {"out"}) & set(parameters)


def _calling(definition: Any) -> CodeType:
    """Return code that calls `_body` and does what is declared.

    Its free names, `_body` and `_call`, are those of the code that it replaces.
    """
    parameters = inspect.signature(definition).parameters
    is_constructor = definition.__name__ == "__init__"
    where = "self.__class__.__name__" if is_constructor else "_call.__name__"
    dropped = unseen(parameters)
    given: list[str] = []
    passed: list[str] = []
    for name, p in parameters.items():
        value = _STARS.get(p.kind, "") + name
        if p.kind is p.KEYWORD_ONLY and not any("*" in one for one in given):
            given.append("*")
        given.append(value if p.default is p.empty else f"{value}=None")
        if name in dropped:
            continue
        if test := _FLAGS.get(p.annotation):
            check = f"check_flag({where}, {name!r}, {name})"
            value = f"({name} if {test.format(name)} else {check})"
        if name == "keepdim" and "keepdims" in dropped:
            other = f"keepdim_or_keepdims({where}, keepdim, keepdims)"
            value = f"{value} if keepdims is None else {other}"
        if name == "dim" and "axis" in dropped:
            found = f"dim_or_axis({where}, dim, axis, {_default_of(p, parameters)})"
            needed = " and dim is not None" if p.annotation in _NEEDED else ""
            value = f"dim if axis is None{needed} else {found}"
        passed.append(f"{name}={value}" if p.kind is p.KEYWORD_ONLY else value)
    call = f"_body({', '.join(passed)})"
    if "out" in parameters:
        call = f"{call} if out is None else apply_out({where}, {call}, out)"
    make = eval(f"lambda _body, _call: lambda {', '.join(given)}: {call}", globals())
    code: CodeType = make(None, None).__code__
    old = definition.__code__
    return code.replace(
        co_name=old.co_name,
        co_filename=old.co_filename,
        co_firstlineno=old.co_firstlineno,
    )


def _default_of(p: Parameter, parameters: Mapping[str, Parameter]) -> str:
    """Return code that reads the default of a parameter of `_call`."""
    if p.kind is p.KEYWORD_ONLY:
        return f"_call.__kwdefaults__[{p.name!r}]"
    defaults = [
        name
        for name, one in parameters.items()
        if one.kind is p.kind and one.default is not p.empty
    ]
    return f"_call.__defaults__[{defaults.index(p.name)}]"

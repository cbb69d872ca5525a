# SPDX-License-Identifier: MIT
"""Puts a gate in front of each function that a class or a mode can override.

There are no gates, and so no costs, until a program defines the first class with a
``__torch_function__`` or enters the first mode.  From then on, each function keeps its
identity and its name, but calls its gate.  For functions called by the engine, the
engine has its own gates.  For all others, the gate becomes their new code.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from functools import cache, partial
from types import CodeType, FunctionType
from typing import Any

import autocalc
from autocalc import Tensor, nn
from autocalc._dispatch.engine.eager import calls
from autocalc._ops._operator import autocasting
from autocalc._ops._operator.declared import complete
from autocalc._ops._operator.kinds import KINDS
from autocalc.torch import _overrides
from autocalc.torch._overrides import NAME, Gate, disabled

#: Maps Python operators to the methods that override them.
_OPERATORS = {
    **{f"__{name}__": name for name in ("add", "sub", "mul", "matmul", "pow", "neg")},
    **{f"__{name}__": name for name in ("gt", "ge", "lt", "le", "ne", "abs")},
    **{f"__i{name}__": f"{name}_" for name in ("add", "sub", "mul")},
    "__radd__": "add",
    "__rmul__": "mul",
    "__truediv__": "div",
    "__itruediv__": "div_",
    "__mod__": "remainder",
}

#: Methods of Python that no class overrides, because they concern the object itself.
_OBJECTS = frozenset(
    {
        *(
            "__copy__",
            "__dir__",
            "__dlpack__",
            "__dlpack_device__",
            "__hash__",
            "__init__",
        ),
        *("__init_subclass__", "__new__", "__reduce_ex__", "__torch_function__"),
    }
)

#: Functions that no class overrides: they take no tensor, or only ask what it is.
IGNORED = frozenset(
    {
        *(
            "as_subclass",
            "broadcast_shapes",
            "callback",
            "can_cast",
            "compile",
            "is_tensor",
        ),
        *("from_dlpack", "from_numpy", "frombuffer", "initial_seed", "live_node_count"),
        *("load", "manual_seed", "promote_types", "save", "seed", "serial", "typename"),
    }
)
#: The prefixes of functions that concern the process.
_ABOUT_PROCESS = (
    *("are_", "get_", "is_anomaly_", "is_autocast_", "is_deterministic_", "is_grad_"),
    *("is_inference_", "set_", "use_"),
)

#: Functions that make plain tensors of any object; only modes override them.
_COPIES = frozenset({"tensor", "as_tensor", "asarray", "scalar_tensor"})

_shut = [False]


def watch() -> None:
    """Give tensors their ``__torch_function__``, and check each new class."""
    tensor: Any = Tensor
    setattr(tensor, NAME, classmethod(_overrides.keep_class))
    for kind in (nn.Parameter, nn.Buffer, nn.UninitializedBuffer.__mro__[1], *KINDS):
        setattr(kind, NAME, staticmethod(disabled))
    if hasattr(calls, "watch_classes"):
        calls.watch_classes(_made)
    else:
        builtins.__build_class__ = partial(_build, builtins.__build_class__)


def _build(build: Callable[..., Any], *args: Any, **words: Any) -> Any:
    made = build(*args, **words)
    _made(made)
    return made


def _made(kind: Any) -> None:
    """Shut the gates if a class overrides calls; AutoCalc's own kinds do not."""
    if "_kind" in vars(kind) and issubclass(kind, Tensor):
        setattr(kind, NAME, staticmethod(disabled))
    if not _shut[0] and getattr(kind, NAME, disabled) is not disabled:
        shut()


def shut() -> None:
    """Put a gate in front of each function, permanently."""
    if _shut[0]:
        return
    _shut[0] = True
    seen: set[int] = set()
    for function, public, kind in _functions():
        if id(function) not in seen:
            seen.add(id(function))
            _add_gate(function, public, kind)
    autocasting.keep_shut()
    tensor: Any = Tensor
    _overrides.PLAIN_RESULTS.add(tensor.grad.__get__)


def ignored() -> set[Any]:
    """Return the functions that no class overrides."""
    names = {*filter(_is_ignored, vars(autocalc))}
    return {function for name in names if (function := _gated(vars(autocalc)[name]))}


def _is_ignored(name: str) -> bool:
    return name in IGNORED or name.startswith(("_", *_ABOUT_PROCESS))


def _functions() -> Iterator[tuple[Any, Any, str]]:
    """Yield functions, the public function that classes get, and the kind of gate."""
    methods = {
        k: v for k, v in vars(Tensor).items() if _gated(v) or type(v) is property
    }
    for name, method in methods.items():  # first: they get their Python names
        if name.startswith("__") and name not in _OBJECTS:
            public = methods[_OPERATORS.get(name, name)]
            if public is method:
                public.__name__ = name
            kind = "" if name in ("__array__", "__deepcopy__") else "operator"
            yield method, public, kind
    for space in (autocalc, nn.functional, autocalc.linalg, autocalc.special):
        for name in dir(space):
            function = None if _is_ignored(name) else _gated(getattr(space, name, None))
            if function:
                yield function, function, "copy" if name in _COPIES else ""
    for name, method in methods.items():
        if type(method) is property:
            yield method.fget, method.__get__, ""
        elif not name.startswith("_") and name not in IGNORED:
            if method.__name__.startswith("_"):
                method.__name__ = name
            yield method, method, ""


def _gated(function: Any) -> Any:
    """Return a function that can have a gate, else None."""
    engines = calls is not None and type(function) is type(autocalc.exp)
    return function if engines or isinstance(function, FunctionType) else None


def _add_gate(function: Any, public: Any, kind: str) -> None:
    """Replace calls of a function by calls of its gate."""
    if isinstance(function, FunctionType):
        _exchange_code(function, public, kind)
        return
    inside = autocasting.GATES.get(function)
    calls.gate(function, lambda call: Gate(public, inside or call, kind).__call__)


def _exchange_code(function: Any, public: Any, kind: str) -> None:
    """Make a Python function call its gate, which runs a copy of the function."""
    complete(function)
    copy: Any = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    gate, old = Gate(public, copy, kind), function.__code__
    code = _template(old.co_freevars)
    function.__code__ = code.replace(
        co_consts=tuple(gate if one == _GATE else one for one in code.co_consts),
        co_name=old.co_name,
        co_filename=old.co_filename,
        co_firstlineno=old.co_firstlineno,
    )
    function.__wrapped__ = copy  # `inspect` reads its signature


#: The constant in a template that is replaced by a gate.
_GATE = "the gate"


@cache
def _template(free: tuple[str, ...]) -> CodeType:
    """Return code that calls a gate, for functions with these free variables.

    The code names the variables, because Python lays out the cells of a frame by the
    names in its code.
    """
    names = ", ".join(free)
    call = f"{_GATE!r}.__call__(*_args, **_words)"
    unused = f" if True else ({names},)" if free else ""
    make = eval(f"lambda {names}: lambda *_args, **_words: {call}{unused}")
    code: CodeType = make(*[None] * len(free)).__code__
    assert code.co_freevars == free, "both are in the order of the names"
    return code

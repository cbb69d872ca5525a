# SPDX-License-Identifier: MIT
"""Finds the line, module and operator that led to the running code.

The profiler, the diagnostics and `compile` all read this from Python's frames.  For
``model(x)`` in a user's ``train.py``, the frames of a kernel's call are

========================  ==========================================================
frame, innermost first    what it says
========================  ==========================================================
`_dispatch/...`           nothing
`_ops/...: linear`        the operator; the outermost public function names it
`Module.__call__`         a module; marked by `marks`, as is a node's backward rule
`train.py: main`          the user's line
========================  ==========================================================

Calls in C leave no frame.  The kernel's name is then used for the operator.
"""

from __future__ import annotations

import linecache
import sys
import warnings
from collections.abc import Callable, Sequence
from types import CodeType, FrameType
from typing import Any, NamedTuple, TypeVar
from weakref import ref

_F = TypeVar("_F", bound=Callable[..., Any])

#: The prefix of the paths of AutoCalc's own files.
_OWN = __file__[: -len("_dispatch/_callers.py")]


class UserLine(NamedTuple):
    """A place in a user's program, with the layer of a model if a diagnostic asks."""

    file: str
    number: int
    function: str
    layer: str = ""

    def __str__(self) -> str:
        text = linecache.getline(self.file, self.number).strip()
        return f"{self.file}:{self.number}, in {self.function}: `{text}`."


_given = 0


def warnings_given() -> int:
    """Return how many warnings `warn` has given; a replay would not repeat them."""
    return _given


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the innermost line outside of AutoCalc that led to this call."""
    global _given
    _given += 1
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


class Site(NamedTuple):
    """An operator and its phase; "" is the operator with the kernel's own name."""

    operator: str
    phase: str

    def name(self, kernel: str) -> str:
        """Return the name of the site in a table."""
        operator = self.operator or kernel
        plain = self.phase == "forward" or self == GRADIENT_SUM
        return operator if plain else f"{operator} {self.phase}"


class Caller(NamedTuple):
    """The path that led to a call.

    Attributes
    ----------
    line
        The innermost line of the user's program.
    modules
        The running modules, innermost first; within a backward rule, the modules that
        the rule called.
    node
        The node whose backward rule runs; None in a forward pass.
    site
        The operator, and whether it runs forward, backward or in an optimizer.
    """

    line: UserLine | None
    modules: tuple[Any, ...]
    node: Any
    site: Site


#: The site of sums of cotangents that arrive at one tensor, between two rules.
GRADIENT_SUM = Site("gradient sum", "backward")

#: The site of code that no operator and no module called.
FORWARD = Site("", "forward")

#: Functions that return the layer that is running, while a diagnostic asks for it.
layer_of: list[Callable[[], str]] = []

#: Folders whose frames are ignored.
_SILENT = (
    *("_dispatch/", "_kernels/", "_tensor/", "_methods/", "_compile/"),
    *("_program/", "profiler/", "diagnostics/"),
)

#: Folders that determine a phase.
_PHASES = {"optim/": "optimizer", "_graph/": "backward", "autograd/": "backward"}

_SKIP, _OPERATOR, _PHASE = range(3)


class _Meaning(NamedTuple):
    """The meaning of the frames of one code object, which it keeps alive.

    Attributes
    ----------
    is_own
        Whether the code is in a file of AutoCalc.
    mark
        The meaning that `marks` declares; "" without one.
    kind, word
        What a frame tells about the site: nothing, its operator or its phase.
    """

    is_own: bool
    mark: str
    kind: int
    word: str
    code: CodeType


# The keys are ids of code objects: a hash would cover all their contents and is not
# cached. The loops below look meanings up without a call, because a recorded function
# pays for each call.
_meanings: dict[int, _Meaning] = {}
_sites: dict[tuple[str, str], Site] = {("gradient sum", "backward"): GRADIENT_SUM}
_marks: dict[int, str] = {}


def marks(meaning: str) -> Callable[[_F], _F]:
    """Declare the meaning of a method's frames.

    "module": `self` is a module that runs.  "rule": the backward rule of its `node`
    runs.  "sum": gradients are added between two rules.
    """

    def mark(function: _F) -> _F:
        _marks[id(function.__code__)] = meaning
        return function

    return mark


def own_path(file: str) -> str | None:
    """Return a file's path inside AutoCalc; None if the file is not AutoCalc's."""
    if not file.startswith(_OWN):
        return None
    return file[len(_OWN) :].replace("\\", "/")


def users_line() -> UserLine | None:
    """Return the innermost line outside of AutoCalc that led to this call."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        try:
            meaning = _meanings[id(frame.f_code)]
        except KeyError:
            meaning = _learn(frame.f_code)
        if not meaning.is_own:
            break
        frame = frame.f_back
    if frame is None:
        return None
    code = frame.f_code
    layer = layer_of[-1]() if layer_of else ""
    return UserLine(code.co_filename, frame.f_lineno, code.co_name, layer)


def caller() -> Caller:
    """Return the path that led to the code that calls this function."""
    innermost = sys._getframe(1)
    modules, node, site = _running(innermost)
    return Caller(users_line(), modules, node, site or site_of(innermost))


def running_modules() -> tuple[Any, ...]:
    """Return the modules that are running, innermost first."""
    return _running(sys._getframe(1))[0]


def _running(frame: FrameType | None) -> tuple[tuple[Any, ...], Any, Site | None]:
    """Return the running modules, or the node whose rule runs and the rule's site.

    A rule may call a module, as checkpoints do.  Such a module, which is nearer than
    the rule, runs forward.
    """
    modules: list[Any] = []
    site: Site | None = None
    while frame is not None:
        try:
            mark = _meanings[id(frame.f_code)].mark
        except KeyError:
            mark = _learn(frame.f_code).mark
        if mark == "module":
            modules.append(frame.f_locals["self"])
        elif mark == "sum" and not modules:
            site = GRADIENT_SUM
        elif mark == "rule" and not modules:
            node = frame.f_locals["node"]
            return (), node, site or Site(node.op.name, "backward")
        frame = frame.f_back
    return tuple(modules), None, None


def site_of(
    frame: FrameType | None, caller: CodeType | None = None, at: int = -1
) -> Site:
    """Return the site of a call from `frame` that is not in a backward rule.

    `caller` and `at` are the code that called the last rule, and the position in it.
    The backward pass in C leaves no frame, so whatever this code calls there belongs to
    it.
    """
    operator = ""
    while frame is not None:
        code = frame.f_code
        if code is caller and frame.f_lasti == at:
            return GRADIENT_SUM
        try:
            meaning = _meanings[id(code)]
        except KeyError:
            meaning = _learn(code)
        if meaning.kind == _OPERATOR:
            operator = meaning.word
        elif meaning.kind == _PHASE:
            return _site(operator, meaning.word)
        frame = frame.f_back
    return _site(operator, "forward")


def _site(operator: str, phase: str) -> Site:
    if phase == "backward" and not operator:
        return GRADIENT_SUM
    known = _sites.get((operator, phase))
    if known is None:
        known = _sites[operator, phase] = Site(operator, phase)
    return known


def _learn(code: CodeType) -> _Meaning:
    is_own, mark = own_path(code.co_filename) is not None, _marks.get(id(code), "")
    meaning = _meanings[id(code)] = _Meaning(is_own, mark, *_kind_of(code), code)
    return meaning


def _kind_of(code: CodeType) -> tuple[int, str]:
    """Return the meaning of a function's frames."""
    inside = own_path(code.co_filename)
    if inside is None:
        return _PHASE, "forward"
    if inside.startswith("_ops/"):
        public = not (code.co_name.startswith(("_", "<")) or "/_" in inside)
        return (_OPERATOR, code.co_name) if public else (_SKIP, "")
    if inside.startswith(_SILENT) or (inside.startswith("nn/") and "hooks" in inside):
        return _SKIP, ""
    if code.co_name == "_seed":  # it runs before the backward pass
        return _PHASE, "forward"
    phases = (p for start, p in _PHASES.items() if inside.startswith(start))
    return _PHASE, next(phases, "forward")


class Paths:
    """The dotted names of modules within the outermost running one; holds no modules.

    Examples
    --------
    In ``net = nn.Sequential(nn.Linear(4, 4))``, the layer's path is "0" and its title
    "Sequential.0"; in the second ``nn.Sequential`` that runs, "Sequential #2.0".
    """

    def __init__(self) -> None:
        self._roots: dict[int, tuple[ref[Any], str, dict[int, str]]] = {}
        self._counts: dict[str, int] = {}

    def path(self, root: Any, inner: Any) -> str | None:
        """Return a module's name in `root`: "" for `root` itself, None if not in it."""
        _, names = self._root(root)
        if id(inner) not in names:  # `root` is new or has changed
            names.clear()
            names.update((id(one), name) for name, one in root.named_modules())
        return names.get(id(inner))

    def title(self, modules: Sequence[Any]) -> str:
        """Return the name of the innermost running module; "" if none runs."""
        if not modules:
            return ""
        path = self.path(modules[-1], modules[0])
        if path is None:
            return type(modules[0]).__name__
        title, _ = self._root(modules[-1])
        return f"{title}.{path}" if path else title

    def _root(self, root: Any) -> tuple[str, dict[int, str]]:
        known = self._roots.get(id(root))
        if known is None or known[0]() is not root:
            title = type(root).__name__
            count = self._counts[title] = self._counts.get(title, 0) + 1
            title += f" #{count}" * (count > 1)
            known = self._roots[id(root)] = ref(root), title, {}
        return known[1:]

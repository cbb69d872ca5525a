# SPDX-License-Identifier: MIT
"""Which operator a kernel's call belongs to, told by the Python frames that led to it.

A function of `_ops` that leads to the call names the operator, the outermost of them;
where there is none, as calls in C leave no frame, the kernel names it.  What lies above
tells the phase: an optimizer, the backward walk, or anything else.
"""

from __future__ import annotations

from types import CodeType, FrameType
from typing import NamedTuple


class Site(NamedTuple):
    """An operator, "" for the one of the kernel's own name, and when it ran."""

    operator: str
    phase: str

    def name(self, kernel: str) -> str:
        """Return what a table calls it."""
        operator = self.operator or kernel
        told = self.phase == "forward" or self == GRADIENT_SUM
        return operator if told else f"{operator} {self.phase}"


#: The sum of cotangents that arrive at one tensor, between two rules.
GRADIENT_SUM = Site("gradient sum", "backward")

#: What no operator and no module called.
FORWARD = Site("", "forward")

#: AutoCalc's own files begin with this.
_OWN = __file__[: -len("_compile/_sites.py")]

#: Folders whose frames say nothing.
_SILENT = (
    "_dispatch/",
    "_kernels/",
    "_tensor/",
    "_methods/",
    "_compile/",
    "profiler/",
    "nn/_hooks",
)

#: Folders and files that stand for a phase.
_PHASES = {"optim/": "optimizer", "_graph/": "backward", "autograd/": "backward"}

_SKIP, _OPERATOR, _PHASE = range(3)

_kinds: dict[CodeType, tuple[int, str]] = {}
_sites: dict[tuple[str, str], Site] = {("gradient sum", "backward"): GRADIENT_SUM}


def site_of(
    frame: FrameType | None, caller: CodeType | None = None, at: int = -1
) -> Site:
    """Return the site of a call that was made from `frame`.

    `caller` and `at` are the code that called the last rule, and the place in it: what
    is called from there is a part of the walk, which leaves no frame in C.
    """
    operator = ""
    while frame is not None:
        code = frame.f_code
        if code is caller and frame.f_lasti == at:
            return GRADIENT_SUM
        kind, word = _kinds.get(code) or _learn(code)
        if kind == _OPERATOR:
            operator = word
        elif kind == _PHASE:
            return _site(operator, word)
        frame = frame.f_back
    return _site(operator, "forward")


def _site(operator: str, phase: str) -> Site:
    if phase == "backward" and not operator:
        return GRADIENT_SUM
    known = _sites.get((operator, phase))
    if known is None:
        known = _sites[operator, phase] = Site(operator, phase)
    return known


def _learn(code: CodeType) -> tuple[int, str]:
    kind = _kinds[code] = _kind_of(code)
    return kind


def _kind_of(code: CodeType) -> tuple[int, str]:
    """Return what a function's frame says."""
    file = code.co_filename
    if not file.startswith(_OWN):
        return _PHASE, "forward"
    inside = file[len(_OWN) :].replace("\\", "/")
    if inside.startswith("_ops/"):
        public = not (code.co_name.startswith(("_", "<")) or inside[5] == "_")
        return (_OPERATOR, code.co_name) if public else (_SKIP, "")
    if inside.startswith(_SILENT):
        return _SKIP, ""
    if code.co_name == "_seed":  # the walk has not begun
        return _PHASE, "forward"
    phases = (p for start, p in _PHASES.items() if inside.startswith(start))
    return _PHASE, next(phases, "forward")

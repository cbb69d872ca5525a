# SPDX-License-Identifier: MIT
"""The parts of compiled functions and of programs that have tests of their own."""

from __future__ import annotations

from autocalc._compile import _replay as replay
from autocalc._compile._bookkeeping import Bookkeeping
from autocalc._compile._function import MAX_GROWING
from autocalc._compile._moving import MovingView, Operands, moving_operands
from autocalc._compile._origins import Origin
from autocalc._compile._passes._remaking import DEPTH
from autocalc._compile._recorder import StepRecorder
from autocalc._compile._tracked import Span, Tracked, given, plain, untracked
from autocalc._compile._tracked_float import TrackedFloat
from autocalc._compile._unchanged import Unchanged, unchanged
from autocalc._kernels.kernel_set import ExecutorCall
from autocalc._program._executor import PythonExecutor
from autocalc._program._kernel_choice import instruction
from autocalc._program._plan import lives, occupancy, plan
from autocalc._program._short_recorder import LEAST
from autocalc._program._steps import Make, Run
from autocalc._program._views import View
from autocalc._program._work import work_of
from autocalc._tensor.storage import is_exported

__all__ = [
    "DEPTH",
    "LEAST",
    "MAX_GROWING",
    "Bookkeeping",
    "ExecutorCall",
    "Make",
    "MovingView",
    "Operands",
    "Origin",
    "PythonExecutor",
    "Run",
    "Span",
    "StepRecorder",
    "Tracked",
    "TrackedFloat",
    "Unchanged",
    "View",
    "given",
    "instruction",
    "is_exported",
    "lives",
    "moving_operands",
    "occupancy",
    "plain",
    "plan",
    "replay",
    "unchanged",
    "untracked",
    "work_of",
]

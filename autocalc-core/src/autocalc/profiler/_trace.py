# SPDX-License-Identifier: MIT
"""Write a profile in the Trace Event Format, which Perfetto and Chrome open."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from autocalc.profiler._account import Account

_STEPS, _CALLS = 1, 2


def write_trace(account: Account, start: int, path: Path) -> None:
    """Write the steps on one track, and modules with their kernels on another.

    The arguments of a kernel include its phases, in microseconds over all threads.
    """
    events = [
        _named("process_name", 0, "AutoCalc"),
        _named("thread_name", _STEPS, "steps"),
        _named("thread_name", _CALLS, "modules and kernels"),
    ]
    for i, step in enumerate(account.steps, 1 + account.left_out):
        events.append(_event(f"step {i}", "step", _STEPS, step, start, {}))
    events += [
        _event(call.place.label, "module", _CALLS, call, start, {})
        for call in account.calls
    ]
    for span in account.spans:
        kernel, site, place = span.key
        assert kernel is not None
        assert site is not None
        arguments: dict[str, Any] = {
            "set": kernel.chosen,
            "operands": kernel.operands,
            "dtype": kernel.dtype,
            "operator": site.name(kernel.label),
            "module": place.label,
            "flops": kernel.work.flops,
            "bytes": kernel.work.bytes,
        }
        if span.phases:
            arguments["phases"] = {n: t / 1e3 for n, t in span.phases.items()}
        events.append(_event(kernel.label, site.phase, _CALLS, span, start, arguments))
    whole = {"traceEvents": events, "displayTimeUnit": "ms"}
    path.write_text(json.dumps(whole), encoding="utf-8")


def _named(what: str, track: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": 1, "tid": track, "args": {"name": name}}


def _event(
    name: str, kind: str, track: int, span: Any, start: int, arguments: dict[str, Any]
) -> dict[str, Any]:
    """Return an event with a begin and a duration, in microseconds."""
    return {
        "name": name,
        "cat": kind,
        "ph": "X",
        "pid": 1,
        "tid": track,
        "ts": (span.start - start) / 1e3,
        "dur": (span.stop - span.start) / 1e3,
        "args": arguments,
    }

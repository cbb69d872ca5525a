# SPDX-License-Identifier: MIT
"""What the end of a self-test means, by what its process noted and how it ended."""

from __future__ import annotations

import re

import pytest
from tests.dispatcher import trial

RUNNING = {"running": "while relu (float32) on 'n=3' ran"}
PASSED = {"passed": {"calls": 3, "kernels": 1, "wrong": {}}, "running": "when its p"}


@pytest.mark.parametrize(
    ("facts", "code", "verdict", "reason"),
    [
        (PASSED, 0, "passed", ""),
        (PASSED, None, "quarantined", "it did not end within 10 s when its p"),
        (PASSED, 1, "quarantined", "it ended its process with exit code 1 when its p"),
        (RUNNING, 0, "quarantined", "it ended its process with exit code 0 while relu"),
        (RUNNING, None, "quarantined", "it did not end within 10 s while relu"),
        (RUNNING, 0xC0000005, "quarantined", r"memory .* \(access violation\) while"),
        (RUNNING, 0xC000001D, "quarantined", "an instruction that this CPU does not"),
        ({"fault": "wrote where"}, 0, "quarantined", "it wrote where"),
        ({**RUNNING, "unloadable": "no"}, 0, "unloadable", "no"),
        ({}, 1, "untested", "its self-test could not start: exit code 1"),
        ({}, None, "untested", "its self-test could not start: no word within 60 s"),
    ],
)
def test_verdicts(facts, code, verdict, reason):
    found = trial._judged(facts, code, "")
    assert found["verdict"] == verdict
    assert re.search(reason, found.get("reason", ""))

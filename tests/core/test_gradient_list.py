# SPDX-License-Identifier: MIT
"""Every operator against differences, at its kernel's samples, but for a list.

The list is in ``docs/reference/gradients.md``: what is not in it passes, and what
is in it does not.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.core.small_samples import samples_of
from tests.operator_table import OPERATORS, _no_rule

import autocalc as ac
import autocalc.nn.functional  # operators register when they are imported
from autocalc.errors import DTypeError, GradError
from autocalc.testing import GradcheckError, gradcheck, gradgradcheck

pytestmark = pytest.mark.core

PAGE = Path(__file__).parents[2] / "docs/reference/gradients.md"
TABLE = PAGE.read_text(encoding="utf-8").partition("## Operators")[2].partition("##")[0]
LISTED = set(re.findall(r"`(\w+)`", TABLE))

#: Views are made by no kernel; `test_derivatives` has a case of each.
VIEWS = {name for name, function in OPERATORS.items() if function.op.spec is None}

#: What else than a wrong gradient says that there is none.
REFUSED = {
    **dict.fromkeys(
        ("batch_norm", "batch_norm_activation"), (AssertionError, ValueError)
    ),
    **dict.fromkeys(("floor_divide", "scatter_mul"), GradError),
    "quantized_linear": DTypeError,  # float64 has no such kernel
    **dict.fromkeys(("igamma", "igammac", "ldl", "ldl_solve", "zeta"), GradError),
}


def passes(name, sample):
    """Return whether an operator's first and second derivatives are right."""

    def function(*tensors):
        return OPERATORS[name](*tensors, *sample.attributes)

    inputs = [None if a is None else ac.tensor(a) for a in sample.inputs]
    for x in inputs:
        if x is not None and x.is_floating_point():
            x.requires_grad_()
    return gradcheck(function, inputs) and gradgradcheck(function, inputs)


def all_pass(name):
    samples = samples_of(OPERATORS[name].op.spec)
    assert samples, f"no small sample of {name}: list it, with the reason"
    return all(passes(name, sample) for sample in samples)


WITHOUT_RULE = {n for n, f in OPERATORS.items() if f.op.rule is _no_rule}


@pytest.mark.parametrize("name", sorted(set(OPERATORS) - VIEWS - LISTED))
def test_an_operator_passes_or_is_listed(name):
    assert all_pass(name)


@pytest.mark.parametrize("name", sorted(LISTED))
def test_what_is_listed_does_not_pass(name):
    assert name in OPERATORS, f"there is no operator {name}"
    if name in WITHOUT_RULE:
        return
    with pytest.raises(REFUSED.get(name, GradcheckError)):
        all_pass(name)

# SPDX-License-Identifier: MIT
"""Every operator against differences, at its kernel's samples, but for a list.

The list stands in ``docs/reference/gradients.md``: what is not in it passes, and what
is in it does not.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import autocalc as ac
import autocalc.nn.functional  # operators register when they are imported
from autocalc._kernels.samples import Make
from autocalc._ops._op import OPERATORS
from autocalc._ops._rule import _no_rule
from autocalc.errors import GradError
from autocalc.testing import GradcheckError, gradcheck, gradgradcheck

pytestmark = pytest.mark.core

PAGE = Path(__file__).parents[2] / "docs/reference/gradients.md"
TABLE = PAGE.read_text(encoding="utf-8").partition("## Operators")[2].partition("##")[0]
LISTED = set(re.findall(r"`(\w+)`", TABLE))

#: Views are made by no kernel; `test_ops_gradients` has a case of each.
VIEWS = {name for name, function in OPERATORS.items() if function.op.spec is None}

#: Of labels of samples that are made of infinities, NaN or zeros.
ODD = re.compile("special|nan|inf|-0.0|all zero")


#: What else than a wrong gradient says that there is none.
REFUSED = {
    **dict.fromkeys(("batch_norm", "batch_norm_relu"), (AssertionError, ValueError)),
    **dict.fromkeys(("floor_divide", "scatter_mul"), GradError),
}

#: Elements of the largest operand: each costs two calls.
SMALL = 24


class Inside(Make):
    """Makes numbers from 0.1 to 0.4, where all functions are smooth."""

    def normal(self, *shape, scale=1.0):
        if not self.is_float:
            return super().normal(*shape, scale=scale)
        return np.asarray(self.rng.uniform(0.1, 0.4, shape), self.dtype)

    positive = normal
    unit = normal


def samples_of(spec):
    """Return two small samples of a kernel in float64, or its smallest one."""
    found = []
    for sample in spec.samples(Inside(np.dtype(np.float64))):
        arrays = [a for a in sample.inputs if a is not None]
        smooth = any(a.dtype.kind == "f" for a in arrays) and not ODD.search(
            sample.label
        )
        if smooth and min(a.size for a in arrays) > 0:
            found.append((max(a.size for a in arrays), sample))
        if sum(size <= SMALL for size, _ in found) == 2:
            break
    small = [sample for size, sample in found if size <= SMALL]
    return small or [sample for _, sample in sorted(found, key=lambda x: x[0])[:1]]


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

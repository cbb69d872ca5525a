# SPDX-License-Identifier: MIT
"""What ``AUTOCALC_STRICT`` notes, and when it tells."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from tests.dispatcher import arrays
from tests.kernel_table import TABLE, adapt

import autocalc as ac
from autocalc.errors import KernelError
from autocalc.plugin import KernelImpl, KernelSet

X = np.ones(3, np.float32)


def picky():
    """A set that adds float32 alone."""

    def only_float32(key):
        return None if key.dtypes[0] == np.float32 else "float32 alone is for me"

    kernels = {"add": KernelImpl(adapt(TABLE["add"]), supports=only_float32)}
    return KernelSet("picky", family="picky", load=lambda: kernels)


@pytest.fixture
def mine(environment, install):
    """Return a function that installs a picky set under a value of the variable."""

    def start(strict):
        environment(AUTOCALC_STRICT=strict)
        install(mine=[picky()])

    return start


def test_a_list_goes_on_and_names_each_kind_once(mine):
    mine("list")
    arrays.add(X, X)
    assert ac.kernels.falls() == ()
    for _ in range(2):
        arrays.add(X.astype(np.float64), X.astype(np.float64))
        arrays.mul(X, X)
    kinds = [(fall.kernel, fall.dtypes[0]) for fall in ac.kernels.falls()]
    assert kinds == [("add", "float64"), ("mul", "float32")]
    texts = list(map(str, ac.kernels.falls()))
    assert texts[0].startswith("add(float64, float64, float64): picky: float32 alone")
    assert texts[1].endswith("picky: has no such kernel")


def test_nothing_is_noted_without_the_variable(mine):
    mine("0")
    arrays.mul(X, X)
    assert ac.kernels.falls() == ()


def test_the_reference_on_purpose_is_no_fall(mine):
    mine("list")
    with ac.kernels.use("reference"):
        arrays.mul(X, X)
    assert ac.kernels.falls() == ()


def test_to_explain_a_call_is_no_fall(mine):
    mine("list")
    assert ac.kernels.explain("mul", X, X).chosen == "reference"
    assert ac.kernels.falls() == ()


def test_an_error_names_what_fell_before(mine):
    mine("1")
    with pytest.raises(KernelError, match=r"mul: AUTOCALC_STRICT.*no such kernel\.$"):
        arrays.mul(X, X)
    before = r"exp: AUTOCALC_STRICT(.|\n)*Refused before were:\n  mul\(float32"
    with pytest.raises(KernelError, match=before):
        arrays.exp(X)
    assert [fall.kernel for fall in ac.kernels.falls()] == ["mul", "exp"]


def test_reload_begins_a_new_list(mine):
    mine("list")
    arrays.mul(X, X)
    ac.kernels.reload()
    assert ac.kernels.falls() == ()


def test_sets_with_the_same_answer_stand_together():
    reasons = ("a: no", "b: has none.", "c: no", "d: it: says")
    fall = ac.kernels.Fall("add", ("float32", "None"), reasons)
    assert str(fall) == "add(float32, None): a, c: no; b: has none; d: it: says"


@pytest.mark.parametrize(("strict", "told"), [("list", True), ("0", False)])
def test_the_list_is_told_at_the_end(strict, told, monkeypatch):
    program = """
import numpy as np
from autocalc._dispatch.plugins import discovery as _plugins
from autocalc.plugin import KernelSet
plain = _plugins.registry.__wrapped__
found = plain()
made = KernelSet("x", "x", load=dict, rank=999)
found._add_set(_plugins.Plugin("x", "x", "1"), made, "")
_plugins.registry.cache_clear()
import autocalc._dispatch.selection.select as select
select.registry = lambda: found
from autocalc._dispatch.selection.arrays import arrays
select.registry().sets = {k: found.sets[k] for k in ("reference", "x")}
arrays.add(np.ones(2), np.ones(2))
"""
    monkeypatch.setenv("AUTOCALC_STRICT", strict)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    line = "add(float64, float64, float64): x: has no such kernel"
    assert (line in done.stderr) is told, done.stderr
    assert ("AUTOCALC_STRICT=list: 1 kinds of calls" in done.stderr) is told

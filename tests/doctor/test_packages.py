# SPDX-License-Identifier: MIT
"""What the doctor says of kernel packages, tuning and the environment."""

from __future__ import annotations

import pytest
from tests.doctor.checks import packages as checks
from tests.kernel_table import TABLE, adapt

import autocalc as ac
from autocalc.errors import PluginError, PluginWarning
from autocalc.plugin import KernelSet


def fine():
    return {"add": adapt(TABLE["add"])}


def test_usable_sets_and_those_that_are_not(machine, install):
    def lacking():
        raise PluginError("no library of that name")

    install(
        mine=[
            KernelSet("mine", family="mine", load=fine),
            KernelSet("other", family="other", load=lacking),
            KernelSet("future", family="f", load=fine, requires={"avx9"}),
        ]
    )
    usable, others = checks.plugins(machine())
    assert (usable.level, usable.text) == ("ok", "usable sets: reference, mine")
    assert others.level == "ok"
    assert "future: the CPU lacks avx9" in others.text
    assert "other: no library of that name" in others.text


def test_only_the_reference(machine, install):
    install()
    (found,) = checks.plugins(machine())
    assert found.level == "warning"
    assert "pip install" in found.remedy


def test_a_fault_is_a_warning_of_its_own(machine, install):
    with pytest.warns(PluginWarning):
        install(broken=ImportError("no such module"))
    *_, found = checks.plugins(machine())
    assert found.level == "warning"
    assert found.text.startswith("broken (broken_plugin) is refused: the plugin failed")
    assert "autocalc kernels -v" in found.remedy


@pytest.mark.parametrize(
    ("calls", "engine", "reason", "level"),
    [
        (object(), object(), "", "ok"),
        (None, object(), "switched off by AUTOCALC_EAGER=python", "note"),
        (None, None, "autocalc-core was built without a C++ compiler", "warning"),
    ],
)
def test_operators(machine, monkeypatch, calls, engine, reason, level):
    monkeypatch.setattr(checks.eager, "calls", calls)
    monkeypatch.setattr(checks.eager, "reason", reason)
    monkeypatch.setattr(checks.native, "native", engine)
    (found,) = checks.operators(machine())
    assert found.level == level
    assert bool(found.remedy) is (level != "ok")
    assert reason in found.text


@pytest.mark.parametrize(
    ("state", "level"),
    [("none; `autocalc tune` makes one", "ok"), ("not used, made with others", "note")],
)
def test_the_record_of_tune(machine, monkeypatch, state, level):
    monkeypatch.setattr(checks.tuning, "state", lambda: state)
    (found,) = checks.record(machine())
    assert (found.level, found.text) == (level, state)


def test_settings_that_cost_time(machine, environment):
    environment()
    (found,) = checks.environment(machine())
    assert (found.level, found.subject) == ("ok", "environment")
    environment(AUTOCALC_SHADOW="reference:0.5", AUTOCALC_KERNELS="reference")
    found = list(checks.environment(machine()))
    assert [f.level for f in found] == ["note", "note"]
    assert found[0].text == "AUTOCALC_SHADOW=reference:0.5: calls run twice"
    assert "Unset AUTOCALC_KERNELS" in found[1].remedy
    assert ac.kernels.available()

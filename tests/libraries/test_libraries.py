# SPDX-License-Identifier: MIT
"""Programs that use libraries for PyTorch, compared with PyTorch if it is there."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

#: Libraries warn of what they will change.
pytestmark = pytest.mark.filterwarnings("default")

PROGRAMS = ("transformers_models", "transformers_training", "timm_models")
PROGRAMS += ("more_libraries", "small_libraries", "trainers", "model_libraries")


def pytest_generate_tests(metafunc):
    runs = [
        pytest.param(program, name, id=f"{program}-{name}")
        for program in PROGRAMS
        for name in importlib.import_module(program).NAMES
    ]
    metafunc.parametrize(("program", "name"), runs)


def close(found, wanted, what):
    """Compare values: 1e-5 of the largest, which rounding in another order explains.

    Steps of optimizers divide gradients by their size, and small ones are rounding for
    the most part: what comes after them may differ by ten times as much.
    """
    assert found.shape == wanted.shape, what
    if found.dtype.kind in "ib":
        assert np.array_equal(found, wanted), what
        return
    error = np.abs(found - wanted).max(initial=0.0)
    share = 1e-4 if what.startswith("after steps") else 1e-5
    assert error <= share * max(1.0, np.abs(wanted).max(initial=0.0)), (what, error)


def test_a_library(program, name, reference):
    found = importlib.import_module(program).run(name)
    assert all(np.isfinite(value).all() for value in found.values())
    wanted = reference(program, name)
    if wanted is None:
        return
    assert found.keys() == wanted.keys()
    for what, value in wanted.items():
        close(np.asarray(found[what]), value, what)

# SPDX-License-Identifier: MIT
import os

import pytest

from autocalc_kernels_blas._environment import environment, users


def test_variables_hold_within_the_block_and_are_put_back(monkeypatch):
    monkeypatch.setenv("AC_TEST_OLD", "before")
    monkeypatch.delenv("AC_TEST_NEW", raising=False)
    with environment({"AC_TEST_OLD": "within", "AC_TEST_NEW": "within"}):
        assert os.environ["AC_TEST_OLD"] == os.environ["AC_TEST_NEW"] == "within"
    assert os.environ["AC_TEST_OLD"] == "before"
    assert "AC_TEST_NEW" not in os.environ


def test_variables_are_put_back_after_an_error():
    with pytest.raises(RuntimeError), environment({"AC_TEST_NEW": "1"}):
        raise RuntimeError
    assert "AC_TEST_NEW" not in os.environ


def test_an_empty_variable_counts_as_unset(monkeypatch):
    monkeypatch.setenv("AC_TEST_OLD", "")
    assert users("AC_TEST_OLD") is None

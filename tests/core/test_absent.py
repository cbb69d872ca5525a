# SPDX-License-Identifier: MIT
"""Names of PyTorch that are absent on purpose: the error says why, and what to use."""

from __future__ import annotations

import importlib
import inspect
import re

import pytest

import autocalc as ac
from autocalc._absent import GROUPS, advice, groups_by_name
from autocalc._absent.instead import INSTEAD
from autocalc._aliases import lookup

PLACES = sorted(
    {place for group in GROUPS for place in group.names} - {"autocalc.Tensor"}
)

pytestmark = pytest.mark.core


@pytest.mark.parametrize("place", PLACES)
def test_a_module_says_why_it_lacks_a_name(place):
    module = importlib.import_module(place)
    for name, group in groups_by_name(place).items():
        assert not hasattr(module, name), name
        text = f"module {place!r} has no attribute {name!r}: {group.reason}."
        with pytest.raises(AttributeError, match=re.escape(text)):
            getattr(module, name)


def test_a_tensor_and_its_class_say_why_they_lack_a_name():
    for name, group in groups_by_name("autocalc.Tensor").items():
        for where in (ac.Tensor, ac.ones(1), ac.nn.Parameter(ac.ones(1))):
            assert not hasattr(where, name)
            text = f"object has no attribute {name!r}: {group.reason}."
            with pytest.raises(AttributeError, match=re.escape(text)):
                getattr(where, name)


def test_what_to_use_instead():
    with pytest.raises(AttributeError, match=r"Instead: ac\.linalg\.qr\.$"):
        ac.geqrf  # noqa: B018  # reading it is the test
    with pytest.raises(AttributeError, match=r"Instead: ac\.linalg\.qr\.$"):
        ac.ones(2, 2).geqrf()
    with pytest.raises(AttributeError, match=r"use complex64\.$|complex64\.$"):
        ac.chalf  # noqa: B018  # reading it is the test
    with pytest.raises(AttributeError, match=r"'autocalc\.utils\.data'.*no data pipes"):
        ac.utils.data.MapDataPipe  # noqa: B018  # reading it is the test


@pytest.mark.parametrize("place", ["autocalc", *PLACES])
def test_a_name_that_nobody_knows_has_python_s_own_text(place):
    text = rf"^module '{place}' has no attribute 'no_such'$"
    with pytest.raises(AttributeError, match=text) as caught:
        lookup(place)("no_such")
    assert caught.value.name == "no_such"
    with pytest.raises(AttributeError, match=text):
        importlib.import_module(place).no_such  # noqa: B018  # reading it is the test


def test_other_attributes_of_a_tensor_cost_nothing_more():
    """`__getattr__` in a class would end Python's quick way to its members."""
    assert "__getattr__" not in dir(ac.Tensor)
    assert "__getattribute__" not in vars(ac.Tensor)


def test_a_subclass_may_have_the_name():
    class Named(ac.Tensor):
        name = "mine"

    assert Named([1.0]).name == "mine"


def test_each_name_has_one_group_and_advice_is_for_names_that_are_there():
    for place in {place for group in GROUPS for place in group.names}:
        names = [n for g in GROUPS for n in g.names.get(place, "").split()]
        assert len(names) == len(set(names))
        assert set(INSTEAD.get(place, ())) <= set(names)


def test_what_is_advised_exists():
    for place in INSTEAD:
        for name, group in groups_by_name(place).items():
            for path in re.findall(r"\bac\.([\w.]*\w)", advice(place, name, group)):
                found = ac
                for part in path.split("."):
                    found = getattr(found, part)
                assert found is not ac


def test_members_of_the_class_can_be_listed():
    assert dict(inspect.getmembers(ac.Tensor, callable))["mul"] is ac.mul
    assert "geqrf" not in dir(ac)
    assert "geqrf" not in dir(ac.ones(1))

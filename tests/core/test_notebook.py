# SPDX-License-Identifier: MIT
"""What notebooks show: tensors, modules, `kernels.show()`."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

import autocalc as ac
from autocalc import nn


class Balance(HTMLParser):
    """Raises where a tag is closed that is not open."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def shown(thing):
    text = thing._repr_html_()
    balance = Balance()
    balance.feed(text)
    assert balance.open == []
    return text


def cells(text):
    return [re.findall(r"<td>(.*?)</td>", row) for row in text.split("<tr>")[1:]]


def test_a_matrix_is_a_table_with_its_facts():
    text = shown(ac.tensor([[1.5, -2.0], [0.25, 3.0]]))
    assert cells(text) == [["1.5000", "-2.0000"], ["0.2500", "3.0000"]]
    assert "<small>Tensor [2, 2], float32, 16 bytes</small>" in text


def test_a_vector_is_a_row():
    assert cells(shown(ac.arange(3))) == [["0", "1", "2"]]


def test_long_dimensions_are_shortened():
    x = ac.arange(30 * 25).reshape(30, 25)
    rows = cells(shown(x))
    assert len(rows) == 11
    assert rows[0] == ["0", "1", "2", "3", "4", "…", "20", "21", "22", "23", "24"]
    assert rows[5] == ["⋮"] * 11
    assert rows[10][-1] == "749"
    assert len(shown(ac.zeros(1000, 1000))) < 4000


@pytest.mark.parametrize(
    "x", [ac.tensor(1.5), ac.zeros(2, 2, 2), ac.zeros(0), ac.zeros(0, 3)]
)
def test_other_tensors_are_their_text(x):
    assert f"<pre>{html.escape(repr(x))}</pre>" in shown(x)


def test_gradients_are_named():
    x = ac.ones(2, requires_grad=True)
    assert "requires grad" in shown(x)
    text = shown(x * 2)
    assert "grad_fn mul" in text
    assert "requires grad" not in text
    assert "Parameter [3]" in shown(nn.Parameter(ac.ones(3)))


def test_numbers_that_are_not_finite_have_names():
    assert cells(shown(ac.tensor([float("nan"), float("inf"), 1.0]))) == [
        ["nan", "inf", "1."]
    ]


def test_printing_options_count():
    ac.set_printoptions(precision=1)
    try:
        assert cells(shown(ac.tensor([0.25]))) == [["0.2"]]
    finally:
        ac.set_printoptions(profile="default")


def test_a_module_is_a_tree_of_its_parts():
    net = nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.ReLU(), nn.Linear(4, 2)))
    net[0].weight.requires_grad_(False)
    text = shown(net)
    assert text.count("<details open>") == 2
    assert "<code>Sequential()</code> <small>26 parameters, 12 of them frozen" in text
    assert "(0): Linear(in_features=3, out_features=4, bias=True)" in text
    assert "(1): Linear(in_features=4, out_features=2, bias=True)</code>" in text


def test_names_of_modules_are_escaped():
    class Odd(nn.Module):
        def extra_repr(self):
            return "<script>alert(1)</script>"

    net = nn.Sequential()
    net.add_module("<b>", Odd())
    text = shown(net)
    assert "<script>" not in text
    assert "<b>" not in text
    assert "&lt;script&gt;" in text


def test_parameters_that_are_not_there_yet_are_counted():
    text = shown(nn.LazyLinear(2))
    assert "0 parameters, 2 tensors not yet there" in text
    assert shown(nn.LazyLinear(2).weight) == "<pre>&lt;UninitializedParameter&gt;</pre>"


def test_the_report_of_kernels_is_tables():
    report = ac.kernels.show()
    text = shown(report)
    assert f"<td>{html.escape(report.cpu)}, {report.threads} threads</td>" in text
    for line in report.sets:
        assert f"<td>{line.name}</td><td>{line.rank}</td>" in text
    assert "reference" in text


def test_the_report_of_kernels_is_escaped():
    report = replace(ac.kernels.show(), environment={"AUTOCALC_KERNELS": "<img src=x>"})
    text = shown(report)
    assert "<img" not in text
    assert "&lt;img src=x&gt;" in text

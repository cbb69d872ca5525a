# SPDX-License-Identifier: MIT
"""What Python's frames say of a call: line, modules, operator."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from tests.dispatcher import FORWARD, GRADIENT_SUM, Site

import autocalc as ac
from autocalc import nn
from autocalc._dispatch._callers import Paths, caller, site_of

OWN = ac.__file__[: -len("__init__.py")]


class Inner(nn.Module):
    def forward(self, x):
        self.seen = caller()
        return x


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return self.inner(x)


def chain(*places):
    """Return a frame, the innermost place first."""
    frame = None
    for file, name in reversed(places):
        path = OWN + file if file else "/home/user/train.py"
        source = compile(f"def {name}(): pass", path, "exec")
        code = source.co_consts[0]
        frame = SimpleNamespace(f_code=code, f_back=frame)
    return frame


@pytest.mark.parametrize(
    ("places", "site"),
    [
        ([("", "train")], FORWARD),
        (
            [("_ops/activations/smooth.py", "gelu"), ("", "train")],
            Site("gelu", "forward"),
        ),
        # the outermost operator names the call, helpers do not
        (
            [
                ("_dispatch/selection/call.py", "run"),
                ("_ops/_operator/factories.py", "call"),
                ("_ops/matrices/matmul.py", "linear"),
                ("_ops/attention/dot_product.py", "attend"),
                ("nn/_layers/attention/multihead.py", "forward"),
            ],
            Site("attend", "forward"),
        ),
        ([("_ops/matrices/matmul.py", "_private"), ("", "train")], FORWARD),
        ([("_ops/views/_shared.py", "helper"), ("", "train")], FORWARD),
        ([("optim/_adam.py", "step")], Site("", "optimizer")),
        (
            [("_ops/norm.py", "norm"), ("optim/_sgd.py", "step")],
            Site("norm", "optimizer"),
        ),
        ([("_graph/_walk.py", "add"), ("", "train")], GRADIENT_SUM),
        ([("autograd/_gradients.py", "deliver")], GRADIENT_SUM),
    ],
)
def test_a_site_is_given_by_its_frames(places, site):
    assert site_of(chain(*places)) == site


def test_the_real_frame_of_a_user():
    assert site_of(sys._getframe()) == FORWARD


def test_names():
    assert Site("", "forward").name("add") == "add"
    assert Site("linear", "backward").name("gemm") == "linear backward"


def test_the_running_modules_are_found_from_the_inside():
    model = Outer()
    model(ac.ones(2))
    seen = model.inner.seen
    assert seen.modules == (model.inner, model)
    assert seen.node is None
    assert (seen.line.file, seen.line.function) == (__file__, "forward")
    assert str(seen.line).endswith("`self.seen = caller()`.")
    assert caller().modules == ()


def test_paths_of_modules_that_are_added_later_or_are_no_part():
    model, paths = nn.Sequential(Outer()), Paths()
    assert paths.path(model, model[0].inner) == "0.inner"
    model.append(Inner())
    assert paths.path(model, model[1]) == "1"
    assert paths.path(model, nn.Tanh()) is None
    assert paths.title((nn.Tanh(), model)) == "Tanh"


def test_titles_of_several_models_of_one_class():
    first, second, paths = Outer(), Outer(), Paths()
    assert paths.title((first.inner, first)) == "Outer.inner"
    assert paths.title((second.inner, second)) == "Outer #2.inner"
    assert paths.title((first,)) == "Outer"
    assert paths.title(()) == ""

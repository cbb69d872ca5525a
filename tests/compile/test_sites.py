# SPDX-License-Identifier: MIT
"""Operators as the frames of Python tell them."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from autocalc._compile import _sites
from autocalc._compile._sites import FORWARD, GRADIENT_SUM, Site, site_of

OWN = _sites._OWN


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
        ([("_ops/activations.py", "gelu"), ("", "train")], Site("gelu", "forward")),
        # the outermost operator names the call, helpers do not
        (
            [
                ("_dispatch/_call.py", "run"),
                ("_ops/_op.py", "call"),
                ("_ops/matmul.py", "linear"),
                ("_ops/attention.py", "attend"),
                ("nn/_attention.py", "forward"),
            ],
            Site("attend", "forward"),
        ),
        ([("_ops/matmul.py", "_private"), ("", "train")], FORWARD),
        ([("optim/_adam.py", "step")], Site("", "optimizer")),
        (
            [("_ops/norm.py", "norm"), ("optim/_sgd.py", "step")],
            Site("norm", "optimizer"),
        ),
        ([("_graph/_walk.py", "add"), ("", "train")], GRADIENT_SUM),
        ([("autograd/_gradients.py", "deliver")], GRADIENT_SUM),
    ],
)
def test_a_site_is_told_by_its_frames(places, site):
    assert site_of(chain(*places)) == site


def test_the_real_frame_of_a_user():
    assert site_of(sys._getframe()) == FORWARD


def test_names():
    assert Site("", "forward").name("add") == "add"
    assert Site("linear", "backward").name("gemm") == "linear backward"

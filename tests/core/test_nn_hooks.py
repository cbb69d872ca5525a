# SPDX-License-Identifier: MIT
"""Forward hooks: their order, what they see, what they may change."""

from __future__ import annotations

import autocalc as ac
from autocalc import nn


class Add(nn.Module):
    def forward(self, x, *, by=1):
        return x + by


def test_hooks_run_around_forward_in_order():
    seen = []
    net = Add()
    net.register_forward_pre_hook(lambda m, args: seen.append(("pre", m is net, args)))
    net.register_forward_hook(lambda m, args, out: seen.append(("post", args, out)))
    net.register_forward_hook(lambda m, args, out: seen.append("last"))
    net.register_forward_hook(lambda m, args, out: seen.append("first"), prepend=True)
    assert net(1) == 2
    assert seen == [("pre", True, (1,)), "first", ("post", (1,), 2), "last"]


def test_hooks_may_change_what_passes():
    net = Add()
    net.register_forward_pre_hook(lambda m, args: args[0] * 10)
    assert net(1) == 11
    net.register_forward_pre_hook(lambda m, args: (args[0] + 5,))
    assert net(1) == 16
    net.register_forward_hook(lambda m, args, out: -out)
    assert net(1) == -16


def test_hooks_may_want_the_keywords():
    net = Add()
    net.register_forward_pre_hook(
        lambda m, args, kwargs: (args, {**kwargs, "by": kwargs["by"] + 1}),
        with_kwargs=True,
    )
    seen = []
    net.register_forward_hook(
        lambda m, args, kwargs, out: seen.append((args, kwargs, out)),
        with_kwargs=True,
    )
    assert net(1, by=3) == 5
    assert seen == [((1,), {"by": 4}, 5)]


def test_handles_take_hooks_away():
    net = Add()
    seen = []
    handle = net.register_forward_hook(lambda m, args, out: seen.append(out))
    with net.register_forward_pre_hook(lambda m, args: (0,)):
        assert net(1) == 1
    assert net(1) == 2
    handle.remove()
    handle.remove()
    net(1)
    assert seen == [1, 2]


def test_a_hook_may_remove_itself():
    net = Add()
    handles = []

    def once(module, args, out):
        handles[0].remove()
        return out * 100

    handles.append(net.register_forward_hook(once))
    assert net(1) == 200
    assert net(1) == 2


def test_hooks_of_inner_modules_see_activations():
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
    shapes = {}
    for name, module in net.named_modules():
        module.register_forward_hook(
            lambda m, args, out, name=name: shapes.update({name: out.shape})
        )
    net(ac.zeros(2, 3))
    assert shapes == {"0": (2, 4), "1": (2, 4), "": (2, 4)}

# SPDX-License-Identifier: MIT
"""AUTOCALC_SHADOW: some calls run twice, and what differs is named."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tests.dispatcher import shadowed
from tests.kernel_table import TABLE, adapt

import autocalc as ac
from autocalc.errors import ConfigError, KernelError, ShadowWarning
from autocalc.nn.functional import cross_entropy, linear
from autocalc.plugin import KernelSet


def kernel_set(name, **kernels):
    return KernelSet(name, family=name, load=lambda: kernels)


def right_add(out, a, b):
    np.add(a, b, out=out)


def wrong_add(out, a, b):
    np.add(a, b, out=out)
    out.reshape(-1)[-1:] += 0.5


def test_a_right_kernel_passes_in_silence(install, environment):
    install(mine=[kernel_set("mine", add=right_add)])
    environment(AUTOCALC_SHADOW="reference:1")
    assert (ac.ones(3) + ac.ones(3)).tolist() == [2.0] * 3


def test_a_wrong_kernel_is_named_with_its_worst_difference(install, environment):
    install(mine=[kernel_set("mine", add=wrong_add)])
    environment(AUTOCALC_SHADOW="reference:1")
    message = (
        r"AUTOCALC_SHADOW: add of mine differs from reference: `out` at \(2,\) is 2.5, "
        r"reference gives 2.0; allowed is 2 times the kernel's budget"
    )
    with pytest.warns(ShadowWarning, match=message):
        result = ac.ones(3) + ac.ones(3)
    assert result.tolist() == [2.0, 2.0, 2.5]  # what was chosen stays


def test_strict_raises(install, environment):
    install(mine=[kernel_set("mine", add=wrong_add)])
    x = ac.ones(3)
    environment(AUTOCALC_SHADOW="reference:1", AUTOCALC_STRICT="1")
    with pytest.raises(KernelError, match="add of mine differs"):
        x + x


def test_the_other_set_can_be_any(install, environment):
    install(
        a=[kernel_set("a", add=right_add, mul=adapt(TABLE["mul"]))],
        b=[KernelSet("b", family="b", rank=1, load=lambda: {"add": wrong_add})],
    )
    environment(AUTOCALC_SHADOW="b:1")
    with pytest.warns(ShadowWarning, match="add of a differs from b"):
        ac.ones(3) + ac.ones(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ac.ones(3) * ac.ones(3)  # b has no such kernel


def test_a_share_of_the_calls_in_a_fixed_order(install, environment):
    twice = []

    def slow_add(out, a, b):
        twice.append(1)
        np.add(a, b, out=out)

    install(
        mine=[kernel_set("mine", add=right_add)],
        other=[
            KernelSet("other", family="other", rank=1, load=lambda: {"add": slow_add})
        ],
    )
    environment(AUTOCALC_SHADOW="other:0.25")
    seen = []
    x = ac.ones(3)
    for _ in range(12):
        x + x
        seen.append(len(twice))
    assert seen == [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]


def test_it_works_together_with_counting(install, environment):
    install(mine=[kernel_set("mine", add=wrong_add)])
    environment(AUTOCALC_SHADOW="reference:1")
    with ac.kernels.count() as calls, pytest.warns(ShadowWarning):
        ac.ones(3) + ac.ones(3)
    assert calls["add", "mine"] == 1


def test_every_kind_of_call_can_be_shadowed(install, environment):
    """A whole set against the reference: lists, in-out operands, options, no floats."""
    kernels = {name: adapt(spec) for name, spec in TABLE.items()}
    install(mine=[KernelSet("mine", family="mine", load=lambda: kernels)])
    environment(AUTOCALC_SHADOW="reference:1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        w = ac.rand(3, 4, requires_grad=True)
        target = ac.tensor([0, 1, 2, 0, 1])
        for _ in range(2):
            h = linear(ac.rand(5, 4), w, ac.zeros(3)).relu()
            loss = cross_entropy(h, target) + h.var() + h.amax(1).mean()
            loss.backward()
        optimizer = ac.optim.SGD([w], lr=0.1, momentum=0.9)
        optimizer.step()
        optimizer.step()
        assert ac.arange(3).argmax().item() == 2
        assert (ac.tensor([float("nan"), float("inf")]) * 2).shape == (2,)
        assert ac.zeros(0).exp().shape == (0,)


def test_an_in_place_kernel_that_is_wrong(install, environment):
    def wrong_axpy(y, alpha, x):
        y += alpha * x + 1

    install(mine=[kernel_set("mine", axpy=wrong_axpy)])
    environment(AUTOCALC_SHADOW="reference:1")
    from tests.dispatcher import arrays

    y = np.zeros(2, np.float32)
    with pytest.warns(ShadowWarning, match="axpy of mine"):
        arrays.axpy(y, np.float32(2) * np.ones((), np.float32), np.ones(2, np.float32))
    assert y.tolist() == [3.0, 3.0]


def test_an_unknown_set(environment):
    environment(AUTOCALC_SHADOW="refrence:1")
    with pytest.raises(ConfigError, match=r"'refrence'.*Did you mean 'reference'"):
        ac.ones(3) + ac.ones(3)


# ---- kernels that are wrong in ways of their own -------------------------------------

REFERENCE = {name: adapt(TABLE[name]) for name in ("gelu_backward", "neg", "add")}


def test_a_gradient_that_is_a_little_off_is_named_with_shapes_and_line(
    install, environment
):
    def gelu_backward(out, g, a, approximate):
        REFERENCE["gelu_backward"](out, g, a, approximate)
        out *= 1 + 1e-3

    install(mine=[kernel_set("mine", gelu_backward=gelu_backward)])
    environment(AUTOCALC_SHADOW="reference:1")
    x = ac.rand(3, 5, requires_grad=True)
    loss = ac.nn.functional.gelu(x).sum()
    message = (
        r"gelu_backward of mine differs from reference: `out` at .* Operands: `out` "
        r"\(3, 5\) float32, `g` .*, `a` \(3, 5\) float32\. Called at .*test_shadow.py:"
        r"\d+, in test_a_gradient_.*: `loss.backward\(\)`\."
    )
    with pytest.warns(ShadowWarning, match=message):
        loss.backward()


def test_strides_that_a_kernel_ignores(install, environment):
    def neg(out, a):
        flat = np.lib.stride_tricks.as_strided(a, (a.size,), (a.itemsize,))
        out[...] = -flat.reshape(a.shape)

    install(mine=[kernel_set("mine", neg=neg)])
    environment(AUTOCALC_SHADOW="reference:1")
    x = ac.rand(4, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x.neg()
    message = r"neg of mine differs.*`a` \(4, 3\) float32 with strides \(24, 8\)\. Cal"
    with pytest.warns(ShadowWarning, match=message):
        x[:, ::2].neg()


def past_the_end(a):
    """Return the element after the last one of a contiguous array."""
    return np.lib.stride_tricks.as_strided(a.reshape(-1), (a.size + 1,))[-1:]


def test_a_write_behind_an_output_harms_nobody(install, environment):
    def neg(out, a):
        REFERENCE["neg"](out, a)
        past_the_end(out)[...] = 7

    install(mine=[kernel_set("mine", neg=neg)])
    environment(AUTOCALC_SHADOW="reference:1")
    message = (
        r"neg of mine wrote outside of its output `out`\. Operands: `out` \(5,\) fl"
    )
    with pytest.warns(ShadowWarning, match=message):
        assert (-ac.ones(5)).tolist() == [-1.0] * 5


def test_a_write_between_the_elements_of_an_output(install, environment):
    def neg(out, a):
        REFERENCE["neg"](out, a)
        past_the_end(out[0])[...] = 7

    install(mine=[kernel_set("mine", neg=neg)])
    environment(AUTOCALC_SHADOW="reference:1")
    call = shadowed(TABLE["neg"], "mine", neg, "reference")
    whole = np.zeros((2, 5), np.float32)
    with pytest.warns(ShadowWarning, match="wrote outside of its output `out`"):
        call(whole[:, :3], np.ones((2, 3), np.float32))
    assert whole.tolist() == [[-1, -1, -1, 0, 0]] * 2


def test_an_input_that_is_changed(install, environment):
    def add(out, a, b):
        REFERENCE["add"](out, a, b)
        b[...] = 0

    install(mine=[kernel_set("mine", add=add)])
    environment(AUTOCALC_SHADOW="reference:1")
    with pytest.warns(ShadowWarning, match="add of mine changed its input `b`"):
        ac.ones(3) + ac.ones(3)


def test_an_output_over_its_input(install, environment):
    install(mine=[kernel_set("mine", add=right_add)])
    environment(AUTOCALC_SHADOW="reference:1")
    call = shadowed(TABLE["add"], "mine", right_add, "reference")
    a = np.ones((2, 3), np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(a, a, np.ones((2, 3), np.float32))
    assert a.tolist() == [[2.0] * 3] * 2

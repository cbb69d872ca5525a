# SPDX-License-Identifier: MIT
"""`GradScaler`: losses are scaled, infinite gradients leave a step out."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError


def setting(**words):
    w = ac.ones(2, requires_grad=True)
    optimizer = ac.optim.SGD([w], lr=0.5)
    return w, optimizer, ac.amp.GradScaler("cpu", init_scale=8.0, **words)


def step(w, optimizer, scaler, factor=1.0):
    optimizer.zero_grad()
    scaler.scale((w * factor).sum()).backward()
    scaler.step(optimizer)
    scaler.update()


def test_a_step_is_that_of_the_gradients_without_the_scale():
    w, optimizer, scaler = setting()
    step(w, optimizer, scaler)
    assert ac.equal(w, ac.full((2,), 0.5))
    assert scaler.get_scale() == 8.0


def test_infinite_gradients_leave_the_step_out_and_shrink_the_scale():
    w, optimizer, scaler = setting()
    step(w, optimizer, scaler, float("inf"))
    assert ac.equal(w, ac.ones(2))
    assert scaler.get_scale() == 4.0
    step(w, optimizer, scaler, float("nan"))
    assert ac.equal(w, ac.ones(2))
    assert scaler.get_scale() == 2.0
    step(w, optimizer, scaler)
    assert ac.equal(w, ac.full((2,), 0.5))


def test_the_scale_grows_after_some_steps():
    w, optimizer, scaler = setting(growth_interval=3, growth_factor=4.0)
    for expected in (8.0, 8.0, 32.0, 32.0):
        step(w, optimizer, scaler)
        assert scaler.get_scale() == expected


def test_a_bad_gradient_begins_the_count_again():
    w, optimizer, scaler = setting(growth_interval=2)
    step(w, optimizer, scaler)
    step(w, optimizer, scaler, float("inf"))
    step(w, optimizer, scaler)
    assert scaler.get_scale() == 4.0


def test_the_scale_never_becomes_infinite():
    w, optimizer, scaler = setting(growth_interval=1)
    scaler.update(3e38)
    step(w, optimizer, scaler)
    assert scaler.get_scale() == 3e38


def test_gradients_can_be_clipped_between():
    w, optimizer, scaler = setting()
    scaler.scale((w * 3).sum()).backward()
    scaler.unscale_(optimizer)
    assert ac.equal(w.grad, ac.full((2,), 3.0))
    ac.nn.utils.clip_grad_value_([w], 1.0)
    scaler.step(optimizer)
    assert ac.equal(w, ac.full((2,), 0.5))


def test_two_optimizers_share_a_scale():
    scaler = ac.amp.GradScaler("cpu", init_scale=8.0)
    a, b = (ac.ones(1, requires_grad=True) for _ in range(2))
    first, second = (ac.optim.SGD([x], lr=0.5) for x in (a, b))
    scaler.scale(a.sum() + b.sum() * float("inf")).backward()
    scaler.step(first)
    scaler.step(second)
    scaler.update()
    assert a.item() == 0.5
    assert b.item() == 1.0
    assert scaler.get_scale() == 4.0


def test_several_losses_are_scaled_at_once():
    scaler = ac.amp.GradScaler("cpu", init_scale=8.0)
    one, two = scaler.scale([ac.ones(1), (ac.ones(2),)])
    assert one.item() == 8.0
    assert ac.equal(two[0], ac.full((2,), 8.0))


def test_it_is_saved_and_loaded():
    w, optimizer, scaler = setting(growth_interval=2)
    step(w, optimizer, scaler)
    other = ac.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict()
    step(w, optimizer, other)
    assert other.get_scale() == 16.0


def test_its_factors_can_be_changed():
    _, _, scaler = setting()
    scaler.set_growth_factor(3.0)
    scaler.set_backoff_factor(0.25)
    scaler.set_growth_interval(7)
    found = scaler.get_growth_factor(), scaler.get_backoff_factor()
    assert found == (3.0, 0.25)
    assert scaler.get_growth_interval() == 7
    scaler.update(ac.tensor(4.0))
    assert scaler.get_scale() == 4.0


def test_float16_trains_where_gradients_would_vanish():
    def train(scaler):
        w = ac.full((1, 1), 0.5, requires_grad=True)
        optimizer = ac.optim.SGD([w], lr=1e6)
        with ac.autocast("cpu", dtype=ac.float16):
            y = ac.full((1, 1), 1e-4) @ w
        scaler.scale(y.float().sum() * 1e-6).backward()
        scaler.step(optimizer)
        return w.item()

    assert train(ac.amp.GradScaler("cpu", enabled=False)) == 0.5
    assert train(ac.amp.GradScaler("cpu")) == pytest.approx(0.4999, rel=1e-5)


@pytest.mark.parametrize("words", [{"device": "cuda"}, {"enabled": False}])
def test_switched_off_it_does_nothing(words):
    w = ac.ones(2, requires_grad=True)
    optimizer = ac.optim.SGD([w], lr=0.5)
    scaler = ac.amp.GradScaler(**{"device": "cpu", **words})
    step(w, optimizer, scaler)
    assert ac.equal(w, ac.full((2,), 0.5))
    assert scaler.state_dict() == {}
    assert scaler.get_scale() == 1.0
    assert not scaler.is_enabled()


def test_calls_out_of_order_are_refused():
    w, optimizer, scaler = setting()
    with pytest.raises(ArgumentError, match=r"GradScaler\.update: there was"):
        scaler.update()
    scaler.scale(w.sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="`unscale_` was already called for this"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(ArgumentError, match="was already called for this"):
        scaler.unscale_(optimizer)
    with pytest.raises(ArgumentError, match="step: it was already called for this"):
        scaler.step(optimizer)


def test_other_mistakes():
    w, optimizer, scaler = setting()
    with pytest.raises(ArgumentError, match="`closure` is given; GradScaler cannot"):
        scaler.step(optimizer, closure=w.sum)
    with pytest.raises(DTypeError, match="`outputs` is a str; it must be a tensor"):
        scaler.scale("x")
    with pytest.raises(ArgumentError, match="`growth_factor` must be above"):
        ac.amp.GradScaler("cpu", growth_factor=1.0)
    with pytest.raises(ArgumentError, match="`state_dict` is empty"):
        scaler.load_state_dict({})
    half = ac.ones(2, dtype=ac.float16, requires_grad=True)
    scaler.scale(half.sum()).backward()
    with pytest.raises(ValueError, match="a gradient has dtype float16"):
        scaler.step(ac.optim.SGD([half], lr=0.1))


def test_a_compiled_step_refuses_it():
    w, optimizer, scaler = setting()

    @ac.compile
    def compiled():
        scaler.scale(w.sum()).backward()
        scaler.step(optimizer)
        scaler.update()

    with pytest.raises(ac.errors.CompileError, match="whether gradients are finite"):
        compiled()

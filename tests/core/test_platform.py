# SPDX-License-Identifier: MIT
"""What programs ask of the machine and of the library before they begin."""

from __future__ import annotations

import math

import pytest

import autocalc as ac


def test_there_is_no_cuda_and_no_mps():
    assert not ac.cuda.is_available()
    assert ac.cuda.device_count() == 0
    for act in (ac.cuda.empty_cache, ac.cuda.synchronize):
        act()
    assert not ac.backends.mps.is_available()
    assert not ac.backends.mps.is_built()
    assert not ac.backends.cudnn.is_available()
    ac.backends.cudnn.benchmark = True
    with pytest.raises(ac.errors.ArgumentError, match="'cuda:0' is not available"):
        ac.ones(1).to(device="cuda:0")


def test_seeds_of_devices_that_are_not_there_change_nothing():
    ac.manual_seed(1)
    first = ac.rand(1).item()
    ac.manual_seed(1)
    ac.cuda.manual_seed(2)
    ac.cuda.manual_seed_all(2)
    assert ac.rand(1).item() == first
    assert ac.initial_seed() == 1


def test_the_state_of_the_default_generator():
    ac.manual_seed(4)
    ac.rand(3)
    state = ac.get_rng_state()
    drawn = ac.rand(5)
    ac.set_rng_state(state)
    assert ac.equal(ac.rand(5), drawn)
    assert ac.seed() == ac.initial_seed()
    with pytest.raises(ac.errors.ArgumentError, match="give what `get_rng_state`"):
        ac.set_rng_state(ac.ones(2))


def test_arguments_of_to():
    x = ac.ones(2)
    assert x.to("cpu", non_blocking=True) is x
    assert x.to(device=ac.device("cpu"), dtype=ac.float64).dtype is ac.double
    assert x.to(ac.int).dtype is ac.int32
    assert isinstance(x.dtype, ac.dtype)


def test_inference_mode_records_nothing():
    x = ac.ones(1, requires_grad=True)
    with ac.inference_mode():
        assert not (x * 2).requires_grad
    with ac.no_grad(), ac.inference_mode(False):
        assert (x * 2).requires_grad

    @ac.inference_mode()
    def double(x):
        return x * 2

    assert not double(x).requires_grad
    assert ac.is_grad_enabled()


def test_small_questions():
    assert ac.is_tensor(ac.ones(1))
    assert not ac.is_tensor(1.0)
    assert ac.numel(ac.ones(2, 3)) == 6
    assert ac.is_floating_point(ac.ones(1))
    assert not ac.is_floating_point(ac.arange(2))
    assert (ac.inf, ac.pi) == (math.inf, math.pi)
    assert math.isnan(ac.nan)

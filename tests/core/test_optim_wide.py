# SPDX-License-Identifier: MIT
"""Parameters of bfloat16 and float16 that are updated in float32.

The oracle is the same optimizer on float32 parameters with the same gradients: master
weights are its parameters, bit for bit.
"""

from __future__ import annotations

import copy
import io
import math

import pytest

import autocalc as ac
from autocalc import nn, optim
from autocalc.errors import ArgumentError
from autocalc.nn import functional as F

pytestmark = pytest.mark.core

NAMES = sorted(
    name
    for name in optim.__all__
    if isinstance(getattr(optim, name), type)
    and name not in ("Optimizer", "LBFGS", "SparseAdam")
)
SETTINGS = {
    "Adam": {"amsgrad": True},
    "RMSprop": {"momentum": 0.9, "centered": True},
    "SGD": {"momentum": 0.9, "weight_decay": 0.1},
    "ZeroRedundancyOptimizer": {"optimizer_class": optim.AdamW},
}
HALVES = [ac.bfloat16, ac.float16]
MASTER, RANDOM = "master_weights", "stochastic_rounding"


def made(name, params, **words):
    return getattr(optim, name)(
        params, **{"lr": 1e-3, **SETTINGS.get(name, {})}, **words
    )


def weights(dtype, *shape):
    x = ac.linspace(-2, 2, math.prod(shape)).reshape(*shape)
    return x.to(dtype).requires_grad_()


def gradients(steps, shape, dtype):
    g = ac.Generator().manual_seed(3)
    return [ac.randn(*shape, generator=g).to(dtype) for _ in range(steps)]


def steps(optimizer, w, grads):
    for grad in grads:
        w.grad = grad.to(w.dtype)
        optimizer.step()
    return w.detach()


def master(optimizer, w):
    return optimizer.state[w]["master_param"]


# ---- master weights ------------------------------------------------------------------


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_master_weights_are_those_of_float32(name, dtype):
    w, grads = weights(dtype, 5, 4), gradients(6, (5, 4), dtype)
    wide = w.detach().float().requires_grad_()
    optimizer = made(name, [w], master_weights=True)
    steps(optimizer, w, grads)
    exact = steps(made(name, [wide]), wide, grads)
    assert ac.equal(master(optimizer, w), exact)
    assert ac.equal(w.detach(), exact.to(dtype))
    tensors = [x for x in optimizer.state[w].values() if x.ndim == 2]
    assert {x.dtype for x in tensors} == {ac.float32}


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_an_update_below_the_spacing_is_kept(dtype):
    lost, kept = (ac.ones(3, dtype=dtype).requires_grad_() for _ in range(2))
    for w, words in ((lost, {}), (kept, {MASTER: True})):
        steps(optim.SGD([w], lr=1e-4, **words), w, [ac.ones(3)] * 200)
    assert lost.tolist() == [1.0] * 3
    assert kept.tolist() == pytest.approx([0.98] * 3, rel=ac.finfo(dtype).eps)


def test_losses_of_300_steps_are_those_of_float32():
    def losses(dtype, **words):
        g = ac.Generator().manual_seed(5)
        x, target = ac.randn(64, 8, generator=g), ac.randn(64, 1, generator=g)
        ac.manual_seed(1)
        model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1)).to(dtype)
        optimizer = optim.AdamW(model.parameters(), lr=3e-4, **words)
        found = []
        for _ in range(300):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x.to(dtype)).float(), target)
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return sum(found[-20:]) / 20

    exact = losses(ac.float32)
    assert losses(ac.bfloat16, master_weights=True) == pytest.approx(exact, rel=0.01)
    assert losses(ac.bfloat16, stochastic_rounding=True) == pytest.approx(
        exact, rel=0.02
    )
    assert losses(ac.bfloat16) > 1.05 * exact


def test_other_dtypes_and_other_groups_are_as_ever():
    half, wide, plain = (
        weights(ac.bfloat16, 4),
        weights(ac.float32, 4),
        weights(HALVES[0], 4),
    )
    sgd = optim.SGD([{"params": [half, wide], MASTER: True}], lr=0.1, momentum=0.9)
    sgd.add_param_group({"params": [plain]})
    for w in (half, wide, plain):
        w.grad = ac.ones(4, dtype=w.dtype)
    sgd.step()
    kept = [{k: x.dtype for k, x in sgd.state[w].items()} for w in (half, wide, plain)]
    assert kept == [
        {"master_param": ac.float32, "momentum_buffer": ac.float32},
        {"momentum_buffer": ac.float32},
        {"momentum_buffer": ac.bfloat16},
    ]
    assert MASTER not in sgd.defaults
    assert MASTER not in optim.AdamW([wide], master_weights=False).param_groups[0]


def test_a_setting_that_is_switched_on_later():
    w, grads = weights(ac.bfloat16, 4), gradients(4, (4,), ac.bfloat16)
    adam = optim.Adam([w], lr=0.1)
    steps(adam, w, grads[:2])
    adam.param_groups[0][MASTER] = True
    steps(adam, w, grads[2:])
    assert {x.dtype for x in adam.state[w].values()} == {ac.float32, ac.int64}
    assert ac.equal(master(adam, w).bfloat16(), w.detach())


def test_closures_schedulers_and_scalers():
    w = weights(ac.bfloat16, 4)
    wide = w.detach().float().requires_grad_()
    for x, words in ((w, {MASTER: True}), (wide, {})):
        adam = optim.Adam([x], lr=0.1, **words)
        scaler = ac.amp.GradScaler("cpu", init_scale=4.0)
        schedule = optim.lr_scheduler.ExponentialLR(adam, 0.5)

        def closure(x=x):
            x.grad = ac.ones(4, dtype=x.dtype)
            return 7

        for _ in range(3):
            assert adam.step(closure) == 7
            schedule.step()
            scaler.scale(x.sum()).backward()
            scaler.step(adam)
            scaler.update()
    assert ac.equal(w.detach(), wide.detach().bfloat16())


# ---- others' writes ------------------------------------------------------------------

WRITES = {
    "copy_": lambda w: w.copy_(ac.full_like(w, 5.0)),
    "data": lambda w: w.data.fill_(5.0),
    "new data": lambda w: setattr(w, "data", ac.full_like(w, 5.0)),
    "a view": lambda w: w.view(-1).fill_(5.0),
    "load_state_dict": lambda w: w.copy_(ac.tensor([5.0] * 4).bfloat16()),
}


@pytest.mark.parametrize("words", [(MASTER,), (RANDOM,), (MASTER, RANDOM)], ids=str)
@pytest.mark.parametrize("write", WRITES)
def test_a_write_into_the_parameter_holds(write, words):
    w = weights(ac.bfloat16, 4)
    sgd = optim.SGD([w], lr=1e-4, **dict.fromkeys(words, True))
    steps(sgd, w, gradients(3, (4,), ac.bfloat16))
    with ac.no_grad():
        WRITES[write](w)
    steps(sgd, w, [ac.zeros(4)])
    assert w.tolist() == [5.0] * 4


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("more", [{}, {RANDOM: True}], ids=str)
def test_a_write_leaves_the_digits_of_other_elements(more, dtype):
    w = weights(dtype, 1000)
    sgd = optim.SGD([w], lr=1e-3, master_weights=True, **more)
    steps(sgd, w, gradients(3, (1000,), dtype))
    before = master(sgd, w).clone()
    with ac.no_grad():
        w[0] = 5.0
        w[1:].copy_(w[1:].clone())
    steps(sgd, w, [ac.zeros(1000)])
    assert master(sgd, w)[0] == 5.0
    assert ac.equal(master(sgd, w)[1:], before[1:])


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("more", [{}, {RANDOM: True}], ids=str)
def test_a_write_of_the_number_next_to_the_rounding_holds(more, dtype):
    w = weights(dtype, 1000)
    sgd = optim.SGD([w], lr=1e-3, master_weights=True, **more)
    steps(sgd, w, gradients(3, (1000,), dtype))
    kept, integers = master(sgd, w).clone(), w.detach().view(ac.int16)
    with ac.no_grad():
        integers.add_(ac.where(w.abs().float() > kept.abs(), 1, -1).to(ac.int16))
    written = w.detach().clone()
    steps(sgd, w, [ac.zeros(1000)])
    outside = (written.float() - kept).abs() > (written.float() - w.float()).abs()
    away = (written.float() > kept) == (w.float() > kept)
    if more:  # the other neighbour is a rounding of the master copy, too
        assert bool(((master(sgd, w) == written.float()) | ~away | ~outside).all())
    else:
        exact = kept == kept.to(dtype).float()
        assert bool(((master(sgd, w) == written.float()) | exact).all())


# ---- states --------------------------------------------------------------------------


@pytest.mark.parametrize("model_first", [True, False])
@pytest.mark.parametrize("words", [(MASTER,), (RANDOM,), (MASTER, RANDOM)], ids=str)
def test_a_training_goes_on_bit_for_bit(words, model_first):
    grads = gradients(6, (5, 4), ac.bfloat16)

    def begun():
        w = weights(ac.bfloat16, 5, 4)
        return w, optim.AdamW([w], lr=1e-3, **dict.fromkeys(words, True))

    w, whole = begun()
    steps(whole, w, grads[:3])
    file = io.BytesIO()
    ac.save({"w": w.detach(), "optimizer": whole.state_dict()}, file)
    ac.manual_seed(4)
    steps(whole, w, grads[3:])

    new, resumed = begun()
    saved = ac.load(io.BytesIO(file.getvalue()))
    kept = saved["optimizer"]["state"][0].values()
    assert {x.dtype for x in kept if x.ndim == 2} == {ac.float32}
    if not model_first:
        resumed.load_state_dict(saved["optimizer"])
    with ac.no_grad():
        new.copy_(saved["w"])
    if model_first:
        resumed.load_state_dict(saved["optimizer"])
    ac.manual_seed(4)
    steps(resumed, new, grads[3:])
    assert ac.equal(new.detach(), w.detach())
    for name, value in whole.state[w].items():
        assert ac.equal(resumed.state[new][name], value)


def test_a_state_of_float32_is_loaded_as_it_is():
    wide, w = weights(ac.float32, 4), weights(ac.bfloat16, 4)
    adam = optim.Adam([wide])
    steps(adam, wide, gradients(3, (4,), ac.float32))
    new = optim.Adam([w], master_weights=True)
    state = adam.state_dict()
    state["param_groups"][0][MASTER] = True
    new.load_state_dict(state)
    assert ac.equal(new.state[w]["exp_avg"], adam.state[wide]["exp_avg"])


def test_a_copy_has_master_weights_of_its_own():
    w = weights(ac.bfloat16, 4)
    sgd = optim.SGD([w], lr=1e-3, master_weights=True)
    grads = gradients(4, (4,), ac.bfloat16)
    steps(sgd, w, grads[:2])
    v, other = copy.deepcopy((w, sgd))
    steps(sgd, w, grads[2:])
    steps(other, v, grads[2:])
    assert ac.equal(master(sgd, w), master(other, v))
    assert master(sgd, w) is not master(other, v)


# ---- stochastic rounding -------------------------------------------------------------


def rounded(x, dtype, seed=0):
    """Return `x` as a step of zero rounds it at random."""
    ac.manual_seed(seed)
    w = ac.zeros(x.shape, dtype=dtype).requires_grad_()
    sgd = optim.SGD([w], lr=1.0, master_weights=True, stochastic_rounding=True)
    steps(sgd, w, [ac.zeros(x.shape)])
    sgd.state[w]["master_param"].copy_(x)
    with ac.no_grad():
        w.copy_(x)
    steps(sgd, w, [ac.zeros(x.shape)])
    return w.detach()


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize(
    "value", [1.001, -1.9999, 3.3e-5, -1e-7, 2.0**-14 * 0.9999, 600.3]
)
def test_rounding_is_right_on_average(value, dtype):
    n = 20_000
    x = ac.full((n,), value)
    found = rounded(x, dtype).double()
    values = sorted(set(found.tolist()))
    nearest = x[0].to(dtype).item()
    assert len(values) == 2
    assert nearest in values
    low, high = values
    assert low < x[0].item() < high
    mean, spread = found.mean().item(), (high - low) / 2 / math.sqrt(n)
    assert abs(mean - x[0].item()) < 5 * spread + (high - low) / 4096


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_what_needs_no_rounding_stays(dtype):
    bits = ac.arange(-(2**15), 2**15).to(ac.int16).view(dtype)
    bits = bits[~bits.isnan()]
    assert ac.equal(rounded(bits.float(), dtype), bits)
    odd = ac.tensor([math.nan, math.inf, -math.inf, 0.0, -0.0])
    found = rounded(odd, dtype).tolist()
    assert math.isnan(found[0])
    assert found[1:] == [math.inf, -math.inf, 0.0, 0.0]
    assert math.copysign(1, found[4]) == -1


def test_rounding_follows_the_seed():
    x = ac.linspace(0, 1, 1000)
    first, again, other = (rounded(x, ac.bfloat16, seed) for seed in (1, 1, 2))
    assert ac.equal(first, again)
    assert not ac.equal(first, other)


# ---- refusals ------------------------------------------------------------------------


@pytest.mark.parametrize("name", [MASTER, RANDOM])
def test_what_is_refused(name):
    w = [weights(ac.bfloat16, 4)]
    with pytest.raises(ArgumentError, match=f"AdamW: `{name}` is 'yes'"):
        optim.AdamW(w, **{name: "yes"})
    with pytest.raises(ArgumentError, match=f"SGD: `{name}` is 3"):
        optim.SGD([{"params": w, name: 3}])
    with pytest.raises(ArgumentError, match=f"LBFGS: `{name}` is not supported; do"):
        optim.LBFGS([{"params": w, name: True}])

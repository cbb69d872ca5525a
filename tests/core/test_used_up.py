# SPDX-License-Identifier: MIT
"""A generator gives its tensors once; one that is used up is not taken in silence."""

from __future__ import annotations

import inspect
import warnings

import pytest

import autocalc as ac
from autocalc import autograd, nn
from autocalc.errors import ArgumentError, AutocalcWarning

pytestmark = pytest.mark.core


def trained():
    net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    loss = net(ac.ones(4, 2)).sum()
    loss.backward(retain_graph=True)
    return net, loss


def batched(loss, inputs):
    return autograd.grad(
        (x for x in [loss]), inputs, [ac.ones(3)], is_grads_batched=True
    )


#: What takes an iterator of tensors, given it, a model and a loss of it.
CASES = {
    "clip_grad_norm_": lambda ps, *_: nn.utils.clip_grad_norm_(ps, 0.5),
    "clip_grad_norm": lambda ps, *_: nn.utils.clip_grad_norm(ps, 0.5),
    "clip_grad_value_": lambda ps, *_: nn.utils.clip_grad_value_(ps, 0.5),
    "clip_grads_with_norm_": lambda ps, *_: nn.utils.clip_grads_with_norm_(
        ps, 0.5, ac.tensor(2.0)
    ),
    "get_total_norm": lambda ps, *_: nn.utils.get_total_norm(ps),
    "parameters_to_vector": lambda ps, *_: nn.utils.parameters_to_vector(ps),
    "vector_to_parameters": lambda ps, net, _: nn.utils.vector_to_parameters(
        ac.zeros(sum(p.numel() for p in net.parameters())), ps
    ),
    "backward(inputs)": lambda ps, _, loss: loss.backward(inputs=ps),
    "grad": lambda ps, _, loss: autograd.grad(loss, ps),
    "grad, batched": lambda ps, _, loss: batched(loss, ps),
    "optimizer": lambda ps, *_: ac.optim.SGD(ps),
    "group": lambda ps, *_: ac.optim.SGD([{"params": ps}]),
    "added group": lambda ps, *_: ac.optim.SGD([ac.zeros(1)]).add_param_group(
        {"params": ps}
    ),
    "backward of several": lambda ps, *_: autograd.backward(p.sum() for p in ps),
    "update_bn": lambda ps, *_: ac.optim.swa_utils.update_bn(
        (p.detach().reshape(1, 1, -1).expand(2, 1, -1) for p in ps), nn.BatchNorm1d(1)
    ),
}


def test_every_function_of_utils_that_takes_an_iterator_has_a_case():
    takes = {
        name
        for name, function in vars(nn.utils).items()
        if inspect.isfunction(function)
        and any(
            "Iterable[Tensor]" in str(p.annotation)
            for p in inspect.signature(function).parameters.values()
        )
    }
    assert takes <= CASES.keys()
    assert len(takes) >= 6


def state(net):
    return [x for p in net.parameters() for x in (p.detach().clone(), p.grad)]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:.*clip_grad_norm:FutureWarning")
def test_a_generator_is_as_good_as_a_list(name):
    ac.manual_seed(0)
    net, loss = trained()
    with warnings.catch_warnings():
        warnings.simplefilter("error", AutocalcWarning)
        found = CASES[name](net.parameters(), net, loss)
    ac.manual_seed(0)
    other, loss = trained()
    wanted = CASES[name](list(other.parameters()), other, loss)
    assert all(a.equal(b) for a, b in zip(state(net), state(other), strict=True))
    if isinstance(wanted, (ac.Tensor, tuple)):
        pairs = zip(found, wanted, strict=True) if isinstance(found, tuple) else ()
        assert all(a.equal(b) for a, b in pairs or [(found, wanted)])


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:.*clip_grad_norm:FutureWarning")
def test_a_used_up_generator_is_refused_or_warned_of(name):
    net, loss = trained()
    used = net.parameters()
    list(used)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            CASES[name](used, net, loss)
        except (ArgumentError, ac.errors.ShapeError):
            return
    assert any("only once" in str(w.message) for w in caught)


def test_what_is_said_of_a_used_up_generator():
    net, loss = trained()
    used = net.parameters()
    list(used)
    match = (
        r"clip_grad_norm_: `parameters` is a generator that yields nothing.*only once"
    )
    with pytest.warns(AutocalcWarning, match=match) as caught:
        nn.utils.clip_grad_norm_(used, 1.0)
    assert caught[0].filename == __file__
    match = r"backward: `inputs` cannot be empty; give one or more\. A"
    with pytest.raises(ArgumentError, match=match):
        loss.backward(inputs=used)
    with pytest.raises(ArgumentError, match="update_bn: `loader` yields no batch,"):
        ac.optim.swa_utils.update_bn(iter([]), norm := nn.BatchNorm1d(1))
    assert norm.num_batches_tracked == 0


def test_a_list_without_tensors_is_nothing_to_warn_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nn.utils.clip_grad_norm_([], 1.0).item() == 0
        ac.optim.SGD([{"params": []}])

# SPDX-License-Identifier: MIT
"""Pruning of parameters; masks and names are PyTorch 2.13's."""

from __future__ import annotations

import copy
import pickle
import warnings

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import (
    ArgumentError,
    CompileWarning,
    DimensionError,
    DTypeError,
    ShapeError,
)
from autocalc.nn.utils import prune

pytestmark = pytest.mark.core


def layer():
    made = nn.Linear(4, 3)
    with ac.no_grad():
        made.weight.copy_(ac.arange(12.0).view(3, 4) - 5)
        made.bias.copy_(ac.tensor([1.0, -2, 3]))
    return made


def test_names_of_a_pruned_parameter():
    made = layer()
    values = made.weight
    assert prune.l1_unstructured(made, "weight", amount=3) is made
    assert list(made.state_dict()) == ["bias", "weight_orig", "weight_mask"]
    assert [name for name, _ in made.named_parameters()] == ["bias", "weight_orig"]
    assert made.weight_orig is values
    assert type(made.weight) is ac.Tensor
    assert made.weight_mask.tolist() == [[1, 1, 1, 1], [0, 0, 0, 1], [1, 1, 1, 1]]
    assert made.weight[1].tolist() == [0, 0, 0, 2]


def test_rules_come_after_each_other():
    made = layer()
    prune.l1_unstructured(made, "weight", amount=3)
    prune.ln_structured(made, "weight", amount=1, n=2, dim=0)
    assert made.weight_mask.sum(1).tolist() == [4, 0, 4]
    prune.l1_unstructured(made, "weight", amount=0.5)
    # the half of the eight that were left: -3, -2, 3 and one of the two fours
    assert made.weight_mask.sum().item() == 4
    assert (
        made.weight_mask[0, :1].tolist() + made.weight_mask[2, 2:].tolist() == [1] * 3
    )
    (hook,) = made._hooks.forward_pre.values()
    assert isinstance(hook.function, prune.PruningContainer)
    assert [type(rule).__name__ for rule in hook.function] == [
        *("L1Unstructured", "LnStructured", "L1Unstructured")
    ]


def test_structured_rules_after_each_other_leave_pruned_slices_alone():
    made = layer()
    prune.ln_structured(made, "weight", amount=1, n=1, dim=0)
    prune.ln_structured(made, "weight", amount=1, n=float("inf"), dim=0)
    assert made.weight_mask.sum(1).tolist() == [0, 0, 4]
    prune.ln_structured(made, "weight", amount=0.25, n=2, dim=1)
    assert made.weight_mask.sum(1).tolist() == [0, 0, 3]


def test_training_keeps_the_zeros():
    made = layer()
    prune.l1_unstructured(made, "weight", amount=0.5)
    optimizer = ac.optim.SGD(made.parameters(), lr=0.1)
    zeros = made.weight_mask == 0
    before = made.weight.detach().clone()
    for _ in range(2):
        optimizer.zero_grad()
        made(ac.rand(5, 4)).square().sum().backward()
        assert made.weight_orig.grad[zeros].abs().sum().item() == 0
        optimizer.step()
    made(ac.rand(1, 4))
    assert made.weight[zeros].abs().sum().item() == 0
    assert not ac.equal(made.weight.detach(), before)


def test_remove():
    made = layer()
    values = made.weight
    prune.l1_unstructured(made, "weight", amount=3)
    prune.random_unstructured(made, "bias", amount=1)
    assert prune.is_pruned(nn.Sequential(made))
    prune.remove(made, "weight")
    assert list(made.state_dict()) == ["bias_orig", "weight", "bias_mask"]
    assert made.weight is values
    assert made.weight[1].tolist() == [0, 0, 0, 2]
    prune.remove(made, "bias")
    assert not prune.is_pruned(made)
    made(ac.ones(1, 4))
    with pytest.raises(ArgumentError, match="'weight' of Linear is not pruned"):
        prune.remove(made, "weight")


@pytest.mark.parametrize(
    ("amount", "count"), [(0, 0), (5, 5), (0.0, 0), (0.5, 6), (1.0, 12), (12, 12)]
)
def test_amounts(amount, count):
    for rule in (prune.l1_unstructured, prune.random_unstructured):
        assert (rule(layer(), "weight", amount).weight_mask == 0).sum().item() == count


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_random_slices(dim):
    mask = prune.random_structured(layer(), "weight", amount=2, dim=dim).weight_mask
    other = 1 if dim == 0 else 0
    assert sorted(mask.sum(other).tolist())[:2] == [0, 0]
    assert mask.sum().item() == (4 if dim == 0 else 6)


def test_importance_scores():
    made, scores = layer(), ac.ones(3, 4)
    scores[2] = 0
    prune.l1_unstructured(made, "weight", 4, importance_scores=scores)
    assert made.weight_mask.sum(1).tolist() == [4, 4, 0]
    prune.ln_structured(
        made, "weight", 1, n=1, dim=1, importance_scores=-scores.cumsum(1)
    )
    assert made.weight_mask.sum(1).tolist() == [3, 3, 0]


def test_several_parameters_together():
    one, two = nn.Linear(2, 2), nn.Linear(2, 2)
    both = [(one, "weight"), (two, "weight")]
    scores = {both[0]: ac.ones(2, 2) * 5}
    rule = prune.L1Unstructured
    prune.global_unstructured(both, rule, amount=0.5, importance_scores=scores)
    assert one.weight_mask.tolist() == [[1, 1], [1, 1]]
    assert two.weight_mask.tolist() == [[0, 0], [0, 0]]
    prune.global_unstructured(both, pruning_method=rule, amount=2)
    assert (one.weight_mask.sum() + two.weight_mask.sum()).item() == 2


def test_masks_of_ones_and_of_ones_own():
    made = prune.identity(layer(), "weight")
    assert made.weight_mask.tolist() == ac.ones(3, 4).tolist()
    prune.custom_from_mask(made, "weight", ac.eye(3, 4))
    assert ac.equal(made.weight_mask, ac.eye(3, 4))
    prune.custom_from_mask(
        made, "weight", ac.tensor([[True] * 4, [False] * 4, [True] * 4])
    )
    assert made.weight_mask.sum().item() == 2


class EveryOther(prune.BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        mask = default_mask.clone()
        mask.view(-1)[::2] = 0
        return mask


def test_a_rule_of_ones_own():
    made = layer()
    EveryOther.apply(made, "bias")
    assert made.bias_mask.tolist() == [0, 1, 0]
    EveryOther.apply(made, "bias")
    assert made.bias_mask.tolist() == [0, 0, 0]


def test_prune_without_a_module():
    x = ac.tensor([1.0, -3, 2, 0.5])
    assert prune.L1Unstructured(amount=0.5).prune(x).tolist() == [0, -3, 2, 0]
    mask = ac.tensor([1.0, 0, 1, 1])
    assert prune.L1Unstructured(amount=1).prune(x, mask).tolist() == [1, 0, 2, 0]
    with pytest.raises(
        ShapeError, match=r"`importance_scores` has shape \(3,\), `t` \("
    ):
        prune.Identity().prune(x, importance_scores=ac.ones(3))


@pytest.mark.parametrize("dtype", [ac.float64, ac.bfloat16])
def test_dtypes(dtype):
    made = prune.l1_unstructured(layer().to(dtype), "weight", amount=3)
    assert (made.weight.dtype, made.weight_mask.dtype) == (dtype, dtype)
    assert made(ac.ones(1, 4, dtype=dtype)).dtype is dtype


def test_pruned_modules_are_saved_and_loaded():
    made = prune.l1_unstructured(layer(), "weight", amount=3)
    other = prune.identity(nn.Linear(4, 3), "weight")
    other.load_state_dict(made.state_dict())
    x = ac.rand(2, 4)
    assert ac.equal(made(x), other(x))
    with ac.no_grad():
        made(x)
    for again in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert ac.equal(made(x), again(x))
        assert prune.is_pruned(again)


def test_a_compiled_step_of_a_pruned_layer():
    # each forward sets `weight`: it runs eagerly where no replay could do that
    made, plain = layer(), layer()
    for one in (made, plain):
        prune.l1_unstructured(one, "weight", amount=0.5)

    def step(module, optimizer, x):
        optimizer.zero_grad()
        loss = module(x).square().sum()
        loss.backward()
        optimizer.step()
        return loss

    x = ac.rand(5, 4)
    rates = [ac.optim.SGD(one.parameters(), lr=0.01) for one in (made, plain)]
    compiled = ac.compile(lambda x: step(made, rates[0], x), fallback=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for _ in range(4):
            expected = step(plain, rates[1], x).item()
            assert compiled(x).item() == pytest.approx(expected)
            assert ac.equal(made.weight.detach(), plain.weight.detach())


AMOUNT = [
    (-1, ArgumentError, "`amount` is -1; it must be a fraction from 0.0 to 1.0, or an"),
    (1.5, ArgumentError, "`amount` is 1.5; it must be a fraction"),
    (13, ArgumentError, "`amount` is 13, but there are only 12 elements or slices to"),
    ("x", DTypeError, "`amount` is a str; it must be an int or a float"),
]


@pytest.mark.parametrize(("amount", "error", "text"), AMOUNT)
def test_wrong_amounts(amount, error, text):
    made = layer()
    with pytest.raises(error, match=f"L1Unstructured: {text}"):
        prune.l1_unstructured(made, "weight", amount)
    with pytest.raises(error, match="LnStructured: `amount` is"):
        prune.ln_structured(made, "weight", amount, n=2, dim=0)
    assert list(made.state_dict()) == ["weight", "bias"]


def test_refusals():
    with pytest.raises(AttributeError, match="'Linear' object has no attribute 'wei'"):
        prune.l1_unstructured(layer(), "wei", 1)
    with pytest.raises(
        ShapeError, match=r"the tensor has shape \(3,\); only tensors of"
    ):
        prune.ln_structured(layer(), "bias", 1, n=1, dim=0)
    with pytest.raises(
        DimensionError, match="LnStructured: `dim`=3 is out of range for"
    ):
        prune.ln_structured(layer(), "weight", 1, n=1, dim=3)
    with pytest.raises(
        ShapeError, match=r"`importance_scores` has shape \(3,\), but the"
    ):
        prune.l1_unstructured(layer(), "weight", 1, importance_scores=ac.ones(3))
    with pytest.raises(
        ShapeError, match=r"`mask` has shape \(3,\), but the parameter has shape \(3,"
    ):
        prune.custom_from_mask(layer(), "weight", ac.ones(3))
    with pytest.raises(
        DTypeError, match="global_unstructured: `parameters` is a int; it must"
    ):
        prune.global_unstructured(5, prune.L1Unstructured, amount=1)
    with pytest.raises(DTypeError, match="is 'structured'; it must be 'unstr"):
        prune.global_unstructured(
            [(layer(), "weight")], prune.LnStructured, amount=1, n=1
        )
    with pytest.raises(
        DTypeError, match="`method` is a int; it must be a BasePruningMe"
    ):
        prune.PruningContainer().add_pruning_method(3)
    made = layer()
    prune.l1_unstructured(made, "weight", 1)
    (hook,) = made._hooks.forward_pre.values()
    rules, other = prune.PruningContainer(hook.function), prune.Identity()
    other._tensor_name = "bias"
    with pytest.raises(
        ArgumentError, match="PruningContainer: this method prunes 'bias', but the"
    ):
        rules.add_pruning_method(other)

    class Odd(EveryOther):
        PRUNING_TYPE = "odd"

    with pytest.raises(
        ArgumentError, match="`PRUNING_TYPE` is 'odd'; it must be 'unst"
    ):
        Odd.apply(made, "weight")

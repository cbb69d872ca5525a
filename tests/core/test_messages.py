# SPDX-License-Identifier: MIT
"""What first mistakes are answered with: the cause, and the remedy."""

from __future__ import annotations

import copy
import warnings
from contextlib import nullcontext

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, AutocalcWarning, DTypeError, GradError

nn = ac.nn
F = nn.functional


def test_too_little_memory_names_the_shape():
    with pytest.raises(MemoryError, match=r"shape \(70368744177664,\)"):
        ac.empty(1 << 46)


@pytest.mark.parametrize(
    ("layer", "shape"), [(nn.Linear(3, 3), (2, 3)), (nn.Conv2d(3, 3, 1), (2, 3, 4, 4))]
)
def test_an_input_of_another_dtype_says_which_it_is(layer, shape):
    with pytest.raises(DTypeError, match=r"the input of a layer, by `x.float\(\)`, or"):
        layer(ac.ones(*shape).double())
    layer(ac.ones(*shape).double().float())


def test_several_elements_are_neither_true_nor_false():
    with pytest.raises(RuntimeError, match=r"shape \(2,\) is neither true nor false"):
        bool(ac.ones(2) > 0)


@pytest.mark.parametrize("kind", [int, float])
def test_a_number_is_made_of_one_element(kind):
    with pytest.raises(
        ValueError, match=rf"^{kind.__name__}: needs a tensor of one ele"
    ):
        kind(ac.ones(2))
    assert kind(ac.ones(1, 1)) == 1


@pytest.mark.parametrize(
    ("module", "wrong", "right"),
    [(ac, "zerso", "zeros"), (nn, "Liner", "Linear"), (F, "rellu", "relu"),
     (ac.optim, "Adagard", "Adagrad"), (ac.linalg, "sovle", "solve")],
)  # fmt: skip
def test_a_name_that_is_spelt_wrong_is_found(module, wrong, right):
    with pytest.raises(AttributeError, match=f"{wrong!r}. Did you mean {right!r}"):
        getattr(module, wrong)


def test_an_optimizer_asks_for_the_parameters_of_a_module():
    with pytest.raises(
        TypeError, match=r"a module, Linear; give its parameters, model"
    ):
        ac.optim.Adam(nn.Linear(2, 2))


def test_a_function_is_applied():
    class Same(ac.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

    with pytest.raises(
        ArgumentError, match=r"Legacy autograd function with non-static forward"
    ):
        Same()(ac.ones(2))


@pytest.mark.parametrize("name", ["jit", "export"])
def test_what_replays_and_exports_is_named(name):
    with pytest.raises(
        AttributeError, match=r"ac.compile replays.*ac.onnx.export write"
    ):
        getattr(ac, name)


def test_a_gradient_that_is_not_kept_is_warned_of():
    x = ac.ones(2, requires_grad=True)
    y = x * 2
    y.sum().backward()
    with pytest.warns(
        AutocalcWarning, match="grad: the gradient of a tensor that was made by"
    ):
        assert y.grad is None
    assert x.grad is not None
    kept = x * 2
    kept.retain_grad()
    kept.sum().backward()
    assert ac.equal(kept.grad, ac.ones(2))


def test_the_mean_that_is_no_divergence_is_warned_of():
    p, q = ac.full((2, 2), 0.5).log(), ac.full((2, 2), 0.5)
    with pytest.warns(
        AutocalcWarning, match="'batchmean' divides it by the number of d"
    ):
        F.kl_div(p, q, reduction="mean")
    F.kl_div(p, q, reduction="batchmean")


def test_a_module_that_cannot_be_copied_says_why():
    layer = nn.utils.weight_norm(nn.Linear(2, 2))
    layer(ac.ones(1, 2))
    with pytest.raises(GradError, match="after `weight_norm` or `spectral_norm`"):
        copy.deepcopy(layer)
    copy.deepcopy(nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)))


def test_a_write_behind_a_hook_names_the_hook():
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True))
    model[0].register_full_backward_hook(lambda *_: None)
    with pytest.raises(GradError, match="as modules with a full backward hook do"):
        model(ac.ones(1, 2))


# ---- indices -------------------------------------------------------------------------


def out_of_range():
    """Return calls with an index that is out of range, and what is said of it."""
    x, number = ac.ones(3, 5), ac.tensor
    return {
        "embedding": (lambda: F.embedding(number([1, 3]), x), "3 at elem", "0 to 2"),
        "gather": (lambda: x.gather(1, number([[9]])), "9 at element 0", "0 to 4"),
        "select": (lambda: x.index_select(0, number([0, 3])), "3 at elem", "0 to 2"),
        "scatter": (
            lambda: x.scatter(1, number([[9]]), ac.ones(1, 1)), "9 at element", "0 to 4"
        ),
        "add": (lambda: x.index_add(0, number([4]), x[:1]), "4 at element", "0 to 2"),
        "copy": (lambda: x.index_copy(0, number([4]), x[:1]), "4 at element", "0 to 2"),
        "add_": (lambda: x.index_add_(0, number([4]), x[:1]), "4 at elem", "0 to 2"),
        "rows": (lambda: x[number([5])], "5 at element 0", "-3 to 2"),
        "pairs": (lambda: x[number([0]), number([7])], "7 at element 0", "-5 to 4"),
        "write": (lambda: x.index_put_((number([7]),), x[0]), "7 at elem", "-3 to 2"),
        "take": (lambda: x.take(number([99])), "99 at element 0", "-15 to 14"),
        "one_hot": (lambda: F.one_hot(number([5]), 3), "5 at element 0", "0 to 2"),
        "label": (
            lambda: F.cross_entropy(x, number([0, 1, 5])), "5 at element 2", "0 to 4"
        ),
        "skipped": (
            lambda: F.cross_entropy(x, number([0, -1, 2])),
            "-1 at element 1",
            r"0 to 4 are possible, and -100 \(`ignore_index`\)",
        ),
        "nll": (lambda: F.nll_loss(x, number([0, 1, 5])), "5 at element 2", "0 to 4"),
        "nothing": (lambda: x[:0].index_select(0, number([0])), "0 at", "none is pos"),
    }  # fmt: skip


@pytest.mark.parametrize("kernels", ["reference", "best"])
@pytest.mark.parametrize("name", out_of_range())
def test_an_index_out_of_range_says_the_range(name, kernels):
    call, what, which = out_of_range()[name]
    chosen = [kernels] if kernels == "reference" else []
    with ac.kernels.use(*chosen) if chosen else nullcontext():
        with pytest.raises(IndexError, match=rf"holds {what}.*so {which}.*Check the v"):
            call()
        with pytest.raises(IndexError, match=rf"holds {what}.*so {which}"):
            call()  # also where a short program runs it


def test_an_index_out_of_range_in_a_replay_says_the_range():
    table = nn.Embedding(5, 3)
    sgd = ac.optim.SGD(table.parameters(), lr=0.1)

    @ac.compile
    def step(index, label):
        sgd.zero_grad()
        loss = F.cross_entropy(table(index), label)
        loss.backward()
        sgd.step()
        return loss

    for _ in range(3):
        step(ac.tensor([1, 2]), ac.tensor([0, 2]))
    with pytest.raises(IndexError, match=r"^embedding: .*holds 9 at el.*so 0 to 4 are"):
        step(ac.tensor([1, 9]), ac.tensor([0, 2]))
    before = table.weight.tolist()
    with pytest.raises(IndexError, match=r"^cross_entropy: .*holds 7.*so 0 to 2 are"):
        step(ac.tensor([1, 2]), ac.tensor([0, 7]))
    assert table.weight.tolist() == before  # nothing was written by the explanation
    step(ac.tensor([1, 2]), ac.tensor([0, 2]))


# ---- schedulers ----------------------------------------------------------------------


def test_a_scheduler_before_the_optimizer_is_warned_of():
    layer = nn.Linear(2, 2)
    sgd = ac.optim.SGD(layer.parameters(), lr=0.1)
    early = ac.optim.lr_scheduler.StepLR(sgd, 1)
    with pytest.warns(AutocalcWarning, match=r"^StepLR.step: .* Call optimizer.step\("):
        early.step()
    early.step()  # once is enough
    late = ac.optim.lr_scheduler.StepLR(sgd, 1)
    layer(ac.ones(1, 2)).sum().backward()
    sgd.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        late.step()


def test_a_scheduler_after_compiled_steps_is_not_warned_of():
    layer = nn.Linear(2, 2)
    sgd = ac.optim.SGD(layer.parameters(), lr=0.1)

    @ac.compile
    def step(x):
        sgd.zero_grad()
        loss = layer(x).sum()
        loss.backward()
        sgd.step()
        return loss

    for _ in range(3):
        step(ac.ones(1, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheduler = ac.optim.lr_scheduler.StepLR(sgd, 1)
        step(ac.ones(1, 2))
        scheduler.step()


# ---- first mistakes ------------------------------------------------------------------


class Unfinished(nn.Module):
    pass


def mistakes():
    """Return calls that beginners make, and the remedy that the error names."""
    x, leaf = ac.ones(4, 5), ac.ones(3, requires_grad=True)
    labels = ac.zeros(4, dtype=ac.int64)
    spent = iter(nn.Linear(2, 2).parameters())
    list(spent)
    logits = ac.ones(4, 3)
    return {
        "features": (lambda: nn.Linear(3, 2)(x), "Make a layer of 5 inputs"),
        "images": (
            lambda: nn.Linear(784, 10)(ac.ones(2, 1, 28, 28)), r"x.flatten\(1\), or th"
        ),
        "no kernel size": (lambda: nn.Conv2d(3, 8), r"^Conv2d.__init__\(\) missing 1"),
        "no size": (lambda: nn.ConvTranspose1d(3, 8), r"^ConvTranspose1d.__init__"),
        "no input": (nn.Conv2d(3, 8, 3), r"^Conv2d.forward\(\) missing 1 re"),
        "no pool": (nn.MaxPool2d, r"^MaxPool2d.__init__\(\) missing 1"),
        "bytes": (
            lambda: nn.Conv2d(3, 8, 3)(ac.zeros(1, 3, 8, 8, dtype=ac.uint8)),
            r"Convert the first with .to\(ac.float32\)",
        ),
        "integers": (lambda: nn.Linear(5, 2)(x.long()), "Convert the first with .to"),
        "tuple": (
            lambda: nn.Linear(3, 2)(nn.LSTM(5, 3)(x)), "`output, state = layer"
        ),
        "list": (lambda: nn.Linear(3, 2)([1.0]), "Make one with ac.tensor"),
        "swapped": (lambda: F.cross_entropy(labels, logits), "The logits come first"),
        "column": (lambda: F.cross_entropy(logits, labels[:, None]), r"squeeze\(-1\)"),
        "too few": (lambda: F.cross_entropy(logits, labels[:3]), r"of shape \(4,\)"),
        "one-hot": (
            lambda: F.cross_entropy(logits, logits.long()), r"target.argmax\(1\)"
        ),
        "floats": (lambda: F.cross_entropy(logits, labels.float()), r".long\(\)"),
        "shapes": (
            lambda: F.binary_cross_entropy_with_logits(ac.ones(3, 1), ac.ones(3)),
            "target.view_as",
        ),
        "probabilities": (
            lambda: F.binary_cross_entropy(ac.ones(1) * 2, ac.ones(1)), "For logits,"
        ),
        "vector": ((leaf * 2).backward, ", but only a tensor of one element can"),
        "no history": (lambda: x.sum().backward(), "Set requires_grad=True"),
        "leaf": (lambda: leaf.add_(1), "a leaf Variable that requires grad"),
        "numpy": (leaf.numpy, r"Can't call numpy\(\) on Tensor that requires grad\."),
        "item": (x.item, r"index it or use tolist"),
        "empty": (lambda: ac.optim.SGD([], lr=0.1), "Give model.parameters"),
        "spent": (lambda: ac.optim.SGD(spent, lr=0.1), ": `params` is empty;"),
        "made": (
            lambda: ac.optim.SGD([leaf * 2], lr=0.1), r"x.detach\(\).requires_grad_"
        ),
        "rate": (lambda: ac.optim.SGD([leaf], lr="0.1"), "it must be a number, 0 or"),
        "model": (
            lambda: ac.optim.lr_scheduler.StepLR(nn.ReLU(), 1), "such as ac.optim.SGD"
        ),
        "forward": (lambda: Unfinished()(x), r"Define `forward\(self, x\)` in its"),
        "held": (lambda: nn.ModuleList([nn.ReLU()])(x), r"calls them in order\."),
        "named": (lambda: nn.ModuleDict({"a": nn.ReLU()})(x), "is a container of"),
        "in a list": (lambda: nn.Sequential([nn.ReLU()]), r"Sequential\(\*modules\)"),
        "class": (lambda: nn.Sequential(nn.ReLU), r"module of the class: ReLU\("),
        "function": (lambda: nn.Sequential(F.relu), "whose `forward` calls relu"),
        "called at once": (lambda: nn.ReLU(x), r"call it: ReLU\(\)\(x\)"),
        "gpu": (lambda: ac.ones(3, device="gpu"), "are called 'cuda'"),
        "brackets": (lambda: ac.cat(x, x), r"Write cat\(\[a, b\]\), with brackets"),
        "stack": (lambda: ac.stack(x, x), r"Write stack\(\[a, b\]\), with brackets"),
        "written": (lambda: ac.ones(2, 2).copy_(x), ", but the tensor has shape"),
        "elements": (lambda: list(ac.tensor(3.0)), r"^iter: .*use item"),
        "view": (lambda: x.t().view(20), r"use reshape\(\)"),
        "sizes": (lambda: x.reshape(3, -1), "; the product of the sizes must be"),
        "mean": (lambda: x.long().mean(), r"pass dtype=ac.float32 or call .float"),
        "one value": (lambda: nn.BatchNorm1d(3)(ac.ones(1, 3)), r"or eval\(\)"),
        "positions": (lambda: x[x[0]], r"use integer positions \(.long"),
        "no return": (lambda: nn.Linear(5, 2)(None), r"needs a Tensor, not NoneType"),
        "numbers": (lambda: ac.cat([leaf[0], leaf[1]]), "use ac.stack, which makes"),
        "channels": (
            lambda: nn.Conv2d(3, 8, 3)(ac.ones(1, 9, 9, 3)), r"movedim\(-1, -3\)"
        ),
        "one image": (
            lambda: nn.Conv2d(3, 8, 3)(ac.ones(9, 9, 3)), r"movedim\(-1, -3\)"
        ),
        "path": (lambda: nn.ReLU().load_state_dict("m.pt"), r"holds, ac.load\(path\)"),
        "module": (
            lambda: nn.ReLU().load_state_dict(nn.ReLU()), r"other.state_dict\(\)"
        ),
        "clipped": (
            lambda: nn.utils.clip_grad_norm_(nn.ReLU(), 1), r"module.parameters\(\)"
        ),
        "not called": (
            lambda: ac.optim.SGD(nn.ReLU().parameters, lr=0.1), r"method: parameters\("
        ),
        "none": (lambda: ac.tensor([None, 1.0]), "None, of type NoneType, is not a"),
        "text": (lambda: ac.tensor(["a"]), "'a', of type str,"),
        "dict": (lambda: ac.tensor({"a": 1}), r"of type dict, is not a number\. Give"),
        "objects": (
            lambda: ac.tensor(np.array([1, 2.5], dtype=object)), "dtype='float32'"
        ),
        "huge": (lambda: ac.tensor(2**70), "an integer of more than 64 bits"),
        "folder": (lambda: ac.save(x, "no/such/x"), "make the folder first"),
        "backwards": (lambda: x[::-1], "Use ac.flip to reverse"),
        "samples": (
            lambda: next(iter(ac.data.DataLoader([x, x[0]], 2))), "pass `collate_fn`"
        ),
        "order": (
            lambda: ac.data.DataLoader([1], shuffle=True, sampler=[0]), "pass only one"
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", mistakes())
def test_a_first_mistake_is_answered_with_the_remedy(name):
    call, remedy = mistakes()[name]
    with pytest.raises(Exception, match=remedy):
        call()


def test_private_classes_are_in_no_message_about_arguments():
    """Of every module that can be made: its constructor has the name of its class."""
    for name in nn.__all__:
        kind = getattr(nn, name)
        if isinstance(kind, type) and issubclass(kind, nn.Module):
            for function in (kind.__init__, kind.forward):
                owner = function.__qualname__.rpartition(".")[0]
                assert not owner.startswith("_"), (name, function)

# SPDX-License-Identifier: MIT
"""What older programs for PyTorch call: old names, `.data`, attention as a function."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, GradError, ShapeError
from autocalc.testing import assert_close

F = ac.nn.functional


@pytest.mark.parametrize("name", ["upsample", "upsample_nearest", "upsample_bilinear"])
def test_upsample_is_interpolate(name):
    x = ac.rand(1, 2, 3, 3)
    words = {"upsample_bilinear": {"mode": "bilinear", "align_corners": True}}
    with pytest.warns(UserWarning, match=f"functional.{name}` is deprecated"):
        found = getattr(F, name)(x, scale_factor=2)
    assert_close(found, F.interpolate(x, scale_factor=2, **words.get(name, {})))


def test_clip_grad_norm_warns():
    w = ac.tensor([3.0, 4.0], requires_grad=True)
    (w * w).sum().backward()
    with pytest.warns(FutureWarning, match="in favor of `nn.utils.clip_grad_norm_`"):
        assert ac.nn.utils.clip_grad_norm([w], 5.0).item() == 10
    assert_close(w.grad, ac.tensor([3.0, 4.0]))


def test_schedulers_are_of_the_old_class():
    w = ac.ones(1, requires_grad=True)
    scheduler = ac.optim.lr_scheduler.StepLR(ac.optim.SGD([w], lr=0.1), 1)
    assert isinstance(scheduler, ac.optim.lr_scheduler._LRScheduler)


def test_a_write_through_data_is_not_counted():
    w = ac.ones(2, requires_grad=True)
    y = (w * w).sum()
    w.data.add_(1)
    w.data -= ac.tensor([0.0, 1.0])
    y.backward()
    assert w.grad.tolist() == [4, 2]


def test_a_write_through_detach_is_counted():
    w = ac.ones(2, requires_grad=True)
    y = (w * w).sum()
    w.data -= 1  # the tensor keeps its own count
    w.detach().add_(1)
    with pytest.raises(GradError, match="mul"):
        y.backward()


@pytest.mark.parametrize("name", ["add", "sub", "add_", "sub_", "addcmul", "addcdiv_"])
def test_a_factor_at_the_end_is_refused(name):
    x = ac.ones(2)
    given = (x, x, 2) if name.startswith("addc") else (x, 2)
    match = f"{name.rstrip('_')}.*argument of type int cannot follow one of type"
    with pytest.raises(TypeError, match=match):
        getattr(x, name)(*given)
    assert x.tolist() == [1.0, 1.0]


# ---- attention as a function ---------------------------------------------------------


def parameters(rng):
    def draw(*shape):
        return rng.normal(size=shape)

    q, k, v, out = draw(8, 8), draw(8, 5), draw(8, 6), draw(8, 8)
    return draw(24, 8), draw(24), draw(1, 1, 8), draw(1, 1, 8), q, k, v, out, draw(8)


CASES = {
    "packed": {},
    "apart": {"use_separate_proj_weight": True},
    "masks": {"masks": True},
    "unaveraged": {"average_attn_weights": False, "masks": True},
    "no weights": {"need_weights": False},
    "extra keys": {"extra": True, "masks": True},
    "static": {"static": True},
    "alone": {"batch": None},
    "causal": {"is_causal": True, "causal": True, "need_weights": False},
}


def attended(lib, case):
    words = dict(CASES[case])
    rng = np.random.default_rng(0)
    weight, bias, bias_k, bias_v, wq, wk, wv, out, out_bias = parameters(rng)

    def tensor(array, grad=False):
        x = lib.tensor(array)
        return x.requires_grad_() if grad else x

    batch = words.pop("batch", 2)
    middle = () if batch is None else (batch,)
    apart = words.get("use_separate_proj_weight", False)
    sizes = (8, 5, 6) if apart else (8, 8, 8)
    lengths = (3, 3, 3) if "causal" in words else (3, 4, 4)
    ends = [
        tensor(rng.normal(size=(n, *middle, s)), True)
        for n, s in zip(lengths, sizes, strict=True)
    ]
    if words.pop("masks", False):
        padding = np.zeros((2, 4), bool)
        padding[1, 2:] = True
        seen = np.zeros((3, 4), bool)
        seen[0, 1] = True
        words["key_padding_mask"], words["attn_mask"] = tensor(padding), tensor(seen)
    if words.pop("causal", False):
        words["attn_mask"] = tensor(np.triu(np.ones((3, 3), bool), 1))
    if words.pop("static", False):
        for name in ("static_k", "static_v"):
            words[name] = tensor(rng.normal(size=(4, 7, 4)))
    extra = words.pop("extra", False)
    if apart:
        given = {"q_proj_weight": wq, "k_proj_weight": wk, "v_proj_weight": wv}
        words.update({name: tensor(w) for name, w in given.items()})
    w = tensor(weight, True)
    y, found = lib.nn.functional.multi_head_attention_forward(
        *ends,
        *(8, 2, None if apart else w, tensor(bias)),
        tensor(bias_k) if extra else None,
        tensor(bias_v) if extra else None,
        *(extra, 0.0, tensor(out), tensor(out_bias)),
        **words,
    )
    (y * y).sum().backward()
    grads = [ends[0].grad, *([] if apart else [w.grad])]
    values = [y.detach(), *([] if found is None else [found.detach()]), *grads]
    return [np.asarray(x.numpy()) for x in values]


@pytest.mark.torch
@pytest.mark.parametrize("case", CASES)
def test_attention_is_pytorch_s(case):
    torch = pytest.importorskip("torch")
    for ours, theirs in zip(attended(ac, case), attended(torch, case), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_attention_is_the_module_s():
    layer = ac.nn.MultiheadAttention(8, 2)
    x = ac.randn(3, 2, 8)
    expected, weights = layer(x, x, x)
    out = layer.out_proj
    found = call(x, layer.in_proj_weight, out.weight, bias=layer.in_proj_bias)
    assert_close(found[0], expected)
    assert_close(found[1], weights)


def call(x, weight, out, heads=2, bias=None, bias_k=None, **words):
    options = (8, heads, weight, bias, bias_k, None, False, 0.0, out, None)
    return F.multi_head_attention_forward(x, x, x, *options, **words)


@pytest.mark.parametrize(
    ("words", "error", "match"),
    [
        ({"heads": 3}, ArgumentError, "; the number of features must be a"),
        ({"weight": None}, ArgumentError, "`in_proj_weight` is None"),
        ({"weight": ac.ones(8, 8)}, ShapeError, r"it must be \(24, 8\)"),
        ({"x": ac.ones(3, 2, 7)}, ShapeError, "query, key and value have shapes"),
        ({"bias_k": ac.ones(1, 1, 8)}, ArgumentError, "belong together"),
        ({"is_causal": True}, ArgumentError, ": `is_causal` is True, but"),
        ({"static_k": ac.ones(3, 3, 4)}, ShapeError, "`static_k` has shape"),
        ({"need_weights": 2}, ArgumentError, "`need_weights` is 2"),
        ({"attn_mask": 1}, DTypeError, "forward"),
    ],
)
def test_impossible_attention(words, error, match):
    given = {"x": ac.ones(3, 2, 8), "weight": ac.ones(24, 8), "out": ac.ones(8, 8)}
    with pytest.raises(error, match=match):
        call(**{**given, **words})

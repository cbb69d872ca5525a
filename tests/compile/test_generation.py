# SPDX-License-Identifier: MIT
"""Text, token by token, from compiled steps: few programs, the tokens of eager code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn

COUNT = 200

#: One for the first position, whose slices have a size of 1, and one for all others.
PROGRAMS = 2


class Layer(nn.Module):
    """Attention as a user may write it, over tensors that are made once."""

    def __init__(self, d: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(
        self, x: ac.Tensor, keys: ac.Tensor, values: ac.Tensor, t: int
    ) -> ac.Tensor:
        batch, _, d = x.shape
        q, k, v = self.qkv(x).reshape(batch, 3, self.heads, -1).unbind(1)
        keys[:, :, t] = k
        values[:, :, t] = v
        scores = q.unsqueeze(2) @ keys[:, :, : t + 1].mT
        weights = (scores * (d // self.heads) ** -0.5).softmax(-1)
        return self.out((weights @ values[:, :, : t + 1]).reshape(batch, 1, d))


class Model(nn.Module):
    def __init__(self, vocabulary: int = 40, d: int = 24, heads: int = 3) -> None:
        super().__init__()
        self.size = heads, COUNT, d // heads
        self.tokens = nn.Embedding(vocabulary, d)
        self.places = nn.Embedding(COUNT, d)
        self.layers = nn.ModuleList(Layer(d, heads) for _ in range(2))
        self.norm = nn.LayerNorm(d)

    def caches(self, batch: int) -> list[tuple[ac.Tensor, ac.Tensor]]:
        shape = batch, *self.size
        return [(ac.zeros(shape), ac.zeros(shape)) for _ in self.layers]

    def forward(self, tokens: ac.Tensor, caches: Any, t: int) -> ac.Tensor:
        x = self.tokens(tokens) + self.places(ac.tensor([t]))
        for layer, (keys, values) in zip(self.layers, caches, strict=True):
            x = x + layer(self.norm(x), keys, values, t)
        return self.norm(x)[:, -1] @ self.tokens.weight.T


def generated(step: Any, caches: Any, count: int = COUNT) -> tuple[Any, Any]:
    """Return the most likely tokens, and the logits of each."""
    tokens = ac.tensor([[1], [2]])
    texts, logits = [], []
    with ac.no_grad():
        for t in range(count):
            logits.append(np.array(step(tokens, caches, t).numpy()))
            tokens = ac.tensor(logits[-1].argmax(-1)[:, None])
            texts.append(tokens.numpy())
    return np.concatenate(texts, 1), np.stack(logits)


def decoder(**settings: Any) -> Any:
    ac.manual_seed(4)
    return ac.models.Decoder(40, COUNT, 24, 4, 2, **settings).eval()


LLAMA = {
    "positions": "rotary", "norm": "rms", "activation": "swiglu", "kv_heads": 2,
    "bias": False,
}  # fmt: skip


def last(model: Any) -> Any:
    return lambda tokens, caches, t: model(tokens, caches, t)[:, -1]


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("kind", ["user's", "GPT", "Llama"])
def test_compiled_steps_give_the_text_of_eager_ones(kind: str, exact: bool) -> None:
    if kind == "user's":
        ac.manual_seed(4)
        model: Any = Model()
        step, caches = model, model.caches
    else:
        model = decoder(**(LLAMA if kind == "Llama" else {}))
        step, caches = last(model), model.make_caches
    texts, logits = generated(step, caches(2))
    run = ac.compile(step, exact=exact)
    mine = caches(2)
    for text in range(3):
        again, near = generated(run, mine)
        assert np.array_equal(again, texts)
        if exact:
            assert near.tobytes() == logits.tobytes()
        else:
            np.testing.assert_allclose(near, logits, rtol=1e-5, atol=1e-5)
        assert len(run.programs) == min(text + 1, PROGRAMS)
    assert run._replays == 3 * COUNT - 5


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64"])
def test_other_dtypes(dtype: str) -> None:
    ac.manual_seed(4)
    kind = getattr(ac, dtype)
    model = Model().to(kind)

    def caches() -> Any:
        return [(k.to(kind), v.to(kind)) for k, v in model.caches(2)]

    def step(tokens: ac.Tensor, caches: Any, t: int) -> ac.Tensor:
        return model(tokens, caches, t).to(ac.float64)

    texts, logits = generated(step, caches(), 12)
    run = ac.compile(step, exact=True)
    again, near = generated(run, caches(), 12)
    assert np.array_equal(again, texts)
    assert near.tobytes() == logits.tobytes()
    assert len(run.programs) == 1


def test_replays_that_are_checked() -> None:
    ac.manual_seed(4)
    model = Model()
    run = ac.compile(model, check=3)
    texts, _ = generated(run, model.caches(2), 30)
    assert np.array_equal(texts, generated(model, model.caches(2), 30)[0])
    assert run._replays == 26


def test_the_decoder_counts_only_where_no_position_is_given() -> None:
    model = decoder()
    counting, given = model.make_caches(1), model.make_caches(1)
    tokens = ac.tensor([[1, 2, 3]])
    with ac.no_grad():
        for part in (tokens, tokens[:, :1]):
            at = counting[0].count
            assert model(part, counting).tolist() == model(part, given, at).tolist()
    assert (counting[0].count, given[0].count) == (4, 0)


def test_a_position_beyond_the_context_is_named() -> None:
    model = decoder()
    with pytest.raises(ac.errors.ShapeError, match=r"after 200 in the caches"):
        model(ac.tensor([[1]]), model.make_caches(1), COUNT)

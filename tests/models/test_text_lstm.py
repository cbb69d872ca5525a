# SPDX-License-Identifier: MIT
"""The recurrent language model: what it keeps of a text, and what it writes."""

import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, ShapeError
from autocalc.models import TextLSTM, generate
from autocalc.testing import assert_close


@pytest.fixture(params=[True, False])
def model(request):
    ac.manual_seed(1)
    return TextLSTM(11, 16, tied=request.param)


def tokens_of(batch, length):
    return ac.randint(0, 11, (batch, length), generator=ac.Generator().manual_seed(3))


@pytest.mark.parametrize("parts", [[12], [1] * 12, [5, 1, 6]])
def test_read_in_parts_the_logits_are_those_of_the_whole(model, parts):
    tokens, caches = tokens_of(3, 12), model.make_caches(3)
    pieces, start = [], 0
    with ac.no_grad():
        for n in parts:
            pieces.append(model(tokens[:, start : start + n], caches))
            start += n
        assert_close(ac.cat(pieces, 1), model(tokens))
    assert caches.count == 12
    assert caches.h.shape == caches.c.shape == (2, 3, 16)


def test_prompts_in_a_batch_go_on_as_they_would_alone(model):
    prompts = tokens_of(3, 4)
    together = generate(model, prompts, 9, temperature=0)
    assert together.shape == (3, 13)
    for i in range(3):
        alone = generate(model, prompts[i : i + 1], 9, temperature=0)
        assert alone[0].tolist() == together[i].tolist()


def test_a_seed_gives_a_text(model):
    prompts = tokens_of(2, 4)
    words = {"temperature": 0.8, "top_k": 5, "top_p": 0.9}
    a, b, c = (generate(model, prompts, 9, seed=n, **words) for n in (1, 1, 2))
    assert a.tolist() == b.tolist()
    assert a.tolist() != c.tolist()


def test_gradients_end_where_the_states_are_detached():
    model = TextLSTM(11, 16)
    tokens, caches = tokens_of(2, 9), model.make_caches(2)
    model.loss(tokens[:, :4], tokens[:, 1:5], caches)
    assert caches.h.requires_grad
    caches.detach()
    assert not caches.h.requires_grad
    model.loss(tokens[:, 4:8], tokens[:, 5:9], caches).backward()
    assert all(p.grad.abs().max().item() > 0 for p in model.parameters())


def test_it_learns_a_text_by_heart():
    ac.manual_seed(1)
    model = TextLSTM(11, 16, 1)
    text = ac.tensor([[3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]])
    optimizer = ac.optim.AdamW(model.parameters(), lr=0.03)
    for _ in range(60):
        optimizer.zero_grad()
        loss = model.loss(text[:, :-1], text[:, 1:])
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.1
    assert generate(model, text[:, :1], 11, temperature=0).tolist() == text.tolist()


def test_the_last_layer_is_the_first_ones_table_where_they_are_tied():
    tied, apart = TextLSTM(11, 16), TextLSTM(11, 16, tied=False)
    assert tied.head.weight is tied.tokens.weight
    assert apart.head.weight is not apart.tokens.weight


def test_errors():
    with pytest.raises(ArgumentError, match="d_model=0, layers=2; all must be at lea"):
        TextLSTM(11, 0)
    with pytest.raises(ShapeError, match=r"`tokens` has shape \(4,\); it must be \[B"):
        TextLSTM(11, 4)(ac.zeros(4).long())

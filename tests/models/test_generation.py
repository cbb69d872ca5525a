# SPDX-License-Identifier: MIT
"""Text of models of others: padding, endings, ways to draw, beams, recorded steps."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, ShapeError
from autocalc.models import from_config, generate, stream
from autocalc.models._pretrained import model as _model
from autocalc.models._sampling import Sampling, draw, penalized

SIZES = {
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 11,
    "max_position_embeddings": 24,
    "initializer_range": 0.4,
}
GPT2 = {"n_embd": 16, "n_head": 4, "n_layer": 2, "n_positions": 24, "vocab_size": 11}


def small(family="llama", **more):
    ac.manual_seed(1)
    sizes = {**GPT2, "initializer_range": 0.4} if family == "gpt2" else SIZES
    return from_config({"model_type": family, **sizes, **more})


def prompts(rows=2, length=4):
    return ac.tensor(np.random.default_rng(1).integers(0, 11, (rows, length)))


def test_each_token_is_the_most_probable_one():
    model, text = small(), prompts()
    wanted = text
    for _ in range(5):
        wanted = ac.cat((wanted, model(wanted)[:, -1:].argmax(-1)), 1)
    assert generate(model, text, 5, temperature=0).tolist() == wanted.tolist()


@pytest.mark.parametrize("family", ["llama", "gpt2", "mistral", "gemma2"])
def test_padding_on_the_left_changes_nothing(family):
    model = small(family, sliding_window=5)
    texts = [prompts(1, n) for n in (2, 5, 3)]
    alone = [generate(model, t, 6, temperature=0)[0, -6:].tolist() for t in texts]
    rows = [[0] * (5 - t.shape[1]) + t[0].tolist() for t in texts]
    mask = [[0] * (5 - t.shape[1]) + [1] * t.shape[1] for t in texts]
    for compiled in (False, True):
        found = generate(
            model,
            ac.tensor(rows),
            6,
            temperature=0,
            mask=ac.tensor(mask),
            compiled=compiled,
        )
        assert found[:, -6:].tolist() == alone


def test_a_recorded_step_holds_for_all_positions():
    model = small("mistral", sliding_window=7)
    made = []
    compile_before = _model.compile

    def watched(*args, **more):
        made.append(compile_before(*args, **more))
        return made[-1]

    text = prompts()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autocalc.models._pretrained.model.compile", watched)
        found = generate(model, text, 18, temperature=0, compiled=True)
    assert found.tolist() == generate(model, text, 18, temperature=0).tolist()
    # One before the text is longer than the window, and one after it.
    assert 1 <= len(made[0].programs) <= 3


def test_a_text_may_be_longer_than_the_context():
    model = small()
    for compiled in (False, True):
        text = generate(model, prompts(2, 30), 20, temperature=0, compiled=compiled)
        assert text.shape == (2, 50)
    rows, mask = prompts(2, 8), ac.tensor([[0, 0] + [1] * 6, [1] * 8])
    assert generate(model, rows, 40, mask=mask, seed=0).shape == (2, 48)


def test_texts_end():
    model, text = small(), prompts(3)
    whole = generate(model, text, 8, temperature=0)[:, 4:].tolist()
    end = whole[0][2]
    found = generate(model, text, 8, temperature=0, end=end)[:, 4:].tolist()
    for row, full in zip(found, whole, strict=True):
        cut = full.index(end) + 1 if end in full else len(full)
        assert row == (full[:cut] + [end] * 8)[: len(row)]
    alone = generate(model, text[:1], 8, temperature=0, end=[end, 10])
    assert alone.shape[1] == 4 + whole[0].index(end) + 1
    parts = list(stream(model, text[:1], 8, temperature=0, end=end))
    assert len(parts) == whole[0].index(end) + 1


def test_repetitions_become_rare():
    logits = ac.tensor([[2.0, -2.0, 1.0]])
    seen = ac.tensor([[True, True, False]])
    assert penalized(logits, seen, 2.0).tolist() == [[1.0, -4.0, 1.0]]
    model, text = small(), prompts(1)
    found = generate(model, text, 6, temperature=0, repetition_penalty=1e6)[0]
    assert len(set(found.tolist())) == len(set(text[0].tolist())) + 6
    # Padding is not in the text.
    padded = ac.cat((ac.full((1, 1), found[4].item()), text), 1)
    mask = ac.tensor([[0, 1, 1, 1, 1]])
    settings = {"temperature": 0, "repetition_penalty": 1e6}
    again = generate(model, padded, 6, mask=mask, **settings)[0, 1:]
    assert again.tolist() == found.tolist()


def drawn(logits, **settings):
    """Return which tokens are drawn in 300 tries."""
    rows = ac.tensor([logits]).expand(300, -1)
    sampling = Sampling(**settings)
    tokens = draw(rows, sampling, ac.Generator().manual_seed(0))
    return sorted(set(tokens.reshape(-1).tolist()))


def test_what_can_be_drawn():
    logits = [0.0, 3.0, 2.9, 1.0, -30.0]
    assert drawn(logits) == [0, 1, 2, 3]
    assert drawn(logits, top_k=2) == [1, 2]
    assert drawn(logits, top_p=0.5) == [1, 2]
    assert drawn(logits, min_p=0.8) == [1, 2]
    assert drawn(logits, min_p=0.1) == [1, 2, 3]
    assert drawn(logits, min_p=1.0) == [1]
    assert drawn(logits, min_p=0.1, top_k=1) == [1]
    assert drawn(logits, min_p=0.1, top_p=0.2) == [1]
    assert drawn(logits, temperature=1e-3) == [1]


def test_the_same_seed_gives_the_same_text():
    model, text = small(), prompts()
    one, two = (generate(model, text, 6, seed=3, min_p=0.01) for _ in range(2))
    assert one.tolist() == two.tolist()


def best(model, text, count, end):
    """Return the best text of all, by the mean of the logarithms of shares."""
    found = []
    for length in range(1, count + 1):
        for more in itertools.product(range(11), repeat=length):
            if end in more[:-1] or (length < count and more[-1] != end):
                continue
            found.append(more)
    scores = {}
    for length in range(1, count + 1):
        some = [more for more in found if len(more) == length]
        rows = ac.tensor([[*text, *more] for more in some])
        shares = ac.log_softmax(model(rows), -1)[:, len(text) - 1 : -1]
        own = ac.gather(shares, 2, rows[:, len(text) :, None]).mean((1, 2))
        scores.update(zip(some, own.tolist(), strict=True))
    return list(max(scores, key=scores.get))


def test_many_beams_find_the_best_text():
    model, text = small(), prompts(2)
    found = generate(model, text, 3, beams=121, end=3)[:, 4:].tolist()
    for row, own in zip(found, text.tolist(), strict=True):
        wanted = best(model, own, 3, 3)
        assert row[: len(wanted)] == wanted
    one = generate(model, text, 3, beams=2)
    assert one.shape == (2, 7)
    mask = ac.tensor([[0, 1, 1, 1], [1, 1, 1, 1]])
    padded = generate(model, text, 3, beams=4, mask=mask)[0, -3:]
    alone = generate(model, text[:1, 1:], 3, beams=4)[0, -3:]
    assert padded.tolist() == alone.tolist()


def test_settings_that_do_not_fit():
    model, text = small(), prompts()

    def check(said, error=ArgumentError, **settings):
        with pytest.raises(error, match=said):
            generate(settings.pop("model", model), text, 4, **settings)

    check("`min_p` is 0", min_p=0)
    check("`repetition_penalty` is 0", repetition_penalty=0)
    check("`beams` is 0", beams=0)
    check("with `beams` draws no tokens", beams=2, top_k=3)
    other = ac.models.Decoder(11, 8, 8, 2)
    check("Decoder reads no padding", model=other, mask=ac.ones(2, 4))
    check("whose caches can be reordered, not Decoder", model=other, beams=2)
    check("`mask` has shape", ShapeError, mask=ac.ones(2, 3))
    check("has padding after a token", mask=ac.tensor([[1, 0, 1, 1], [1, 1, 1, 1]]))
    check("has padding after a token", mask=ac.tensor([[1, 1, 1, 0], [1, 1, 1, 1]]))
    with pytest.raises(ArgumentError, match="needs all 44 tokens in the context"):
        generate(model, text, 40, beams=2)

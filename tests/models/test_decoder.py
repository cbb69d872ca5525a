# SPDX-License-Identifier: MIT
"""The decoder-only transformer, its caches, and what it writes."""

import math

import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, GradError, ShapeError
from autocalc.models import Decoder, KeyValueCache, generate, stream
from autocalc.models._rotary import Rotary
from autocalc.models._sampling import Sampling, draw

SMALL = {"vocabulary": 11, "context": 12, "d_model": 16, "heads": 4, "layers": 2}
KINDS = {
    "learned": {},
    "rotary": {"positions": "rotary", "norm": "rms", "activation": "swiglu"},
    "grouped": {"kv_heads": 2, "bias": False, "tied": False},
}


@pytest.fixture(params=list(KINDS))
def model(request):
    ac.manual_seed(1)
    return Decoder(**SMALL, **KINDS[request.param])


def tokens_of(batch, length):
    generator = ac.Generator().manual_seed(3)
    return ac.randint(0, SMALL["vocabulary"], (batch, length), generator=generator)


def close(a, b, atol=1e-6):
    return bool(ac.allclose(a, b, rtol=1e-5, atol=atol))


# ---- the model -----------------------------------------------------------------------


def test_what_comes_later_changes_nothing_before(model):
    tokens = tokens_of(2, 12)
    changed = tokens.clone()
    changed[:, 7:] = 0
    with ac.no_grad():
        a, b = model(tokens), model(changed)
    assert a.shape == (2, 12, 11)
    assert close(a[:, :7], b[:, :7])
    assert not close(a[:, 7:], b[:, 7:], atol=1e-3)


def test_every_parameter_gets_a_gradient(model):
    tokens = tokens_of(2, 12)
    model.loss(tokens[:, :-1], tokens[:, 1:]).backward()
    for name, parameter in model.named_parameters():
        assert float(parameter.grad.abs().max()) > 0, name


def test_the_first_loss_is_that_of_a_guess(model):
    tokens = tokens_of(8, 12)
    loss = model.loss(tokens[:, :-1], tokens[:, 1:]).item()
    assert loss == pytest.approx(math.log(11), abs=0.1)


def test_a_tied_head_is_the_table():
    model = Decoder(**SMALL)
    assert model.head.weight is model.tokens.weight
    untied = Decoder(**SMALL, tied=False)
    assert untied.head.weight is not untied.tokens.weight


def test_branches_end_with_smaller_weights():
    ac.manual_seed(0)
    model = Decoder(vocabulary=50, d_model=64, layers=8)
    block = model.blocks[0]
    assert float(block.feed_forward.up.weight.std()) == pytest.approx(0.02, rel=0.1)
    ends = 0.02 / math.sqrt(16)
    assert float(block.feed_forward.down.weight.std()) == pytest.approx(ends, rel=0.1)
    assert float(block.attention.out.weight.std()) == pytest.approx(ends, rel=0.1)
    assert float(block.attention.qkv.bias.abs().max()) == 0


def test_equal_products_at_equal_distances():
    rotary = Rotary(16, 8)
    q, k = ac.randn(1, 1, 1, 8), ac.randn(1, 1, 1, 8)
    near = (rotary(q, 5) * rotary(k, 3)).sum()
    far = (rotary(q, 14) * rotary(k, 12)).sum()
    assert close(near, far, atol=1e-5)
    assert close(rotary(q, 0), q)
    assert close(rotary(q, 9).norm(), q.norm(), atol=1e-5)


# ---- caches --------------------------------------------------------------------------


def test_reading_bit_by_bit_gives_the_logits_of_the_whole(model):
    tokens = tokens_of(3, 12)
    with ac.no_grad():
        whole = model(tokens)
        caches = model.make_caches(3)
        cuts = [(0, 5), (5, 6), (6, 10), (10, 11), (11, 12)]
        parts = [model(tokens[:, a:b], caches) for a, b in cuts]
    assert close(ac.cat(parts, 1), whole)


def test_a_cache_refuses_what_does_not_fit():
    cache = KeyValueCache(1, 2, 4, 8)
    new = ac.ones(1, 3, 2, 8)
    cache.append(new, new)
    with pytest.raises(ShapeError, match="3 positions do not fit: 3 of"):
        cache.append(new, new)
    assert cache.count == 3
    new.requires_grad_()
    with pytest.raises(GradError, match="KeyValueCache: keys and values have a"):
        cache.append(new, new)


# ---- generation ----------------------------------------------------------------------


def test_equal_seeds_give_equal_texts(model):
    prompt = tokens_of(2, 3)
    a, b, c = (generate(model, prompt, 8, seed=seed) for seed in (7, 7, 8))
    assert a.shape == (2, 11)
    assert bool((a[:, :3] == prompt).all())
    assert bool((a == b).all())
    assert not bool((a == c).all())


def test_each_text_of_a_batch_is_what_it_would_be_alone(model):
    prompt = tokens_of(3, 4)
    together = generate(model, prompt, 8, temperature=0)
    for row in range(3):
        alone = generate(model, prompt[row : row + 1], 8, temperature=0)
        assert bool((together[row] == alone[0]).all())


def test_a_temperature_of_zero_takes_the_likeliest(model):
    text = generate(model, tokens_of(1, 4), 6, temperature=0)
    with ac.no_grad():
        likeliest = model(text[:, :-1]).argmax(-1)
    assert bool((text[:, 4:] == likeliest[:, 3:]).all())


def test_a_text_goes_on_beyond_the_context(model):
    text = generate(model, tokens_of(2, 30), 25, temperature=0)
    assert text.shape == (2, 55)
    with ac.no_grad():  # a full context was read again from its later half
        assert text[0, 30] == model(text[:, 18:30])[0, -1].argmax()
        assert text[0, 31] == model(text[:, 25:31])[0, -1].argmax()


def test_a_stream_leaves_the_mode_and_the_history_alone(model):
    model.train()
    for _ in stream(model, tokens_of(1, 2), 2):
        assert ac.is_grad_enabled()
    assert model.training


def shares_of(logits, **options):
    rows = ac.tensor([logits] * 4000)
    drawn = draw(rows, Sampling(**options), ac.Generator().manual_seed(0))
    return [float((drawn == i).float().mean()) for i in range(len(logits))]


def test_tokens_are_drawn_by_their_probabilities():
    logits = [math.log(p) for p in (0.1, 0.5, 0.15, 0.25)]
    near = pytest.approx
    assert shares_of(logits) == near([0.1, 0.5, 0.15, 0.25], abs=0.03)
    assert shares_of(logits, top_k=2) == near([0, 2 / 3, 0, 1 / 3], abs=0.03)
    assert shares_of(logits, top_p=0.6) == near([0, 2 / 3, 0, 1 / 3], abs=0.03)
    assert shares_of(logits, top_p=0.01) == [0, 1, 0, 0]
    squares = [p * p / 0.345 for p in (0.1, 0.5, 0.15, 0.25)]
    assert shares_of(logits, temperature=0.5) == near(squares, abs=0.03)


# ---- what is refused -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"heads": 3}, "d_model=16, heads=3, kv_heads=3; d_model must be a multiple"),
        ({"kv_heads": 3}, "heads=4, kv_heads=3; d_model must"),
        ({"norm": "batch"}, "`norm` is 'batch'; it must be one of .'layer', 'rms'"),
        ({"positions": "none"}, "`positions` is 'none'; it must be"),
        ({"activation": "relu"}, "`activation` is 'relu'; it must be"),
        ({"heads": 16, "positions": "rotary"}, "features for each head; they are"),
    ],
)
def test_impossible_sizes_are_refused(sizes, message):
    with pytest.raises(ArgumentError, match=message):
        Decoder(**{**SMALL, **sizes})


def test_impossible_tokens_are_refused(model):
    with pytest.raises(ShapeError, match=r"`tokens` has shape \(3,\); it must be"):
        model(ac.tensor([1, 2, 3]))
    with pytest.raises(ShapeError, match="; this model can read at most"):
        model(tokens_of(1, 13))
    caches = model.make_caches(1)
    with ac.no_grad():
        model(tokens_of(1, 10), caches)
        with pytest.raises(ShapeError, match="3 tokens after 10 in the"):
            model(tokens_of(1, 3), caches)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": -1}, "`count` is -1; it must be 0 or more"),
        ({"temperature": -1}, "`temperature` is -1"),
        ({"top_k": 0}, "`top_k` is 0; it must be at least 1"),
        ({"top_p": 0}, "`top_p` is 0; it must be above 0 and at most 1"),
    ],
)
def test_impossible_settings_of_a_text_are_refused(options, message):
    model = Decoder(**SMALL)
    with pytest.raises(ArgumentError, match=message):
        generate(model, tokens_of(1, 2), **{"count": 1, **options})
    with pytest.raises(ShapeError, match=r"`prompt` has shape \(3,\)"):
        generate(model, ac.tensor([1, 2, 3]), 1)

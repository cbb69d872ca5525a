# SPDX-License-Identifier: MIT
"""One position read by kernels alone: the logits of the model, whatever its parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.models import Decoder, generate, stream
from autocalc.models._reading import PositionReader, position_reader

SMALL: dict[str, Any] = {
    "vocabulary": 11,
    "context": 12,
    "d_model": 16,
    "heads": 4,
    "layers": 2,
}
KINDS: dict[str, dict[str, Any]] = {
    "learned": {},
    "rotary": {"positions": "rotary"},
    "rotary in groups": {"positions": "rotary", "kv_heads": 2},
    "groups": {"kv_heads": 1},
    "rms": {"norm": "rms"},
    "swiglu": {"activation": "swiglu", "d_ff": 24},
    "without bias": {"bias": False},
    "untied": {"tied": False},
    "dropout": {"dropout": 0.5},
}


def moved(model: Decoder) -> Decoder:
    """Return the model with weights that matter, biases too."""
    for parameter in model.parameters():
        parameter.data = parameter.data + 0.1 * ac.randn(*parameter.shape)
    return model.eval()


def logits_in_turn(model: Decoder, read: Any, caches: Any, tokens: Any) -> Any:
    """Read five tokens at once and the others one by one."""
    with ac.no_grad():
        first = model(tokens[:, :5], caches)[:, -1]
        ones = [tokens[:, i : i + 1] for i in range(5, tokens.shape[1])]
        return ac.stack([first, *(read(one).clone() for one in ones)], 1).numpy()


@pytest.mark.parametrize("kind", KINDS)
def test_logits_are_those_of_the_model(kind: str) -> None:
    ac.manual_seed(0)
    model = moved(Decoder(**SMALL, **KINDS[kind]))
    tokens = ac.randint(0, 11, (3, 12))
    caches = model.make_caches(3)
    read = position_reader(model, caches)
    assert isinstance(read, PositionReader)
    found = logits_in_turn(model, read, caches, tokens)
    assert [cache.count for cache in caches] == [12, 12]
    with ac.no_grad():
        whole = model(tokens)[:, 4:].numpy()
    np.testing.assert_allclose(found, whole, rtol=2e-4, atol=2e-5)


def test_a_reader_begins_a_text_too() -> None:
    model = moved(Decoder(**SMALL))
    token = ac.tensor([[3], [4]])
    read = position_reader(model, model.make_caches(2))
    assert read is not None
    with ac.no_grad():
        found, expected = read(token).numpy(), model(token)[:, -1].numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_double_precision() -> None:
    model = moved(Decoder(**SMALL)).double()
    caches = model.make_caches(1)
    read = position_reader(model, caches)
    tokens = ac.randint(0, 11, (1, 9))
    found = logits_in_turn(model, read, caches, tokens)
    with ac.no_grad():
        whole = model(tokens)[:, 4:].numpy()
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, whole, rtol=1e-12, atol=1e-12)


def test_what_changes_between_two_tokens_counts() -> None:
    model = moved(Decoder(**SMALL, tied=False))
    prompt = ac.tensor([[1, 2]])
    text = stream(model, prompt, 6, temperature=0)
    first = [int(next(text)) for _ in range(2)]
    model.head.weight.data = -model.head.weight.data  # other memory
    second = [int(next(text)) for _ in range(2)]
    with ac.kernels.use("reference", only=True):
        third = [int(next(text)) for _ in range(2)]
    whole = [1, 2, *first, *second, *third]
    with ac.no_grad():
        logits = model(ac.tensor([whole]))[0]
    assert [int(i) for i in logits.argmax(-1)[3:-1]] == [*second, *third]
    assert [int(i) for i in logits.argmin(-1)[1:3]] == first


@pytest.mark.parametrize("change", ["hook", "forward", "subclass", "module"])
def test_models_that_do_other_things_are_called(change: str) -> None:
    calls: list[int] = []

    class Counting(nn.Linear):
        def forward(self, input: ac.Tensor) -> ac.Tensor:
            calls.append(1)
            return super().forward(input)

    class Sub(Decoder):
        def forward(self, tokens: ac.Tensor, caches: Any = None) -> ac.Tensor:
            calls.append(1)
            return super().forward(tokens, caches)

    model = (Sub if change == "subclass" else Decoder)(**SMALL)
    up = model.blocks[1].feed_forward.up
    if change == "hook":
        up.register_forward_hook(lambda *_: calls.append(1))
    elif change == "forward":
        inner = up.forward
        up.forward = lambda x: (calls.append(1), inner(x))[1]
    elif change == "module":
        model.blocks[1].feed_forward.up = Counting(16, 64)
    assert position_reader(model, model.make_caches(1)) is None
    generate(model, ac.tensor([[1]]), 4)
    assert len(calls) == 4

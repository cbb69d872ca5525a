# SPDX-License-Identifier: MIT
"""Pieces of a text, words that end it, and what needs packages that may be absent."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, ConfigError
from autocalc.models import Tokenizer, from_config, stream_text
from autocalc.models._pretrained.template import render


class Letters:
    """Tokens that are bytes, so that a character can have several."""

    end = (0,)

    def encode(self, text, special=True):
        return list(text.encode())

    def decode(self, tokens):
        return bytes(tokens).decode(errors="replace")


class Told:
    """A model that says a text, whatever it reads."""

    training, context = False, 100

    def __init__(self, text):
        self.bytes = [*text.encode(), 0]

    def eval(self):
        return self

    def train(self, mode):
        return self

    def make_caches(self, batch, length=None):
        return []

    def reader(self, caches, mask=None, compiled=False):
        said = iter(self.bytes)
        return lambda _: ac.nn.functional.one_hot(ac.tensor([next(said)]), 256) * 9.0


def pieces(text, count=50, **settings):
    return list(
        stream_text(Told(text), Letters(), "x", count, temperature=0, **settings)
    )


def test_pieces_of_a_text():
    assert pieces("abc") == ["a", "b", "c"]
    assert pieces("aé€b") == ["a", "é", "€", "b"]
    assert pieces("abc", 2) == ["a", "b"]
    assert pieces("") == []
    # What is cut within a character is shown as it is.
    assert pieces("aé", 2) == ["a", "\ufffd"]


def test_a_text_ends_at_a_word():
    assert pieces("one two three", stop="two") == list("one ")
    assert pieces("one two three", stop=["three", "two"]) == list("one ")
    assert "".join(pieces("one tw", stop="two")) == "one tw"
    assert "".join(pieces("ttwo", stop="two")) == "t"
    assert pieces("aaab", stop="aab") == ["a"]


def test_the_number_of_tokens():
    text = stream_text(Told("é!"), Letters(), [1, 2], 9, temperature=0)
    assert next(text) == "é"
    assert next(text) == "!"
    with pytest.raises(StopIteration) as end:
        next(text)
    assert end.value.value == 3


def test_wrong_calls():
    model = from_config({"model_type": "gpt2", "n_embd": 4, "n_head": 1, "n_layer": 1,
                         "vocab_size": 256})  # fmt: skip
    with pytest.raises(ArgumentError, match="`prompt` has no tokens"):
        stream_text(model, Letters(), "", 3)
    with pytest.raises(ArgumentError, match="`stop` is ''; it must be texts"):
        stream_text(model, Letters(), "a", 3, stop=["b", ""])
    with pytest.raises(ArgumentError, match="`top_p` is 2"):
        stream_text(model, Letters(), "a", 3, top_p=2)


def test_packages_that_are_absent(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "autocalc.models._pretrained.packages.find_spec", lambda name: None
    )
    said = r"the package tokenizers is not installed.* autocalc-core\[text\]"
    with pytest.raises(ConfigError, match=said):
        Tokenizer(tmp_path)
    with pytest.raises(ConfigError, match="the package jinja2 is not installed"):
        render("{{ a }}", {"a": 1})

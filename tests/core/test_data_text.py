# SPDX-License-Identifier: MIT
"""Text as numbers, and stretches of it."""

import pytest

import autocalc as ac
from autocalc.data import Characters, windows
from autocalc.errors import ArgumentError, DataError


def test_the_vocabulary_is_sorted_and_decoding_undoes_encoding():
    text = Characters("hello, world")
    assert text.vocabulary == " ,dehlorw"
    assert text.tokens.dtype is ac.int64
    assert text.decode(text.tokens) == "hello, world"
    assert text.decode([3, 4]) == "eh"
    assert len(text) == 12


def test_a_given_vocabulary_keeps_its_order():
    text = Characters("abba", "ba")
    assert text.tokens.tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize(
    "text", ["na\u00efve \U0001f600 \U0001f600", "half \udc80 a pair", "\0\0a"]
)
def test_every_code_point_is_a_character(text):
    characters = Characters(text)
    assert characters.decode(characters.tokens) == text
    assert characters.encode("").tolist() == []
    assert [characters.vocabulary[i] for i in characters.tokens.tolist()] == list(text)


def test_unknown_characters_are_named():
    with pytest.raises(DataError, match=r"1 characters are not in .* of 2: 'A'\."):
        Characters("ab").encode("bA")  # below all that are known, c and d above
    with pytest.raises(DataError, match=r"2 characters are not in .* of 2: 'c', 'd'"):
        Characters("ab").encode("abcd")


@pytest.mark.parametrize("text", ["", "a"])
def test_a_text_without_a_next_character_is_refused(text):
    with pytest.raises(ArgumentError, match=f"has {len(text)} characters; a model"):
        Characters(text)


def test_the_parts_of_a_split_follow_each_other():
    first, rest = Characters("abcdefghij").split(0.8)
    assert first.tolist() + rest.tolist() == list(range(10))
    assert len(first) == 8
    with pytest.raises(ArgumentError, match=r"`part`=0\.9 of 10 characters is 9; both"):
        Characters("abcdefghij").split(0.9)


def test_windows_are_stretches_of_the_text_and_what_follows():
    generator = ac.Generator().manual_seed(0)
    inputs, targets = windows(ac.arange(50), 64, 7, generator)
    assert inputs.shape == targets.shape == (64, 7)
    assert bool((targets == inputs + 1).all())
    assert bool((inputs[:, 1:] == inputs[:, :-1] + 1).all())
    starts = set(inputs[:, 0].tolist())
    assert starts <= set(range(43))
    assert len(starts) > 20


def test_the_shortest_text_has_one_window():
    inputs, targets = windows(ac.arange(8), 3, 7)
    assert inputs.tolist() == [list(range(7))] * 3
    assert targets[:, -1].tolist() == [7] * 3
    with pytest.raises(ArgumentError, match=r"windows: a window of 8 \+ 1 tokens"):
        windows(ac.arange(8), 3, 8)


def test_a_file_is_read_as_utf8(tmp_path):
    path = tmp_path / "text"
    path.write_text("größer", encoding="utf-8")
    assert Characters.from_file(path).vocabulary == "egrßö"
    path.write_bytes(b"ab\xffcd")
    with pytest.raises(DataError, match=r"is not UTF-8: byte 2 is 0xff\. Convert it"):
        Characters.from_file(path)
    with pytest.raises(DataError, match="nowhere cannot be read: No such file"):
        Characters.from_file(tmp_path / "nowhere")


def test_the_builtin_text_is_long_enough_to_learn_from():
    text = Characters.from_file()
    assert len(text) > 300_000
    assert 60 < len(text.vocabulary) < 300

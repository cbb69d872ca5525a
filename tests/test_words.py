# SPDX-License-Identifier: MIT
"""Plain language: what `make prose` finds, and that no text uses words of its list."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def load_prose():
    spec = importlib.util.spec_from_file_location("prose", ROOT / "tools/prose.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


prose = load_prose()


@pytest.fixture
def _in_a_clone():
    try:
        prose.listed()
    except OSError as error:
        pytest.skip(str(error))


@pytest.mark.usefixtures("_in_a_clone")
def test_the_repository_is_written_in_plain_words():
    odd = prose.all_odd_words()
    assert not odd, "write it in plain words, see PLAIN:\n" + "\n".join(odd)


def test_every_allowed_use_is_still_there():
    for name, word in prose.ALLOWED:
        path = ROOT / name
        found = prose.odd_words(path, path.read_text(encoding="utf-8"))
        assert any(one.endswith(f": {word}") for one in found), (name, word)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.py", 'x = 1  # where it lies\n', ["1: lies"]),
        ("a.py", '"""One.\n\nIt is told twice.\n"""\n', ["3: told"]),
        ("a.py", 'raise E(f"{x}: it stands behind {y}")\n', ["1: stands", "1: behind"]),
        ("a.py", 'told = os.walk(behind)\nkey = "lies"\n', []),
        ("a.py", "# `walk` of `told` stands for more, a stand-in\n", []),
        ("a.cpp", '// Lies there.\nint behind = told("beside it");\n',
         ["1: Lies", "2: beside"]),
        ("a.cpp", '#include "eager/walk behind.hpp"\nwalk();\n', []),
        ("a.md", "A tensor has not a name, who knows `who`.\n",
         ["1: has not", "1: who"]),
        ("a.md", "It has not been read, [see](2026-work-lies-here.md).\n", []),
    ],
)  # fmt: skip
def test_prose_is_found_in_code(name, text, expected):
    assert prose.odd_words(Path(name), text) == expected


# -------------------------------------------------------- sentences, spelling, subjects

PAGE = """\
---
hide-toc: true
---

# A heading

A paragraph of
two lines, with `code that is skipped` and a link.

- an item
- another

| cell | next |
|---|---|

```python
wrogn = 1
```

    indented code

:::{note}
A note.
:::
"""


def test_the_texts_of_a_page_are_paragraphs_items_headings_and_cells():
    texts = [(line, prose.plain(text)) for line, text in prose.page_texts(PAGE)]
    assert [text for text in texts if "---" not in text[1]] == [
        (5, "A heading"),
        (7, "A paragraph of\ntwo lines, with X0 and a link."),
        (10, "an item"),
        (11, "another"),
        (13, "cell"),
        (13, "next"),
        (23, "A note."),
    ]


CODE = '''\
"""The module."""


def f(x):
    """Return twice x.

    Words::

        y = 2 x, formulla

    Parameters
    ----------
    x : Tensor
        The numbers, of
        any shape.

    Examples
    --------
    >>> f(wrogn)
    """
    raise E(f"f: {x} is not a number of a kind")


def _private():
    """Say nothing here."""
    return "one word"
'''


def test_the_texts_of_code_are_public_docstrings_and_messages():
    assert list(prose.code_texts(CODE)) == [
        (1, "The module."),
        (5, "Return twice x."),
        (7, "Words::"),
        (14, "The numbers, of\nany shape."),
        (21, "f: X0 is not a number of a kind"),
    ]


def test_a_sentence_of_more_than_35_words_is_found_with_its_line():
    long = "word " * 36
    text = f"A short one, e.g. this.\nThen {long.strip()}. Short. {long.strip()}"
    found = list(prose.long_sentences(text))
    assert [(line, count) for line, count, _ in found] == [(0, 37), (1, 36)]
    assert list(prose.long_sentences("word " * 35)) == []


def test_words_of_no_dictionary_are_found_and_names_are_not():
    texts = [(3, "The lenght of X,\nPyTorch's co_names and x.lenght() recieved. Dont")]
    knows = {"the", "of", "and", "dont"}.__contains__
    found = prose.unknown_words("a.md", texts, lambda word: knows(word.lower()))
    assert found == ["a.md:3: lenght", "a.md:4: recieved"]


def test_own_words_are_sorted():
    words = prose.WORDS.read_text(encoding="utf-8").split()
    assert words == sorted(set(words), key=lambda word: (word.lower(), word))


@pytest.mark.parametrize(
    ("description", "is_short"),
    [
        ("Of the parameters.", True),
        ("What is added.", True),
        ("(C,).", True),
        ("The dtype of the parameters.", False),
        ("True to add b.", False),
        ("See `backward`.", False),
    ],
)
def test_descriptions_of_parameters_are_sentences_of_their_own(description, is_short):
    text = f"Return x.\n\nParameters\n----------\nx : Tensor\n    {description}\n"
    assert bool(prose.short_descriptions(text)) is is_short


@pytest.mark.parametrize(
    ("subject", "fault"),
    [
        ("Add a loss", None),
        ("Pass the seed on", None),
        ("Process images in one pass", None),
        ("Added a loss", "imperative"),
        ("Fixes a loss", "imperative"),
        ("Adding a loss", "imperative"),
        ("add a loss", "capital"),
        ("Add a loss.", "point"),
        ("Add " + "a " * 35, "74 characters"),
    ],
)
def test_a_subject_is_an_imperative_of_at_most_72_characters(subject, fault):
    found = prose.fault_of(subject)
    assert (found is None) == (fault is None)
    assert fault is None or fault in found

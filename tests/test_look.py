# SPDX-License-Identifier: MIT
"""`make look` finds what is wrong with a page, and nothing on one that is right."""

import importlib.util
from pathlib import Path

import pytest
from tests import browser

ROOT = Path(__file__).parent.parent
needs_browser = pytest.mark.skipif(
    browser.find() is None, reason="there is no Chromium here"
)

RIGHT = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>A page</title></head>
<body><article>
<h1 id="top">A page</h1><h2>A part</h2>
<p>Words, and <a href="#top">a link</a>.</p>
<div style="overflow-x: auto"><pre style="width: 2000px">wide</pre></div>
</article></body></html>
"""


@pytest.fixture
def look(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs/_ext"))
    spec = importlib.util.spec_from_file_location("look", ROOT / "tools/look.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def with_words(words):
    return RIGHT.replace("</article>", f"{words}</article>")


def in_files(look, folder, words):
    (folder / "page.html").write_text(with_words(words), encoding="utf-8")
    return [problem for _, problem in look.file_problems(folder)]


def test_links_that_lead_somewhere_are_right(look, tmp_path):
    (tmp_path / "other.html").write_text(RIGHT, encoding="utf-8")
    words = '<a href="other.html#top">x</a> <a href="https://example.org/">y</a>'
    assert in_files(look, tmp_path, words) == []


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ('<a href="gone.html">x</a>', "links to gone.html, which does not exist"),
        ('<a href="#gone">x</a>', "links to #gone, where nothing has that name"),
        (
            '<script src="https://example.org/a.js"></script>',
            "loads https://example.org/a.js from the network",
        ),
        ("<p>Its cotangent.</p>", '"cotangent" has no link to the glossary'),
        ("<p>It has the lead.</p>", '"lead" has no link to the glossary'),
    ],
)
def test_what_is_wrong_in_files_is_found(look, tmp_path, words, problem):
    assert in_files(look, tmp_path, words) == [problem]


@pytest.mark.parametrize(
    "words",
    [
        "<pre>cotangent</pre>",
        "<p>Two lead to a third.</p>",
        '<p>A <a href="glossary.html#term-cotangent">cotangent</a>, a cotangent.</p>',
    ],
)
def test_words_that_need_no_link(look, tmp_path, words):
    glossary = '<html><body><p id="term-cotangent">x</p></body></html>'
    (tmp_path / "glossary.html").write_text(glossary, encoding="utf-8")
    assert in_files(look, tmp_path, words) == []


def test_the_words_that_are_linked_stand_in_the_glossary(look):
    from glossary_links import WORDS

    lines = (ROOT / "docs/glossary.md").read_text(encoding="utf-8").splitlines()
    assert {*WORDS} <= {*lines}


def test_parts_share_the_pages_of_the_api_and_have_all_that_somebody_wrote(look):
    folder = ROOT / "docs/_build/html"
    written = [folder / "faq.html", folder / "howto/compile-a-step.html"]
    others = [folder / f"api/{i}.html" for i in range(7)]
    parts = [look.part_of([*others, *written], folder, f"{k}/3") for k in (1, 2, 3)]
    assert all(set(written) <= set(part) for part in parts)
    shared = [page for part in parts for page in part if page not in written]
    assert sorted(shared) == others


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    with browser.Page(tmp_path_factory.mktemp("profile")) as tab:
        yield tab


@needs_browser
@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("", None),
        ('<p style="width: 600px">wide</p>', "390 pixels: <p>"),
        ('<p style="margin-left: -80px">left</p>', "begins at -"),
        (
            '<p style="overflow: hidden; width: 3em">incomprehensibilities</p>',
            "is cut off: ",
        ),
        (
            '<div style="overflow: hidden; height: 9px"><p>tall</p><p>words</p></div>',
            "is cut off: ",
        ),
        ('<svg width="9" height="9"></svg>', "an <svg> without words"),
        ("<input>", "<input> without a label"),
        ("<h4>Deep</h4>", 'Deep" comes after a heading of level 2'),
        ("<h1>Another</h1>", "2 headings of level 1"),
        ('<img src="data:,x">', "no alternative text"),
        ('<p style="color: #999">pale</p>', "has a contrast of 2.85"),
        (
            '<a href="#top" style="display: block; height: 9px"></a>',
            "<a> without words",
        ),
        ("<script>console.error('no')</script>", "console: "),
        (
            "<script>fetch('http://127.0.0.1:9/')</script>",
            "asks for http://127.0.0.1:9/",
        ),
    ],
)
def test_what_is_wrong_in_a_browser_is_found(look, tab, tmp_path, words, problem):
    page = tmp_path / "page.html"
    page.write_text(with_words(words), encoding="utf-8")
    found = list(look.page_problems(tab, page))
    if problem is None:
        assert found == []
    else:
        assert any(problem in one for one in found), found

# SPDX-License-Identifier: MIT
"""Check every page of the built documentation as readers see it: `make look`.

In the files it checks for links without a target, resources from the network, and
glossary words without a link.  In a headless Chromium, at 1280 and 390 pixels, it
checks what is wider than the window or cut off, console messages, requests, skipped
heading levels, images, drawings and fields without a text, and contrast
(tools/look.js). It also checks that a search lists guides before decisions.
"""

from __future__ import annotations

import argparse
import functools
import html
import http.server
import re
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
WIDE, NARROW = 1280, 390
#: Two browsers in parallel, on two cores: 789 pages take one browser 136 s, and two 104
#: s.
BROWSERS = 2
AUDIT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
#: Search words that occur in both guides and decisions.
QUERIES = ("compile", "profile", "winograd", "kernel")
GUIDES = {"guide", "howto", "tutorials"}
_TAG = re.compile(r"<[^>]+>")
_ATTRIBUTE = re.compile(r'\s(id|href|src)="([^"]*)"')
_CLOSED = re.compile(
    r"<(pre|code|h\d|a|dt|title|script|style|figcaption|caption)\b.*?</\1>", re.DOTALL
)
_ARTICLE = re.compile(r"<article\b.*?</article>", re.DOTALL)


# ---- the files


def attributes(text: str) -> dict[str, set[str]]:
    """Return what a page names, links to and loads: id, href and src."""
    found: dict[str, set[str]] = {"id": set(), "href": set(), "src": set()}
    for tag in _TAG.findall(text):
        loads = tag.startswith(("<link", "<script", "<img", "<iframe", "<source"))
        for name, value in _ATTRIBUTE.findall(tag):
            key = "src" if name == "href" and loads else name
            found[key].add(html.unescape(value))
    return found


def link_problems(pages: dict[Path, dict[str, set[str]]]) -> Iterator[tuple[Path, str]]:
    """Yield local links without a target, and resources from the network."""
    for page, found in pages.items():
        for address in sorted(found["src"]):
            if urlsplit(address).scheme not in {"", "data"} or address.startswith("//"):
                yield page, f"loads {address} from the network"
        for address in sorted(found["href"] | found["src"]):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = page
            if parts.path:
                target = Path(page.parent, unquote(parts.path)).resolve()
            if not target.exists():
                yield page, f"links to {address}, which does not exist"
            elif parts.fragment and target in pages:
                ids = pages[target]["id"]
                if not {parts.fragment, unquote(parts.fragment)} & ids:
                    yield page, f"links to {address}, where nothing has that name"


def glossary_problems(page: Path, text: str) -> Iterator[tuple[Path, str]]:
    """Yield glossary words that a page uses without a link."""
    from glossary_links import LEFT_OUT, words

    article = _ARTICLE.search(text)
    if page.stem in LEFT_OUT or article is None:
        return
    sentences = _CLOSED.sub(" ", article[0])
    plain = html.unescape(_TAG.sub("\0", sentences))
    for term in sorted({term for term, _ in words(plain)}):
        if f"glossary.html#term-{term.replace(' ', '-')}" not in text:
            yield page, f'"{term}" has no link to the glossary'


def file_problems(folder: Path) -> Iterator[tuple[Path, str]]:
    texts = {p: p.read_text(encoding="utf-8") for p in sorted(folder.rglob("*.html"))}
    texts = {p: text for p, text in texts.items() if not is_sphinxs(p)}
    yield from link_problems({p: attributes(text) for p, text in texts.items()})
    for page, text in texts.items():
        yield from glossary_problems(page, text)


# ---- in a browser


def page_problems(tab: Any, page: Path) -> Iterator[str]:
    """Yield the problems of a page at both widths, and in dark colours."""
    tab.colors("light")
    tab.open(page, WIDE, settle=0.02)
    yield from (f"{WIDE} pixels: {found}" for found in tab.value(AUDIT))
    tab.colors("dark")
    yield from (f"dark: {found}" for found in tab.value(AUDIT))
    tab.resize(NARROW)
    yield from (f"{NARROW} pixels: {found}" for found in tab.value(AUDIT))
    yield from (f"console: {complaint}" for complaint in tab.complaints)
    for address in tab.requests:
        if urlsplit(address).scheme not in {"file", "data", "blob", "about"}:
            yield f"asks for {address}"


def search_problems(tab: Any, address: str) -> Iterator[str]:
    """Yield searches that list a decision before a guide."""
    for query in QUERIES:
        tab.open(f"{address}/search.html?q={query}", WIDE)
        results = wait_for_results(tab)
        folders = [urlsplit(one).path.split("/")[1] for one in results]
        guides = [i for i, f in enumerate(folders) if f in GUIDES]
        decisions = [i for i, f in enumerate(folders) if f == "decisions"]
        if not guides:
            yield f"a search for {query} finds no guide"
        elif decisions and min(decisions) < max(guides):
            yield f"a search for {query} shows a decision before a guide"


def wait_for_results(tab: Any) -> list[str]:
    """Return the addresses that a search page lists, once the list is complete."""
    counting = "document.querySelectorAll('#search-results li a').length"
    before, end = -1, time.monotonic() + 20
    while time.monotonic() < end:
        time.sleep(0.5)
        now = tab.value(counting)
        if now and now == before:
            break
        before = now
    listed = "[...document.querySelectorAll('#search-results li a')].map(a => a.href)"
    found: list[str] = tab.value(listed)
    return found


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def browser_problems(
    folder: Path, pages: list[Path], pictures: Path | None
) -> list[tuple[Path, str]]:
    """Return the problems that the browsers find; each shows its share of the pages."""
    with ThreadPoolExecutor(BROWSERS) as pool:
        shares = [pages[i::BROWSERS] for i in range(BROWSERS)]
        look = functools.partial(_share_problems, folder, pictures)
        found = [*pool.map(look, shares), searches(folder)]
    return sorted(problem for share in found for problem in share)


def is_sphinxs(page: Path) -> bool:
    """Return whether Sphinx itself generated a page, such as a source listing."""
    return not {"_modules", "_static"}.isdisjoint(page.parts)


def part_of(pages: list[Path], folder: Path, part: str) -> list[Path]:
    """Return all pages written by people, and part K of N of the others."""
    written = [page for page in pages if is_written(page.relative_to(folder))]
    others = sorted(set(pages) - set(written))
    which, parts = map(int, part.split("/"))
    return sorted([*written, *others[which - 1 :: parts]])


def is_written(page: Path) -> bool:
    return (ROOT / "docs" / page).with_suffix(".md").exists()


def _share_problems(
    folder: Path, pictures: Path | None, pages: list[Path]
) -> list[tuple[Path, str]]:
    found = []
    with tab_of_its_own() as tab:
        for page in pages:
            found += [(page, problem) for problem in page_problems(tab, page)]
            if pictures is not None:
                name = "-".join(page.relative_to(folder).parts)
                take_pictures(tab, page, pictures / name)
    return found


def searches(folder: Path) -> list[tuple[Path, str]]:
    """Return the problems of the searches, which need a server."""
    handler = functools.partial(_Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    with tab_of_its_own() as tab:
        problems = list(search_problems(tab, address))
    server.shutdown()
    return [(folder / "search.html", problem) for problem in problems]


@contextmanager
def tab_of_its_own() -> Iterator[Any]:
    from tests import browser

    # A browser process may still write while the folder is removed.
    folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    with folder as profile, browser.Page(profile) as tab:
        yield tab


def take_pictures(tab: Any, page: Path, to: Path) -> None:
    tab.colors("light")
    for width in (WIDE, NARROW):
        tab.open(page, width)
        tab.picture(to.with_suffix(f".{width}.png"))


# ---- the program


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="what `make docs` built")
    parser.add_argument("--files", action="store_true", help="without a browser")
    parser.add_argument("--only", default="", help="pages whose name has this text")
    parser.add_argument(
        "--part",
        metavar="K/N",
        default="1/1",
        help="show the browser one of N pages of the API, which one program writes",
    )
    parser.add_argument("--pictures", type=Path, help="a folder for pictures of them")
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT), str(ROOT / "docs/_ext")]
    folder = options.folder.resolve()
    pages = [
        page
        for page in sorted(folder.rglob("*.html"))
        if not is_sphinxs(page) and options.only in str(page.relative_to(folder))
    ]
    if not pages:
        print(f"look: no pages in {folder}; `make docs` builds them.")
        return 1
    if options.pictures is not None:
        options.pictures.mkdir(parents=True, exist_ok=True)
    problems = [*file_problems(folder)]
    shown = [] if options.files else part_of(pages, folder, options.part)
    if shown:
        problems += browser_problems(folder, shown, options.pictures)
    for page, problem in problems:
        print(f"{page.relative_to(folder)}: {problem}")
    print(
        f"{len(pages)} pages looked at in their files, {len(shown)} of them in a"
        f" browser; {len(problems)} problems"
    )
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: MIT
"""The page of a profile in a browser: at two widths, without a complaint."""

from __future__ import annotations

import re
import shutil
import subprocess
from html import escape

import pytest

import autocalc as ac

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")

#: A page that shows another one in so many pixels and writes what that measures into
#: its title, which the browser prints.  A window has 500 pixels at least.
FRAME = """<title></title>
<iframe width="{width}" height="900" style="border: 0" srcdoc="{page}"></iframe>
<script>
addEventListener("load", () => {{
  const inner = document.querySelector("iframe").contentDocument;
  const pictures = [...inner.querySelectorAll("svg")].map((e) => {{
    const box = e.getBoundingClientRect();
    return Math.round(box.width) + "x" + Math.round(box.height);
  }});
  document.title = [
    inner.defaultView.innerWidth, inner.documentElement.scrollWidth,
    inner.querySelectorAll("tbody tr").length, ...pictures,
  ].join(" ");
}});
</script>"""


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_shows_pictures_and_complains_of_nothing(
    training, known, tmp_path, width
):
    with ac.profiler.profile() as prof:
        for _ in range(3):
            training.step()
    prof.html(tmp_path / "profile.html")
    text = (tmp_path / "profile.html").read_text(encoding="utf-8")
    page = tmp_path / "frame.html"
    page.write_text(FRAME.format(width=width, page=escape(text)), encoding="utf-8")
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
               "--disable-dev-shm-usage", "--enable-logging=stderr",
               f"--user-data-dir={tmp_path / 'user'}",
               f"--window-size={width},900")  # fmt: skip
    run = subprocess.run(
        [CHROMIUM, *options, page.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ":CONSOLE" not in run.stderr
    title = re.search(r"<title>(.*?)</title>", run.stdout)[1]
    inner, scroll, rows, steps, roofline = title.split()
    assert int(inner) == width
    assert int(scroll) <= width
    assert int(rows) == sum(
        len(prof.table(by).cells()) for by in ("kernel", "operator", "module")
    )
    for picture in (steps, roofline):
        wide, high = map(int, picture.split("x"))
        assert wide > 300
        assert high > 60

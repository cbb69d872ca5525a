# SPDX-License-Identifier: MIT
"""Draw the charts of the performance pages from their tables.

``python tools/charts.py`` writes them to docs/_static; the front page shows the first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs/reference/performance"
STATIC = ROOT / "docs/_static"
ZOO = re.compile(
    r"^\| ([^|]+), (step|inference) \|[^|]+\|[^|]+\| ([\d.]+) \(", re.MULTILINE
)
#: This row was measured later, under another load; the geometric mean excludes it.
LATER = "R3D"
#: The rows of a table of small calls that the chart shows.
CALLS = (
    *("`a * b`", "`a + 2.0`", "`exp`", "`sum`", "`softmax`", "`view`", "`cat` of two"),
    *("product of 4 x 4", "`zeros(4, 4)`", "`group_norm`", "`interpolate`"),
    *("`median`", "`nonzero`", "`normal_`", "ten products and their backward pass"),
)

WIDTH, LEFT, RIGHT = 400, 148, 36
TOP, STEP, BAR = 22, 13, 9
#: The longest label next to the bars, in letters.
LETTERS = 22
HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" \
width="{width}" height="{height}" font-family="sans-serif" font-size="12">
<title>{title}</title>
<rect width="{width}" height="{height}" rx="6" fill="#ffffff"/>
<text x="8" y="14" font-weight="bold" fill="#1b1b1b">{heading}</text>
"""


class Chart(NamedTuple):
    """Bars, and the line with which they are compared."""

    title: str
    heading: str
    bars: list[tuple[str, float]]
    one: float = 1.0
    line: str = "PyTorch = 1"
    form: str = "{:.2f}"


# ---- tables of the pages
# ---------------------------------------------------------------


def section(page: str, heading: str) -> str:
    """Return the text below a heading of a page, up to the next heading."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    return text.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def rows(text: str, first: str) -> Iterator[list[str]]:
    """Yield the cells of the rows of the table whose first title is `first`."""
    inside = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith(f"| {first} |"):
            inside = True
        elif inside and not line.startswith("|"):
            return
        elif inside and not set(line) <= set("|-: "):
            yield cells


def number(cell: str) -> float:
    """Return the number at the beginning of a cell."""
    return float(cell.split(maxsplit=1)[0].replace(",", ""))


def models() -> list[tuple[str, str, float]]:
    """Return each row of the zoo: model, step or inference, and relative speed."""
    return [
        (name, kind, float(ratio))
        for name, kind, ratio in ZOO.findall(section("models", "The zoo of models"))
        if not name.startswith(LATER)
    ]


def answers() -> list[tuple[str, float]]:
    """Return each compiled inference, and its speed relative to ONNX Runtime."""
    text = section("compiled", "Inference compared with ONNX Runtime")
    return [(cells[0], number(cells[3])) for cells in rows(text, "model, one example")]


def compiled() -> list[tuple[str, float]]:
    """Return each compiled step or inference, and its speed relative to eager code."""
    text = section("compiled", "Training steps")
    return [(cells[0], number(cells[3])) for cells in rows(text, "step")]


def products() -> list[tuple[str, float]]:
    """Return each product on the Zen 4, in percent of the peak."""
    text = section("products", "On a Zen 4")
    return [(cells[0], number(cells[2])) for cells in rows(text, "shape")]


def calls() -> list[tuple[str, float]]:
    """Return some accelerated calls on 16 elements, with speeds relative to PyTorch."""
    found = {
        cells[0]: number(cells[3]) / number(cells[2])
        for cells in rows(section("small-calls", "A call on 16 elements"), "call")
    }
    return [(name.replace("`", ""), found[name]) for name in CALLS]


def geometric_mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def short(name: str) -> str:
    """Return the name of the model without its batch."""
    return name.split(", ", maxsplit=1)[0]


# ---- drawing -------------------------------------------------------------------------


def charts() -> dict[str, Chart]:
    """Return the charts by the names of their files."""
    steps = [(short(name), ratio) for name, kind, ratio in models() if kind == "step"]
    steps.sort(key=lambda step: -step[1])
    return {
        "steps": Chart(
            "How many times as fast as PyTorch a training step is",
            "A training step, times as fast as PyTorch",
            steps,
        ),
        "compiled": Chart(
            "How many times as fast as eager code a compiled step or inference is",
            "Compiled, times as fast as eager code",
            sorted(compiled(), key=lambda row: -row[1]),
            line="eager = 1",
        ),
        "answers": Chart(
            "How many times as fast as ONNX Runtime compiled inference is",
            "Compiled inference, times as fast as ONNX Runtime",
            sorted(answers(), key=lambda row: -row[1]),
            line="ONNX Runtime = 1",
        ),
        "products": Chart(
            "Share of the peak of a Zen 4 that matrix products reach",
            "Products, % of the peak of multiply-adds",
            products(),
            one=100.0,
            line="the peak",
            form="{:.0f}",
        ),
        "calls": Chart(
            "How many times as fast as PyTorch a call on 16 elements is",
            "A call on 16 elements, times as fast as PyTorch",
            sorted(calls(), key=lambda row: -row[1]),
        ),
    }


def label(text: str) -> str:
    """Return a label that fits next to the bars."""
    text = text.removesuffix(", ms").removesuffix(", µs")
    text = text.replace("transformer", "LM").replace(", inference", "")
    text = text if len(text) <= LETTERS else text[: LETTERS - 1].rstrip(" ,") + "…"
    return text.replace("&", "&amp;").replace("<", "&lt;")


def bar(row: tuple[str, float], y: int, scale: float) -> str:
    """Return a bar and its label."""
    name, value = row
    return (
        f'<text x="{LEFT - 6}" y="{y + BAR}" text-anchor="end" fill="#1b1b1b" '
        f'font-size="11">{label(name)}</text>\n'
        f'<rect x="{LEFT}" y="{y}" width="{value * scale:.1f}" height="{BAR}" '
        f'fill="#2166ac"/>\n'
    )


def figure(chart: Chart, value: float, y: int, scale: float) -> str:
    """Return the number after a bar; a white edge separates it from the line."""
    return (
        f'<text x="{LEFT + value * scale + 4:.1f}" y="{y + BAR}" fill="#1b1b1b" '
        f'font-size="11" stroke="#ffffff" stroke-width="3" paint-order="stroke">'
        f"{chart.form.format(value)}</text>\n"
    )


def draw(chart: Chart) -> str:
    """Return a chart: a bar for each row, and a line at the rival or the limit."""
    most = max(chart.one, *(value for _, value in chart.bars))
    scale = (WIDTH - LEFT - RIGHT) / most
    bottom = TOP + STEP * len(chart.bars)
    places = [TOP + STEP * i for i in range(len(chart.bars))]
    placed = list(zip(chart.bars, places, strict=True))
    drawn = "".join(bar(row, y, scale) for row, y in placed)
    figures = "".join(figure(chart, value, y, scale) for (_, value), y in placed)
    one = LEFT + chart.one * scale
    line = (
        f'<line x1="{one:.1f}" y1="{TOP - 2}" x2="{one:.1f}" y2="{bottom}" '
        f'stroke="#b35806" stroke-width="2"/>\n'
        f'<text x="{one:.1f}" y="{bottom + 12}" text-anchor="middle" fill="#8a4304">'
        f"{chart.line}</text>\n"
    )
    head = HEAD.format(
        width=WIDTH, height=bottom + 16, title=chart.title, heading=chart.heading
    )
    return f"{head}{drawn}{line}{figures}</svg>\n"


if __name__ == "__main__":
    STATIC.mkdir(exist_ok=True)
    for name, chart in charts().items():
        path = STATIC / f"{name}.svg"
        path.write_text(draw(chart), encoding="utf-8")
        mean = geometric_mean([value for _, value in chart.bars])
        print(path, f"{mean:.2f}")

# SPDX-License-Identifier: MIT
"""Draw the chart of the front page from the table of models in the page on performance.

``python tools/front_chart.py`` writes docs/_static/steps.svg.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PERFORMANCE = ROOT / "docs/reference/performance.md"
CHART = ROOT / "docs/_static/steps.svg"
ROW = re.compile(
    r"^\| ([^|]+), (step|inference) \|[^|]+\|[^|]+\| ([\d.]+) \(", re.MULTILINE
)
#: Measured later, with other load; the page's geometric mean is without it.
LATER = "R3D"

WIDTH, LEFT, RIGHT = 400, 132, 36
TOP, STEP, BAR = 22, 13, 9
HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" \
width="{width}" height="{height}" font-family="sans-serif" font-size="12">
<title>How many times as fast as PyTorch a training step is</title>
<rect width="{width}" height="{height}" rx="6" fill="#ffffff"/>
<text x="8" y="14" font-weight="bold" fill="#1b1b1b">\
A training step, times as fast as PyTorch</text>
"""


def models() -> list[tuple[str, str, float]]:
    """Each row of the zoo: model, step or inference, times as fast as PyTorch."""
    text = PERFORMANCE.read_text(encoding="utf-8")
    zoo = text.split("## The zoo of models, beside PyTorch")[1].split("\n## ")[0]
    return [
        (name, kind, float(ratio))
        for name, kind, ratio in ROW.findall(zoo)
        if not name.startswith(LATER)
    ]


def geometric_mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def short(name: str) -> str:
    """Return the model alone, without its batch."""
    return name.split(", ", maxsplit=1)[0]


def bar(label: str, ratio: float, y: int, scale: float) -> str:
    width = ratio * scale
    baseline = y + BAR
    return (
        f'<text x="{LEFT - 6}" y="{baseline}" text-anchor="end" fill="#1b1b1b" '
        f'font-size="11">{label}</text>\n'
        f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR}" '
        f'fill="#2166ac"/>\n'
        f'<text x="{LEFT + width + 4:.1f}" y="{baseline}" fill="#1b1b1b" '
        f'font-size="11">{ratio:.2f}</text>\n'
    )


def draw() -> str:
    """Return the chart: a bar for each training step, the largest first."""
    steps = [(short(name), ratio) for name, kind, ratio in models() if kind == "step"]
    steps.sort(key=lambda step: -step[1])
    scale = (WIDTH - LEFT - RIGHT) / steps[0][1]
    bottom = TOP + STEP * len(steps)
    bars = "".join(
        bar(name, ratio, TOP + STEP * i, scale) for i, (name, ratio) in enumerate(steps)
    )
    one = LEFT + scale
    line = (
        f'<line x1="{one:.1f}" y1="{TOP - 2}" x2="{one:.1f}" y2="{bottom}" '
        f'stroke="#b35806" stroke-width="2"/>\n'
        f'<text x="{one:.1f}" y="{bottom + 12}" text-anchor="middle" fill="#8a4304">'
        f"PyTorch = 1</text>\n"
    )
    head = HEAD.format(width=WIDTH, height=bottom + 16)
    return f"{head}{bars}{line}</svg>\n"


if __name__ == "__main__":
    CHART.parent.mkdir(exist_ok=True)
    CHART.write_text(draw(), encoding="utf-8")
    print(CHART, f"{geometric_mean([ratio for *_, ratio in models()]):.2f}")

# SPDX-License-Identifier: MIT
"""The figures and the chart of the front page are those of the page on performance."""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
FRONT = (ROOT / "docs/index.md").read_text(encoding="utf-8")


def load_chart():
    spec = importlib.util.spec_from_file_location(
        "front_chart", ROOT / "tools/front_chart.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


chart = load_chart()


def test_the_chart_shows_the_table_of_today():
    assert chart.CHART.read_text(encoding="utf-8") == chart.draw(), (
        "python tools/front_chart.py draws it anew"
    )


def test_the_ratio_is_the_mean_of_the_table():
    ratios = [ratio for *_, ratio in chart.models()]
    names = {chart.short(name) for name, *_ in chart.models()}
    assert f"**{chart.geometric_mean(ratios):.2f} times**" in FRONT
    assert f"answers of {len(names)} models ({len(ratios)}\nmeasurements)" in FRONT


def test_the_alternative_text_says_what_the_chart_shows():
    steps = {
        chart.short(name): ratio
        for name, kind, ratio in chart.models()
        if kind == "step"
    }
    alt = re.search(r":alt: (.+)", FRONT)[1]
    low, high = min(steps.values()), max(steps.values())
    assert f"of {len(steps)} models is {low:.2f} to {high:.2f} times" in alt
    told = dict(re.findall(r"(GRU|U-Net|BERT|VGG-11) ([\d.]+)", alt))
    assert len(told) == 4
    for name, ratio in told.items():
        model = next(step for step in steps if step.startswith(name))
        assert f"{steps[model]:.2f}" == ratio


def test_the_compiled_step_is_the_row_of_the_table():
    text = chart.PERFORMANCE.read_text(encoding="utf-8")
    row = re.search(r"^\| MLP 64-32-10, batch 32, µs \|(.+)\|$", text, re.MULTILINE)[1]
    eager, compiled, _, _, jax = (cell.strip() for cell in row.split("|"))
    told = f"**{compiled} µs** for a compiled training step of an MLP 64-32-10 on 32"
    assert told in FRONT
    assert f"{eager} µs without `ac.compile`, {jax}\njitted by JAX" in FRONT

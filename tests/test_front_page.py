# SPDX-License-Identifier: MIT
"""Figures and charts of the front page and of the summary are those of the tables."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FRONT = (ROOT / "docs/index.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def load_charts():
    spec = importlib.util.spec_from_file_location("charts", ROOT / "tools/charts.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


chart = load_charts()
CHARTS = chart.charts()
SUMMARY = (ROOT / "docs/reference/performance.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CHARTS)
def test_charts_show_the_tables_of_today(name):
    drawn = (chart.STATIC / f"{name}.svg").read_text(encoding="utf-8")
    assert drawn == chart.draw(CHARTS[name]), "python tools/charts.py draws it again"


@pytest.mark.parametrize("name", CHARTS)
def test_charts_can_be_read_where_a_page_is_350_pixels_wide(name):
    drawn = (chart.STATIC / f"{name}.svg").read_text(encoding="utf-8")
    sizes = [int(size) for size in re.findall(r'font-size="(\d+)"', drawn)]
    assert min(sizes) * 350 / chart.WIDTH > 9
    for label in re.findall(r'text-anchor="end"[^>]*>([^<]+)<', drawn):
        assert len(label) <= chart.LETTERS + len("&amp;")
    assert len(CHARTS[name].heading) <= 52


def alternative(text, chart_name):
    """Return what a page says in place of a chart."""
    return re.search(rf"{chart_name}\.svg\n:alt: (.+)", text)[1]


@pytest.mark.parametrize("name", ["answers", "calls", "steps"])
def test_the_summary_says_in_words_what_its_charts_show(name):
    alt, bars = alternative(SUMMARY, name), dict(CHARTS[name].bars)
    low, high = min(bars.values()), max(bars.values())
    assert f"{len(bars)} " in alt
    assert f"{low:.2f} to {high:.2f} times" in alt
    told = re.findall(r"([\w+ .-]*?) (\d+\.\d\d)(?=[,; .]| and)", alt.split(";")[1])
    assert len(told) >= 3
    for words, ratio in told:
        name = words.replace(" and ", "").strip()
        row = next(row for row in bars if row.startswith(name))
        assert f"{bars[row]:.2f}" == ratio


def test_the_summary_says_how_near_products_come_to_the_peak():
    shares = [share for _, share in CHARTS["products"].bars]
    near = [share for share in shares if share >= 77]
    others = [share for share in shares if share < 77]
    assert alternative(SUMMARY, "products").startswith(
        f"Bar chart. Of {len(shares)} products on a Zen 4, {len(near)} reach "
        f"{min(near):.0f} to {max(near):.0f} % of the peak"
    )
    assert f"{min(others):.0f} to {max(others):.0f} %." in alternative(
        SUMMARY, "products"
    )


def test_the_means_of_the_summary_are_those_of_the_tables():
    found = dict(
        re.findall(r"^\| \{doc\}`(.+?) <.+?`.+?\| ([\d.]+) \|", SUMMARY, re.MULTILINE)
    )
    mean = chart.geometric_mean
    steps = [ratio for *_, ratio in chart.models()]
    models = {chart.short(name) for name, *_ in chart.models()}
    assert found.pop(
        f"{len(models)} models, {len(steps)} training steps and inferences"
    ) == (f"{mean(steps):.2f}")
    for name, ratios in (
        (f"{len(chart.compiled())} compiled steps and inferences", chart.compiled()),
        (f"compiled inference of {len(chart.answers())} models", chart.answers()),
    ):
        assert found.pop(name) == f"{mean([ratio for _, ratio in ratios]):.2f}"
    text = chart.section("products", "On a Zen 4")
    shapes = list(chart.rows(text, "shape"))
    told = re.search(r"PyTorch, NumPy, JAX \| ([\d.]+), ([\d.]+), ([\d.]+)", SUMMARY)
    for column, one in zip((3, 4, 5), told.groups(), strict=True):
        # Rows are rounded; the mean was taken before.
        of_all = mean([float(row[column]) for row in shapes])
        assert abs(float(one) - of_all) < 0.011


def test_the_figures_of_the_summary_stand_on_the_pages():
    calls = " ".join(chart.section("small-calls", "A call on 16 elements").split())
    assert "Over 368 calls" in calls
    assert "the geometric mean is 2.9 times PyTorch's speed" in calls
    assert "| 0.47 (0.46 to 0.48) |" in chart.section("small-calls", "Core alone")
    layers = (chart.PAGES / "convolutions.md").read_text(encoding="utf-8")
    assert "| 8 | 138 | 1.57 |" in layers


def test_the_summary_fits_a_screen_and_its_details_are_pages():
    words = re.sub(
        r"^:alt:.*$", "", SUMMARY.split("```{toctree}")[0], flags=re.MULTILINE
    )
    assert len(words.split()) < 400
    pages = {path.stem for path in chart.PAGES.glob("*.md")}
    assert set(re.findall(r"^performance/([\w-]+)$", SUMMARY, re.MULTILINE)) == pages


def test_the_ratio_is_the_mean_of_the_table():
    ratios = [ratio for *_, ratio in chart.models()]
    names = {chart.short(name) for name, *_ in chart.models()}
    assert f"**{chart.geometric_mean(ratios):.2f} times**" in FRONT
    assert f"inferences of {len(names)} models ({len(ratios)}\nmeasurements)" in FRONT


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
    text = chart.section("compiled", "Training steps")
    row = re.search(r"^\| MLP 64-32-10, batch 32, µs \|(.+)\|$", text, re.MULTILINE)[1]
    eager, compiled, _, _, jax = (cell.strip() for cell in row.split("|"))
    told = f"**{compiled} µs** for a compiled training step of an MLP 64-32-10 on 32"
    assert told in FRONT
    assert f"{eager} µs without `ac.compile`, and {jax} µs\nwith JAX's `jit`" in FRONT


@pytest.mark.parametrize("page", [README, FRONT], ids=["README", "front page"])
def test_a_first_page_says_what_it_is_and_where_to_go(page):
    body = page.partition("# AutoCalc\n\n")[2]
    what = body.partition("\n\n")[0]
    assert what.startswith("AutoCalc trains neural networks on CPUs")
    assert len(re.findall(r"\.(?:\s|$)", what)) == 2
    assert "_static/steps.svg" in body  # a picture, and a figure from it
    assert re.search(r"\*\*\d\.\d\d times\*\* as fast as", body)
    commands = re.findall(r"^\$ ([^#\n]+?) *(?:#.*)?$", body, re.MULTILINE)
    assert commands[:3] == [
        "make install", ". .venv/bin/activate", "autocalc train digits"
    ]  # fmt: skip
    assert re.search(r"[Vv]ersion \d\.\d\.\d is not released yet", body)
    doors = re.findall(r"^\| \W*([a-z]\w+)", body, re.MULTILINE)
    assert {"train", "write"} < set(doors)
    assert {"come", "run"} & set(doors)


def test_the_changelog_is_a_page_of_the_documentation():
    page = (ROOT / "docs/changelog.md").read_text(encoding="utf-8")
    assert re.fullmatch(r"```\{include\} \.\./CHANGELOG\.md\n```\n", page)
    toctrees = re.findall(r"```\{toctree\}(.+?)```", FRONT, re.DOTALL)
    assert any(re.search(r"^changelog$", tree, re.MULTILINE) for tree in toctrees)

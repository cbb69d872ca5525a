# SPDX-License-Identifier: MIT
"""Draw a graph as boxes in layers, without an external program.

The layers are those of Sugiyama, Tagawa and Toda, Methods for visual understanding of
hierarchical system structures (1981). A box is one layer below the lowest of its
inputs. The boxes of a layer are sorted by the positions of their neighbours; this is
repeated a few times, upwards and downwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

#: Sizes in pixels.
_CHARACTER, _HEIGHT, _GAP, _BELOW = 7, 40, 24, 44

#: The number of sorting passes.
_SWEEPS = 4


class Box(NamedTuple):
    """One box: its name, its two lines of text, and the names of its inputs."""

    name: str
    words: tuple[str, str]
    inputs: tuple[str, ...]
    leaf: bool


def dot(boxes: Sequence[Box]) -> str:
    """Return the graph in the DOT language of Graphviz."""
    lines = ["digraph tape {", '  node [shape=box, fontname="sans-serif"];']
    for box in boxes:
        text = "\\n".join(_quoted(word) for word in box.words if word)
        style = ", style=filled, fillcolor=lightgrey" if box.leaf else ""
        lines.append(f'  "{_quoted(box.name)}" [label="{text}"{style}];')
    for box in boxes:
        lines += [f'  "{_quoted(one)}" -> "{_quoted(box.name)}";' for one in box.inputs]
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def layered(boxes: Sequence[Box]) -> list[list[Box]]:
    """Return the boxes in sorted layers; a box comes after its inputs."""
    depth: dict[str, int] = {}
    for box in boxes:
        depth[box.name] = 1 + max((depth[one] for one in box.inputs), default=-1)
    users: dict[str, list[str]] = defaultdict(list)
    for box in boxes:
        for one in box.inputs:
            users[one].append(box.name)
    for box in boxes:  # put a leaf directly above its first user
        if box.leaf and users[box.name]:
            depth[box.name] = min(depth[user] for user in users[box.name]) - 1
    layers: list[list[Box]] = [[] for _ in range(1 + max(depth.values()))]
    for box in boxes:
        layers[depth[box.name]].append(box)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else reversed(layers):
            where = _positions(layers)
            near = {b.name: b.inputs if down else users[b.name] for b in layer}
            layer.sort(key=lambda b: _middle(where[b.name], near[b.name], where))
    return layers


def _positions(layers: Iterable[Sequence[Box]]) -> dict[str, float]:
    return {
        box.name: (i + 0.5) / len(layer)
        for layer in layers
        for i, box in enumerate(layer)
    }


def _middle(own: float, names: Iterable[str], where: dict[str, float]) -> float:
    found = [where[name] for name in names]
    return sum(found) / len(found) if found else own


class Frame(NamedTuple):
    """The position of a box: its centre, its upper edge and its width."""

    x: float
    y: float
    width: float


def frames(layers: Sequence[Sequence[Box]]) -> tuple[dict[str, Frame], float, float]:
    """Return the positions of the boxes, and the width and height of the picture."""
    widths = {
        box.name: 16.0 + _CHARACTER * max(map(len, box.words))
        for layer in layers
        for box in layer
    }
    totals = [sum(widths[b.name] + _GAP for b in layer) for layer in layers]
    whole = max(totals)
    found = {}
    for i, layer in enumerate(layers):
        x = (whole - totals[i] + _GAP) / 2
        for box in layer:
            width = widths[box.name]
            y = _GAP + i * (_HEIGHT + _BELOW)
            found[box.name] = Frame(x + width / 2, y, width)
            x += width + _GAP
    return found, whole, _GAP + len(layers) * (_HEIGHT + _BELOW)


def svg(boxes: Sequence[Box]) -> str:
    """Return the graph as an SVG picture."""
    places, width, height = frames(layered(boxes))
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
            f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'font-family="sans-serif" font-size="12">'
        ),
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>',
    ]
    for box in boxes:
        parts += [_edge(places[one], places[box.name]) for one in box.inputs]
    parts += [_box(box, places[box.name]) for box in boxes]
    return "\n".join([*parts, "</svg>", ""])


def _edge(above: Frame, below: Frame) -> str:
    start, end = above.y + _HEIGHT, below.y
    bend = (start + end) / 2
    curve = f"C {above.x:.1f} {bend:.1f}, {below.x:.1f} {bend:.1f}"
    tip = f"M {below.x - 4:.1f} {end - 6:.1f} l 4 6 l 4 -6"
    return (
        f'<path d="M {above.x:.1f} {start:.1f} {curve}, {below.x:.1f} {end:.1f} {tip}" '
        f'fill="none" stroke="#888"/>'
    )


def _box(box: Box, frame: Frame) -> str:
    colour = "#e8e8e8" if box.leaf else "#dcebfa"
    left = frame.x - frame.width / 2
    lines = [
        f'<text x="{frame.x:.1f}" y="{frame.y + 16 + 15 * i:.1f}" '
        f'text-anchor="middle">{escape(word)}</text>'
        for i, word in enumerate(box.words)
        if word
    ]
    rect = (
        f'<rect x="{left:.1f}" y="{frame.y:.1f}" width="{frame.width:.1f}" '
        f'height="{_HEIGHT}" rx="4" fill="{colour}" stroke="#555"/>'
    )
    return rect + "".join(lines)

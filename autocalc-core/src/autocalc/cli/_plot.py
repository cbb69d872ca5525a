# SPDX-License-Identifier: MIT
"""Pictures of a training: its curves, and the test images that are most wrong."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import click

from autocalc._graph._grad_mode import no_grad
from autocalc._tensor import Tensor
from autocalc.cli._curves import WINDOW, Curves, in_terminal, smoothed
from autocalc.cli._progress import say, stream
from autocalc.cli._recipes import RECIPES
from autocalc.cli._training import Training
from autocalc.nn import functional

#: The largest number of test images that are shown.
_SHOWN = 8

#: The value that selects the terminal in place of a file.
TERMINAL = Path("-")

_KINDS = (".png", ".svg", ".pdf")

#: The largest width of curves in cells, and the width if the output is no terminal.
_WIDTH = 80


def check_plot(path: Path) -> None:
    """Raise if curves cannot be drawn into `path`; called before the training."""
    if path == TERMINAL:
        return
    if path.suffix.lower() not in _KINDS:
        message = f"{path} must end with {', '.join(_KINDS[:-1])} or {_KINDS[-1]}."
        raise click.BadParameter(message, param_hint="--plot")
    if not has_matplotlib():
        say(
            f"matplotlib is not installed: the curves will be drawn here, not into "
            f"{path}. Get it with: pip install autocalc-core[plot]",
            err=True,
        )


def has_matplotlib() -> bool:
    """Return whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def plot(
    curves: Curves,
    path: Path,
    *,
    err: bool = False,
    below: Callable[[Any], None] | None = None,
) -> None:
    """Draw curves into a file, or as text if that is requested or necessary.

    `below` draws into the lower part of the picture.
    """
    if path == TERMINAL or not has_matplotlib():
        unicode = (
            (getattr(stream(err), "encoding", None) or "").lower().startswith("utf")
        )
        width = min(shutil.get_terminal_size().columns, _WIDTH)
        click.echo(in_terminal(curves, width, unicode), err=err)
        return
    draw(curves, path, below)
    say(f"Curves drawn into {path}.", err)


def draw(
    curves: Curves, path: Path, below: Callable[[Any], None] | None = None
) -> None:
    """Draw a figure with matplotlib."""
    from matplotlib.figure import Figure  # 300 ms of import

    figure = Figure(figsize=(9, 5.5 if below else 4), layout="constrained")
    above: Any = figure
    if below is not None:
        parts: Any = figure.subfigures(2, 1, height_ratios=(3, 1))
        above, lower = parts
        below(lower)
    figure.suptitle(curves.title)
    left, right = above.subplots(1, 2)
    left.plot(*_columns(curves.losses), linewidth=0.4, alpha=0.5, label="each step")
    left.plot(*_columns(smoothed(curves.losses)), label=f"mean of {WINDOW} steps")
    left.plot(*_columns(curves.kept), "o-", label=curves.kept_name)
    left.set(xlabel=curves.unit, ylabel="loss", yscale="log")
    left.legend()
    right.plot(*_columns(curves.second), "o-" if len(curves.second) < 50 else "-")
    right.set(xlabel=curves.unit, ylabel=curves.second_name)
    right.xaxis.get_major_locator().set_params(integer=True)
    figure.savefig(path)


def _columns(points: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def curves_of(training: Training) -> Curves:
    """Return the loss and accuracy of a training on images, over the epochs."""
    history, config = training.history, training.config
    per_epoch = len(training.loader)
    accuracies = enumerate(history.test_accuracies, 1)
    return Curves(
        f"{config.model} on {config.data}",
        "epoch",
        [(i / per_epoch, loss) for i, loss in enumerate(history.losses, 1)],
        [(float(i), loss) for i, loss in enumerate(history.test_losses, 1)],
        "test",
        "test accuracy in %",
        [(float(i), 100 * share) for i, share in accuracies],
    )


class Wrong(NamedTuple):
    """A test image that the model classifies wrongly."""

    image: Tensor
    label: int
    answer: int
    #: The probability that the model gave the label.
    probability: float


def most_wrong(training: Training, count: int = _SHOWN) -> list[Wrong]:
    """Return the test images whose labels the model finds least likely."""
    training.model.eval()
    found: list[Wrong] = []
    with no_grad():
        for images, labels in training.test_loader:
            logits = training.model(images)
            of_label = functional.softmax(logits, 1).gather(1, labels.unsqueeze(1))
            answers, shares = logits.argmax(1).tolist(), of_label.flatten().tolist()
            for i, label in enumerate(labels.tolist()):
                if answers[i] != label:
                    found.append(Wrong(images[i], label, answers[i], shares[i]))
            found = sorted(found, key=lambda wrong: wrong.probability)[:count]
    return found


def draw_most_wrong(training: Training) -> Callable[[Any], None]:
    """Return a function that draws images in a row, each with its prediction."""

    def below(figure: Any) -> None:
        recipe = RECIPES[training.config.data]
        figure.suptitle("label: answer of the most wrong test images", fontsize="small")
        panes = figure.subplots(1, _SHOWN).flat
        for axes, one in zip(panes, most_wrong(training), strict=False):
            ink = one.image.reshape(*recipe.size) * recipe.std + recipe.mean
            axes.imshow(ink.numpy(), cmap="gray_r", vmin=0, vmax=1)
            names = recipe.classes[one.label], recipe.classes[one.answer]
            axes.set_title(": ".join(names), fontsize="xx-small")
        for axes in figure.axes:
            axes.set_axis_off()

    return below

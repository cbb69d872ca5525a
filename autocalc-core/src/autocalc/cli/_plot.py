# SPDX-License-Identifier: MIT
"""A training as a picture: its curves, and the test images that it gets most wrong."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from autocalc._graph._grad_mode import no_grad
from autocalc._tensor import Tensor
from autocalc.cli._recipes import RECIPES
from autocalc.cli._training import Training
from autocalc.errors import PluginError
from autocalc.nn import functional

#: Steps that the smooth line averages over.
_WINDOW = 20

#: Test images that are shown at most.
_SHOWN = 8


def check_plot(path: Path) -> None:
    """Raise if curves cannot be drawn into `path`: before the training, not after."""
    if find_spec("matplotlib") is None:
        message = (
            "--plot needs matplotlib, which is not installed. Get it with: "
            "pip install autocalc-core[plot]"
        )
        raise PluginError(message)
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    kinds = FigureCanvasAgg.get_supported_filetypes()
    if path.suffix[1:].lower() not in kinds:
        message = (
            f"--plot: {path} ends with {path.suffix!r}; matplotlib writes "
            f"{', '.join(sorted(kinds))}."
        )
        raise PluginError(message)


def draw(training: Training, path: Path) -> None:
    """Draw loss and accuracy over the epochs."""
    from matplotlib.figure import Figure  # 300 ms of import

    history, config = training.history, training.config
    per_epoch = len(training.loader)
    figure = Figure(figsize=(9, 5.5), layout="constrained")
    parts: Any = figure.subfigures(2, 1, height_ratios=(3, 1))
    above, below = parts
    left, right = above.subplots(1, 2)
    figure.suptitle(f"{config.model} on {config.data}")
    times = [(i + 1) / per_epoch for i in range(len(history.losses))]
    left.plot(times, history.losses, linewidth=0.4, alpha=0.5, label="each step")
    left.plot(times, smooth(history.losses), label=f"mean of {_WINDOW} steps")
    epochs = list(range(1, len(history.test_losses) + 1))
    left.plot(epochs, history.test_losses, "o-", label="test")
    left.set(xlabel="epoch", ylabel="loss", yscale="log")
    left.legend()
    percent = [100 * share for share in history.test_accuracies]
    right.plot(epochs, percent, "o-")
    right.set(xlabel="epoch", ylabel="test accuracy in %")
    right.xaxis.get_major_locator().set_params(integer=True)
    _show(below, most_wrong(training), RECIPES[config.data])
    figure.savefig(path)


class Wrong(NamedTuple):
    """A test image that the model takes for something else."""

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


def _show(figure: Any, wrong: list[Wrong], recipe: Any) -> None:
    """Draw images side by side, each with what it is and what the model says."""
    figure.suptitle("label: answer of the most wrong test images", fontsize="small")
    for axes, one in zip(figure.subplots(1, _SHOWN).flat, wrong, strict=False):
        ink = one.image.reshape(*recipe.size) * recipe.std + recipe.mean
        axes.imshow(ink.numpy(), cmap="gray_r", vmin=0, vmax=1)
        names = recipe.classes[one.label], recipe.classes[one.answer]
        axes.set_title(": ".join(names), fontsize="xx-small")
    for axes in figure.axes:
        axes.set_axis_off()


def smooth(values: list[float]) -> list[float]:
    """Return the mean of each value and those before it in its window."""
    result, total = [], 0.0
    for i, value in enumerate(values):
        total += value
        if i >= _WINDOW:
            total -= values[i - _WINDOW]
        result.append(total / min(i + 1, _WINDOW))
    return result

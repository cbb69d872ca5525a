# SPDX-License-Identifier: MIT
"""Curves of a training as a picture."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from autocalc.cli._training import Training
from autocalc.errors import PluginError

#: Steps that the smooth line averages over.
_WINDOW = 20


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
    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
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
    figure.savefig(path)


def smooth(values: list[float]) -> list[float]:
    """Return the mean of each value and those before it in its window."""
    result, total = [], 0.0
    for i, value in enumerate(values):
        total += value
        if i >= _WINDOW:
            total -= values[i - _WINDOW]
        result.append(total / min(i + 1, _WINDOW))
    return result

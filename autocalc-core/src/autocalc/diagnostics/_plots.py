# SPDX-License-Identifier: MIT
"""Draw a log of training steps."""

from __future__ import annotations

import os
from typing import Any

from autocalc.diagnostics._arguments import check_path
from autocalc.diagnostics._log import read_log
from autocalc.errors import DataError, PluginError

#: The number of lines that are named in the legend.
_NAMED = 12


def plot(
    log: str | os.PathLike[str], file: str | os.PathLike[str] | None = None
) -> Any:
    """Draw a log of `watch`: gradients, updates, zeros and flags.

    Parameters
    ----------
    log
        The file of JSON lines.
    file
        The path of the picture; its suffix selects the format.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    PluginError
        If matplotlib is not installed.
    DTypeError
        If `log` or `file` is not a path.
    DataError
        If the log cannot be read or has no steps, or if matplotlib cannot write the
        format of `file`.

    Examples
    --------
    >>> import tempfile
    >>> import autocalc as ac
    >>> path = tempfile.mkdtemp() + "/steps.jsonl"
    >>> net = ac.nn.Linear(2, 1)
    >>> with ac.diagnostics.watch(net, log=path):
    ...     net(ac.ones(3, 2)).sum().backward()
    >>> figure = ac.diagnostics.plot(path)  # doctest: +SKIP
    """
    try:
        from matplotlib.figure import Figure  # takes 300 ms to import
    except ImportError:
        raise PluginError(
            "plot: matplotlib is not installed. Get it with: pip install "
            "autocalc-core[plot]"
        ) from None
    records = read_log(log)
    if not records:
        raise DataError(f"plot: {log} does not contain a step yet.")
    figure = Figure(figsize=(10, 7), layout="constrained")
    _draw(figure, records)
    if file is not None:
        kinds = figure.canvas.get_supported_filetypes()
        if check_path("plot", "file", file).suffix[1:].lower() not in kinds:
            message = f"plot: matplotlib writes {', '.join(sorted(kinds))}, not {file}."
            raise DataError(message)
        figure.savefig(file)
    return figure


def _draw(figure: Any, records: list[dict[str, Any]]) -> None:
    axes = figure.subplots(2, 2)
    steps = [record["step"] for record in records]
    gradients = [record["gradients"]["rows"] for record in records]
    activations = [record["activations"] for record in records]
    _lines(axes[0][0], steps, gradients, "name", "norm", "norm of gradient", log=True)
    _lines(axes[0][1], steps, gradients, "name", "update", "update / weight", log=True)
    _lines(axes[1][0], steps, activations, "layer", "zeros", "share of zeros")
    counts = [len(record["flags"]) for record in records]
    axes[1][1].step(steps, counts, where="mid")
    axes[1][1].set(xlabel="step", ylabel="flags")


def _lines(
    axes: Any,
    steps: list[int],
    rows: list[list[dict[str, Any]]],
    name: str,
    value: str,
    label: str,
    *,
    log: bool = False,
) -> None:
    """Draw one line for each layer or parameter."""
    lines: dict[str, list[tuple[int, float]]] = {}
    for step, found in zip(steps, rows, strict=True):
        for row in found:
            if row[value] is not None and (row[value] > 0 or not log):
                title = row[name] or row.get("operator", "")
                lines.setdefault(title, []).append((step, row[value]))
    for i, (title, points) in enumerate(lines.items()):
        named = title if i < _NAMED else None
        axes.plot(*zip(*points, strict=True), ".-", linewidth=1, label=named)
    axes.set(xlabel="step", ylabel=label)
    if log and lines:
        axes.set_yscale("log")
    if lines:
        axes.legend(fontsize="xx-small")

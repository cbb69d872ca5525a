# SPDX-License-Identifier: MIT
"""The bar of a training that goes on."""

from __future__ import annotations

from typing import Any

#: Seconds between two updates of the bar.
BAR_PAUSE = 0.1


def progress_bar(*titles: str) -> Any:
    """Return a bar behind `titles`, with the field `news` and the time that is left."""
    from rich.progress import (  # 40 ms of import
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        *(TextColumn(title) for title in titles),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("{task.fields[news]}"),
        TimeRemainingColumn(compact=True),
        transient=True,
        auto_refresh=False,
    )

# SPDX-License-Identifier: MIT
"""The HTML form of tensors in notebooks: a line of facts, and a table or text."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from autocalc._tensor._number_texts import form_of
from autocalc._tensor.printing import current_options, describe, shown_places

#: The most rows and columns of a table, and how many are shown at each end if there are
#: more.
_MOST, _EDGE = 20, 5


def as_html(x: Any) -> str:  # a Tensor, whose module imports this one
    """Return the HTML of a tensor: a table for up to two dimensions, else its text."""
    if x.ndim in {1, 2} and x.numel():
        body = _table(x)
    else:
        body = f"<pre>{escape(describe(x))}</pre>"
    return f"<div>{body}<small>{escape(_facts(x))}</small></div>"


def _facts(x: Any) -> str:
    """Return ``Tensor [3, 4], float32, 48 bytes, requires grad``."""
    facts = [f"{type(x).__name__} {list(x.shape)}", x.dtype.name, f"{x.nbytes:,} bytes"]
    if not x.is_leaf:
        facts.append(f"grad_fn {x._node().op.name}")
    elif x.requires_grad:
        facts.append("requires grad")
    return ", ".join(facts)


def _table(x: Any) -> str:
    array = x._array if x.ndim == 2 else x._array.reshape(1, -1)
    if x.is_floating_point():
        with np.errstate(invalid="ignore"):  # for signalling NaNs
            array = array.astype(np.float64)
    edges = [None if size <= _MOST else _EDGE for size in array.shape]
    rows, columns = map(shown_places, array.shape, edges)
    shown = array[np.ix_(rows, columns)]
    options = current_options()
    form = form_of(shown.reshape(-1).tolist(), options.precision, options.sci_mode)
    lines = [[escape(form(value).strip()) for value in row] for row in shown.tolist()]
    if len(columns) < array.shape[1]:
        lines = [[*line[:_EDGE], "…", *line[_EDGE:]] for line in lines]
    if len(rows) < array.shape[0]:
        lines.insert(_EDGE, ["⋮"] * len(lines[0]))
    body = "".join(
        f"<tr>{''.join(f'<td>{text}</td>' for text in line)}</tr>" for line in lines
    )
    return f"<table>{body}</table>"

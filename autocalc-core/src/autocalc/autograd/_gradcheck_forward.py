# SPDX-License-Identifier: MIT
"""`gradcheck` of forward mode: tangents against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autocalc._ops.creation.from_data import from_numpy
from autocalc._ops.creation.like import zeros_like
from autocalc._ops.views.levels import hide, show
from autocalc._tensor import Tensor
from autocalc.autograd._gradcheck_modes import direction
from autocalc.autograd._levels import entered
from autocalc.autograd.forward_ad import dual_level, make_dual, unpack_dual

Outputs = Callable[..., list[Tensor]]


def compare_forward(check: Any, outputs: Outputs, fast_mode: bool) -> None:
    """Compare the tangents of all outputs with differences."""
    for i in check.checked:
        if fast_mode:
            _along_a_direction(check, outputs, i)
        else:
            _columns(check, outputs, i)


def _along_a_direction(check: Any, outputs: Outputs, i: int) -> None:
    """Compare one tangent, along random numbers."""
    eps = check.tolerance.eps
    v = direction(check.inputs[i].shape, i)
    ends = [check.moved(i, step * eps * v) for step in (1, -1)]
    found = slopes(check, outputs, i, v)
    for o, (t, high, low) in enumerate(zip(found, *ends, strict=True)):
        expected = (high - low) / (2 * eps)
        _compare(check, o, i, t.reshape(-1, 1), expected.reshape(-1, 1), "a direction")


def _columns(check: Any, outputs: Outputs, i: int) -> None:
    """Compare the tangent along each unit vector with a column of differences."""
    expected = check.numerical(i)
    found = [np.zeros_like(jacobian) for jacobian in expected]
    shape = check.inputs[i].shape
    for j in range(check.inputs[i].numel()):
        unit = np.zeros(shape)
        unit.reshape(-1)[j] = 1
        for columns, t in zip(found, slopes(check, outputs, i, unit), strict=True):
            columns[:, j] = t.reshape(-1)
    for o, (a, b) in enumerate(zip(found, expected, strict=True)):
        _compare(check, o, i, a, b, "a unit vector")


def _compare(check: Any, o: int, i: int, found: Any, expected: Any, what: str) -> None:
    tolerance = check.tolerance
    close = np.isclose(found, expected, tolerance.rtol, tolerance.atol, equal_nan=True)
    if close.all():
        return
    at = tuple(int(n) for n in np.argwhere(~close)[0])
    check.fail(
        f"the tangent of output {o} along {what} of `inputs[{i}]` is "
        f"{found[at]:.9g} at element {at[0]}, by differences {expected[at]:.9g}; "
        f"Jacobian computed with forward mode mismatch for output {o} with respect "
        f"to input {i}"
    )


def slopes(check: Any, outputs: Outputs, i: int, v: Any) -> list[Any]:
    """Return the tangents of all outputs as arrays."""
    with dual_level():
        found = _duals(check, outputs, i, _tensor(check, i, v))
        return [_values(t, y) for y, t in found]


def _tensor(check: Any, i: int, v: Any) -> Tensor:
    return from_numpy(np.asarray(v, check.inputs[i].dtype.numpy))


def _duals(check: Any, outputs: Outputs, i: int, v: Tensor) -> list[Any]:
    """Return the outputs and their tangents; those of other inputs are zero."""
    inputs = [x.detach() if isinstance(x, Tensor) else x for x in check.inputs]
    for j in check.checked:
        tangent = v if j == i else zeros_like(inputs[j])
        inputs[j] = make_dual(inputs[j], tangent)
    return [unpack_dual(y) for y in outputs(check.func, inputs)]


def _values(t: Tensor | None, y: Tensor) -> Any:
    return np.zeros(y.shape) if t is None else t.detach().numpy().copy()


def compare_batches(check: Any, outputs: Outputs) -> None:
    """Check that a batch of tangents gives what each gives alone."""
    for i in check.checked:
        shape = check.inputs[i].shape
        batch = np.stack([direction(shape, i + b) for b in range(2)])
        alone = [slopes(check, outputs, i, v) for v in batch]
        with entered(2) as lanes, dual_level():
            v = hide(_tensor(check, i, batch), lanes, 0)
            found = _duals(check, outputs, i, v)
            together = [
                np.zeros((2, *y.shape)) if t is None else _values(show(t, lanes, 0), y)
                for y, t in found
            ]
        for o, rows in enumerate(together):
            each = [one[o] for one in alone]
            if not np.allclose(rows, np.stack(each), equal_nan=True):
                check.fail(
                    f"a batch of tangents of `inputs[{i}]` gives other tangents of "
                    f"output {o} than its members"
                )

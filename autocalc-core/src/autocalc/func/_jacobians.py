# SPDX-License-Identifier: MIT
"""Jacobians and Hessians: all rows or all columns in one batched pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from autocalc._ops.arranging.joining import cat, stack
from autocalc._ops.creation.constants import eye
from autocalc._ops.creation.like import zeros_like
from autocalc._ops.views.duals import paired, primal_of, tangent_of
from autocalc._ops.views.levels import hide, show
from autocalc._tensor import Tensor
from autocalc.autograd._levels import entered, entered_dual
from autocalc.autograd._unit_vectors import in_blocks, unit_vectors
from autocalc.errors import ArgumentError
from autocalc.func._inputs import (
    Point,
    alike,
    called,
    check_inputs,
    checked_outputs,
    chosen,
    differentiating,
    rebuilt,
    replaced,
    without_tangents,
)
from autocalc.func._transforms import _pulled_back
from autocalc.func._vmap import is_count, vmap


def jacrev(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of `func`, row by row.

    The rows are computed by one backward pass for all of them.  This suits functions
    with fewer outputs than inputs; see `jacfwd`.

    Parameters
    ----------
    func
        A function that returns a tensor, or a structure of tensors.
    argnums
        The number of the argument with respect to which the derivative is taken, or a
        tuple of numbers.
    has_aux
        True if `func` returns a pair of its result and other values, which are passed
        on.
    chunk_size
        The largest number of rows that are computed at once, to save memory. None means
        all of them.

    Returns
    -------
    function
        It takes the arguments of `func`. For an output of shape ``[*M]`` and an input
        of shape ``[*N]`` it returns a tensor of shape ``[*M, *N]``. For structures of
        tensors, it returns the structure of the outputs, and in each place of it the
        structure of the inputs.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.func.jacrev(lambda x: x * x)(ac.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    check_chunks("jacrev", chunk_size)

    @wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = chosen("jacrev", args, argnums)
        point = Point("jacrev", leaves)
        given = replaced("jacrev", args, argnums, rebuilt(point.tensors, spec))
        with differentiating():
            output, aux = called("jacrev", func, given, kwargs, has_aux)
            outputs, out_spec = checked_outputs("jacrev", output)
        point.finish(outputs)
        rows = [_rows(point, y, chunk_size) for y in outputs]
        found = rebuilt([rebuilt(row, spec) for row in rows], out_spec)
        return (found, point.released(aux)) if has_aux else found

    return jacobian


def _rows(point: Point, y: Tensor, chunk_size: int | None) -> list[Tensor]:
    """Return the derivatives of one output with respect to each input."""
    if y._edge is None:
        return [
            zeros_like(x.detach()).expand((*y.shape, *x.shape)) for x in point.tensors
        ]
    if y.numel() == 1:
        found = _pulled_back(point, [y], [y.detach().new_ones(y.shape)], keep=True)
        return _shaped(found, y, point)

    def row(v: Tensor) -> list[Tensor]:
        return _pulled_back(point, [y], [v], keep=True)

    basis = eye(y.numel(), dtype=y.dtype).reshape((y.numel(), *y.shape))
    if chunk_size == 1:  # one by one: without `vmap`, and so without its limits
        found = [stack(list(column)) for column in zip(*map(row, basis), strict=True)]
        return _shaped(found, y, point)
    found = vmap(row, randomness="same", chunk_size=chunk_size)(basis)
    return _shaped(found, y, point)


def _shaped(rows: Sequence[Tensor], y: Tensor, point: Point) -> list[Tensor]:
    return [
        g.reshape((*y.shape, *x.shape))
        for g, x in zip(rows, point.tensors, strict=True)
    ]


def jacfwd(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
    randomness: str = "error",  # noqa: ARG001  of the function, which runs once
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of `func`, column by column.

    The columns are computed together, as derivatives along all unit vectors.  This
    suits functions with fewer inputs than outputs; see `jacrev`.

    Parameters
    ----------
    func, argnums, has_aux
        The same as in `jacrev`.
    chunk_size
        The largest number of columns that are computed at once, to save memory. None
        means all of them.
    randomness
        Accepted so that programs for PyTorch run. `func` runs once, so its random
        numbers are the same for all columns.

    Returns
    -------
    function
        The same as that of `jacrev`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.func.jacfwd(lambda x: x * x)(ac.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    check_chunks("jacfwd", chunk_size)

    @wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = chosen("jacfwd", args, argnums)
        check_inputs("jacfwd", leaves)

        def run(tensors: list[Tensor]) -> Any:
            given = replaced("jacfwd", args, argnums, rebuilt(tensors, spec))
            return called("jacfwd", func, given, kwargs, has_aux)

        columns = _Columns(run, leaves, chunk_size)
        rows = [columns.of_output(i) for i in range(len(columns.outputs))]
        found = rebuilt([rebuilt(row, spec) for row in rows], columns.out_spec)
        return (found, columns.aux) if has_aux else found

    return jacobian


class _Columns:
    """The columns of a Jacobian: tangents along all unit vectors.

    The function runs once for all columns of a chunk.  Its values have no dimension of
    the columns; only the tangents have it.
    """

    def __init__(
        self, run: Callable[[list[Tensor]], Any], leaves: list[Tensor], chunk: Any
    ) -> None:
        self._run, self._leaves = run, leaves
        total = sum(x.numel() for x in leaves)
        chunk = total if chunk is None else min(chunk, total)
        parts = [
            self._part(start, min(start + chunk, total))
            for start in range(0, total, max(chunk, 1))
        ] or [self._part(0, 0)]
        self._columns = [
            column[0] if len(column) == 1 else cat(list(column), 0)
            for column in zip(*parts, strict=True)
        ]

    def _part(self, start: int, stop: int) -> list[Tensor]:
        """Return the columns from `start` to `stop` of each output, first."""
        count = stop - start
        units = unit_vectors(self._leaves, start, stop)
        with entered(count) as lanes, entered_dual() as level:
            duals = [
                paired(x, hide(t, lanes, 0), level)
                for x, t in zip(self._leaves, units, strict=True)
            ]
            output, aux = self._run(duals)
            outputs, self.out_spec = checked_outputs("jacfwd", output)
            self.aux = without_tangents(aux, level)
            self.outputs = [primal_of(y, level) for y in outputs]
            tangents = [tangent_of(y, level) for y in outputs]
            return [
                alike(y).new_zeros((count, *y.shape))
                if t is None
                else show(t, lanes, 0)
                for y, t in zip(self.outputs, tangents, strict=True)
            ]

    def of_output(self, i: int) -> list[Tensor]:
        """Return the derivatives of output `i` with respect to each leaf."""
        return in_blocks(self._columns[i], self.outputs[i], self._leaves)


def hessian(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0
) -> Callable[..., Any]:
    """Return a function that computes the second derivatives of `func`.

    It is `jacfwd` of `jacrev`: one backward pass computes the gradient, and the
    tangents along all unit vectors go through it.

    Parameters
    ----------
    func
        A function that returns a tensor, or a structure of tensors.
    argnums
        The number of the argument with respect to which the derivative is taken, or a
        tuple of numbers.

    Returns
    -------
    function
        It takes the arguments of `func`. For an output of shape ``[*M]`` and an input
        of shape ``[*N]`` it returns a tensor of shape ``[*M, *N, *N]``.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.func.hessian(lambda x: (x**3).sum())(ac.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)


def check_chunks(where: str, chunk_size: Any) -> None:
    """Raise unless a chunk size is None or a positive integer."""
    if not is_count(chunk_size):
        raise ArgumentError(
            f"{where}: `chunk_size` should be greater than 0. (got {chunk_size!r})"
        )

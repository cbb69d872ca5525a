# SPDX-License-Identifier: MIT
"""Sums of products by dimension labels (Einstein notation)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from string import ascii_letters
from typing import Any

from autocalc._ops._operator.arguments import axis_of, check_tensor
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.traced import traced
from autocalc._ops.matrices import matmul
from autocalc._ops.reductions import reduction
from autocalc._ops.views import broadcasting, slicing, view
from autocalc._tensor import Tensor
from autocalc._tensor.checks import integers, plain, sequence
from autocalc.errors import ArgumentError, ShapeError

#: A dimension, by its letter, or by its position from the right within "...".
Label = Any


@traced
@rounded_once
def einsum(equation: str | Tensor, *operands: Any) -> Tensor:
    """Return sums of products of tensors, described by an equation of letters.

    Each letter is a dimension.  Letters that are missing on the right side are summed
    over, and ``...`` stands for further dimensions, which are broadcast.  Without
    ``->``, the result has the letters that occur exactly once, in alphabetical order.

    PyTorch's form with lists of numbers from 0 to 51 instead of letters is available,
    too: ``einsum(x, [0, 1], y, [1, 2], [0, 2])`` is ``einsum("ab,bc->ac", x, y)``.

    Parameters
    ----------
    equation
        The letters of each operand, separated by commas, then "->" and the letters of
        the result.
    *operands
        The tensors, in the order of `equation`.

    Raises
    ------
    ArgumentError
        If the equation is malformed, or does not describe every operand.
    ShapeError
        If a letter stands for dimensions of different sizes.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> ac.einsum("ij,kj->ik", x, x)
    tensor([[ 5., 11.],
            [11., 25.]])
    >>> ac.einsum("ii", x).item()
    5.0
    """
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    if isinstance(equation, Tensor):
        equation, operands = _spelled((equation, *operands))
    if not isinstance(equation, str):
        raise _malformed(repr(equation), "is not a text")
    tensors = [check_tensor("einsum", x) for x in operands]
    given, result = _parse(equation, tuple([x._array.ndim for x in tensors]))
    parts = [_distinct(x, labels) for x, labels in zip(tensors, given, strict=True)]
    sizes = _sizes(equation, parts)
    parts = [_grown(x, labels, sizes) for x, labels in parts]
    while len(parts) > 1:
        (a, b), rest = parts[:2], parts[2:]
        needed = {*result, *(label for _, labels in rest for label in labels)}
        parts = [_pair(a, b, needed), *rest]
    x, labels = _summed(*parts[0], set(result))
    if labels == result and len(tensors) > 1:
        return x
    out = view.permute(x, [labels.index(label) for label in result]) if result else x
    return view.detach_from_base(view.clone_op(out)) if out is tensors[0] else out


def _malformed(equation: str, why: str) -> ArgumentError:
    return ArgumentError(
        f"einsum: {equation!r} {why}; write letters for dimensions, as in 'ij,jk->ik'."
    )


def _spelled(given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Return the equation for operands that are each followed by their labels."""
    pairs, rest = given[: len(given) // 2 * 2], given[len(given) // 2 * 2 :]
    terms = [_letters(labels) for labels in pairs[1::2]]
    right = "".join(f"->{_letters(labels)}" for labels in rest)
    return ",".join(terms) + right, pairs[::2]


def _letters(labels: Any) -> str:
    """Return the letters that numbers stand for."""
    known = isinstance(labels, (list, tuple)) and all(
        x is Ellipsis or (isinstance(x, int) and 0 <= x < len(ascii_letters))
        for x in labels
    )
    if not known:
        raise ArgumentError(
            f"einsum: the labels {labels!r} of an operand are not valid; give a list "
            f"of integers from 0 to {len(ascii_letters) - 1} and Ellipsis."
        )
    return "".join("..." if x is Ellipsis else ascii_letters[x] for x in labels)


@lru_cache(maxsize=256)
def _parse(
    equation: str, ndims: tuple[int, ...]
) -> tuple[list[list[Label]], list[Label]]:
    """Return the labels of each operand and of the result; do not modify them."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ndims):
        raise _malformed(equation, f"has {len(terms)} terms for {len(ndims)} operands")
    given = [
        _labels(equation, term, ndim) for term, ndim in zip(terms, ndims, strict=True)
    ]
    every = [label for labels in given for label in labels]
    dots = sorted(
        {label for label in every if not isinstance(label, str)}, reverse=True
    )
    if not arrow:
        once = sorted({x for x in every if isinstance(x, str) and every.count(x) == 1})
        return given, [*dots, *once]
    head, ellipsis, tail = right.partition("...")
    result = [*head, *(dots if ellipsis else ()), *tail]
    if len(set(result)) < len(result) or not set(result) <= set(every):
        raise _malformed(equation, "has a letter twice or only after '->'")
    return given, result


def _labels(equation: str, term: str, ndim: int) -> list[Label]:
    head, ellipsis, tail = term.partition("...")
    if not (head + tail).isalpha() and head + tail:
        raise _malformed(equation, f"has the term {term!r}")
    more = ndim - len(head) - len(tail)
    if more < 0 or (more and not ellipsis):
        raise _malformed(
            equation, f"has the term {term!r} for an operand of {ndim} dimensions"
        )
    return [*head, *range(more, 0, -1), *tail]


def _distinct(x: Tensor, labels: list[Label]) -> tuple[Tensor, list[Label]]:
    """Take the diagonal of dimensions with the same letter."""
    if len(set(labels)) == len(labels):
        return x, labels
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            i = labels.index(label)
            j = labels.index(label, i + 1)
            n = x.shape[i]
            if x.shape[j] != n:
                raise ShapeError(
                    f"einsum: {label!r} has the sizes {n} and {x.shape[j]} in shape "
                    f"{x.shape}; they must be equal."
                )
            order = [k for k in range(x.ndim) if k not in (i, j)]
            x = view.permute(x, (i, j, *order))
            flat = view.reshape(x, (n * n, *x.shape[2:]))
            x = slicing.slice_op(flat, (slice(None, None, n + 1), ...))
            labels = [label, *(labels[k] for k in order)]
    return x, labels


def _sizes(
    equation: str, parts: Sequence[tuple[Tensor, list[Label]]]
) -> dict[Label, int]:
    sizes: dict[Label, int] = {}
    for x, labels in parts:
        for label, n in zip(labels, x.shape, strict=True):
            known = sizes.setdefault(label, n)
            if known == 1:
                sizes[label] = n
            elif n not in (1, known):
                raise ShapeError(
                    f"einsum: in {equation!r} the dimension {label!r} has the sizes "
                    f"{known} and {n}; they must be equal or 1."
                )
    return sizes


def _grown(
    x: Tensor, labels: list[Label], sizes: dict[Label, int]
) -> tuple[Tensor, list[Label]]:
    """Expand dimensions of size 1 to the size that their label has elsewhere."""
    shape = tuple([sizes[label] for label in labels])
    return (x if x._array.shape == shape else broadcasting.expand(x, shape)), labels


def _summed(
    x: Tensor, labels: list[Label], needed: set[Label]
) -> tuple[Tensor, list[Label]]:
    """Sum over labels that are not needed any more."""
    if needed.issuperset(labels):
        return x, labels
    over = [i for i, label in enumerate(labels) if label not in needed]
    kept = [label for label in labels if label in needed]
    return reduction.sum(x, over), kept


def _pair(
    a: tuple[Tensor, list[Label]], b: tuple[Tensor, list[Label]], needed: set[Label]
) -> tuple[Tensor, list[Label]]:
    """Contract two operands, with batches, rows, columns and summed dimensions."""
    x, in_a = _summed(*a, needed | set(b[1]))
    y, in_b = _summed(*b, needed | set(in_a))
    both = [label for label in in_a if label in in_b]
    batch = [label for label in both if label in needed]
    inside = [label for label in both if label not in needed]
    rows = [label for label in in_a if label not in both]
    columns = [label for label in in_b if label not in both]
    size = dict(zip(in_a, x.shape, strict=True)) | dict(zip(in_b, y.shape, strict=True))

    def matrix(t: Tensor, labels: list[Label], groups: list[list[Label]]) -> Tensor:
        order = [label for group in groups for label in group]
        if order != labels:
            t = view.permute(t, [labels.index(label) for label in order])
        return _shaped(t, tuple([_count(size, group) for group in groups]))

    batches = [batch] if batch else []
    product = matmul.matmul(
        matrix(x, in_a, [*batches, rows, inside]),
        matrix(y, in_b, [*batches, inside, columns]),
    )
    labels = [*batch, *rows, *columns]
    return _shaped(product, tuple([size[label] for label in labels])), labels


def _shaped(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    return x if x._array.shape == shape else view.reshape(x, shape)


def _count(size: dict[Label, int], labels: list[Label]) -> int:
    result = 1
    for label in labels:
        result *= size[label]
    return result


def _dims(where: str, **wanted: tuple[Tensor, int]) -> None:
    """Raise unless each operand has the required number of dimensions."""
    if any(check_tensor(where, x).ndim != n for x, n in wanted.values()):
        given = ", ".join(
            f"`{name}` {check_tensor(where, x).shape}"
            for name, (x, _) in wanted.items()
        )
        needed = ", ".join(f"{n}" for _, n in wanted.values())
        raise ShapeError(
            f"{where}: the shapes are {given}; they must have {needed} dimensions."
        )


def _precision(a: Tensor, b: Tensor, dims: Any = 2, **_: Any) -> str:
    """Return the policy under `autocast`; a sum to one number is no matrix product."""
    kept = zip((a, b), _summed_axes(a, b, dims), strict=True)
    sizes = [x.shape[i] for x, summed in kept for i in range(x.ndim) if i not in summed]
    return "as given" if prod(sizes) == 1 else "lower"


@autocasts(_precision)
@traced(light=True)
@rounded_once
def tensordot(
    a: Tensor,
    b: Tensor,
    dims: int | Sequence[Sequence[int]] = 2,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the sums of products of `a` and `b` over given dimensions.

    Parameters
    ----------
    a, b
        The tensors to multiply.
    dims
        A number n, to sum over the last n dimensions of `a` and the first n of `b`; or
        two lists: dimensions of `a`, and the dimensions of `b` that belong to them.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ArgumentError
        If the lists have different lengths, or a tensor has fewer dimensions than
        `dims`.
    ShapeError
        If the sizes of the paired dimensions differ.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.tensordot(ac.ones(2, 3, 4), ac.ones(3, 4, 5)).shape
    autocalc.Size([2, 5])
    """
    if dims.__class__ is int:
        whole = _of_ends(a, b, dims)
        if whole is not None:
            return whole
    left, right = _summed_axes(a, b, dims)
    a, b = _shrunk(a, left, b, right), _shrunk(b, right, a, left)
    sizes = [a.shape[i] for i in left], [b.shape[i] for i in right]
    if sizes[0] != sizes[1]:
        raise ShapeError(
            f"tensordot: the dimensions {left} and {right} of the shapes {a.shape} and "
            f"{b.shape} have the sizes {sizes[0]} and {sizes[1]}; they must be equal."
        )
    kept_a = [i for i in range(a.ndim) if i not in left]
    kept_b = [i for i in range(b.ndim) if i not in right]
    inside = 1
    for n in sizes[0]:
        inside *= n
    rows, columns = ([x.shape[i] for i in k] for x, k in ((a, kept_a), (b, kept_b)))
    x = view.reshape(view.permute(a, (*kept_a, *left)), (_count_dims(rows), inside))
    y = view.reshape(view.permute(b, (*right, *kept_b)), (inside, _count_dims(columns)))
    result = view.reshape(matmul.matmul(x, y), (*rows, *columns))
    return view.detach_from_base(result)


def _of_ends(a: Any, b: Any, dims: Any) -> Tensor | None:
    """Sum over the last dimensions of `a` and the first of `b`; None if they differ."""
    left, right = getattr(a, "_array", None), getattr(b, "_array", None)
    if left is None or right is None or not 0 < dims <= left.ndim:
        return None
    inner, rows, columns = right.shape[:dims], left.shape[:-dims], right.shape[dims:]
    if left.shape[-dims:] != inner or 1 in inner:
        return None
    inside = prod(inner)
    x = a if dims == len(rows) == 1 else view.reshape_op(a, (prod(rows), inside))
    y = b if dims == len(columns) == 1 else view.reshape_op(b, (inside, prod(columns)))
    product = matmul.matmul(x, y)
    if len(rows) == len(columns) == 1:
        return product
    return view.detach_from_base(view.reshape_op(product, (*rows, *columns)))


def _shrunk(x: Tensor, axes: list[int], other: Tensor, others: list[int]) -> Tensor:
    """Sum first over the dimensions whose size is 1 in the other operand."""
    over = [i for i, j in zip(axes, others, strict=True) if other.shape[j] == 1]
    return reduction.sum(x, over, True) if over else x


def _count_dims(sizes: Sequence[int]) -> int:
    result = 1
    for n in sizes:
        result *= n
    return result


def _summed_axes(
    a: Tensor, b: Tensor, dims: int | Sequence[Sequence[int]]
) -> tuple[list[int], list[int]]:
    dims = plain(dims)
    if isinstance(dims, int):
        most = min(check_tensor("tensordot", a).ndim, check_tensor("tensordot", b).ndim)
        if not 0 <= dims <= most:
            raise ArgumentError(
                f"tensordot: expects dims >= 0 and at most {most} for shapes {a.shape} "
                f"and {b.shape}, not {dims}."
            )
        return list(range(a.ndim - dims, a.ndim)), list(range(dims))
    pair = sequence("tensordot", "dims", dims)
    if len(pair) != 2:
        raise ArgumentError(
            f"tensordot: `dims` holds {len(pair)} entries; give a number, or two lists "
            f"of dimensions."
        )
    first, second = (integers("tensordot", "dims", one) for one in pair)
    a, b = check_tensor("tensordot", a), check_tensor("tensordot", b)
    if len(first) != len(second):
        raise ArgumentError(
            f"tensordot: `dims` names {len(first)} dimensions of `a` and {len(second)} "
            "of `b`; it must name equally many of both."
        )
    left = [axis_of("tensordot", d, a.ndim) for d in first]
    return left, [axis_of("tensordot", d, b.ndim) for d in second]

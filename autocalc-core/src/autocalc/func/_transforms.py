# SPDX-License-Identifier: MIT
"""Derivatives of functions: gradients, and products with the Jacobian."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any

from autocalc._dispatch.device.duals import DualLevel
from autocalc._ops.creation.like import zeros_like
from autocalc._ops.views.duals import paired, primal_of, tangent_of
from autocalc._tensor import Tensor
from autocalc.autograd import _gradients
from autocalc.autograd._levels import entered_dual
from autocalc.errors import ArgumentError, GradError, ShapeError
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
from autocalc.utils._pytree import tree_flatten


def grad(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the gradient of `func`.

    Parameters
    ----------
    func
        A function that returns a tensor of one element without dimensions.
    argnums
        The number of the argument with respect to which the gradient is taken, or a
        tuple of numbers. An argument can be a structure of tensors, such as a dict of
        parameters.
    has_aux
        True if `func` returns a pair of its result and other values, which are passed
        on.

    Returns
    -------
    function
        It takes the arguments of `func`. It returns the gradient, with the structure of
        the chosen arguments, or with `has_aux` a pair of the gradient and the other
        values.

    Raises
    ------
    GradError
        If the result of `func` is not one number.
    ArgumentError
        If an argument with these numbers does not exist or is not a tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> cube = lambda x: x**3
    >>> ac.func.grad(cube)(ac.tensor(2.0))
    tensor(12.)
    >>> ac.func.grad(ac.func.grad(cube))(ac.tensor(2.0))
    tensor(12.)
    """
    both = _both("grad", func, argnums, has_aux)

    @wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        gradients, value = both(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return gradient


def grad_and_value(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the gradient of `func` and its value.

    Parameters
    ----------
    func, argnums, has_aux
        The same as in `grad`.

    Returns
    -------
    function
        It returns a pair of the gradient and the value. With `has_aux`, the value is
        the pair that `func` returned.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.func.grad_and_value(lambda x: x**3)(ac.tensor(2.0))
    (tensor(12.), tensor(8.))
    """
    return _both("grad_and_value", func, argnums, has_aux)


def _both(
    where: str, func: Callable[..., Any], argnums: Any, has_aux: bool
) -> Callable[..., Any]:
    """Return the function that `grad_and_value` returns."""

    @wraps(func)
    def gradient_and_value(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = chosen(where, args, argnums)
        point = Point(where, leaves)
        given = replaced(where, args, argnums, rebuilt(point.tensors, spec))
        with differentiating():
            output, aux = called(where, func, given, kwargs, has_aux)
            _check_number(where, output)
        point.finish([output])
        found = _pulled_back(point, [output], [None], keep=point.records)
        value = point.released((output, aux) if has_aux else output)
        return rebuilt(found, spec), value

    return gradient_and_value


def _check_number(where: str, output: Any) -> None:
    if not isinstance(output, Tensor):
        raise GradError(
            f"{where}: Expected f(*args) to return a tensor, got {type(output)}; with "
            f"further values, specify has_aux=True."
        )
    if output.ndim:
        raise GradError(
            f"{where}: Expected f(*args) to return a scalar tensor, got tensor with "
            f"{output.ndim} dims of shape {tuple(output.shape)}. Sum it, or use jacrev."
        )


def _pulled_back(
    point: Point, outputs: Sequence[Tensor], cotangents: Sequence[Any], keep: bool
) -> list[Tensor]:
    """Return the gradients of all inputs; zeros where an output does not depend."""
    pairs = [
        (y, g) for y, g in zip(outputs, cotangents, strict=True) if y._edge is not None
    ]
    found: Sequence[Tensor | None] = [None] * len(point.tensors)
    if pairs:
        ends, seeds = [y for y, _ in pairs], [g for _, g in pairs]
        records = point.records_with(seeds)
        found = _gradients.grad(
            ends, point.tensors, seeds, keep or records, records, allow_unused=True
        )
    return [
        zeros_like(x.detach()) if g is None else g
        for g, x in zip(found, point.tensors, strict=True)
    ]


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return the result of `func`, and a function for products with its Jacobian J.

    Parameters
    ----------
    func
        A function that returns a tensor, or a structure of tensors.
    *primals
        The arguments of `func`: tensors, or structures of tensors.
    has_aux
        True if `func` returns a pair of its result and other values.

    Returns
    -------
    output, vjp_fn
        The result of ``func(*primals)``. ``vjp_fn(v)`` returns v^T J, with the
        structure of the primals, for `v` with the structure of the output. It can be
        called several times. With `has_aux`, the other values come third.

    Examples
    --------
    >>> import autocalc as ac
    >>> y, pull = ac.func.vjp(lambda x: x * x, ac.tensor([1.0, 3.0]))
    >>> pull(ac.tensor([1.0, 10.0]))
    (tensor([ 2., 60.]),)
    """
    leaves, spec = tree_flatten(primals)
    point = Point("vjp", leaves)
    with differentiating():
        given = rebuilt(point.tensors, spec)
        output, aux = called("vjp", func, given, {}, has_aux)
        outputs, out_spec = checked_outputs("vjp", output)
    point.finish(outputs)

    def vjp_fn(*cotangents: Any, retain_graph: bool = True) -> Any:
        v = cotangents[0] if len(cotangents) == 1 else cotangents
        seeds = matching("vjp", v, outputs, out_spec, "the outputs")
        found = _pulled_back(point, outputs, seeds, keep=retain_graph)
        return rebuilt(found, spec)

    result = point.released(output)
    return (result, vjp_fn, point.released(aux)) if has_aux else (result, vjp_fn)


def matching(
    where: str, given: Any, like: Sequence[Tensor], spec: Any, what: str
) -> list[Tensor]:
    """Return vectors as a list, which must have the structure and shapes of `like`."""
    vectors, found = tree_flatten(given)
    if len(vectors) != len(like) or (found != spec and len(like) > 1):
        raise GradError(
            f"{where}: there are {len(vectors)} vectors of the structure {found}, and "
            f"{what} have {spec}. Expected pytree structure of cotangents to be the "
            f"same as pytree structure of outputs to the function: give the same "
            f"python structure."
        )
    for v, x in zip(vectors, like, strict=True):
        if not isinstance(v, Tensor):
            raise ArgumentError(
                f"{where}: a vector is a {type(v).__name__}; Expected all tensors."
            )
        if v.shape != x.shape:
            raise ShapeError(
                f"{where}: a vector has shape {tuple(v.shape)}; it must have shape "
                f"{tuple(x.shape)}, as {what}."
            )
    return [v.to(x.dtype) for v, x in zip(vectors, like, strict=True)]


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Any]:
    """Return the result of `func`, and a function for products J t.

    J is the Jacobian of `func` at `primals`.  The result of v^T J is linear in v, and
    its derivative is J: the backward pass of the function is recorded once, and each
    product is a backward pass through it.

    Parameters
    ----------
    func
        A function that returns a tensor, or a structure of tensors.
    *primals
        The arguments of `func`: tensors, or structures of tensors.

    Returns
    -------
    output, jvp_fn
        The result of ``func(*primals)``. ``jvp_fn(*tangents)`` returns J t, with the
        structure of the output, for tangents t with the structure of the primals.

    Examples
    --------
    >>> import autocalc as ac
    >>> y, push = ac.func.linearize(lambda x: x * x, ac.tensor([1.0, 3.0]))
    >>> push(ac.tensor([1.0, 10.0]))
    tensor([ 2., 60.])
    """
    linear = Linear("linearize", func, primals)
    return linear.output, linear.push


def jvp(
    func: Callable[..., Any],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """Return the result of `func` and its directional derivative J t.

    Parameters
    ----------
    func
        A function that returns a tensor, or a structure of tensors.
    primals
        A tuple with the arguments of `func`.
    tangents
        A tuple with the direction t, in the structure and shapes of `primals`.
    strict
        True to raise an error if an output does not depend on an input, instead of
        returning zeros.
    has_aux
        True if `func` returns a pair of its result and other values.

    Returns
    -------
    output, product
        The result of ``func(*primals)``, and J t with the structure of the output. With
        `has_aux`, the other values come third.

    Raises
    ------
    GradError
        If the tangents do not fit the primals, or an output does not depend on an input
        and `strict` is True.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.func.jvp(ac.sin, (ac.tensor(0.0),), (ac.tensor(2.0),))
    (tensor(0.), tensor(2.))
    """
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, tuple):
            raise ArgumentError(
                f"jvp: `{name}` is a {type(given).__name__}; Expected {name} to be a "
                f"tuple, and both to have the same python structure. Write "
                f"({name[:-1]},) for a single one."
            )
    _check_alike(primals, tangents)
    leaves, spec = tree_flatten(primals)
    check_inputs("jvp", leaves)
    directions = matching("jvp", tangents, leaves, spec, "the primals")
    with entered_dual() as level:
        duals = map(partial(paired, level=level), leaves, directions)
        given = rebuilt(list(duals), spec)
        output, aux = called("jvp", func, given, {}, has_aux)
        outputs, out_spec = checked_outputs("jvp", output)
        products = [_slope(y, level, strict) for y in outputs]
        primal = without_tangents(output, level)
    product = rebuilt(products, out_spec)
    if has_aux:
        return primal, product, without_tangents(aux, level)
    return primal, product


def _slope(y: Tensor, level: DualLevel, strict: bool) -> Tensor:
    """Return the tangent of an output, or zeros where it does not depend."""
    found, where = tangent_of(y, level), "jvp"
    if found is None and strict:
        raise GradError(
            f"{where}: strict=True, but an output of shape {tuple(y.shape)} does not "
            f"depend on the inputs."
        )
    return zeros_like(alike(primal_of(y, level))) if found is None else found


def _check_alike(primals: Any, tangents: Any) -> None:
    """Raise unless primals and tangents are tensors in the same structure."""
    leaves, spec = tree_flatten(primals)
    vectors, found = tree_flatten(tangents)
    if found != spec:
        raise GradError(
            f"jvp: `primals` hold {len(leaves)} tensors and `tangents` {len(vectors)}. "
            f"Expected both to have the same python structure."
        )
    for x in (*leaves, *vectors):
        if not isinstance(x, Tensor):
            raise ArgumentError(
                f"jvp: `primals` or `tangents` contain a {type(x).__name__}; both must "
                f"only contain Tensors."
            )


class Linear:
    """A function near a point: its output, and its derivative as a linear function."""

    def __init__(self, where: str, func: Callable[..., Any], primals: Any) -> None:
        self.where = where
        leaves, self._spec = tree_flatten(primals)
        if not leaves:
            raise ArgumentError(f"{where}: give at least one Tensor as a primal.")
        self.point = point = Point(where, leaves)
        with differentiating():
            given = rebuilt(point.tensors, self._spec)
            output, _ = called(where, func, given, {}, False)
            self._outputs, self._out_spec = checked_outputs(where, output)
            point.finish(self._outputs)
            self._record()
        self.output = point.released(output)

    def _record(self) -> None:
        """Record the backward pass, which is linear in `_seeds`."""
        able = [y for y in self._outputs if y._edge is not None]
        self._seeds = [zeros_like(y.detach()).requires_grad_() for y in able]
        found: Sequence[Any] = [None] * len(self.point.tensors)
        if able:
            found = _gradients.grad(
                able, self.point.tensors, self._seeds, True, True, allow_unused=True
            )
        self._backward = [g if g is not None and g._edge else None for g in found]

    def push(self, *tangents: Any) -> Any:
        """Return the product with the Jacobian."""
        like, where = self.point.tensors, self.where
        vectors = matching(where, tangents, like, self._spec, "the primals")
        pairs = [
            (g, t)
            for g, t in zip(self._backward, vectors, strict=True)
            if g is not None
        ]
        found: Sequence[Any] = [None] * len(self._seeds)
        if pairs:
            ends, directions = [g for g, _ in pairs], [t for _, t in pairs]
            records = self.point.records_with(directions)
            found = _gradients.grad(
                ends, self._seeds, directions, True, records, allow_unused=True
            )
        products = iter(found)
        results = []
        for y in self._outputs:
            product = next(products) if y._edge is not None else None
            results.append(zeros_like(y.detach()) if product is None else product)
        return rebuilt(results, self._out_spec)

# SPDX-License-Identifier: MIT
"""`autograd.Function`: operators that users write, forward and backward."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from autocalc._dispatch.selection.state import current, enter, leave
from autocalc._graph._node import Node, Output
from autocalc._ops._operator.view_tracker import base_of, mark_opaque
from autocalc._tensor import Tensor, make
from autocalc.errors import GradError, ShapeError


class FunctionContext:
    """The data that `forward` passes to `backward`.

    Attributes may be set freely for plain values; tensors go through
    `save_for_backward`, so that changes in place are caught and memory is freed.

    Examples
    --------
    >>> import autocalc as ac
    >>> class Square(ac.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x, factor):
    ...         ctx.factor = factor
    ...         ctx.save_for_backward(x)
    ...         return factor * x * x
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return 2 * ctx.factor * x * g, None
    >>> x = ac.tensor(3.0, requires_grad=True)
    >>> Square.apply(x, 10.0).backward()
    >>> x.grad
    tensor(60.)
    """

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self._to_save: tuple[Tensor | None, ...] = ()
        self._saved: tuple[Tensor | None, ...] | None = None
        self._non_differentiable: set[int] = set()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep `tensors` until the backward pass."""
        self._to_save = tensors

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """The tensors given to `save_for_backward`."""
        return self._to_save if self._saved is None else self._saved

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say that these outputs have no gradient."""
        self._non_differentiable = {id(t) for t in tensors}


class _FunctionOp:
    """The operator of a node that a `Function` made."""

    __slots__ = ("function", "n_outputs", "saves")

    is_view = False

    def __init__(self, function: type[Function], n_outputs: int) -> None:
        self.function = function
        self.n_outputs = n_outputs
        self.saves = None

    @property
    def name(self) -> str:
        """The class's name."""
        return self.function.__name__

    def rule(self, k: Any, n: Any, g: Any) -> Any:
        """Run the user's `backward` on tensors."""
        node = getattr(n, "node", n)
        ctx, places, metas, _ = node.attributes
        wrap: Callable[[Any], Tensor] = _identity if k.records else _constant
        ctx._saved = tuple(
            None if array is None else make(array, _edge_of(node, place))
            for array, place in zip(node.saved, places, strict=True)
        )
        gs = g if isinstance(g, tuple) else (g,)
        gs = tuple(
            wrap(k.zeros(*meta) if value is None else value)
            for value, meta in zip(gs, metas, strict=True)
        )
        token = enter(grad=k.records)
        try:
            results = self.function.backward(ctx, *gs)
        finally:
            leave(token)
            ctx._saved = None
        results = results if isinstance(results, tuple) else (results,)
        return self._checked(node, results, k.records)

    def _checked(self, node: Node, results: tuple[Any, ...], records: bool) -> Any:
        if len(results) != len(node.edges):
            message = (
                f"{self.name}.backward: returned {len(results)} gradients for "
                f"{len(node.edges)} inputs; return one for each, None where none is."
            )
            raise GradError(message)
        dtypes = node.attributes[3]
        checked: list[Any] = []
        for i, (r, edge) in enumerate(zip(results, node.edges, strict=True)):
            if r is None or edge is None:
                checked.append(None)
                continue
            if r.shape != node.shapes[i]:
                message = (
                    f"{self.name}.backward: gradient {i} has shape {r.shape}, its "
                    f"input {node.shapes[i]}; they must be equal."
                )
                raise ShapeError(message)
            gradient = r.to(dtypes[i])
            # A view is never taken for memory that the pass owns: it may be the user's.
            checked.append(gradient if records else gradient._array.view())
        return tuple(checked)


def _identity(value: Any) -> Tensor:
    return value  # type: ignore[no-any-return]  # a Tensor in a recorded pass


def _constant(value: Any) -> Tensor:
    return make(value, None)


def _edge_of(node: Node, place: tuple[str, int]) -> Any:
    """Return the edge of a saved tensor: an input's, the node's own, or none."""
    kind, i = place
    if kind == "input":
        return node.edges[i]
    if kind == "output":
        return node if node.op.n_outputs == 1 else Output(node, i)
    return None


class Function:
    """The base of operators written by users.

    Write two static methods and call `apply`.

    Examples
    --------
    >>> import autocalc as ac
    >>> class Cube(ac.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x * x
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x * x * g
    >>> x = ac.tensor(2.0, requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad
    tensor(12.)
    """

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """Compute the outputs; nothing is recorded in here."""
        raise NotImplementedError

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return one gradient for each argument of `forward`, None for no tensor."""
        raise NotImplementedError

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run `forward` and record one node for it."""
        edges = tuple(a._edge if isinstance(a, Tensor) else None for a in args)
        ctx = FunctionContext(tuple(edge is not None for edge in edges))
        token = enter(grad=False)
        try:
            outputs = cls.forward(ctx, *args)
        finally:
            leave(token)
        single = isinstance(outputs, Tensor)
        results = (outputs,) if single else tuple(outputs)
        if any(edges) and current().grad:
            results = _record(cls, ctx, args, edges, results)
        return results[0] if single else results


def _record(
    cls: type[Function],
    ctx: FunctionContext,
    args: tuple[Any, ...],
    edges: tuple[Any, ...],
    outputs: tuple[Any, ...],
) -> tuple[Any, ...]:
    """Make the node; return outputs that lead to it."""
    inputs = {id(a): ("input", i) for i, a in enumerate(args) if isinstance(a, Tensor)}
    made = {id(t): ("output", i) for i, t in enumerate(outputs)}
    saved = ctx._to_save
    places = tuple(inputs.get(id(t)) or made.get(id(t)) or ("other", 0) for t in saved)
    cells = tuple(None if t is None else t._cell() for t in saved)
    metas = tuple((t._array.shape, t._array.dtype) for t in outputs)
    shapes = tuple(a._array.shape if isinstance(a, Tensor) else () for a in args)
    node = Node(
        _FunctionOp(cls, len(outputs)),
        edges,
        tuple(None if t is None else t._array for t in saved),
        tuple(x for c in cells for x in (c, 0 if c is None else c.count)),
        shapes,
        metas[0][1],
        (ctx, places, metas, tuple(getattr(a, "dtype", None) for a in args)),
    )
    ctx._to_save = ()
    results = []
    for i, out in enumerate(outputs):
        result = out
        if id(out) not in ctx._non_differentiable and out.is_floating_point():
            result = make(out._array, node if len(outputs) == 1 else Output(node, i))
            result._version = out._version
            if id(out) in inputs or out._view.__class__ is tuple:
                mark_opaque(out)  # its memory is another tensor's, in an unknown way
                result._view = base_of(out)._view
        results.append(result)
    return tuple(results)


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a `backward` that is not differentiable itself.

    It runs without recording, and a second derivative through it is an error.

    Examples
    --------
    >>> import autocalc as ac
    >>> class Double(ac.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return 2 * x
    ...     @staticmethod
    ...     @ac.autograd.once_differentiable
    ...     def backward(ctx, g):
    ...         return 2 * g
    >>> x = ac.tensor(3.0, requires_grad=True)
    >>> Double.apply(x).backward()
    >>> x.grad
    tensor(2.)
    """

    @functools.wraps(backward)
    def wrapped(ctx: Any, *grads: Tensor) -> Any:
        token = enter(grad=False)
        try:
            results = backward(ctx, *(g.detach() for g in grads))
        finally:
            leave(token)
        sources = [t._edge for t in (*grads, *ctx.saved_tensors) if t is not None]
        edges = tuple(edge for edge in sources if edge is not None)
        if not (edges and current().grad):
            return results
        single = isinstance(results, Tensor)
        ends = tuple(
            None if r is None else _end(r, edges)
            for r in ((results,) if single else results)
        )
        return ends[0] if single else ends

    return wrapped


def _end(gradient: Tensor, edges: tuple[Any, ...]) -> Tensor:
    """Return `gradient` with a history that no backward pass can visit."""
    shapes, dtype = ((),) * len(edges), gradient._array.dtype
    node = Node(_ONCE, edges, (), (), shapes, dtype, ())
    return make(gradient._array, node)


class _Once:
    """The operator of gradients that have no gradient."""

    name = "once_differentiable"
    n_outputs = 1
    saves = None
    is_view = False

    @staticmethod
    def rule(k: Any, n: Any, g: Any) -> Any:  # noqa: ARG004  as every rule
        message = (
            "once_differentiable: the backward of this Function is marked as not "
            "differentiable, so it has no second derivative. Write it in "
            "differentiable operations and take the decorator away."
        )
        raise GradError(message)


_ONCE = _Once()

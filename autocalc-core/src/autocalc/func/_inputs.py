# SPDX-License-Identifier: MIT
"""The inputs and outputs of a function whose derivative is taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from autocalc._dispatch.device.duals import DualLevel
from autocalc._dispatch.selection.state import current
from autocalc._graph._grad_mode import enable_grad
from autocalc._graph._node import Leaf, Node
from autocalc._graph._walk import target
from autocalc._ops.views.duals import primal_of
from autocalc._tensor import Tensor, make
from autocalc.errors import ArgumentError, DTypeError
from autocalc.utils._pytree import TreeSpec, tree_flatten, tree_map, tree_unflatten

#: How errors call the call of a transform.
_CALLED = {
    "grad": "grad_and_value(f)(*args)",
    "grad_and_value": "grad_and_value(f)(*args)",
    "vjp": "vjp(f, *primals)",
    "jvp": "jvp(f, primals, tangents)",
    "jacrev": "jacrev(f)(*args), vjp(f, *primals)",
    "jacfwd": "jacfwd(f)(*args), jvp(f, primals, tangents)",
}

#: The number of transforms around the running code that take a derivative.
_DEPTH: ContextVar[int] = ContextVar("autocalc_func_depth", default=0)


class Point:
    """The tensors at which a derivative is taken, apart from their own history.

    Attributes
    ----------
    tensors
        One tensor for each leaf of the chosen arguments.
    records
        Whether the derivative itself is recorded: a transform around this one, or a
        tensor outside that requires a gradient, needs its derivative.
    """

    def __init__(self, where: str, leaves: Sequence[Any]) -> None:
        self.where = where
        check_inputs(where, leaves)
        self.tensors = [self._apart(x) for x in leaves]
        inner = any(isinstance(x, Tensor) and x._edge is not None for x in leaves)
        self._leads = inner or _DEPTH.get() > 0
        self._outer = current().grad
        self.records = self._outer and self._leads

    @staticmethod
    def _apart(x: Tensor) -> Tensor:
        if x._edge is not None:
            with enable_grad():
                return x.view_as(x)
        return alike(x).requires_grad_()

    def finish(self, outputs: Sequence[Tensor]) -> None:
        """Find whether the outputs depend on other tensors that need a gradient."""
        if not self._leads and self._outer:
            own = {x._edge for x in self.tensors}
            self._leads = _leads_elsewhere([y._edge for y in outputs], own)
            self.records = self._leads

    def records_with(self, vectors: Sequence[Any]) -> bool:
        """Return whether a product with these vectors is recorded."""
        if self._leads or not current().grad:
            return current().grad
        return _DEPTH.get() > 0 or any(v is not None and v._edge for v in vectors)

    def released(self, tree: Any) -> Any:
        """Return outputs, detached unless a caller needs their history."""
        if self.records:
            return tree
        return tree_map(lambda y: alike(y) if isinstance(y, Tensor) else y, tree)


def check_inputs(where: str, leaves: Sequence[Any]) -> None:
    """Raise unless derivatives can be taken with respect to all these leaves."""
    if not leaves:
        raise ArgumentError(f"{where}: give at least one Tensor as a primal.")
    for x in leaves:
        if not isinstance(x, Tensor):
            raise ArgumentError(
                f"{where}: an argument is a {type(x).__name__}; derivatives are taken "
                f"with respect to tensors: Expected all inputs to be Tensors. Choose "
                f"the tensors by `argnums`."
            )
        if not x.dtype.is_differentiable:
            raise DTypeError(
                f"{where}: an argument is {x.dtype.name}; derivatives are taken with "
                f"respect to floating-point tensors. Convert it with .float()."
            )


def without_tangents(tree: Any, level: DualLevel) -> Any:
    """Return a structure in which tensors are their primals at a level."""
    return tree_map(lambda y: primal_of(y, level) if isinstance(y, Tensor) else y, tree)


def alike(x: Tensor) -> Tensor:
    """Return a tensor without a history in the same memory, with the same tangent."""
    result = make(x._array, None)
    result._version = x._cell()
    return result


def _leads_elsewhere(roots: Sequence[Any], own: set[Any]) -> bool:
    """Return whether a leaf that is not in `own` can be reached."""
    stack, seen = [target(root) for root in roots], set()
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if isinstance(node, Leaf):
            if node not in own:
                return True
        elif isinstance(node, Node):
            stack += map(target, node.edges)
    return False


@contextmanager
def differentiating() -> Iterator[None]:
    """Record gradients in this block, as one more transform."""
    token = _DEPTH.set(_DEPTH.get() + 1)
    try:
        with enable_grad():
            yield
    finally:
        _DEPTH.reset(token)


def chosen(
    where: str, args: tuple[Any, ...], argnums: Any
) -> tuple[list[Any], TreeSpec]:
    """Return the leaves and the structure of the arguments with these numbers."""
    return tree_flatten(_picked(where, args, argnums))


def _picked(where: str, args: tuple[Any, ...], argnums: Any) -> Any:
    if isinstance(argnums, bool) or not isinstance(argnums, (int, tuple)):
        raise ArgumentError(
            f"{where}: argnums must be int or Tuple[int, ...], got: "
            f"{type(argnums).__name__}."
        )
    if isinstance(argnums, int):
        return args[_number(where, args, argnums)]
    numbers = [_number(where, args, n) for n in argnums]
    if not numbers:
        message = f"{where}: argnums is {argnums!r}; Tuple argnums must be non-empty."
        raise ArgumentError(message)
    if len(set(numbers)) < len(numbers):
        message = f"{where}: argnums is {argnums!r}; argnums elements must be unique."
        raise ArgumentError(message)
    return tuple([args[n] for n in numbers])


def _number(where: str, args: tuple[Any, ...], n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, int):
        raise ArgumentError(f"{where}: an element of argnums is {n!r}; it must be int.")
    if not -len(args) <= n < len(args):
        raise ArgumentError(
            f"{where}: Got argnum={n}, but only {len(args)} positional inputs; they "
            f"are numbered from 0."
        )
    return n % len(args)


def replaced(
    where: str, args: tuple[Any, ...], argnums: Any, value: Any
) -> tuple[Any, ...]:
    """Return the arguments with the chosen ones replaced."""
    result = list(args)
    if isinstance(argnums, int):
        result[_number(where, args, argnums)] = value
    else:
        for n, one in zip(argnums, value, strict=True):
            result[_number(where, args, n)] = one
    return tuple(result)


def called(
    where: str, func: Callable[..., Any], args: Any, kwargs: Any, has_aux: bool
) -> tuple[Any, Any]:
    """Return the outputs of a function, and what it returns besides."""
    found = func(*args, **kwargs)
    if not has_aux:
        return found, None
    if not (isinstance(found, tuple) and len(found) == 2):
        raise ArgumentError(
            f"{_CALLED.get(where, where)}: output of function f should be a tuple "
            f"(output, aux) if has_aux is True, and it is a {type(found).__name__}."
        )
    return found


def checked_outputs(where: str, outputs: Any) -> tuple[list[Tensor], TreeSpec]:
    """Return the leaves of the outputs, which must be tensors, and their structure."""
    leaves, spec = tree_flatten(outputs)
    named = _CALLED.get(where, where)
    if not leaves or outputs is None:
        raise ArgumentError(
            f"{named}: Expected f to be a function that has non-empty output."
        )
    for y in leaves:
        if not isinstance(y, Tensor):
            raise ArgumentError(
                f"{named}: expected f(*primals) to return only tensors, and it "
                f"returned a {type(y).__name__}. Return tensors, or lists, tuples and "
                f"dicts of them."
            )
    return leaves, spec


def rebuilt(leaves: Sequence[Any], spec: TreeSpec) -> Any:
    """Return a structure with these leaves."""
    return tree_unflatten(list(leaves), spec)

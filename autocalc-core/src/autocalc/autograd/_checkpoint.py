# SPDX-License-Identifier: MIT
"""Less memory for more time: parts of a model that are computed twice.

What operators save for the backward pass is dropped when a part has run, and the part
is run again when the backward pass comes to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from autocalc._dispatch.selection.state import current
from autocalc._graph._grad_mode import enable_grad
from autocalc._graph._node import Leaf, Node, Output, next_serial
from autocalc._ops._operator.autocasting import Under
from autocalc._ops.views.view import reshape_view
from autocalc._tensor import Tensor, make
from autocalc._tensor import checks as _checks
from autocalc._tensor.generator import default_generator
from autocalc.autograd._gradients import grad
from autocalc.errors import ArgumentError, DTypeError, GradError


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Return ``function(*args, **kwargs)``, and compute it again in the backward pass.

    Only the arguments are kept until the backward pass, and no intermediate results.
    The gradients are the same as without checkpoints, including those of parameters
    that the function uses.  Chen, Xu, Zhang, Guestrin: Training deep nets with
    sublinear memory cost (2016).

    Parameters
    ----------
    function
        The function to checkpoint.  It takes tensors and returns a tensor or a tuple of
        tensors.  It is called in the forward pass and again in the backward pass; both
        calls must compute the same results.
    *args, **kwargs
        The arguments of `function`; tensors that need a gradient must be in `args`.
    use_reentrant
        Accepted so that programs for PyTorch run; there is one implementation.
    preserve_rng_state
        True to draw the same random numbers in both calls, which dropout needs.

    Raises
    ------
    DTypeError
        If `function` returns something other than tensors.
    GradError
        If the second call, in the backward pass, returns other shapes than the first
        call.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.Linear(2, 2)
    >>> x = ac.ones(1, 2, requires_grad=True)
    >>> y = ac.utils.checkpoint.checkpoint(lambda x: layer(x).tanh(), x)
    >>> y.sum().backward()
    >>> layer.weight.grad is not None, x.grad is not None
    (True, True)
    """
    if use_reentrant is not None:
        _checks.check_flag("checkpoint", "use_reentrant", use_reentrant)
    if preserve_rng_state.__class__ is not _checks.FLAG:
        _checks.check_flag("checkpoint", "preserve_rng_state", preserve_rng_state)
    del use_reentrant
    if not current().grad:
        return function(*args, **kwargs)
    random = default_generator.get_state() if preserve_rng_state else None
    start = next_serial()
    # Recorded, to find which parameters it uses; the record is dropped at once.
    inside = [_shadow(a) if isinstance(a, Tensor) else a for a in args]
    autocast = current().autocast
    outputs = _under(autocast, function, inside, kwargs)
    results = _results(outputs)
    if not results:
        return outputs
    own = {t._edge for t in _tensors(inside)}
    leaves = _leaves([t._edge for t in results], own, start)
    edges = (*(a._edge for a in _tensors(args)), *leaves)
    run = _Run(partial(_under, autocast, function), args, kwargs, random, results)
    node = run.node(_tensors(args), edges) if any(edges) else None
    ends = iter([_end(node, results, i) for i in range(len(results))])
    return _mapped(outputs, lambda _: next(ends))


def _under(autocast: Any, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run a function under autocast as it was; casts made before are not for it."""
    with Under(lambda: autocast and autocast.emptied()):
        return function(*args, **kwargs)


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
) -> Any:
    """Run modules one after the other, in `segments` checkpointed parts.

    The last part is not checkpointed, because its backward pass follows immediately.

    Parameters
    ----------
    functions
        A `Sequential`, or a list of functions of one argument.
    segments
        The number of parts, 1 or more.
    input
        The input of the first function.
    use_reentrant, preserve_rng_state
        The same as in `checkpoint`.

    Examples
    --------
    >>> import autocalc as ac
    >>> net = ac.nn.Sequential(ac.nn.Linear(4, 8), ac.nn.ReLU(), ac.nn.Linear(8, 2))
    >>> x = ac.randn(3, 4, requires_grad=True)
    >>> y = ac.utils.checkpoint.checkpoint_sequential(net, 2, x)
    >>> y.sum().backward()
    >>> y.shape, x.grad.shape
    (autocalc.Size([3, 2]), autocalc.Size([3, 4]))
    """
    if use_reentrant is not None:
        _checks.check_flag("checkpoint_sequential", "use_reentrant", use_reentrant)
    if preserve_rng_state.__class__ is not _checks.FLAG:
        _checks.check_flag(
            "checkpoint_sequential", "preserve_rng_state", preserve_rng_state
        )
    del use_reentrant
    chain = list(functions)
    if segments < 1:
        message = f"checkpoint_sequential: `segments` is {segments}; use 1 or more."
        raise ArgumentError(message)
    size = max(len(chain) // segments, 1)
    starts = [i * size for i in range(min(segments, len(chain)))]
    for start in starts[:-1]:
        part = _chained(chain[start : start + size])
        input = checkpoint(part, input, preserve_rng_state=preserve_rng_state)
    return _chained(chain[starts[-1] :] if starts else [])(input)


def _chained(functions: list[Any]) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        for function in functions:
            x = function(x)
        return x

    return run


# ---- what both runs need -------------------------------------------------------------


def _tensors(args: Iterable[Any]) -> list[Tensor]:
    return [a for a in args if isinstance(a, Tensor)]


def _results(outputs: Any) -> tuple[Tensor, ...]:
    """Return the tensors in what a function returned."""
    found: list[Tensor] = []
    _mapped(outputs, found.append)
    return tuple(found)


def _mapped(outputs: Any, visit: Callable[[Tensor], Any]) -> Any:
    """Return a nest with what `visit` makes of its tensors.

    Of other objects nobody knows what they hold.
    """
    if isinstance(outputs, Tensor):
        return visit(outputs)
    if outputs is None or isinstance(outputs, (bool, int, float, str, bytes)):
        return outputs
    if outputs.__class__ is dict:
        return {name: _mapped(one, visit) for name, one in outputs.items()}
    if isinstance(outputs, (tuple, list)):
        parts = [_mapped(one, visit) for one in outputs]
        kind: Any = type(outputs)
        return kind(*parts) if hasattr(kind, "_fields") else kind(parts)
    raise DTypeError(
        f"checkpoint: `function` returned a {type(outputs).__name__}; it must return "
        f"tensors, or numbers, texts, None, and tuples, lists and dicts of them."
    )


def _end(node: Node | None, results: tuple[Tensor, ...], i: int) -> Tensor:
    """Return result number `i`, leading to the node in place of the record."""
    result = results[i]
    if node is None or result._edge is None:
        return make(result._array, None)
    return make(result._array, node if len(results) == 1 else Output(node, i))


def _shadow(t: Tensor) -> Tensor:
    """Return the tensor on a leaf of its own, at which the record ends."""
    shadow = make(t._array, None if t._edge is None else Leaf(t.shape))
    shadow._version = t._cell()
    return shadow


def _leaves(edges: list[Any], known: set[Any], start: int) -> list[Leaf]:
    """Return the leaves that a record ends at, without `known`, in a fixed order."""
    found: dict[Leaf, None] = {}
    seen: set[int] = set()
    waiting = [edge for edge in edges if edge is not None]
    while waiting:
        edge = waiting.pop()
        if isinstance(edge, Leaf):
            if edge not in known:
                found[edge] = None
            continue
        node = edge.node if isinstance(edge, Output) else edge
        if node.serial < start:
            raise GradError(
                f"checkpoint: `function` uses a tensor that `{node.op.name}` made "
                "before the call and that is not among its arguments; pass it as an "
                "argument."
            )
        if id(node) not in seen:
            seen.add(id(node))
            waiting += [edge for edge in node.edges if edge is not None]
    return list(found)


#: Stands for a tensor among the arguments that a node remembers.
_HERE = object()


class _Run:
    """The operator of a node that runs a function again."""

    name = "checkpoint"
    saves = None
    is_view = False
    spec = None

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        random: dict[str, int] | None,
        results: tuple[Tensor, ...],
    ) -> None:
        self.function = function
        # The node keeps the tensors' arrays, so that a backward pass can free them.
        self.args = tuple(_HERE if isinstance(a, Tensor) else a for a in args)
        self.kwargs = kwargs
        self.random = random
        self.shapes = [t._array.shape for t in results]
        self.dtype = results[0]._array.dtype
        self.n_outputs = len(results)

    def node(self, tensors: list[Tensor], edges: tuple[Any, ...]) -> Node:
        """Return the node that keeps the arrays of `tensors`."""
        cells = [t._cell() for t in tensors]
        versions = tuple(x for cell in cells for x in (cell, cell.count))
        saved = tuple(t._array for t in tensors)
        shapes = [t._array.shape for t in tensors]
        shapes += [edge.shape for edge in edges[len(tensors) :]]
        return Node(self, edges, saved, versions, tuple(shapes), self.dtype, ())

    def rule(self, k: Any, n: Any, g: Any) -> Any:
        """Run the function again and go backward through its record."""
        node = getattr(n, "node", n)
        tensors = [
            self._again(array, edge, k.records)
            for array, edge in zip(node.saved, node.edges, strict=False)
        ]
        outputs = self._outputs(tensors)
        leaves = [make(outputs[0]._array, e) for e in node.edges[len(tensors) :]]
        wanted = [t for t in (*tensors, *leaves) if t._edge is not None]
        cotangents = g if isinstance(g, tuple) else (g,)
        pairs = [
            (t, c if k.records else make(c, None))
            for t, c in zip(outputs, cotangents, strict=True)
            if c is not None and t._edge is not None
        ]
        found = iter(self._walk(pairs, wanted, k.records))
        results = [next(found) if edge is not None else None for edge in node.edges]
        if k.records:
            return tuple(results)
        # A view is never taken for memory that the pass owns: it may be a cotangent.
        return tuple(None if r is None else r._array.view() for r in results)

    @staticmethod
    def _again(array: Any, edge: Any, records: bool) -> Tensor:
        if edge is None:
            return make(array, None)
        if not records:
            return make(array, Leaf(array.shape))
        # A view separates it from its history: the pass must not reach one argument
        # through another.
        return reshape_view(make(array, edge), array.shape)

    def _outputs(self, tensors: list[Tensor]) -> tuple[Tensor, ...]:
        given = iter(tensors)
        args = [next(given) if a is _HERE else a for a in self.args]
        now = default_generator.get_state()
        if self.random is not None:
            default_generator.set_state(self.random)
        try:
            with enable_grad():
                outputs = _results(self.function(args, self.kwargs))
        finally:
            if self.random is not None:
                default_generator.set_state(now)
        shapes = [t._array.shape for t in outputs]
        if shapes != self.shapes:
            raise GradError(
                f"checkpoint: the function returned the shapes {self.shapes} at first, "
                f"and {shapes} in the backward pass; both calls must return the same "
                "values."
            )
        return outputs

    @staticmethod
    def _walk(pairs: list[Any], wanted: list[Tensor], records: bool) -> Iterable[Any]:
        if not pairs:
            return [None] * len(wanted)
        # Hooks of leaves run when the outer pass comes to them, not here as well.
        edges = [t._edge for t in wanted if isinstance(t._edge, Leaf)]
        hooks = [edge.hooks for edge in edges]
        for edge in edges:
            edge.hooks = None
        try:
            outputs, cotangents = zip(*pairs, strict=True)
            return grad(
                outputs, wanted, cotangents, create_graph=records, allow_unused=True
            )
        finally:
            for edge, own in zip(edges, hooks, strict=True):
                edge.hooks = own

# SPDX-License-Identifier: MIT
"""`autograd.Function`: operators that users write, forward and backward."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from autocalc._dispatch._callers import warn
from autocalc._dispatch.device.device import DeviceArray
from autocalc._dispatch.selection.provided import provided
from autocalc._dispatch.selection.state import current, enter, leave
from autocalc._graph._node import Leaf, Node, Output
from autocalc._graph._walk import check_saved
from autocalc._ops._operator.kinds import is_of_kind
from autocalc._ops._operator.partial_writes import record_write
from autocalc._ops._operator.view_tracker import base_of, mark_opaque
from autocalc._tensor import Tensor, make
from autocalc.errors import ArgumentError, GradError, NoFormulaError, ShapeError


class FunctionContext:
    """The object `ctx`, which passes data from `forward` to `backward`.

    Values that are not tensors may be stored as attributes.  Tensors must be passed to
    `save_for_backward`, which detects in-place changes and frees the memory in time.

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
        self._dirty: set[int] = set()
        self._makes_zeros = True
        self._for_forward: tuple[Tensor | None, ...] | None = None
        self._kept: list[Tensor] = []

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep `tensors` until the backward pass."""
        self._to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep `tensors` for `jvp`, which gets them as `saved_tensors`."""
        self._for_forward = tensors

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """The tensors that were passed to `save_for_backward`."""
        return self._to_save if self._saved is None else self._saved

    @property
    def saved_variables(self) -> tuple[Tensor | None, ...]:
        """The old name of `saved_tensors`; it gives a warning."""
        message = "'saved_variables' is deprecated; use 'saved_tensors'"
        warn(message, DeprecationWarning)
        return self.saved_tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Mark `tensors`, which are outputs, as having no gradient."""
        self._non_differentiable = {id(t) for t in tensors}

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Mark inputs that `forward` has written in place and must return."""
        self._dirty = {id(t) for t in tensors}

    def set_materialize_grads(self, value: bool) -> None:
        """Set whether `backward` gets zeros or None for outputs without a gradient."""
        self._makes_zeros = value


class _FunctionOp:
    """The operator of a node that a `Function` made."""

    __slots__ = ("function", "n_outputs", "saves")

    is_view = False
    spec = None

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
        ctx, _, metas, _ = node.attributes
        wrap: Callable[[Any], Tensor] = _identity if k.records else _constant
        ctx._saved = self.saved_of(node)
        gs = g if isinstance(g, tuple) else (g,)
        gs = tuple(
            None
            if value is None and (meta is None or not ctx._makes_zeros)
            else wrap(k.zeros(*meta) if value is None else value)
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

    def saved_of(self, node: Node) -> tuple[Tensor | None, ...]:
        """Return the saved tensors of `forward`, each with its history."""
        check_saved(node)
        return tuple(
            array
            if array is None or is_of_kind(array)
            else make(array, _edge_of(node, place))
            for array, place in zip(node.saved, node.attributes[1], strict=True)
        )

    def _checked(self, node: Node, results: tuple[Any, ...], records: bool) -> Any:
        surplus = results[len(node.edges) :]  # of arguments with defaults
        if len(results) < len(node.edges) or any(r is not None for r in surplus):
            raise GradError(
                f"{self.name}.backward: returned {len(results)} gradients for "
                f"{len(node.edges)} inputs; return one for each input, and None for an "
                "input without a gradient."
            )
        dtypes = node.attributes[3]
        checked: list[Any] = []
        for i, (r, edge) in enumerate(zip(results, node.edges, strict=False)):
            if r is None or edge is None:
                checked.append(None)
                continue
            gradient = self._of_shape(i, r, node.shapes[i]).to(dtypes[i])
            # A view is never taken for memory that the pass owns: it may be the user's.
            checked.append(gradient if records else gradient._array.view())
        return tuple(checked)

    def _of_shape(self, i: int, gradient: Tensor, shape: tuple[int, ...]) -> Tensor:
        """Return a gradient of the input's shape: one repeated over it is summed."""
        if gradient.shape == shape:
            return gradient
        missing = gradient.ndim - len(shape)
        sizes = zip(shape, gradient.shape[max(missing, 0) :], strict=False)
        if missing < 0 or any(old not in (1, new) for old, new in sizes):
            raise ShapeError(
                f"{self.name}.backward: gradient {i} has shape {gradient.shape}, but "
                f"expected shape {shape}, that of its input, or one that is broadcast "
                "from it."
            )
        summed: Tensor = gradient.sum_to_size(shape)
        return summed


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
    """The base class of operators that users write.

    Define the static methods `forward` and `backward`, and call `apply`.  In forward
    mode, the static method ``jvp(ctx, *tangents)`` returns the tangents of the results.
    Without it, they are found from `backward`, which must then be differentiable.

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
    def forward(ctx: Any, *args: Any, **words: Any) -> Any:
        """Compute the outputs; operations in this method are not recorded.

        If `setup_context` is defined, too, `forward` is called without `ctx`.
        """
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save values for `backward`; it is called after `forward`."""
        raise NotImplementedError

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return one gradient for each argument of `forward`.

        Return None for an argument that is not a tensor.
        """
        raise NotImplementedError

    #: Whether `forward` and `backward` also run for all examples of `vmap` at once.
    generate_vmap_rule = False

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> tuple[Any, Any]:
        """Compute all examples of `vmap`; without this method, `forward` does so.

        Parameters
        ----------
        info
            It has the attributes `batch_size`, the number of examples, and
            `randomness`, the argument of `vmap`.
        in_dims
            For each argument: the dimension that counts the examples, or None.
        args
            The arguments of `forward`; tensors have the dimension of the examples.

        Returns
        -------
        outputs, out_dims
            The outputs for all examples, and for each output its dimension of the
            examples, or None.
        """
        raise NotImplementedError

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Refuse the call: a function has no instances."""
        name = type(self).__name__
        raise ArgumentError(
            "Legacy autograd function with non-static forward method is deprecated: an "
            f"instance of {name} cannot be called. Make `forward` a static method, and "
            f"write {name}.apply(...) with its arguments."
        )

    #: A class may define the static method ``jvp(ctx, *tangents)``, which returns one
    #: tangent for each output. Otherwise tangents are found from `backward`.
    jvp: Any = None

    def __init_subclass__(cls) -> None:
        """Take `vjp` as another name of `backward`."""
        if "vjp" in cls.__dict__ and "backward" not in cls.__dict__:
            own: Any = cls
            own.backward = staticmethod(own.vjp)

    @classmethod
    def apply(cls, *args: Any, **words: Any) -> Any:
        """Run `forward` and record it as one node."""
        apart = cls.setup_context is not Function.setup_context
        if apart:
            args, words = _in_order(cls.forward, args, words), {}
        if cls.vmap is not Function.vmap and provided.function_rules is not None:
            level = provided.function_rules[0](args)
            if level is not None:
                return _computed_by_rule(cls, level, args, apart)
        edges = tuple(a._edge if isinstance(a, Tensor) else None for a in args)
        ctx = FunctionContext(tuple(edge is not None for edge in edges))
        before = None
        if any(map(_is_on_a_device, args)):
            from autocalc.autograd import _function_slopes as slopes  # rare

            before = slopes.arrays_before(args)
        token = enter(grad=False)
        try:
            if apart:
                outputs = cls.forward(*args)
                cls.setup_context(ctx, args, outputs)
            else:
                outputs = cls.forward(ctx, *args, **words)
        finally:
            leave(token)
        several = isinstance(outputs, (tuple, list))
        results = tuple(outputs) if several else (outputs,)
        for out in results:
            if id(out) in ctx._dirty:
                out._cell().count += 1
        if before is not None:
            results = slopes.with_slopes(cls, ctx, before, results)
        if (
            any(edges)
            and current().grad
            and any(isinstance(r, Tensor) for r in results)
        ):
            results = _record(cls, ctx, args, edges, results)
        return results if several else results[0]


def _is_on_a_device(x: Any) -> bool:
    dense = isinstance(x, Tensor) and not is_of_kind(x)
    return dense and x._array.__class__ is DeviceArray


def _computed_by_rule(
    cls: type[Function], level: Any, args: tuple[Any, ...], apart: bool
) -> Any:
    """Return the outputs by the rule `vmap`, recorded as a node if need be.

    If the rule calls functions that have gradients, these are recorded.  Otherwise, the
    gradient is that of `backward`.
    """
    outputs = provided.function_rules[1](cls, level, args)
    several = isinstance(outputs, (tuple, list))
    results = tuple(outputs) if several else (outputs,)
    edges = tuple(a._edge if isinstance(a, Tensor) else None for a in args)
    tensors = [y for y in results if isinstance(y, Tensor)]
    if not (any(edges) and current().grad and tensors) or any(
        y._edge is not None for y in tensors
    ):
        return outputs
    if not apart:
        raise GradError(
            f"{cls.__name__}: its rule `vmap` has no gradient. In order to use "
            f"`backward` there, override the setup_context staticmethod."
        )
    ctx = FunctionContext(tuple(edge is not None for edge in edges))
    cls.setup_context(ctx, args, outputs)
    results = _record(cls, ctx, args, edges, results)
    return results if several else results[0]


def _in_order(
    forward: Callable[..., Any], args: tuple[Any, ...], words: dict[str, Any]
) -> tuple[Any, ...]:
    """Return the arguments by their places, those that were left out by default."""
    given = inspect.signature(forward).bind(*args, **words)
    given.apply_defaults()
    if any(isinstance(x, Tensor) for x in given.kwargs.values()):
        raise NoFormulaError(
            "Function: forward got kwarg-only Tensor args, which setup_context does "
            "not get. Pass tensors by position."
        )
    return given.args


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
    # What `forward` has written into is saved as it is now: an output.
    places = tuple(
        made[id(t)]
        if id(t) in ctx._dirty
        else inputs.get(id(t)) or made.get(id(t)) or ("other", 0)
        for t in ctx._to_save
    )
    cells = tuple(None if t is None else t._cell() for t in ctx._to_save)
    shapes = tuple(_shape_of(cls, a) for a in args)
    metas = tuple(_meta(t) for t in outputs)
    node = Node(
        _FunctionOp(cls, len(outputs)),
        edges,
        tuple(t if t is None or is_of_kind(t) else t._array for t in ctx._to_save),
        tuple(x for c in cells for x in (c, 0 if c is None else c.count)),
        shapes,
        next(meta[1] for meta in metas if meta is not None),
        (ctx, places, metas, tuple(getattr(a, "dtype", None) for a in args)),
    )
    ctx._to_save = ()
    results = []
    for i, out in enumerate(outputs):
        result = out
        if metas[i] is not None and id(out) not in ctx._non_differentiable:
            edge = node if len(outputs) == 1 else Output(node, i)
            if id(out) in ctx._dirty:
                _check_no_leaf(cls, out)
                record_write(out, edge)
            elif out.dtype.is_differentiable:
                result = make(out._array, edge)
                result._version = out._version
                if id(out) in inputs or out._view.__class__ is tuple:
                    mark_opaque(
                        out
                    )  # its memory is another tensor's, in an unknown way
                    result._view = base_of(out)._view
        results.append(result)
    return tuple(results)


def _shape_of(cls: type[Function], a: Any) -> tuple[int, ...]:
    """Return the shape of an input, which no gradient can have if it is sparse."""
    if is_of_kind(a):
        if a._edge is not None:
            raise GradError(
                f"{cls.__name__}: an input of shape {tuple(a.shape)} is sparse or "
                "nested and requires a gradient, which a Function cannot give it. Pass "
                "its values, and make the tensor of them in `forward`."
            )
        return ()
    return a._array.shape if isinstance(a, Tensor) else ()


def _meta(output: Any) -> tuple[Any, Any] | None:
    """Return what zeros in place of an output's gradient have; None of no tensor."""
    if not isinstance(output, Tensor):
        return None
    return output._array.shape, output._array.dtype


def _check_no_leaf(cls: type[Function], x: Tensor) -> None:
    """Raise if a write into `x` could not be given its gradient."""
    if Leaf in (x._edge.__class__, base_of(x)._edge.__class__):
        raise GradError(
            f"{cls.__name__}: it writes into a leaf of shape {x.shape} that requires a "
            "gradient, or into a view of such a leaf. Pass a clone() instead."
        )


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a `backward` method that is not differentiable itself.

    It runs without recording operations, and a second derivative through it raises an
    error.

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
    def wrapped(ctx: Any, *grads: Tensor | None) -> Any:
        token = enter(grad=False)
        try:
            results = backward(ctx, *(g if g is None else g.detach() for g in grads))
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
    spec = None

    @staticmethod
    def rule(k: Any, n: Any, g: Any) -> Any:  # noqa: ARG004  as every rule
        raise GradError(
            "once_differentiable: the backward of this Function is marked with "
            "@once_differentiable, so it has no second derivative. Write it with "
            "differentiable operations and remove the decorator."
        )


_ONCE = _Once()

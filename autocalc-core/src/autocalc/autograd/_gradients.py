# SPDX-License-Identifier: MIT
"""`backward` and `grad`: from outputs back to the tensors whose gradient is wanted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeAlias

from numpy import ndarray

from autocalc._dispatch.device.device import DeviceArray
from autocalc._dispatch.engine.eager import accelerated
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.layout import dense_order, empty_in_order, fits_order
from autocalc._dispatch.selection.state import enter, leave
from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._graph._anomaly import AnomalyWalk
from autocalc._graph._halves import rule_in_float32
from autocalc._graph._node import FREED, IN_ITS_ORDER, Leaf, Node, Output, Partial
from autocalc._graph._walk import Walk, check_saved, reaching, target
from autocalc._kernels.table import TABLE
from autocalc._ops._operator.kinds import is_of_kind
from autocalc._ops._tensors import Tensors as TensorKernels
from autocalc._ops.views import view
from autocalc._tensor import Retain, Tensor, make, node_and_slot
from autocalc._tensor.checks import (
    FLAG,
    all_of,
    check_flags,
    check_switches,
    check_type,
    sequence,
)
from autocalc.autograd import _anomaly
from autocalc.autograd._gradient_edge import GradientEdge
from autocalc.errors import ArgumentError, DTypeError, GradError, HookError

Tensors: TypeAlias = Tensor | GradientEdge | Sequence[Tensor | GradientEdge]


def backward(
    tensors: Tensors,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    *,
    inputs: Tensors | None = None,
) -> None:
    """Add the gradient of `tensors` to the `grad` of every leaf that requires one.

    Parameters
    ----------
    tensors
        One or several tensors with a gradient history.
    grad_tensors
        The gradients with respect to `tensors`, with their shapes.  For a tensor of one
        element, None means 1.
    retain_graph
        True to keep the saved arrays for another backward pass; by default the value of
        `create_graph`.
    create_graph
        True to record the backward pass itself, for higher derivatives.
    inputs
        The tensors that get a gradient: leaves or other tensors; by default all leaves.

    Raises
    ------
    GradError
        If no operation was recorded, if a gradient is missing or does not fit, or if an
        earlier backward pass has freed the graph.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([1.0, 2.0], requires_grad=True)
    >>> ac.autograd.backward((x * x).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    if retain_graph is not None:
        check_switches("backward", retain_graph=retain_graph)
    if create_graph.__class__ is not FLAG:
        check_switches("backward", create_graph=create_graph)
        create_graph = bool(create_graph)
    outputs, seeds = _seeded("backward", tensors, grad_tensors)
    chosen = None if inputs is None else _chosen(inputs)
    needed = None
    if chosen is not None:
        needed = reaching([_edge_of(out) for out in outputs], chosen)
    early = None if create_graph else _deliver_to(chosen)
    walk = _walk(outputs, seeds, retain_graph, create_graph, needed, (), early)
    for leaf, value, fresh in walk.leaves.values():
        if chosen is None or leaf in chosen:
            deliver(leaf, value, fresh, walk.k, create_graph)


def _deliver_to(chosen: set[Any] | None) -> Callable[[Leaf, Any, int], None]:
    """Return a function that gives leaves their gradient before the pass ends."""
    if chosen is None:
        return deliver

    def deliver_chosen(leaf: Leaf, value: Any, fresh: int) -> None:
        if leaf in chosen:
            deliver(leaf, value, fresh)

    return deliver_chosen


def deliver(
    leaf: Leaf, value: Any, fresh: int, k: Any = arrays, create_graph: bool = False
) -> None:
    """Add what has arrived at a leaf to its gradient, after its hooks have seen it."""
    gradient = _as_tensor(value)
    sparse = is_of_kind(gradient)
    owned = sparse or (bool(fresh) and not k.is_view(value))
    if not sparse and gradient._array.__class__ is DeviceArray:
        gradient = _of_shared(gradient, leaf, adds=True)
    if leaf.hooks:
        hooked = run_hooks(leaf.hooks, gradient)
        owned = owned and hooked is gradient
        gradient = hooked
    _accumulate(leaf, gradient, owned, create_graph)
    if leaf.accumulated:
        _run_accumulated(leaf, create_graph)


def _run_accumulated(leaf: Leaf, create_graph: bool) -> None:
    """Run the hooks that wait for the leaf's gradient; they record as the pass does."""
    token = enter(grad=create_graph, autocast=None)
    try:
        for hook in list((leaf.accumulated or {}).values()):
            hook()
    finally:
        leave(token)


def _chosen(inputs: Any) -> set[Any]:
    """Return the leaves and nodes that `backward` is asked for.

    Tensors that are no leaves keep their gradient, as after `retain_grad`.
    """
    one = isinstance(inputs, (Tensor, GradientEdge))
    wanted = [inputs] if one else sequence("backward", "inputs", inputs)
    _check_some("backward", wanted)
    for i, x in enumerate(wanted):
        if not isinstance(x, (Tensor, GradientEdge)) or _edge_of(x) is None:
            what = f"shape {x.shape}" if isinstance(x, Tensor) else type(x).__name__
            raise GradError(
                f"backward: `inputs[{i}]` of {what} does not require a gradient; call "
                "requires_grad_() on it before it is used."
            )
    for x in wanted:
        if isinstance(x, Tensor):
            x.retain_grad()
    return {target(_edge_of(x)) for x in wanted}


def _edge_of(x: Any) -> Any:
    return x.edge if isinstance(x, GradientEdge) else x._edge


def _check_some(where: str, inputs: Collection[Any]) -> None:
    if not inputs:
        raise ArgumentError(
            f"{where}: `inputs` cannot be empty; give one or more. A generator, such "
            "as model.parameters(), yields its tensors only once."
        )


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """Return the gradient of `outputs` with respect to `inputs`.

    Only the part of the graph between outputs and inputs is computed, and no `grad`
    attribute changes.

    Parameters
    ----------
    outputs, grad_outputs
        Tensors with a gradient history, and the gradients with respect to them, as in
        `backward`.
    inputs
        The tensors with respect to which the gradient is taken: leaves, or other
        tensors of the graph.
    allow_unused
        True to return None for an input on which the outputs do not depend, instead of
        raising an error.
    only_inputs
        It has no effect: gradients of other tensors are never kept.
    retain_graph, create_graph
        The same as in `backward`.
    is_grads_batched
        True if `grad_outputs` have an additional first dimension, with one gradient for
        each index. The results then have this dimension, too. One backward pass
        computes all of them, as `vmap` does.
    materialize_grads
        True to return zeros instead of None; `allow_unused` is then True.

    Returns
    -------
    tuple of Tensor
        One gradient for each input, with the shape of the input.

    Raises
    ------
    GradError
        If no operation was recorded, if a gradient is missing or does not fit, or if an
        earlier backward pass has freed the graph. It is also raised if an input does
        not require a gradient or, without `allow_unused`, if the outputs do not depend
        on it.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor(2.0, requires_grad=True)
    >>> (first,) = ac.autograd.grad(x * x * x, x, create_graph=True)
    >>> ac.autograd.grad(first, x)
    (tensor(12.),)
    """
    check_flags(
        "grad",
        retain_graph=retain_graph,
        create_graph=create_graph,
        only_inputs=only_inputs,
        allow_unused=allow_unused,
        is_grads_batched=is_grads_batched,
        materialize_grads=materialize_grads,
    )
    if materialize_grads and allow_unused is False:
        raise GradError(
            "grad: `materialize_grads`=True, `allow_unused`=False: zeros are only "
            "returned if inputs may be unused. Leave `allow_unused` out."
        )
    wanted = tensors_of("grad", "inputs", inputs)
    _check_some("grad", wanted)
    if is_grads_batched:
        from autocalc.autograd._batched import batched  # late: few programs use it

        ends = tensors_of("grad", "outputs", outputs)
        keep = create_graph if retain_graph is None else retain_graph
        unused = bool(allow_unused) or materialize_grads

        def walk_of(cotangents: list[Tensor]) -> tuple[Tensor | None, ...]:
            flags = bool(keep), create_graph, True, unused, False
            return grad(ends, wanted, cotangents, *flags, materialize_grads)

        return batched(ends, grad_outputs, walk_of)
    roots, seeds = _seeded("grad", outputs, grad_outputs)
    edges = [_edge_of(x) for x in wanted]
    for i, edge in enumerate(edges):
        if edge is None:
            raise GradError(
                f"grad: `inputs[{i}]` of shape {wanted[i].shape} does not require a "
                "gradient; call requires_grad_() on it before it is used."
            )
    needed = reaching([_edge_of(root) for root in roots], set(map(target, edges)))
    capture = [node_and_slot(edge) for edge in edges if edge.__class__ is not Leaf]
    walk = _walk(roots, seeds, retain_graph, create_graph, needed, capture)
    unused = bool(allow_unused) or materialize_grads
    found = [_found(walk, x, i, unused) for i, x in enumerate(wanted)]
    if materialize_grads:
        pairs = zip(found, wanted, strict=True)
        found = [_or_zeros(g, x, create_graph) for g, x in pairs]
    return tuple(found)


def _or_zeros(
    gradient: Tensor | None, x: Tensor | GradientEdge, create_graph: bool
) -> Tensor:
    """Return zeros for no gradient: leaves, by which a next derivative is zero."""
    if gradient is not None:
        return gradient
    if isinstance(x, GradientEdge):
        raise GradError(
            "grad: `materialize_grads`=True needs the shape of each input, which a "
            "GradientEdge does not have; give the tensor."
        )
    zeros = make(arrays.full(x.shape, 0, x._array.dtype), None)
    return zeros.requires_grad_(create_graph)


def _found(
    walk: Walk, x: Tensor | GradientEdge, i: int, allow_unused: bool
) -> Tensor | None:
    """Return the gradient that the pass brought to `x`."""
    edge = _edge_of(x)
    if edge.__class__ is Leaf:
        value = walk.leaves[edge][1] if edge in walk.leaves else None
        if value is not None and edge.hooks:
            gradient = _as_tensor(value)
            if is_of_kind(gradient):
                return run_hooks(edge.hooks, gradient)
            if gradient._array.__class__ is DeviceArray:
                gradient = _of_shared(gradient, edge)
            return run_hooks(edge.hooks, gradient)
    else:
        value = walk.captured.get(node_and_slot(edge))
    if value is None and not allow_unused:
        raise GradError(
            f"grad: the outputs do not depend on `inputs[{i}]`{_of_shape(x)}. "
            f"Set allow_unused=True to get None for it."
        )
    if value is None:
        return None
    gradient = _as_tensor(value)
    if is_of_kind(x):  # it is that of its values
        return x._as_gradient(gradient)  # type: ignore[union-attr,no-any-return]
    if is_of_kind(gradient):
        return gradient
    return gradient if gradient._array.__class__ is ndarray else _of_shared(gradient, x)


def _of_shared(gradient: Tensor, x: Any, adds: bool = False) -> Tensor:
    """Return the gradient of a tensor that the examples of `vmap` may share."""
    from autocalc.autograd import _levels  # late, because few programs use vmap

    if isinstance(x, Leaf):
        x = None if x.tensor is None else x.tensor()
    x = x if isinstance(x, Tensor) else None
    gradient = _levels.summed(gradient, x)
    if adds:
        _levels.check_shared(gradient, x)
    return gradient


def _of_shape(x: Tensor | GradientEdge) -> str:
    return "" if isinstance(x, GradientEdge) else f" of shape {x.shape}"


run = accelerated(
    "backward_pass", Walk.run, Partial, FREED, check_saved, arrays, rule_in_float32
)


def plain_walk() -> Walk:
    """Return a pass over arrays that visits all nodes and frees them."""
    return Walk(arrays, keep=False, hooked=_hooked_array, deliver=deliver)


def _walk(
    outputs: list[Tensor],
    seeds: list[Tensor],
    retain_graph: bool | None,
    create_graph: bool,
    needed: set[Any] | None,
    capture: Sequence[tuple[Node, int]],
    deliver: Callable[[Leaf, Any, int], None] | None = None,
) -> Walk:
    """Run the pass, on arrays or, to record it, on tensors."""
    keep = create_graph if retain_graph is None else retain_graph
    words: dict[str, Any] = {
        "k": _recorded if create_graph else arrays,
        "keep": keep,
        "needed": needed,
        "saved": saved_tensors if create_graph else None,
        "hooked": _hooked_tensor if create_graph else _hooked_array,
        "deliver": deliver,
    }
    if _anomaly.mode.enabled:
        walk: Walk = AnomalyWalk(check_nan=_anomaly.mode.check_nan, **words)
    else:
        walk = Walk(**words)
    values = seeds if create_graph else [seed._array for seed in seeds]
    token = enter(grad=create_graph, autocast=None)
    try:
        run(walk, [_edge_of(out) for out in outputs], values, capture)
    finally:
        leave(token)
    return walk


def saved_tensors(node: Node) -> tuple[Tensor | None, ...]:
    """Return a node's saved arrays as tensors, each with the edge that it came from."""
    op = node.op
    if op.saves is None:
        return node.saved  # type: ignore[no-any-return]  # Function keeps tensors
    result: list[Tensor | None] = []
    for (place, _), array in zip(op.saves.places, node.saved, strict=True):
        edge: Any = None
        if place >= op.saves.first_input:
            edge = node.edges[place - op.saves.first_input]
        elif place in op.kept and array is not None and array.dtype.kind in FLOAT_KINDS:
            edge = node if len(op.kept) == 1 else Output(node, op.kept.index(place))
        result.append(None if array is None else make(array, edge))
    return tuple(result)


def tensors_of(where: str, name: str, given: Any) -> list[Any]:
    """Return one tensor or `GradientEdge`, or a sequence of them, as a list."""
    if isinstance(given, (Tensor, GradientEdge)):
        return [given]
    found = all_of(where, name, given, stacklevel=5)
    for i, x in enumerate(found):
        if not isinstance(x, GradientEdge):
            check_type(where, f"{name}[{i}]", x, Tensor, "a tensor")
    return found


def _seeded(
    where: str, outputs: Tensors, cotangents: Any
) -> tuple[list[Tensor], list[Tensor]]:
    """Check outputs and cotangents; make the cotangents that may be left out."""
    roots = tensors_of(where, "outputs", outputs)
    if cotangents is None:
        given = [None] * len(roots)
    else:
        several = isinstance(cotangents, (list, tuple))
        given = list(cotangents) if several else [cotangents]
    if len(given) != len(roots):
        raise GradError(
            f"{where}: {len(roots)} tensors and {len(given)} gradients were given; "
            "there must be one gradient for each tensor."
        )
    pairs = enumerate(zip(roots, given, strict=True))
    seeds = [_seed(where, y, g, i) for i, (y, g) in pairs]
    return roots, seeds


def _seed(where: str, y: Any, g: Any, i: int) -> Tensor:
    if isinstance(y, GradientEdge):
        return _seed_of_edge(where, g)
    if y._edge is None:
        raise GradError(
            f"{where}: the tensor of shape {y.shape} has no gradient history and does "
            "not require grad: it was not computed from a tensor that requires a "
            "gradient. Set requires_grad=True on an input, and compute outside of "
            "no_grad()."
        )
    if g is None:
        if y.numel() != 1:
            raise GradError(
                f"{where}: the tensor has shape {y.shape}, but only a tensor of one "
                "element can start a backward pass without `gradient`. Pass "
                "`gradient` with the shape of the tensor, or reduce it with .sum() or "
                ".mean() first."
            )
        if y.is_complex():
            raise GradError(
                f"{where}: grad can be implicitly created only for real scalar outputs "
                f"but got {y.dtype}. Pass `gradient`, or take .abs() or .real of the "
                "result."
            )
        return make(arrays.full(y.shape, 1, y._array.dtype), None)
    if not isinstance(g, Tensor):
        raise DTypeError(
            f"{where}: the gradient that was given is a {type(g).__name__}; it must be "
            f"a tensor of shape {y.shape}."
        )
    if g._array.shape != y._array.shape:
        raise GradError(
            f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape!s} and "
            f"output[{i}] has a shape of {y.shape!s}."
        )
    if g._array.dtype is y._array.dtype:
        return g
    if g.is_complex() is not y.is_complex():
        raise GradError(
            f"{where}: the gradient that was given is {g.dtype.name}, but the tensor "
            f"is {y.dtype.name}: for complex tensors, both are required to have the "
            "same dtype. Convert the gradient."
        )
    return g.to(y.dtype)


def _seed_of_edge(where: str, g: Any) -> Tensor:
    if not isinstance(g, Tensor):
        raise GradError(
            f"{where}: a GradientEdge was given with a {type(g).__name__} as its "
            "gradient; give a tensor with the shape of the tensor at that edge."
        )
    return g


def run_hooks(hooks: dict[int, Callable[..., Any]], gradient: Tensor) -> Tensor:
    """Give `gradient` to each hook; a hook may return another to use instead."""
    for hook in sorted(hooks.values(), key=_runs_last):
        replaced = hook(gradient)
        if replaced is None:
            continue
        if not isinstance(replaced, Tensor) or replaced.shape != gradient.shape:
            raise HookError(
                f"hook: returned {replaced!r} for a gradient of shape "
                f"{gradient.shape}; it must return None or a tensor of that shape."
            )
        if replaced.dtype is not gradient.dtype:
            raise GradError(
                f"hook: returned a tensor of {replaced.dtype.name} for a gradient of "
                f"{gradient.dtype.name}; convert the tensor with .to()."
            )
        gradient = replaced
    return gradient


def _runs_last(hook: Callable[..., Any]) -> bool:
    return isinstance(hook, Retain)


def _hooked_tensor(hooks: dict[int, Callable[..., Any]], value: Any) -> Any:
    return run_hooks(hooks, value)


def _hooked_array(hooks: dict[int, Callable[..., Any]], value: Any) -> Any:
    return run_hooks(hooks, make(value, None))._array


def _as_tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else make(value, None)


def _accumulate(leaf: Leaf, gradient: Tensor, owned: bool, create_graph: bool) -> None:
    """Add a gradient to a leaf: in place, or as a new sum if recorded."""
    if leaf.grad is None:
        keep = owned or create_graph
        if leaf.accumulated is IN_ITS_ORDER and not (
            create_graph or is_of_kind(gradient)
        ):
            leaf.grad = _in_order_of(leaf, gradient, keep)
        else:
            leaf.grad = gradient if keep else make(arrays.copy(gradient._array), None)
    elif is_of_kind(gradient) or is_of_kind(leaf.grad):
        pair = leaf.grad, gradient  # a sparse tensor is added to a dense one
        leaf.grad = pair[1] + pair[0] if is_of_kind(leaf.grad) else pair[0] + pair[1]
    elif create_graph or leaf.grad.requires_grad:
        leaf.grad = leaf.grad + gradient
    else:
        arrays.add_into(leaf.grad._array, gradient._array)
        leaf.grad._bump()


def _in_order_of(leaf: Leaf, gradient: Tensor, keep: bool) -> Tensor:
    """Return a gradient whose elements are in memory as those of the leaf."""
    array, tensor = gradient._array, leaf.tensor
    like: Any = None if tensor is None else tensor()
    order = None if like is None else dense_order(like._array)
    if keep and (order is None or fits_order(array, order)):
        return gradient
    into = order and empty_in_order(arrays.empty, array.shape, array.dtype, order)
    return make(arrays.copy(array, into=into), None)


class _Recorded(TensorKernels):
    """`tensors`, and the derivatives of composites that have no rule of their own."""

    def through_decomposition(
        self, name: str, inputs: tuple[Any, ...], attributes: tuple[Any, ...], g: Any
    ) -> tuple[Any, ...]:
        """Return the gradients of a composite's inputs by way of its primitives.

        `g` is the cotangent of its first output, or a tuple for the first few.
        """
        # A view of each input separates it from its own history: the pass must not
        # reach one input through another.
        inputs = tuple(
            view.reshape_view(t, t.shape) if t is not None and t.requires_grad else t
            for t in inputs
        )
        outs = self._decomposed(TABLE[name])(*inputs, *attributes)
        outs = outs if isinstance(outs, tuple) else (outs,)
        given = g if isinstance(g, tuple) else (g,)
        pairs = [pair for pair in zip(outs, given, strict=False) if pair[1] is not None]
        wanted = [t for t in inputs if t is not None and t.requires_grad]
        roots, seeds = zip(*pairs, strict=True)
        found = iter(grad(roots, wanted, seeds, create_graph=True, allow_unused=True))
        return tuple(
            next(found) if t is not None and t.requires_grad else None for t in inputs
        )


_recorded: Any = _Recorded()

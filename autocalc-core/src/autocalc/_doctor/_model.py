# SPDX-License-Identifier: MIT
"""One training step of a model, watched: gradients, graphs, copies, odd values."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

from autocalc._dispatch.selection.state import current, enter, leave
from autocalc._doctor._finding import Finding
from autocalc._doctor._watch import Copies, ModelWatch
from autocalc._graph._node import Node, Output, live_node_count, next_serial
from autocalc._ops.random.random_draws import randn_like
from autocalc._tensor import Tensor
from autocalc._tensor.generator import default_generator
from autocalc.errors import ArgumentError
from autocalc.nn import Module

#: Copies that take more of a step than this are worth a warning.
COSTLY = 0.05

#: A thousandth of subnormal numbers makes every sixtieth register of 16 wait.
MANY_SUBNORMALS = 0.001

#: So many of each kind are named one by one.
MOST = 5

Loss = Callable[[Any], Tensor]


def examine(
    model: Module,
    inputs: Tensor | tuple[Any, ...],
    loss: Loss | None = None,
    folder: str = "",
) -> list[Finding]:
    """Run a step of a model twice and return what is to be said of the second.

    The first one chooses kernels and touches memory, which would count as its time.

    Parameters
    ----------
    model
        Its parameters keep their values; gradients are taken away.
    inputs
        The arguments of the model's call.
    loss
        Gives a scalar of what the model returns; by default the products of its first
        tensor with random numbers are summed.
    folder
        Lines of programs below it are named.
    """
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    kept = _state_of(model)
    before, watch = live_node_count(), ModelWatch(model, folder)
    try:
        _step(model, inputs, loss or _weighted, ModelWatch(model, folder))
        model.zero_grad()
        unused, recorded = _step(model, inputs, loss or _weighted, watch)
        findings = [
            *_gradients(model, inputs),
            *_graphs(unused, recorded),
            *_copies(watch.copies, watch.seconds),
            *_units(watch),
            *_subnormals(watch),
        ]
    finally:
        kept()
    gc.collect()
    return [*findings, *_left(live_node_count() - before)]


def _state_of(model: Module) -> Callable[[], None]:
    """Return a function that restores buffers, generator and gradients."""
    buffers = [(buffer, buffer.clone()) for buffer in model.buffers()]
    gradients = [(p, p.grad) for p in model.parameters()]
    state = default_generator.get_state()
    model.zero_grad()

    def restore() -> None:
        default_generator.set_state(state)
        for buffer, value in buffers:
            buffer.detach().copy_(value)
        for parameter, gradient in gradients:
            parameter.grad = gradient

    return restore


def _step(
    model: Module, inputs: tuple[Any, ...], loss: Loss, watch: ModelWatch
) -> tuple[list[str], int]:
    """Run the step; return the operations that the loss does not reach, and a count."""
    first = next_serial()
    token = enter(selection=watch.selection(current().selection))
    with ExitStack() as stack:
        stack.callback(leave, token)
        with watch.forward():
            output = model(*inputs)
            value = loss(output)
        _check(value)
        nodes = [
            x
            for x in gc.get_objects()
            if issubclass(type(x), Node) and x.serial > first
        ]
        reached = _reached(value)
        unused = [x for x in nodes if id(x) not in reached]
        names = [x.op.name for x in sorted(unused, key=lambda x: x.serial)]
        recorded = len(nodes)
        del nodes, unused
        watch.start()
        value.backward()
        watch.stop()
    return names, recorded


def _check(value: Any) -> None:
    if not isinstance(value, Tensor) or value.numel() != 1:
        kind = f"of shape {tuple(value.shape)}" if isinstance(value, Tensor) else "none"
        raise ArgumentError(
            f"doctor: the loss must be a tensor of one element; it is {kind}. Let the "
            f"factory return (model, inputs, loss), with loss(output) a scalar."
        )
    if not value.requires_grad:
        raise ArgumentError(
            "doctor: the loss has no gradient history: no parameter requires a "
            "gradient, or the model runs under no_grad or detaches its output."
        )


def _weighted(output: Any) -> Tensor:
    """Return a loss in which every element of the output counts."""
    while isinstance(output, (list, tuple, dict)) and output:
        values = output.values() if isinstance(output, dict) else output
        output = next(iter(values))
    if not isinstance(output, Tensor) or not output.is_floating_point():
        raise ArgumentError(
            f"doctor: the model returns a {type(output).__name__}; let the factory "
            f"return (model, inputs, loss), with loss(output) a scalar."
        )
    return (output * randn_like(output.detach())).sum()


def _reached(value: Tensor) -> set[int]:
    """Return the ids of the nodes that a backward pass from a tensor visits."""
    seen: set[int] = set()
    waiting: list[Any] = [value._edge]
    while waiting:
        edge = waiting.pop()
        node = edge.node if isinstance(edge, Output) else edge
        if isinstance(node, Node) and id(node) not in seen:
            seen.add(id(node))
            waiting += node.edges
    return seen


# ---- what is said --------------------------------------------------------------------


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return ", ".join(names[:MOST]) + more


def _gradients(model: Module, inputs: tuple[Any, ...]) -> Iterator[Finding]:
    wanted = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    without = [n for n, p in wanted if p.grad is None]
    zero = [n for n, p in wanted if p.grad is not None and not bool(p.grad.any())]
    if without:
        yield Finding(
            "warning",
            "gradients",
            f"{len(without)} of {len(wanted)} parameters get none: {_listed(without)}",
            "Use them in forward; or remove them, or freeze them with "
            "requires_grad_(False), so that the optimizer leaves them alone.",
        )
    if zero:
        yield Finding(
            "warning",
            "gradients",
            f"{len(zero)} of {len(wanted)} parameters get zeros only: {_listed(zero)}",
            "Look for dead units after them, a saturated activation, or a factor 0.",
        )
    if not without and not zero:
        yield Finding("ok", "gradients", f"all {len(wanted)} parameters get one")
    if any(isinstance(x, Tensor) and x.requires_grad for x in inputs):
        yield Finding(
            "note",
            "gradients",
            "an input requires a gradient, which is computed and thrown away",
            "Leave requires_grad out of the data, unless you look at x.grad.",
        )


def _graphs(unused: list[str], recorded: int) -> Iterator[Finding]:
    if unused:
        yield Finding(
            "warning",
            "graph",
            f"{len(unused)} of {recorded} recorded operations do not lead to the "
            f"loss: {_listed(unused)}",
            "Compute metrics and what is only kept under ac.no_grad(), or from "
            "x.detach().",
        )
    else:
        yield Finding("ok", "graph", f"all {recorded} operations lead to the loss")


def _left(left: int) -> Iterator[Finding]:
    if left > 0:
        yield Finding(
            "warning",
            "graph",
            f"{left} recorded operations live on after two steps: the model keeps a "
            f"tensor with its history",
            "Keep x.detach() or x.item() instead, or the memory grows with each step.",
        )


def _copies(copies: list[Copies], seconds: float) -> Iterator[Finding]:
    for one in copies[:MOST]:
        times = "a copy" if one.calls == 1 else f"{one.calls} copies"
        # What backward rearranges follows from forward.
        is_costly = not one.backward and one.seconds > COSTLY * seconds
        yield Finding(
            "warning" if is_costly else "note",
            "copies",
            f"{times} of {one.nbytes / 2**20:.2f} MiB {one.where}: an operand of shape "
            f"{one.shape} is not in row-major order (strides {one.strides}); "
            f"{one.seconds / seconds:.1%} of the kernels' time",
            "Transpose or permute once, outside of the step, or in the other order; "
            "ask for channels_last images; avoid reshape after transpose.",
        )
    if not copies:
        yield Finding("ok", "copies", "no operand was rearranged")
    elif len(copies) > MOST:
        yield Finding("note", "copies", f"{len(copies)} places in all")


def _units(watch: ModelWatch) -> Iterator[Finding]:
    dead = {name: d for name, d in watch.units.items() if d.dead}
    for name, one in dead.items():
        yield Finding(
            "warning",
            "dead units",
            f"{one.dead} of {one.units} units {name} are 0 for all "
            f"{one.samples} samples: no gradient passes them",
            "Lower the learning rate, look at the bias before it, or use LeakyReLU or "
            "GELU.",
        )
    if not dead and watch.units:
        seen = len(watch.units)
        text = "none in 1 activation" if seen == 1 else f"none in {seen} activations"
        yield Finding("ok", "dead units", text)
    elif not dead:
        yield Finding("ok", "dead units", "no ReLU was seen with enough samples")


def _subnormals(watch: ModelWatch) -> Iterator[Finding]:
    many = {
        place: one
        for place, one in watch.subnormals.items()
        if one.small > MANY_SUBNORMALS * one.numbers
    }
    largest_first = sorted(many.items(), key=lambda item: -item[1].small)
    for (kernel, where), one in largest_first[:MOST]:
        yield Finding(
            "warning",
            "subnormals",
            f"{one.small} of {one.numbers} results of {kernel} {where} are below the "
            f"normal numbers (1.2e-38 in float32): on Intel's CPUs a product with one "
            f"takes a hundred times as long",
            "Scale what is so small, or set it to 0; look at the initialisation, at "
            "decays of states, and at exponentials of large negative numbers.",
        )
    if not many:
        yield Finding("ok", "subnormals", "few results or none are subnormal numbers")

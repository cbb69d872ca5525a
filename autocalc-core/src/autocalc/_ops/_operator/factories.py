# SPDX-License-Identifier: MIT
"""Factories that make an operator of a kernel, the saved values and a backward rule.

::

    mul = binary("mul", saves="a:b b:a")    # save a only if b needs a gradient
    @mul.vjp
    def _(k, n, g): ...

For each arity one plain function, made once, holds the whole hot path.  On small
tensors an operator costs as much as its function calls, so there are few of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Protocol, TypeAlias, cast

from autocalc._dispatch.engine.eager import accelerated, elementwise
from autocalc._dispatch.selection.call import KEPT_WIDE, KernelCall
from autocalc._dispatch.selection.layout import empty_as
from autocalc._dispatch.selection.provided import provide
from autocalc._dispatch.selection.select import KERNEL_INDEX, Decomposed
from autocalc._dispatch.selection.state import current
from autocalc._dispatch.selection.upcast import FLOAT_KINDS, HALVES, half_of
from autocalc._graph._node import Node, Output, Version
from autocalc._kernels.rules import broadcast_shapes
from autocalc._kernels.table import TABLE
from autocalc._ops._operator import traced_composites
from autocalc._ops._operator.coerce import (
    both_tensors,
    coerce_pair,
    fast_scalar,
    is_beside_half,
    not_a_tensor,
    of_other_kind,
    promote_pair,
    to_float,
)
from autocalc._ops._operator.complex_operators import on_complex, op_for
from autocalc._ops._operator.halves import check_alike, in_float32
from autocalc._ops._operator.kinds import KINDS, elsewhere
from autocalc._ops._operator.method import is_foreign, method
from autocalc._ops._operator.out import copy_to_out
from autocalc._ops._operator.rules import Op, Rule, Saves
from autocalc._ops._operator.view_tracker import view_of
from autocalc._tensor import Tensor, make

provide(short_program=traced_composites.composite)

#: A tensor, or a number that is converted to one.
Operand: TypeAlias = Tensor | float

#: Maps kernel names to operators that take the arguments of the kernel.
OPERATORS: dict[str, Operator] = {}


class Operator(Protocol):
    """A plain function with the operator's data as attributes."""

    op: Op
    vjp: Callable[[Rule], Rule]

    def __call__(self, *args: Any) -> Tensor:
        """Run the operator on tensors and attributes, in the kernel's order."""


class OfOne(Protocol):
    """An elementwise function of one tensor."""

    def __call__(self, input: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Return a new tensor, or `out` filled with the result."""


class Unary(OfOne, Protocol):
    """An elementwise operator of one tensor."""

    __qualname__: str
    op: Op
    vjp: Callable[[Rule], Rule]


class OfTwo(Protocol):
    """An elementwise function of two tensors, one of which may be a number."""

    def __call__(
        self, input: Operand, other: Operand, *, out: Tensor | None = None
    ) -> Tensor:
        """Return a new tensor, or `out` filled with the result."""


class Binary(OfTwo, Protocol):
    """An elementwise operator of two tensors, one of which may be a number."""

    __qualname__: str
    op: Op
    vjp: Callable[[Rule], Rule]


class MultiOperator(Protocol):
    """An operator that returns several tensors."""

    op: Op
    vjp: Callable[[Rule], Rule]

    def __call__(self, *args: Any) -> tuple[Tensor, ...]:
        """Run the operator on tensors and attributes, in the kernel's order."""


def operator(
    call: Callable[..., Any], op: Op, doc: str = "", *, main: bool = True
) -> Operator:
    """Attach the operator's data to the function that runs it."""

    def vjp(rule: Rule) -> Rule:
        op.rule = rule
        return rule

    function = cast("Any", call)
    function.op, function.vjp = op, vjp
    function.__name__ = function.__qualname__ = op.name
    function.__module__ = _declaring_module()  # pickle looks it up here
    function.__doc__ = doc or (op.spec.doc if op.spec else op.name)
    if main:
        OPERATORS[op.name] = function
    return cast("Operator", function)


def _declaring_module() -> str:
    """Return the module that calls a factory of operators."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_globals["__name__"].startswith(__package__):
        frame = frame.f_back
    assert frame is not None, "a factory is called by a module"
    return str(frame.f_globals["__name__"])


def unary(  # noqa: C901
    name: str,
    doc: str,
    saves: str = "",
    *,
    floats: bool = True,
    main: bool = True,
    example: tuple[str, ...] = (),
    place: str = "",
    of_bool: Callable[[Tensor], Tensor] | None = None,
    **names: str,
) -> Unary:
    """Make an elementwise operator of one input; integers become floats.

    `doc` says what one element becomes: "Return `doc`, element by element."  Recorded
    rules call the one `main` operator of a kernel; an operator that is not `main` is an
    additional one. `of_bool` handles booleans if the kernel does not take them.
    `place` is the namespace of the public function, for example "special.".  `names`
    are the names of the methods; see `method`.
    """
    index = KERNEL_INDEX[name]
    spec = TABLE[name]
    general = KernelCall(spec)
    op = Op(name, saves)
    saves_input, saves_output = "a" in saves.split(), "out" in saves.split()
    saves_rounded = op.saves_rounded
    KEPT_WIDE.update({index} if saves_rounded else ())

    def call(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        if out is not None:
            return copy_to_out(name, call(input), out)
        x: Any = input
        try:
            a = x._array
        except AttributeError:
            return of_other_kind(name, x)  # type: ignore[no-any-return]
        state = current()
        selection = state.selection
        dtype = a.dtype
        if saves_rounded and x._edge is not None and dtype in HALVES and state.grad:
            return in_float32(call, (x,))
        kernel = selection.tables[index].get(dtype)
        if kernel is None:
            if dtype.kind == "c":
                return on_complex(general, op, (x,))
            if floats and dtype.kind not in FLOAT_KINDS:
                return call(to_float(x))
            if of_bool is not None and dtype.kind == "b":
                return of_bool(x)
            kernel = general.first(selection, dtype, (a,))
        shape = a.shape
        if len(shape) == 4:
            y = empty_as(selection.empty, shape, dtype, a)
        else:
            y = selection.empty(shape, dtype)
        kernel(y, a)
        edge = x._edge
        if edge is None or not state.grad:
            return make(y, None)
        if saves_input:
            cell = x._version or x._new_version()
            node = Node(op, (edge,), (a,), (cell, cell.count), (shape,), dtype, ())
            return make(y, node)
        if saves_output:
            cell = Version()
            node = Node(op, (edge,), (y,), (cell, 0), (shape,), dtype, ())
            result = make(y, node)
            result._version = cell
            return result
        return make(y, Node(op, (edge,), (), (), (shape,), dtype, ()))

    call = elementwise("tensors", 1, index, op=op, saves=op.saves)(call)
    doc = f"Return {doc}, element by element."
    public = names.get("methods", name).split()[0]
    given = "input floats" if floats else "input"
    doc = documented(place + public, doc, (given,), example)
    made = operator(call, op, doc, main=main)
    return cast("Unary", method(**names)(made))


_OPERANDS = {
    "input": "The tensor x, of any shape.",
    "input floats": "The tensor x, of any shape; integers are converted to floats.",
    "other": "The second operand y, a tensor or a number; shapes are broadcast.",
    "other tensor": "The second operand y, a tensor; shapes are broadcast.",
    "out": "A tensor to write the result into; the result is converted to its dtype.",
}


def documented(
    name: str, doc: str, operands: tuple[str, ...], example: tuple[str, ...]
) -> str:
    """Return the docstring of an elementwise function.

    `example` holds the elements of each operand and those of the result.
    """
    lines = [doc, "", "Parameters", "----------"]
    for operand in (*operands, "out"):
        lines += [operand.split()[0], f"    {_OPERANDS[operand]}"]
    wrong = (
        "`input` is not a tensor" if len(operands) == 1 else "both operands are numbers"
    )
    wrong = "an operand is not a tensor" if "other tensor" in operands else wrong
    lines += ["", "Raises", "------", "DTypeError", f"    If {wrong}."]
    if example:
        given = ", ".join(f"ac.tensor({elements})" for elements in example[:-1])
        lines += ["", "Examples", "--------", ">>> import autocalc as ac"]
        lines += [f">>> ac.{name}({given})", f"tensor({example[-1]})"]
    return "\n".join(lines)


# Keep all of this in one function: each further call would cost 4 % of ``a * b``.
def binary(  # noqa: C901
    name: str,
    doc: str,
    saves: str = "",
    *,
    floats: bool = False,
    numbers: bool = True,
    usual: bool = True,
    main: bool = True,
    example: tuple[str, ...] = (),
    place: str = "",
    mixed: Callable[[Any, Any], Tensor | None] | None = None,
    number_first: bool | None = None,
    number_last: bool | None = None,
    **names: str,
) -> Binary:
    """Make an elementwise operator of two inputs, broadcast and promoted.

    `doc` says what one pair of elements becomes: "Return `doc`, element by element;
    shapes broadcast."  `mixed` sees operands of two dtypes, or a number, before they
    are promoted.  It raises, returns the result, or returns None.  Without `numbers`
    both operands must be tensors.  Without `usual`, `mixed` also sees a number next to
    a floating-point tensor.  `number_first` and `number_last` say that a number before
    or after such a tensor needs no call of `mixed`. `place` and `names` are those of
    `unary`.
    """
    index = KERNEL_INDEX[name]
    spec = TABLE[name]
    general = KernelCall(spec)
    op = Op(name, saves)
    saver = Saves(saves, spec)
    saves_nothing = not saver.places
    saves_other = saves == "a:b b:a"
    saves_rounded = op.saves_rounded
    KEPT_WIDE.update({index} if saves_rounded else ())
    if not numbers:
        mixed, usual = both_tensors(name), False
    if number_first is None:
        number_first = usual and mixed is None
    if number_last is None:
        number_last = usual

    def form(as_operator: bool) -> Callable[..., Any]:  # noqa: C901
        """Make the function or operator; operators leave foreign operands to Python."""

        def call(  # noqa: C901
            input: Operand, other: Operand, *, out: Tensor | None = None
        ) -> Tensor:
            if out is not None:
                return copy_to_out(name, call(input, other), out)
            x: Any = input
            y: Any = other
            try:
                a, b = x._array, y._array
            except AttributeError:
                y = fast_scalar(x, other) if usual else None
                if y is None:
                    if as_operator and is_foreign(other):
                        return NotImplemented  # type: ignore[no-any-return]
                    if KINDS and (own := elsewhere(name, x, other)) is not None:
                        return own(x, other)  # type: ignore[no-any-return]
                    if mixed is not None and (result := mixed(x, other)) is not None:
                        return result
                    if is_beside_half(x, other):
                        return in_float32(call, (x, other))
                    return call(*coerce_pair(name, x, other))
                a, b = x._array, y._array
            state = current()
            selection = state.selection
            dtype = a.dtype
            if b.dtype is not dtype:
                if mixed is not None and (result := mixed(x, y)) is not None:
                    return result
                if dtype in HALVES or b.dtype in HALVES:
                    return in_float32(call, (x, y), promotes=True)
                return call(*promote_pair(x, y))
            if (
                saves_rounded
                and dtype in HALVES
                and state.grad
                and (x._edge or y._edge)
            ):
                return in_float32(call, (x, y))
            kernel = selection.tables[index].get(dtype)
            if kernel is None:
                if dtype.kind == "c":
                    return on_complex(general, op, (x, y))
                if floats and dtype.kind not in FLOAT_KINDS:
                    return call(to_float(x), to_float(y))
                kernel = general.first(selection, dtype, (a, b))
            a_shape, b_shape = a.shape, b.shape
            shape = a_shape
            if a_shape != b_shape:
                shape = broadcast_shapes(name, a_shape, b_shape)
            if len(shape) == 4:
                z = empty_as(selection.empty, shape, dtype, a, b)
            else:
                z = selection.empty(shape, dtype)
            kernel(z, a, b)
            edge_x, edge_y = x._edge, y._edge
            if (edge_x is None and edge_y is None) or not state.grad:
                return make(z, None)
            edges, shapes = (edge_x, edge_y), (a_shape, b_shape)
            if saves_nothing:
                return make(z, Node(op, edges, (), (), shapes, dtype, ()))
            if saves_other:
                saved_a = saved_b = cell_a = cell_b = None
                count_a = count_b = 0
                if edge_y is not None:
                    saved_a, cell_a = a, x._version or x._new_version()
                    count_a = cell_a.count
                if edge_x is not None:
                    saved_b, cell_b = b, y._version or y._new_version()
                    count_b = cell_b.count
                versions = (cell_a, count_a, cell_b, count_b)
                saved = (saved_a, saved_b)
                return make(z, Node(op, edges, saved, versions, shapes, dtype, ()))
            result = make(z, None)
            saved, versions = saver(edges, (result, x, y))
            result._edge = Node(op, edges, saved, versions, shapes, dtype, ())
            return result

        numbers = number_first, number_last
        known: Any = {"op": op, "saves": saver, "numbers": numbers}
        return elementwise("tensors", 2, index, **known)(call)

    doc = f"Return {doc}, element by element; shapes broadcast."
    names["methods"], operators = _apart(names.get("methods", ""))
    public = [*names["methods"].split(), *operators, name][0]
    operands = "input", "other" if numbers else "other tensor"
    doc = documented(place + public, doc, operands, example)
    for one in operators:
        method(one)(operator(form(True), op, doc, main=False))
    return cast("Binary", method(**names)(operator(form(False), op, doc, main=main)))


def _apart(methods: str) -> tuple[str, list[str]]:
    """Split names into those of methods and those of Python operators."""
    words = methods.split()
    operators = [word for word in words if word.startswith("__")]
    return " ".join(word for word in words if word not in operators), operators


# Keep all of this in one function, as in `binary`.
def nary(  # noqa: C901
    name: str, saves: str = "", *, differentiable: bool = True, main: bool = True
) -> Operator:
    """Make the operator of any kernel: ``call(*tensors, *attributes)``.

    An operator that is not `main` is an additional one for a kernel that has an
    operator already.

    Optional outputs are computed if they are saved and a gradient is needed.  For
    kernels of several outputs the operator returns a tuple of those that the spec does
    not mark as optional.
    """
    spec = TABLE[name]
    general = KernelCall(spec)
    op = Op(name, saves)
    saver = Saves(saves, spec)
    n_inputs = len(spec.inputs)
    single = len(spec.outputs) == 1
    kept, saved_outputs = op.kept, saver.outputs
    only = kept[0] if len(kept) == 1 else None
    saves_rounded = op.saves_rounded

    def call(*args: Any) -> Any:
        tensors, attributes = args[:n_inputs], args[n_inputs:]
        operands: list[Any] = []
        edges: list[Any] = []
        shapes: list[Any] = []
        leads_back = None
        for x in tensors:
            if x is None:
                operands.append(None)
                edges.append(None)
                shapes.append(())
                continue
            try:
                a, edge = x._array, x._edge
            except AttributeError:
                raise not_a_tensor(name, x) from None
            operands.append(a)
            edges.append(edge)
            shapes.append(a.shape)
            if edge is not None:
                leads_back = edge
        state = current()
        record = differentiable and leads_back is not None and state.grad
        if record and saves_rounded and half_of(*operands) is not None:
            check_alike(name, args)
            return in_float32(call, args)
        want = saved_outputs if record else 0
        selection = state.selection
        key = want, attributes, selection.key_of(*operands)
        outs = general.run(selection, key, (*operands, *attributes), want)
        if single:
            outs = (outs,)
        if not record:
            if only is not None:
                return make(outs[only], None)
            return tuple([make(outs[i], None) for i in kept])
        results = [None if out is None else make(out, None) for out in outs]
        saved, versions = saver(edges, (*results, *tensors))
        node = Node(
            op_for(op, *outs, *operands),
            tuple(edges),
            saved,
            versions,
            tuple(shapes),
            outs[0].dtype,
            attributes,
        )
        if only is not None:
            result: Any = results[only]
            result._edge = node
            return result
        return _led_to(node, [results[i] for i in kept])

    if single and n_inputs == 1:
        call = _of_one_input(general, op, saver, differentiable)
    counts = n_inputs, len(spec.outputs)
    if not (spec.writes or spec.free):
        call = accelerated(
            "nary", call, general.index, *counts, op, saver, kept, differentiable
        )
    return operator(call, op, main=main)


def _of_one_input(
    general: KernelCall, op: Op, saver: Saves, differentiable: bool
) -> Callable[..., Any]:
    """Make the call of a kernel with one input and one output, such as a softmax."""
    name, index = op.name, general.index
    saves_rounded = differentiable and op.saves_rounded

    def call(x: Any, *attributes: Any) -> Any:
        try:
            a, edge = x._array, x._edge
        except AttributeError:
            raise not_a_tensor(name, x) from None
        state = current()
        if saves_rounded and edge is not None and a.dtype in HALVES and state.grad:
            return in_float32(call, (x, *attributes))
        selection = state.selection
        key = 0, attributes, selection.key_of(a)
        plan = selection.tables[index].get(key)
        if plan is None or plan[3] is not None or plan[0].__class__ is Decomposed:
            out = general.run(selection, key, (a, *attributes), 0)
        else:  # inlined from `run`
            out = selection.empty(*plan[1][0])
            plan[0](out, a, *attributes, *plan[2])
        if edge is None or not (differentiable and state.grad):
            return make(out, None)
        result: Any = make(out, None)
        saved, versions = saver((edge,), (result, x))
        is_real = a.dtype.kind != "c" and out.dtype.kind != "c"
        result._edge = Node(
            op if is_real else op.over_complex,
            (edge,),
            saved,
            versions,
            (a.shape,),
            out.dtype,
            attributes,
        )
        return result

    return call


def multi(name: str, saves: str = "", *, main: bool = True) -> MultiOperator:
    """Make the operator of a kernel that returns several outputs to users."""
    return cast("MultiOperator", nary(name, saves, main=main))


def _led_to(node: Node, results: list[Any]) -> tuple[Any, ...]:
    """Set the edges of floating-point results to the outputs of their common node."""
    for slot, result in enumerate(results):
        if result._array.dtype.kind in FLOAT_KINDS:
            result._edge = Output(node, slot)
    return tuple(results)


def view_operator(name: str) -> Callable[[Callable[..., Any]], Operator]:
    """Make an operator that returns a view: ``function(array, *attributes)``."""
    op = Op(name)
    op.is_view = True

    def decorate(function: Callable[..., Any]) -> Operator:
        op.function = function

        def call(x: Tensor, *attributes: Any) -> Tensor:
            return view_of(x, function(x._array, *attributes), op, attributes)

        return operator(call, op, function.__doc__ or "")

    return decorate

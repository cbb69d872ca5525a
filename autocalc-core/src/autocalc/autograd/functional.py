# SPDX-License-Identifier: MIT
"""Derivatives of functions: Jacobians, Hessians and their products with vectors.

Functions take one tensor or a tuple of them, and return one or a tuple.  What comes
back has the same form.  The products of `jvp` are derivatives of backward passes, which
are linear in their cotangents; `jacobian` has a strategy of forward mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext as _nullcontext
from typing import Any, TypeAlias

from autocalc._graph._grad_mode import enable_grad
from autocalc._ops.arranging.joining import stack
from autocalc._ops.creation.constants import eye, zeros
from autocalc._ops.creation.like import ones_like, zeros_like
from autocalc._ops.views.duals import paired as _paired
from autocalc._ops.views.duals import primal_of as _primal_of
from autocalc._ops.views.duals import tangent_of as _tangent_of
from autocalc._ops.views.levels import hide as _hide
from autocalc._ops.views.levels import show as _show
from autocalc._ops.views.view import clone, reshape
from autocalc._tensor import Tensor
from autocalc._tensor import checks as _checks
from autocalc._tensor.device import place_of_tensor as _place_of_tensor
from autocalc.autograd._gradients import grad
from autocalc.autograd._gradients import tensors_of as _tensors_of
from autocalc.autograd._levels import entered as _entered
from autocalc.autograd._levels import entered_dual as _entered_dual
from autocalc.autograd._unit_vectors import in_blocks as _in_blocks
from autocalc.autograd._unit_vectors import unit_vectors as _unit_vectors
from autocalc.errors import ArgumentError, DTypeError, GradError, ShapeError

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors: TypeAlias = Tensor | tuple[Tensor, ...]
Function: TypeAlias = Callable[..., Any]


def vjp(
    func: Function,
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensors, Tensors]:
    """Return ``func(*inputs)`` and v^T J, where J is the Jacobian.

    Parameters
    ----------
    func
        The function to differentiate. It takes the inputs and returns a tensor or a
        tuple of tensors.
    inputs
        The point at which the derivative is taken: a tensor or a tuple of tensors.
    v
        The vector v: tensors with the shapes of the outputs. It may be None for a
        single output of one element.
    create_graph
        True to record the result, for higher derivatives.
    strict
        True to raise an error if an output does not depend on an input, instead of
        returning zeros.

    Returns
    -------
    outputs, product
        The outputs of `func`, and the product, which has the structure and shapes of
        the inputs.

    Raises
    ------
    GradError
        If `strict` is True and an output does not depend on an input.
    ShapeError
        If the shape of `v` does not fit.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([1.0, 2.0])
    >>> ac.autograd.functional.vjp(lambda x: x * x, x, ac.ones(2))[1]
    tensor([2., 4.])
    """
    if create_graph.__class__ is not _checks.FLAG:
        _checks.check_flag("vjp", "create_graph", create_graph)
    if strict.__class__ is not _checks.FLAG:
        _checks.check_flag("vjp", "strict", strict)
    call = _Call("vjp", func, inputs, create_graph, strict)
    cotangents = call.vectors(v, call.outputs)
    found = call.gradients(call.outputs, cotangents, create_graph)
    return call.result(), call.given(found, call.single_input)


def jvp(
    func: Function,
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensors, Tensors]:
    """Return ``func(*inputs)`` and J v, where J is the Jacobian.

    Parameters
    ----------
    func, inputs, create_graph, strict
        The same as in `vjp`.
    v
        The vector v: tensors with the shapes of the inputs. It may be None for a single
        input of one element.

    Returns
    -------
    outputs, product
        The outputs of `func`, and the product, which has the structure and shapes of
        the outputs.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, v = ac.tensor([1.0, 2.0]), ac.tensor([1.0, 0.0])
    >>> ac.autograd.functional.jvp(lambda x: x * x.sum(), x, v)
    (tensor([3., 6.]), tensor([4., 2.]))
    """
    if create_graph.__class__ is not _checks.FLAG:
        _checks.check_flag("jvp", "create_graph", create_graph)
    if strict.__class__ is not _checks.FLAG:
        _checks.check_flag("jvp", "strict", strict)
    call = _Call("jvp", func, inputs, create_graph, strict)
    tangents = call.vectors(v, call.inputs)
    products = call.products(call.linear(), tangents, create_graph)
    return call.result(), call.given(products, call.single_output)


def jacobian(
    func: Function,
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return the Jacobian: the derivatives of `func` with respect to its inputs.

    The shape is that of the output followed by that of the input.

    Parameters
    ----------
    func, inputs, create_graph, strict
        The same as in `vjp`.
    vectorize
        True to compute all rows or columns in one pass, as `vmap` does. False takes one
        pass for each, and less memory.
    strategy
        "reverse-mode" computes one row for each element of the outputs by backward
        passes. "forward-mode" computes one column for each element of the inputs in
        forward mode; it needs `vectorize`.

    Returns
    -------
    Tensor or tuple
        A tensor for one output and one input, a tuple of tensors for several inputs,
        and a tuple of these for several outputs.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.autograd.functional.jacobian(lambda x: x * x, ac.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    _checks.check_flags(
        "jacobian", create_graph=create_graph, strict=strict, vectorize=vectorize
    )
    form = _Form("jacobian", "strategy", strategy, vectorize, strict)
    return _jacobian("jacobian", func, inputs, create_graph, strict, form)


class _Form:
    """How a Jacobian is computed: by rows or columns, one by one or all at once."""

    def __init__(
        self, where: str, name: str, strategy: Any, vectorize: bool, strict: bool
    ) -> None:
        if strategy not in ("reverse-mode", "forward-mode"):
            raise ArgumentError(
                f"{where}: `{name}`={strategy!r}; Expected strategy to be either "
                f"'forward-mode' or 'reverse-mode'."
            )
        self.forward = strategy == "forward-mode"
        self.vectorize = vectorize
        if self.forward and not vectorize:
            raise ArgumentError(
                f"{where}: `{name}`='forward-mode' needs vectorize=True: columns are "
                f"computed all at once."
            )
        if strict and vectorize:
            raise GradError(
                f"{where}: strict=True and vectorize=True are not supported together. "
                f"Please either set strict=False or vectorize=False."
            )


def _jacobian(
    where: str,
    func: Function,
    inputs: Tensors,
    create_graph: bool,
    strict: bool,
    form: _Form,
) -> Any:
    with enable_grad() if create_graph else _nullcontext():
        if form.forward:
            columns = _Columns(where, func, inputs, create_graph, strict)
            blocks = columns.blocks()
            return blocks[0] if columns.single_output else blocks
    call = _Call(where, func, inputs, create_graph, strict)
    with enable_grad() if create_graph else _nullcontext():
        rows = tuple(
            call.jacobian_of(k, create_graph, form.vectorize)
            for k in range(len(call.outputs))
        )
    return rows[0] if call.single_output else rows


def hessian(
    func: Function,
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the second derivatives of a function with a single output element.

    Parameters
    ----------
    func
        The function, which returns a tensor of one element.
    inputs, create_graph, strict
        The same as in `vjp`.
    vectorize
        True to compute all rows in one pass, as `vmap` does.
    outer_jacobian_strategy
        The `strategy` of `jacobian` for the second derivative.

    Returns
    -------
    Tensor or tuple
        For one input, a tensor whose shape is the shape of the input followed by the
        same shape; for several inputs, a tuple of tuples of tensors.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([1.0, 2.0])
    >>> ac.autograd.functional.hessian(lambda x: (x * x * x).sum(), x)
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    _checks.check_flags(
        "hessian", create_graph=create_graph, strict=strict, vectorize=vectorize
    )
    name = "outer_jacobian_strategy"
    form = _Form("hessian", name, outer_jacobian_strategy, vectorize, strict)
    single = isinstance(inputs, Tensor)

    def gradient(*args: Tensor) -> Tensors:
        call = _Call("hessian", func, args, True, strict)
        found = call.gradients([call.of_one_element()], [None], True, _STEEP, _STEEP)
        return call.given(found, single)

    return _jacobian("hessian", gradient, inputs, create_graph, strict, form)


def vhp(
    func: Function,
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, Tensors]:
    """Return ``func(*inputs)`` and v^T H, where H is the Hessian.

    `func` returns a tensor of one element.  There are two backward passes, regardless
    of the number of inputs.

    Parameters
    ----------
    func, inputs, create_graph, strict
        The same as in `vjp`.
    v
        The vector v: tensors of the inputs' shapes. It may be None for a single input
        of one element.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([1.0, 2.0])
    >>> ac.autograd.functional.vhp(lambda x: (x * x * x).sum(), x, ac.ones(2))[1]
    tensor([ 6., 12.])
    """
    if create_graph.__class__ is not _checks.FLAG:
        _checks.check_flag("vhp", "create_graph", create_graph)
    if strict.__class__ is not _checks.FLAG:
        _checks.check_flag("vhp", "strict", strict)
    return _product_with_hessian("vhp", func, inputs, v, create_graph, strict)


def _product_with_hessian(
    where: str,
    func: Function,
    inputs: Tensors,
    v: Any,
    create_graph: bool,
    strict: bool,
) -> tuple[Tensor, Tensors]:
    """Return ``func(*inputs)`` and the product of the Hessian with `v`."""
    call = _Call(where, func, inputs, create_graph, strict)
    vectors = call.vectors(v, call.inputs)
    with enable_grad():
        first = call.gradients([call.of_one_element()], [None], True, flat=_STEEP)
    found = call.gradients(first, vectors, create_graph, none=_FLAT)
    result: Any = call.result()
    return result, call.given(found, call.single_input)


def hvp(
    func: Function,
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, Tensors]:
    """Return ``func(*inputs)`` and H v, where H is the Hessian.

    H is symmetric, so H v is computed as `vhp` computes v^T H.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([1.0, 2.0])
    >>> ac.autograd.functional.hvp(lambda x: (x * x * x).sum(), x, ac.ones(2))[1]
    tensor([ 6., 12.])
    """
    if create_graph.__class__ is not _checks.FLAG:
        _checks.check_flag("hvp", "create_graph", create_graph)
    if strict.__class__ is not _checks.FLAG:
        _checks.check_flag("hvp", "strict", strict)
    return _product_with_hessian("hvp", func, inputs, v, create_graph, strict)


def _units(x: Tensor) -> Tensor:
    """Return the rows of an identity matrix, one for each element of `x`."""
    if not x.numel():
        return zeros(0, 0)
    return eye(x.numel(), dtype=x.dtype, device=_place_of_tensor(x))


#: The errors of strict=True, with a place for the number of an input.
_NONE = "The output of the user-provided function is independent of input {}"
_FLAT = "The jacobian of the user-provided function is independent of input {}"
_STEEP = (
    "The jacobian of the user-provided function with respect to input {} is "
    "independent of the inputs"
)
_ZEROS = "strict=False returns zeros instead."


class _Call:
    """One function at one point, its inputs apart from the graph that led there."""

    def __init__(
        self, where: str, func: Any, inputs: Any, create_graph: bool, strict: bool
    ) -> None:
        self.where, self.strict, self.create_graph = where, strict, create_graph
        _checks.require(where, "func", func, callable(func), "a function of tensors")
        self.single_input = isinstance(inputs, Tensor)
        if not self.single_input:
            inputs = _checks.sequence(where, "inputs", inputs)
        with enable_grad():
            self.inputs = [
                self._apart(i, x)
                for i, x in enumerate([inputs] if self.single_input else inputs)
            ]
            outputs = self._run(func)
        self.single_output = isinstance(outputs, Tensor)
        if self.single_output:
            outputs = [outputs]
        self.outputs: list[Tensor] = _checks.sequence(where, "func(...)", outputs)
        for i, y in enumerate(self.outputs):
            self._check_tensor(f"output {i}", y)
            if strict and not y.requires_grad:
                raise GradError(
                    f"{where}: Output {i} of the user-provided function does not "
                    f"require gradients. The output has shape {y.shape} and does not "
                    "depend on an input."
                )

    def _run(self, func: Any) -> Any:
        """Return what the function returns."""
        return func(*self.inputs)

    def _check_tensor(self, what: str, x: Any) -> None:
        if not isinstance(x, Tensor) or not x.dtype.is_differentiable:
            given = x.dtype.name if isinstance(x, Tensor) else type(x).__name__
            kind = "inputs" if what.startswith("`inputs") else "outputs"
            kind += "" if kind == "inputs" else " of the user-provided function"
            kind = f"The {kind} given to {self.where}"
            raise DTypeError(
                f"{self.where}: {what} is {given}; {kind} must be either a Tensor of "
                f"float32 or float64 or a tuple of such Tensors."
            )

    def _apart(self, i: int, x: Any) -> Tensor:
        """Return a tensor of the same values that only this call has."""
        self._check_tensor(f"`inputs[{i}]`", x)
        if self.create_graph and x.requires_grad:
            return clone(x)
        result: Tensor = x.detach().requires_grad_()
        return result

    def of_one_element(self) -> Tensor:
        """Return the only output, which must have one element."""
        if not self.single_output or self.outputs[0].numel() != 1:
            given = ", ".join(str(y._array.shape) for y in self.outputs)
            what = (
                f"The Tensor returned by the function given to {self.where} should "
                "contain a single element"
                if self.single_output
                else f"The function given to {self.where} should return a single Tensor"
            )
            raise ShapeError(f"{self.where}: {what}; the shapes are {given}.")
        return self.outputs[0]

    def vectors(self, v: Any, like: list[Tensor]) -> list[Tensor]:
        """Return the vectors to multiply by, checked; ones for one element."""
        if v is None:
            if len(like) != 1 or like[0].numel() != 1:
                shapes = ", ".join(str(x._array.shape) for x in like)
                returns = "user-provided function returns"
                whose = returns if self.where == "vjp" else "input is"
                raise ShapeError(
                    f"{self.where}: The vector v can only be None if the {whose} a "
                    f"single Tensor of one element, but the shapes are {shapes}."
                )
            return [ones_like(like[0])]
        parts = v if isinstance(v, (list, tuple)) else (v,)
        if not all(isinstance(x, Tensor) for x in parts):
            raise DTypeError(
                f"{self.where}: The v given to {self.where} must be either a Tensor or "
                "a tuple of Tensors."
            )
        given = _tensors_of(self.where, "v", v)
        have, need = [x.shape for x in given], [x.shape for x in like]
        if have != need:
            what = "v has invalid size: should be"
            if len(need) == 1 != len(have):
                what = "The given v should contain a single Tensor."
            needed, got = (", ".join(map(str, shapes)) for shapes in (need, have))
            raise ShapeError(f"{self.where}: {what} {needed} but got {got}.")
        return given

    def gradients(
        self,
        outputs: Sequence[Tensor],
        seeds: Sequence[Any],
        create_graph: bool,
        none: str = _NONE,
        flat: str = _FLAT,
    ) -> list[Tensor]:
        """Return the gradients of all inputs; zeros where there is none.

        If `strict`, a missing gradient is the error `none`, and one that does not
        depend on the inputs, though it is recorded, the error `flat`.
        """
        able = [(y, g) for y, g in zip(outputs, seeds, strict=True) if y.requires_grad]
        found: Sequence[Tensor | None] = [None] * len(self.inputs)
        if able:
            ys, gs = [y for y, _ in able], [g for _, g in able]
            found = grad(ys, self.inputs, gs, True, create_graph, allow_unused=True)
        for i, g in enumerate(found):
            if self.strict and create_graph and g is not None and not g.requires_grad:
                raise GradError(f"{self.where}: {flat.format(i)}. {_ZEROS}")
        return self.filled(found, self.inputs, none)

    def filled(
        self, found: Sequence[Tensor | None], like: list[Tensor], none: str
    ) -> list[Tensor]:
        """Return the found gradients, zeros for None; an error if `strict`."""
        for i, g in enumerate(found):
            if g is None and self.strict:
                raise GradError(f"{self.where}: {none.format(i)}. {_ZEROS}")
        return [zeros_like(x) if g is None else g
                for g, x in zip(found, like, strict=True)]  # fmt: skip

    def linear(self) -> tuple[list[Tensor], list[Tensor]]:
        """Return cotangents of the outputs, and the gradients that depend on them.

        The gradients are linear in the cotangents.
        """
        with enable_grad():
            seeds = [zeros_like(y).requires_grad_() for y in self.outputs]
            return seeds, self.gradients(self.outputs, seeds, True)

    def products(
        self, linear: Any, tangents: Sequence[Tensor], create_graph: bool
    ) -> list[Tensor]:
        """Return the products of the Jacobian with a direction."""
        seeds, backward = linear
        pairs = [(g, t) for g, t in zip(backward, tangents, strict=True)
                 if g.requires_grad]  # fmt: skip
        found: Sequence[Tensor | None] = [None] * len(seeds)
        if pairs:
            found = grad([g for g, _ in pairs], seeds, [t for _, t in pairs], True,
                         create_graph, allow_unused=True)  # fmt: skip
        none = "Output {} of the user-provided function is independent of the inputs"
        return self.filled(found, self.outputs, none)

    def jacobian_of(self, k: int, create_graph: bool, vectorize: bool) -> Tensors:
        """Return d y / d input for output k and every input.

        There is a pass for each element of the output, or one for all.
        """
        y, words = self.outputs[k], _NONE.replace("The output", f"Output {k}")
        if self.where == "hessian":
            words = _STEEP
        units = _units(y)
        if not y.numel():
            blocks = [
                zeros(*y.shape, *x.shape, dtype=y.dtype, device=_place_of_tensor(y))
                for x in self.inputs
            ]
            return self.given(blocks, self.single_input)
        rows: Any
        if vectorize:
            with _entered(y.numel()) as level:
                seed = _hide(reshape(units, (y.numel(), *y.shape)), level, 0)
                found = self.gradients([y], [seed], create_graph, words)
                rows = [_show(g, level, 0) for g in found]
        else:
            passes = [
                self.gradients([y], [reshape(units[i], y.shape)], create_graph, words)
                for i in range(y.numel())
            ]
            rows = [stack(one) for one in zip(*passes, strict=True)]
        blocks = [
            reshape(row, (*y.shape, *x.shape))
            for row, x in zip(rows, self.inputs, strict=True)
        ]
        return self.given(blocks, self.single_input)

    def given(self, tensors: Sequence[Tensor], single: bool) -> Tensors:
        """Return tensors in the form that the caller uses."""
        kept = tensors if self.create_graph else [t.detach() for t in tensors]
        return kept[0] if single else tuple(kept)

    def result(self) -> Tensors:
        """Return the outputs."""
        return self.given(self.outputs, self.single_output)


class _Columns(_Call):
    """A function at one point, with tangents along all unit vectors."""

    def _run(self, func: Any) -> Any:
        count = sum(x.numel() for x in self.inputs)
        with _entered(count) as lanes, _entered_dual() as level:
            duals = [
                _paired(x, _hide(t, lanes, 0), level)
                for x, t in zip(
                    self.inputs, _unit_vectors(self.inputs, 0, count), strict=True
                )
            ]
            outputs = func(*duals)
            single = isinstance(outputs, Tensor)
            given = [outputs] if single else outputs
            given = _checks.sequence(self.where, "func(...)", given)
            for i, y in enumerate(given):
                self._check_tensor(f"output {i}", y)
            self._tangents = [
                None if t is None else _show(t, lanes, 0)
                for t in [_tangent_of(y, level) for y in given]
            ]
            primals = tuple(_primal_of(y, level) for y in given)
        return primals[0] if single else primals

    def blocks(self) -> tuple[Tensors, ...]:
        """Return the Jacobian of each output."""
        count = sum(x.numel() for x in self.inputs)
        found = []
        for y, t in zip(self.outputs, self._tangents, strict=True):
            columns = zeros(count, *y.shape, dtype=y.dtype) if t is None else t
            blocks = _in_blocks(columns, y, self.inputs)
            found.append(self.given(blocks, self.single_input))
        return tuple(found)

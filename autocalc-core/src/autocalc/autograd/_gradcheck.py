# SPDX-License-Identifier: MIT
"""Gradients against central differences, to first and second order, in float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from autocalc._dispatch._callers import warn
from autocalc._dispatch.selection.arrays import arrays
from autocalc._ops.arranging.joining import stack
from autocalc._tensor import Tensor
from autocalc._tensor.checks import number, require, short
from autocalc.autograd._gradcheck_modes import (
    check_all,
    check_modes,
    direction,
    index_of,
    mismatch,
    of_values,
    same,
)
from autocalc.autograd._gradcheck_pairs import in_pairs
from autocalc.autograd._gradcheck_tensors import (
    leaf_like,
    leaf_of,
    outputs_of,
    random_like,
    values_of,
)
from autocalc.autograd._gradients import grad
from autocalc.errors import ArgumentError, AutocalcWarning, GradError

Array = Any  # of NumPy


class GradcheckError(GradError):
    """An analytical gradient differs from the numerical one.

    Examples
    --------
    >>> import autocalc as ac
    >>> class Wrong(ac.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * x
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         return g
    >>> x = ac.tensor([2.0], dtype=ac.float64, requires_grad=True)
    >>> try:
    ...     ac.autograd.gradcheck(Wrong.apply, x)
    ... except ac.autograd.GradcheckError:
    ...     print("the gradient is wrong")
    the gradient is wrong
    """


@dataclass(frozen=True)
class _Tolerance:
    eps: float
    atol: float
    rtol: float

    @classmethod
    def of(cls, where: str, func: Any, **limits: Any) -> _Tolerance:
        """Return the limits as numbers; raise also if nothing can be called."""
        require(where, "func", func, callable(func), "a function")
        return cls(**{name: number(where, name, n) for name, n in limits.items()})


def _arguments(where: str, name: str, given: Any) -> list[Any]:
    """Return one tensor, or a list or tuple of arguments, as a list."""
    if isinstance(given, (list, tuple)):
        return list(given)
    if isinstance(given, Tensor):
        return [given]
    message = f"{where}: `{name}` is {short(given)}; give a tensor, or a tuple of them."
    raise ArgumentError(message)


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
    where: str = "gradcheck",
) -> bool:
    """Compare the gradients of `func` with central differences.

    Every element of every input that requires a gradient is changed by +eps and -eps.
    For every element of every output, one backward pass computes the gradient.

    Parameters
    ----------
    func
        The function to check. It takes `inputs` and returns a tensor or a sequence of
        tensors.
    inputs
        Tensors of float64, or other arguments of `func`.  Keep the tensors small, and
        away from points where `func` is not differentiable.
    eps
        The step of the central differences.
    atol, rtol
        The tolerances: a gradient is correct if
        ``abs(analytical - numerical) <= atol + rtol * abs(numerical)``.
    raise_exception
        False to return False instead of raising an error.
    nondet_tol
        The largest allowed difference between two backward passes over one graph.
    check_undefined_grad
        True to also check backward passes that start from one of several outputs; the
        gradients of the others are then zeros.
    check_grad_dtypes
        It has no effect: the dtype of a gradient is always checked.
    check_batched_grad
        True to also compare batched gradients (`is_grads_batched` of `grad`) with
        single ones.
    check_forward_ad
        True to also compare tangents of forward mode with the differences.
    check_batched_forward_grad
        True to also compare a batch of tangents with single ones.
    check_backward_ad
        False to check forward mode only.
    masked
        It has no effect: of sparse inputs, only the values that they store are changed.
    fast_mode
        True to check the gradient along one random direction only, instead of for each
        element.
    where
        The name of this check in error messages.

    Returns
    -------
    bool
        True if all gradients are correct.

    Raises
    ------
    GradcheckError
        If a gradient is wrong; the message names the output, the input, the element,
        and both values.
    DTypeError
        If an input that requires a gradient is not of float64.
    ArgumentError
        If `func` is not a function, `inputs` is neither a tensor nor a tuple, or the
        flags request no mode, or a check without its mode.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([0.5, 1.5], dtype=ac.float64, requires_grad=True)
    >>> ac.autograd.gradcheck(lambda x: (x * x).sum(), x)
    True
    """
    check_all(
        where,
        raise_exception=raise_exception,
        masked=masked or False,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        fast_mode=fast_mode,
    )
    check_modes(
        where,
        check_batched_grad=check_batched_grad,
        check_batched_forward_grad=check_batched_forward_grad,
        check_forward_ad=check_forward_ad,
        check_backward_ad=check_backward_ad,
    )
    func, given = of_values(func, _arguments(where, "inputs", inputs))
    func, given = in_pairs(func, given)
    tolerance = _Tolerance.of(where, func, eps=eps, atol=atol, rtol=rtol)
    allowed = number(where, "nondet_tol", nondet_tol)
    checked = _checked_inputs(where, given)
    check = _Check(where, func, given, checked, tolerance)
    try:
        if check_forward_ad:
            from autocalc.autograd import _gradcheck_forward as forward

            forward.compare_forward(check, outputs_of, fast_mode)
            if check_batched_forward_grad:
                forward.compare_batches(check, outputs_of)
        if check_backward_ad:
            check.along_a_direction() if fast_mode else check.jacobians()
            check.repeated_walk(allowed)
            if check_undefined_grad:
                check.undefined_cotangents()
        if check_batched_grad:
            check.batches()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Compare the second derivatives of `func` with central differences.

    Complex inputs and outputs are pairs of real numbers in error messages.

    Parameters
    ----------
    grad_outputs
        The output gradients at which the gradient is differentiated; random ones by
        default.
    gen_non_contig_grad_outputs
        True to use random output gradients that are not contiguous.
    check_undefined_grad
        It has no effect: the first derivative is always taken of all outputs.
    check_fwd_over_rev
        True to also compare tangents of the gradient with differences.
    check_rev_over_rev
        False to check forward mode over reverse mode only.
    func, inputs, eps, atol, rtol, raise_exception, nondet_tol, check_grad_dtypes
        The same as in `gradcheck`.
    check_batched_grad, fast_mode, masked
        The same as in `gradcheck`.

    Returns
    -------
    bool
        True if all second derivatives, with respect to the inputs and the output
        gradients, are correct.

    Raises
    ------
    GradcheckError
        If a gradient is wrong; the message names the output, the input, the element,
        and both values.
    ArgumentError
        If the numbers of output gradients and outputs differ, or a flag requests a mode
        that does not exist.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([0.5, 1.5], dtype=ac.float64, requires_grad=True)
    >>> ac.autograd.gradgradcheck(lambda x: (x * x * x).sum(), x)
    True
    """
    where = "gradgradcheck"
    check_all(
        where,
        gen_non_contig_grad_outputs=gen_non_contig_grad_outputs,
        raise_exception=raise_exception,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        masked=masked,
        check_fwd_over_rev=check_fwd_over_rev,
        check_rev_over_rev=check_rev_over_rev,
        fast_mode=fast_mode,
    )
    func, given = of_values(func, _arguments(where, "inputs", inputs))
    func, given = in_pairs(func, given)
    _Tolerance.of(where, func, eps=eps, atol=atol, rtol=rtol)
    checked = _checked_inputs(where, given)
    outputs = outputs_of(func, given)
    if grad_outputs is None:
        seeds = [
            random_like(y, i, gaps=gen_non_contig_grad_outputs)
            for i, y in enumerate(outputs)
        ]
    else:
        seeds = _arguments(where, "grad_outputs", grad_outputs)
        seeds = in_pairs(None, seeds)[1]
    if len(seeds) != len(outputs):
        raise ArgumentError(
            f"{where}: {len(seeds)} `grad_outputs` for {len(outputs)} outputs; give "
            f"one for each."
        )
    n = len(given)

    def first_derivative(*given: Any) -> list[Tensor]:
        args = list(given)
        for i in checked:  # in forward mode, they have no history
            args[i] = args[i] if args[i].requires_grad else leaf_of(args[i])
        outputs = outputs_of(func, args[:n])
        pairs = [(y, g) for y, g in zip(outputs, args[n:], strict=True)
                 if y.requires_grad]  # fmt: skip
        roots, seeds = [y for y, _ in pairs], [g for _, g in pairs]
        wanted = [args[i] for i in checked]
        found = grad(roots, wanted, seeds, create_graph=True, allow_unused=True)
        return [g for g in found if g is not None]

    return gradcheck(
        first_derivative,
        [*given, *seeds],
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=False,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
        where=where,
    )


class _Check:
    """One function at one point."""

    def __init__(
        self,
        where: str,
        func: Callable[..., Any],
        inputs: list[Any],
        checked: list[int],
        tolerance: _Tolerance,
    ) -> None:
        self.where = where
        self.func = func
        self.inputs = inputs
        self.checked = checked
        self.tolerance = tolerance
        self.outputs = outputs_of(func, inputs)
        if not self.outputs:
            self.fail("the function returned no tensor of floating-point numbers")

    def fail(self, what: str) -> None:
        raise GradcheckError(f"{self.where}: {what}.")

    def jacobians(self) -> None:
        """Compare every element of every Jacobian."""
        for i in self.checked:
            numerical = self.numerical(i)
            for o, y in enumerate(self.outputs):
                self.compare(o, i, self.analytical(y, i), numerical[o])

    def along_a_direction(self) -> None:
        """Compare u^T J v of a random u and v for every output and input."""
        for i in self.checked:
            v = direction(self.inputs[i].shape, i)
            eps = self.tolerance.eps
            high, low = [self.moved(i, step * eps * v) for step in (1, -1)]
            for o, y in enumerate(self.outputs):
                u = direction(y.shape, o + 1)
                slope = float((u * (high[o] - low[o]) / (2 * eps)).sum())
                self.compare_along(o, i, self.slope(y, u, i, v), slope)

    def moved(self, i: int, step: Array) -> list[Array]:
        """Return the outputs at a step of one input."""
        return self.at(i, np.asarray(values_of(self.inputs[i]) + step))

    def at(self, i: int, values: Array) -> list[Array]:
        """Return the outputs for other values of one input, which its memory holds.

        A function may read the tensor by itself, as a module reads its parameters.
        """
        x = self.inputs[i]
        new, inputs = leaf_like(x, values), [*self.inputs]
        if 0 in x._array.strides:  # several elements are one place in memory
            inputs[i] = new
            return [values_of(y) for y in outputs_of(self.func, inputs)]
        kept = x.detach().clone()
        arrays.copy(new._array, into=x._array)
        try:
            return [values_of(y) for y in outputs_of(self.func, inputs)]
        finally:
            arrays.copy(kept._array, into=x._array)

    def slope(self, y: Tensor, u: Array, i: int, v: Array) -> float:
        """Return u^T J v of one output and input by a backward pass."""
        if not y.requires_grad:
            return 0.0
        (g,) = self.walk([y], [leaf_like(None, np.asarray(u, y.dtype.numpy))], [i])
        return 0.0 if g is None else float((g * v).sum())

    def compare_along(self, o: int, i: int, found: float, expected: float) -> None:
        atol, rtol = self.tolerance.atol, self.tolerance.rtol
        both_nan = np.isnan(found) and np.isnan(expected)
        if both_nan or abs(found - expected) <= atol + rtol * abs(expected):
            return
        self.fail(
            f"{mismatch(self.outputs, o, i)}: it is {found:.9g} along a random "
            "direction, "
            f"by differences {expected:.9g}; without `fast_mode` the element is named"
        )

    def numerical(self, i: int) -> list[Array]:
        """Return d output / d inputs[i] for each output, [output, input] flat."""
        x = values_of(self.inputs[i])
        eps = self.tolerance.eps
        result = [np.zeros((y.numel(), x.size)) for y in self.outputs]
        for j in range(x.size):
            ends = []
            for step in (eps, -eps):
                moved = x.copy()
                moved.reshape(-1)[j] += step
                ends.append(self.at(i, moved))
            for jacobian, high, low in zip(result, *ends, strict=True):
                jacobian[:, j] = (high.reshape(-1) - low.reshape(-1)) / (2 * eps)
        return result

    def analytical(self, y: Tensor, i: int) -> Array:
        """Return d y / d inputs[i], [output, input] flat: a pass for each element."""
        x = self.inputs[i]
        result = np.zeros((y.numel(), x.numel()))
        if y.requires_grad:
            for j in range(y.numel()):
                seed = np.zeros(y.shape, y.dtype.numpy)
                seed.reshape(-1)[j] = 1
                (g,) = self.walk([y], [leaf_like(None, seed)], [i])
                result[j] = 0 if g is None else g.reshape(-1)
        return result

    def walk(
        self,
        outputs: Sequence[Tensor],
        seeds: Sequence[Tensor],
        checked: Sequence[int],
        retain_graph: bool = True,
    ) -> list[Array | None]:
        """Return the gradients of the inputs as arrays."""
        inputs = [self.inputs[i] for i in checked]
        found = grad(outputs, inputs, seeds, retain_graph, allow_unused=True)
        for i, x, g in zip(checked, inputs, found, strict=True):
            if g is not None and (g.shape != x.shape or g.dtype is not x.dtype):
                self.fail(
                    f"the gradient of `inputs[{i}]` has shape {g.shape} and dtype "
                    f"{g.dtype.name}, the input {x.shape} and {x.dtype.name}"
                )
        return [None if g is None else values_of(g) for g in found]

    def compare(self, o: int, i: int, analytical: Array, numerical: Array) -> None:
        """Fail with the worst element, if any is beyond the tolerance."""
        atol, rtol = self.tolerance.atol, self.tolerance.rtol
        with np.errstate(invalid="ignore"):
            error = np.abs(analytical - numerical)
            excess = error - (atol + rtol * np.abs(numerical))
        same = (analytical == numerical) | (np.isnan(analytical) & np.isnan(numerical))
        excess = np.where(same, -1.0, np.where(np.isnan(excess), np.inf, excess))
        if excess.size == 0 or excess.max() <= 0:
            return
        row, column = np.unravel_index(int(excess.argmax()), excess.shape)
        out_at = np.unravel_index(row, self.outputs[o].shape)
        in_at = np.unravel_index(column, self.inputs[i].shape)
        self.fail(
            f"{mismatch(self.outputs, o, i)}: the gradient of output {o} at element "
            f"{index_of(out_at)} with respect to "
            f"`inputs[{i}]` at element {index_of(in_at)} is "
            f"{analytical[row, column]:.9g}, by differences "
            f"{numerical[row, column]:.9g}; {int((excess > 0).sum())} of {excess.size} "
            f"elements differ by more than {atol} + {rtol} * |numerical|"
        )

    def repeated_walk(self, allowed: float) -> None:
        """Check that a second pass gives the same, and when the graph is freed."""
        outputs = [y for y in outputs_of(self.func, self.inputs) if y.requires_grad]
        if not outputs:
            return
        seeds = [random_like(y, i).detach() for i, y in enumerate(outputs)]
        kept = self.walk(outputs, seeds, self.checked)
        freed = self.walk(outputs, seeds, self.checked, retain_graph=False)
        for i, a, b in zip(self.checked, kept, freed, strict=True):
            if not same(a, b, atol=allowed):
                self.fail(
                    "Backward is not reentrant: two backward passes over one graph "
                    "gave different gradients of "
                    f"`inputs[{i}]`: the first, with retain_graph=True, changed "
                    f"something, or the gradient is not deterministic"
                )

    def batches(self) -> None:
        """Check that a batch of cotangents gives what each gives, but for rounding."""
        for y in self.outputs:
            if not y.requires_grad:
                continue
            seeds = [random_like(y, i).detach() for i in range(2)]
            inputs = [self.inputs[i] for i in self.checked]
            found = grad(y, inputs, stack(seeds), True, False,
                         allow_unused=True, is_grads_batched=True)  # fmt: skip
            alone = [self.walk([y], [seed], self.checked) for seed in seeds]
            for i, batch, *each in zip(self.checked, found, *alone, strict=True):
                rows = [None, None] if batch is None else values_of(batch)
                rtol = 1e-9 if y._array.dtype == np.float64 else self.tolerance.rtol
                if not all(map(partial(same, rtol=rtol), rows, each)):
                    self.fail(
                        f"a batch of cotangents gives other gradients of "
                        f"`inputs[{i}]` than its members"
                    )

    def undefined_cotangents(self) -> None:
        """Check that an unused output counts as one with cotangent 0."""
        outputs = [y for y in self.outputs if y.requires_grad]
        if len(outputs) < 2:
            return
        for o, y in enumerate(outputs):
            seed = random_like(y, o).detach()
            zeros = [leaf_like(None, np.zeros(z.shape, z.dtype.numpy)) for z in outputs]
            zeros[o] = seed
            alone = self.walk([y], [seed], self.checked)
            padded = self.walk(outputs, zeros, self.checked)
            for i, a, b in zip(self.checked, alone, padded, strict=True):
                if not same(a, b, rtol=1e-12):
                    self.fail(
                        f"the gradient of `inputs[{i}]` from output {o} alone differs "
                        f"from that with zero cotangents for the other outputs"
                    )


def _checked_inputs(where: str, inputs: list[Any]) -> list[int]:
    """Return the places of the inputs that require a gradient."""
    places = []
    for i, x in enumerate(inputs):
        if not isinstance(x, Tensor) or not x.requires_grad:
            continue
        if x._array.dtype != np.float64:
            warn(
                f"{where}: `inputs[{i}]` is {x.dtype.name}; differences of 1e-6 are "
                "lost by its rounding. Use float64.",
                AutocalcWarning,
            )
        places.append(i)
    if not places:
        raise GradError(
            f"{where}: no input requires a gradient; pass tensors made with "
            f"requires_grad=True."
        )
    return places

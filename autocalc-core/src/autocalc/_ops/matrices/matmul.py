# SPDX-License-Identifier: MIT
"""Matrix products and the linear layer."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.engine.eager import accelerate
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.call import KernelCall
from autocalc._dispatch.selection.select import Decomposed
from autocalc._dispatch.selection.state import current
from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._graph._node import Node
from autocalc._kernels.spec import Shape
from autocalc._kernels.table import TABLE
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import refuse_booleans
from autocalc._ops._operator.coerce import not_a_tensor, of_numpy, same_dtype
from autocalc._ops._operator.complex_operators import op_for
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.kinds import KINDS, elsewhere
from autocalc._ops._operator.method import is_foreign, method
from autocalc._ops._operator.out import apply_out
from autocalc._ops._operator.rules import Op, Saves
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import arithmetic
from autocalc._ops.matrices.integer_matmul import integer_product
from autocalc._ops.reductions import reduction
from autocalc._ops.views import view
from autocalc._tensor import Tensor, make
from autocalc.errors import DTypeError, ShapeError

# gemm has the attributes alpha, beta and activation.  Operators use no fused
# activation, because only composites and recorded programs do.
FACTORS = "a:b b:a"


gemm_op = nary("gemm", saves=FACTORS)


@gemm_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Return dA = alpha g B^T and dB = alpha A^T g, summed over broadcast dims."""
    a, b = n.saved
    given: tuple[Any, ...] = n.attributes
    alpha, _, activation = given + DEFAULTS[len(given) :]
    assert activation == "none", "an operator with a fused activation has no rule"
    da = db = dbias = None
    if n.needs(0):
        da = k.sum_to(k.gemm(g, transposed(k, b), None, alpha)[0], n.shapes[0])
    if n.needs(1):
        db = k.sum_to(k.gemm(transposed(k, a), g, None, alpha)[0], n.shapes[1])
    if n.needs(2):
        dbias = k.sum_to(g, n.shapes[2])
    return da, db, dbias


def _is_not_broadcast(n: Any) -> bool:
    a, b, _ = n.shapes
    return bool(a[:-2] == b[:-2]) and not n.needs(2)


gemm_op.op.rounds_once = _is_not_broadcast


DEFAULTS = TABLE["gemm"].defaults


_gemm_call = KernelCall(TABLE["gemm"])


_gemm_index = _gemm_call.index


_save_factors = Saves(FACTORS, TABLE["gemm"])


PLAIN = 1.0, 0.0, "none"  # a plain product


#: The data of an accelerated product; the number of dimensions follows, with 0 for any.
_KNOWN = _gemm_index, gemm_op.op, _save_factors, PLAIN


def product(x: Tensor, y: Tensor) -> Tensor | None:
    """Return ``gemm(x, y, None, *PLAIN)`` on a faster path.

    Return None unless the operands are tensors of one floating-point dtype, each a
    matrix or a batch of matrices.  This saves 2 of 8 us for 17 x 65 by 65 x 33.  Valid
    shapes are cached from the first call on.
    """
    try:
        a, b = x._array, y._array
    except AttributeError:
        return None
    dtype = a.dtype
    if b.dtype is not dtype:
        return None
    state = current()
    selection = state.selection
    key = selection.key_of(a, b)
    plan = selection.tables[_gemm_index].get(key)
    if plan is None:
        if a.ndim < 2 or b.ndim < 2 or dtype.kind in "iu":
            return None
        if a.shape[-1] != b.shape[-2]:
            raise unequal(a.shape, b.shape)
        plan = _gemm_call.planned(selection, key, (a, b, None, *PLAIN))
    kernel, metas, more, _ = plan
    if kernel.__class__ is Decomposed:  # more dimensions than native kernels have
        array = kernel.compute((a, b, None), PLAIN, 1)[0]
    elif more:  # saves building a tuple: 0.2 us
        array = selection.empty(*metas[0])
        kernel(array, None, a, b, None, 1.0, 0.0, "none", 0)
    else:
        array = selection.empty(*metas[0])
        kernel(array, None, a, b, None, *PLAIN)
    out = make(array, None)
    edge_x, edge_y = x._edge, y._edge
    if (edge_x is None and edge_y is None) or not state.grad:
        return out
    edges, shapes = (edge_x, edge_y, None), (a.shape, b.shape, ())
    saved, versions = _save_factors(edges, (None, None, x, y, None))
    op = op_for(gemm_op.op, a)
    out._edge = Node(op, edges, saved, versions, shapes, dtype, PLAIN)
    return out


def check_last(a: Tensor, b: Tensor) -> None:
    """Raise if the last dimensions of two tensors have different sizes."""
    if a.shape[-1] != b.shape[-1]:
        raise ShapeError(
            "inner() the last dimension must match on both input tensors but got "
            f"shapes {[*a.shape]} and {[*b.shape]}."
        )


def check_vectors(a: Any, b: Any) -> None:
    """Raise unless the factors are vectors of one dtype and one size."""
    kinds = [check_tensor("dot", x).dtype.name for x in (a, b)]
    if a.ndim != 1 or b.ndim != 1:
        raise ShapeError(
            f"dot: 1D tensors expected, but got `input` {a.shape} and `tensor` "
            f"{b.shape}; they must have 1 dimension."
        )
    if kinds[0] != kinds[1]:
        raise DTypeError(
            "dot : expected both vectors to have same dtype, but found "
            f"{kinds[0]} and {kinds[1]}. Convert one with .to(...)."
        )
    if a.shape != b.shape:
        raise ShapeError(
            "dot: inconsistent tensor size, expected tensors with the same number of "
            f"elements, but got {a.shape[0]} and {b.shape[0]}."
        )


def _by(shape: Shape) -> str:
    """Return sizes as in 2x3."""
    return "x".join(map(str, shape))


def unequal(shape_a: Shape, shape_b: Shape) -> ShapeError:
    """Make the error for inner dimensions that differ.

    The kernel's own check would raise a similar error, but about operands named a and
    b.
    """
    dim = -2 if len(shape_b) > 1 else 0
    return ShapeError(
        f"matmul: shapes cannot be multiplied ({_by(shape_a)} and {_by(shape_b)}): "
        f"`input`.shape[-1] is {shape_a[-1]}, `other`.shape[{dim}] is {shape_b[dim]}; "
        "they must be equal."
    )


def transposed(k: Any, a: Any) -> Any:
    """Return a view of `a` with its last two dimensions exchanged."""
    axes = list(range(len(k.shape(a))))
    axes[-2:] = axes[-1], axes[-2]
    return k.permute(a, tuple(axes))


@method("matmul", reflected="__rmatmul__")
@autocasts("lower")
@accelerate("product", *_KNOWN, 0)
@traced
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the matrix product; leading dimensions are broadcast as batches.

    A 1-d `input` counts as a row, and a 1-d `other` as a column; the added dimension is
    removed from the result.

    Parameters
    ----------
    input
        A tensor of shape [..., M, K], or a vector of shape [K].
    other
        A tensor of shape [..., K, N], or a vector of shape [K], of the dtype of
        `input`.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ShapeError
        If the inner sizes differ, or an operand is 0-d.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.matmul(ac.tensor([[1.0, 2.0], [3.0, 4.0]]), ac.tensor([1.0, 1.0]))
    tensor([3., 7.])
    """
    result = product(input, other)
    if result is None:
        result = _matmul(input, other)
    return result


@method("__matmul__")
@autocasts("lower")
@accelerate("product", *_KNOWN, 0)
@traced(light=True)
def _matmul_operator(self: Tensor, other: Any) -> Tensor:
    """Return the matrix product; leading dimensions are broadcast as batches."""
    result = product(self, other)
    if result is None:
        if is_foreign(other):
            return NotImplemented  # type: ignore[no-any-return]
        result = _matmul(self, other)
    return result


def _matmul(input: Tensor, other: Tensor) -> Tensor:
    """Return the product of operands that are not yet matrices of one dtype."""
    if KINDS and (own := elsewhere("matmul", input, other)) is not None:
        return own(input, other)  # type: ignore[no-any-return]  # a tensor
    a, b = same_dtype("matmul", of_numpy(input), of_numpy(other))
    result = times_vector(a, b)
    return _with_vectors(a, b) if result is None else result


_times_vector = Op("times_vector")
_times_vector.saves = _save_factors


def _rule(k: Any, n: Any, g: Any) -> Any:
    a, b = n.saved
    matrix, (size,) = n.shapes[:2]
    da = db = None
    if len(matrix) == 1:
        da = k.mul(g, b) if n.needs(0) else None
        db = k.mul(g, a) if n.needs(1) else None
        return da, db, None
    column = k.reshape(g, (matrix[0], 1))
    if n.needs(0):
        da = k.gemm(column, k.reshape(b, (1, size)), None)[0]
    if n.needs(1):
        db = k.reshape(k.gemm(transposed(k, a), column, None)[0], (size,))
    return da, db, None


_times_vector.rule = _rule


def times_vector(x: Any, y: Any, dims: tuple[int, ...] = (1, 2)) -> Tensor | None:
    """Return a vector or a matrix times a vector, without making views.

    Return None for any other operands, or unless they are floats of one dtype that fit.
    Also return None if `x` has a number of dimensions that `dims` does not allow.
    """
    try:
        a, b = x._array, y._array
    except AttributeError:
        own = elsewhere("mv", x, y)
        return None if own is None else own(x, y)
    dtype, shape, sizes = a.dtype, a.shape, b.shape
    if len(sizes) != 1 or len(shape) not in dims or shape[-1:] != sizes:
        return None
    if b.dtype is not dtype or dtype.kind not in FLOAT_KINDS:
        return None
    row = a if len(shape) == 2 else a.reshape(1, -1)
    out = arrays.gemm(row, b.reshape(-1, 1), None, *PLAIN)[0]
    result = make(out.reshape(shape[:-1]), None)
    edges = x._edge, y._edge, None
    if (edges[0] is None and edges[1] is None) or not current().grad:
        return result
    saved, versions = _save_factors(edges, (None, None, x, y, None))
    shapes = shape, sizes, ()
    op = op_for(_times_vector, a)
    result._edge = Node(op, edges, saved, versions, shapes, dtype, ())
    return result


def _with_vectors(a: Tensor, b: Tensor) -> Tensor:
    """Return a product with a 1-d operand: a row on the left, a column on the right."""
    if a.ndim == 0 or b.ndim == 0:
        raise ShapeError(
            f"matmul: shapes {a.shape} and {b.shape}: both operands need at least one "
            f"dimension; use * for scalars."
        )
    row, column = a.ndim == 1, b.ndim == 1
    if a.shape[-1] != b.shape[0 if column else -2]:
        raise unequal(a.shape, b.shape)
    a = view.reshape_op(a, (1, *a.shape)) if row else a
    b = view.reshape_op(b, (*b.shape, 1)) if column else b
    out = product(a, b)
    if out is None:  # both are matrices, so these are integers
        out = integer_product(gemm_op, a, b)
    out = view.squeeze(out, -1) if column else out
    out = view.squeeze(out, -1 if column else -2) if row else out
    return view.detach_from_base(out) if row or column else out


@method("mm")
@autocasts("lower")
@accelerate("product", *_KNOWN, 2)
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the product of two matrices.

    Parameters
    ----------
    input
        A matrix of shape [M, K].
    mat2
        A matrix of shape [K, N].
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ShapeError
        If an operand is not a matrix, or the inner sizes differ.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.mm(ac.tensor([[1.0, 2.0]]), ac.tensor([[3.0], [4.0]]))
    tensor([[11.]])
    """
    if KINDS and (own := elsewhere("mm", input, mat2)) is not None:
        return apply_out("mm", own(input, mat2), out)  # type: ignore[no-any-return]  # a tensor
    a, b = check_tensor("mm", input)._array, check_tensor("mm", mat2)._array
    if a.ndim != 2 or b.ndim != 2:
        raise ShapeError(
            f"mm: Shape mismatch: {input.shape} and {mat2.shape}; both operands must "
            f"be matrices; use matmul for batches."
        )
    result = matmul(input, mat2)
    return result if out is None else apply_out("mm", result, out)


@method("bmm")
@autocasts("lower")
@accelerate("product", *_KNOWN, 3)
def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the products of two batches of matrices.

    Parameters
    ----------
    input
        A tensor of shape [B, M, K].
    mat2
        A tensor of shape [B, K, N].
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ShapeError
        If an operand is not a batch of matrices, or the sizes do not fit.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.bmm(ac.ones(2, 1, 3), ac.ones(2, 3, 1)).shape
    autocalc.Size([2, 1, 1])
    """
    if KINDS and (own := elsewhere("bmm", input, mat2)) is not None:
        return apply_out("bmm", own(input, mat2), out)  # type: ignore[no-any-return]  # a tensor
    a = check_tensor("bmm", input)._array.shape
    b = check_tensor("bmm", mat2)._array.shape
    if len(a) != 3 or len(b) != 3 or a[0] != b[0]:
        raise ShapeError(
            f"bmm: shapes {input.shape} and {mat2.shape}: the operands must be [B, M, "
            "K] and [B, K, N] with the same B; use matmul to broadcast."
        )
    result = matmul(input, mat2)
    return result if out is None else apply_out("bmm", result, out)


linear_op = nary("linear", saves="x:weight weight:x")


@linear_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Return dx = g W, dW = g^T x and db = the sum of g over all rows; one kernel."""
    x, weight = n.saved
    want = n.needs(0) | n.needs(1) << 1 | n.needs(2) << 2
    return k.linear_backward(g, x, weight, want=want)


linear_op.op.rounds_once = lambda n: True


@autocasts("lower")
@traced(light=True)
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x W^T + b, where x is `input`, W is `weight` and b is `bias`.

    Parameters
    ----------
    input
        The inputs x, a tensor of floats or integers of shape [..., in].
    weight
        The matrix W of shape [out, in], of the dtype of `input`.
    bias
        The vector b of shape [out]; None adds nothing.

    Returns
    -------
    Tensor
        A tensor of shape [..., out].

    Raises
    ------
    ShapeError, DTypeError
        If the shapes or dtypes of the operands do not fit together.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, weight = ac.tensor([1.0, 2.0]), ac.tensor([[3.0, 4.0]])
    >>> ac.nn.functional.linear(x, weight, ac.tensor([0.5]))
    tensor([11.5000])
    """
    x: Any = input  # the operator refuses non-tensors
    if isinstance(x, Tensor):
        try:
            kind = x._array.dtype.kind
        except DTypeError:
            own: Any = elsewhere("linear", x)
            return own(x, weight, bias)  # type: ignore[no-any-return]  # a tensor
        if kind in "iu":
            return _linear_of_integers(x, weight, bias)
    elif x is None:  # the operator reads None as left out
        raise not_a_tensor("linear", x)
    return linear_op(input, weight, bias, "none")


def _linear_of_integers(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    same_dtype("linear", x, weight)
    if weight.ndim != 2 or x.ndim == 0 or x.shape[-1] != weight.shape[1]:
        raise ShapeError(
            f"linear: `input` has shape {x.shape}, `weight` {weight.shape}; they must "
            f"be [..., in] and [out, in]."
        )
    out = matmul(x, view.permute_op(weight, (1, 0)))
    if bias is None:
        return out
    same_dtype("linear", x, bias)
    if bias.shape != weight.shape[:1]:
        raise ShapeError(
            f"linear: `bias` has shape {bias.shape} for {weight.shape[0]} outputs; it "
            f"must be ({weight.shape[0]},)."
        )
    return arithmetic.add_op(out, bias)


@traced
@rounded_once
def bilinear(
    input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None
) -> Tensor:
    """Return x1^T W_k x2 + b_k for each output feature k.

    Parameters
    ----------
    input1
        The tensor x1 of shape (..., in1).
    input2
        The tensor x2 of shape (..., in2); its leading dimensions equal those of x1.
    weight
        The matrices W of shape (out, in1, in2).
    bias
        The vector b of shape (out,); None adds nothing.

    Returns
    -------
    Tensor
        A tensor of shape (..., out).

    Raises
    ------
    ShapeError
        If the shapes of the operands do not fit together.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, y = ac.tensor([1.0, 2.0]), ac.tensor([3.0])
    >>> ac.nn.functional.bilinear(x, y, ac.ones(4, 2, 1))
    tensor([9., 9., 9., 9.])
    """
    refuse_booleans("bilinear", check_tensor("bilinear", input1))
    for other in (input2, weight, *(() if bias is None else (bias,))):
        same_dtype("bilinear", input1, other)
    fits = (
        weight.ndim == 3
        and input1.ndim > 0
        and input2.ndim > 0
        and input1.shape[:-1] == input2.shape[:-1]
        and (input1.shape[-1], input2.shape[-1]) == weight.shape[1:]
    )
    if not fits:
        raise ShapeError(
            f"bilinear: the inputs have shapes {input1.shape} and {input2.shape}, and "
            f"`weight` has shape {weight.shape}; they must be (..., in1), (..., in2) "
            "and (out, in1, in2)."
        )
    out, in1, in2 = weight.shape
    # Compute one matrix product with x1, (..., out * in2), then a sum of products with
    # x2.
    flat = view.reshape(view.permute(weight, (0, 2, 1)), (out * in2, in1))
    partial = linear(input1, flat)
    partial = view.reshape(partial, (*input1.shape[:-1], out, in2))
    products = partial * view.unsqueeze(input2, -2)
    result = reduction.sum(products, -1, dtype=input1.dtype)
    return result if bias is None else result + bias

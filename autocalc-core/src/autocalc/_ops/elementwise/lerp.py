# SPDX-License-Identifier: MIT
"""Sums of a tensor and a multiple of others: lerp, addcmul, addcdiv."""

from __future__ import annotations

from autocalc._ops._operator.arguments import Operand, check_older_order, check_tensor
from autocalc._ops._operator.coerce import coerce, same_dtype
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise.arithmetic import add_op, div_op, mul, multiplied, sub_op
from autocalc._ops.elementwise.zero_weights import weigh_op
from autocalc._tensor import Tensor, dtypes
from autocalc.errors import DTypeError


def _one_float(where: str, *tensors: Tensor) -> None:
    """Raise unless all are tensors of one floating-point dtype."""
    names = [check_tensor(where, x).dtype.name for x in tensors]
    if len(set(names)) > 1 or not tensors[0].dtype.is_differentiable:
        raise DTypeError(
            f"{where}: the tensors are {', '.join(names)}; they must all be float32 or "
            f"all float64. Convert them with .to(...)."
        )


@method("lerp", inplace="lerp_")
@traced
@rounded_once
def lerp(
    input: Tensor, end: Tensor, weight: Operand, *, out: Tensor | None = None
) -> Tensor:
    """Return input + weight * (end - input), the linear interpolation.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    end
        The tensor that is returned where the weight is 1.
    weight
        The weight of `end`, a number or a tensor; shapes are broadcast.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    DTypeError
        If the tensors do not have the same floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.lerp(ac.tensor([0.0, 10.0]), ac.tensor([1.0, 20.0]), 0.5)
    tensor([ 0.5000, 15.0000])
    """
    if isinstance(weight, Tensor) and not weight.ndim:
        input, end, weight = coerce("lerp", *same_dtype("lerp", input, end), weight)
    shares = [weight] if isinstance(weight, Tensor) else []
    _one_float("lerp", input, end, *shares)
    way = sub_op(end, input)
    return add_op(input, weigh_op(weight, way))


@method("addcmul", inplace="addcmul_")
@traced(light=True)
@rounded_once(promotes=True)
def addcmul(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    tensor: Tensor | None = None,
    *,
    value: float = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Return input + value * tensor1 * tensor2.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    tensor1
        The first factor.
    tensor2
        The second factor.
    tensor
        The second factor in PyTorch's older order of arguments,
        ``addcmul(input, value, tensor1, tensor)``.
    value
        The number by which the product is multiplied.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    DTypeError
        If a factor is not a tensor, or all operands are boolean.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.addcmul(ac.tensor([1.0, 1.0]), ac.tensor([2.0, 3.0]), ac.tensor([4.0, 5.0]))
    tensor([ 9., 16.])
    """
    if tensor is not None:
        check_older_order("addcmul", "value", tensor1, tensor)
        value, tensor1, tensor2 = tensor1, tensor2, tensor  # type: ignore[assignment]  # a number
    product = mul(check_tensor("addcmul", tensor1), check_tensor("addcmul", tensor2))
    if check_tensor("addcmul", input).dtype is product.dtype is dtypes.bool_:
        raise DTypeError("addcmul: the tensors are boolean; convert them with .long().")
    if value != 1:
        product = multiplied("addcmul", input, product, value)
    return add_op(input, product)


@method("addcdiv", inplace="addcdiv_")
@traced
@rounded_once(promotes=True)
def addcdiv(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    tensor: Tensor | None = None,
    *,
    value: float = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Return input + value * tensor1 / tensor2.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    tensor1
        The tensor of dividends.
    tensor2
        The tensor of divisors.
    tensor
        The divisor in PyTorch's older order of arguments,
        ``addcdiv(input, value, tensor1, tensor)``.
    value
        The number by which the quotient is multiplied.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    DTypeError
        If dividend and divisor both hold integers, or an operand is not a tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.addcdiv(ac.tensor([1.0, 1.0]), ac.tensor([2.0, 3.0]), ac.tensor([4.0, 6.0]))
    tensor([1.5000, 1.5000])
    """
    if tensor is not None:
        check_older_order("addcdiv", "value", tensor1, tensor)
        value, tensor1, tensor2 = tensor1, tensor2, tensor  # type: ignore[assignment]  # a number
    check_tensor("addcdiv", input)
    both = check_tensor("addcdiv", tensor1), check_tensor("addcdiv", tensor2)
    if not any(x.dtype.is_differentiable for x in both):
        raise DTypeError(
            "Integer division with addcdiv is no longer supported: it would divide "
            f"{tensor1.dtype.name} by {tensor2.dtype.name}. Convert one of them with "
            ".float(), or use floor_divide."
        )
    quotient = div_op(tensor1, tensor2)
    if value != 1:
        quotient = mul(quotient, value)
    return add_op(input, quotient)

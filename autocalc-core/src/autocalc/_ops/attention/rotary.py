# SPDX-License-Identifier: MIT
"""Rotary position embedding."""

from __future__ import annotations

from typing import Any

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.factories import nary
from autocalc._tensor import Tensor
from autocalc.errors import GradError

# The inputs are x, cos and sin.  The tables have no gradient here.
rotary_op = nary("rotary", saves="cos:x sin:x")


@rotary_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    cos, sin = n.saved
    return k.rotary(g, cos, sin, not n.attributes[0]), None, None


_NAME = "rotary_embedding"


def rotary_embedding(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Return queries or keys rotated by angles that depend on their positions.

    Su et al.: RoFormer (2021), equation 34.  The features have the order of LLaMA and
    GPT-NeoX: with the halves l and r of the features, the result is
    ``(l * cos - r * sin, r * cos + l * sin)``.  The product of a rotated query and a
    rotated key depends only on the distance between their positions.  One kernel
    computes the result.  The backward pass rotates the gradient by the opposite angles.

    Parameters
    ----------
    x
        A tensor of shape ``[B, S, H, D]``: batch, positions, heads and an even number
        of features.
    cos, sin
        Tensors of shape ``[S, D/2]``, of the dtype of `x`: for position p and pair i,
        the cosine and the sine of the angle ``p * base**(-2 * i / D)``, where base is
        usually 10,000.

    Returns
    -------
    Tensor
        A tensor of shape ``[B, S, H, D]``.

    Raises
    ------
    ShapeError
        If the shapes of the operands do not fit together.
    GradError
        If `cos` or `sin` requires a gradient: both tables are constants.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[[[1.0, 2.0, 3.0, 4.0]]]])
    >>> quarter = ac.zeros(1, 2), ac.ones(1, 2)  # cosine and sine of a quarter turn
    >>> ac.nn.functional.rotary_embedding(x, *quarter)
    tensor([[[[-3., -4.,  1.,  2.]]]])
    """
    x, cos, sin = (check_tensor(_NAME, a) for a in (x, cos, sin))
    for word, table in (("cos", cos), ("sin", sin)):
        if table.requires_grad:
            raise GradError(
                f"{_NAME}: `{word}` requires a gradient, which this function does not "
                f"compute. Pass {word}.detach(), or compute the rotation with products."
            )
    return rotary_op(x, cos, sin, False)

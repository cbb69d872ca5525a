# SPDX-License-Identifier: MIT
"""Losses that PyTorch also has at the top level, with numbers for reductions.

0, the default of these functions, means no reduction; 1 means the mean and 2 means the
sum.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature, signature
from typing import Any

from autocalc._tensor import Tensor
from autocalc._tensor.checks import plain, short
from autocalc.errors import ArgumentError
from autocalc.nn import functional

_NAMES = ("none", "mean", "sum")

#: The docstring of a loss; the text in the braces is replaced.
_DOCUMENTATION = """Compute `nn.functional.{name}`; the reduction is given as a number.

Parameters
----------
{others}
    The same as for `nn.functional.{name}`.
reduction
    0 for no reduction, 1 for the mean, 2 for the sum.

Raises
------
ArgumentError
    If `reduction` is not 0, 1 or 2.

Examples
--------
>>> import autocalc as ac
>>> ac.{name}({arguments})
{result}
"""


def _named(where: str, reduction: Any) -> str:
    """Return the name of a reduction that is given by a number."""
    reduction = plain(reduction)
    if reduction.__class__ is not int or reduction not in (0, 1, 2):
        raise ArgumentError(
            f"{where}: `reduction` is {short(reduction)}; this function needs a "
            f"number: 0 for none, 1 for the mean, 2 for the sum. nn.functional.{where} "
            "accepts names."
        )
    return _NAMES[reduction]


def _numbered(
    function: Callable[..., Tensor],
    parameters: str,
    arguments: str,
    result: str,
    *,
    needed: bool = False,
) -> Callable[..., Tensor]:
    """Return a loss with these parameters and the defaults of the function.

    Parameters after a star are keyword-only.  With `needed`, no parameter has a
    default.  The example in the docstring calls the loss with `arguments`.
    """
    name, theirs = function.__name__, signature(function).parameters
    plain, _, by_name = parameters.partition(" * ")
    own = [theirs[word] for word in plain.split()]
    own = [p.replace(default=0) if p.name == "reduction" else p for p in own]
    own += [
        theirs[word].replace(kind=Parameter.KEYWORD_ONLY) for word in by_name.split()
    ]
    if needed:
        own = [p.replace(default=Parameter.empty) for p in own]
    taken = Signature(own)

    def call(*args: Any, **words: Any) -> Tensor:
        given = taken.bind(*args, **words).arguments
        given["reduction"] = _named(name, given.get("reduction", 0))
        return function(**given)

    call.__name__ = call.__qualname__ = name
    call.__signature__ = taken  # type: ignore[attr-defined]  # what `inspect` reads
    others = ", ".join(p.name for p in own if p.name != "reduction")
    call.__doc__ = _DOCUMENTATION.format(
        name=name, others=others, arguments=arguments, result=result
    )
    return call


binary_cross_entropy_with_logits = _numbered(
    functional.binary_cross_entropy_with_logits,
    "input target weight pos_weight reduction",
    "ac.tensor([0.0, 1.0]), ac.ones(2)",
    "tensor([0.6931, 0.3133])",
)
cosine_embedding_loss = _numbered(
    functional.cosine_embedding_loss,
    "input1 input2 target margin reduction",
    "ac.ones(2, 3), ac.ones(2, 3), ac.tensor([-1.0, -1.0])",
    "tensor([1., 1.])",
)
ctc_loss = _numbered(
    functional.ctc_loss,
    "log_probs targets input_lengths target_lengths blank reduction zero_infinity",
    "ac.zeros(2, 1, 3), ac.tensor([[1]]), (2,), (1,)",
    "tensor([-1.0986])",
)
hinge_embedding_loss = _numbered(
    functional.hinge_embedding_loss,
    "input target margin reduction",
    "ac.tensor([0.5, 0.5]), ac.tensor([1.0, -1.0])",
    "tensor([0.5000, 0.5000])",
)
kl_div = _numbered(
    functional.kl_div,
    "input target reduction * log_target",
    "ac.zeros(2), ac.ones(2)",
    "tensor([0., 0.])",
)
margin_ranking_loss = _numbered(
    functional.margin_ranking_loss,
    "input1 input2 target margin reduction",
    "ac.tensor([0.5, 1.0]), ac.ones(2), ac.ones(2)",
    "tensor([0.5000, 0.0000])",
)
poisson_nll_loss = _numbered(
    functional.poisson_nll_loss,
    "input target log_input full eps reduction",
    "ac.zeros(2), ac.ones(2), True, False, 1e-8, 0",
    "tensor([1., 1.])",
    needed=True,
)
triplet_margin_loss = _numbered(
    functional.triplet_margin_loss,
    "anchor positive negative margin p eps swap reduction",
    "ac.ones(2, 3), ac.ones(2, 3), ac.ones(2, 3)",
    "tensor([1., 1.])",
)

# SPDX-License-Identifier: MIT
"""The distribution of correlations by powers of their determinants."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from autocalc._graph._grad_mode import no_grad
from autocalc._ops.arranging.diagonal import diag_embed
from autocalc._ops.arranging.joining import cat
from autocalc._ops.creation.ranges import arange
from autocalc._ops.random.random_draws import randn
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int, require
from autocalc._tensor.limits import finfo
from autocalc.distributions import constraints
from autocalc.distributions._distribution import Constraints, Distribution
from autocalc.distributions._gamma import Beta
from autocalc.distributions._special import lgamma
from autocalc.distributions._wishart import multivariate_lgamma


class LKJCholesky(Distribution):
    """LKJ distribution of the Cholesky factors of correlation matrices.

    The density of the correlation matrix L L^T is proportional to det(L
    L^T)^(concentration - 1).

    Lewandowski, Kurowicka, Joe: Generating random correlation matrices based on vines
    and extended onion method, Journal of Multivariate Analysis 100 (2009).

    Parameters
    ----------
    dim
        The number of rows of a matrix; 2 or more.
    concentration
        The concentration; above 0.  A tensor or a number.  With 1, all correlation
        matrices are equally likely.  Above 1, matrices with small correlations are more
        likely.
    validate_args
        True to check the parameters here, and the values passed to methods.  None means
        the default of `Distribution.set_default_validate_args`.

    Raises
    ------
    ArgumentError
        If `dim` is less than 2, or if `concentration` violates its constraint.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.LKJCholesky(2).log_prob(ac.eye(2))
    tensor(-0.6931)
    """

    arg_constraints: ClassVar[Constraints] = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(
        self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        self.dim = as_int("LKJCholesky", "dim", dim)
        require("LKJCholesky", "dim", dim, self.dim >= 2, "2 or more")
        (self.concentration,) = self._broadcast_values(concentration=concentration)
        event = (self.dim, self.dim)
        super().__init__(self.concentration.shape, event, validate_args)

    def _rows(self) -> Any:
        """Return the distribution of rows' squares off the diagonal."""
        half: Any = 0.5 * arange(self.dim - 1).to(self.concentration.dtype)
        half = cat([half[:1], half])  # the first row has none, whatever is drawn
        most = (self.concentration + 0.5 * (self.dim - 2)).unsqueeze(-1)
        return Beta(half + 0.5, most - half, validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples of shape ``(*sample_shape, *batch_shape, dim, dim)``."""
        with no_grad():
            shape = self._extended_shape(sample_shape)
            squares = self._rows().sample(sample_shape)
            noise: Any = randn(shape, dtype=squares.dtype)
            noise = noise.tril(-1)
            lengths = (noise * noise).sum(-1, True).sqrt()
            first = lengths == 0  # the first row has nothing before its diagonal
            sphere = noise / lengths.masked_fill(first, 1)
            below = squares.sqrt().unsqueeze(-1) * sphere
            rest = 1 - (below * below).sum(-1)
            diagonal = rest.clamp(min=finfo(squares.dtype).tiny).sqrt()
            result: Tensor = below + diag_embed(diagonal)
            return result

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density at `value`."""
        diagonal = self._checked("log_prob", value).diagonal(dim1=-2, dim2=-1)
        rest = arange(self.dim - 2, -1, -1).to(diagonal.dtype)
        powers = 2 * (self.concentration - 1).unsqueeze(-1) + rest
        log = (powers * diagonal[..., 1:].log()).sum(-1)
        return log - self._log_normalizer()

    def _log_normalizer(self) -> Tensor:
        rows = self.dim - 1
        most = self.concentration + 0.5 * rows
        constant = 0.5 * rows * math.log(math.pi)
        return constant + multivariate_lgamma(most - 0.5, rows) - rows * lgamma(most)

# SPDX-License-Identifier: MIT
"""The formulas of `kl_divergence` of distributions with covariances."""

from __future__ import annotations

from typing import Any

from autocalc._kernels.rules import broadcast_shapes
from autocalc._ops.arranging.diagonal import diag_embed
from autocalc._ops.arranging.joining import cat
from autocalc._ops.matrices.linear_systems import solve
from autocalc._ops.views.broadcasting import broadcast_to
from autocalc.distributions._low_rank_normal import LowRankMultivariateNormal
from autocalc.distributions._multivariate_normal import MultivariateNormal
from autocalc.distributions._wishart import (
    Wishart,
    multivariate_digamma,
    multivariate_lgamma,
)
from autocalc.distributions.kl import register_kl
from autocalc.errors import ShapeError


def _root(d: Any) -> Any:
    """Return an R with the covariance R R^T."""
    if isinstance(d, MultivariateNormal):
        return d._unbroadcasted_scale_tril
    return cat([d.cov_factor, diag_embed(d.cov_diag.sqrt())], -1)


def _squares(d: Any, columns: Any) -> Any:
    """Return the sum of x^T covariance^-1 x over the columns x of matrices."""
    if isinstance(d, LowRankMultivariateNormal):
        return d.squares(columns)
    lead = broadcast_shapes("kl_divergence", columns.shape[:-2], d.batch_shape)
    tril = broadcast_to(
        d._unbroadcasted_scale_tril, (*lead, *d._unbroadcasted_scale_tril.shape[-2:])
    )
    wide = broadcast_to(columns, (*lead, *columns.shape[-2:]))
    return (solve(tril, wide) ** 2).sum((-2, -1))


def _same_size(p: Any, q: Any) -> None:
    if p.event_shape != q.event_shape:
        raise ShapeError(
            f"kl_divergence: values of {p.event_shape} and {q.event_shape}; both "
            "distributions must have values of the same size."
        )


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _of_normals(p: Any, q: Any) -> Any:
    _same_size(p, q)
    spread = _squares(q, _root(p)) - p.event_shape[0]
    away = _squares(q, (q.loc - p.loc).unsqueeze(-1))
    return 0.5 * (spread + away) + q.half_log_det() - p.half_log_det()


@register_kl(Wishart, Wishart)
def _of_wisharts(p: Any, q: Any) -> Any:
    _same_size(p, q)
    size = p.event_shape[0]
    ratio = solve(q.covariance_matrix, p.covariance_matrix)
    spread = ratio.diagonal(dim1=-2, dim2=-1).sum(-1) - size
    log = q.df * (q.half_log_det() - p.half_log_det())
    gammas = multivariate_lgamma(q.df / 2, size) - multivariate_lgamma(p.df / 2, size)
    slope = 0.5 * (p.df - q.df) * multivariate_digamma(p.df / 2, size)
    return log + 0.5 * p.df * spread + gammas + slope

# SPDX-License-Identifier: MIT
"""Distributions: their draws, densities, entropies and divergences."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._absent import lookup as _lookup
from autocalc.distributions import _divergences as _divergences
from autocalc.distributions import constraints, kl, transforms
from autocalc.distributions._by_quantiles import (
    Cauchy,
    Exponential,
    Gumbel,
    Laplace,
    Uniform,
)
from autocalc.distributions._categorical import Categorical, OneHotCategorical
from autocalc.distributions._distribution import Distribution
from autocalc.distributions._gamma import Beta, Dirichlet, Gamma
from autocalc.distributions._independent import Independent
from autocalc.distributions._multivariate_normal import MultivariateNormal
from autocalc.distributions._normal import HalfNormal, LogNormal, Normal
from autocalc.distributions._transformed import TransformedDistribution
from autocalc.distributions._yes_or_no import Bernoulli, Geometric
from autocalc.distributions.kl import kl_divergence, register_kl
from autocalc.distributions.transforms import (
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    SigmoidTransform,
    TanhTransform,
    Transform,
)

__all__ = [
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Categorical",
    "Cauchy",
    "ComposeTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "Gamma",
    "Geometric",
    "Gumbel",
    "HalfNormal",
    "Independent",
    "Laplace",
    "LogNormal",
    "MultivariateNormal",
    "Normal",
    "OneHotCategorical",
    "SigmoidTransform",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "constraints",
    "kl",
    "kl_divergence",
    "register_kl",
    "transforms",
]

if not _TYPE_CHECKING:  # a type checker knows the names that exist
    __getattr__ = _lookup(__name__)

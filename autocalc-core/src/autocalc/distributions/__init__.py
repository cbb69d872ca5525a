# SPDX-License-Identifier: MIT
"""Probability distributions: samples, densities, entropies and divergences."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._aliases import lookup as _lookup
from autocalc.distributions import _divergences as _divergences
from autocalc.distributions import _divergences_of_counts as _divergences_of_counts
from autocalc.distributions import _divergences_of_matrices as _divergences_of_matrices
from autocalc.distributions import _divergences_with_ends as _divergences_with_ends
from autocalc.distributions import (
    constraint_registry,
    constraints,
    kl,
    transforms,
    utils,
)
from autocalc.distributions._by_powers import (
    GeneralizedPareto,
    Kumaraswamy,
    Pareto,
    Weibull,
)
from autocalc.distributions._by_quantiles import (
    Cauchy,
    Exponential,
    Gumbel,
    HalfCauchy,
    Laplace,
    Uniform,
)
from autocalc.distributions._categorical import Categorical, OneHotCategorical
from autocalc.distributions._continuous_bernoulli import ContinuousBernoulli
from autocalc.distributions._counts import Binomial, NegativeBinomial, Poisson
from autocalc.distributions._distribution import Distribution
from autocalc.distributions._exponential_family import ExponentialFamily
from autocalc.distributions._from_gamma import (
    Chi2,
    FisherSnedecor,
    InverseGamma,
    StudentT,
)
from autocalc.distributions._gamma import Beta, Dirichlet, Gamma
from autocalc.distributions._independent import Independent
from autocalc.distributions._lkj_cholesky import LKJCholesky
from autocalc.distributions._logistic_normal import LogisticNormal
from autocalc.distributions._low_rank_normal import LowRankMultivariateNormal
from autocalc.distributions._mixture import MixtureSameFamily
from autocalc.distributions._multinomial import Multinomial
from autocalc.distributions._multivariate_normal import MultivariateNormal
from autocalc.distributions._normal import HalfNormal, LogNormal, Normal
from autocalc.distributions._relaxed import (
    OneHotCategoricalStraightThrough,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
)
from autocalc.distributions._transformed import TransformedDistribution
from autocalc.distributions._von_mises import VonMises
from autocalc.distributions._wishart import Wishart
from autocalc.distributions._yes_or_no import Bernoulli, Geometric
from autocalc.distributions.constraint_registry import biject_to, transform_to
from autocalc.distributions.kl import kl_divergence, register_kl
from autocalc.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Binomial",
    "CatTransform",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ComposeTransform",
    "ContinuousBernoulli",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "IndependentTransform",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "LowerCholeskyTransform",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "constraint_registry",
    "constraints",
    "identity_transform",
    "kl",
    "kl_divergence",
    "register_kl",
    "transform_to",
    "transforms",
    "utils",
]

if not _TYPE_CHECKING:  # a type checker knows the names that exist
    __getattr__ = _lookup(__name__)

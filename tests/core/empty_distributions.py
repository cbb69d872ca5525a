# SPDX-License-Identifier: MIT
"""Distributions and transforms of no values; expressions as in `empty_calls`."""

from __future__ import annotations

import re

#: Distributions with no batch.
_DISTRIBUTIONS = """
    Bernoulli(x(0)) Beta(x(0),x(0)) Binomial(3,x(0)) Categorical(x(0,3))
    Cauchy(x(0),x(0)) Chi2(x(0)) ContinuousBernoulli(x(0)) Dirichlet(x(0,3))
    Exponential(x(0)) FisherSnedecor(x(0),x(0)) Gamma(x(0),x(0))
    GeneralizedPareto(x(0),x(0),x(0)) Geometric(x(0)) Gumbel(x(0),x(0)) HalfCauchy(x(0))
    HalfNormal(x(0)) Independent(D.Normal(x(0,3),x(0,3)),1) InverseGamma(x(0),x(0))
    Kumaraswamy(x(0),x(0)) LKJCholesky(3,x(0)) Laplace(x(0),x(0)) LogNormal(x(0),x(0))
    LogisticNormal(x(0,3),x(0,3)) LowRankMultivariateNormal(x(0,3),x(0,3,2),x(0,3))
    Multinomial(2,x(0,3))
    MixtureSameFamily(D.Categorical(x(0,3)),D.Normal(x(0,3),x(0,3)))
    MultivariateNormal(x(0,3),scale_tril=x(0,3,3).tril()) NegativeBinomial(2,x(0))
    Normal(x(0),x(0)) OneHotCategorical(x(0,3)) OneHotCategoricalStraightThrough(x(0,3))
    Pareto(x(0),x(0)) Poisson(x(0)) RelaxedBernoulli(c(1),x(0))
    RelaxedOneHotCategorical(c(1),x(0,3)) StudentT(x(0))
    TransformedDistribution(D.Normal(x(0),x(0)),[D.ExpTransform()]) Uniform(x(0),x(0)+1)
    VonMises(x(0),x(0)) Weibull(x(0),x(0)) Wishart(x(0)+3,scale_tril=x(0,2,2).tril())
"""
_TRANSFORMS = """
    AbsTransform() AffineTransform(1.,2.) ComposeTransform([D.ExpTransform()])
    CumulativeDistributionTransform(D.Normal(0.,1.)) ExpTransform() PowerTransform(2.)
    CatTransform([D.ExpTransform(),D.AbsTransform()],1,[1,2])
    ReshapeTransform((3,),(1,3)) CorrCholeskyTransform()
    IndependentTransform(D.ExpTransform(),1) SigmoidTransform()
    StackTransform([D.ExpTransform()]*3,1) StickBreakingTransform() SoftplusTransform()
    TanhTransform()
"""
_OF_MATRICES = "LowerCholeskyTransform() PositiveDefiniteTransform()"


def _all():
    for made in _DISTRIBUTIONS.split():
        yield f"drawn(D.{made})"
        # PyTorch's check of events cannot take an empty batch.
        unchecked = re.sub(r"\)(?=,D\.|,1\)|,\[)", ",validate_args=False)", made[:-1])
        yield f"drawn(D.{unchecked},validate_args=False))"
    yield from (f"moved(D.{made},x(0,3))" for made in _TRANSFORMS.split())
    yield from (f"moved(D.{made},x(0,3,3))" for made in _OF_MATRICES.split())
    yield "moved(D.SoftmaxTransform(),x(0,3))"


DISTRIBUTIONS = list(_all())

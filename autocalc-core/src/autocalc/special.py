# SPDX-License-Identifier: MIT
"""Special functions, by the names that PyTorch and SciPy have for them."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._aliases import lookup as _lookup
from autocalc._ops.activations.smooth import sigmoid as expit
from autocalc._ops.elementwise.exponential import (
    erf,
    erfc,
    exp2,
    expm1,
    log1p,
    logit,
    xlogy,
)
from autocalc._ops.elementwise.gamma_functions import digamma, polygamma, zeta
from autocalc._ops.elementwise.gamma_functions import digamma as psi
from autocalc._ops.elementwise.gamma_functions import igamma as gammainc
from autocalc._ops.elementwise.gamma_functions import igammac as gammaincc
from autocalc._ops.elementwise.gamma_functions import lgamma as gammaln
from autocalc._ops.elementwise.gamma_functions import mvlgamma as multigammaln
from autocalc._ops.elementwise.rounding import round
from autocalc._ops.elementwise.special_functions import (
    entr,
    erfcx,
    erfinv,
    i0,
    i0e,
    i1,
    i1e,
    log_ndtr,
    ndtr,
    ndtri,
    xlog1py,
)
from autocalc._ops.elementwise.trigonometric import sinc
from autocalc._ops.reductions.softmax import log_softmax, logsumexp, softmax

__all__ = ["digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit"]
__all__ += ["expm1", "gammainc", "gammaincc", "gammaln", "i0", "i0e", "i1", "i1e"]
__all__ += ["log1p", "log_ndtr", "log_softmax", "logit", "logsumexp", "multigammaln"]
__all__ += ["ndtr", "ndtri", "polygamma", "psi", "round", "sinc", "softmax"]
__all__ += ["xlog1py", "xlogy", "zeta"]

if not _TYPE_CHECKING:  # a type checker knows the names that exist
    __getattr__ = _lookup(__name__)

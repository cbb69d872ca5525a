# SPDX-License-Identifier: MIT
"""The operators as users spell them: PyTorch's names and arguments.

Each function normalises its arguments (negative dimensions, numbers, defaults), says
what is wrong with them, and calls an operator of `_ops`.
"""

from __future__ import annotations

from autocalc._functional import (
    arranging,
    combining,
    compounds,
    contractions,
    counting,
    diagonals,
    magnitudes,
    matrices,
    mixtures,
    ordering,
    parting,
    placing,
    pointwise,
    repeating,
    scans,
    statistics,
)
from autocalc._functional._einsum import einsum
from autocalc._functional.arranging import *  # noqa: F403  # its __all__ names them
from autocalc._functional.choosing import where
from autocalc._functional.combining import *  # noqa: F403  # its __all__ names them
from autocalc._functional.comparisons import (
    allclose,
    equal,
)
from autocalc._functional.compounds import *  # noqa: F403  # its __all__ names them
from autocalc._functional.contractions import *  # noqa: F403  # its __all__ names them
from autocalc._functional.conversions import (
    to,
    type_as,
)
from autocalc._functional.counting import *  # noqa: F403  # its __all__ names them
from autocalc._functional.diagonals import *  # noqa: F403  # its __all__ names them
from autocalc._functional.elementwise import (
    add,
    ceil,
    clamp,
    floor,
    round,
    sub,
    trunc,
)
from autocalc._functional.extrema import (
    Extremum,
    amax,
    amin,
    argmax,
    argmin,
    max,
    min,
)
from autocalc._functional.indexing import (
    gather,
    getitem,
    index_select,
)
from autocalc._functional.joins import (
    cat,
    stack,
)
from autocalc._functional.losses import (
    cross_entropy,
)
from autocalc._functional.magnitudes import *  # noqa: F403  # its __all__ names them
from autocalc._functional.matrices import *  # noqa: F403  # its __all__ names them
from autocalc._functional.mixtures import *  # noqa: F403  # its __all__ names them
from autocalc._functional.norms import (
    layer_norm,
    rms_norm,
)
from autocalc._functional.ordering import *  # noqa: F403  # its __all__ names them
from autocalc._functional.parting import *  # noqa: F403  # its __all__ names them
from autocalc._functional.placing import *  # noqa: F403  # its __all__ names them
from autocalc._functional.pointwise import *  # noqa: F403  # its __all__ names them
from autocalc._functional.products import (
    bmm,
    linear,
    matmul,
    mm,
)
from autocalc._functional.reductions import (
    all,
    any,
    log_softmax,
    logsumexp,
    mean,
    softmax,
    std,
    sum,
    var,
)
from autocalc._functional.repeating import *  # noqa: F403  # its __all__ names them
from autocalc._functional.scans import *  # noqa: F403  # its __all__ names them
from autocalc._functional.shapes import (
    clone,
    expand,
    flatten,
    permute,
    reshape,
    squeeze,
    t,
    transpose,
    unsqueeze,
    view,
)
from autocalc._functional.statistics import *  # noqa: F403  # its __all__ names them
from autocalc._functional.tables import (
    embedding,
)
from autocalc._ops._arguments import (
    numbers_only,
)

__all__ = [
    "Extremum",
    "add",
    "all",
    "allclose",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "bmm",
    "cat",
    "ceil",
    "clamp",
    "clone",
    "cross_entropy",
    "einsum",
    "embedding",
    "equal",
    "expand",
    "flatten",
    "floor",
    "gather",
    "getitem",
    "index_select",
    "layer_norm",
    "linear",
    "log_softmax",
    "logsumexp",
    "matmul",
    "max",
    "mean",
    "min",
    "mm",
    "numbers_only",
    "permute",
    "reshape",
    "rms_norm",
    "round",
    "softmax",
    "squeeze",
    "stack",
    "std",
    "sub",
    "sum",
    "t",
    "to",
    "transpose",
    "trunc",
    "type_as",
    "unsqueeze",
    "var",
    "view",
    "where",
]

__all__ += mixtures.__all__
__all__ += pointwise.__all__
__all__ += ordering.__all__
__all__ += arranging.__all__
__all__ += diagonals.__all__
__all__ += parting.__all__
__all__ += placing.__all__
__all__ += repeating.__all__
__all__ += scans.__all__
__all__ += contractions.__all__
__all__ += magnitudes.__all__
__all__ += matrices.__all__
__all__ += combining.__all__
__all__ += compounds.__all__
__all__ += counting.__all__
__all__ += statistics.__all__

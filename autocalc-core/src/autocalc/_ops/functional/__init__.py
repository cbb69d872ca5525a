# SPDX-License-Identifier: MIT
"""The operators as users spell them: PyTorch's names and arguments.

Each function normalises its arguments (negative dimensions, numbers, defaults), says
what is wrong with them, and calls an operator of `_ops`.
"""

from __future__ import annotations

from autocalc._ops._arguments import (
    numbers_only,
)
from autocalc._ops.functional import (
    arranging,
    combining,
    contractions,
    counting,
    diagonals,
    elementwise_composites,
    matrices,
    ordering,
    pointwise,
    repeating,
    scans,
    scattering,
    special,
    splitting,
    statistics,
    vector_norms,
)
from autocalc._ops.functional._einsum import einsum
from autocalc._ops.functional.arranging import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.choosing import where
from autocalc._ops.functional.combining import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.comparisons import (
    allclose,
    equal,
)
from autocalc._ops.functional.contractions import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.conversions import (
    to,
    type_as,
)
from autocalc._ops.functional.counting import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.diagonals import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.elementwise import (
    add,
    ceil,
    clamp,
    floor,
    round,
    sub,
    trunc,
)
from autocalc._ops.functional.elementwise_composites import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.embedding import (
    embedding,
)
from autocalc._ops.functional.extrema import (
    Extremum,
    amax,
    amin,
    argmax,
    argmin,
    max,
    min,
)
from autocalc._ops.functional.indexing import (
    gather,
    getitem,
    index_select,
)
from autocalc._ops.functional.joining import (
    cat,
    stack,
)
from autocalc._ops.functional.losses import (
    cross_entropy,
)
from autocalc._ops.functional.matrices import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.norms import (
    layer_norm,
    rms_norm,
)
from autocalc._ops.functional.ordering import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.pointwise import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.products import (
    bmm,
    linear,
    matmul,
    mm,
)
from autocalc._ops.functional.reductions import (
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
from autocalc._ops.functional.repeating import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.scans import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.scattering import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.shapes import (
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
from autocalc._ops.functional.special import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.splitting import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.statistics import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.vector_norms import *  # noqa: F403  # its __all__ names them

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

__all__ += elementwise_composites.__all__
__all__ += pointwise.__all__
__all__ += ordering.__all__
__all__ += arranging.__all__
__all__ += diagonals.__all__
__all__ += splitting.__all__
__all__ += scattering.__all__
__all__ += repeating.__all__
__all__ += scans.__all__
__all__ += contractions.__all__
__all__ += vector_norms.__all__
__all__ += matrices.__all__
__all__ += combining.__all__
__all__ += special.__all__
__all__ += counting.__all__
__all__ += statistics.__all__

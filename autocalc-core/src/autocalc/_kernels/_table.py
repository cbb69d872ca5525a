# SPDX-License-Identifier: MIT
"""The kernel table: every spec by its name, in a fixed order."""

from __future__ import annotations

from autocalc._kernels import (
    activations,
    adaptive,
    adaptive_pooling,
    amsgrad,
    attention,
    avg_pooling,
    batch_norm,
    batch_norm_relu,
    bits,
    conv,
    division,
    elementwise,
    elementwise_composites,
    factors,
    gradients,
    gru,
    indexing,
    inverses,
    linalg,
    losses,
    lstm,
    norms,
    norms_backward,
    optimizers,
    placing,
    pooling,
    random,
    reductions,
    resampling,
    rmsprop,
    rnn,
    rotary,
    scans,
    softmax,
    transcendental,
    unfolding,
)
from autocalc._kernels._spec import KernelSpec

_FAMILIES = (
    elementwise,
    elementwise_composites,
    activations,
    reductions,
    linalg,
    indexing,
    softmax,
    norms,
    norms_backward,
    batch_norm,
    batch_norm_relu,
    attention,
    conv,
    rnn,
    lstm,
    gru,
    pooling,
    avg_pooling,
    adaptive_pooling,
    unfolding,
    resampling,
    rotary,
    losses,
    random,
    optimizers,
    amsgrad,
    rmsprop,
    adaptive,
    gradients,
    transcendental,
    division,
    bits,
    scans,
    inverses,
    factors,
    placing,
)

#: Kernel name -> spec.
TABLE: dict[str, KernelSpec] = {
    spec.name: spec for family in _FAMILIES for spec in family.SPECS
}

#: The closed list that is enough to train any model.
PRIMITIVES = frozenset(name for name, spec in TABLE.items() if spec.kind == "primitive")

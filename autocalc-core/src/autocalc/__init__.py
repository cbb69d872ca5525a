# SPDX-License-Identifier: MIT
"""AutoCalc: neural networks trained on CPUs, by kernels that packages provide."""

from __future__ import annotations

from autocalc import _creation, _dtypes, _functional, _inplace, _methods
from autocalc._creation import (
    arange,
    as_tensor,
    empty,
    empty_like,
    eye,
    from_dlpack,
    from_numpy,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    rand,
    rand_like,
    randint,
    randn,
    randn_like,
    randperm,
    tensor,
    zeros,
    zeros_like,
)
from autocalc._device import Device as device
from autocalc._dispatch._threads import get_num_threads, serial, set_num_threads
from autocalc._dtypes import (
    DType,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
)
from autocalc._dtypes import bool_ as bool
from autocalc._dtypes import float32 as float
from autocalc._dtypes import float64 as double
from autocalc._dtypes import int64 as long
from autocalc._dtypes import promote as promote_types
from autocalc._functional import (
    add,
    all,
    allclose,
    amax,
    amin,
    any,
    argmax,
    argmin,
    bmm,
    cat,
    ceil,
    clamp,
    clone,
    equal,
    expand,
    flatten,
    floor,
    gather,
    index_select,
    log_softmax,
    logsumexp,
    matmul,
    max,
    mean,
    min,
    mm,
    permute,
    reshape,
    round,
    softmax,
    squeeze,
    stack,
    std,
    sub,
    sum,
    t,
    transpose,
    trunc,
    unsqueeze,
    var,
    where,
)
from autocalc._ops import elementwise as _elementwise
from autocalc._ops.elementwise import (
    abs,
    cos,
    div,
    eq,
    erf,
    exp,
    ge,
    gt,
    le,
    log,
    lt,
    maximum,
    minimum,
    mul,
    ne,
    neg,
    pow,
    relu,
    sigmoid,
    sin,
    sqrt,
    tanh,
)
from autocalc._random import Generator, manual_seed
from autocalc._tensor import Tensor
from autocalc._version import __version__

# The methods of Tensor call functions that are themselves made of tensors.
_methods.ops = _elementwise
_methods.functional = _functional
_methods.inplace = _inplace
_methods.dtypes = _dtypes
_methods.bind_arithmetic()

from autocalc import autograd, data, kernels, memory, utils  # noqa: E402  need methods
from autocalc._io import load, save  # noqa: E402
from autocalc.autograd import (  # noqa: E402
    enable_grad,
    is_grad_enabled,
    live_node_count,
    no_grad,
    set_grad_enabled,
)
from autocalc.kernels import (  # noqa: E402
    are_deterministic_algorithms_enabled,
    use_deterministic_algorithms,
)

# SPDX-License-Identifier: MIT
"""AutoCalc: neural networks trained on CPUs, by kernels that packages provide."""

from __future__ import annotations

from math import inf, nan, pi
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from autocalc import (
    _methods,
    autograd,
    kernels,
    linalg,
    memory,
)
from autocalc._dispatch._thread_budget import get_num_threads
from autocalc._dispatch._threads import serial, set_num_threads
from autocalc._io.files import load, save
from autocalc._ops import functional as _functional
from autocalc._ops import platform as _platform
from autocalc._ops import typed_tensors as _typed
from autocalc._ops.creation import (
    arange,
    as_tensor,
    bernoulli,
    empty,
    empty_like,
    eye,
    from_dlpack,
    from_numpy,
    full,
    full_like,
    linspace,
    logspace,
    multinomial,
    normal,
    ones,
    ones_like,
    rand,
    rand_like,
    randint,
    randint_like,
    randn,
    randn_like,
    randperm,
    scalar_tensor,
    tensor,
    zeros,
    zeros_like,
)
from autocalc._ops.creation import as_tensor as asarray
from autocalc._ops.functional import (
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
from autocalc._ops.functional import cat as concat
from autocalc._ops.functional import cat as concatenate
from autocalc._ops.functional import clamp as clip
from autocalc._ops.functional import div as divide
from autocalc._ops.functional import outer as ger
from autocalc._ops.functional import sign as sgn
from autocalc._ops.functional import sub as subtract
from autocalc._ops.functional import trunc as fix
from autocalc._ops.functional import vstack as row_stack
from autocalc._ops.functional._einsum import einsum
from autocalc._ops.functional.arranging import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.combining import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.contractions import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.counting import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.diagonals import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.elementwise_composites import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.inspection import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.matrices import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.ordering import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.pointwise import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.repeating import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.scans import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.scattering import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.shapes import detach
from autocalc._ops.functional.special import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.splitting import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.statistics import *  # noqa: F403  # its __all__ names them
from autocalc._ops.functional.vector_norms import *  # noqa: F403  # its __all__ names them
from autocalc._ops.platform import *  # noqa: F403  # its __all__ names them
from autocalc._ops.rng_state import get_rng_state, initial_seed, seed, set_rng_state
from autocalc._ops.typed_tensors import *  # noqa: F403  # its __all__ names them
from autocalc._tensor import Tensor
from autocalc._tensor import memory_format as _memory_format
from autocalc._tensor.device import Device as device
from autocalc._tensor.dtypes import (
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
from autocalc._tensor.dtypes import DType as dtype
from autocalc._tensor.dtypes import bool_ as bool
from autocalc._tensor.dtypes import float32 as float
from autocalc._tensor.dtypes import float64 as double
from autocalc._tensor.dtypes import int16 as short
from autocalc._tensor.dtypes import int32 as int
from autocalc._tensor.dtypes import int64 as long
from autocalc._tensor.dtypes import promote as promote_types
from autocalc._tensor.generator import Generator, manual_seed
from autocalc._tensor.limits import finfo, iinfo
from autocalc._tensor.memory_format import *  # noqa: F403  # its __all__ names them
from autocalc._tensor.printing import set_printoptions
from autocalc._version import __version__
from autocalc.autograd import (
    enable_grad,
    inference_mode,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    is_grad_enabled,
    live_node_count,
    no_grad,
    set_grad_enabled,
)
from autocalc.kernels import (
    are_deterministic_algorithms_enabled,
    use_deterministic_algorithms,
)

__all__ = [
    "DType",
    "Generator",
    "Size",
    "Tensor",
    "__version__",
    "accelerator",
    "add",
    "all",
    "allclose",
    "amax",
    "amin",
    "amp",
    "any",
    "arange",
    "are_deterministic_algorithms_enabled",
    "argmax",
    "argmin",
    "as_tensor",
    "asarray",
    "autocast",
    "autograd",
    "backends",
    "bernoulli",
    "bmm",
    "bool",
    "cat",
    "ceil",
    "clamp",
    "clip",
    "clone",
    "concat",
    "concatenate",
    "cuda",
    "data",
    "detach",
    "device",
    "divide",
    "double",
    "dtype",
    "einsum",
    "empty",
    "empty_like",
    "enable_grad",
    "equal",
    "expand",
    "eye",
    "finfo",
    "fix",
    "flatten",
    "float",
    "float32",
    "float64",
    "floor",
    "from_dlpack",
    "from_numpy",
    "full",
    "full_like",
    "gather",
    "ger",
    "get_default_dtype",
    "get_num_threads",
    "get_rng_state",
    "iinfo",
    "index_select",
    "inf",
    "inference_mode",
    "initial_seed",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "kernels",
    "linalg",
    "linspace",
    "live_node_count",
    "load",
    "log_softmax",
    "logspace",
    "logsumexp",
    "long",
    "manual_seed",
    "matmul",
    "max",
    "mean",
    "memory",
    "min",
    "mm",
    "models",
    "multinomial",
    "nan",
    "nn",
    "no_grad",
    "normal",
    "ones",
    "ones_like",
    "optim",
    "permute",
    "pi",
    "promote_types",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "reshape",
    "round",
    "row_stack",
    "save",
    "scalar_tensor",
    "seed",
    "serial",
    "set_default_dtype",
    "set_grad_enabled",
    "set_num_threads",
    "set_printoptions",
    "set_rng_state",
    "sgn",
    "short",
    "softmax",
    "squeeze",
    "stack",
    "std",
    "sub",
    "subtract",
    "sum",
    "t",
    "tensor",
    "testing",
    "transpose",
    "trunc",
    "uint8",
    "unsqueeze",
    "use_deterministic_algorithms",
    "utils",
    "var",
    "where",
    "zeros",
    "zeros_like",
]

__all__ += _memory_format.__all__
__all__ += _platform.__all__
__all__ += _typed.__all__
__all__ += _functional.elementwise_composites.__all__
__all__ += _functional.inspection.__all__
__all__ += _functional.pointwise.__all__
__all__ += _functional.ordering.__all__
__all__ += _functional.arranging.__all__
__all__ += _functional.diagonals.__all__
__all__ += _functional.splitting.__all__
__all__ += _functional.scattering.__all__
__all__ += _functional.repeating.__all__
__all__ += _functional.scans.__all__
__all__ += _functional.statistics.__all__
__all__ += _functional.counting.__all__
__all__ += _functional.special.__all__
__all__ += _functional.combining.__all__
__all__ += _functional.contractions.__all__
__all__ += _functional.vector_norms.__all__
__all__ += _functional.matrices.__all__

#: Shapes are plain tuples.
Size: type = tuple

if _TYPE_CHECKING:
    from autocalc import (
        accelerator,
        amp,
        backends,
        cuda,
        data,
        models,
        nn,
        optim,
        testing,
        utils,
    )
    from autocalc.amp import autocast

#: Imported when they are first used: they are a third of all modules.
_LATE = frozenset(
    {
        *("accelerator", "amp", "backends", "cuda", "data", "models", "nn", "optim"),
        *("testing", "utils"),
    }
)

#: Functions of `nn.functional` that PyTorch has here as well.
_OF_NN = frozenset(
    {
        *("adaptive_avg_pool1d", "adaptive_max_pool1d", "avg_pool1d", "batch_norm"),
        *("bilinear", "binary_cross_entropy_with_logits", "celu", "conv1d", "conv2d"),
        *("conv_transpose1d", "conv_transpose2d", "cosine_embedding_loss"),
        *("cosine_similarity", "dropout", "embedding", "embedding_bag", "group_norm"),
        *("instance_norm", "kl_div", "layer_norm", "max_pool1d", "max_pool2d"),
        *("pairwise_distance", "pixel_shuffle", "pixel_unshuffle", "prelu", "rms_norm"),
        *("selu", "triplet_margin_loss"),
    }
)

#: Methods that write in place and that PyTorch has as functions, too.
_IN_PLACE = frozenset(
    name + "_"
    for name in (
        *("abs", "acos", "acosh", "addmv", "asin", "asinh", "atan", "atanh", "ceil"),
        *("clamp", "clamp_max", "clamp_min", "clip", "cos", "cosh", "deg2rad"),
        *("detach", "erf", "erfc", "exp", "exp2", "expm1", "fill", "floor", "frac"),
        *("index_put", "log", "log10", "log1p", "log2", "logit", "nan_to_num", "neg"),
        *("rad2deg", "reciprocal", "relu", "round", "rsqrt", "sigmoid", "sin", "sinc"),
        *("sinh", "sqrt", "square", "tan", "tanh", "trunc", "xlogy", "zero"),
    )
)


def __getattr__(name: str) -> _Any:
    if name in _LATE:
        from importlib import import_module

        return import_module(f"autocalc.{name}")
    if name in _OF_NN:
        from autocalc.nn import functional

        return getattr(functional, name)
    if name in _IN_PLACE:
        return getattr(Tensor, name)
    if name == "autocast":
        from autocalc.amp import autocast

        return autocast
    message = f"module 'autocalc' has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE, *_OF_NN, *_IN_PLACE, "autocast"})


# Methods are functions of tensors: they come last.
_methods.attach()

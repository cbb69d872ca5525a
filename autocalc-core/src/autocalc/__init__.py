# SPDX-License-Identifier: MIT
"""AutoCalc: neural networks trained on CPUs, by kernels that packages provide."""

from __future__ import annotations

from math import e, inf, nan, pi
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from autocalc import _aliases, _late, _methods, autograd, kernels, linalg, memory
from autocalc._dispatch.machine.thread_budget import get_num_threads
from autocalc._dispatch.plugins.threads import serial, set_num_threads
from autocalc._interop import _einops_import
from autocalc._io.files import load, save
from autocalc._ops.activations.rectifiers import relu_op as relu
from autocalc._ops.activations.smooth import sigmoid
from autocalc._ops.arranging.diagonal import (
    diag,
    diag_embed,
    diagflat,
    diagonal,
    trace,
    tril,
    tril_indices,
    triu,
    triu_indices,
)
from autocalc._ops.arranging.joining import (
    block_diag,
    cat,
    column_stack,
    dstack,
    hstack,
    stack,
    vstack,
)
from autocalc._ops.arranging.joining import cat as concat
from autocalc._ops.arranging.joining import cat as concatenate
from autocalc._ops.arranging.joining import vstack as row_stack
from autocalc._ops.arranging.rearranging import (
    cartesian_prod,
    combinations,
    flip,
    fliplr,
    flipud,
    meshgrid,
    repeat,
    repeat_interleave,
    roll,
    rot90,
    tile,
)
from autocalc._ops.arranging.view_copies import (
    alias_copy,
    as_strided_copy,
    detach_copy,
    diagonal_copy,
    expand_copy,
    narrow_copy,
    permute_copy,
    select_copy,
    split_copy,
    split_with_sizes_copy,
    squeeze_copy,
    t_copy,
    transpose_copy,
    unbind_copy,
    unfold_copy,
    unsqueeze_copy,
    view_copy,
)
from autocalc._ops.arranging.view_scatter import (
    as_strided_scatter,
    diagonal_scatter,
    select_scatter,
    slice_copy,
    slice_scatter,
)
from autocalc._ops.callback import callback
from autocalc._ops.complex_numbers.making import angle, sgn
from autocalc._ops.complex_numbers.parts import adjoint
from autocalc._ops.creation.asarray import asarray
from autocalc._ops.creation.constants import empty, eye, full, ones, zeros
from autocalc._ops.creation.from_data import (
    as_tensor,
    from_dlpack,
    from_numpy,
    frombuffer,
    scalar_tensor,
    tensor,
)
from autocalc._ops.creation.like import empty_like, full_like, ones_like, zeros_like
from autocalc._ops.creation.platform import (
    get_default_device,
    get_float32_matmul_precision,
    get_num_interop_threads,
    set_default_device,
    set_default_tensor_type,
    set_float32_matmul_precision,
    set_num_interop_threads,
)
from autocalc._ops.creation.ranges import arange, linspace, logspace
from autocalc._ops.creation.typed_tensors import (
    BFloat16Tensor,
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
)
from autocalc._ops.creation.window_functions import (
    bartlett_window,
    blackman_window,
    hamming_window,
    hann_window,
    kaiser_window,
)
from autocalc._ops.elementwise.arithmetic import (
    abs,
    add,
    div,
    float_power,
    floor_divide,
    fmod,
    mul,
    neg,
    positive,
    pow,
    reciprocal,
    remainder,
    rsub,
    sign,
    square,
    sub,
)
from autocalc._ops.elementwise.arithmetic import abs as absolute
from autocalc._ops.elementwise.arithmetic import div as divide
from autocalc._ops.elementwise.arithmetic import div_op as true_divide
from autocalc._ops.elementwise.arithmetic import mul as multiply
from autocalc._ops.elementwise.arithmetic import neg as negative
from autocalc._ops.elementwise.arithmetic import sub as subtract
from autocalc._ops.elementwise.bitwise import (
    bitwise_and,
    bitwise_left_shift,
    bitwise_not,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
)
from autocalc._ops.elementwise.clamping import (
    clamp,
    clamp_max,
    clamp_min,
    fmax,
    fmin,
    maximum,
    minimum,
    nan_to_num,
)
from autocalc._ops.elementwise.clamping import clamp as clip
from autocalc._ops.elementwise.comparison import (
    copysign,
    eq,
    ge,
    gt,
    heaviside,
    isclose,
    isfinite,
    isinf,
    isnan,
    isneginf,
    isposinf,
    le,
    lt,
    ne,
    signbit,
)
from autocalc._ops.elementwise.comparison import ge as greater_equal
from autocalc._ops.elementwise.comparison import gt as greater
from autocalc._ops.elementwise.comparison import le as less_equal
from autocalc._ops.elementwise.comparison import lt as less
from autocalc._ops.elementwise.comparison import ne as not_equal
from autocalc._ops.elementwise.divisors import gcd, lcm
from autocalc._ops.elementwise.exponential import (
    erf,
    erfc,
    exp,
    exp2,
    expm1,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    logaddexp2,
    logit,
    rsqrt,
    sqrt,
    xlogy,
)
from autocalc._ops.elementwise.gamma_functions import (
    digamma,
    igamma,
    igammac,
    lgamma,
    mvlgamma,
    polygamma,
)
from autocalc._ops.elementwise.lerp import addcdiv, addcmul, lerp
from autocalc._ops.elementwise.nextafter import nextafter
from autocalc._ops.elementwise.powers_of_two import frexp, ldexp
from autocalc._ops.elementwise.rounding import ceil, floor, frac, round, trunc
from autocalc._ops.elementwise.rounding import trunc as fix
from autocalc._ops.elementwise.special_functions import erfinv, i0
from autocalc._ops.elementwise.trigonometric import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cos,
    cosh,
    deg2rad,
    hypot,
    rad2deg,
    sin,
    sinc,
    sinh,
    tan,
    tanh,
)
from autocalc._ops.elementwise.trigonometric import acos as arccos
from autocalc._ops.elementwise.trigonometric import acosh as arccosh
from autocalc._ops.elementwise.trigonometric import asin as arcsin
from autocalc._ops.elementwise.trigonometric import asinh as arcsinh
from autocalc._ops.elementwise.trigonometric import atan as arctan
from autocalc._ops.elementwise.trigonometric import atan2 as arctan2
from autocalc._ops.elementwise.trigonometric import atanh as arctanh
from autocalc._ops.fourier.spectrograms import istft, stft
from autocalc._ops.in_place.index_put import index_put, put
from autocalc._ops.indexing.flat_indices import unravel_index
from autocalc._ops.indexing.indexing import gather, index_select, take, take_along_dim
from autocalc._ops.indexing.masking import (
    argwhere,
    masked_fill,
    masked_scatter,
    masked_select,
    nonzero,
    where,
)
from autocalc._ops.indexing.scattering import (
    fill,
    index_add,
    index_copy,
    index_fill,
    scatter,
    scatter_add,
)
from autocalc._ops.matrices.cholesky_systems import cholesky_inverse, cholesky_solve
from autocalc._ops.matrices.determinants import det, logdet, slogdet
from autocalc._ops.matrices.distance import cdist, dist, pdist
from autocalc._ops.matrices.einsum import einsum, tensordot
from autocalc._ops.matrices.linear_systems import chain_matmul, inverse, matrix_power
from autocalc._ops.matrices.lu_factors import lu, lu_solve, lu_unpack, triangular_solve
from autocalc._ops.matrices.matmul import bmm, matmul, mm
from autocalc._ops.matrices.matrix_exponential import matrix_exp
from autocalc._ops.matrices.product_sums import addbmm, addmm, addmv, addr, baddbmm
from autocalc._ops.matrices.products import cross, dot, inner, kron, mv, outer, vdot
from autocalc._ops.matrices.products import outer as ger
from autocalc._ops.matrices.pseudo_inverses import pinverse
from autocalc._ops.matrices.vector_norms import norm, renorm
from autocalc._ops.random.count_draws import binomial, poisson
from autocalc._ops.random.distributions import bernoulli, multinomial, normal
from autocalc._ops.random.random_draws import (
    rand,
    rand_like,
    randint,
    randint_like,
    randn,
    randn_like,
    randperm,
)
from autocalc._ops.random.rng_state import (
    get_rng_state,
    initial_seed,
    seed,
    set_rng_state,
)
from autocalc._ops.reductions.extrema import (
    amax,
    amin,
    aminmax,
    argmax,
    argmin,
    max,
    min,
)
from autocalc._ops.reductions.logical import (
    allclose,
    equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
)
from autocalc._ops.reductions.nan_reductions import nanmean, nansum
from autocalc._ops.reductions.reduction import (
    all,
    any,
    count_nonzero,
    mean,
    prod,
    sum,
    sum_to_size,
)
from autocalc._ops.reductions.softmax import log_softmax, logsumexp, softmax
from autocalc._ops.reductions.variance import std, std_mean, var, var_mean
from autocalc._ops.sequences.mode import mode
from autocalc._ops.sequences.numerical_derivatives import (
    cumulative_trapezoid,
    gradient,
    vander,
)
from autocalc._ops.sequences.scans import (
    cummax,
    cummin,
    cumprod,
    cumsum,
    diff,
    logcumsumexp,
    trapezoid,
    trapz,
)
from autocalc._ops.sequences.scatter_reduction import index_reduce, scatter_reduce
from autocalc._ops.sequences.searching import (
    bucketize,
    isin,
    searchsorted,
    unique,
    unique_consecutive,
)
from autocalc._ops.sequences.sorting import (
    argsort,
    kthvalue,
    median,
    msort,
    nanmedian,
    sort,
    topk,
)
from autocalc._ops.statistics.covariance import corrcoef, cov
from autocalc._ops.statistics.histograms import histogram, histogramdd
from autocalc._ops.statistics.quantiles import bincount, histc, nanquantile, quantile
from autocalc._ops.views.broadcasting import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_shapes,
    broadcast_tensors,
    broadcast_to,
    expand,
    expand_as,
)
from autocalc._ops.views.conversion import can_cast, detach, result_type
from autocalc._ops.views.inspection import _assert as _assert
from autocalc._ops.views.inspection import (
    is_complex,
    is_floating_point,
    is_nonzero,
    is_same_size,
    is_signed,
    is_tensor,
    numel,
)
from autocalc._ops.views.moving import movedim
from autocalc._ops.views.moving import movedim as moveaxis
from autocalc._ops.views.named_views import (
    ravel,
    reshape_as,
    swapaxes,
    unflatten,
    view_as,
)
from autocalc._ops.views.splitting import (
    chunk,
    dsplit,
    hsplit,
    narrow,
    select,
    split,
    split_with_sizes,
    tensor_split,
    unbind,
    vsplit,
)
from autocalc._ops.views.striding import as_strided
from autocalc._ops.views.view import (
    clone,
    flatten,
    permute,
    reshape,
    squeeze,
    t,
    transpose,
    unsqueeze,
)
from autocalc._ops.views.view import transpose as swapdims
from autocalc._tensor import Tensor
from autocalc._tensor.device import Device as device
from autocalc._tensor.dtypes import (
    DType,
    bfloat16,
    float16,
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
from autocalc._tensor.dtypes import float16 as half
from autocalc._tensor.dtypes import float32 as float
from autocalc._tensor.dtypes import float64 as double
from autocalc._tensor.dtypes import int16 as short
from autocalc._tensor.dtypes import int32 as int
from autocalc._tensor.dtypes import int64 as long
from autocalc._tensor.dtypes import promote as promote_types
from autocalc._tensor.generator import Generator, default_generator, manual_seed
from autocalc._tensor.limits import finfo, iinfo
from autocalc._tensor.memory_format import (
    channels_last,
    contiguous_format,
    preserve_format,
)
from autocalc._tensor.printing import set_printoptions
from autocalc._tensor.size import Size
from autocalc._version import __version__
from autocalc.autograd import (
    enable_grad,
    inference_mode,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    is_grad_enabled,
    live_node_count,
    no_grad,
    set_anomaly_enabled,
    set_grad_enabled,
)
from autocalc.kernels import (
    are_deterministic_algorithms_enabled,
    use_deterministic_algorithms,
)

#: What adds a dimension of size 1 among indices.
newaxis = None

__all__ = ["BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DType"]
__all__ += ["DoubleTensor", "FloatTensor", "Generator", "HalfTensor", "IntTensor"]
__all__ += ["LongTensor", "ShortTensor", "Size", "Tensor", "__version__", "abs"]
__all__ += ["absolute", "accelerator", "acos", "acosh", "add", "addbmm", "addcdiv"]
__all__ += ["addcmul", "addmm", "addmv", "addr", "adjoint", "alias_copy", "all"]
__all__ += ["allclose", "amax", "amin", "aminmax", "amp", "angle", "any", "arange"]
__all__ += ["arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh"]
__all__ += ["are_deterministic_algorithms_enabled", "argmax", "argmin", "argsort"]
__all__ += ["argwhere", "as_strided", "as_strided_copy", "as_strided_scatter"]
__all__ += ["as_tensor", "asarray", "asin", "asinh", "atan", "atan2", "atanh"]
__all__ += ["atleast_1d", "atleast_2d", "atleast_3d", "autocast", "autograd"]
__all__ += ["backends", "baddbmm", "bartlett_window", "bernoulli", "bfloat16"]
__all__ += ["bincount", "binomial", "bitwise_and", "bitwise_left_shift"]
__all__ += ["bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor"]
__all__ += ["blackman_window", "block_diag", "bmm", "bool", "broadcast_shapes"]
__all__ += ["broadcast_tensors", "broadcast_to", "bucketize", "callback", "can_cast"]
__all__ += ["cartesian_prod", "cat", "cdist", "ceil", "chain_matmul", "channels_last"]
__all__ += ["cholesky_inverse", "cholesky_solve", "chunk", "clamp", "clamp_max"]
__all__ += ["clamp_min", "clip", "clone", "column_stack", "combinations", "compile"]
__all__ += ["concat", "concatenate", "contiguous_format", "copysign", "corrcoef"]
__all__ += ["cos", "cosh", "count_nonzero", "cov", "cross", "cuda", "cummax"]
__all__ += ["cummin", "cumprod", "cumsum", "cumulative_trapezoid", "data"]
__all__ += ["default_generator", "deg2rad", "det", "detach", "detach_copy", "device"]
__all__ += ["diag", "diag_embed", "diagflat", "diagnostics", "diagonal"]
__all__ += ["diagonal_copy", "diagonal_scatter", "diff", "digamma", "dist"]
__all__ += ["distributed", "distributions", "div", "divide", "dot", "double"]
__all__ += ["dsplit", "dstack", "dtype", "e", "einsum", "empty", "empty_like"]
__all__ += ["enable_grad", "eq", "equal", "erf", "erfc", "erfinv", "exp", "exp2"]
__all__ += ["expand", "expand_as", "expand_copy", "expm1", "eye", "fft", "fill"]
__all__ += ["finfo", "fix", "flatten", "flip", "fliplr", "flipud", "float", "float16"]
__all__ += ["float32", "float64", "float_power", "floor", "floor_divide", "fmax"]
__all__ += ["fmin", "fmod", "frac", "frexp", "from_dlpack", "from_numpy"]
__all__ += ["frombuffer", "full", "full_like", "gather", "gcd", "ge", "ger"]
__all__ += ["get_default_device", "get_default_dtype", "get_float32_matmul_precision"]
__all__ += ["get_num_interop_threads", "get_num_threads", "get_rng_state", "gradient"]
__all__ += ["greater", "greater_equal", "gt", "half", "hamming_window", "hann_window"]
__all__ += ["heaviside", "histc", "histogram", "histogramdd", "hsplit", "hstack"]
__all__ += ["hypot", "i0", "igamma", "igammac", "iinfo", "index_add", "index_copy"]
__all__ += ["index_fill", "index_put", "index_reduce", "index_select", "inf"]
__all__ += ["inference_mode", "initial_seed", "inner", "int", "int8", "int16"]
__all__ += ["int32", "int64", "inverse", "is_anomaly_check_nan_enabled"]
__all__ += ["is_anomaly_enabled", "is_complex", "is_floating_point"]
__all__ += ["is_grad_enabled", "is_nonzero", "is_same_size", "is_signed", "is_tensor"]
__all__ += ["isclose", "isfinite", "isin", "isinf", "isnan", "isneginf", "isposinf"]
__all__ += ["istft", "kaiser_window", "kernels", "kron", "kthvalue", "lcm", "ldexp"]
__all__ += ["le", "lerp", "less", "less_equal", "lgamma", "linalg", "linspace"]
__all__ += ["live_node_count", "load", "log", "log1p", "log2", "log10", "log_softmax"]
__all__ += ["logaddexp", "logaddexp2", "logcumsumexp", "logdet", "logical_and"]
__all__ += ["logical_not", "logical_or", "logical_xor", "logit", "logspace"]
__all__ += ["logsumexp", "long", "lt", "lu", "lu_solve", "lu_unpack", "manual_seed"]
__all__ += ["masked_fill", "masked_scatter", "masked_select", "matmul", "matrix_exp"]
__all__ += ["matrix_power", "max", "maximum", "mean", "median", "memory", "meshgrid"]
__all__ += ["min", "minimum", "mm", "mode", "models", "moveaxis", "movedim", "msort"]
__all__ += ["mul", "multinomial", "multiply", "mv", "mvlgamma", "nan", "nan_to_num"]
__all__ += ["nanmean", "nanmedian", "nanquantile", "nansum", "narrow", "narrow_copy"]
__all__ += ["ne", "neg", "negative", "newaxis", "nextafter", "nn", "no_grad"]
__all__ += ["nonzero", "norm", "normal", "not_equal", "numel", "ones", "ones_like"]
__all__ += ["onnx", "optim", "outer", "pdist", "permute", "permute_copy", "pi"]
__all__ += ["pinverse", "poisson", "polygamma", "positive", "pow", "preserve_format"]
__all__ += ["prod", "profiler", "promote_types", "put", "quantile", "rad2deg", "rand"]
__all__ += ["rand_like", "randint", "randint_like", "randn", "randn_like", "random"]
__all__ += ["randperm", "ravel", "reciprocal", "relu", "remainder", "renorm"]
__all__ += ["repeat", "repeat_interleave", "reshape", "reshape_as", "result_type"]
__all__ += ["roll", "rot90", "round", "row_stack", "rsqrt", "rsub", "save"]
__all__ += ["scalar_tensor", "scatter", "scatter_add", "scatter_reduce"]
__all__ += ["searchsorted", "seed", "select", "select_copy", "select_scatter"]
__all__ += ["serial", "set_anomaly_enabled", "set_default_device"]
__all__ += ["set_default_dtype", "set_default_tensor_type"]
__all__ += ["set_float32_matmul_precision", "set_grad_enabled"]
__all__ += ["set_num_interop_threads", "set_num_threads", "set_printoptions"]
__all__ += ["set_rng_state", "sgn", "short", "sigmoid", "sign", "signbit", "sin"]
__all__ += ["sinc", "sinh", "slice_copy", "slice_scatter", "slogdet", "softmax"]
__all__ += ["sort", "special", "split", "split_copy", "split_with_sizes"]
__all__ += ["split_with_sizes_copy", "sqrt", "square", "squeeze", "squeeze_copy"]
__all__ += ["stack", "std", "std_mean", "stft", "sub", "subtract", "sum"]
__all__ += ["sum_to_size", "swapaxes", "swapdims", "t", "t_copy", "take"]
__all__ += ["take_along_dim", "tan", "tanh", "tensor", "tensor_split", "tensordot"]
__all__ += ["testing", "tile", "topk", "trace", "transpose", "transpose_copy"]
__all__ += ["trapezoid", "trapz", "triangular_solve", "tril", "tril_indices", "triu"]
__all__ += ["triu_indices", "true_divide", "trunc", "uint8", "unbind", "unbind_copy"]
__all__ += ["unflatten", "unfold_copy", "unique", "unique_consecutive"]
__all__ += ["unravel_index", "unsqueeze", "unsqueeze_copy"]
__all__ += ["use_deterministic_algorithms", "utils", "vander", "var", "var_mean"]
__all__ += ["vdot", "view_as", "view_copy", "vsplit", "vstack", "where", "xlogy"]
__all__ += ["zeros", "zeros_like"]

if _TYPE_CHECKING:
    from autocalc import (  # noqa: I001
        accelerator, amp, backends, cuda, data, diagnostics, distributed, distributions,
        fft, models, nn, onnx, optim, profiler, random, special, testing, utils,
    )  # fmt: skip
    from autocalc._compile import compile
    from autocalc.amp import autocast


def __getattr__(name: str) -> _Any:
    return _late.value_of(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_late.NAMES})


# Methods are functions of tensors: they come last.
_methods.attach()
_aliases.install()
_einops_import.watch()

# SPDX-License-Identifier: MIT
"""Names of `autocalc` that are looked up when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from autocalc._absent import missing

#: Imported when they are first used: they are a third of all modules.
LATE = frozenset(
    {
        *("accelerator", "amp", "backends", "cuda", "data", "distributed"),
        *("diagnostics", "distributions", "models", "nn", "onnx", "optim", "profiler"),
        *("fft", "func", "nested", "random", "sparse", "special", "testing"),
        "utils",
    }
)

#: Single names, and where they are.
FROM = {
    "channels_last_3d": "autocalc._tensor.memory_format",
    "TypedStorage": "autocalc._methods.typed_storage",
    **dict.fromkeys(
        (
            *("BFloat16Storage", "BoolStorage", "ByteStorage", "CharStorage"),
            *("DoubleStorage", "FloatStorage", "HalfStorage", "IntStorage"),
            *("LongStorage", "ShortStorage"),
        ),
        "autocalc._methods.storages",
    ),
    "UntypedStorage": "autocalc._tensor.storage",
    **dict.fromkeys(
        ("autocast", "get_autocast_dtype", "is_autocast_enabled"), "autocalc.amp"
    ),
    "compile": "autocalc._compile",
    "vmap": "autocalc.func",
    "quantize": "autocalc.nn.utils._quantize",
    **dict.fromkeys(
        (
            *("conj", "conj_physical", "imag", "is_conj", "is_neg", "isreal"),
            *("real", "resolve_conj", "resolve_neg", "view_as_complex", "view_as_real"),
        ),
        "autocalc._ops.complex_numbers.parts",
    ),
    **dict.fromkeys(("complex", "polar"), "autocalc._ops.complex_numbers.making"),
    **dict.fromkeys(
        (
            *("get_deterministic_debug_mode", "set_deterministic_debug_mode"),
            "is_deterministic_algorithms_warn_only_enabled",
        ),
        "autocalc.kernels",
    ),
    **dict.fromkeys(("cholesky", "qr", "svd"), "autocalc._ops.matrices.older_factors"),
    **dict.fromkeys(("pca_lowrank", "svd_lowrank"), "autocalc._ops.matrices.low_rank"),
    **dict.fromkeys(
        ("empty_permuted", "empty_strided"), "autocalc._ops.creation.strided"
    ),
    "is_inference": "autocalc._ops.views.inspection",
    "is_inference_mode_enabled": "autocalc._graph._grad_mode",
    **dict.fromkeys(
        ("unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes"),
        "autocalc._ops.views.splitting",
    ),
    "memory_format": "autocalc._tensor.memory_format",
    **dict.fromkeys(
        ("get_autocast_cpu_dtype", "is_autocast_cpu_enabled"), "autocalc.amp._autocast"
    ),
    **dict.fromkeys(("uint16", "uint32", "uint64"), "autocalc._tensor.dtypes"),
    "segment_reduce": "autocalc._ops.sequences.segments",
    **dict.fromkeys(
        ("complex64", "complex128", "cfloat", "cdouble"), "autocalc._tensor.dtypes"
    ),
    "typename": "autocalc._ops.creation.typed_tensors",
    "layout": "autocalc._tensor.layouts",
    **dict.fromkeys(
        ("jagged", "sparse_coo", "sparse_csc", "sparse_csr", "strided"),
        "autocalc._tensor.layouts",
    ),
    **dict.fromkeys(
        (
            *("sparse_compressed_tensor", "sparse_coo_tensor", "sparse_csc_tensor"),
            "sparse_csr_tensor",
        ),
        "autocalc.sparse._creation",
    ),
    **dict.fromkeys(("dsmm", "smm", "spmm"), "autocalc.sparse._functions"),
}

#: Functions of `nn.functional` that PyTorch has here as well.
OF_NN = frozenset(
    {
        *("adaptive_avg_pool1d", "adaptive_max_pool1d", "avg_pool1d", "batch_norm"),
        *("bilinear", "binary_cross_entropy_with_logits", "celu", "conv1d", "conv2d"),
        *("conv3d", "conv_transpose3d", "max_pool3d"),
        *("conv_transpose1d", "conv_transpose2d", "cosine_embedding_loss"),
        *("cosine_similarity", "dropout", "embedding", "embedding_bag", "group_norm"),
        *("instance_norm", "kl_div", "layer_norm", "max_pool1d", "max_pool2d"),
        *("pairwise_distance", "pixel_shuffle", "pixel_unshuffle", "prelu", "rms_norm"),
        *("selu", "triplet_margin_loss", "alpha_dropout", "feature_alpha_dropout"),
        *("hardshrink", "hinge_embedding_loss", "margin_ranking_loss"),
        *("poisson_nll_loss", "threshold", "threshold_"),
        *("celu_", "channel_shuffle", "ctc_loss", "rrelu", "rrelu_", "selu_"),
    }
)

#: Methods that write in place and that PyTorch has as functions, too.
IN_PLACE = frozenset(
    name + "_"
    for name in (
        *("abs", "acos", "acosh", "addmv", "asin", "asinh", "atan", "atanh", "ceil"),
        *("clamp", "clamp_max", "clamp_min", "clip", "cos", "cosh", "deg2rad"),
        *("detach", "erf", "erfc", "exp", "exp2", "expm1", "fill", "floor", "frac"),
        *("i0", "index_put", "log", "log10", "log1p", "log2", "logit", "nan_to_num"),
        *("neg",),
        *("rad2deg", "reciprocal", "relu", "round", "rsqrt", "sigmoid", "sin", "sinc"),
        *("sinh", "sqrt", "square", "tan", "tanh", "trunc", "xlogy", "zero"),
        *("arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "fix", "gcd"),
        *("lcm", "ldexp", "negative", "conj_physical"),
    )
)

NAMES = LATE | OF_NN | IN_PLACE | FROM.keys()


def value_of(name: str) -> Any:
    """Return `autocalc.<name>`, or raise what says where PyTorch's name is."""
    if name in LATE:
        return import_module(f"autocalc.{name}")
    if name in FROM:
        return getattr(import_module(FROM[name]), name)
    if name in IN_PLACE:
        from autocalc._tensor import Tensor

        return getattr(Tensor, name)
    if name in OF_NN:
        from autocalc.nn import _numbered_losses, functional

        return getattr(_numbered_losses, name, None) or getattr(functional, name)
    if name.startswith("_foreach_"):
        from autocalc._ops.elementwise import foreach

        if name in foreach.NAMES:
            return foreach.function(name)
    return missing(__package__, name)

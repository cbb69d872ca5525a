# SPDX-License-Identifier: MIT
"""What modules compute, as functions: everything is an argument."""

from autocalc._ops.functional import embedding, layer_norm, linear, rms_norm
from autocalc._ops.functional.attention import scaled_dot_product_attention
from autocalc._ops.functional.rotary import rotary_embedding
from autocalc.nn._functions._bilinear import (
    bilinear,
)
from autocalc.nn._functions._classification_losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    kl_div,
    nll_loss,
)
from autocalc.nn._functions._conv import (
    conv1d,
    conv2d,
    conv_transpose1d,
    conv_transpose2d,
)
from autocalc.nn._functions._distances import (
    cosine_similarity,
    normalize,
    pairwise_distance,
)
from autocalc.nn._functions._dropout import (
    dropout,
    dropout2d,
)
from autocalc.nn._functions._embedding_bag import (
    embedding_bag,
)
from autocalc.nn._functions._norms import (
    batch_norm,
    batch_norm_relu,
    group_norm,
    instance_norm,
)
from autocalc.nn._functions._pad import (
    one_hot,
    pad,
)
from autocalc.nn._functions._piecewise import (
    celu,
    elu,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    prelu,
    relu,
    relu6,
    relu_,
    selu,
)
from autocalc.nn._functions._pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    avg_pool1d,
    avg_pool2d,
    max_pool1d,
    max_pool2d,
)
from autocalc.nn._functions._regression_losses import (
    cosine_embedding_loss,
    huber_loss,
    l1_loss,
    mse_loss,
    smooth_l1_loss,
    triplet_margin_loss,
)
from autocalc.nn._functions._resizing import (
    interpolate,
    pixel_shuffle,
    pixel_unshuffle,
)
from autocalc.nn._functions._smooth import (
    gelu,
    glu,
    log_softmax,
    logsigmoid,
    mish,
    sigmoid,
    silu,
    softmax,
    softmin,
    softplus,
    softsign,
    tanh,
    tanhshrink,
)
from autocalc.nn._functions._unfolding import (
    fold,
    unfold,
)

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "avg_pool1d",
    "avg_pool2d",
    "batch_norm",
    "batch_norm_relu",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "conv1d",
    "conv2d",
    "conv_transpose1d",
    "conv_transpose2d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "dropout",
    "dropout2d",
    "elu",
    "embedding",
    "embedding_bag",
    "fold",
    "gelu",
    "glu",
    "group_norm",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "logsigmoid",
    "max_pool1d",
    "max_pool2d",
    "mish",
    "mse_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pixel_shuffle",
    "pixel_unshuffle",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rms_norm",
    "rotary_embedding",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "softmax",
    "softmin",
    "softplus",
    "softsign",
    "tanh",
    "tanhshrink",
    "triplet_margin_loss",
    "unfold",
]

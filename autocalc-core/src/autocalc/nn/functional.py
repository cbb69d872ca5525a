# SPDX-License-Identifier: MIT
"""The computations of modules as functions; the parameters are arguments."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._aliases import lookup as _lookup
from autocalc._ops.activations.rectifiers import (
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
from autocalc._ops.activations.smooth import (
    gelu,
    glu,
    logsigmoid,
    mish,
    sigmoid,
    silu,
    softplus,
    softsign,
    tanhshrink,
)
from autocalc._ops.activations.thresholds import (
    hardshrink,
    softshrink,
    threshold,
    threshold_,
)
from autocalc._ops.attention.dot_product import scaled_dot_product_attention
from autocalc._ops.attention.rotary import rotary_embedding
from autocalc._ops.convolutions.conv import conv1d, conv2d, conv3d
from autocalc._ops.convolutions.conv_transpose import (
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from autocalc._ops.convolutions.padding import pad
from autocalc._ops.convolutions.unfolding import fold, unfold
from autocalc._ops.elementwise.trigonometric import tanh
from autocalc._ops.embedding.bags import embedding_bag
from autocalc._ops.embedding.rows import embedding, one_hot
from autocalc._ops.images.grid_sampling import affine_grid, grid_sample
from autocalc._ops.images.resizing import (
    channel_shuffle,
    interpolate,
    pixel_shuffle,
    pixel_unshuffle,
)
from autocalc._ops.in_place._rectifiers import (
    celu_,
    elu_,
    hardtanh_,
    leaky_relu_,
    selu_,
)
from autocalc._ops.losses.binary_losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
)
from autocalc._ops.losses.classification_losses import cross_entropy, nll_loss
from autocalc._ops.losses.ctc_loss import ctc_loss
from autocalc._ops.losses.likelihood_losses import (
    gaussian_nll_loss,
    kl_div,
    poisson_nll_loss,
)
from autocalc._ops.losses.margin_losses import (
    hinge_embedding_loss,
    margin_ranking_loss,
    multi_margin_loss,
    soft_margin_loss,
)
from autocalc._ops.losses.multilabel_losses import (
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
)
from autocalc._ops.losses.regression_losses import (
    huber_loss,
    l1_loss,
    mse_loss,
    smooth_l1_loss,
)
from autocalc._ops.losses.similarity_losses import (
    cosine_embedding_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from autocalc._ops.matrices.distance import (
    cosine_similarity,
    normalize,
    pairwise_distance,
    pdist,
)
from autocalc._ops.matrices.grouped_products import grouped_mm
from autocalc._ops.matrices.matmul import bilinear, linear
from autocalc._ops.norms.batch_norm import batch_norm, batch_norm_relu
from autocalc._ops.norms.group_norm import group_norm, instance_norm
from autocalc._ops.norms.layer_norm import layer_norm, rms_norm
from autocalc._ops.norms.local_response_norm import local_response_norm
from autocalc._ops.pooling.avg_pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
)
from autocalc._ops.pooling.fractional_pooling import (
    fractional_max_pool2d,
    fractional_max_pool3d,
)
from autocalc._ops.pooling.max_pooling import (
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from autocalc._ops.pooling.pooling_variants import (
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from autocalc._ops.random.alpha_dropout import alpha_dropout, feature_alpha_dropout
from autocalc._ops.random.dropout import dropout, dropout1d, dropout2d, dropout3d
from autocalc._ops.random.random_activations import gumbel_softmax, rrelu, rrelu_
from autocalc._ops.reductions.softmax import log_softmax, softmax, softmin
from autocalc.nn import grad  # noqa: F401  PyTorch has it here as well
from autocalc.nn._functional.linear_cross_entropy import linear_cross_entropy
from autocalc.nn._functional.multi_head_attention import multi_head_attention_forward
from autocalc.nn._old_names import upsample, upsample_bilinear, upsample_nearest

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "affine_grid",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "batch_norm_relu",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "elu_",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "grid_sample",
    "group_norm",
    "grouped_mm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "linear_cross_entropy",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mse_loss",
    "multi_head_attention_forward",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rms_norm",
    "rotary_embedding",
    "rrelu",
    "rrelu_",
    "scaled_dot_product_attention",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

if not _TYPE_CHECKING:  # type checkers know the names that exist
    __getattr__ = _lookup(__name__)

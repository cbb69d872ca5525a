# SPDX-License-Identifier: MIT
"""Tools for modules and gradients: clipping, pruning, fusing and parametrizations."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._aliases import lookup as _lookup
from autocalc.nn._clip import (
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from autocalc.nn._old_names import clip_grad_norm
from autocalc.nn.utils import lora, parametrizations, parametrize, prune, rnn
from autocalc.nn.utils._flat_parameters import (
    parameters_to_vector,
    vector_to_parameters,
)
from autocalc.nn.utils._fusing import (
    conv_norm_relu,
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
)
from autocalc.nn.utils._skip_init import skip_init
from autocalc.nn.utils._spectral_norm import remove_spectral_norm, spectral_norm
from autocalc.nn.utils._weight_norm import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "conv_norm_relu",
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
    "get_total_norm",
    "lora",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "prune",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]

if not _TYPE_CHECKING:  # type checkers know the names that exist
    __getattr__ = _lookup(__name__)

# SPDX-License-Identifier: MIT
"""Neural network modules: layers, losses, containers and their base class `Module`."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._aliases import lookup as _lookup
from autocalc.nn import attention, functional, grad, init, parallel, parameter, utils
from autocalc.nn._distributed.data_parallel import DataParallel
from autocalc.nn._distributed.sync_batch_norm import SyncBatchNorm
from autocalc.nn._functional.linear_cross_entropy import LinearCrossEntropyOptions
from autocalc.nn._layers.activations.activation import (
    GELU,
    GLU,
    LogSigmoid,
    LogSoftmax,
    ReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softmax2d,
    Softmin,
    Softplus,
    Softsign,
    Tanh,
    Tanhshrink,
)
from autocalc.nn._layers.activations.piecewise import (
    CELU,
    ELU,
    SELU,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    Mish,
    PReLU,
    ReLU6,
    RReLU,
)
from autocalc.nn._layers.activations.thresholds import Hardshrink, Softshrink, Threshold
from autocalc.nn._layers.adaptive_softmax import AdaptiveLogSoftmaxWithLoss
from autocalc.nn._layers.attention.multihead import MultiheadAttention
from autocalc.nn._layers.attention.transformer import (
    Transformer,
    TransformerDecoder,
    TransformerEncoder,
)
from autocalc.nn._layers.attention.transformer_layers import (
    TransformerDecoderLayer,
    TransformerEncoderLayer,
)
from autocalc.nn._layers.bilinear import Bilinear
from autocalc.nn._layers.containers.container import ModuleList, Sequential
from autocalc.nn._layers.containers.named import ModuleDict
from autocalc.nn._layers.containers.parameters import ParameterDict, ParameterList
from autocalc.nn._layers.convolutions.conv import Conv1d, Conv2d, Conv3d
from autocalc.nn._layers.convolutions.conv_transpose import (
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from autocalc.nn._layers.convolutions.padding import (
    CircularPad1d,
    CircularPad2d,
    CircularPad3d,
    ConstantPad1d,
    ConstantPad2d,
    ConstantPad3d,
    ReflectionPad1d,
    ReflectionPad2d,
    ReflectionPad3d,
    ReplicationPad1d,
    ReplicationPad2d,
    ReplicationPad3d,
    ZeroPad1d,
    ZeroPad2d,
    ZeroPad3d,
)
from autocalc.nn._layers.dropout import (
    AlphaDropout,
    Dropout,
    Dropout1d,
    Dropout2d,
    Dropout3d,
    FeatureAlphaDropout,
)
from autocalc.nn._layers.embedding import Embedding, EmbeddingBag
from autocalc.nn._layers.flatten import Flatten, Unflatten
from autocalc.nn._layers.lazy.conv import (
    LazyConv1d,
    LazyConv2d,
    LazyConv3d,
    LazyConvTranspose1d,
    LazyConvTranspose2d,
    LazyConvTranspose3d,
)
from autocalc.nn._layers.lazy.linear import LazyLinear
from autocalc.nn._layers.lazy.norms import (
    LazyBatchNorm1d,
    LazyBatchNorm2d,
    LazyBatchNorm3d,
    LazyInstanceNorm1d,
    LazyInstanceNorm2d,
    LazyInstanceNorm3d,
)
from autocalc.nn._layers.linear import Identity, Linear
from autocalc.nn._layers.losses.ctc import CTCLoss
from autocalc.nn._layers.losses.likelihood import GaussianNLLLoss, PoissonNLLLoss
from autocalc.nn._layers.losses.linear_cross_entropy import LinearCrossEntropyLoss
from autocalc.nn._layers.losses.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    KLDivLoss,
    NLLLoss,
)
from autocalc.nn._layers.losses.margin import (
    HingeEmbeddingLoss,
    MarginRankingLoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    SoftMarginLoss,
    TripletMarginWithDistanceLoss,
)
from autocalc.nn._layers.losses.regression import (
    CosineEmbeddingLoss,
    CosineSimilarity,
    HuberLoss,
    L1Loss,
    MSELoss,
    PairwiseDistance,
    SmoothL1Loss,
    TripletMarginLoss,
)
from autocalc.nn._layers.norms.batch_norm import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
)
from autocalc.nn._layers.norms.group_norm import GroupNorm
from autocalc.nn._layers.norms.layer_norm import LayerNorm, LocalResponseNorm, RMSNorm
from autocalc.nn._layers.pooling.fractional import (
    FractionalMaxPool2d,
    FractionalMaxPool3d,
)
from autocalc.nn._layers.pooling.pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AdaptiveMaxPool3d,
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
)
from autocalc.nn._layers.pooling.variants import (
    LPPool1d,
    LPPool2d,
    LPPool3d,
    MaxUnpool1d,
    MaxUnpool2d,
    MaxUnpool3d,
)
from autocalc.nn._layers.quantized import QuantizedEmbedding, QuantizedLinear
from autocalc.nn._layers.recurrent.base import RNNBase
from autocalc.nn._layers.recurrent.cells import GRUCell, LSTMCell, RNNCell, RNNCellBase
from autocalc.nn._layers.recurrent.networks import GRU, LSTM, RNN
from autocalc.nn._layers.resizing import (
    ChannelShuffle,
    Fold,
    PixelShuffle,
    PixelUnshuffle,
    Unfold,
    Upsample,
    UpsamplingBilinear2d,
    UpsamplingNearest2d,
)
from autocalc.nn._module.buffer import Buffer
from autocalc.nn._module.module import Module
from autocalc.nn._module.parameter import Parameter
from autocalc.nn._module.uninitialized import (
    UninitializedBuffer,
    UninitializedParameter,
)

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "GRU",
    "LSTM",
    "RNN",
    "SELU",
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveLogSoftmaxWithLoss",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AlphaDropout",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Bilinear",
    "Buffer",
    "CTCLoss",
    "ChannelShuffle",
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "CosineEmbeddingLoss",
    "CosineSimilarity",
    "CrossEntropyLoss",
    "DataParallel",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "Embedding",
    "EmbeddingBag",
    "FeatureAlphaDropout",
    "Flatten",
    "Fold",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "GRUCell",
    "GaussianNLLLoss",
    "GroupNorm",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "Identity",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "KLDivLoss",
    "L1Loss",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "LSTMCell",
    "LayerNorm",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "LazyLinear",
    "LeakyReLU",
    "Linear",
    "LinearCrossEntropyLoss",
    "LinearCrossEntropyOptions",
    "LocalResponseNorm",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "MarginRankingLoss",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
    "Mish",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "MultiheadAttention",
    "NLLLoss",
    "PReLU",
    "PairwiseDistance",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "PixelShuffle",
    "PixelUnshuffle",
    "PoissonNLLLoss",
    "QuantizedEmbedding",
    "QuantizedLinear",
    "RMSNorm",
    "RNNBase",
    "RNNCell",
    "RNNCellBase",
    "RReLU",
    "ReLU",
    "ReLU6",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "SyncBatchNorm",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
    "Unflatten",
    "Unfold",
    "UninitializedBuffer",
    "UninitializedParameter",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
    "attention",
    "functional",
    "grad",
    "init",
    "parallel",
    "parameter",
    "utils",
]

if not _TYPE_CHECKING:  # type checkers know the names that exist
    __getattr__ = _lookup(__name__)

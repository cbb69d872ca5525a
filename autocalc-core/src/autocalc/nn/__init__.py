# SPDX-License-Identifier: MIT
"""Modules: what networks are made of."""

from autocalc.nn import functional, init, utils
from autocalc.nn._activation import (
    GELU,
    LogSoftmax,
    ReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
)
from autocalc.nn._container import ModuleList, Sequential
from autocalc.nn._dropout import Dropout
from autocalc.nn._embedding import Embedding
from autocalc.nn._flatten import Flatten
from autocalc.nn._linear import Identity, Linear
from autocalc.nn._loss import CrossEntropyLoss, MSELoss
from autocalc.nn._module import Module
from autocalc.nn._norm import LayerNorm, RMSNorm
from autocalc.nn._parameter import Parameter

__all__ = [
    "GELU",
    "CrossEntropyLoss",
    "Dropout",
    "Embedding",
    "Flatten",
    "Identity",
    "LayerNorm",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "Module",
    "ModuleList",
    "Parameter",
    "RMSNorm",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Tanh",
    "functional",
    "init",
    "utils",
]

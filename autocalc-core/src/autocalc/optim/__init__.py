# SPDX-License-Identifier: MIT
"""Optimizers: how parameters follow their gradients."""

from autocalc.optim import lr_scheduler, swa_utils
from autocalc.optim._adadelta import Adadelta
from autocalc.optim._adagrad import Adagrad
from autocalc.optim._adam import Adam, AdamW
from autocalc.optim._lion import Lion
from autocalc.optim._optimizer import Optimizer
from autocalc.optim._rmsprop import RMSprop
from autocalc.optim._sgd import SGD

__all__ = [
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Lion",
    "Optimizer",
    "RMSprop",
    "lr_scheduler",
    "swa_utils",
]

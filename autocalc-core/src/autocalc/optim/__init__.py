# SPDX-License-Identifier: MIT
"""Optimizers: algorithms that update the parameters of a model from their gradients."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._aliases import lookup as _lookup
from autocalc.optim import lr_scheduler, swa_utils
from autocalc.optim._adadelta import Adadelta
from autocalc.optim._adafactor import Adafactor
from autocalc.optim._adagrad import Adagrad
from autocalc.optim._adam import Adam, AdamW
from autocalc.optim._adamax import Adamax
from autocalc.optim._asgd import ASGD
from autocalc.optim._lbfgs import LBFGS
from autocalc.optim._lion import Lion
from autocalc.optim._muon import Muon
from autocalc.optim._nadam import NAdam
from autocalc.optim._optimizer import Optimizer
from autocalc.optim._radam import RAdam
from autocalc.optim._rmsprop import RMSprop
from autocalc.optim._rprop import Rprop
from autocalc.optim._sgd import SGD
from autocalc.optim._sparse_adam import SparseAdam
from autocalc.optim._zero_redundancy import ZeroRedundancyOptimizer

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Lion",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "ZeroRedundancyOptimizer",
    "lr_scheduler",
    "swa_utils",
]

if not _TYPE_CHECKING:  # type checkers know the names that exist
    __getattr__ = _lookup(__name__)

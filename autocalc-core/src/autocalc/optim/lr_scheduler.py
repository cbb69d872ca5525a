# SPDX-License-Identifier: MIT
"""Learning rate schedulers."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._aliases import lookup as _lookup
from autocalc.optim._schedulers import _base
from autocalc.optim._schedulers._base import LRScheduler
from autocalc.optim._schedulers._combined import ChainedScheduler, SequentialLR
from autocalc.optim._schedulers._cosine import (
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
)
from autocalc.optim._schedulers._cyclic import CyclicLR
from autocalc.optim._schedulers._factors import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from autocalc.optim._schedulers._one_cycle import OneCycleLR
from autocalc.optim._schedulers._plateau import ReduceLROnPlateau

#: An old name of the base class, for subclasses and `isinstance`.
_LRScheduler = LRScheduler

#: The warning of ``step(epoch)``.
EPOCH_DEPRECATION_WARNING = _base.EPOCH_DEPRECATION_WARNING

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]

if not _TYPE_CHECKING:  # type checkers know the names that exist
    __getattr__ = _lookup(__name__)

# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn import BCELoss as BCELoss
from autocalc.nn import BCEWithLogitsLoss as BCEWithLogitsLoss
from autocalc.nn import CosineEmbeddingLoss as CosineEmbeddingLoss
from autocalc.nn import CrossEntropyLoss as CrossEntropyLoss
from autocalc.nn import CTCLoss as CTCLoss
from autocalc.nn import GaussianNLLLoss as GaussianNLLLoss
from autocalc.nn import HingeEmbeddingLoss as HingeEmbeddingLoss
from autocalc.nn import HuberLoss as HuberLoss
from autocalc.nn import KLDivLoss as KLDivLoss
from autocalc.nn import L1Loss as L1Loss
from autocalc.nn import LinearCrossEntropyLoss as LinearCrossEntropyLoss
from autocalc.nn import MarginRankingLoss as MarginRankingLoss
from autocalc.nn import MSELoss as MSELoss
from autocalc.nn import MultiLabelMarginLoss as MultiLabelMarginLoss
from autocalc.nn import MultiLabelSoftMarginLoss as MultiLabelSoftMarginLoss
from autocalc.nn import MultiMarginLoss as MultiMarginLoss
from autocalc.nn import NLLLoss as NLLLoss
from autocalc.nn import PoissonNLLLoss as PoissonNLLLoss
from autocalc.nn import SmoothL1Loss as SmoothL1Loss
from autocalc.nn import SoftMarginLoss as SoftMarginLoss
from autocalc.nn import TripletMarginLoss as TripletMarginLoss
from autocalc.nn import TripletMarginWithDistanceLoss as TripletMarginWithDistanceLoss
from autocalc.nn._layers.losses.loss import _Loss as _Loss
from autocalc.nn._layers.losses.loss import _WeightedLoss as _WeightedLoss

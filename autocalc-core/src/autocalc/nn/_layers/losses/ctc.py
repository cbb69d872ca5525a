# SPDX-License-Identifier: MIT
"""CTC loss, for texts that are shorter than the sequences they are read from."""

from __future__ import annotations

from typing import Any

from autocalc._ops._operator.checks import check_sizes
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flags
from autocalc.nn import functional
from autocalc.nn._layers.losses.loss import _Loss


class CTCLoss(_Loss):
    """Connectionist temporal classification, a loss for texts of unknown alignment.

    An alignment assigns one class to each step of the input. The loss is -log(p), where
    p is the sum of the probabilities of all alignments that give the text.
    `functional.ctc_loss` has the formula.

    Graves et al.: Connectionist temporal classification (ICML 2006).

    Parameters
    ----------
    blank
        The index of the blank class.
    reduction
        The reduction of the losses of all elements: ``"mean"``, ``"sum"`` or
        ``"none"``.
    zero_infinity
        True to return 0 instead of infinity for a text that has no alignment.

    Examples
    --------
    >>> import autocalc as ac
    >>> log_probs = ac.randn(12, 2, 5).log_softmax(-1)
    >>> texts = ac.tensor([[1, 2, 3], [4, 4, 0]])
    >>> ac.nn.CTCLoss()(log_probs, texts, [12, 10], [3, 2]).shape
    autocalc.Size([])
    """

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        check_flags("CTCLoss", zero_infinity=zero_infinity)
        (blank,) = check_sizes("CTCLoss", blank=blank)
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(
        self,
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Any,
        target_lengths: Any,
    ) -> Tensor:
        """Return the loss of log-probabilities (T, N, C) and target texts.

        The arguments are those of `functional.ctc_loss`.
        """
        return functional.ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )

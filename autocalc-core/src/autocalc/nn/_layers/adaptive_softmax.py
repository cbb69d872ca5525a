# SPDX-License-Identifier: MIT
"""A softmax over very many classes, with the rare ones in clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from autocalc._ops._operator.checks import check_float, check_sizes
from autocalc._ops.arranging import joining
from autocalc._ops.indexing import indexing, scattering
from autocalc._ops.indexing.masking import nonzero
from autocalc._ops.reductions import extrema, reduction
from autocalc._ops.reductions.softmax import log_softmax
from autocalc._ops.views import view
from autocalc._ops.views.splitting import narrow, select
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import as_int, check_flags, number, require, sequence
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError, DTypeError, ShapeError
from autocalc.nn._layers.containers.container import ModuleList, Sequential
from autocalc.nn._layers.linear import Linear
from autocalc.nn._module.module import Module


class ASMoutput(NamedTuple):
    """The log-probability of each target, and the loss: minus their mean."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Adaptive softmax: log-probabilities of very many classes.

    Rare classes are grouped into clusters. Number the classes by frequency, the most
    frequent class first.  The classes before the first cutoff form the head.  The head
    also has one entry for each cluster, so that::

        log p(class) = log p(cluster) + log p(class in its cluster)

    A cluster is only computed for the rows whose target is in it.

    Grave et al.: Efficient softmax approximation for GPUs (ICML 2017).

    Parameters
    ----------
    in_features
        The number of features of the input (the size of its last dimension).
    n_classes
        The number of classes.
    cutoffs
        The first class of each cluster: increasing integers from 1 to n_classes - 1.
    div_value
        Cluster i uses a projection to in_features // div_value**(i + 1) features.
    head_bias
        True to give the head a bias.
    device, dtype
        The device and the floating-point dtype of the parameters.  None means the
        default device and the default dtype.

    Raises
    ------
    ArgumentError
        If `cutoffs` are not increasing, or if an argument is out of range.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.AdaptiveLogSoftmaxWithLoss(8, 100, [10, 50])
    >>> out = layer(ac.randn(5, 8), ac.tensor([0, 9, 10, 50, 99]))
    >>> out.output.shape, out.loss.shape
    (autocalc.Size([5]), autocalc.Size([]))
    >>> layer.log_prob(ac.randn(5, 8)).shape
    autocalc.Size([5, 100])
    """

    head: Linear
    tail: ModuleList

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        where = "AdaptiveLogSoftmaxWithLoss"
        check_flags(where, head_bias=head_bias)
        in_features, n_classes = check_sizes(
            where, in_features=in_features, n_classes=n_classes
        )
        super().__init__()
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*_rising(where, cutoffs, n_classes), n_classes]
        self.div_value = number(where, "div_value", div_value)
        require(where, "div_value", self.div_value, self.div_value > 0, "above 0")
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(
            in_features, self.head_size, bias=head_bias, device=device, dtype=dtype
        )
        self.tail = ModuleList(
            self._cluster(i, device, dtype) for i in range(self.n_clusters)
        )

    def _cluster(
        self, i: int, device: str | Device | None, dtype: DType | None
    ) -> Sequential:
        features = int(self.in_features // self.div_value ** (i + 1))
        size = self.cutoffs[i + 1] - self.cutoffs[i]
        return Sequential(
            Linear(self.in_features, features, bias=False, device=device, dtype=dtype),
            Linear(features, size, bias=False, device=device, dtype=dtype),
        )

    def reset_parameters(self) -> None:
        """Draw new initial values for all parameters."""
        for layer in self.modules():
            if isinstance(layer, Linear):
                layer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> ASMoutput:
        """Return the log-probabilities of the targets, and the loss.

        Parameters
        ----------
        input_
            The features, of shape (N, in_features) or (in_features,).
        target_
            The target classes, of shape (N,) or (): integers from 0 to n_classes - 1.
        """
        rows, targets = self._checked(input_, target_)
        head = log_softmax(self.head(rows), 1)
        places = self._places_in_head(targets)
        output = view.squeeze(indexing.gather(head, 1, view.unsqueeze(places, 1)), 1)
        for i, layer in enumerate(self.tail):
            low, high = self.cutoffs[i : i + 2]
            (mine,) = nonzero((targets >= low) & (targets < high), as_tuple=True)
            if mine.shape[0]:
                inside = log_softmax(layer(indexing.index_select(rows, 0, mine)), 1)
                labels = indexing.index_select(targets, 0, mine) - low
                found = indexing.gather(inside, 1, view.unsqueeze(labels, 1))
                output = scattering.index_add(output, 0, mine, view.squeeze(found, 1))
        loss = -reduction.mean(output)
        single = target_.ndim == 0
        return ASMoutput(view.squeeze(output, 0) if single else output, loss)

    def _places_in_head(self, targets: Tensor) -> Tensor:
        """Return each target's place in the head: its own or that of its cluster."""
        places = targets.clamp(max=self.shortlist_size)
        for cutoff in self.cutoffs[1:-1]:
            places = places + (targets >= cutoff).long()
        return places

    def log_prob(self, input: Tensor) -> Tensor:
        """Return the log-probabilities of all classes, of shape (N, n_classes).

        Parameters
        ----------
        input
            The features, of shape (N, in_features).

        Examples
        --------
        >>> import autocalc as ac
        >>> layer = ac.nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2])
        >>> p = layer.log_prob(ac.zeros(1, 4)).exp()
        >>> round(p.sum().item(), 5)
        1.0
        """
        rows = self._rows(input, "log_prob", 2)
        head = log_softmax(self.head(rows), 1)
        parts = [narrow(head, 1, 0, self.shortlist_size)]
        for i, layer in enumerate(self.tail):
            cluster = view.unsqueeze(select(head, 1, self.shortlist_size + i), 1)
            parts.append(log_softmax(layer(rows), 1) + cluster)
        return joining.cat(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """Return the most probable class of each row, of shape (N,) and dtype int64.

        Parameters
        ----------
        input
            The features, of shape (N, in_features).

        Examples
        --------
        >>> import autocalc as ac
        >>> layer = ac.nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2])
        >>> x = ac.randn(3, 4)
        >>> ac.equal(layer.predict(x), layer.log_prob(x).argmax(1))
        True
        """
        return extrema.argmax(self.log_prob(input), 1)

    # ---- arguments -------------------------------------------------------------------

    def _rows(self, input: Any, method: str, *ndims: int) -> Tensor:
        where = f"AdaptiveLogSoftmaxWithLoss.{method}"
        check_float(where, input)
        if input.ndim not in ndims or input.shape[-1] != self.in_features:
            raise ShapeError(
                f"{where}: `input` has shape {input.shape}; it must be [N, "
                f"{self.in_features}]."
            )
        return input if input.ndim == 2 else view.unsqueeze(input, 0)

    def _checked(self, input: Any, target: Any) -> tuple[Tensor, Tensor]:
        """Return input and targets with a batch dimension."""
        rows = self._rows(input, "forward", 1, 2)
        where = "AdaptiveLogSoftmaxWithLoss.forward"
        if not isinstance(target, Tensor) or target.shape != input.shape[:-1]:
            given = target.shape if isinstance(target, Tensor) else repr(target)
            raise ShapeError(
                f"{where}: Input and target should have the same size in the batch "
                f"dimension, but `target` is {given} and `input` has shape "
                f"{input.shape}."
            )
        if target.is_floating_point() or target.dtype is dtypes.bool_:
            raise DTypeError(
                f"{where}: `target` has dtype {target.dtype.name}; labels must be "
                f"integers."
            )
        labels = view.reshape(target, (-1,)).to(dtypes.int64)
        if bool(((labels < 0) | (labels >= self.n_classes)).any()):
            raise ArgumentError(
                f"{where}: Target values should be in [0, {self.n_classes - 1}], but "
                f"`target` holds labels from {labels.min().item()} to "
                f"{labels.max().item()}."
            )
        return rows, labels


def _rising(where: str, cutoffs: Any, n_classes: int) -> list[int]:
    """Return where the clusters begin, as increasing integers."""
    given = [as_int(where, "cutoffs", c) for c in sequence(where, "cutoffs", cutoffs)]
    rises = all(a < b for a, b in zip([0, *given], [*given, n_classes], strict=True))
    if not given or not rises:
        raise ArgumentError(
            f"{where}: cutoffs should be a sequence of unique, positive integers in "
            f"ascending order, between 1 and n_classes - 1 = {n_classes - 1}, but they "
            f"are {given}."
        )
    return given

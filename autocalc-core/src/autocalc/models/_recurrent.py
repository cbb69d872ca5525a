# SPDX-License-Identifier: MIT
"""A recurrent model of what comes next.

Mikolov et al., Recurrent neural network based language model (2010), with the cells of
Hochreiter and Schmidhuber (1997).  Shapes: B texts, S positions, d features, L layers,
V tokens.
"""

from __future__ import annotations

from autocalc import nn
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError, ShapeError
from autocalc.nn import functional, init


class StateCache:
    """The state of a recurrent language model: h and c, with a row for each layer.

    Its size does not depend on the length of the text.

    Parameters
    ----------
    h, c
        The states after the text that was read so far, each of shape (L, B, d) for L
        layers, B texts and d features.

    Attributes
    ----------
    count
        The number of positions that were read.

    Examples
    --------
    >>> import autocalc as ac
    >>> model = ac.models.TextLSTM(vocabulary=10, d_model=4, layers=1)
    >>> cache = model.make_caches(2)
    >>> logits = model(ac.tensor([[1, 2, 3], [4, 5, 6]]), cache)
    >>> cache.count, cache.h.shape
    (3, autocalc.Size([1, 2, 4]))
    """

    def __init__(self, h: Tensor, c: Tensor) -> None:
        self.h, self.c = h, c
        self.count = 0

    def detach(self) -> None:
        """Detach the states from their autograd history, in place.

        Gradients stop here.  Call it between two parts of one text, for truncated
        backpropagation through time (Williams, Peng 1990).
        """
        self.h, self.c = self.h.detach(), self.c.detach()


class TextLSTM(nn.Module):
    """An LSTM language model, which predicts the next token at each position.

    For tokens of shape (B, S), the model computes the following.  E is the embedding
    table::

        x = E[tokens]                               (B, S, d)
        h_t, c_t = LSTM(x_t, h_{t-1}, c_{t-1})      L layers, t = 1, ..., S
        logits = dropout(h) E^T + b                 (B, S, V)

    Parameters
    ----------
    vocabulary
        The number of tokens V.
    d_model
        The number of features d of the embeddings and of the states.
    layers
        The number of layers L.
    dropout
        The probability that an element is set to 0 in training, between the layers and
        before the last product.
    tied
        True to use the embedding table E as the weight of the last layer (Press, Wolf
        2017).

    Attributes
    ----------
    context
        None, because a text can have any length.

    Raises
    ------
    ArgumentError
        If a size is less than 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> model = ac.models.TextLSTM(vocabulary=65, d_model=32)
    >>> tokens = ac.randint(0, 65, (8, 64))
    >>> model(tokens).shape
    autocalc.Size([8, 64, 65])
    >>> ac.models.generate(model, tokens[:, :10], 5).shape
    autocalc.Size([8, 15])
    """

    context: int | None = None

    def __init__(
        self,
        vocabulary: int,
        d_model: int = 128,
        layers: int = 2,
        *,
        dropout: float = 0.0,
        tied: bool = True,
    ) -> None:
        super().__init__()
        if min(vocabulary, d_model, layers) < 1:
            raise ArgumentError(
                f"TextLSTM: vocabulary={vocabulary}, d_model={d_model}, "
                f"layers={layers}; all must be at least 1."
            )
        self.tokens = nn.Embedding(vocabulary, d_model)
        between = dropout if layers > 1 else 0.0
        self.lstm = nn.LSTM(d_model, d_model, layers, batch_first=True, dropout=between)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(d_model, vocabulary)
        if tied:
            self.head.weight = self.tokens.weight
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values for all weights.

        The embedding table is uniform on [-0.1, 0.1].  The other weights are those of
        `LSTM`.
        """
        self.lstm.reset_parameters()
        for weight in (self.tokens.weight, self.head.weight):
            init.uniform_(weight, -0.1, 0.1)
        if self.head.bias is not None:
            init.zeros_(self.head.bias)

    def forward(self, tokens: Tensor, caches: StateCache | None = None) -> Tensor:
        """Return logits (B, S, V) of the next token, for each of `tokens` (B, S).

        Parameters
        ----------
        tokens
            The tokens: integers of shape (B, S).
        caches
            The state after the earlier tokens, made by `make_caches`.  If it is given,
            `tokens` are the tokens that follow the earlier ones, and the state is
            updated.
        """
        if tokens.ndim != 2 or tokens.shape[1] == 0:
            raise ShapeError(
                f"TextLSTM: `tokens` has shape {tokens.shape}; it must be [B, S] with "
                f"S at least 1."
            )
        before = None if caches is None else (caches.h, caches.c)
        states, after = self.lstm(self.tokens(tokens), before)
        if caches is not None:
            caches.h, caches.c = after
            caches.count += tokens.shape[1]
        logits: Tensor = self.head(self.dropout(states))
        return logits

    def make_caches(self, batch: int) -> StateCache:
        """Return the state at the beginning of a text: zeros."""
        shape = (self.lstm.num_layers, batch, self.lstm.hidden_size)
        like = self.tokens.weight
        return StateCache(like.new_zeros(*shape), like.new_zeros(*shape))

    def loss(
        self, tokens: Tensor, targets: Tensor, caches: StateCache | None = None
    ) -> Tensor:
        """Return the mean cross-entropy over all positions of `tokens` (B, S)."""
        logits = self(tokens, caches)
        flat = logits.reshape(-1, logits.shape[-1])
        return functional.cross_entropy(flat, targets.reshape(-1))

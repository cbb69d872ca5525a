# SPDX-License-Identifier: MIT
"""Fine-tuning of a language model of others by adapters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autocalc._graph._grad_mode import no_grad
from autocalc._ops.creation.from_data import tensor
from autocalc._ops.random.random_draws import randint
from autocalc._tensor import Tensor
from autocalc._tensor.checks import require
from autocalc._tensor.dtypes import int64
from autocalc._tensor.generator import Generator, manual_seed
from autocalc.models import _precision, _ranks
from autocalc.models._examples import IGNORED, Example
from autocalc.models._schedule import scheduled_rate
from autocalc.models._training import OPTIMIZERS, TextHistory, TextTraining, train_step
from autocalc.nn.utils import lora


@dataclass(frozen=True)
class FineTuneConfig:
    """The settings of a fine-tuning; with the data they determine the result."""

    model: str = "llama"
    lora: int = 8
    alpha: float | None = None
    targets: tuple[str, ...] = ()
    dropout: float = 0.0
    steps: int = 500
    batch_size: int = 4
    seq_len: int = 256
    optimizer: str = "adamw"
    lr: float = 2e-4
    weight_decay: float = 0.0
    warmup: int = 20
    schedule: str = "cosine"
    grad_clip: float = 1.0
    eval_every: int = 100
    seed: int = 0
    precision: str = "float32"

    def rate(self, step: int) -> float:
        """Return the learning rate of step number `step`, counted from 0."""
        last = 0.1  # a tenth of the highest, as in other trainings on text
        return scheduled_rate(
            step, self.steps, self.lr, self.schedule, warmup=self.warmup, last=last
        )


class FineTuning(TextTraining):
    """Trains an adapter of a model; it can stop and continue after any step.

    Parameters
    ----------
    model
        A decoder of `from_pretrained`, to which the adapter is added.
    examples
        The examples for the training, and those for the evaluation.
    config
        The settings of the adapter, the optimizer and the steps.
    """

    def __init__(
        self,
        model: Any,
        examples: tuple[Sequence[Example], Sequence[Example]],
        config: FineTuneConfig,
    ) -> None:
        # What the base class makes of a text is made of examples here.
        for kind, some in zip(("training", "evaluation"), examples, strict=True):
            what = f"the examples for {kind}"
            require("finetune", what, len(some), some, "1 or more")
        manual_seed(config.seed)
        self.config: Any = config
        self.examples, self.kept = examples
        self.model = model
        targets = list(config.targets) or None
        lora.add(model, config.lora, config.alpha, targets, dropout=config.dropout)
        self._trained = _ranks.averaged(model)
        parameters = [p for p in model.parameters() if p.requires_grad]
        make = OPTIMIZERS[config.optimizer]
        decay = {"weight_decay": config.weight_decay}
        self.optimizer = make(parameters, lr=config.lr, **decay)
        self.generator = Generator().manual_seed(config.seed)
        self.history = TextHistory()
        self._tokens_read = 0
        self.calls: Counter[tuple[str, str]] = Counter()
        self._train_step: Any = train_step

    def _batch(self) -> tuple[Tensor, Tensor]:
        """Return the inputs and the targets of randomly drawn examples."""
        size = (self.config.batch_size,)
        drawn = randint(0, len(self.examples), size, generator=self.generator)
        chosen = [self.examples[number] for number in drawn.tolist()]
        self._tokens_read += sum(len(example.tokens) for example in chosen)
        return together(chosen)

    @property
    def tokens_read(self) -> int:
        """The number of tokens in all finished steps, without padding."""
        return self._tokens_read

    def evaluate(self) -> float:
        """Return the mean loss per token over the examples for the evaluation."""
        self.model.eval()
        total, count = 0.0, 0
        with no_grad(), _precision.under(self.config.precision):
            for number, (inputs, targets) in enumerate(self._batches()):
                size = int((targets != IGNORED).sum())
                count += size
                if size and _ranks.is_mine(number):
                    total += size * self.model.loss(inputs, targets).item()
        self.model.train()
        return _ranks.total(total) / max(count, 1)

    def _batches(self) -> Iterator[tuple[Tensor, Tensor]]:
        size = self.config.batch_size
        for start in range(0, len(self.kept), size):
            yield together(self.kept[start : start + size])

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the training, with the adapter instead of the model."""
        state = super().state_dict()
        more = {"model": dict(self._adapter()), "tokens_read": self._tokens_read}
        return {**state, **more}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the state from a `state_dict`."""
        super().load_state_dict(state)
        self._tokens_read = int(state["tokens_read"])

    def _load_model(self, state: dict[str, Any]) -> None:
        with no_grad():
            for name, tensor in self._adapter():
                tensor.copy_(state[name])

    def _adapter(self) -> Iterator[tuple[str, Tensor]]:
        for name, parameter in self.model.named_parameters():
            if parameter.requires_grad:
                yield name, parameter.detach()


def together(examples: Sequence[Example]) -> tuple[Tensor, Tensor]:
    """Return the tokens and the targets (B, S) of examples, with padding at the end.

    Padding needs no mask: tokens do not see what follows them.
    """
    width = max(len(example.tokens) for example in examples)
    rows = [e.tokens + [0] * (width - len(e.tokens)) for e in examples]
    targets = [e.targets + [IGNORED] * (width - len(e.targets)) for e in examples]
    return tensor(rows, dtype=int64), tensor(targets, dtype=int64)

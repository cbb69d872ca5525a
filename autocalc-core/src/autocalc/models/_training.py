# SPDX-License-Identifier: MIT
"""Training a model of text, one step after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Literal

from autocalc import nn
from autocalc._compile import compile
from autocalc._dispatch.selection.choice import count
from autocalc._graph._grad_mode import no_grad
from autocalc._tensor import Tensor
from autocalc._tensor.generator import Generator, default_generator, manual_seed
from autocalc.data import Characters, windows
from autocalc.errors import ArgumentError
from autocalc.models import _precision, _ranks
from autocalc.models._decoder import Activation, Decoder, Norm, Positions
from autocalc.models._precision import PRECISIONS
from autocalc.models._recurrent import TextLSTM
from autocalc.models._schedule import SCHEDULES, scheduled_rate
from autocalc.nn import utils
from autocalc.optim import SGD, Adam, AdamW, Lion, Optimizer

OPTIMIZERS: dict[str, Any] = {"adamw": AdamW, "adam": Adam, "lion": Lion, "sgd": SGD}

ModelName = Literal["transformer", "lstm"]
#: What can be trained, and the settings that each has of its own.
MODELS: dict[str, tuple[str, ...]] = {
    "transformer": ("heads", "d_ff", "positions", "norm", "activation"),
    "lstm": (),
}

#: The part of a text that is trained on; the rest tells how good the model is.
TRAINED_PART = 0.9
#: The learning rate at the end of a schedule, of its highest.
_LAST = 0.1
#: Stretches in a batch of an evaluation; it has no influence on the result.
_EVALUATION_BATCH = 64


@dataclass(frozen=True)
class TextConfig:
    """The settings for the training of a language model.

    The settings and the text determine every bit of the result.  `heads`, `d_ff`,
    `positions`, `norm` and `activation` only apply to a transformer.

    Examples
    --------
    >>> import autocalc as ac
    >>> config = ac.models.TextConfig(steps=100, warmup=10, lr=0.01)
    >>> [round(config.rate(step), 4) for step in (0, 9, 50, 99)]
    [0.0009, 0.0091, 0.0063, 0.001]
    """

    model: ModelName = "transformer"
    steps: int = 2000
    batch_size: int = 12
    seq_len: int = 64
    d_model: int = 128
    heads: int = 4
    layers: int = 4
    d_ff: int | None = None
    positions: Positions = "learned"
    norm: Norm = "layer"
    activation: Activation = "gelu"
    dropout: float = 0.0
    optimizer: str = "adamw"
    lr: float = 1e-3
    weight_decay: float = 0.1
    warmup: int = 100
    schedule: str = "cosine"
    grad_clip: float = 1.0
    eval_every: int = 250
    seed: int = 0
    precision: str = "float32"

    def make_model(self, vocabulary: int) -> Decoder | TextLSTM:
        """Return a new model with the sizes in these settings and random weights."""
        if self.model == "lstm":
            sizes = vocabulary, self.d_model, self.layers
            return TextLSTM(*sizes, dropout=self.dropout)
        return Decoder(
            vocabulary,
            self.seq_len,
            self.d_model,
            self.heads,
            self.layers,
            self.d_ff,
            positions=self.positions,
            norm=self.norm,
            activation=self.activation,
            dropout=self.dropout,
        )

    def rate(self, step: int) -> float:
        """Return the learning rate of step number `step`, counted from 0.

        The rate rises linearly for `warmup` steps.  Then it falls to a tenth of its
        largest value, in the form that `schedule` names.
        """
        return scheduled_rate(
            step, self.steps, self.lr, self.schedule, warmup=self.warmup, last=_LAST
        )


@dataclass
class TextHistory:
    """The losses and the evaluations of a training so far.

    Examples
    --------
    >>> import autocalc as ac
    >>> history = ac.models.TextHistory(losses=[3.0, 2.0, 1.0])
    >>> history.recent_loss(2)
    1.5
    """

    #: The loss of each step.
    losses: list[float] = field(default_factory=list)
    #: (steps done, loss over the rest of the text).
    evaluations: list[tuple[int, float]] = field(default_factory=list)
    #: Seconds spent in steps.
    seconds: float = 0.0

    def recent_loss(self, steps: int = 20) -> float:
        """Return the mean loss of the last `steps` steps."""
        recent = self.losses[-steps:]
        return sum(recent) / len(recent)


@dataclass(frozen=True)
class TextStep:
    """The result of a training step: its number, its loss and its learning rate.

    Examples
    --------
    >>> import autocalc as ac
    >>> text = ac.data.Characters("the cat sat on the mat. " * 40)
    >>> config = ac.models.TextConfig(steps=2, seq_len=16, d_model=16, layers=1)
    >>> events = list(ac.models.TextTraining(text, config).run())
    >>> [e.number for e in events if isinstance(e, ac.models.TextStep)]
    [1, 2]
    """

    number: int
    loss: float
    lr: float


@dataclass(frozen=True)
class Evaluation:
    """The result of an evaluation: the loss over the text that is not trained on.

    Examples
    --------
    >>> import autocalc as ac
    >>> text = ac.data.Characters("the cat sat on the mat. " * 40)
    >>> config = ac.models.TextConfig(
    ...     steps=4, eval_every=2, seq_len=16, d_model=16, layers=1
    ... )
    >>> events = list(ac.models.TextTraining(text, config).run())
    >>> [e.number for e in events if isinstance(e, ac.models.Evaluation)]
    [2, 4]
    """

    number: int
    loss: float


class TextTraining:
    """Trains a `Decoder` or a `TextLSTM` on a text; the training can stop at any step.

    In a process group, each rank computes a part of each batch.  The losses are the
    same as with one process, except for rounding and for the random numbers of dropout.

    Parameters
    ----------
    text
        The text.  The first nine tenths are used for training, the rest for evaluation.
    config
        The settings of the training.

    Examples
    --------
    >>> import autocalc as ac
    >>> text = ac.data.Characters("the cat sat on the mat. " * 40)
    >>> config = ac.models.TextConfig(steps=3, seq_len=16, d_model=16, layers=1)
    >>> training = ac.models.TextTraining(text, config)
    >>> for event in training.run():
    ...     print(type(event).__name__, event.number)
    TextStep 1
    TextStep 2
    TextStep 3
    Evaluation 3
    """

    def __init__(self, text: Characters, config: TextConfig) -> None:
        _check(config)
        manual_seed(config.seed)
        self.config = config
        self.text = text
        self.tokens, self.kept_tokens = text.split(TRAINED_PART)
        _ranks.check_batch(config.batch_size)
        self.model = config.make_model(len(text.vocabulary))
        self._trained = _ranks.averaged(self.model)
        self.optimizer = _optimizer(self.model, config)
        self.generator = Generator().manual_seed(config.seed)
        self.history = TextHistory()
        #: Which kernels ran in the first step, by (kernel, set).
        self.calls: Counter[tuple[str, str]] = Counter()
        self._train_step: Any = train_step

    def compile(self) -> None:
        """Compile all further steps; the results are exactly the same."""
        self._train_step = compile(train_step, exact=True, fallback=True)

    @property
    def step(self) -> int:
        """The number of finished steps."""
        return len(self.history.losses)

    @property
    def speed(self) -> float:
        """The speed of the training steps, in tokens per second."""
        seconds = self.history.seconds
        return self.tokens_read / seconds if seconds else 0.0

    @property
    def tokens_read(self) -> int:
        """The number of tokens in all finished steps."""
        return self.step * self.config.batch_size * self.config.seq_len

    def run(self) -> Iterator[TextStep | Evaluation]:
        """Train to the last step: yield a `TextStep` or `Evaluation` for each event.

        The training can be interrupted by leaving the loop at any event.
        """
        config = self.config
        self.model.train()
        while self.step < config.steps:
            lr = config.rate(self.step)
            started = perf_counter()
            loss = self._step(lr)
            self.history.seconds += perf_counter() - started
            self.history.losses.append(loss)
            yield TextStep(self.step, loss, lr)
            if self.step % config.eval_every == 0 or self.step == config.steps:
                kept = self.evaluate()
                self.history.evaluations.append((self.step, kept))
                yield Evaluation(self.step, kept)

    def _step(self, lr: float) -> float:
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        inputs, targets = map(_ranks.part, self._batch())
        _ranks.seed_step(self.config.seed, self.step)
        parts = self._trained, self.optimizer, self.config.grad_clip
        with _precision.under(self.config.precision):
            if self.calls:
                loss = self._train_step(*parts, inputs, targets)
            else:
                with count() as self.calls:
                    loss = train_step(*parts, inputs, targets)
        value: float = _ranks.mean(loss).item()
        return value

    def _batch(self) -> tuple[Tensor, Tensor]:
        """Return the inputs and the targets of the next step, for all ranks."""
        size = self.config.batch_size, self.config.seq_len
        return windows(self.tokens, *size, self.generator)

    def evaluate(self) -> float:
        """Return the mean loss per token over the text that is not trained on."""
        self.model.eval()
        total, count = 0.0, 0
        parts = _stretches(self.kept_tokens, self.config.seq_len)
        with no_grad(), _precision.under(self.config.precision):
            for number, (inputs, targets) in enumerate(parts):
                size = targets.numel()
                count += size
                if _ranks.is_mine(number):
                    total += size * self.model.loss(inputs, targets).item()
        self.model.train()
        return _ranks.total(total) / count

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the training.

        After `load_state_dict` with this state, the training continues with exactly the
        same results.
        """
        history = self.history
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "windows": self.generator.get_state(),
            "generator": default_generator.get_state(),
            "losses": list(history.losses),
            "evaluations": [list(pair) for pair in history.evaluations],
            "seconds": history.seconds,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the state from a `state_dict`."""
        self._load_model(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.generator.set_state(state["windows"])
        default_generator.set_state(state["generator"])
        evaluations = [(int(step), loss) for step, loss in state["evaluations"]]
        losses = list(state["losses"])
        self.history = TextHistory(losses, evaluations, state["seconds"])

    def _load_model(self, state: dict[str, Any]) -> None:
        self.model.load_state_dict(state)


def train_step(
    model: Any, optimizer: Any, grad_clip: float, inputs: Tensor, targets: Tensor
) -> Tensor:
    """Make one training step; return the loss.

    `grad_clip` is the largest norm of the gradients.
    """
    optimizer.zero_grad()
    loss = model.loss(inputs, targets)
    loss.backward()
    if grad_clip:
        utils.clip_grad_norm_(model.parameters(), grad_clip)
    optimizer.step()
    return loss.detach()  # type: ignore[no-any-return]  # of a model of the user's


def _stretches(tokens: Tensor, length: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield all of a text, stretch by stretch; the last one may be shorter."""
    whole = (len(tokens) - 1) // length
    for start in range(0, whole, _EVALUATION_BATCH):
        rows = min(_EVALUATION_BATCH, whole - start)
        first, last = start * length, (start + rows) * length
        inputs, targets = tokens[first:last], tokens[first + 1 : last + 1]
        yield inputs.reshape(rows, length), targets.reshape(rows, length)
    if whole * length < len(tokens) - 1:
        rest = tokens[whole * length :]
        yield rest[:-1].reshape(1, -1), rest[1:].reshape(1, -1)


def _optimizer(model: nn.Module, config: TextConfig) -> Optimizer:
    """Decay matrices only: a decayed bias or norm gains nothing."""
    matrices = [p for p in model.parameters() if p.ndim > 1]
    others = [p for p in model.parameters() if p.ndim < 2]
    groups = [
        {"params": matrices, "weight_decay": config.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    make = OPTIMIZERS[config.optimizer]
    more = {"momentum": 0.9} if make is SGD else {}
    result: Optimizer = make(groups, lr=config.lr, **more)
    return result


def _check(config: TextConfig) -> None:
    if config.model not in MODELS:
        _refuse("model", config.model, f"one of {', '.join(MODELS)}")
    if config.optimizer not in OPTIMIZERS:
        _refuse("optimizer", config.optimizer, f"one of {', '.join(OPTIMIZERS)}")
    if config.schedule not in SCHEDULES:
        _refuse("schedule", config.schedule, f"one of {', '.join(SCHEDULES)}")
    if config.precision not in PRECISIONS:
        _refuse("precision", config.precision, f"one of {', '.join(PRECISIONS)}")
    for name in ("steps", "batch_size", "seq_len", "layers", "eval_every"):
        if getattr(config, name) < 1:
            _refuse(name, getattr(config, name), "at least 1")
    for name in ("lr", "weight_decay", "warmup", "grad_clip"):
        if getattr(config, name) < 0:
            _refuse(name, getattr(config, name), "0 or more")


def _refuse(name: str, value: object, needed: str) -> None:
    raise ArgumentError(f"TextConfig: `{name}` is {value!r}; it must be {needed}.")

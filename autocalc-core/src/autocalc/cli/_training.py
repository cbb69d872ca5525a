# SPDX-License-Identifier: MIT
"""A training: a model, its optimizer, its data and its progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from autocalc import kernels
from autocalc._compile import compile
from autocalc._graph._grad_mode import no_grad
from autocalc._tensor import Tensor
from autocalc._tensor.generator import manual_seed
from autocalc.cli._recipes import MODELS, OPTIMIZERS, RECIPES, Source
from autocalc.data import DataLoader
from autocalc.models import _precision, _ranks
from autocalc.models._schedule import scheduled_rate
from autocalc.nn import functional


@dataclass(frozen=True)
class Config:
    """The parts of a training; with the seed they determine every bit of the result."""

    data: str
    model: str
    epochs: int
    batch_size: int
    optimizer: str
    lr: float
    momentum: float
    seed: int
    #: Whether training images are shifted, and images of clothes flipped.
    augment: bool = False
    #: How the learning rate falls to 0 over all epochs.
    schedule: str = "constant"
    #: The precision of products: "float32" or "bf16".
    precision: str = "float32"


@dataclass
class History:
    """The progress so far."""

    #: The loss of each step.
    losses: list[float] = field(default_factory=list)
    #: The loss and accuracy on the test images after each epoch.
    test_losses: list[float] = field(default_factory=list)
    test_accuracies: list[float] = field(default_factory=list)
    #: The number of images in the steps, and the seconds that they took.
    samples: int = 0
    seconds: float = 0.0

    @property
    def speed(self) -> float:
        """The images per second, in training steps."""
        return self.samples / self.seconds if self.seconds else 0.0


@dataclass(frozen=True)
class TrainingStep:
    """A step that was completed."""

    #: Its number within the epoch, from 1.
    number: int
    loss: float
    logits: Tensor
    labels: Tensor

    @property
    def accuracy(self) -> float:
        """The share of the batch that the model classified correctly."""
        return count_right(self.logits, self.labels) / len(self.labels)


@dataclass(frozen=True)
class EpochEnd:
    """An epoch that was completed, with its test results."""

    number: int


class Training:
    """Trains step by step; it can stop and continue after any step.

    In a group of several ranks, each rank draws the same batches and computes its part
    of each batch.  The losses are those of a single process, apart from rounding.

    Parameters
    ----------
    config
        The settings of the training.
    source
        The folder of the data set.
    workers
        The number of threads that make batches ahead of time.
    """

    def __init__(
        self, config: Config, source: Source | None = None, workers: int = 0
    ) -> None:
        source = Source() if source is None else source
        recipe = RECIPES[config.data]
        manual_seed(config.seed)
        self.config = config
        self.model = MODELS[config.model](recipe)
        make_optimizer = OPTIMIZERS[config.optimizer]
        self._trained = _ranks.shared(self.model)
        params = self.model.parameters()
        self.optimizer = make_optimizer(params, config.lr, config.momentum)
        self.loader = DataLoader(
            recipe.load(train=True, source=source, augment=config.augment),
            config.batch_size,
            shuffle=True,
            generator=config.seed,
            num_workers=workers,
        )
        # The same number of images as in a step, so that the evaluation needs less
        # memory.
        tested = recipe.load(train=False, source=source)
        self.test_loader = DataLoader(tested, config.batch_size)
        self.history = History()
        #: The number of completed epochs.
        self.epoch = 0
        #: Which kernels ran in the first step, by (kernel, set).
        self.calls: Counter[tuple[str, str]] = Counter()
        self._plain_step = train_step if _ranks.count() == 1 else train_part
        self._train_step: Any = self._plain_step

    def compile(self) -> None:
        """Compile the steps from now on; the results are bit for bit the same."""
        self._train_step = compile(self._plain_step, exact=True, fallback=True)

    @property
    def steps_done(self) -> int:
        """The number of completed steps of the current epoch."""
        return len(self.history.losses) - self.epoch * len(self.loader)

    @property
    def lr(self) -> float:
        """The learning rate of the next step."""
        config, done = self.config, len(self.history.losses)
        steps = config.epochs * len(self.loader)
        return scheduled_rate(done, steps, config.lr, config.schedule)

    @property
    def epoch_loss(self) -> float:
        """The mean loss of the steps of the current epoch, or of the last one."""
        losses, length = self.history.losses, len(self.loader)
        recent = losses[-(len(losses) % length or length) :]
        return sum(recent) / len(recent)

    def run(self) -> Iterator[TrainingStep | EpochEnd]:
        """Train to the last epoch; leaving the loop at any event stops there."""
        # When a loop over the loader is left, the next one starts at the same batch,
        # not after it.
        self.loader.load_state_dict(self.loader.state_dict())
        while self.epoch < self.config.epochs:
            self.model.train()
            started = perf_counter()
            for images, labels in self.loader:
                loss, logits = self._step(images, labels)
                self.history.losses.append(loss)
                self.history.samples += len(labels)
                self.history.seconds += perf_counter() - started
                yield TrainingStep(self.steps_done, loss, logits, _ranks.part(labels))
                started = perf_counter()
            self._test()
            self.epoch += 1
            yield EpochEnd(self.epoch)

    def _step(self, images: Tensor, labels: Tensor) -> tuple[float, Tensor]:
        for group in self.optimizer.param_groups:
            group["lr"] = self.lr
        _ranks.seed_step(self.config.seed, len(self.history.losses))
        given = self._trained, self.optimizer, *self._part(images, labels)
        with _precision.under(self.config.precision):
            if self.calls:
                loss, logits = self._train_step(*given)
            else:
                with kernels.count() as self.calls:
                    loss, logits = self._plain_step(*given)
        return _ranks.mean(loss).item(), logits

    def _part(self, images: Tensor, labels: Tensor) -> tuple[Any, ...]:
        """Return this rank's part of a batch; with several ranks, also its weight."""
        if _ranks.count() == 1:
            return images, labels
        weight = _ranks.count() / len(labels)
        return _ranks.part(images), _ranks.part(labels), weight

    def _test(self) -> None:
        with _precision.under(self.config.precision):
            loss, accuracy = evaluate(self.model, self.test_loader)
        self.history.test_losses.append(loss)
        self.history.test_accuracies.append(accuracy)


def train_step(
    model: Any, optimizer: Any, images: Tensor, labels: Tensor
) -> tuple[Tensor, Tensor]:
    """Take one optimizer step on a batch; return the loss and the logits."""
    logits = model(images)
    loss = functional.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach(), logits.detach()


def train_part(
    model: Any, optimizer: Any, images: Tensor, labels: Tensor, weight: float
) -> tuple[Tensor, Tensor]:
    """Do `train_step` with a rank's part of a batch, which may be empty.

    `weight` is the number of ranks divided by the number of samples in the batch.  So
    the mean over all ranks, of results and of gradients, is that of the whole batch.
    """
    logits = model(images)
    loss = functional.cross_entropy(logits, labels, reduction="sum") * weight
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach(), logits.detach()


def evaluate(model: Any, loader: Any) -> tuple[float, float]:
    """Return the mean loss and the accuracy over a data set.

    Ranks take turns with the batches.
    """
    model.eval()
    loss, right, total = 0.0, 0, 0
    with no_grad():
        for number, (images, labels) in enumerate(loader):
            total += len(labels)
            if not _ranks.is_mine(number):
                continue
            logits = model(images)
            loss += functional.cross_entropy(logits, labels, reduction="sum").item()
            right += count_right(logits, labels)
    return _ranks.total(loss) / total, _ranks.total(right) / total


def count_right(logits: Tensor, labels: Tensor) -> int:
    """Return in how many rows the largest logit is at the label."""
    return int((logits.argmax(1) == labels).sum())

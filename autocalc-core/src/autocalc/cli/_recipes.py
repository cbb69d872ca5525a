# SPDX-License-Identifier: MIT
"""The trainings of the command line: data sets, models and their settings."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from autocalc import data, models, nn, optim
from autocalc.data import transforms
from autocalc.errors import DataError


@dataclass(frozen=True)
class Source:
    """The source of data sets."""

    #: The folder of their files; the default is the usual places.
    folder: str | os.PathLike[str] | None = None
    #: Whether missing files may be downloaded.
    download: bool = False


@dataclass(frozen=True)
class Recipe:
    """A data set with settings that train a model well on it."""

    title: str
    dataset: type[Any]
    #: The height and width of an image.
    size: tuple[int, int]
    #: The mean and standard deviation of the training pixels.
    mean: float
    std: float
    hidden: int
    epochs: int
    batch_size: int
    lr: float = 0.1
    momentum: float = 0.9
    #: With --augment: the most pixels by which an image is shifted, and whether images
    #: are flipped with a probability of 1/2.
    shift: int = 2
    flips: bool = False

    @property
    def classes(self) -> tuple[str, ...]:
        """The meaning of each label."""
        return tuple(self.dataset.classes)

    @property
    def model_shape(self) -> tuple[tuple[int, int], int, int]:
        """The arguments of a model: image size, hidden features and classes."""
        return self.size, self.hidden, len(self.classes)

    @property
    def transform(self) -> transforms.Normalize:
        """The transform of images before the model sees them."""
        return transforms.Normalize(self.mean, self.std)

    @property
    def augmentation(self) -> transforms.Compose:
        """The random transform of training images in each epoch."""
        steps: list[transforms.Transform]
        steps = [transforms.RandomCrop(self.size, padding=self.shift)]
        if self.flips:
            steps.append(transforms.RandomHorizontalFlip())
        return transforms.Compose([*steps, self.transform])

    def load(self, train: bool, source: Source, augment: bool = False) -> Any:
        """Return the training or the test images."""
        transform = self.augmentation if augment else self.transform
        if self.dataset is data.Digits:
            return data.Digits(train=train, transform=transform)
        try:
            return self.dataset(
                source.folder, train, transform, download=source.download
            )
        except DataError as error:
            raise DataError(_in_options(str(error))) from error


def _in_options(message: str) -> str:
    """Translate a message about Python arguments to options of the command line."""
    for argument, option in (
        ("Pass `download=True`", "Give --download"),
        ("or `root=`", "or --data DIR"),
        ("pass `root=`", "give --data DIR"),
        ("pass the folder of", "give the folder of"),
        ("as `root`", "by --data"),
    ):
        message = message.replace(argument, option)
    return message


RECIPES = {
    "digits": Recipe(
        "8 x 8 digits that come with AutoCalc",
        data.Digits,
        size=(8, 8),
        mean=0.3053,
        std=0.3764,
        hidden=128,
        epochs=20,
        batch_size=32,
        lr=0.02,
        shift=1,
    ),
    "mnist": Recipe(
        "28 x 28 digits",
        data.MNIST,
        size=(28, 28),
        mean=0.1307,
        std=0.3081,
        hidden=1024,
        epochs=3,
        batch_size=256,
    ),
    "fashion-mnist": Recipe(
        "28 x 28 pictures of clothes",
        data.FashionMNIST,
        size=(28, 28),
        mean=0.2860,
        std=0.3530,
        hidden=1024,
        epochs=5,
        batch_size=256,
        lr=0.05,
        flips=True,
    ),
}


def mlp(recipe: Recipe) -> nn.Module:
    """Return a perceptron with one hidden layer."""
    pixels = recipe.size[0] * recipe.size[1]
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(pixels, recipe.hidden),
        nn.ReLU(),
        nn.Linear(recipe.hidden, len(recipe.classes)),
    )


def lenet(recipe: Recipe) -> nn.Module:
    """Return a small convolutional network."""
    return models.LeNet(len(recipe.classes), recipe.size)


def lstm(recipe: Recipe) -> nn.Module:
    """Return a recurrent network that reads images row by row."""
    return models.RowLSTM(len(recipe.classes), recipe.size)


def resnet(recipe: Recipe) -> nn.Module:
    """Return a residual network."""
    return models.ResNet(len(recipe.classes))


def vit(recipe: Recipe) -> nn.Module:
    """Return a transformer over 16 or 49 patches."""
    patch = 4 if min(recipe.size) >= 28 else 2
    return models.VisionTransformer(len(recipe.classes), recipe.size, patch)


MODELS = {"mlp": mlp, "lenet": lenet, "lstm": lstm, "resnet": resnet, "vit": vit}


def sgd(params: Any, lr: float, momentum: float) -> optim.Optimizer:
    """Return plain gradient descent with momentum."""
    return optim.SGD(params, lr=lr, momentum=momentum)


def adamw(params: Any, lr: float, momentum: float) -> optim.Optimizer:
    """Return AdamW; its momentum is beta1."""
    return optim.AdamW(params, lr=lr, betas=(momentum, 0.999))


OPTIMIZERS = {"sgd": sgd, "adamw": adamw}

#: With SGD at these learning rates, a transformer ends at a loss of 1.9; AdamW reaches
#: 1.5 (80 steps on MNIST).
USUAL_OPTIMIZER = {name: "adamw" if name == "vit" else "sgd" for name in MODELS}

#: A learning rate of 0.1 is usual for SGD, but a hundred times too large for AdamW.
ADAMW_LR = 1e-3

#: The highest learning rate of SGD for LeNet.  Two epochs of MNIST reach 97.5 % with
#: it, and 94.1 % with 0.1, the rate of the MLP.  That rate suits the LSTM and the
#: residual network.
LENET_LR = 0.02

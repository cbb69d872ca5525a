# SPDX-License-Identifier: MIT
"""Models that answer with images: U-Net, variational autoencoder.

Ronneberger, Fischer, Brox: U-Net (MICCAI 2015); Kingma, Welling: Auto-encoding
variational Bayes (2013).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.zoo.convolutional import conv_norm
from benchmarks.zoo.work import Make, Work


def double(nn: Any, ins: int, outs: int) -> Any:
    """Return two convolutions of 3 x 3 with batch norm and ReLU."""
    first = [*conv_norm(nn, ins, outs, 3), nn.ReLU(inplace=True)]
    second = [*conv_norm(nn, outs, outs, 3), nn.ReLU(inplace=True)]
    return nn.Sequential(*first, *second)


def unet_type(ml: Any) -> type[Any]:
    """Return the class of a U-Net of three sizes, with a class for each pixel."""
    nn = ml.nn

    class UNet(nn.Module):  # type: ignore[misc, name-defined]  # known at run time
        def __init__(self, width: int) -> None:
            super().__init__()
            self.pool = nn.MaxPool2d(2)
            self.down_1, self.down_2 = (
                double(nn, 3, width),
                double(nn, width, 2 * width),
            )
            self.bottom = double(nn, 2 * width, 4 * width)
            self.up_2 = nn.ConvTranspose2d(4 * width, 2 * width, 2, 2)
            self.up_1 = nn.ConvTranspose2d(2 * width, width, 2, 2)
            self.join_2 = double(nn, 4 * width, 2 * width)
            self.join_1 = double(nn, 2 * width, width)
            self.head = nn.Conv2d(width, 4, 1)

        def forward(self, x: Any) -> Any:
            one = self.down_1(x)
            two = self.down_2(self.pool(one))
            y = self.up_2(self.bottom(self.pool(two)))
            y = self.join_2(ml.cat([two, y], 1))
            y = self.join_1(ml.cat([one, self.up_1(y)], 1))
            return self.head(y)

    return UNet


def unet(batch: int, size: int, width: int = 16) -> Make:
    """Return the work of a U-Net."""

    def make(ml: Any, lay: Callable[[Any], Any]) -> Work:
        images = lay(ml.randn(batch, 3, size, size))
        target = ml.randint(0, 4, (batch, size, size))
        cross_entropy = ml.nn.functional.cross_entropy
        model = lay(unet_type(ml)(width))
        return Work(model, (images,), lambda logits: cross_entropy(logits, target))

    return make


def vae_type(ml: Any) -> type[Any]:
    """Return the class of a convolutional VAE for images of 28 x 28."""
    nn = ml.nn

    class VAE(nn.Module):  # type: ignore[misc, name-defined]  # known at run time
        def __init__(self, latent: int) -> None:
            super().__init__()
            self.encoder = nn.Sequential(
                nn.Conv2d(1, 32, 4, 2, 1), nn.ReLU(),
                nn.Conv2d(32, 64, 4, 2, 1), nn.ReLU(),
                nn.Flatten(), nn.Linear(64 * 49, 2 * latent),
            )  # fmt: skip
            self.start = nn.Linear(latent, 64 * 49)
            self.decoder = nn.Sequential(
                nn.ReLU(), nn.ConvTranspose2d(64, 32, 4, 2, 1),
                nn.ReLU(), nn.ConvTranspose2d(32, 1, 4, 2, 1),
            )  # fmt: skip

        def forward(self, x: Any) -> Any:
            mean, log_var = self.encoder(x).chunk(2, 1)
            z = mean + ml.exp(0.5 * log_var) * ml.randn_like(mean)
            return self.decoder(self.start(z).reshape(-1, 64, 7, 7)), mean, log_var

    return VAE


def vae(batch: int, latent: int = 16) -> Make:
    """Return the work of a VAE: reconstruction and Kullback-Leibler divergence."""

    def make(ml: Any, lay: Callable[[Any], Any]) -> Work:
        images = lay(ml.rand(batch, 1, 28, 28))
        bce = ml.nn.functional.binary_cross_entropy_with_logits

        def loss(answer: Any) -> Any:
            logits, mean, log_var = answer
            kl = 0.5 * (mean * mean + log_var.exp() - 1 - log_var).sum()
            return (bce(logits, images, reduction="sum") + kl) / batch

        return Work(lay(vae_type(ml)(latent)), (images,), loss)

    return make

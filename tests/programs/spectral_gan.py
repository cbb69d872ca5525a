# SPDX-License-Identifier: MIT
"""A generator and a discriminator of spectral norm, by the hinge loss."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import spectral_norm

Z_DIM = 8


class ConditionalBatchNorm2d(nn.Module):
    def __init__(self, num_features, num_classes):
        super().__init__()
        self.bn = nn.BatchNorm2d(num_features, affine=False)
        self.embed = nn.Embedding(num_classes, num_features * 2)
        self.embed.weight.data[:, :num_features].fill_(1)
        self.embed.weight.data[:, num_features:].zero_()

    def forward(self, x, y):
        gamma, beta = self.embed(y).chunk(2, 1)
        out = self.bn(x)
        return gamma[:, :, None, None] * out + beta[:, :, None, None]


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(Z_DIM, 8 * 3 * 3)
        self.norm1 = ConditionalBatchNorm2d(8, 2)
        self.up1 = nn.ConvTranspose2d(8, 8, 4, stride=2, padding=1, bias=False)
        self.norm2 = ConditionalBatchNorm2d(8, 2)
        self.up2 = nn.ConvTranspose2d(8, 1, 4, stride=2, padding=1)

    def forward(self, z, y):
        x = self.fc(z).unflatten(1, (8, 3, 3))
        x = F.relu(self.norm1(x, y))
        x = F.relu(self.norm2(self.up1(x), y))
        return torch.tanh(self.up2(x))


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            spectral_norm(nn.Conv2d(1, 8, 4, stride=2, padding=1)),
            nn.LeakyReLU(0.1),
            spectral_norm(nn.Conv2d(8, 12, 4, stride=2, padding=1)),
            nn.LeakyReLU(0.1),
        )
        self.fc = spectral_norm(nn.Linear(12, 1), n_power_iterations=2)
        self.embed = spectral_norm(nn.Embedding(2, 12))

    def forward(self, x, y):
        h = self.features(x).sum(dim=(2, 3))
        return self.fc(h) + (self.embed(y) * h).sum(1, keepdim=True)


def initialise(model, seed):
    """Weights from NumPy, and the vectors of the power iteration with them."""
    rng = np.random.default_rng(seed)
    state = model.state_dict()
    for name, value in state.items():
        values = torch.from_numpy(rng.normal(0, 0.1, tuple(value.shape))).float()
        if name.endswith(("_u", "_v")):
            values = F.normalize(values, dim=0)
        elif "norm" in name or "num_batches" in name:
            continue
        state[name] = values
    assert model.load_state_dict(state).missing_keys == []


def real_images(rng, count):
    """Discs and frames of 12 x 12."""
    row, column = np.mgrid[:12, :12]
    kinds = rng.integers(0, 2, count)
    images = -np.ones((count, 1, 12, 12), np.float32)
    for image, kind in zip(images, kinds, strict=True):
        y, x = rng.uniform(4, 7, 2)
        if kind:
            image[0][(row - y) ** 2 + (column - x) ** 2 < 9] = 1
        else:
            far = np.maximum(abs(row - y), abs(column - x))
            image[0][(far > 2) & (far < 4)] = 1
    return torch.from_numpy(images), torch.from_numpy(kinds)


def main():
    netG, netD = Generator(), Discriminator()
    initialise(netG, 1)
    initialise(netD, 2)
    assert parametrize.is_parametrized(netD.fc, "weight")
    optG = optim.Adam(netG.parameters(), lr=2e-3, betas=(0.0, 0.9))
    optD = optim.Adam(netD.parameters(), lr=4e-3, betas=(0.0, 0.9))
    rng = np.random.default_rng(3)

    def noise(count):
        z = torch.from_numpy(rng.normal(size=(count, Z_DIM))).float()
        return z, torch.from_numpy(rng.integers(0, 2, count))

    losses = []
    for _step in range(20):
        images, kinds = real_images(rng, 12)
        optD.zero_grad()
        z, y = noise(12)
        fake = netG(z, y).detach()
        d_loss = F.relu(1.0 - netD(images, kinds)).mean()
        d_loss = d_loss + F.relu(1.0 + netD(fake, y)).mean()
        d_loss.backward()
        optD.step()

        optG.zero_grad()
        for p in netD.parameters():
            p.requires_grad_(False)
        z, y = noise(12)
        g_loss = -netD(netG(z, y), y).mean()
        g_loss.backward()
        optG.step()
        for p in netD.parameters():
            p.requires_grad_(True)
        losses.append(d_loss.item() + 0.1 * g_loss.item())

    netD.eval()
    sizes = [torch.linalg.matrix_norm(netD.fc.weight.detach(), 2).item()]
    parametrize.remove_parametrizations(netD.fc, "weight")
    assert "weight" in dict(netD.fc.named_parameters())
    netG.eval()
    with torch.no_grad():
        z, y = noise(6)
        images = netG(z, y)
        sizes += [images.std().item(), images.abs().mean().item()]
    return losses + sizes


if __name__ == "__main__":
    print(main())

# SPDX-License-Identifier: MIT
"""Two convolutional networks against each other: one draws, one judges."""

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

NZ, NGF, NDF, NC = 8, 8, 8, 1


def true_images(count):
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:8, :8]
    centre = rng.uniform(2, 6, (count, 2, 1, 1))
    far = (y - centre[:, :1]) ** 2 + (x - centre[:, 1:]) ** 2
    return torch.tensor(2 * np.exp(-far / 4) - 1, dtype=torch.float32)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(NZ, NGF * 2, 2, 1, 0, bias=False),
            nn.BatchNorm2d(NGF * 2),
            nn.ReLU(True),
            nn.ConvTranspose2d(NGF * 2, NGF, 4, 2, 1, bias=False),
            nn.BatchNorm2d(NGF),
            nn.ReLU(True),
            nn.ConvTranspose2d(NGF, NC, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, input):
        return self.main(input)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(NC, NDF, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(NDF, NDF * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(NDF * 2),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(NDF * 2, 1, 2, 1, 0, bias=False),
            nn.Sigmoid(),
        )

    def forward(self, input):
        return self.main(input).view(-1, 1).squeeze(1)


def weights_init(rng):
    def init(m):
        classname = m.__class__.__name__
        if classname.find("Conv") != -1:
            values = rng.normal(0.0, 0.1, m.weight.size())
            m.weight.data.copy_(torch.from_numpy(values))
        elif classname.find("BatchNorm") != -1:
            nn.init.constant_(m.weight.data, 1.0)
            nn.init.constant_(m.bias.data, 0)

    return init


def main():
    rng = np.random.default_rng(6)
    netG, netD = Generator(), Discriminator()
    netG.apply(weights_init(rng))
    netD.apply(weights_init(rng))
    criterion = nn.BCELoss()
    optimizerD = optim.Adam(netD.parameters(), lr=2e-3, betas=(0.5, 0.999))
    optimizerG = optim.Adam(netG.parameters(), lr=2e-3, betas=(0.5, 0.999))
    images = true_images(32)
    real_label, fake_label = 1, 0

    lossesD, lossesG = [], []
    for i in range(12):
        netD.zero_grad()
        real = images[8 * (i % 4) : 8 * (i % 4 + 1)]
        batch_size = real.size(0)
        label = torch.full((batch_size,), real_label, dtype=real.dtype)
        errD_real = criterion(netD(real), label)
        errD_real.backward()
        noise = torch.from_numpy(rng.normal(size=(batch_size, NZ, 1, 1))).float()
        fake = netG(noise)
        label.fill_(fake_label)
        errD_fake = criterion(netD(fake.detach()), label)
        errD_fake.backward()
        optimizerD.step()

        netG.zero_grad()
        label.fill_(real_label)
        output = netD(fake)
        errG = criterion(output, label)
        errG.backward()
        optimizerG.step()
        lossesD.append((errD_real + errD_fake).item())
        lossesG += [errG.item(), output.mean().item()]
    assert fake.shape == real.shape
    return lossesD + lossesG


if __name__ == "__main__":
    print(main())

# SPDX-License-Identifier: MIT
"""Stochastic weight averaging: an averaged model, its own rate, new statistics."""

import numpy as np
import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_avg_fn, update_bn
from torch.utils.data import DataLoader, TensorDataset, random_split


class PreActBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.act = nn.Mish()

    def forward(self, x):
        out = self.conv1(self.act(self.bn1(x)))
        return x + self.conv2(self.act(self.bn2(out)))


def make_model():
    model = nn.Sequential(
        nn.Conv2d(1, 6, 3, padding=1),
        PreActBlock(6),
        nn.MaxPool2d(2),
        PreActBlock(6),
        nn.AdaptiveMaxPool2d(1),
        nn.Flatten(),
        nn.Linear(6, 3),
    )
    rng = np.random.default_rng(0)
    for p in model.parameters():
        if p.dim() > 1:
            values = rng.normal(0, p[0].numel() ** -0.5, tuple(p.shape))
            p.data = torch.from_numpy(values).to(torch.float32)
        elif p.sum() != p.numel():
            nn.init.zeros_(p)
    return model


def shapes(count):
    """Crosses, squares and diagonals somewhere in pictures of 8 x 8."""
    rng = np.random.default_rng(1)
    drawn = np.array(
        [
            [[0, 1, 0], [1, 1, 1], [0, 1, 0]],
            [[1, 1, 1], [1, 0, 1], [1, 1, 1]],
            [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        ]
    )
    kinds = np.arange(count) % 3
    images = rng.normal(0, 0.3, (count, 1, 8, 8))
    for image, kind in zip(images, kinds, strict=True):
        top, left = rng.integers(0, 6, 2)
        image[0, top : top + 3, left : left + 3] += drawn[kind]
    return torch.from_numpy(images).float(), torch.from_numpy(kinds)


@torch.no_grad()
def evaluate(model, images, kinds):
    model.eval()
    return nn.functional.cross_entropy(model(images), kinds).item()


def main():
    images, kinds = shapes(36)
    loader = DataLoader(TensorDataset(images, kinds), batch_size=12)
    assert [len(s) for s in random_split(loader.dataset, [0.75, 0.25])] == [27, 9]
    model = make_model()
    swa_model = AveragedModel(model)
    ema_model = AveragedModel(model, avg_fn=get_ema_avg_fn(0.8), use_buffers=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.8)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=20)
    swa_start = 4
    swa_scheduler = SWALR(
        optimizer, anneal_strategy="linear", anneal_epochs=3, swa_lr=0.01
    )
    criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 1.5, 0.5]))
    losses, rates = [], []
    for epoch in range(10):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            ema_model.update_parameters(model)
            losses.append(loss.item())
        if epoch > swa_start:
            swa_model.update_parameters(model)
            swa_scheduler.step()
        else:
            scheduler.step()
        rates.append(optimizer.param_groups[0]["lr"])
    update_bn(loader, swa_model)
    assert swa_model.n_averaged.item() == 5
    averaged = {k.removeprefix("module.") for k in swa_model.state_dict()}
    assert averaged == {*model.state_dict(), "n_averaged"}
    plain = make_model()
    plain.load_state_dict(swa_model.module.state_dict())
    models = (model, swa_model, ema_model, plain)
    losses += [evaluate(each, images, kinds) for each in models]
    return losses + rates


if __name__ == "__main__":
    print(main())

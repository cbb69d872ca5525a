# SPDX-License-Identifier: MIT
"""A classifier of points in two spirals: an MLP, Adam, a learning rate in steps."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.utils.data import DataLoader, TensorDataset


class MLP(nn.Module):
    def __init__(self, inputs, hidden, classes):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, hidden),
            nn.ReLU(),
            nn.Dropout(p=0.0),
            nn.Linear(hidden, hidden),
            nn.Tanh(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x):
        return self.layers(x)


def spirals(count):
    turn = np.linspace(0.2, 3.0, count)
    one = np.stack([turn * np.cos(2 * turn), turn * np.sin(2 * turn)], axis=1)
    points = np.concatenate([one, -one]).astype(np.float32)
    return torch.from_numpy(points), torch.tensor([0] * count + [1] * count)


def initialise(model):
    rng = np.random.default_rng(0)
    with torch.no_grad():
        for parameter in model.parameters():
            values = rng.normal(0, 0.4, size=tuple(parameter.shape))
            parameter.copy_(torch.from_numpy(values.astype(np.float32)))


def evaluate(model, loader, device):
    model.eval()
    correct, total = 0, 0
    with torch.no_grad():
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            correct += (model(x).argmax(dim=1) == y).sum().item()
            total += y.size(0)
    return correct / total


def main():
    torch.manual_seed(0)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    dataset = TensorDataset(*spirals(48))
    loader = DataLoader(dataset, batch_size=24, shuffle=False, drop_last=True)

    model = MLP(2, 16, 2).to(device)
    initialise(model)
    optimizer = optim.Adam(model.parameters(), lr=0.02, weight_decay=1e-4)
    scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=5, gamma=0.7)

    losses = []
    for _epoch in range(12):
        model.train()
        for _batch, (data, target) in enumerate(loader):
            data, target = data.to(device), target.to(device)
            optimizer.zero_grad()
            output = model(data)
            loss = F.cross_entropy(output, target)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            optimizer.step()
            losses.append(loss.item())
        scheduler.step()
    losses.append(evaluate(model, loader, device))
    losses.append(scheduler.get_last_lr()[0])
    losses.append(sum(p.numel() for p in model.parameters() if p.requires_grad))
    return losses


if __name__ == "__main__":
    print(main())

# SPDX-License-Identifier: MIT
"""A temporal net of normalised weights adds the numbers that are marked."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import weight_norm
from torch.nn.utils.parametrize import cached, remove_parametrizations


class Chomp1d(nn.Module):
    def __init__(self, chomp_size):
        super().__init__()
        self.chomp_size = chomp_size

    def forward(self, x):
        return x[:, :, : -self.chomp_size].contiguous()

    def extra_repr(self):
        return f"chomp_size={self.chomp_size}"


class TemporalBlock(nn.Module):
    def __init__(self, n_inputs, n_outputs, kernel_size, dilation, dropout=0.0):
        super().__init__()
        padding = (kernel_size - 1) * dilation
        sizes = {"kernel_size": kernel_size, "padding": padding, "dilation": dilation}
        self.conv1 = weight_norm(nn.Conv1d(n_inputs, n_outputs, **sizes))
        self.conv2 = weight_norm(nn.Conv1d(n_outputs, n_outputs, **sizes))
        self.net = nn.Sequential(
            self.conv1, Chomp1d(padding), nn.ReLU(), nn.Dropout1d(dropout),
            self.conv2, Chomp1d(padding), nn.ReLU(), nn.Dropout1d(dropout),
        )  # fmt: skip
        self.downsample = None
        if n_inputs != n_outputs:
            self.downsample = nn.Conv1d(n_inputs, n_outputs, 1)

    def forward(self, x):
        out = self.net(x)
        res = x if self.downsample is None else self.downsample(x)
        return F.relu(out + res)


class TCN(nn.Module):
    def __init__(self, input_size, output_size, num_channels, kernel_size):
        super().__init__()
        layers = []
        for i, out_channels in enumerate(num_channels):
            in_channels = input_size if i == 0 else num_channels[i - 1]
            layers += [TemporalBlock(in_channels, out_channels, kernel_size, 2**i)]
        self.network = nn.Sequential(*layers)
        self.linear = nn.Linear(num_channels[-1], output_size)

    def forward(self, x):
        y1 = self.network(x)
        return self.linear(y1[:, :, -1])


def adding_problem(rng, count, length=20):
    """Two of the numbers are marked; the answer is their sum."""
    numbers = rng.random((count, 1, length))
    marks = np.zeros_like(numbers)
    for row in marks:
        row[0, rng.choice(length, 2, replace=False)] = 1
    answers = (numbers * marks).sum(axis=2)
    inputs = np.concatenate([numbers, marks], axis=1)
    return torch.from_numpy(inputs).float(), torch.from_numpy(answers).float()


def initialise(model):
    rng = np.random.default_rng(71)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if name.endswith("original0"):
                continue
            p.copy_(torch.from_numpy(rng.normal(0, 0.25, tuple(p.shape))))


def main():
    rng = np.random.default_rng(70)
    model = TCN(2, 1, [8, 8, 8], kernel_size=4)
    initialise(model)
    with torch.no_grad():
        for block in model.network:
            for conv in (block.conv1, block.conv2):
                conv.parametrizations.weight.original0.fill_(0.8)
    optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [20, 30], gamma=0.5)
    losses = []
    for _step in range(40):
        x, y = adding_problem(rng, 24)
        optimizer.zero_grad()
        loss = F.huber_loss(model(x), y, delta=0.5)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, norm_type="inf")
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())

    model.eval()
    x, y = adding_problem(rng, 40)
    with torch.no_grad(), cached():
        before = model(x)
    for block in model.network:
        conv = block.conv1
        norms = conv.weight.detach().flatten(1).norm(dim=1)
        g = conv.parametrizations.weight.original0.detach()
        torch.testing.assert_close(norms, g.abs().flatten())
        losses.append(g.mean().item())
        for each in (block.conv1, block.conv2):
            remove_parametrizations(each, "weight")
    with torch.no_grad():
        after = model(x)
    torch.testing.assert_close(after, before)
    names = [name for name, _ in model.named_parameters()]
    assert not any("original" in name for name in names)
    losses.append(F.l1_loss(after, y).item())
    # What comes later in the series does not change what came before.
    with torch.no_grad():
        changed = x.clone()
        changed[:, :, 12:] = 0
        a, b = model.network(x)[:, :, :12], model.network(changed)[:, :, :12]
    assert torch.allclose(a, b, atol=1e-6)
    return losses


if __name__ == "__main__":
    print(main())

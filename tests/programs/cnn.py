# SPDX-License-Identifier: MIT
"""A small convolutional network with batch norm on drawn bars: SGD, warm-up, saving."""

import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3, 1, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(4)
        self.conv2 = nn.Conv2d(4, 8, kernel_size=3, stride=2)
        self.dropout = nn.Dropout2d(0.0)
        self.pool = nn.AdaptiveAvgPool2d((2, 2))
        self.fc = nn.Linear(8 * 2 * 2, 3)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.max_pool2d(x, 2)
        x = self.dropout(F.relu(self.conv2(x), inplace=True))
        x = torch.flatten(self.pool(x), 1)
        return F.log_softmax(self.fc(x), dim=1)


def bars(count):
    """Rows, columns and diagonals in noise."""
    rng = np.random.default_rng(3)
    images = rng.normal(0, 0.3, (count, 1, 12, 12)).astype(np.float32)
    labels = np.arange(count) % 3
    for i, label in enumerate(labels):
        place = i % 12
        if label == 0:
            images[i, 0, place] += 1
        elif label == 1:
            images[i, 0, :, place] += 1
        else:
            images[i, 0] += np.roll(np.eye(12, dtype=np.float32), place, 1)
    return torch.from_numpy(images), torch.from_numpy(labels)


def initialise(module):
    rng = np.random.default_rng(4)
    classname = module.__class__.__name__
    if classname.find("Conv") != -1 or classname.find("Linear") != -1:
        fan = module.weight[0].numel()
        values = rng.normal(0, np.sqrt(2 / fan), tuple(module.weight.shape))
        module.weight.data = torch.as_tensor(values, dtype=torch.float32)
        if module.bias is not None:
            module.bias.data.fill_(0.01)


def train(model, device, loader, optimizer):
    model.train()
    losses = []
    for data, target in loader:
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@torch.no_grad()
def test(model, device, loader):
    model.eval()
    loss, correct = 0.0, 0
    for data, target in loader:
        data, target = data.to(device), target.to(device)
        output = model(data)
        loss += F.nll_loss(output, target, reduction="sum").item()
        pred = output.argmax(dim=1, keepdim=True)
        correct += pred.eq(target.view_as(pred)).sum().item()
    return [loss / len(loader.dataset), correct]


def main():
    use_cuda = torch.cuda.is_available()
    torch.manual_seed(1)
    device = torch.device("cuda" if use_cuda else "cpu")
    kwargs = {"num_workers": 1, "pin_memory": True} if use_cuda else {}
    dataset = TensorDataset(*bars(36))
    loader = DataLoader(dataset, batch_size=12, shuffle=False, **kwargs)
    model = Net().to(device)
    model.apply(initialise)
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
    scheduler = LambdaLR(optimizer, lr_lambda=lambda epoch: min(1.0, (epoch + 1) / 3))

    losses, best, kept = [], float("inf"), None
    for _ in range(1, 7):
        losses += train(model, device, loader, optimizer)
        result = test(model, device, loader)
        scheduler.step()
        losses += result
        if result[0] < best:
            best, kept = result[0], copy.deepcopy(model.state_dict())
    model.load_state_dict(kept)
    losses += test(model, device, loader)
    return losses


if __name__ == "__main__":
    print(main())

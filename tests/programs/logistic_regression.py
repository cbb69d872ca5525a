# SPDX-License-Identifier: MIT
"""Logistic regression with several optimizers, and a plateau of learning rates."""

import numpy as np
import torch
from torch.utils.data import ConcatDataset, DataLoader, TensorDataset


def clouds(seed, count):
    rng = np.random.RandomState(seed)
    x = np.concatenate([rng.randn(count, 3) + 1.0, rng.randn(count, 3) - 0.5])
    y = np.concatenate([np.ones((count, 1)), np.zeros((count, 1))])
    return TensorDataset(torch.Tensor(x), torch.Tensor(y))


class LogisticRegression(torch.nn.Module):
    def __init__(self, n_inputs):
        super().__init__()
        self.linear = torch.nn.Linear(n_inputs, 1)
        torch.nn.init.constant_(self.linear.weight, 0.1)
        torch.nn.init.constant_(self.linear.bias, -0.2)

    def forward(self, x):
        return self.linear(x)


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.3, momentum=0.9, nesterov=True),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.3),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.03, momentum=0.5),
    "adadelta": lambda p: torch.optim.Adadelta(p, lr=4.0),
    "adam": lambda p: torch.optim.Adam(p, lr=0.1, betas=(0.8, 0.99)),
}


def fit(name, loader, device):
    model = LogisticRegression(3).to(device)
    criterion = torch.nn.BCEWithLogitsLoss()
    optimizer = OPTIMIZERS[name](model.parameters())
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimizer, mode="min", factor=0.5, patience=1, threshold=1e-2
    )
    losses, best = [], float("inf")
    for _epoch in range(8):
        epoch_loss = 0.0
        for features, labels in loader:
            features = features.to(device, non_blocking=True)
            labels = labels.to(device, non_blocking=True)

            optimizer.zero_grad()
            outputs = model(features)
            loss = criterion(outputs, labels)
            loss.backward()
            optimizer.step()
            epoch_loss += loss.detach().cpu().item()
        scheduler.step(epoch_loss)
        losses.append(epoch_loss / len(loader))
        if epoch_loss < best:
            best = epoch_loss
    with torch.no_grad():
        predictions = torch.sigmoid(model(loader.dataset[0][0])).round()
    losses += [best, optimizer.param_groups[0]["lr"], predictions.item()]
    losses += model.linear.weight.detach().cpu().numpy().ravel().tolist()
    return losses


def main():
    torch.manual_seed(42)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(42)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    dataset = ConcatDataset([clouds(0, 20), clouds(1, 12)])
    # One batch in any order: the sum is the same but for rounding.
    loader = DataLoader(dataset, batch_size=len(dataset), shuffle=True)
    losses = []
    for name in OPTIMIZERS:
        losses += fit(name, loader, device)
    return losses


if __name__ == "__main__":
    print(main())

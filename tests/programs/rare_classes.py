# SPDX-License-Identifier: MIT
"""Rare classes by weighted sampling and the focal loss, with a rate that goes round."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import CyclicLR
from torch.utils.data import (
    ConcatDataset,
    DataLoader,
    Dataset,
    Subset,
    WeightedRandomSampler,
)


class Measurements(Dataset):
    """Rows of three classes, of which one is common; a transform follows."""

    def __init__(self, seed, counts, transform=None):
        rng = np.random.default_rng(seed)
        labels = np.repeat(np.arange(3), counts)
        centres = np.array([[0, 0, 0, 0], [1, -1, 1, 0], [-1, 1, 0, 1]])
        self.rows = centres[labels] + rng.normal(0, 0.5, (len(labels), 4))
        self.targets = labels
        self.transform = transform

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, i):
        row = self.rows[i]
        if self.transform is not None:
            row = self.transform(row)
        return {"row": row.astype(np.float32), "target": self.targets[i], "index": i}


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0, weight=None):
        super().__init__()
        self.gamma = gamma
        self.register_buffer("weight", weight)

    def forward(self, logits, target):
        log_p = F.log_softmax(logits, dim=-1)
        ce = F.nll_loss(log_p, target, weight=self.weight, reduction="none")
        p_t = log_p.gather(1, target.unsqueeze(1)).squeeze(1).exp()
        return ((1 - p_t) ** self.gamma * ce).mean()


def initialise(model):
    rng = np.random.default_rng(95)
    for p in model.parameters():
        p.data = torch.from_numpy(rng.normal(0, 0.3, tuple(p.shape))).to(p.dtype)


def sampler_for(targets, active):
    """Draw each row that is active once: their order is the library's own matter."""
    counts = np.bincount(targets, minlength=3)
    weights = torch.tensor(1.0 / counts)[torch.from_numpy(targets)] * active
    number = int(active.sum())
    return WeightedRandomSampler(weights, number, replacement=False)


def main():
    torch.manual_seed(7)
    train = Measurements(93, (40, 12, 6), transform=lambda row: row.clip(-2, 2))
    extra = Subset(Measurements(94, (20, 10, 4)), range(0, 34, 2))
    model = nn.Sequential(nn.Linear(4, 16), nn.CELU(), nn.Linear(16, 3))
    initialise(model)
    criterion = FocalLoss(gamma=1.5, weight=torch.tensor([1.0, 2.0, 3.0]))
    assert "weight" in criterion.state_dict()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scheduler = CyclicLR(
        optimizer, base_lr=0.05, max_lr=0.3, step_size_up=4, mode="triangular2"
    )
    losses, rates = [], []
    active = torch.ones(len(train))
    for epoch in range(24):
        sampler = sampler_for(train.targets, active)
        loader = DataLoader(train, batch_size=len(sampler), sampler=sampler)
        for batch in loader:
            drawn = batch["index"].sort().values
            assert torch.equal(drawn, torch.where(active > 0)[0])
            loss = criterion(model(batch["row"]), batch["target"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
            rates.append(scheduler.get_last_lr()[0])
            rates.append(optimizer.param_groups[0]["momentum"])
        if epoch % 6 == 5:  # Rows of the common class that are easy rest for a while.
            rows = torch.from_numpy(train.rows).float()
            with torch.no_grad():
                sure = model(rows).softmax(1)[:, 0] > 0.95
            active = (~sure).float()

    draws = WeightedRandomSampler([0.0, 0.5, 0.0, 0.5], 50, replacement=True)
    assert set(draws) == {1, 3}
    both = ConcatDataset([train, extra])
    assert both.cumulative_sizes == [58, 75]
    model.eval()
    with torch.no_grad():
        losses += [
            criterion(model(batch["row"]), batch["target"]).item()
            for batch in DataLoader(both, batch_size=25)
        ]
    return losses + rates


if __name__ == "__main__":
    print(main())

# SPDX-License-Identifier: MIT
"""An autoencoder of small patterns: a data set class, AdamW, a cosine of rates."""

import math

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset


class Patterns(Dataset):
    """Waves of different lengths on a grid of 6 x 6."""

    def __init__(self, count, transform=None):
        self.count = count
        self.transform = transform

    def __len__(self):
        return self.count

    def __getitem__(self, idx):
        if torch.is_tensor(idx):
            idx = idx.tolist()
        grid = torch.arange(36, dtype=torch.float32).view(6, 6)
        image = 0.5 + 0.5 * torch.sin(grid * (1 + idx % 7) / math.pi + idx)
        if self.transform:
            image = self.transform(image)
        return {"image": image.unsqueeze(0), "index": idx}


class AutoEncoder(nn.Module):
    def __init__(self):
        super(AutoEncoder, self).__init__()
        self.encoder = nn.Sequential(
            nn.Flatten(), nn.Linear(36, 20), nn.GELU(), nn.Linear(20, 5)
        )
        self.decoder = nn.Sequential(
            nn.Linear(5, 20), nn.LeakyReLU(0.1), nn.Linear(20, 36), nn.Sigmoid()
        )

    def forward(self, x):
        code = self.encoder(x)
        return self.decoder(code).view(-1, 1, 6, 6), code


def weights(module):
    if isinstance(module, nn.Linear):
        rows, columns = module.weight.shape
        grid = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
        module.weight.data.copy_(torch.tensor(0.3 * np.sin(1.7 * grid)))
        nn.init.zeros_(module.bias)


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dataset = Patterns(40, transform=lambda image: image.clamp(0.05, 0.95))
    train = Subset(dataset, list(range(32)))
    test = Subset(dataset, torch.arange(32, 40))
    loader = DataLoader(train, batch_size=8, num_workers=0, pin_memory=False)

    model = AutoEncoder()
    model.apply(weights)
    model = model.to(device)
    criterion = nn.MSELoss()
    optimizer = torch.optim.AdamW(
        [
            {"params": model.encoder.parameters()},
            {"params": model.decoder.parameters(), "lr": 5e-3},
        ],
        lr=1e-2,
    )
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=40)

    losses = []
    for _ in range(10):
        running = 0.0
        for batch in loader:
            images = batch["image"].to(device, dtype=torch.float32)
            optimizer.zero_grad(set_to_none=True)
            outputs, code = model(images)
            loss = criterion(outputs, images) + 1e-3 * code.pow(2).mean()
            loss.backward()
            optimizer.step()
            scheduler.step()
            running += loss.item() * images.size(0)
        losses.append(running / len(train))

    best = {key: value.detach().clone() for key, value in model.state_dict().items()}
    again = AutoEncoder()
    again.load_state_dict(best)
    again.eval()
    with torch.no_grad():
        images = next(iter(DataLoader(test, batch_size=len(test))))["image"]
        outputs, _ = again(images)
        error = torch.abs(outputs - images).reshape(len(test), -1).mean(dim=1)
    losses.extend(error.cpu().numpy().tolist())
    return losses


if __name__ == "__main__":
    print(main())

# SPDX-License-Identifier: MIT
"""An embedding learned from triplets and pairs, judged by its nearest neighbours."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import BatchSampler, DataLoader, Sampler, TensorDataset


class BalancedBatchSampler(Sampler):
    """Batches of `n_samples` of each class."""

    def __init__(self, labels, n_samples, n_batches):
        self.labels, self.n_samples, self.n_batches = labels, n_samples, n_batches
        self.rng = np.random.default_rng(82)

    def __iter__(self):
        for _ in range(self.n_batches):
            batch = []
            for label in torch.unique(self.labels).tolist():
                (places,) = torch.where(self.labels == label)
                chosen = self.rng.choice(places.numpy(), self.n_samples, replace=False)
                batch.extend(chosen.tolist())
            yield batch

    def __len__(self):
        return self.n_batches


class EmbeddingNet(nn.Module):
    def __init__(self, n_features, dim=6):
        super().__init__()
        self.fc = nn.Sequential(
            nn.Linear(n_features, 24), nn.LayerNorm(24), nn.Hardswish(),
            nn.Linear(24, dim),
        )  # fmt: skip

    def forward(self, x):
        return F.normalize(self.fc(x), p=2, dim=1)


def hardest_triplets(embeddings, labels):
    """For each row the farthest of its class and the nearest of the others."""
    distances = torch.cdist(embeddings, embeddings)
    same = labels.unsqueeze(0) == labels.unsqueeze(1)
    far = distances.masked_fill(~same, -1).argmax(dim=1)
    near = distances.masked_fill(same, float("inf")).argmin(dim=1)
    return far, near


def nt_xent(z, labels, temperature=0.2):
    """The supervised contrastive loss."""
    similarity = z @ z.T / temperature
    itself = torch.eye(len(z), dtype=torch.bool)
    similarity = similarity.masked_fill(itself, -torch.inf)
    log_prob = similarity - torch.logsumexp(similarity, dim=1, keepdim=True)
    positive = (labels[:, None] == labels[None]) & ~itself
    picked = torch.where(positive, log_prob, torch.zeros_like(log_prob))
    return -(picked.sum(1) / positive.sum(1)).mean()


def points(count):
    rng = np.random.default_rng(81)
    labels = np.arange(count) % 4
    centres = rng.normal(0, 0.7, (4, 12))
    values = centres[labels] + rng.normal(0, 0.6, (count, 12))
    return torch.from_numpy(values).float(), torch.from_numpy(labels)


def initialise(model):
    rng = np.random.default_rng(80)
    for layer in model.fc:
        if isinstance(layer, nn.Linear):
            with torch.no_grad():
                shape = tuple(layer.weight.shape)
                layer.weight.copy_(torch.from_numpy(rng.normal(0, 0.3, shape)))
                layer.bias.zero_()


def main():
    values, labels = points(64)
    dataset = TensorDataset(values, labels)
    sampler = BalancedBatchSampler(labels, n_samples=4, n_batches=8)
    loader = DataLoader(dataset, batch_sampler=sampler)
    model = EmbeddingNet(12)
    initialise(model)
    triplet = nn.TripletMarginLoss(margin=0.5, p=2, swap=True)
    by_cosine = nn.TripletMarginWithDistanceLoss(
        distance_function=lambda a, b: 1.0 - F.cosine_similarity(a, b), margin=0.3
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.PolynomialLR(optimizer, 30, power=0.9)
    losses = []
    for epoch in range(4):
        for x, y in loader:
            z = model(x)
            far, near = hardest_triplets(z.detach(), y)
            loss = triplet(z, z[far], z[near]) + nt_xent(z, y)
            if epoch > 1:
                loss = loss + by_cosine(z, z[far], z[near])
            # Embeddings spread over the sphere.
            loss = loss + 0.05 * F.pdist(z).pow(2).mul(-2).exp().mean().log()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())

    batches = BatchSampler(range(len(values)), batch_size=24, drop_last=False)
    with torch.no_grad():
        z = torch.cat([model(values[batch]) for batch in batches])
        distances = torch.cdist(z, z, p=1.0)
        nearest = distances.topk(6, largest=False).values[:, 1:]
        losses += nearest.mean(0).tolist()
        pairs = nn.PairwiseDistance(p=2)(z[:-1], z[1:])
        embedding = F.hinge_embedding_loss(pairs, torch.full((63,), -1))
        ranking = F.margin_ranking_loss(pairs[1:], pairs[:-1], torch.ones(62), 0.1)
        losses += [embedding.item(), ranking.item(), F.pdist(z, p=3.0).mean().item()]
    return losses


if __name__ == "__main__":
    print(main())

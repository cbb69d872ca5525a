# SPDX-License-Identifier: MIT
"""Trains with dropout, saves on one rank, and goes on from the file.

Arguments: the file, the chance of dropout, and whether to begin ("begin") or to go on.
"""

from __future__ import annotations

import sys

from networks import CNN, batch, identity, part
from tell import tell

import autocalc as ac
import autocalc.distributed as dist
from autocalc.nn import functional as F
from autocalc.nn.parallel import DistributedDataParallel as DDP

HALF = 4


class Dropping(CNN):
    def __init__(self, p):
        super().__init__(identity)
        self.p = p

    def forward(self, images, labels):
        return super().forward(F.dropout(images, self.p), labels)


def build(p):
    ac.manual_seed(100 + dist.get_rank())
    model = DDP(Dropping(p).double(), bucket_cap_mb=0.004)
    return model, ac.optim.AdamW(model.parameters(), lr=0.01)


def save(model, optimizer, step, path):
    """Write one file, on rank 0, with the generators of all ranks."""
    own = ac.get_rng_state()
    states = [ac.empty_like(own) for _ in range(dist.get_world_size())]
    dist.all_gather(states, own)
    if dist.get_rank() == 0:
        parts = {"model": model.module, "optimizer": optimizer}
        ac.save({**parts, "step": step, "generators": states}, path)
    dist.barrier()


def load(model, optimizer, path):
    """Read it on any number of ranks; on as many as before, random numbers go on."""
    saved = ac.load(path)
    model.module.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    if len(saved["generators"]) == dist.get_world_size():
        ac.set_rng_state(saved["generators"][dist.get_rank()])
    return saved["step"]


def train(model, optimizer, first, last):
    losses = []
    for step in range(first, last):
        whole = batch("cnn", step, ac.float64)
        own = part(whole, dist.get_rank(), dist.get_world_size())
        optimizer.zero_grad()
        loss = model(*own)
        loss.backward()
        optimizer.step()
        loss = loss.detach().clone()
        dist.all_reduce(loss, dist.ReduceOp.AVG)
        losses.append(loss.item())
    return losses


def main(path, p, how):
    dist.init_process_group()
    p = float(p)
    if how == "begin":
        ac.use_deterministic_algorithms(True)
        whole = train(*build(p), 0, 2 * HALF)
        parts = build(p)
        before = train(*parts, 0, HALF)
        save(*parts, HALF, path)
        found = [whole, before]
    else:
        found = []
    parts = build(p)
    first = load(*parts, path)
    found.append(train(*parts, first, 2 * HALF))
    tell(found)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])

# SPDX-License-Identifier: MIT
"""Trains networks on all ranks in several ways; tells the loss of each step."""

from __future__ import annotations

import contextlib
import json
import sys

from networks import NETWORKS, batch, part
from tell import tell

import autocalc as ac
import autocalc.distributed as dist
from autocalc.nn.parallel import DistributedDataParallel as DDP

#: Megabytes of a bucket: several buckets for these small networks.
SMALL = 0.004


def build(name, dtype, **words):
    # Ranks begin with different weights: those of rank 0 count.
    ac.manual_seed(dist.get_rank())
    net = NETWORKS[name]().to(dtype)
    return DDP(net, bucket_cap_mb=SMALL, **words)


def train_step(model, optimizer, inputs, targets):
    optimizer.zero_grad()
    loss = model(inputs, targets)
    loss.backward()
    optimizer.step()
    return loss.detach()


def accumulate(model, optimizer, inputs, targets):
    """Take the batch in two halves, of which the first one is not sent."""
    optimizer.zero_grad()
    half = len(inputs) // 2
    with model.no_sync():
        first = model(inputs[:half], targets[:half]) / 2
        first.backward()
    second = model(inputs[half:], targets[half:]) / 2
    second.backward()
    optimizer.step()
    return first.detach() + second.detach()


def losses(way):
    """Return the mean loss of all ranks in each step."""
    dtype = getattr(ac, way["dtype"])
    rank, n = dist.get_rank(), dist.get_world_size()
    ac.use_deterministic_algorithms(way.get("deterministic", False))
    model = build(
        way["network"], dtype, gradient_as_bucket_view=way.get("views", False)
    )
    optimizer = ac.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    step = accumulate if way.get("accumulate") else train_step
    if way.get("compile"):
        step = ac.compile(step)
    found = []
    for i in range(way["steps"]):
        own = part(batch(way["network"], i, dtype), rank, n)
        loss = step(model, optimizer, *own).clone()
        dist.all_reduce(loss, dist.ReduceOp.AVG)
        found.append(loss.item())
    ac.use_deterministic_algorithms(False)
    values = [p.detach().to(ac.float64).reshape(-1) for p in model.parameters()]
    found.append(ac.cat(values).sum().item())
    return found


def main():
    dist.init_process_group()
    tell([losses(way) for way in json.loads(sys.argv[1])])
    with contextlib.suppress(ValueError):
        dist.destroy_process_group()


if __name__ == "__main__":
    main()

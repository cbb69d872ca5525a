# SPDX-License-Identifier: MIT
"""State that is divided among ranks: the same parameters, a share of the memory.

Arguments: a file to save to, or one to go on from.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from networks import CharLM, batch, part
from tell import tell

import autocalc as ac
import autocalc.distributed as dist
from autocalc.nn.parallel import DistributedDataParallel as DDP
from autocalc.optim import ZeroRedundancyOptimizer as Zero

STEPS = 4


def build(kind):
    ac.manual_seed(3)
    net = CharLM().double()
    matrices = [p for p in net.parameters() if p.ndim > 1]
    others = [p for p in net.parameters() if p.ndim < 2]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": others}]
    words = {"lr": 0.01}
    if kind == "whole":
        return DDP(net), ac.optim.AdamW(groups, **words)
    return DDP(net), Zero(groups, ac.optim.AdamW, **words)


def train(model, optimizer, first, compiled=False):
    rank, n = dist.get_rank(), dist.get_world_size()

    def step(inputs, targets):
        optimizer.zero_grad()
        model(inputs, targets).backward()
        optimizer.step()

    step = ac.compile(step) if compiled else step
    rates = ac.optim.lr_scheduler.StepLR(optimizer, 2)
    for i in range(first, first + STEPS):
        step(*part(batch("charlm", i, ac.float64), rank, n))
        rates.step()


def values(model):
    return np.concatenate([p.detach().numpy().ravel() for p in model.parameters()])


def held(optimizer):
    """Return how many numbers an optimizer keeps."""
    states = optimizer.state.values()
    return sum(x.numel() for s in states for n, x in s.items() if n != "step")


def main(path):
    dist.init_process_group()
    rank = dist.get_rank()
    ac.use_deterministic_algorithms(True)
    path = Path(path)
    if not path.exists():
        dist.barrier()
        whole, divided, replayed = build("whole"), build("zero"), build("zero")
        train(*whole, 0)
        train(*divided, 0)
        train(*replayed, 0, compiled=True)
        np.testing.assert_array_equal(values(divided[0]), values(whole[0]))
        np.testing.assert_array_equal(values(replayed[0]), values(whole[0]))
        divided[1].consolidate_state_dict(to=1)
        if rank == 1:
            state = divided[1].state_dict()
            for i, one in whole[1].state_dict()["state"].items():
                other = state["state"][i]
                np.testing.assert_array_equal(one["exp_avg"], other["exp_avg"])
            ac.save({"model": divided[0].module, "optimizer": state}, path)
        tell([held(whole[1]), held(divided[1])])
        dist.barrier()
    saved = ac.load(path)
    ends = []
    for kind in ("whole", "zero"):
        model, optimizer = build(kind)
        model.module.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        train(model, optimizer, STEPS)
        ends.append(values(model))
    np.testing.assert_array_equal(*ends)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])

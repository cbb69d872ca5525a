# SPDX-License-Identifier: MIT
"""Resident memory of a rank that trains with AdamW, whole or divided.

Tells the bytes of all parameters, those whose state this rank keeps, and by how much
the resident memory has grown from before the optimizer's first step to after its third.
Argument: "whole" or "zero".  All ranks have the same batch, so that no gradients are
sent: what a library keeps of messages for a while would be measured as well.
"""

from __future__ import annotations

import sys

from tell import tell

import autocalc as ac
import autocalc.distributed as dist
from autocalc import nn
from autocalc.cli._memory import resident_bytes

#: 32 layers of 1 MiB: each of 1, 2 and 4 ranks can have as many.
LAYERS, WIDTH = 32, 512


def build(kind):
    ac.manual_seed(0)
    layers = [nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS)]
    model = nn.Sequential(*layers)
    if kind == "whole":
        return model, ac.optim.AdamW(model.parameters())
    make = ac.optim.ZeroRedundancyOptimizer
    return model, make(model.parameters(), ac.optim.AdamW)


def main(kind):
    dist.init_process_group()
    model, optimizer = build(kind)
    inputs = ac.randn(4, WIDTH)

    def gradients():
        optimizer.zero_grad(set_to_none=False)
        model(inputs).sum().backward()

    for _ in range(3):
        gradients()
    dist.barrier()
    before = resident_bytes()
    for _ in range(3):
        gradients()
        optimizer.step()
        dist.barrier()
    grown = resident_bytes() - before
    params = list(model.parameters())
    whole = sum(p.numel() * 4 for p in params)
    kept = sum(p.numel() * 4 for p in params if optimizer.state.get(p))
    tell([whole, kept, grown])
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])

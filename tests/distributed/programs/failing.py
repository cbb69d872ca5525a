# SPDX-License-Identifier: MIT
"""Trains and saves without end, until a rank does what the first argument says."""

from __future__ import annotations

import contextlib
import os
import sys
import threading

from networks import CharLM, batch, part
from tell import tell

import autocalc as ac
import autocalc.distributed as dist
from autocalc.nn.parallel import DistributedDataParallel as DDP

#: The rank that does it, and when.
RANK, STEP = 1, 3


def fail(how, x):
    if how == "raise":
        raise ValueError("rank one is wrong")
    if how == "thread":
        thread = threading.Thread(target=fail, args=("raise", x))
        thread.start()
        thread.join()
    if how == "leave":
        sys.exit(0)
    if how == "shape":
        dist.all_reduce(ac.ones(7))
    if how == "other":
        dist.broadcast(x, 0)
    if how == "group":
        dist.new_group([1])
    if how == "size":
        dist.all_reduce(ac.ones(19_999))
    if how == "absorb":
        # What is caught ends nobody.
        with contextlib.suppress(ac.errors.ArgumentError):
            dist.broadcast(x, 99)
        dist.all_reduce(x)


def main(how, path, timeout):
    dist.init_process_group(timeout=float(timeout) or None)  # 0: the environment's
    rank, n = dist.get_rank(), dist.get_world_size()
    tell(os.getpid())
    model = DDP(CharLM(), bucket_cap_mb=0.004)
    optimizer = ac.optim.AdamW(model.parameters())
    step = 0
    while how != "absorb" or step < 2 * STEP:
        optimizer.zero_grad()
        model(*part(batch("charlm", step, ac.float32), rank, n)).backward()
        optimizer.step()
        if rank == 0:
            ac.save({"model": model, "optimizer": optimizer, "step": step}, path)
        step += 1
        if step == STEP:
            if rank == RANK:
                print("REACHED", flush=True)
                fail(how, ac.ones(3))
            elif how in ("shape", "other", "absorb"):
                dist.all_reduce(ac.ones(3))
            elif how == "group":
                dist.new_group([0])
            elif how == "size":
                dist.all_reduce(ac.ones(20_000))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])

# SPDX-License-Identifier: MIT
"""``autocalc bench distributed``: the costs and gains of several ranks."""

from __future__ import annotations

import json
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import click

from autocalc import distributed
from autocalc._ops.creation.constants import zeros
from autocalc._ops.creation.from_data import tensor
from autocalc._ops.random.random_draws import randint
from autocalc._tensor.dtypes import float64
from autocalc.cli._common import choose_machine, machine_options
from autocalc.cli._cost_model import Link, StepModel
from autocalc.cli._ranks import is_first, ranks
from autocalc.cli._train_text import check_sizes, size_options
from autocalc.distributed._group import are_several
from autocalc.models import TextConfig
from autocalc.models._ranks import Averaged
from autocalc.optim import AdamW

#: The number of letters that the measured model knows.
VOCABULARY = 100

#: The sizes in bytes of the timed all-reduces.
SIZES = (4, 2**12, 2**16, 2**20, 2**24)

#: The networks of the forecast, with Gb/s and the latency in seconds: Ethernet, faster
#: Ethernet, and the network of a cluster.
NETWORKS = {1: 50e-6, 10: 20e-6, 100: 2e-6}
HOSTS = (2, 4, 8, 16, 32, 64)


@click.command(
    "distributed", short_help="Measure messages, overlap and efficiency of ranks."
)
@size_options
@click.option(
    "--steps",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="The number of timed steps, after two warm-up steps.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@machine_options
@click.pass_context
def bench_distributed_command(
    ctx: click.Context,
    /,
    steps: int,
    as_json: bool,
    threads: int | None,
    choices: str | None,
    **sizes: Any,
) -> None:
    """Measure all-reduce and a step of a transformer on the ranks that mpirun started.

    Each rank processes --batch-size windows of text.  Times on other networks are
    predicted from the time of a step here and from the number of bytes that it sends.

    \b
    Examples:
      autocalc bench distributed
      mpirun -n 2 autocalc bench distributed --layers 6 --batch-size 8
    """
    with ranks():
        choose_machine(ctx, threads, choices)
        config = TextConfig(**sizes)
        check_sizes(config)
        found = measure(config, steps)
        if is_first():
            click.echo(json.dumps(found) if as_json else "\n".join(lines(found)))


def measure(config: TextConfig, steps: int) -> dict[str, Any]:
    """Return all measurements and forecasts."""
    model = config.make_model(VOCABULARY)
    averaged = Averaged(model)
    optimizer = AdamW(model.parameters())
    size = config.batch_size, config.seq_len
    inputs, targets = randint(0, VOCABULARY, size), randint(0, VOCABULARY, size)

    def step() -> None:
        optimizer.zero_grad()
        averaged.loss(inputs, targets).backward()
        optimizer.step()

    def alone() -> None:
        with averaged.no_sync():
            step()

    parameters = list(model.parameters())
    nbytes = sum(p.numel() * p.dtype.itemsize for p in parameters)
    buckets = [nbytes]
    if averaged._reducer is not None:
        buckets = [b.nbytes for b in averaged._reducer.buckets]
    compute, whole = _in_turn([alone, step], steps)
    found: dict[str, Any] = {
        "ranks": distributed.get_world_size() if are_several() else 1,
        "parameters": sum(p.numel() for p in parameters),
        "bytes": nbytes,
        "buckets": buckets,
        "batch_size": config.batch_size,
        "compute_seconds": compute,
        "step_seconds": whole,
    }
    if are_several():
        found.update(_messages(compute, whole, buckets, config.batch_size, steps))
    made = StepModel(compute / config.batch_size, nbytes, buckets[-1])
    found["break_even"] = {
        str(gigabits): {
            str(n): made.break_even(Link(latency, gigabits * 1e9 / 8), n) for n in HOSTS
        }
        for gigabits, latency in NETWORKS.items()
    }
    return found


def _messages(
    compute: float, whole: float, buckets: list[int], samples: int, steps: int
) -> dict[str, Any]:
    """Return the bytes that ranks send and the time it takes, alone and in a step."""
    n = distributed.get_world_size()
    tensors = [zeros(nbytes // 4) for nbytes in buckets]

    def send_all() -> None:
        for x in tensors:
            distributed.all_reduce(x)

    (sent,) = _in_turn([send_all], steps)
    times = {nbytes: _all_reduce(nbytes, steps) for nbytes in SIZES}
    small, large = SIZES[0], SIZES[-1]
    messages = 2 * (n - 1)
    link = Link(
        times[small] / messages, messages / n * large / (times[large] - times[small])
    )
    made = StepModel(compute / samples, sum(buckets), buckets[-1])
    return {
        "all_reduce_seconds": {str(k): v for k, v in times.items()},
        "latency": times[small],
        "bandwidth": link.bandwidth,
        "gradients_seconds": sent,
        "overlap": min(1.0, max(0.0, 1 - (whole - compute) / sent)),
        "efficiency": compute / whole,
        "predicted_efficiency": made.efficiency(samples, link, n),
    }


def _all_reduce(nbytes: int, steps: int) -> float:
    x = zeros(max(1, nbytes // 4))
    return _in_turn([lambda: distributed.all_reduce(x)], 2 * steps)[0]


def _in_turn(calls: list[Callable[[], Any]], steps: int) -> list[float]:
    """Return the median seconds of calls that alternate, on the slowest rank."""
    seconds: list[list[float]] = [[] for _ in calls]
    for i in range(steps + 2):
        for call, found in zip(calls, seconds, strict=True):
            if are_several():
                distributed.barrier()
            started = perf_counter()
            call()
            if i > 1:
                found.append(perf_counter() - started)
    return [_slowest(median(found)) for found in seconds]


def _slowest(seconds: float) -> float:
    if not are_several():
        return seconds
    found = tensor(seconds, dtype=float64)
    distributed.all_reduce(found, distributed.ReduceOp.MAX)
    return float(found.item())


def lines(found: dict[str, Any]) -> list[str]:
    """Return the report as lines of text."""
    n, samples = found["ranks"], found["batch_size"]
    megabytes, buckets = found["bytes"] / 1e6, len(found["buckets"])
    compute, whole = 1e3 * found["compute_seconds"], 1e3 * found["step_seconds"]
    alone = "1 rank: start several with mpirun to measure them"
    sent = f"a step adds up {megabytes:.2f} MB of gradients, in buckets: {buckets}"
    times = f"{compute:.2f} ms without sending, {whole:.2f} ms with it"
    report = [
        f"{n} ranks" if n > 1 else alone,
        f"  {found['parameters']:,} parameters; {sent}",
        f"  {samples} samples a rank: {times}",
    ]
    if n > 1:
        report += _measured_lines(found)
    report += [
        "",
        "Break-even: the batch of all hosts above which they are faster than one",
        "  network   " + "".join(f"{hosts:>9}" for hosts in HOSTS) + "  hosts",
    ]
    for gigabits, row in found["break_even"].items():
        cells = "".join(f"{row[str(hosts)]:9.1f}" for hosts in HOSTS)
        report.append(f"  {gigabits:>3} Gb/s  {cells}")
    return report


def _measured_lines(found: dict[str, Any]) -> list[str]:
    times = ", ".join(
        f"{int(nbytes):,} bytes {1e6 * seconds:.0f} us"
        for nbytes, seconds in found["all_reduce_seconds"].items()
    )
    latency, bandwidth = 1e6 * found["latency"], found["bandwidth"] / 1e9
    sent, hidden = 1e3 * found["gradients_seconds"], found["overlap"]
    here, model = found["efficiency"], found["predicted_efficiency"]
    return [
        f"  all-reduce: {times}",
        f"  latency {latency:.0f} us, bandwidth of a ring {bandwidth:.2f} GB/s",
        f"  gradients alone {sent:.2f} ms; backward hides {hidden:.0%} of that",
        f"  efficiency {here:.0%}; the model says {model:.0%}",
    ]

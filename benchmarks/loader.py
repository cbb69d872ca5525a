# SPDX-License-Identifier: MIT
"""What a prefetching loader costs a training: ``python -m benchmarks.loader``.

The step of `autocalc train mnist` on random images, once with batches that are ready,
once with a `DataLoader` that gathers, scales and normalises them in a worker thread; in
turn, in one process. What counts is the median of the rounds' ratios.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import autocalc as ac
from autocalc.data import DataLoader
from autocalc.data._images import ImageDataset
from autocalc.data.transforms import Normalize

IMAGES, BATCH = 20_000, 256


class Noise(ImageDataset):
    """As many random images as fit into no cache."""

    classes = tuple("0123456789")
    white = 255

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        images = rng.integers(256, size=(IMAGES, 28, 28), dtype=np.uint8)
        labels = rng.integers(10, size=IMAGES, dtype=np.uint8)
        super().__init__(images, labels, Normalize(0.1307, 0.3081), None)


def endless(loader: DataLoader) -> Iterator[Any]:
    """Epoch after epoch."""
    while True:
        yield from loader


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--steps", type=int, default=20, help="steps in a round")
    options = parser.parse_args()
    ac.manual_seed(0)
    nn = ac.nn
    model = nn.Sequential(
        nn.Flatten(), nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 10)
    )
    optimizer = ac.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()
    workers = endless(DataLoader(Noise(), BATCH, shuffle=True, num_workers=1))
    ready = [next(workers) for _ in range(options.steps)]

    def seconds(batches: Any) -> float:
        start = time.perf_counter()
        for images, labels in batches:
            optimizer.zero_grad()
            loss_of(model(images), labels).backward()
            optimizer.step()
        return (time.perf_counter() - start) / options.steps

    def loaded() -> Iterator[Any]:
        return (next(workers) for _ in range(options.steps))

    pairs = [(seconds(ready), seconds(loaded())) for _ in range(options.rounds)]
    without, beside = (
        1e3 * statistics.median(times) for times in zip(*pairs, strict=True)
    )
    ratio = statistics.median(b / a for a, b in pairs)
    print(
        f"a step: {without:.2f} ms with batches at hand, {beside:.2f} ms with a loader"
    )
    print(
        f"the loader costs {100 * (ratio - 1):+.1f} % (median of {len(pairs)} rounds)"
    )


if __name__ == "__main__":
    main()

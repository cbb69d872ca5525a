# SPDX-License-Identifier: MIT
"""A model of the cost of training on several hosts.

A step computes for ``s`` seconds per sample, two thirds of it in backward.  An
all-reduce sums the gradients of n hosts.  A ring sends ``2 (n - 1)`` messages of
``1/n`` of the bytes, one after the other.  It runs while backward computes, except for
the last bucket, which is complete only when backward ends.
"""

from __future__ import annotations

from dataclasses import dataclass

#: The share of backward in a step: two matrix products for each one of forward.
BACKWARD = 2 / 3


@dataclass(frozen=True)
class Link:
    """A network: its latency in seconds, and its bytes per second."""

    latency: float
    bandwidth: float

    def all_reduce(self, nbytes: float, n: int) -> float:
        """Return the seconds that `n` hosts need to sum this many bytes."""
        messages = 2 * (n - 1)
        return messages * (self.latency + nbytes / n / self.bandwidth)


@dataclass(frozen=True)
class StepModel:
    """A training step: seconds per sample, and the bytes of its gradients.

    The bytes of the last bucket are a separate field.
    """

    per_sample: float
    nbytes: int
    last: int

    def seconds(self, samples: float, link: Link, n: int) -> float:
        """Return the seconds of a step with `samples` on each of `n` hosts."""
        compute = samples * self.per_sample
        if n == 1:
            return compute
        sent = link.all_reduce(self.nbytes, n)
        exposed = max(sent - BACKWARD * compute, link.all_reduce(self.last, n))
        return compute + exposed

    def efficiency(self, samples: float, link: Link, n: int) -> float:
        """Return the share of the time of a step that is computation."""
        return samples * self.per_sample / self.seconds(samples, link, n)

    def break_even(self, link: Link, n: int) -> float:
        """Return the batch size at which `n` hosts are as fast as one.

        With larger batches they are faster.  The size solves ``B s = B s / n +
        exposed``, where the exposed part is either the whole sum or the last bucket.
        """
        whole = link.all_reduce(self.nbytes, n) / (1 - (1 - BACKWARD) / n)
        last = link.all_reduce(self.last, n) / (1 - 1 / n)
        return max(whole, last) / self.per_sample

# SPDX-License-Identifier: MIT
"""The cost of training on several hosts, on paper.

A step computes for ``s`` seconds a sample, two thirds of it in backward.  An all-reduce
adds up the gradients of n hosts: a ring sends ``2 (n - 1)`` messages of ``1/n`` of the
bytes one after the other.  It runs while backward computes, but for the last bucket,
which is complete when backward ends.
"""

from __future__ import annotations

from dataclasses import dataclass

#: The share of a step that is backward: two products of matrices for each of forward.
BACKWARD = 2 / 3


@dataclass(frozen=True)
class Link:
    """A network: seconds until a message arrives, and bytes a second after that."""

    latency: float
    bandwidth: float

    def all_reduce(self, nbytes: float, n: int) -> float:
        """Return the seconds that `n` hosts need to add up so many bytes."""
        messages = 2 * (n - 1)
        return messages * (self.latency + nbytes / n / self.bandwidth)


@dataclass(frozen=True)
class StepModel:
    """A step of training: seconds a sample, bytes of gradients, of the last bucket."""

    per_sample: float
    nbytes: int
    last: int

    def seconds(self, samples: float, link: Link, n: int) -> float:
        """Return how long a step of `samples` on each of `n` hosts takes."""
        compute = samples * self.per_sample
        if n == 1:
            return compute
        sent = link.all_reduce(self.nbytes, n)
        exposed = max(sent - BACKWARD * compute, link.all_reduce(self.last, n))
        return compute + exposed

    def efficiency(self, samples: float, link: Link, n: int) -> float:
        """Return the share of a step's time that is computing."""
        return samples * self.per_sample / self.seconds(samples, link, n)

    def break_even(self, link: Link, n: int) -> float:
        """Return the batch that `n` hosts train on as fast as one does.

        With larger ones they are faster.  It solves ``B s = B s / n + exposed``, where
        either the whole sum or the last bucket counts.
        """
        whole = link.all_reduce(self.nbytes, n) / (1 - (1 - BACKWARD) / n)
        last = link.all_reduce(self.last, n) / (1 - 1 / n)
        return max(whole, last) / self.per_sample

# SPDX-License-Identifier: MIT
"""Optimizers that count the steps of each parameter, as PyTorch's states do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import on_host
from autocalc._tensor import Tensor, make
from autocalc._tensor.dtypes import int64
from autocalc.optim._optimizer import Batch, Group, Optimizer


class CountingOptimizer(Optimizer):
    """An optimizer whose states hold ``"step"``: one counter for a batch."""

    _numbers = frozenset({"step"})

    def _counted_batches(self, group: Group) -> Iterator[tuple[Batch, Any]]:
        """Yield each batch with its count, of which this step is one."""
        batches = self._batches(group)
        all_step = sum(len(b.params) for b in batches) == len(group["params"])
        waiting = set() if all_step else self._waiting(group)
        for batch in batches:
            yield batch, self._counted(batch, waiting)

    def _step_key(self, state: dict[str, Any]) -> int:
        """Parameters that began together share the tensor that counts their steps."""
        return id(state.get("step"))

    def _waiting(self, group: Group) -> set[int]:
        """Return the ages of the parameters that have no gradient this time."""
        return {
            self._step_key(self.state[param])
            for param in group["params"]
            if param.grad is None and param in self.state
        }

    def _counted(self, batch: Batch, waiting: set[int]) -> Any:
        """Count a step and return the count; part with those that wait."""
        step = batch.states[0].get("step")
        if step is None:
            self._share(batch.states, 0)
        elif id(step) in waiting:
            self._share(batch.states, step._array.item())
        # A cell that the host refreshes, as the learning rate is: a kernel call that
        # adds 1 would cost ten times as much.
        cell = batch.states[0]["step"]._array

        def count() -> None:
            cell[()] = cell.item() + 1

        on_host(count, (cell,))
        return cell

    @staticmethod
    def _share(states: list[dict[str, Any]], count: int) -> None:
        """Give these states one new counter."""
        step = make(arrays.full((), count, int64.numpy), None)
        for state in states:
            state["step"] = step

    def _loaded(self, state: dict[Tensor, dict[str, Any]]) -> None:
        """Let equal counts be shared: PyTorch gives each parameter its own."""
        for group in self.param_groups:
            together: dict[Any, list[dict[str, Any]]] = {}
            for param in group["params"]:
                values = state.get(param, {})
                if "step" in values:
                    key = (param.dtype, int(values["step"]))
                    together.setdefault(key, []).append(values)
            for (_, count), states in together.items():
                self._share(states, count)

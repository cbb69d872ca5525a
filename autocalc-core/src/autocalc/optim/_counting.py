# SPDX-License-Identifier: MIT
"""Optimizers that count the steps of each parameter, like the states of PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import on_host
from autocalc._tensor import Tensor, make
from autocalc._tensor.dtypes import float64, int64
from autocalc.optim._batch import Batch
from autocalc.optim._optimizer import Group, Optimizer


class CountingOptimizer(Optimizer):
    """An optimizer whose states hold ``"step"``, one counter for each batch."""

    _numbers = frozenset({"step"})

    def _counted_batches(self, group: Group) -> Iterator[tuple[Batch, Any]]:
        """Yield each batch with its step count, which includes this step."""
        batches = self._batches(group)
        all_step = sum(len(b.params) for b in batches) == len(group["params"])
        waiting = set() if all_step else self._waiting(group)
        for batch in batches:
            yield batch, self._counted(batch, waiting, group)

    def _step_key(self, state: dict[str, Any]) -> int:
        """Parameters that began together share the tensor that counts their steps."""
        return id(state.get("step"))

    def _waiting(self, group: Group) -> set[int]:
        """Return the step keys of the parameters that have no gradient in this step."""
        return {
            self._step_key(self.state[param])
            for param in group["params"]
            if param.grad is None and param in self.state
        }

    def _numbers_alone(self, group: Group, state: dict[str, Any]) -> tuple[Any, ...]:
        """Count a step of one parameter, and return the numbers of its formula."""
        names = self._begun(group)
        if "step" not in state:
            self._share([state], names)
        state.update({name: state[name].detach().clone() for name in names})
        state["step"] += 1
        return self._numbers_of(group, state, int(state["step"].item()))

    def _numbers_of(
        self, group: Group, state: dict[str, Any], t: int
    ) -> tuple[Any, ...]:
        """Return the numbers of step `t`, and advance those that the state keeps."""
        del group, state
        return (t,)

    def _begun(self, group: Group) -> dict[str, float]:
        """Return the numbers of a state before its first step, ``"step"`` first."""
        del group
        return {"step": 0}

    def _counted(self, batch: Batch, waiting: set[int], group: Group) -> Any:
        """Count a step and return the count; unshare it from waiting parameters."""
        state = batch.states[0]
        if "step" not in state:
            self._share(batch.states, self._begun(group))
        elif id(state["step"]) in waiting:
            names = self._begun(group)
            self._share(batch.states, {n: state[n]._array.item() for n in names})
        # The host updates this cell, as it does for the learning rate.  A kernel call
        # that adds 1 would cost ten times as much.
        cell = state["step"]._array

        def count() -> None:
            cell[()] = cell.item() + 1

        on_host(count, (cell,))
        return cell

    @staticmethod
    def _share(states: list[dict[str, Any]], numbers: dict[str, float]) -> None:
        """Give these states one new, shared tensor for each number."""
        for name, number in numbers.items():
            kind = int64 if name == "step" else float64
            shared = make(arrays.full((), number, kind.numpy), None)
            for state in states:
                state[name] = shared

    def _loaded(self, state: dict[Tensor, dict[str, Any]]) -> None:
        """Share equal numbers again, because PyTorch gives each parameter its own."""
        for group in self.param_groups:
            names = self._begun(group)
            together: dict[Any, list[dict[str, Any]]] = {}
            for param in group["params"]:
                values = state.get(param, {})
                if "step" in values:
                    numbers = int(values["step"]), *(values.get(n) for n in names)
                    together.setdefault((param.dtype, numbers), []).append(values)
            for (_, (count, _, *others)), states in together.items():
                known = zip(list(names)[1:], others, strict=True)
                given = {name: value for name, value in known if value is not None}
                self._share(states, {**names, **given, "step": count})

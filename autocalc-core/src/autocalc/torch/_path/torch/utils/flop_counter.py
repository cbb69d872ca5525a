# SPDX-License-Identifier: MIT
"""`torch.utils.flop_counter`: the FLOPs of products in a block, by module."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from autocalc._dispatch._callers import running_modules
from autocalc.diagnostics._calls import Seen, calls_seen
from autocalc.diagnostics._summary import flops_of
from autocalc.torch import _mentioned

#: The kernels that are counted; PyTorch counts no others, either.
_PRODUCTS = frozenset(
    {
        *("attention", "attention_backward", "conv", "conv_activation"),
        *("conv_dweight", "conv_dx", "gemm", "gru", "gru_backward", "linear"),
        *("linear_backward", "linear_relu_backward", "lstm", "lstm_backward", "rnn"),
        "rnn_backward",
    }
)


class FlopCounterMode:
    """Count the FLOPs of products, convolutions, attention and recurrent layers.

    A multiply-add counts as two operations. Operators have the names of AutoCalc's
    kernels.

    Parameters
    ----------
    depth
        The number of levels of modules in the table.
    display
        True to print the table at the end of the block.
    mods, custom_mapping
        Accepted so that programs for PyTorch run; they have no effect.
    """

    def __init__(
        self,
        mods: Any = None,
        depth: int = 2,
        display: bool = True,
        custom_mapping: Any = None,
    ) -> None:
        self.depth = depth
        self.display = display
        self.flop_counts: dict[str, dict[str, int]] = defaultdict(
            lambda: defaultdict(int)
        )
        self._names: dict[int, dict[int, str]] = {}

    def __enter__(self) -> FlopCounterMode:
        """Start counting from zero."""
        self.flop_counts.clear()
        self._block = ExitStack()
        self._block.enter_context(calls_seen("FlopCounterMode", self._look))
        return self

    def __exit__(self, *error: object) -> None:
        """Stop counting."""
        self._block.close()
        if self.display:
            sys.stdout.write(f"{self.get_table(self.depth)}\n")

    def _look(self, seen: Seen, run: Callable[[], Any]) -> None:
        name = seen.spec.name
        if name in _PRODUCTS:
            flops = int(flops_of(seen))
            for place in self._places(running_modules()):
                self.flop_counts[place][name] += flops
        run()

    def _places(self, modules: tuple[Any, ...]) -> list[str]:
        """Return the names of the running modules; the outermost is named by class."""
        if not modules:
            return ["Global"]
        root = modules[-1]
        names = self._names.get(id(root))
        if names is None:
            kind = type(root).__name__
            names = {
                id(one): f"{kind}.{name}" if name else kind
                for name, one in root.named_modules()
            }
            self._names[id(root)] = names
        return ["Global", *(names[id(one)] for one in modules if id(one) in names)]

    def get_total_flops(self) -> int:
        """Return the number of FLOPs in the block."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[str, int]]:
        """Return the FLOPs of each kernel, by the name of the module or "Global"."""
        return {place: dict(counts) for place, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """Return a table with name, FLOPs and share of each module down to `depth`."""
        levels = self.depth if depth is None else depth
        total = max(self.get_total_flops(), 1)
        rows = [
            f"{place:40} {sum(counts.values()):>15,} "
            f"{100 * sum(counts.values()) / total:6.2f}%"
            for place, counts in sorted(self.flop_counts.items())
            if place == "Global" or place.count(".") < levels
        ]
        return "\n".join([f"{'Module':40} {'FLOPs':>15} {'Share':>7}", *rows])


__getattr__ = _mentioned.names_of(__name__)

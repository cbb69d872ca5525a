# SPDX-License-Identifier: MIT
"""A program as a table, and a report of the values that use its memory."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from autocalc._dispatch.selection.select import allocator
from autocalc._dispatch.selection.state import current
from autocalc._program._form import Instruction, Program
from autocalc._program._plan import Plan, occupancy
from autocalc._program._views import Operand, View
from autocalc._program._work import work_of
from autocalc.errors import CompileError

_DTYPES = {"float32": "", "float64": "f64 ", "int64": "i64 ", "bool": "bool "}


class Segment(NamedTuple):
    """Consecutive instructions that all run in Python, or all in native code."""

    python: bool
    instructions: range


def segments(program: Program) -> list[Segment]:
    """Split a program into segments.

    Python runs callbacks, the host's work, and kernels that have no native function.
    """
    found = []
    numbered = enumerate(program.instructions)
    for python, part in groupby(numbered, lambda pair: pair[1].native is None):
        places = [i for i, _ in part]
        found.append(Segment(python, range(places[0], places[-1] + 1)))
    return found


def _cuts(program: Program) -> str:
    """Return a text that says where Python and native code run; "" without Python."""
    texts: dict[bool, list[str]] = {True: [], False: []}
    for python, part in segments(program):
        last = part[-1]
        texts[python].append(f"{part[0]}" if len(part) == 1 else f"{part[0]}-{last}")
    if not texts[True]:
        return ""
    named = (("Python", texts[True]), ("native code", texts[False]))
    text = "; ".join(f"{by} runs {', '.join(some)}" for by, some in named if some)
    return f"\n{text}"


def program_table(program: Program) -> str:
    """Return a table with one instruction per line, and where Python runs."""
    head = ("", "kernel", "by", "results", "operands", "bytes", "FLOPs", "from")
    rows = [head]
    for number, i in enumerate(program.instructions):
        flops, nbytes = _work(i)
        rows.append(
            (
                str(number),
                i.name,
                i.chosen if i.callback is None else i.callback.name,
                _operands(program, i.outputs),
                _operands(program, i.inputs),
                nbytes,
                flops,
                _origin(i),
            )
        )
    return _aligned(rows) + _cuts(program)


def _origin(i: Instruction) -> str:
    """Return the operators of an instruction, and whether it is recomputed."""
    again = "recomputed" if i.recomputed else ""
    return ": ".join(filter(None, (again, " + ".join(i.fused))))


def _operands(program: Program, operands: Sequence[Operand]) -> str:
    return " ".join(_operand(program, x) for x in operands if x is not None)


def _operand(program: Program, x: Operand) -> str:
    if not isinstance(x, View):
        assert x is not None
        return f"{len(x)}x[{_operand(program, x[0])}, ...]" if x else "[]"
    kind = "t" if x.slot in program.temporaries else "x"
    kind = "r" if x.slot in program.results else kind
    shape = "x".join(map(str, x.shape)) or "1"
    return f"{kind}{x.slot}:{_DTYPES.get(x.dtype.name, x.dtype.name + ' ')}{shape}"


def _work(i: Instruction) -> tuple[str, str]:
    """Return the floating-point operations and the bytes of a call as texts."""
    if i.spec is None:
        return "", ""
    work = work_of(i)
    return _amount(work.flops), _amount(work.bytes)


def _amount(number: float) -> str:
    for unit in ("", "K", "M", "G"):
        if number < 1000:
            return f"{number:.3g}{unit}"
        number /= 1000
    return f"{number:.3g}T"


def _place(maker: Instruction) -> str:
    """Return the file and line that led to a call; "" if they are unknown."""
    line = maker.line
    return "" if line is None else f"{Path(line.file).name}:{line.number}"


def _behind(word: str, text: str) -> str:
    return word + text if text else ""


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            text.ljust(width) for text, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    )


class MemoryReport:
    """The memory of a program: its peak, and the values that use it.

    Attributes
    ----------
    peak
        The bytes of the arena, which holds temporaries and gradients.
    lower_bound
        The most bytes of the arena that live at one time.
    results
        The bytes of returned tensors, of other gradients and of callbacks' operands,
        all of which stay.
    needed
        The bytes of the arena before recomputation.
    workspaces
        The bytes that threads currently keep as workspaces of kernels, such as packed
        operands, for all programs together.  The number is 0 before the first replay,
        and for kernel sets that do not count them.
    """

    def __init__(self, program: Program, plan: Plan) -> None:
        self._program = program
        self._plan = plan
        self.peak = plan.nbytes
        self.lower_bound = plan.bound
        self.needed = plan.nbytes if program.needed is None else program.needed
        self.results = sum(
            program.sizes[slot] for slot in program.results - program.shared
        )

    @property
    def workspaces(self) -> int:
        found = allocator(current().selection)
        return 0 if found is None else int(found.stats().get("workspace", 0))

    def __repr__(self) -> str:
        return (
            f"<memory: arena {_amount(self.peak)}B, lower bound "
            f"{_amount(self.lower_bound)}B, results {_amount(self.results)}B>"
        )

    def table(self) -> str:
        """Return the place and lifetime of each temporary and gradient, as a table."""
        rows: list[Sequence[str]] = [
            ("slot", "offset", "bytes", "from", "to", "made by", "at")
        ]
        instructions = self._program.instructions
        for slot, life in sorted(self._plan.lives.items(), key=lambda s: s[1]):
            maker = instructions[life.first]
            rows.append(
                (
                    f"{'r' if slot in self._program.shared else 't'}{slot}",
                    str(self._plan.offsets[slot]),
                    str(self._program.sizes[slot]),
                    str(life.first),
                    str(life.last),
                    maker.name,
                    _place(maker),
                )
            )
        return _aligned(rows)

    def owners(self, count: int) -> str:
        """Return a text with the values that have the most bytes at the peak."""
        lives, sizes = self._plan.lives, self._program.sizes
        alive = occupancy(self._program, lives)
        at = alive.index(max(alive))
        there = [slot for slot, life in lives.items() if life.first <= at <= life.last]
        largest = sorted(there, key=lambda slot: -sizes[slot])
        makers = [self._program.instructions[lives[slot].first] for slot in largest]
        named = [
            f"{sizes[slot]:,} of {maker.name}{_behind(' at ', _place(maker))}"
            for slot, maker in zip(largest[:count], makers, strict=False)
        ]
        rest = sum(sizes[slot] for slot in largest[count:])
        return ", ".join([*named, f"{rest:,} of others"] if rest else named)

    def plot(self, file: str | Path) -> None:
        """Draw which value has which bytes of the arena while the program runs.

        Raises
        ------
        CompileError
            If matplotlib is not installed.
        """
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise CompileError(
                "memory.plot: matplotlib is not installed; install autocalc-core[plot]."
            ) from None
        figure = Figure(figsize=(9, 5), layout="constrained")
        axes = figure.subplots()
        for slot, (first, last) in self._plan.lives.items():
            place = (self._plan.offsets[slot] / 1e6, self._program.sizes[slot] / 1e6)
            axes.broken_barh([(first, last - first + 1)], place, edgecolor="white")
        axes.set_xlabel("instruction")
        axes.set_ylabel("MB of the arena")
        axes.set_title(repr(self)[1:-1])
        figure.savefig(file)

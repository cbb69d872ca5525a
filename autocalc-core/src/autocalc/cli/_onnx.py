# SPDX-License-Identifier: MIT
"""``autocalc onnx``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import numpy as np

from autocalc._compile import compile as compiled
from autocalc.autograd import no_grad
from autocalc.diagnostics._table import aligned
from autocalc.errors import CompileError

#: The runs before the one that is timed, and the timed ones, of which the best counts.
WARM, TIMED = 3, 5


def _sizes(_: Any, __: Any, words: tuple[str, ...]) -> dict[str, int]:
    """Read words such as ``batch=4``."""
    found = {}
    for word in words:
        name, _equals, number = word.rpartition("=")
        if not name or not number.isdecimal():
            raise click.BadParameter(f"{word!r} is not a size; write NAME=NUMBER.")
        found[name] = int(number)
    return found


@click.command("onnx")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--run", "runs", is_flag=True, help="Run the graph on random inputs.")
@click.option("--time", "timed", is_flag=True, help="Time each operator and the whole.")
@click.option(
    "--compare",
    type=click.Choice(["onnxruntime"]),
    help="Compare the results with those of another program.  [default: no]",
)
@click.option(
    "--size",
    "sizes",
    metavar="NAME=NUMBER",
    multiple=True,
    callback=_sizes,
    help="The size of an open dimension.  [default: 1]",
)
def onnx_command(
    file: Path, runs: bool, timed: bool, compare: str | None, sizes: dict[str, int]
) -> None:
    """Show which operators an ONNX file has, and what runs where.

    Operators on the host compute numbers, such as sizes.  All others run kernels.

    \b
    Examples:
      autocalc onnx model.onnx
      autocalc onnx model.onnx --run --size batch=8
      autocalc onnx model.onnx --time --compare onnxruntime
    """
    from autocalc.onnx import _watch, load

    module = load(file)
    _show_inputs(module)
    if not (runs or timed or compare):
        counts = Counter(node.op for node in module._block.nodes)
        rows = [(op, str(n)) for op, n in counts.most_common()]
        click.echo(aligned(("operator", "nodes"), rows))
        return
    given = _watch.examples(module, sizes)
    with no_grad():
        _watch.watched(module, given)
        _show(_watch.watched(module, given), timed)
        if timed:
            _show_times(module, given)
        if compare:
            _compare(file, module, given)


def _show_inputs(module: Any) -> None:
    for name, kind in module._kinds.items():
        sizes = ", ".join("?" if n is None else str(n) for n in kind.sizes)
        click.echo(f"input {name}: {kind.dtype} ({sizes})")


def _show(rows: Any, timed: bool) -> None:
    """Print what each operator did."""
    titles = ("operator", "nodes", "where", "largest result")
    total = sum(row.seconds for row in rows) or 1.0
    cells = []
    for row in rows:
        cell: tuple[str, ...] = (row.op, str(row.nodes), row.where, str(row.shape))
        if timed:
            share = f"{100 * row.seconds / total:.0f} %"
            cell = (*cell, f"{1e3 * row.seconds:.2f}", share)
        cells.append(cell)
    click.echo(aligned((*titles, "ms", "share") if timed else titles, cells))


def _best(call: Callable[[], Any]) -> float:
    """Return the shortest time of several runs, in milliseconds."""
    for _ in range(WARM):
        call()
    times = []
    for _ in range(TIMED):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return 1e3 * min(times)


def _show_times(module: Any, given: Mapping[str, Any]) -> None:
    click.echo(f"eager: {_best(lambda: module(**given)):.2f} ms")
    fast = compiled(module)
    try:
        click.echo(f"compiled: {_best(lambda: fast(**given)):.2f} ms")
    except CompileError as error:
        click.echo(f"compiled: refused. {error}")


def _compare(file: Path, module: Any, given: Mapping[str, Any]) -> None:
    """Print the time of ONNX Runtime, and how far the results are apart."""
    try:
        runtime = import_module("onnxruntime")
    except ImportError as error:
        raise click.ClickException(
            f"onnxruntime cannot be imported ({error}). Get it with: pip install "
            "onnxruntime"
        ) from error
    try:
        session = runtime.InferenceSession(
            str(file), providers=["CPUExecutionProvider"]
        )
        arrays = {name: one.numpy() for name, one in given.items()}
        wanted = session.run(None, arrays)
    except Exception as error:  # its errors have no common class
        raise click.ClickException(f"onnxruntime cannot run {file}: {error}") from error
    found = module(**given)
    found = found if isinstance(found, tuple) else (found,)
    click.echo(f"onnxruntime: {_best(lambda: session.run(None, arrays)):.2f} ms")
    for name, one, other in zip(module.output_names, found, wanted, strict=True):
        click.echo(f"output {name}: {_difference(one, other)}")


def _difference(found: Any, wanted: Any) -> str:
    """Say how far two results are apart, relative to the largest number."""
    if not isinstance(wanted, np.ndarray) or not hasattr(found, "numpy"):
        return "not compared, because it is not a tensor"
    array = found.numpy()
    if array.shape != wanted.shape:
        return f"the shape is {array.shape}, that of onnxruntime is {wanted.shape}"
    if not array.size:
        return "it has no elements"
    exact, other = array.astype(np.float64), wanted.astype(np.float64)
    largest = np.abs(other).max() or 1.0
    apart = np.abs(exact - other).max() / largest
    return f"the largest difference is {apart:.1e} of the largest number"

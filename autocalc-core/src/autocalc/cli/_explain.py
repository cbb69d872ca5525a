# SPDX-License-Identifier: MIT
"""``autocalc explain``."""

from __future__ import annotations

import difflib
import re
from importlib import import_module
from inspect import isroutine
from typing import Any

import click

from autocalc import kernels
from autocalc._kernels.table import TABLE
from autocalc._ops.creation.constants import zeros
from autocalc._tensor import dtypes
from autocalc.cli._chosen import ordinary_sample
from autocalc.errors import AutocalcError

_OPERAND = re.compile(r"(?P<shape>\d+(x\d+)*|scalar)(:(?P<dtype>\w+))?")


@click.command("explain")
@click.argument("kernel")
@click.argument("operands", nargs=-1)
def explain_command(kernel: str, operands: tuple[str, ...]) -> None:
    """Explain which kernel set runs KERNEL on OPERANDS, and how to choose another.

    KERNEL can also be a function such as nn.functional.gelu.  It is called once, and
    each kernel that it calls is explained.

    An operand is a shape such as 256x784.  A dtype other than float32 follows a colon:
    256:int64.  "scalar" is an operand without dimensions, and "-" omits an optional
    operand.  Without operands, a call of usual size is explained.

    \b
    Examples:
      autocalc explain gemm 256x784 784x1024
      autocalc explain cross_entropy 256x10 256:int64
      autocalc explain exp 1000:float64
      autocalc explain nn.functional.normalize 256x784
    """
    spec = TABLE.get(kernel)
    function = None if spec is not None else _function(kernel)
    if function is not None:
        click.echo(kernels.explain(function, *map(_operand, operands)))
        return
    if spec is None:
        near = difflib.get_close_matches(kernel, TABLE, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        message = (
            f"there is no kernel {kernel!r}.{hint} `autocalc kernels` lists all "
            "kernels."
        )
        raise click.BadParameter(message, param_hint="KERNEL")
    sample = ordinary_sample(spec)
    inputs = tuple(map(_operand, operands)) if operands else sample.inputs
    expected = len(spec.inputs) + len(spec.writes)
    if len(inputs) > expected:
        message = f"{kernel} needs {expected} operands, but {len(inputs)} were given."
        raise click.UsageError(message)
    inputs += (None,) * (expected - len(inputs))
    free: dict[str, Any] = {}
    if spec.free:
        free = {"shape": sample.shape, "dtype": spec.dtypes[0]}
    click.echo(kernels.explain(kernel, *inputs, *sample.attributes, **free))


def _function(name: str) -> Any:
    """Return the public function of a name such as ``nn.functional.gelu``."""
    found: Any = import_module("autocalc")
    for part in name.split("."):
        if part.startswith("_"):
            return None
        try:
            found = getattr(found, part)
        except AttributeError:
            return None
    return found if isroutine(found) else None


def _operand(word: str) -> Any:
    if word == "-":
        return None
    match = _OPERAND.fullmatch(word)
    if match is None:
        raise click.BadParameter(
            f"{word!r} is not an operand; write a shape such as 256x784 or 256:int64, "
            "scalar, or - for an omitted operand.",
            param_hint="OPERANDS",
        )
    try:
        dtype = dtypes.as_dtype(match["dtype"] or "float32")
    except AutocalcError as error:
        raise click.BadParameter(str(error), param_hint="OPERANDS") from error
    shape = match["shape"]
    sizes = [] if shape == "scalar" else [int(n) for n in shape.split("x")]
    return zeros(sizes, dtype=dtype)

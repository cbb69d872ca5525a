# SPDX-License-Identifier: MIT
"""A command that ``mpirun`` starts several times; only rank 0 prints and writes."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path

import click

from autocalc import distributed
from autocalc.cli._run_options import RunOptions
from autocalc.distributed import _failure
from autocalc.distributed._group import are_several, current_group
from autocalc.distributed._launch import mpi_launch
from autocalc.errors import AutocalcError


def is_first() -> bool:
    """Return whether this process is rank 0 or the only process."""
    return not are_several() or distributed.get_rank() == 0


@contextmanager
def ranks() -> Iterator[None]:
    """Let all started ranks work together; an error ends all of them."""
    launch = mpi_launch()
    if launch is None or launch.size == 1 or distributed.is_initialized():
        yield
        return
    distributed.init_process_group()
    group = current_group()
    assert group is not None
    try:
        with Path(os.devnull).open("w") as nowhere:
            if is_first():
                yield
            else:
                with redirect_stdout(nowhere):
                    yield
    except click.exceptions.Exit:
        raise
    except BaseException as error:
        if not isinstance(error, (AutocalcError, click.ClickException)):
            traceback.print_exc()
        _failure.end_all(group, type(error), error)
    distributed.destroy_process_group()


def first_of_machine(work: Callable[[], None]) -> None:
    """Let one rank of each machine do some work while its other ranks wait."""
    if not are_several():
        work()
        return
    if distributed.get_node_local_rank() == 0:
        work()
    distributed.barrier()


def of_first(options: RunOptions) -> RunOptions:
    """Return the options of this rank; only those of rank 0 name files."""
    if is_first():
        return options
    return replace(
        options, picture=None, target=None, best=None, place=None, quiet=True
    )

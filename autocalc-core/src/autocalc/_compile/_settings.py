# SPDX-License-Identifier: MIT
"""Kernels whose attributes are settings that change, such as a cycled momentum.

A setting changes if two recordings differ in it, or if the step itself changes it, as
its scheduler does.  The host then calls the kernel with the current settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from autocalc._program._form import Instruction, Settings


def is_setting(value: Any) -> bool:
    """Return whether a value is a number or a sequence of numbers, which may change."""
    if isinstance(value, (tuple, list)):
        return bool(value) and all(map(is_setting, value))
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def fixed_attributes(instruction: Instruction) -> tuple[Any, ...]:
    """Return the attributes that distinguish a call from another one."""
    if instruction.settings is None:
        return instruction.attributes
    return tuple([None if is_setting(x) else x for x in instruction.attributes])


def read_again(
    calls: list[Instruction],
    others: Iterable[list[Instruction]],
    rewritten: set[tuple[int, Any]],
) -> dict[int, Settings]:
    """Return the settings that change, by the places of the calls that use them.

    `others` are the calls of earlier recordings.  `rewritten` holds the settings that
    the step changes.
    """
    alike = [other for other in others if len(other) == len(calls)]
    return {
        i: call.settings
        for i, call in enumerate(calls)
        if call.settings is not None
        and (
            call.settings.keys & rewritten
            or any(other[i].attributes != call.attributes for other in alike)
        )
    }


def reading(instruction: Instruction) -> Instruction:
    """Return the host's instruction that calls a kernel with its current settings."""
    settings, kernel = instruction.settings, instruction.function
    assert settings is not None, "only settings are read again"
    read = settings.read

    def run(*operands: Any) -> None:
        kernel(*operands, *read())

    run_now: Callable[..., None] = run
    return replace(
        instruction,
        spec=None,
        function=run_now,
        native=None,
        attributes=(),
        fused=(instruction.name,),
    )

# SPDX-License-Identifier: MIT
"""Devices: a tensor's array lives on one."""

from __future__ import annotations

from autocalc.errors import ArgumentError


class Device:
    """Where arrays live; ``ac.device("cpu")`` is the one there is so far.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.device("cpu")
    device(type='cpu')
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, device: str | Device = "cpu", index: int | None = None) -> None:
        kind = device.type if isinstance(device, Device) else str(device).split(":")[0]
        if kind != "cpu":
            message = (
                f"device: {str(device)!r} is not available; AutoCalc runs on 'cpu'."
            )
            raise ArgumentError(message)
        self.type = kind
        self.index = index

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return other.split(":")[0] == self.type
        return isinstance(other, Device) and other.type == self.type

    def __hash__(self) -> int:
        return hash(self.type)

    def __str__(self) -> str:
        return self.type

    def __repr__(self) -> str:
        return f"device(type={self.type!r})"


cpu = Device("cpu")

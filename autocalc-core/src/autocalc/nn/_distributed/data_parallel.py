# SPDX-License-Identifier: MIT
"""DataParallel for a single device."""

from __future__ import annotations

from typing import Any

from autocalc._tensor.checks import as_int, check_type, sequence
from autocalc._tensor.device import Device, present
from autocalc.nn._module.module import Module


class DataParallel(Module):
    """Wraps a module and calls it with the whole batch, on one device.

    It lets programs run that were written for several GPUs.  As in PyTorch, the keys of
    its `state_dict` begin with ``module.``.

    Parameters
    ----------
    module
        The module to call.
    device_ids
        None, or a list of device numbers or devices.  It has no effect.
    output_device
        A device number or a device.  It has no effect.
    dim
        The dimension of the batch.  It has no effect.

    Attributes
    ----------
    module
        The wrapped module.

    Raises
    ------
    DTypeError
        If `module` is not a `Module`.

    Examples
    --------
    >>> import autocalc as ac
    >>> model = ac.nn.DataParallel(ac.nn.Linear(3, 2))
    >>> model(ac.zeros(5, 3)).shape
    autocalc.Size([5, 2])
    >>> list(model.state_dict())
    ['module.weight', 'module.bias']
    """

    module: Module

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
    ) -> None:
        super().__init__()
        check_module("DataParallel", module)
        check_devices("DataParallel", device_ids, output_device)
        self.dim = as_int("DataParallel", "dim", dim)
        self.module = module
        self.device_ids: list[int] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Return ``module(*inputs, **kwargs)``."""
        return self.module(*inputs, **kwargs)


def check_module(where: str, module: Any) -> None:
    check_type(where, "module", module, Module, "a Module")


def check_devices(where: str, device_ids: Any, output_device: Any) -> None:
    ids = [] if device_ids is None else sequence(where, "device_ids", device_ids)
    for one in [*ids, *([] if output_device is None else [output_device])]:
        _check_device(where, one)


def _check_device(where: str, one: Any) -> None:
    """Raise unless it is a number or a device."""
    if not isinstance(one, (str, Device)):
        as_int(where, "device_ids", one)
    elif not str(one).startswith("cuda"):  # programs for GPUs pass devices
        present(one)

# SPDX-License-Identifier: MIT
"""Models of users: ``FILE:factory`` names a function that makes one."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple

from autocalc._tensor import Tensor
from autocalc.errors import ConfigError
from autocalc.nn import Module

_FORM = (
    "It must return (model, inputs) or (model, inputs, loss): a module, a tensor or a "
    "tuple that it is called with, and a function of what it returns."
)


class FactoryResult(NamedTuple):
    """The result of a factory."""

    model: Module
    inputs: tuple[Any, ...]
    loss: Any
    folder: str


def split(name: str) -> tuple[Path, str]:
    """Return the file and the function that a text names.

    Raises
    ------
    ConfigError
        If it has another form, or there is no such file.
    """
    file, _, function = name.rpartition(":")
    path = Path(file)
    if not file or not function.isidentifier() or not path.is_file():
        raise ConfigError(
            f"{name!r} is not a factory: write FILE:function, as in model.py:make, "
            "with a file that exists."
        )
    return path, function


def make(name: str) -> FactoryResult:
    """Run the factory that a text such as ``train.py:make_model`` names.

    Raises
    ------
    ConfigError
        If there is no such file or function, it fails, or returns something else.
    """
    path, function = split(name)
    factory = getattr(_loaded(path), function, None)
    if not callable(factory):
        raise ConfigError(f"{path} has no function {function!r}.")
    try:
        result = factory()
    except Exception as error:
        raise ConfigError(f"{name} failed: {type(error).__name__}: {error}") from error
    return _checked(name, result, str(path.absolute().parent))


def _loaded(path: Path) -> Any:
    """Return a file as a module; it may import its neighbours."""
    spec = spec_from_file_location(path.stem, path.absolute())
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path} is not a Python file.")
    module = module_from_spec(spec)
    sys.path.insert(0, str(path.absolute().parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        message = f"{path} cannot be imported: {type(error).__name__}: {error}"
        raise ConfigError(message) from error
    finally:
        sys.path.pop(0)
    return module


def _checked(name: str, result: Any, folder: str) -> FactoryResult:
    if not isinstance(result, tuple) or len(result) not in {2, 3}:
        raise ConfigError(f"{name} returned a {type(result).__name__}. {_FORM}")
    model, inputs, loss = (*result, None)[:3]
    inputs = (inputs,) if isinstance(inputs, Tensor) else inputs
    if not isinstance(model, Module) or not isinstance(inputs, tuple):
        kinds = ", ".join(type(x).__name__ for x in result)
        raise ConfigError(f"{name} returned ({kinds}). {_FORM}")
    if loss is not None and not callable(loss):
        message = f"{name} returned a {type(loss).__name__} as the loss. {_FORM}"
        raise ConfigError(message)
    return FactoryResult(model, inputs, loss, folder)

# SPDX-License-Identifier: MIT
"""`torch.jit` without scripting: the decorators return their function."""

from __future__ import annotations

from typing import Any, Final

from autocalc.torch import _mentioned

__all__ = ["Final", "annotate", "export", "ignore", "interface", "is_scripting"]
__all__ += ["is_tracing", "isinstance", "script", "script_if_tracing", "strict_fusion"]
__all__ += ["trace", "unused"]

ignore = unused = export = interface = script_if_tracing = _script_if_tracing = (
    _mentioned.returns_its_function
)
Attribute = _overload = _overload_method = _mentioned.returns_its_function


def script(obj: Any, *_: Any, **__: Any) -> Any:
    """Return the function or module itself, which runs as ordinary Python."""
    return obj


def trace(func: Any, example_inputs: Any = None, *_: Any, **__: Any) -> Any:
    """Return the function or module itself, which runs as ordinary Python.

    In PyTorch, the trace repeats what `func` did for the example.  Here, each call
    evaluates `func` again, including decisions that depend on values.
    """
    del example_inputs
    return func


def is_scripting() -> bool:
    """Return False: functions always run as ordinary Python."""
    return False


def is_tracing() -> bool:
    """Return False: functions always run as ordinary Python."""
    return False


def annotate(the_type: Any, the_value: Any) -> Any:
    """Return the value."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Return Python's `isinstance`."""
    import builtins

    return builtins.isinstance(obj, target_type)


__getattr__ = _mentioned.names_of(__name__)

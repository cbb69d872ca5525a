# SPDX-License-Identifier: MIT
"""The errors that AutoCalc raises: where, what was given, what is needed."""

from __future__ import annotations

from typing import Any


class AutocalcError(Exception):
    """The base of every error that AutoCalc raises on purpose.

    The classes below it have the bases that PyTorch's errors of the same mistakes have,
    so that an `except` that was written for PyTorch catches them.  IndexError and
    KeyError are bases of those alone that PyTorch raises so: Python takes an IndexError
    of `__getitem__` for the end of a sequence.
    """

    #: KeyError would show the `repr` of its text.
    __str__ = Exception.__str__


class ShapeError(AutocalcError, ValueError, RuntimeError):
    """Shapes that do not fit the operation."""


class IndexShapeError(ShapeError, IndexError):
    """An index whose shape does not fit the tensor, or an empty dimension."""


class DTypeError(AutocalcError, ValueError, TypeError, NotImplementedError):
    """A dtype that the operation does not take."""


class IndexDTypeError(DTypeError, IndexError):
    """An index of a type or a dtype that selects nothing."""


class ArgumentError(AutocalcError, ValueError, TypeError, RuntimeError):
    """An argument whose value makes no sense."""


class MissingKeyError(DTypeError, ArgumentError, KeyError):
    """A dict without a key that is needed."""


class NameInUseError(ArgumentError, KeyError):
    """A name that a part of a module cannot have."""


class NoFormulaError(ArgumentError, NotImplementedError):
    """A mode or a pair of distributions that there is no formula for."""


class DeviceError(ArgumentError, AssertionError):
    """A device that is not available."""


class DimensionError(AutocalcError, IndexError, ValueError, RuntimeError):
    """A dimension or an index outside its range."""


class ModuleError(AutocalcError, AttributeError, ValueError, RuntimeError):
    """A part of a module that is not there, or a module that is not set up yet."""


class MissingPartError(ModuleError, KeyError):
    """A key that a dict of modules or parameters does not have."""


class GradError(AutocalcError, RuntimeError):
    """A gradient that cannot be computed, or not computed rightly."""


class NoDerivativeError(GradError, NotImplementedError):
    """A gradient of a function that has none."""


class HookError(GradError, TypeError):
    """A hook that returns a wrong value."""


class KernelError(AutocalcError, RuntimeError):
    """No kernel can run this call."""


class KernelDataError(AutocalcError, ValueError, RuntimeError):
    """A value inside an operand that no kernel can use: a label out of range."""


class KernelIndexError(KernelDataError, IndexError):
    """An index or a label in a tensor that is out of range."""

    #: Kernel, operand, element and value, where a kernel found it.
    found: tuple[str, str, int, int] = ("", "", 0, 0)


class LinAlgError(KernelDataError):
    """A matrix without inverse or factors: singular, not positive, not finite.

    Examples
    --------
    >>> import autocalc as ac
    >>> try:
    ...     ac.linalg.inv(ac.ones(2, 2))
    ... except ac.linalg.LinAlgError:
    ...     print("no inverse")
    no inverse
    """


class AbsentError(AutocalcError, NotImplementedError):
    """A name of PyTorch that a program mentions, and now uses, is not in AutoCalc."""


class PluginError(AutocalcError, RuntimeError):
    """A faulty kernel package, or a missing library that it needs."""


class ConfigError(AutocalcError, ValueError):
    """A setting (environment variable, kernel choice) that is unknown or impossible."""


class CompileError(AutocalcError, RuntimeError):
    """A function that cannot be recorded, or a program that cannot be planned."""


class DataError(AutocalcError, RuntimeError):
    """A data set that is missing, incomplete or damaged."""


class CheckpointError(AutocalcError, RuntimeError):
    """A file that cannot be read as requested."""


class MissingFileError(CheckpointError, FileNotFoundError):
    """A file that is to be read and is not there."""


class DistributedError(AutocalcError, RuntimeError):
    """Processes that cannot work together: one left, waited too long, or differs."""


class NonFiniteError(AutocalcError, ArithmeticError):
    """A kernel gave NaN or infinity where `diagnostics.find_nonfinite` looked.

    Its `finding` says which, where, and from what inputs.
    """

    finding: Any = None


class OnnxError(AutocalcError, RuntimeError):
    """A model that ONNX cannot express, or a graph that cannot run."""


class AutocalcWarning(UserWarning):
    """The base of AutoCalc's warnings."""


class PluginWarning(AutocalcWarning):
    """A kernel package was refused; everything else continues without it."""


class ConfigWarning(AutocalcWarning):
    """A setting that has no effect, probably misspelt, or that does harm."""


class DistributedWarning(AutocalcWarning):
    """A rank makes a call of a group that it is not in."""


class CompileWarning(AutocalcWarning):
    """A compiled function that runs eagerly, or an effect that no replay repeats."""


class ShadowWarning(AutocalcWarning):
    """Two kernel sets gave results that differ by more than the kernel's budget."""


_DIVISIONS = frozenset({"floor_divide", "fmod", "remainder"})


def too_many_dimensions(ndim: int, most: int) -> ShapeError:
    """Make the error for a result of more dimensions than arrays can have."""
    return ShapeError(
        f"the result would have {ndim} dimensions, and arrays of NumPy, which hold the "
        f"elements of tensors, have at most {most}. Join some of them, as by "
        f"`flatten` or `reshape`."
    )


def kernel_data_error(
    kernel: str, operand: str, index: int, value: int
) -> KernelDataError:
    """Make the error for element `index` of `operand` holding an impossible `value`.

    Native entries call this, so that C and Python kernels say the same sentence.
    """
    if kernel in _DIVISIONS:
        return KernelDataError(
            f"{kernel}: an integer is divided by 0, a ZeroDivisionError. Leave such "
            f"elements out, or convert to float32, where it is infinite or NaN."
        )
    error = KernelIndexError(
        f"{kernel}: `{operand}` holds {value} at element {index}, which is out of "
        f"range for this call. Check the labels or indices against the size of the "
        f"dimension that they select from."
    )
    error.found = kernel, operand, index, value
    return error

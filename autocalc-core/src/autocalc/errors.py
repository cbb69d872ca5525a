# SPDX-License-Identifier: MIT
"""The errors that AutoCalc raises: where, what was given, what is needed."""

from __future__ import annotations

from typing import Any


class AutocalcError(Exception):
    """The base class of all errors that AutoCalc raises on purpose.

    Each subclass also derives from the built-in error that PyTorch raises for the same
    mistake, so an `except` clause that was written for PyTorch catches it.  Only
    classes for which PyTorch raises IndexError or KeyError derive from these two,
    because Python takes an IndexError in `__getitem__` as the end of a sequence.
    """

    #: KeyError would show the `repr` of its text.
    __str__ = Exception.__str__


class ShapeError(AutocalcError, ValueError, RuntimeError):
    """The shapes of the operands do not fit the operation."""


class IndexShapeError(ShapeError, IndexError):
    """An index has a shape that does not fit the tensor, or a dimension is empty."""


class DTypeError(AutocalcError, ValueError, TypeError, NotImplementedError):
    """The operation does not accept the dtype or the type of an argument."""


class IndexDTypeError(DTypeError, IndexError):
    """An index has a type or a dtype that cannot select elements."""


class ArgumentError(AutocalcError, ValueError, TypeError, RuntimeError):
    """An argument has a value that is not allowed."""


class MissingKeyError(DTypeError, ArgumentError, KeyError):
    """A dict lacks a key that is needed."""


class NameInUseError(ArgumentError, KeyError):
    """A part of a module cannot have this name."""


class NoFormulaError(ArgumentError, NotImplementedError):
    """There is no formula for a mode or for a pair of distributions."""


class DeviceError(ArgumentError, AssertionError):
    """A device is not available."""


class DimensionError(AutocalcError, IndexError, ValueError, RuntimeError):
    """A dimension or an index is out of its range."""


class ModuleError(AutocalcError, AttributeError, ValueError, RuntimeError):
    """A part of a module does not exist, or a module has no parameters yet."""


class MissingPartError(ModuleError, KeyError):
    """A dict of modules or parameters does not have this key."""


class GradError(AutocalcError, RuntimeError):
    """A gradient cannot be computed, or would be wrong."""


class NoDerivativeError(GradError, NotImplementedError):
    """A gradient is requested of a function that does not have one."""


class HookError(GradError, TypeError):
    """A hook has returned a wrong value."""


class VmapError(AutocalcError, RuntimeError):
    """A function cannot run for all examples of `vmap` at once."""


class KernelError(AutocalcError, RuntimeError):
    """No kernel can run this call."""


class KernelDataError(AutocalcError, ValueError, RuntimeError):
    """An operand holds a value that no kernel can use, such as an invalid label."""


class KernelIndexError(KernelDataError, IndexError):
    """An index or a label in a tensor is out of range."""

    #: Kernel, operand, element and value, where a kernel found it.
    found: tuple[str, str, int, int] = ("", "", 0, 0)


class LinAlgError(KernelDataError):
    """A matrix has no inverse or no factors, because it is singular or not finite.

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
    """The program uses a name of PyTorch that AutoCalc does not have."""


class PluginError(AutocalcError, RuntimeError):
    """A kernel package is faulty, or a library that it needs is missing."""


class ConfigError(AutocalcError, ValueError):
    """A setting (an environment variable or a choice of kernels) is not possible."""


class CompileError(AutocalcError, RuntimeError):
    """A function cannot be recorded, or a program cannot be planned."""


class DataError(AutocalcError, RuntimeError):
    """A data set is missing, incomplete or damaged."""


class CheckpointError(AutocalcError, RuntimeError):
    """A file cannot be read as requested."""


class MissingFileError(CheckpointError, FileNotFoundError):
    """A file to read does not exist."""


class DistributedError(AutocalcError, RuntimeError):
    """Processes cannot work together: one has left, waits too long, or disagrees."""


class NonFiniteError(AutocalcError, ArithmeticError):
    """`diagnostics.find_nonfinite` has found NaN or infinity in a kernel's result.

    Its attribute `finding` holds the kernel, the place and the inputs.
    """

    finding: Any = None


class OnnxError(AutocalcError, RuntimeError):
    """ONNX cannot express a model, or a graph cannot run."""


class AutocalcWarning(UserWarning):
    """The base class of AutoCalc's warnings."""


class PluginWarning(AutocalcWarning):
    """A kernel package was rejected; everything else works without it."""


class ConfigWarning(AutocalcWarning):
    """A setting has no effect, perhaps because it is misspelt, or it does harm."""


class DistributedWarning(AutocalcWarning):
    """A process calls an operation of a group of which it is not a member."""


class VmapWarning(AutocalcWarning):
    """A kernel runs once for each example of `vmap`."""


class CompileWarning(AutocalcWarning):
    """A compiled function runs eagerly, or has an effect that replays do not repeat."""


class ShadowWarning(AutocalcWarning):
    """The results of two kernel sets differ by more than the kernel's allowed error."""


_DIVISIONS = frozenset({"floor_divide", "fmod", "remainder"})


def too_many_dimensions(ndim: int, most: int) -> ShapeError:
    """Make the error for a result of more dimensions than arrays can have."""
    return ShapeError(
        f"the result would have {ndim} dimensions, but tensors can have at most "
        f"{most}, like NumPy's arrays. Merge some dimensions with `flatten` or "
        "`reshape`."
    )


def kernel_data_error(
    kernel: str, operand: str, index: int, value: int
) -> KernelDataError:
    """Make the error for element `index` of `operand`, which has the value `value`.

    Native code calls this function, so that kernels in C++ and in Python give the same
    message.
    """
    if kernel in _DIVISIONS:
        return KernelDataError(
            f"{kernel}: an integer is divided by 0 (ZeroDivisionError). Remove zeros "
            "from the divisor, or convert to float32, where the quotient is infinite "
            "or NaN."
        )
    error = KernelIndexError(
        f"{kernel}: `{operand}` holds {value} at element {index}, which is out of "
        f"range for this call. Check the labels or indices against the size of the "
        f"dimension that they select from."
    )
    error.found = kernel, operand, index, value
    return error

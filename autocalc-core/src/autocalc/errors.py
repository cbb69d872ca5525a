# SPDX-License-Identifier: MIT
"""The errors that AutoCalc raises: where, what was given, what is needed."""

from __future__ import annotations

from typing import Any


class AutocalcError(Exception):
    """The base of every error that AutoCalc raises on purpose."""


class ShapeError(AutocalcError, ValueError):
    """Shapes that do not fit the operation."""


class DTypeError(AutocalcError, TypeError):
    """A dtype that the operation does not take."""


class ArgumentError(AutocalcError, ValueError):
    """An argument whose value makes no sense."""


class DimensionError(AutocalcError, IndexError):
    """A dimension or an index outside its range."""


class ModuleError(AutocalcError, AttributeError):
    """A part of a module that is not there, or a module that is not set up yet."""


class GradError(AutocalcError, RuntimeError):
    """A gradient that cannot be computed, or not computed rightly."""


class KernelError(AutocalcError, RuntimeError):
    """No kernel can run this call."""


class KernelDataError(AutocalcError, ValueError):
    """A value inside an operand that no kernel can use: a label out of range."""


class KernelIndexError(KernelDataError, IndexError):
    """An index or a label in a tensor that is out of range."""


class LinAlgError(KernelDataError, RuntimeError):
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


class PluginError(AutocalcError, RuntimeError):
    """A kernel package that is at fault, or a library that it needs and lacks."""


class ConfigError(AutocalcError, ValueError):
    """A setting (environment variable, kernel choice) that is unknown or impossible."""


class CompileError(AutocalcError, RuntimeError):
    """A function that cannot be recorded, or a program that cannot be planned."""


class DataError(AutocalcError, RuntimeError):
    """A data set that is missing, incomplete or damaged."""


class CheckpointError(AutocalcError, RuntimeError):
    """A file that cannot be read back as what was asked for."""


class DistributedError(AutocalcError, RuntimeError):
    """Processes that cannot work together: one left, waited too long, or differs."""


class NonFiniteError(AutocalcError, ArithmeticError):
    """A kernel gave NaN or infinity where `diagnostics.find_nonfinite` looked.

    Its `finding` says which, where, and from what inputs.
    """

    finding: Any = None


class OnnxError(AutocalcError, RuntimeError):
    """A model that ONNX cannot say, or a graph that cannot be run."""


class AutocalcWarning(UserWarning):
    """The base of AutoCalc's warnings."""


class PluginWarning(AutocalcWarning):
    """A kernel package was refused; everything else goes on without it."""


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
            f"{kernel}: an integer is divided by 0, which has no answer. Leave such "
            f"elements out, or convert to float32, where it is infinite or NaN."
        )
    return KernelIndexError(
        f"{kernel}: `{operand}` holds {value} at element {index}, which is out of "
        f"range for this call. Check the labels or indices against the size of the "
        f"dimension that they select from."
    )

# SPDX-License-Identifier: MIT
"""`Distribution`: what all distributions have, and the checks of their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar, NoReturn, TypeAlias

from autocalc._dispatch.selection.state import recorder
from autocalc._graph._grad_mode import no_grad
from autocalc._kernels.rules import broadcast_shapes
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops.creation.from_data import tensor
from autocalc._ops.reductions.extrema import holds
from autocalc._ops.views.broadcasting import broadcast_tensors
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import check_flag, check_flags, integers, short
from autocalc._tensor.size import SIZES, Size
from autocalc.distributions.constraints import Constraint, is_dependent
from autocalc.errors import ArgumentError, DTypeError, ShapeError

#: What parameters must be, by name.
Constraints: TypeAlias = Mapping[str, Constraint]


class Distribution:
    """The base class of distributions.

    Parameters
    ----------
    batch_shape
        The shape of a batch of independent distributions with parameters of their own.
    event_shape
        The shape of one value.
    validate_args
        True to check the parameters here, and the values passed to methods.  None means
        the default of `set_default_validate_args`, which is initially True.

    Raises
    ------
    ArgumentError
        If a parameter violates its constraint.

    Examples
    --------
    >>> import autocalc as ac
    >>> class Half(ac.distributions.Distribution):
    ...     def sample(self, sample_shape=()):
    ...         return ac.full((*sample_shape, *self.batch_shape), 0.5)
    >>> Half(batch_shape=(3,)).sample((2,)).shape
    autocalc.Size([2, 3])
    >>> isinstance(ac.distributions.Normal(0.0, 1.0), ac.distributions.Distribution)
    True
    """

    has_rsample = False
    has_enumerate_support = False
    #: What parameters must be, by name.
    arg_constraints: ClassVar[Constraints] = {}
    #: The dimensions of one parameter, where they are not 0.
    _event_dims: ClassVar[Mapping[str, int]] = {}
    _validate_args = True
    _batch_shape: tuple[int, ...]
    _event_shape: tuple[int, ...]

    def __init__(
        self,
        batch_shape: tuple[int, ...] = (),
        event_shape: tuple[int, ...] = (),
        validate_args: bool | None = None,
    ) -> None:
        where = type(self).__name__
        check_flags(where, validate_args=validate_args)
        self._batch_shape = integers(where, "batch_shape", batch_shape)
        self._event_shape = integers(where, "event_shape", event_shape)
        if validate_args is not None:
            self._validate_args = bool(validate_args)
        if self._looks_at_values:
            self._check_parameters()
        super().__init__()  # that of a mix-in, which a user's class also has

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether distributions check their parameters and values by default."""
        where = "set_default_validate_args"
        Distribution._validate_args = check_flag(where, "value", value)

    @property
    def _looks_at_values(self) -> bool:
        """Whether values are checked: not in a recording, as replays would not look."""
        return self._validate_args and recorder() is None

    def _check_parameters(self) -> None:
        for name, constraint in self.arg_constraints.items():
            value = self.__dict__.get(name)
            if value is None or is_dependent(constraint):
                continue
            if not holds(constraint.check(value).all()):
                self._refuse_value(name, value, constraint)

    def _refuse_value(self, name: str, value: Any, needed: Constraint) -> NoReturn:
        raise ArgumentError(
            f"{type(self).__name__}: `{name}` of shape {value.shape} must contain "
            f"{needed}; it is {short(value)}."
        )

    def _broadcast_values(self, **given: Any) -> tuple[Tensor, ...]:
        return broadcast_values(type(self).__name__, **given)

    # ---- what it is ------------------------------------------------------------------

    @property
    def batch_shape(self) -> Size:
        """The shape of the batch of distributions."""
        return SIZES[self._batch_shape]

    @property
    def event_shape(self) -> Size:
        """The shape of one value."""
        return SIZES[self._event_shape]

    @property
    def support(self) -> Constraint:
        """The constraint that all possible values satisfy."""
        self._refuse("support")

    @property
    def mean(self) -> Tensor:
        """The mean."""
        self._refuse("mean")

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        self._refuse("mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        self._refuse("variance")

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    # ---- what it does ----------------------------------------------------------------

    def expand(self, batch_shape: Any, _instance: Any = None) -> Distribution:
        """Return a copy whose parameters are expanded to `batch_shape`."""
        shape = integers(f"{type(self).__name__}.expand", "batch_shape", batch_shape)
        new: Distribution = self._instance_or_empty(_instance)
        for name, value in self.__dict__.items():
            if name not in new.__dict__:
                new.__dict__[name] = self._expanded(name, value, shape)
        new._batch_shape = shape
        return new

    def _expanded(self, name: str, value: Any, shape: tuple[int, ...]) -> Any:
        if not isinstance(value, Tensor):
            return value
        tail = value.shape[value.ndim - self._event_dims.get(name, 0) :]
        return value.expand((*shape, *tail))

    def _instance_or_empty(self, _instance: Any) -> Any:
        """Return what `expand` fills: the instance of a subclass's, or an empty one."""
        if _instance is None:
            return object.__new__(type(self))
        if isinstance(_instance, Distribution):
            return _instance
        raise DTypeError(
            f"{type(self).__name__}.expand: `_instance` is {short(_instance)}; it must "
            "be a distribution."
        )

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """Return what the `expand` of class `cls` fills, as subclasses of users ask."""
        own = type(self).__init__ is not cls.__init__  # type: ignore[misc]
        if _instance is None and own:
            raise NotImplementedError(
                f"{type(self).__name__} defines its own `__init__`, so it must also "
                f"define its own `expand`: the method of {cls.__name__} cannot make "
                "such an object."
            )
        return self._instance_or_empty(_instance)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples of shape ``(*sample_shape, *batch_shape, *event_shape)``."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples through which gradients flow to the parameters."""
        self._refuse("rsample")

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density or of the probability of `value`."""
        self._refuse("log_prob")

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of a value less than or equal to `value`."""
        self._refuse("cdf")

    def icdf(self, value: Tensor) -> Tensor:
        """Return the quantile of the probability `value`: the inverse of `cdf`."""
        self._refuse("icdf")

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        self._refuse("entropy")

    def perplexity(self) -> Tensor:
        """Return the perplexity: the exponential of the entropy."""
        return self.entropy().exp()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all possible values along the first dimension.

        If `expand` is True, the result has the shape of the batch.
        """
        self._refuse("enumerate_support")

    def _refuse(self, what: str) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} has no `{what}`.")

    def _extended_shape(self, sample_shape: Any) -> Size:
        where = f"{type(self).__name__}.sample"
        shape = integers(where, "sample_shape", sample_shape)
        if any(n < 0 for n in shape):
            message = f"{where}: `sample_shape`={shape} contains a negative number."
            raise ShapeError(message)
        sizes = (*shape, *self._batch_shape, *self._event_shape)
        return SIZES[sizes]

    def _checked(self, where: str, value: Tensor) -> Tensor:
        """Return `value` if it can be a value of this distribution."""
        where = f"{type(self).__name__}.{where}"
        check_tensor(where, value)
        if not self._validate_args:
            return value
        shape, full = value.shape, (*self._batch_shape, *self._event_shape)
        tail = shape[max(len(shape) - len(self._event_shape), 0) :]
        fits = len(tail) == len(self._event_shape)
        if not fits or any(
            n not in {m, 1} for n, m in zip(tail, self._event_shape, strict=True)
        ):
            raise ShapeError(
                f"{where}: `value` has shape {shape}, but one value of this "
                f"distribution has shape {full}."
            )
        broadcast_shapes(where, shape, full)
        if self._looks_at_values and not holds(self.support.check(value).all()):
            self._refuse_value("value", value, self.support)
        return value

    def _validate_sample(self, value: Tensor) -> None:
        """Raise unless `value` is possible: `log_prob` of users' classes asks so."""
        self._checked("log_prob", value)

    def _checked_share(self, value: Any) -> Tensor:
        """Return the `value` of `icdf` if it is a tensor."""
        return check_tensor(f"{type(self).__name__}.icdf", value)

    def __repr__(self) -> str:
        names = [n for n in self.arg_constraints if n in self.__dict__]
        parts = [f"{name}: {_described(self.__dict__[name])}" for name in names]
        return f"{type(self).__name__}({', '.join(parts)})"


def _described(value: Any) -> str:
    return str(value.item()) if value.numel() == 1 else f"{value.shape}"


def broadcast_values(where: str, **given: Any) -> tuple[Tensor, ...]:
    """Return tensors and numbers as tensors of floats of one shape."""
    kinds = [v.dtype for v in given.values() if isinstance(v, Tensor)]
    for name, value in given.items():
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not isinstance(value, Tensor) and not is_number:
            raise DTypeError(
                f"{where}: `{name}` is {short(value)}; it must be a tensor or a number."
            )
    dtype = kinds[0] if kinds else dtypes.get_default_dtype()
    for kind in kinds[1:]:
        dtype = dtypes.result_dtype(dtype, 2, kind, 2)
    if not dtype.is_floating_point:
        dtype = dtypes.get_default_dtype()
    tensors = [
        v.to(dtype) if isinstance(v, Tensor) else tensor(float(v), dtype=dtype)
        for v in given.values()
    ]
    return tuple(broadcast_tensors(*tensors))


def one_of_two(where: str, **given: Any) -> tuple[str, Any]:
    """Return the name and value of the parameter that is given: one must be."""
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        both = " and ".join(f"`{name}`" for name in given)
        count = "none" if not names else "both"
        message = f"{where}: {both} mean the same; {count} are given, give only one."
        raise ArgumentError(message)
    return names[0], given[names[0]]

# SPDX-License-Identifier: MIT
"""`Module`: a function with parameters, made of other modules."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import FunctionType
from typing import TYPE_CHECKING, Any

from autocalc._dispatch._callers import marks
from autocalc._ops.creation.like import empty_like
from autocalc._ops.creation.typed_tensors import dtype_named
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import check_flag, check_switches
from autocalc._tensor.device import Device, numbered, present
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError, DTypeError
from autocalc.nn._module import conversion
from autocalc.nn._module.hooks import call_forward
from autocalc.nn._module.stateful import StatefulModule
from autocalc.nn._module.uninitialized import is_lazy

if TYPE_CHECKING:
    from typing_extensions import Self


def _no_forward(self: Module, *args: Any, **kwargs: Any) -> Any:
    """Compute the output of the module; subclasses define this method."""
    raise NotImplementedError(
        f"{type(self).__name__}: a module needs a `forward` method. Define "
        f"`forward(self, x)` in its class."
    )


def not_called(self: Module, *args: Any, **kwargs: Any) -> Any:
    """Raise an error: a list or a dict of modules cannot be called."""
    raise NotImplementedError(
        f"{type(self).__name__}: it is a container of modules and cannot be called. "
        "Call its modules in the `forward` of your module, or use nn.Sequential, "
        "which calls them in order."
    )


def _renamed(function: Any, name: str) -> Any:
    """Return a copy of a function that errors about arguments call by this name."""
    made = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    made.__kwdefaults__ = function.__kwdefaults__
    update_wrapper(made, function)
    del made.__wrapped__  # type: ignore[attr-defined]  # `update_wrapper` set it
    made.__qualname__ = name
    return made


class Module(StatefulModule["Module"]):
    """The base class of all neural network modules.

    A subclass calls ``super().__init__()`` first and defines the method ``forward``.
    Calling the module calls ``forward``, together with all hooks.  Attributes that are
    parameters or modules are registered; `parameters`, `state_dict` and similar methods
    find them.

    Attributes
    ----------
    training
        True in training mode (after `train`), False in evaluation mode (after `eval`).

    Examples
    --------
    >>> import autocalc as ac
    >>> class Net(ac.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.hidden = ac.nn.Linear(4, 8)
    ...         self.out = ac.nn.Linear(8, 2)
    ...
    ...     def forward(self, x):
    ...         return self.out(self.hidden(x).relu())
    >>> net = Net()
    >>> net(ac.zeros(3, 4)).shape
    autocalc.Size([3, 2])
    >>> list(net.state_dict())
    ['hidden.weight', 'hidden.bias', 'out.weight', 'out.bias']
    """

    forward: Callable[..., Any] = _no_forward

    def __init_subclass__(cls, **options: Any) -> None:
        """Let errors about arguments name this class and not a private base class."""
        super().__init_subclass__(**options)
        for name in () if cls.__name__.startswith("_") else ("__init__", "forward"):
            function = getattr(cls, name)
            owner, dot, _ = getattr(function, "__qualname__", "").rpartition(".")
            if dot and owner.startswith("_"):
                own = f"{cls.__qualname__}.{name}"
                setattr(cls, name, _renamed(function, own))

    @marks("module")
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` between the hooks."""
        hooks = self._hooks
        if hooks is None:
            return self.forward(*args, **kwargs)
        return call_forward(self, hooks, args, kwargs)

    # ---- modes, gradients, dtypes ---------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        """Set the module and all submodules to training mode; return the module."""
        check_flag("train", "mode", mode)
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Self:
        """Set the module and all submodules to evaluation mode; return the module."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set `requires_grad` of all parameters, in place; return the module."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients of all parameters to None, or to 0 if not `set_to_none`."""
        check_switches("zero_grad", set_to_none=set_to_none)
        for param in self.parameters():
            clear_grad(param, set_to_none)

    def apply(self, fn: Callable[[Module], None]) -> Self:
        """Call `fn` with each submodule and then with the module; return the module."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def to_empty(self, *, device: str | Device, recurse: bool = True) -> Self:
        """Move parameters and buffers to new, uninitialised memory, in place.

        Parameters and buffers that leave the device "meta" are new objects.  Make an
        optimizer of them after this call.

        Parameters
        ----------
        device
            The device of the new memory.
        recurse
            True to include the parameters and buffers of submodules.

        Returns
        -------
        Module
            The module itself.

        Examples
        --------
        >>> import autocalc as ac
        >>> layer = ac.nn.Linear(3, 2).to_empty(device="cpu")
        >>> layer.weight.shape
        autocalc.Size([2, 3])
        """
        check_switches("to_empty", recurse=recurse)
        return self._apply(lambda x: empty_like(x, device=device), recurse=recurse)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace the values of all parameters, their gradients and all buffers."""
        conversion.apply(self, fn, recurse)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert or move all parameters and buffers, in place; return the module.

        Pass a floating-point dtype, a device, both, or a tensor that has the dtype and
        the device.  The dtype only applies to floating-point parameters and buffers.
        """
        dtype, device = meant(args, **kwargs)
        if dtype is not None and not dtype.is_differentiable:
            raise DTypeError(
                f"Module.to: parameters cannot have the dtype {dtype.name}; use "
                "ac.float32 or ac.float64."
            )
        if dtype is None and device is None:
            return self

        def converted(x: Tensor) -> Tensor:
            return x.to(
                device=device, dtype=dtype if x.dtype.is_differentiable else None
            )

        return self._apply(converted)

    def float(self) -> Self:
        """Convert all floating-point parameters and buffers to float32, in place.

        Return the module.
        """
        return self.to(dtypes.float32)

    def double(self) -> Self:
        """Convert all floating-point parameters and buffers to float64, in place.

        Return the module.
        """
        return self.to(dtypes.float64)

    def half(self) -> Self:
        """Convert all floating-point parameters and buffers to float16, in place.

        Return the module.
        """
        return self.to(dtypes.float16)

    def bfloat16(self) -> Self:
        """Convert all floating-point parameters and buffers to bfloat16, in place.

        Return the module.
        """
        return self.to(dtypes.bfloat16)

    def cpu(self) -> Self:
        """Move all parameters and buffers to the CPU, in place; return the module."""
        return self.to("cpu")

    def cuda(self, device: int | str | Device | None = None) -> Self:
        """Move all parameters and buffers to "cuda", in place; return the module.

        Raises
        ------
        ArgumentError
            If this machine has no CUDA device.  ``ac.cuda.is_available()`` returns
            whether there is one.
        """
        return self.to(numbered("cuda", device))

    def type(self, dst_type: Any) -> Self:
        """Convert floating-point parameters and buffers to a dtype, in place.

        `dst_type` is a floating-point dtype or its name.  Return the module.
        """
        return self.to(dtype_named(dst_type))

    def share_memory(self) -> Self:
        """Return the module itself; its memory does not change.

        Raises
        ------
        ArgumentError
            If the shape of a parameter or buffer is not known yet.
        """
        for name, tensor in (*self.named_parameters(), *self.named_buffers()):
            if is_lazy(tensor):
                raise ArgumentError(
                    f"share_memory: cannot share memory on an uninitialized parameter "
                    f"or buffer, {name!r}. Call the module once on an example first."
                )
        return self

    # ---- how it prints ----------------------------------------------------------

    def extra_repr(self) -> str:
        """Return the text between the brackets of `repr`; subclasses override it."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        lines = self.extra_repr().split("\n") if self.extra_repr() else []
        children = [
            f"({name}): {_indented(repr(child))}"
            for name, child in self._modules.items()
        ]
        if not children and len(lines) <= 1:
            return f"{self._get_name()}({''.join(lines)})"
        body = "\n  ".join(lines + children)
        return f"{self._get_name()}(\n  {body}\n)"

    def _repr_html_(self) -> str:
        from autocalc.nn._module.notebook import as_html

        return as_html(self)


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def meant(
    args: tuple[Any, ...],
    dtype: DType | None = None,
    device: str | Device | None = None,
    non_blocking: bool = False,
    memory_format: Any = None,
    copy: bool = False,
) -> tuple[DType | None, Device | None]:
    """Return the dtype and the device among the arguments of `Module.to`."""
    if copy:
        raise ArgumentError(
            "Module.to: `copy` is not supported, because a module is changed in place. "
            "Use copy.deepcopy(module).to(...)."
        )
    for i, arg in enumerate(args):
        if isinstance(arg, bool) and i != (
            2 if args[0] is None or isinstance(args[0], (str, Device)) else 1
        ):
            raise DTypeError(
                f"Module.to: argument {i + 1} is {arg}; the arguments are a device, a "
                "dtype and `non_blocking`, or a dtype or a tensor and `non_blocking`."
            )
        if isinstance(arg, Tensor):
            dtype, device = arg.dtype, arg.device
        elif isinstance(arg, (str, Device)):
            device = arg
        elif not isinstance(arg, bool) and arg is not None:
            dtype = dtypes.as_dtype(arg)
    there = None if device is None else present(device)
    return None if dtype is None else dtypes.as_dtype(dtype), there


def clear_grad(param: Tensor, set_to_none: bool) -> None:
    """Drop the gradient of a leaf, or set it to zero in place."""
    if param.grad is None:
        return
    if set_to_none:
        param.grad = None
        return
    param.grad.detach_()
    param.grad.zero_()

# SPDX-License-Identifier: MIT
"""`Module`: a function with parameters, made of modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autocalc._dispatch._callers import marks
from autocalc._graph._grad_mode import no_grad
from autocalc._ops.creation.typed_tensors import dtype_named
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import check_flag, check_switches
from autocalc._tensor.device import Device, numbered
from autocalc._tensor.dtypes import DType
from autocalc.errors import DTypeError
from autocalc.nn._module.hooks import call_forward
from autocalc.nn._module.stateful import StatefulModule

if TYPE_CHECKING:
    from typing_extensions import Self


def _no_forward(self: Module, *args: Any, **kwargs: Any) -> Any:
    """Compute the output; each module defines its own."""
    message = f"{type(self).__name__}: a module needs a `forward` method."
    raise NotImplementedError(message)


class Module(StatefulModule["Module"]):
    """The base of everything that has parameters.

    A module's attributes that are `Parameter`s or modules are found by `parameters`,
    `state_dict` and their like.  Subclasses call ``super().__init__()`` first and
    define ``forward``; the module itself is called.

    Attributes
    ----------
    training
        Whether the module is used for training (`train`) or for results (`eval`).

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

    @marks("module")
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` between the hooks."""
        hooks = self._hooks
        if hooks is None:
            return self.forward(*args, **kwargs)
        return call_forward(self, hooks, args, kwargs)

    # ---- modes, gradients, dtypes ---------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        """Switch this module and all inside to training; return it."""
        check_flag("train", "mode", mode)
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Self:
        """Switch this module and all inside to giving results; return it."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Ask for gradients of all parameters, or no longer; return the module."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or set them to zero."""
        check_switches("zero_grad", set_to_none=set_to_none)
        for param in self.parameters():
            clear_grad(param, set_to_none)

    def apply(self, fn: Callable[[Module], None]) -> Self:
        """Call `fn` with every module inside, then with this one; return it."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor]) -> Self:
        """Replace the values of all parameters, their gradients and all buffers."""
        with no_grad():
            for tensor in (*self.parameters(), *self.buffers()):
                tensor.data = fn(tensor.data)
                if tensor.grad is not None:
                    tensor.grad.data = fn(tensor.grad.data)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert and move parameters and buffers, in place; return the module.

        Takes a floating-point dtype for those that are so, a device, both, or a tensor
        that has them.
        """
        dtype, device = _meant(args, **kwargs)
        if dtype is not None and not dtype.is_floating_point:
            message = (
                f"Module.to: parameters cannot be {dtype.name}; use ac.float32 or "
                f"ac.float64."
            )
            raise DTypeError(message)
        if dtype is None and device is None:
            return self

        def converted(x: Tensor) -> Tensor:
            return x.to(device=device, dtype=dtype if x.is_floating_point() else None)

        return self._apply(converted)

    def float(self) -> Self:
        """Convert parameters and buffers to float32, in place; return the module."""
        return self.to(dtypes.float32)

    def double(self) -> Self:
        """Convert parameters and buffers to float64, in place; return the module."""
        return self.to(dtypes.float64)

    def half(self) -> Self:
        """Convert parameters and buffers to float16, in place; return the module."""
        return self.to(dtypes.float16)

    def bfloat16(self) -> Self:
        """Convert parameters and buffers to bfloat16, in place; return the module."""
        return self.to(dtypes.bfloat16)

    def cpu(self) -> Self:
        """Move parameters and buffers to the CPU, in place; return the module."""
        return self.to("cpu")

    def cuda(self, device: int | str | Device | None = None) -> Self:
        """Move parameters and buffers to "cuda", in place; return the module.

        Raises
        ------
        ArgumentError
            If there is none: ask ``ac.cuda.is_available()``.
        """
        return self.to(numbered("cuda", device))

    def type(self, dst_type: Any) -> Self:
        """Convert parameters and buffers to a floating-point dtype or its name."""
        return self.to(dtype_named(dst_type))

    def share_memory(self) -> Self:
        """Return the module."""
        return self

    # ---- how it prints ----------------------------------------------------------

    def extra_repr(self) -> str:
        """Return the text between the brackets; modules define their own."""
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


def _meant(
    args: tuple[Any, ...],
    dtype: DType | None = None,
    device: str | Device | None = None,
    non_blocking: bool = False,
    memory_format: Any = None,
) -> tuple[DType | None, Device | None]:
    """Return the dtype and the device among the arguments of `Module.to`."""
    for arg in args:
        if isinstance(arg, Tensor):
            dtype, device = arg.dtype, arg.device
        elif isinstance(arg, (str, Device)):
            device = arg
        elif not isinstance(arg, bool) and arg is not None:
            dtype = dtypes.as_dtype(arg)
    there = None if device is None else Device(device)
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

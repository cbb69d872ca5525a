# SPDX-License-Identifier: MIT
"""`Module`: a function with parameters, made of modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from autocalc._graph._grad_mode import no_grad
from autocalc._ops.typed_tensors import dtype_named
from autocalc._tensor import RemovableHandle, Tensor, dtypes
from autocalc._tensor.checks import check_flag, check_flags
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError, DTypeError
from autocalc.nn import _state
from autocalc.nn._hooks import Hook, Hooks, call_forward, register
from autocalc.nn._tree import ModuleTree

if TYPE_CHECKING:
    from typing_extensions import Self


def _no_forward(self: Module, *args: Any, **kwargs: Any) -> Any:
    """Compute the output; each module defines its own."""
    message = f"{type(self).__name__}: a module needs a `forward` method."
    raise NotImplementedError(message)


class Module(ModuleTree["Module"]):
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
    (3, 2)
    >>> list(net.state_dict())
    ['hidden.weight', 'hidden.bias', 'out.weight', 'out.bias']
    """

    forward: Callable[..., Any] = _no_forward

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
        check_flags("zero_grad", set_to_none=set_to_none)
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
        """Convert floating-point parameters and buffers, in place; return the module.

        Takes a floating-point dtype, a device, both, or a tensor whose dtype to take.
        """
        dtype = _dtype_meant(args, **kwargs)
        if dtype is None:
            return self
        if not dtype.is_floating_point:
            message = (
                f"Module.to: parameters cannot be {dtype.name}; use ac.float32 or "
                f"ac.float64."
            )
            raise DTypeError(message)
        wanted = dtype
        return self._apply(lambda x: x.to(wanted) if x.is_floating_point() else x)

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
        """Return the module: it lives on the CPU."""
        return self

    def cuda(self, device: int | str | Device | None = None) -> Self:
        """Raise: there is no CUDA device.

        Raises
        ------
        ArgumentError
            Always.
        """
        message = (
            "Module.cuda: there is no CUDA device; AutoCalc runs on 'cpu'. Ask "
            "ac.cuda.is_available() first, or leave .cuda() out."
        )
        raise ArgumentError(message)

    def type(self, dst_type: Any) -> Self:
        """Convert parameters and buffers to a floating-point dtype or its name."""
        return self.to(dtype_named(dst_type))

    def share_memory(self) -> Self:
        """Return the module."""
        return self

    # ---- state -----------------------------------------------------------------------

    def state_dict(
        self,
        *,
        destination: dict[str, Any] | None = None,
        prefix: str = "",
        keep_vars: bool = False,
    ) -> dict[str, Any]:
        """Return all parameters and saved buffers under their dotted names.

        The tensors share the module's memory: they change as it is trained.

        Parameters
        ----------
        destination
            A dict to add to.
        prefix
            What to put before each name.
        keep_vars
            Give the parameters themselves, not tensors without history.
        """
        check_flags("state_dict", keep_vars=keep_vars)
        state = {} if destination is None else destination
        return _state.collect(self, state, prefix, keep_vars)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _state.IncompatibleKeys:
        """Take over the values of a `state_dict`; all of it or, on an error, nothing.

        Parameters
        ----------
        state_dict
            Tensors by dotted name; other dtypes are converted.
        strict
            Whether the names must be exactly the module's own.
        assign
            Use the tensors themselves in place of copying their values.

        Returns
        -------
        (missing_keys, unexpected_keys)
            Both empty if `strict`.

        Raises
        ------
        CheckpointError
            If names (with `strict`) or shapes do not fit; the message lists them all.

        Examples
        --------
        >>> import autocalc as ac
        >>> a, b = ac.nn.Linear(2, 2), ac.nn.Linear(2, 2)
        >>> b.load_state_dict(a.state_dict())
        <All keys matched successfully>
        """
        check_flags("load_state_dict", strict=strict, assign=assign)
        return _state.load(self, state_dict, strict, assign)

    # ---- hooks -----------------------------------------------------------------------

    def _own_hooks(self) -> Hooks:
        if self._hooks is None:
            self._hooks = Hooks()
        return self._hooks

    def register_forward_pre_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before each forward; it may return other args.

        With `with_kwargs`, ``hook(module, args, kwargs)`` may return (args, kwargs).
        The handle returned has ``remove()``.
        """
        check_flags(
            "register_forward_pre_hook", prepend=prepend, with_kwargs=with_kwargs
        )
        hooks = self._own_hooks().forward_pre
        return register(hooks, Hook(hook, with_kwargs), prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after each forward.

        It may return another output.  With `with_kwargs` it is called with (module,
        args, kwargs, output).

        Examples
        --------
        >>> import autocalc as ac
        >>> layer = ac.nn.Linear(2, 3)
        >>> shapes = []
        >>> handle = layer.register_forward_hook(lambda m, a, y: shapes.append(y.shape))
        >>> _ = layer(ac.zeros(1, 2))
        >>> handle.remove()
        >>> shapes
        [(1, 3)]
        """
        check_flags("register_forward_hook", prepend=prepend, with_kwargs=with_kwargs)
        hooks = self._own_hooks().forward
        return register(hooks, Hook(hook, with_kwargs), prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` in each backward pass.

        Both are tuples: of the positional arguments of the call, None for those that
        require no gradient, and of the outputs.  The hook may return other gradients of
        the inputs.  Inputs and outputs of the module may not be changed in place.

        Examples
        --------
        >>> import autocalc as ac
        >>> layer = ac.nn.Linear(2, 3)
        >>> handle = layer.register_full_backward_hook(
        ...     lambda module, grad_input, grad_output: print(grad_output[0].shape)
        ... )
        >>> layer(ac.zeros(1, 2)).sum().backward()
        (1, 3)
        """
        check_flags("register_full_backward_hook", prepend=prepend)
        return register(self._own_hooks().backward, Hook(hook), prepend)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before each backward pass of the module.

        It may return other gradients of the outputs.
        """
        check_flags("register_full_backward_pre_hook", prepend=prepend)
        return register(self._own_hooks().backward_pre, Hook(hook), prepend)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before `state_dict`."""
        return register(self._own_hooks().state_pre, Hook(hook), False)

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any]
    ) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, {})`` after `state_dict`."""
        return register(self._own_hooks().state_post, Hook(hook), False)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any]
    ) -> RemovableHandle:
        """Call ``hook(module, state, prefix, {}, strict, [], [], errors)`` first.

        It may change `state`, a copy of the dict, and append texts to `errors`.
        """
        return register(self._own_hooks().load_state_pre, Hook(hook), False)

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., Any]
    ) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` once everything is loaded."""
        return register(self._own_hooks().load_state_post, Hook(hook), False)

    # ---- how it prints ----------------------------------------------------------

    def extra_repr(self) -> str:
        """Return what stands between the brackets; modules define their own."""
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


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def _dtype_meant(
    args: tuple[Any, ...],
    dtype: DType | None = None,
    device: str | Device | None = None,
    non_blocking: bool = False,
    memory_format: Any = None,
) -> DType | None:
    """Return the dtype among the arguments of `Module.to`; check the device."""
    if device is not None:
        Device(device)
    for arg in args:
        if isinstance(arg, Tensor):
            dtype = arg.dtype
        elif isinstance(arg, (str, Device)):
            Device(arg)
        elif not isinstance(arg, bool) and arg is not None:
            dtype = dtypes.as_dtype(arg)
    return None if dtype is None else dtypes.as_dtype(dtype)


def clear_grad(param: Tensor, set_to_none: bool) -> None:
    """Drop the gradient of a leaf, or set it to zero in place."""
    if param.grad is None:
        return
    if set_to_none:
        param.grad = None
        return
    param.grad.detach_()
    param.grad.zero_()

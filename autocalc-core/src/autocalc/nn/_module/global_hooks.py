# SPDX-License-Identifier: MIT
"""Hooks on every module of the process, with the names of PyTorch.

`Module.__call__` is replaced while there is such a hook, so other calls pay nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc._dispatch._callers import marks
from autocalc._tensor import RemovableHandle
from autocalc._tensor.checks import check_flags
from autocalc.errors import ArgumentError
from autocalc.nn._module.hooks import ON_CALLS, Hook, call_forward, with_those_of_all
from autocalc.nn._module.module import Module
from autocalc.nn._module.registry import BUFFER, MODULE, ON_REGISTRATION, PARAMETER

_plain_call: Any = Module.__call__


@marks("module")
def _hooked_call(self: Any, *args: Any, **kwargs: Any) -> Any:
    """Run `forward` between the hooks of all modules and those of this module."""
    if not ON_CALLS:
        _switch(_hooked_call, _plain_call)
    return call_forward(self, with_those_of_all(self._hooks), args, kwargs)


def _switch(old: Any, new: Any) -> None:
    changed: Any = Module
    if changed.__call__ is old:
        changed.__call__ = new


def _on_calls(where: str, kind: str, hook: object, **words: bool) -> RemovableHandle:
    check_flags(where, **words)
    handle = RemovableHandle(ON_CALLS, (kind, Hook(_function(where, hook), **words)))
    changed: Any = Module
    changed.__call__ = _hooked_call
    return handle


def _function(where: str, hook: object) -> Callable[..., Any]:
    if not callable(hook):
        message = f"{where}: `hook` is a {type(hook).__name__}; give a function."
        raise ArgumentError(message)
    return hook


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, args)`` before the forward method of every module.

    The hook may return new arguments.  It runs before the hooks of the module itself.

    Parameters
    ----------
    hook
        The function to call.  It returns None or the new positional arguments.

    Returns
    -------
    RemovableHandle
        A handle; its method ``remove()`` removes the hook.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.nn.modules.module import register_module_forward_pre_hook
    >>> handle = register_module_forward_pre_hook(lambda m, args: print(type(m)))
    >>> _ = ac.nn.ReLU()(ac.ones(1))
    <class 'autocalc.nn._layers.activations.activation.ReLU'>
    >>> handle.remove()
    """
    return _on_calls("register_module_forward_pre_hook", "forward_pre", hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after the forward method of every module.

    The hook may return a new output.  The other arguments are those of
    `Module.register_forward_hook`.

    Parameters
    ----------
    hook
        The function to call.  It returns None or a new output.
    with_kwargs, always_call
        The same as for `Module.register_forward_hook`.

    Returns
    -------
    RemovableHandle
        A handle; its method ``remove()`` removes the hook.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.nn.modules.module import register_module_forward_hook
    >>> handle = register_module_forward_hook(lambda m, args, y: print(y.shape))
    >>> _ = ac.nn.Linear(2, 3)(ac.ones(1, 2))
    autocalc.Size([1, 3])
    >>> handle.remove()
    """
    where = "register_module_forward_hook"
    words = {"with_kwargs": with_kwargs, "always": always_call}
    return _on_calls(where, "forward", hook, **words)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` in every module's backward pass.

    The hook gets the gradients that `Module.register_backward_hook` describes.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.nn.modules.module import register_module_backward_hook
    >>> handle = register_module_backward_hook(lambda m, g_in, g_out: print(g_out))
    >>> ac.nn.Linear(2, 1)(ac.ones(1, 2)).sum().backward()
    (tensor([[1.]]),)
    >>> handle.remove()
    """
    return _on_calls("register_module_backward_hook", "on_node", hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` in every module's backward pass.

    The hook is called when the gradients of the inputs of a module are known.

    The hook may return new gradients of the inputs.

    Parameters
    ----------
    hook
        The function to call.  It returns None or a tuple of new gradients.

    Returns
    -------
    RemovableHandle
        A handle; its method ``remove()`` removes the hook.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.nn.modules.module import register_module_full_backward_hook
    >>> handle = register_module_full_backward_hook(
    ...     lambda m, grad_input, grad_output: print(grad_output[0].shape)
    ... )
    >>> ac.nn.Linear(2, 3)(ac.ones(1, 2)).sum().backward()
    autocalc.Size([1, 3])
    >>> handle.remove()
    """
    return _on_calls("register_module_full_backward_hook", "backward", hook)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` before the backward pass of every module.

    The hook may return new gradients of the outputs.

    Parameters
    ----------
    hook
        The function to call.  It returns None or a tuple of new gradients.

    Returns
    -------
    RemovableHandle
        A handle; its method ``remove()`` removes the hook.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.nn.modules.module import register_module_full_backward_pre_hook
    >>> handle = register_module_full_backward_pre_hook(lambda m, g: print(g))
    >>> ac.nn.Linear(2, 1)(ac.ones(1, 2)).sum().backward()
    (tensor([[1.]]),)
    >>> handle.remove()
    """
    return _on_calls("register_module_full_backward_pre_hook", "backward_pre", hook)


def _on_registration(
    where: str, kind: str, hook: Callable[..., Any]
) -> RemovableHandle:
    return RemovableHandle(ON_REGISTRATION, (kind, _function(where, hook)))


def register_module_parameter_registration_hook(
    hook: Callable[..., Any],
) -> RemovableHandle:
    """Call ``hook(module, name, parameter)`` when a parameter is added to any module.

    The hook may return another parameter, which is added instead.

    Parameters
    ----------
    hook
        The function to call.  It returns None or another parameter.

    Returns
    -------
    RemovableHandle
        A handle; its method ``remove()`` removes the hook.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.nn.modules import module
    >>> handle = module.register_module_parameter_registration_hook(
    ...     lambda m, name, p: print(name, p.shape)
    ... )
    >>> _ = ac.nn.Linear(2, 3, bias=False)
    weight autocalc.Size([3, 2])
    >>> handle.remove()
    """
    return _on_registration(
        "register_module_parameter_registration_hook", PARAMETER, hook
    )


def register_module_buffer_registration_hook(
    hook: Callable[..., Any],
) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` when a buffer is added to any module.

    The hook may return another buffer, which is added instead.

    Parameters
    ----------
    hook
        The function to call.  It returns None or another tensor.

    Returns
    -------
    RemovableHandle
        A handle; its method ``remove()`` removes the hook.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.nn.modules import module
    >>> handle = module.register_module_buffer_registration_hook(
    ...     lambda m, name, buffer: print(name)
    ... )
    >>> ac.nn.Module().register_buffer("mean", ac.zeros(1))
    mean
    >>> handle.remove()
    """
    return _on_registration("register_module_buffer_registration_hook", BUFFER, hook)


def register_module_module_registration_hook(
    hook: Callable[..., Any],
) -> RemovableHandle:
    """Call ``hook(module, name, submodule)`` when a submodule is added to any module.

    The hook may return another module, which is added instead.

    Parameters
    ----------
    hook
        The function to call.  It returns None or another module.

    Returns
    -------
    RemovableHandle
        A handle; its method ``remove()`` removes the hook.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.nn.modules import module
    >>> handle = module.register_module_module_registration_hook(
    ...     lambda m, name, submodule: print(name, submodule)
    ... )
    >>> _ = ac.nn.Sequential(ac.nn.ReLU())
    0 ReLU()
    >>> handle.remove()
    """
    return _on_registration("register_module_module_registration_hook", MODULE, hook)

# SPDX-License-Identifier: MIT
"""`ac.kernels.explain` for a kernel, a function, a module or a compiled program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, overload

from autocalc._compile._function import Compiled
from autocalc._dispatch.explain.explain import Explanation, explain_kernel
from autocalc._dispatch.explain.explain_calls import (
    CallsExplanation,
    KernelUse,
    explain_calls,
    use_of,
)
from autocalc._dispatch.plugins.discovery import registry
from autocalc._graph._grad_mode import no_grad
from autocalc._program._form import Instruction
from autocalc._program._kernel_choice import key_of
from autocalc._tensor.generator import default_generator
from autocalc.errors import ConfigError


@overload
def explain(kernel: str, *args: Any, **options: Any) -> Explanation: ...
@overload
def explain(
    kernel: Callable[..., Any], *args: Any, **options: Any
) -> CallsExplanation: ...
def explain(kernel: Any, *args: Any, **options: Any) -> Explanation | CallsExplanation:
    """Explain which kernels a call runs, from which kernel sets, and for which reasons.

    Parameters
    ----------
    kernel : str or callable
        One of three things.  The name of a kernel in the kernel table, such as
        ``"gemm"``: all candidates, the reasons of refusals and the choice are listed,
        and nothing runs.  A function such as `ac.nn.functional.gelu`, or a module: it
        runs once with the arguments, and each kind of kernel call in it is explained.
        A function that `ac.compile` returned: the instructions of its programs are
        explained, and nothing runs.
    *args
        For a kernel, its inputs (tensors, arrays or None), followed by its attributes;
        the last ones may be omitted.  For a function or a module, the arguments of its
        call.
    **options
        For a kernel: `want`, which says which optional outputs are computed, and the
        `shape` and `dtype` of the result.  Otherwise: the keyword arguments of the
        call.

    Returns
    -------
    Explanation or CallsExplanation
        The explanation; `print` shows it.

    Raises
    ------
    ConfigError
        If there is no kernel of that name, if `kernel` is neither a string nor
        callable, if a compiled function has no program yet, or if arguments are given
        for a compiled function.

    Notes
    -----
    After the run, the buffers of a module (running statistics) and the random generator
    are restored.  Other things that the function changes remain changed.

    Examples
    --------
    >>> import autocalc as ac
    >>> a = ac.ones(2, 2)
    >>> print(ac.kernels.explain("gemm", a, a))  # doctest: +ELLIPSIS
    gemm(...) runs on ...
    >>> print(ac.kernels.explain(ac.nn.functional.gelu, a))  # doctest: +ELLIPSIS
    gelu: 1 kernel call
      gelu ...
    """
    if isinstance(kernel, str):
        return explain_kernel(kernel, *args, **options)
    if isinstance(kernel, Compiled):
        return _explain_compiled(kernel, args, options)
    if not callable(kernel):
        raise ConfigError(
            f"explain: got a {type(kernel).__name__}; give the name of a kernel, a "
            f"function, a module, or what ac.compile returned."
        )
    with _as_before(kernel):
        return explain_calls(_name(kernel), lambda: kernel(*args, **options))


def _name(what: Any) -> str:
    return getattr(what, "__name__", type(what).__name__)


@contextmanager
def _as_before(what: Any) -> Iterator[None]:
    """Restore a module's buffers and the random generator afterwards."""
    buffers = getattr(what, "buffers", None)
    kept = [(b, b.clone()) for b in buffers()] if callable(buffers) else []
    state = default_generator.get_state()
    try:
        yield
    finally:
        default_generator.set_state(state)
        with no_grad():
            for buffer, value in kept:
                buffer.copy_(value)


# ---- compiled programs ---------------------------------------------------------------


def _explain_compiled(compiled: Compiled, args: Any, options: Any) -> CallsExplanation:
    name = _name(compiled)
    if args or options:
        raise ConfigError(
            f"explain: {name} is a compiled function, which is explained without "
            f"arguments: ac.kernels.explain({name})."
        )
    programs = compiled.programs
    if not programs:
        raise ConfigError(
            f"explain: {name} has no program yet; call it a few times with the shapes "
            "that you want to explain."
        )
    found: dict[tuple[str, str, str], KernelUse] = {}
    for program in programs:
        for instruction in program.instructions:
            use = _use_of(instruction)
            key = use.kernel, use.chosen, use.operands
            before = found[key].calls if key in found else 0
            found[key] = KernelUse(*key, before + 1, use.why, use.explanation)
    plural = "1 program" if len(programs) == 1 else f"{len(programs)} programs"
    return CallsExplanation(f"{name}, {plural}", tuple(found.values()))


def _use_of(i: Instruction) -> KernelUse:
    """Return the line of the explanation for one instruction."""
    name = f"{i.name} ({' + '.join(i.fused)})" if i.fused and i.spec else i.name
    if i.spec is None:
        return KernelUse(name, "Python", "", 1, "the host runs it at each replay")
    if i.chosen not in registry().sets:
        why = "operands of 16 bits are computed in float32"
        return KernelUse(name, i.chosen, "", 1, why)
    if i.spec.name not in (registry().kernels(i.chosen) or {}):
        why = "one pass over memory for what were several kernels of this set"
        return KernelUse(name, i.chosen, "", 1, why)
    key = key_of(i.spec, i.outputs, i.inputs, i.attributes)
    use = use_of(key, 1, i.chosen)
    why, explanation = use.why, use.explanation
    if explanation is not None and explanation.chosen != i.chosen:
        why = f"it was chosen when the program was recorded; now {explanation.chosen}"
        why += f" would be: {use.why}"
    return KernelUse(name, i.chosen, use.operands, 1, why, explanation)

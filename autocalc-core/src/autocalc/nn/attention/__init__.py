# SPDX-License-Identifier: MIT
"""PyTorch's interface to choose an implementation of attention.

It has no effect here: `autocalc.kernels` chooses the kernels.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from autocalc._tensor.checks import check_flag
from autocalc.errors import ArgumentError, DTypeError


class SDPBackend(enum.Enum):
    """The names of PyTorch's implementations of attention; they have no effect here."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(
    backends: SDPBackend | Sequence[SDPBackend], set_priority: bool = False
) -> Iterator[None]:
    """Check `backends`, and otherwise do nothing.

    In PyTorch, this context chooses the implementation of attention.

    Parameters
    ----------
    backends
        One member of `SDPBackend`, or several of them.
    set_priority
        Accepted for compatibility with PyTorch.  It has no effect.

    Raises
    ------
    DTypeError
        If an entry is not a member of `SDPBackend`.
    ArgumentError
        If `backends` is empty.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.nn.attention import SDPBackend, sdpa_kernel
    >>> x = ac.ones(1, 2, 4)
    >>> with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
    ...     ac.nn.functional.scaled_dot_product_attention(x, x, x).shape
    autocalc.Size([1, 2, 4])
    """
    check_flag("sdpa_kernel", "set_priority", set_priority)
    given = [backends] if isinstance(backends, SDPBackend) else backends
    if not isinstance(given, (list, tuple)) or not all(
        isinstance(one, SDPBackend) for one in given
    ):
        raise DTypeError(
            f"sdpa_kernel: `backends` is {backends!r}; it must be an SDPBackend or a "
            f"list of them."
        )
    if not given:
        message = "sdpa_kernel: `backends` is empty; give at least one SDPBackend."
        raise ArgumentError(message)
    yield

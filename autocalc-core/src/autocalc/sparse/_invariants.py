# SPDX-License-Identifier: MIT
"""PyTorch's switch for the checks of sparse tensors, which are always on here."""

from __future__ import annotations

from typing import Any


class check_sparse_tensor_invariants:
    """A switch that has no effect: the parts of sparse tensors are always checked.

    Parameters
    ----------
    enable
        Accepted for compatibility with PyTorch.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.sparse.check_sparse_tensor_invariants():
    ...     x = ac.sparse_coo_tensor([[0]], [1.0], (2,))
    >>> ac.sparse.check_sparse_tensor_invariants.is_enabled()
    True
    """

    def __init__(self, enable: bool = True) -> None:
        self.state = enable

    @staticmethod
    def is_enabled() -> bool:
        """Return True: the checks always run."""
        return True

    @staticmethod
    def enable() -> None:
        """Do nothing: the checks always run."""

    @staticmethod
    def disable() -> None:
        """Do nothing: the checks always run."""

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, *error: object) -> None:
        """Do nothing."""

    def __call__(self, function: Any) -> Any:
        """Return the function itself."""
        return function

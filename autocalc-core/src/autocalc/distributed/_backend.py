# SPDX-License-Identifier: MIT
"""The names of PyTorch's backends; only MPI exists here."""

from __future__ import annotations

__all__ = ["Backend", "is_gloo_available", "is_nccl_available", "is_ucc_available"]


class Backend(str):
    """The name of a backend, in lower case.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributed.Backend("MPI") == ac.distributed.Backend.MPI
    True
    """

    __slots__ = ()

    UNDEFINED = "undefined"
    GLOO = "gloo"
    MPI = "mpi"
    NCCL = "nccl"
    UCC = "ucc"

    def __new__(cls, name: str) -> Backend:
        return str.__new__(cls, name.lower())


def is_gloo_available() -> bool:
    """Return False, because processes communicate over MPI."""
    return False


is_nccl_available = is_ucc_available = is_xccl_available = is_gloo_available
is_torchelastic_launched = is_gloo_available

# SPDX-License-Identifier: MIT
"""Training with several processes, on one machine or many, over MPI.

``mpirun`` starts a program n times; the processes are *ranks*, numbered from 0.  Each
rank calls `init_process_group`, and then all ranks call the same functions in the same
order.  Each *collective* combines or copies the tensors of all ranks.  Names and
meanings are those of PyTorch's ``torch.distributed``.  More than one rank needs the
package ``mpi4py`` (``pip install "autocalc-core[mpi]"``); a single process does not
need it, and all functions work there.
"""

from __future__ import annotations

from autocalc._aliases import lookup as _lookup
from autocalc.distributed._agreement import DebugLevel, get_debug_level, set_debug_level
from autocalc.distributed._backend import (
    Backend,
    is_gloo_available,
    is_nccl_available,
    is_torchelastic_launched,
    is_ucc_available,
    is_xccl_available,
)
from autocalc.distributed._group import (
    GroupMember,
    destroy_process_group,
    get_backend,
    get_node_local_rank,
    get_rank,
    get_world_size,
    init_process_group,
    is_available,
    is_initialized,
    is_mpi_available,
)
from autocalc.distributed._objects import (
    all_gather_object,
    broadcast_object_list,
    gather_object,
    scatter_object_list,
)
from autocalc.distributed._point_to_point import irecv, isend, recv, send
from autocalc.distributed._process_group import ProcessGroup
from autocalc.distributed._reduce import (
    all_reduce,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
)
from autocalc.distributed._reduce_op import ReduceOp
from autocalc.distributed._spread import (
    all_gather,
    all_gather_into_tensor,
    barrier,
    broadcast,
)
from autocalc.distributed._subgroups import (
    get_global_rank,
    get_group_rank,
    get_process_group_ranks,
    group,
    new_group,
)
from autocalc.distributed._work import Work

__all__ = [
    "Backend",
    "DebugLevel",
    "GroupMember",
    "ProcessGroup",
    "ReduceOp",
    "Work",
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_reduce",
    "barrier",
    "broadcast",
    "broadcast_object_list",
    "destroy_process_group",
    "gather_object",
    "get_backend",
    "get_debug_level",
    "get_global_rank",
    "get_group_rank",
    "get_node_local_rank",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_process_group",
    "irecv",
    "is_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "is_ucc_available",
    "is_xccl_available",
    "isend",
    "new_group",
    "recv",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter_object_list",
    "send",
    "set_debug_level",
]

__getattr__ = _lookup(__name__)

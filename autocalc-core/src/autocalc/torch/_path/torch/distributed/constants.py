# SPDX-License-Identifier: MIT
"""`torch.distributed.constants`: how long a process waits for others."""

from datetime import timedelta

default_pg_timeout = default_pg_nccl_timeout = timedelta(minutes=30)

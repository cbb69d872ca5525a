# SPDX-License-Identifier: MIT
"""`torch.distributed.constants`: the default time that processes wait for others."""

from datetime import timedelta

default_pg_timeout = default_pg_nccl_timeout = timedelta(minutes=30)

# SPDX-License-Identifier: MIT
"""`torch.utils.deterministic`: the switch for filling new memory."""

#: Whether PyTorch fills the memory of `empty`; it has no effect here.
fill_uninitialized_memory = True

# SPDX-License-Identifier: MIT
"""`torch.utils.deterministic`: a switch of what new memory holds."""

#: Whether PyTorch fills the memory of `empty`; without effect here.
fill_uninitialized_memory = True

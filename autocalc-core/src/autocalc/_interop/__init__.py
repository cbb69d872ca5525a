# SPDX-License-Identifier: MIT
"""Support for tensors in other libraries: einops.  It may import everything below."""

# SPDX-License-Identifier: MIT
"""What makes other libraries know tensors: einops.  It may import everything below."""

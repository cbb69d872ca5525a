# SPDX-License-Identifier: MIT
"""A zoo of models, written once for all libraries that share PyTorch's names."""

# SPDX-License-Identifier: MIT
"""Checkpoints: trees of tensors and plain values in safetensors files."""

# SPDX-License-Identifier: MIT
"""Normalisation by batch, layer, group or channel."""

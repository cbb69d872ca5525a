# SPDX-License-Identifier: MIT
"""The kernel table: specs, references, decompositions, samples."""

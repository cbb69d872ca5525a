# SPDX-License-Identifier: MIT
"""The costs by which plans choose algorithms, measured on the machine at hand."""

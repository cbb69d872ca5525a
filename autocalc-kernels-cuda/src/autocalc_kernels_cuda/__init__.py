# SPDX-License-Identifier: MIT
"""An NVIDIA GPU as a kernel set of AutoCalc; `_plugin` is where it starts."""

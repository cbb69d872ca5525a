# SPDX-License-Identifier: MIT
"""Images resized and sampled."""

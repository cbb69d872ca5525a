# SPDX-License-Identifier: MIT
"""What asv measures: `make bench`."""

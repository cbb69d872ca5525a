# SPDX-License-Identifier: MIT
"""Which kernel set runs a call, and the call itself."""

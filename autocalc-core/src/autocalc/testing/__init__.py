# SPDX-License-Identifier: MIT
"""What ships for tests: gradient checks and the conformance kit."""

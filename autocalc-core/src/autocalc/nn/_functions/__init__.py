# SPDX-License-Identifier: MIT
"""What `nn.functional` offers, by kind."""

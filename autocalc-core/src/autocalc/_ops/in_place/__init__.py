# SPDX-License-Identifier: MIT
"""Operations that write into their first operand."""

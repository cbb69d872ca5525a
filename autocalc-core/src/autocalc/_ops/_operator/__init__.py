# SPDX-License-Identifier: MIT
"""How an operator is made: factories, rules, and checks of its arguments."""

# SPDX-License-Identifier: MIT
"""How operators are made: factories, backward rules, and checks of arguments."""

# SPDX-License-Identifier: MIT
"""`Module`: its attributes, its tree, its state and its hooks."""

# SPDX-License-Identifier: MIT
"""Core's native engine: what it offers, and the keys of calls."""

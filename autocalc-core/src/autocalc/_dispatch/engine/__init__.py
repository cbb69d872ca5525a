# SPDX-License-Identifier: MIT
"""Core's native engine: what it provides, and the keys of calls."""

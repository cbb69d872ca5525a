# SPDX-License-Identifier: MIT
"""Schedulers of the learning rate, by kind."""

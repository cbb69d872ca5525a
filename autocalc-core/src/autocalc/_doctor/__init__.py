# SPDX-License-Identifier: MIT
"""The checks of `autocalc doctor`: the machine, the process, and a model's step.

A check is a function that yields findings; each file has those of one subject.
"""

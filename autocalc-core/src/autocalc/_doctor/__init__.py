# SPDX-License-Identifier: MIT
"""What `autocalc doctor` looks at: the machine, the process, and a model's step.

A check is a function that yields findings; each file has those of one subject.
"""

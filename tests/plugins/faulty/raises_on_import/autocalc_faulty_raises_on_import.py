# SPDX-License-Identifier: MIT
"""A kernel package whose import raises."""

message = "libmissing.so.1: cannot open shared object file"
raise ImportError(message)

# SPDX-License-Identifier: MIT
"""Models of others: folders of Hugging Face, one file for each family of models."""

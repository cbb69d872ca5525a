# SPDX-License-Identifier: MIT
"""Kernels that do what two do, for passes that join these or take them apart."""

from __future__ import annotations

from typing import Any, TypeAlias

from autocalc._program._form import Instruction

#: Where the activation's name stands among the attributes of a product.
_PLACES = {"linear": -1, "gemm": -2}

#: Kernel and attributes of each activation, by its name there.
ACTIVATIONS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "relu": ("relu", ()),
    "gelu": ("gelu", ("none",)),
    "gelu_tanh": ("gelu", ("tanh",)),
}

_NAMES = {form: name for name, form in ACTIVATIONS.items()}

#: The norms that make the sum that they normalise, by those that do not.
NORMS_OF_SUMS = {"layer_norm": "add_layer_norm", "rms_norm": "add_rms_norm"}

#: The activations that `batch_norm_activation` and `conv_activation` have.
POST_OPS = ("relu", "hardtanh", "leaky_relu", "hardswish", "silu")

#: An activation among the attributes of these kernels: its name, and two numbers.
PostOp: TypeAlias = tuple[str, float, float]


def post_op_of(instruction: Instruction) -> PostOp | None:
    """Return how an activation is written among a norm's attributes."""
    name, given = instruction.name, instruction.attributes
    if name == "leaky_relu" and given[0] < 0:
        return None  # the result does not tell the operand's sign
    alpha, beta, *_ = (*given, 0.0, 0.0)
    return name, float(alpha), float(beta)


def activation_of(instruction: Instruction) -> str | None:
    """Return what a product applies to its result; None of what is no product."""
    place = _PLACES.get(instruction.name)
    return None if place is None else str(instruction.attributes[place])


def name_of(instruction: Instruction) -> str | None:
    """Return what an activation is called among a product's attributes."""
    return _NAMES.get((instruction.name, instruction.attributes))


def with_activation(product: Instruction, name: str) -> tuple[Any, ...]:
    """Return the attributes of a product that applies an activation."""
    attributes = list(product.attributes)
    attributes[_PLACES[product.name]] = name
    return tuple(attributes)

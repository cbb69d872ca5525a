# SPDX-License-Identifier: MIT
"""`from_pretrained` and `from_config`: models of others, or new ones like them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from autocalc import nn
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError
from autocalc.models._pretrained.config import Config
from autocalc.models._pretrained.families import family_of
from autocalc.models._pretrained.loading import DTYPES, load_model


def from_pretrained(
    folder: str | os.PathLike[str], *, dtype: DType | str | None = None
) -> Any:
    """Load a model from a folder in the format of Hugging Face.

    The folder contains ``config.json`` and ``model.safetensors``, or several files of
    tensors and their index.  The files are mapped into memory: a weight is read from
    the disk when it is first used, and there is no second copy unless the dtype
    changes.  Writes to weights do not change the files.  Nothing is unpickled, and no
    code of the folder runs.

    Families of decoders are GPT-2, Llama 2 and 3, SmolLM, Mistral, Qwen 2 and 3, Gemma
    2, Phi 1.5, Phi 2 and Phi 3.  Encoders are BERT and DistilBERT.  A folder of a
    sentence model also has ``modules.json``.

    Parameters
    ----------
    folder
        The path of the folder.
    dtype
        The dtype of all weights, such as ``"float32"``.  By default, it is the dtype in
        ``config.json``.

    Returns
    -------
    Module
        The model, in evaluation mode.  ``model(tokens)`` returns logits ``(B, S, V)``
        of a decoder for tokens ``(B, S)``.  An encoder returns features ``(B, S, d)``,
        or the logits of the head that ``config.json`` names.  Dropout is not used.

    Raises
    ------
    CheckpointError
        If a file is missing, incomplete or not of this format, if the type of the model
        is unknown, or if tensors are missing or have other shapes than ``config.json``
        says.  No weight has been read then.
    ArgumentError
        If `dtype` is not a floating-point dtype.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import autocalc as ac
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> sizes = {"n_embd": 8, "n_head": 2, "n_layer": 1, "n_positions": 16}
    >>> config = {"model_type": "gpt2", "vocab_size": 10, **sizes}
    >>> model = ac.models.from_config(config)
    >>> ac.models.save_pretrained(model, folder)
    >>> ac.models.from_pretrained(folder)(ac.tensor([[1, 2, 3]])).shape
    autocalc.Size([1, 3, 10])
    """
    wanted = None if dtype is None else _dtype(dtype)
    path = Path(folder)
    if (path / "modules.json").is_file():
        from autocalc.models._pretrained.sentence import load_sentence_model

        return load_sentence_model(path, wanted)
    return load_model(path, wanted)


def from_config(config: dict[str, Any], *, dtype: DType | str = "float32") -> Any:
    """Return a new model with random weights, by the settings of a ``config.json``.

    Weights of linear layers and of tables are normal random numbers with the standard
    deviation `initializer_range`, 0.02 by default.

    Parameters
    ----------
    config
        The settings.  `model_type` chooses the family.
    dtype
        The dtype of all weights.

    Returns
    -------
    Module
        The model, in evaluation mode, as `from_pretrained` returns it.

    Raises
    ------
    CheckpointError
        If a setting is missing, unknown or out of range.

    Examples
    --------
    >>> import autocalc as ac
    >>> sizes = {"hidden_size": 8, "intermediate_size": 16, "num_hidden_layers": 1}
    >>> config = {"model_type": "llama", "num_attention_heads": 2, "vocab_size": 10}
    >>> model = ac.models.from_config({**config, **sizes})
    >>> model(ac.tensor([[1, 2, 3]])).shape
    autocalc.Size([1, 3, 10])
    """
    wanted = _dtype(dtype)
    settings = Config(dict(config), "the configuration", 10_000)
    deviation = settings.number("initializer_range", 0.02)
    model = family_of(settings)(settings)
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            if parameter.ndim > 1:
                nn.init.normal_(parameter, 0.0, deviation)
            elif name == "bias":
                nn.init.zeros_(parameter)
    model.tie()
    return model.to(wanted).eval()


def _dtype(dtype: DType | str) -> DType:
    known = DTYPES.get(dtype) if isinstance(dtype, str) else dtype
    if not isinstance(known, DType) or known not in DTYPES.values():
        raise ArgumentError(
            f"from_pretrained: `dtype` is {dtype!r}; it must be one of "
            f"{', '.join(DTYPES)}."
        )
    return known

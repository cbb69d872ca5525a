# SPDX-License-Identifier: MIT
"""Examples for fine-tuning, one JSON object on each line of a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from autocalc._tensor.checks import short
from autocalc.errors import DataError

#: Marks a target that does not count in the loss.
IGNORED = -100

_FORMS = (
    'it must have "text", or "prompt" and "completion", or "messages" of which the '
    "last one is the assistant's"
)


class Example(NamedTuple):
    """The tokens of an example, and for each the next one, or `IGNORED`."""

    tokens: list[int]
    targets: list[int]


def read_examples(path: Path, tokenizer: Any, length: int) -> list[Example]:
    """Return the examples in a JSONL file, each of at most `length` tokens.

    A line has one of three forms::

        {"text": "..."}                              all tokens count in the loss
        {"prompt": "...", "completion": "..."}       those of the completion count
        {"messages": [{"role": ..., "content": ...}, ...]}   those of the last message

    A text that is longer is cut into several examples.  Of other examples, the
    beginning is left out.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"finetune: {path} cannot be read: {error}.") from error
    examples: list[Example] = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            examples += _of_line(line, f"{path}, line {number}", tokenizer, length)
    if not examples:
        raise DataError(
            f"finetune: {path} has no example of at least two tokens; {_FORMS}."
        )
    return examples


def _of_line(line: str, place: str, tokenizer: Any, length: int) -> list[Example]:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"finetune: {place} is not JSON: {error}.") from error
    if isinstance(values, dict):
        if isinstance(values.get("text"), str):
            return _of_text(values["text"], tokenizer, length)
        prompt, answer = values.get("prompt"), values.get("completion")
        if isinstance(prompt, str) and isinstance(answer, str):
            before = tokenizer.encode(prompt)
            return _of_answer(before, answer, tokenizer, length)
        if _is_conversation(values.get("messages")):
            return _of_messages(values["messages"], tokenizer, length)
    raise DataError(f"finetune: {place} is {short(values)}; {_FORMS}.")


def _of_text(text: str, tokenizer: Any, length: int) -> list[Example]:
    ids = [*tokenizer.encode(text), *tokenizer.end[:1]]
    starts = range(0, len(ids) - 1, length)
    parts = [ids[start : start + length + 1] for start in starts]
    return [Example(part[:-1], part[1:]) for part in parts]


def _of_answer(
    before: list[int], answer: str, tokenizer: Any, length: int
) -> list[Example]:
    after = [*tokenizer.encode(answer, special=False), *tokenizer.end[:1]]
    return _answered(before, after, length)


def _of_messages(messages: Any, tokenizer: Any, length: int) -> list[Example]:
    prompt = tokenizer.chat(messages[:-1])
    whole = tokenizer.chat(messages, reply=False)
    if not whole.startswith(prompt):  # the template treats the last message apart
        return _of_answer(
            tokenizer.encode(prompt, special=False),
            messages[-1]["content"],
            tokenizer,
            length,
        )
    answer = whole[len(prompt) :]
    before, after = (tokenizer.encode(one, special=False) for one in (prompt, answer))
    return _answered(before, after, length)


def _answered(before: list[int], after: list[int], length: int) -> list[Example]:
    ids = [*before, *after]
    targets = [IGNORED] * (len(before) - 1) + after
    if not before:
        targets = after[1:]
    if len(ids) < 2:
        return []
    return [Example(ids[:-1][-length:], targets[-length:])]


def _is_conversation(messages: Any) -> bool:
    if not isinstance(messages, list) or len(messages) < 2:
        return False
    known = all(
        isinstance(m, dict)
        and isinstance(m.get("role"), str)
        and isinstance(m.get("content"), str)
        for m in messages
    )
    return known and messages[-1]["role"] == "assistant"

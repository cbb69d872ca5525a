# SPDX-License-Identifier: MIT
"""Words that need explaining lead to the glossary where a page first has them.

Which words: `WORDS`.  Those that every programmer knows (view, node, kernel) are linked
by hand where a page introduces them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: Terms of the glossary, and how they are written in sentences.
WORDS = {
    "affinity guard": "affinity guards?",
    "arena": "arenas?",
    "backward pass": "backward pass(?:es)?",
    "borrowed gradient": "borrowed gradients?",
    "composite": "composites?",
    "cotangent": "cotangents?",
    "decomposition": "its decompositions?|(?:the|a) decomposition(?! of a)",
    "dispatch key": "dispatch keys?",
    "epilogue": "epilogues?",
    "kernel set": "kernel sets?",
    "kernel spec": "kernel specs?",
    "layout plan": "layout plans?",
    "lead": "(?<=the )lead|(?<=its )lead|(?<='s )lead|lead(?= kernel)",
    "microkernel": "microkernels?",
    "oversubscribed": "oversubscribed",
    "packed operand": "packed operands?",
    "primitive": "primitives?",
    "refusal": "refusals?",
    "thread budget": "thread budgets?",
    "ULP": "ULP",
    "version cell": "version cells?",
    "view chain": "view chains?",
    "vjp": "vjp",
    "waiter": "waiters?",
}
PATTERN = re.compile(
    "|".join(
        rf"(?P<w{number}>\b(?:{pattern})\b)"
        for number, pattern in enumerate(WORDS.values())
    )
)
#: Pages that are not linked: the glossary itself, and lists of names.
LEFT_OUT = ("glossary", "genindex", "py-modindex", "search")


def words(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the terms in a text, with their places."""
    terms = list(WORDS)
    for match in PATTERN.finditer(text):
        yield terms[int(str(match.lastgroup)[1:])], match


def link(document: Any) -> None:
    """Make references of the first words in the sentences of a document."""
    from docutils import nodes
    from sphinx import addnodes

    closed = (
        *(nodes.title, nodes.rubric, nodes.reference, nodes.literal, nodes.term),
        *(nodes.literal_block, nodes.doctest_block, nodes.raw, nodes.comment),
        *(nodes.math, nodes.math_block, nodes.caption, nodes.target),
        *(nodes.system_message, addnodes.pending_xref, addnodes.desc_signature),
        *(addnodes.download_reference, addnodes.index, addnodes.desc_sig_element),
    )

    def is_sentence(node: Any) -> bool:
        while node.parent is not None:
            node = node.parent
            if isinstance(node, closed):
                return False
        return True

    def reference(term: str, shown: str) -> Any:
        inner = nodes.inline(shown, shown, classes=["xref", "std", "std-term"])
        return addnodes.pending_xref(
            shown,
            inner,
            refdomain="std",
            reftype="term",
            reftarget=term,
            refexplicit=True,
            refwarn=True,
            refdoc=document.settings.env.docname,
        )

    seen: set[str] = set()
    for node in list(document.findall()):
        if isinstance(node, addnodes.pending_xref) and node.get("reftype") == "term":
            seen.add(node["reftarget"])
        if not isinstance(node, nodes.Text) or not is_sentence(node):
            continue
        text, parts, end = node.astext(), [], 0
        for term, match in words(text):
            if term not in seen:
                seen.add(term)
                parts.append(nodes.Text(text[end : match.start()]))
                parts.append(reference(term, match[0]))
                end = match.end()
        if parts:
            node.parent.replace(node, [*parts, nodes.Text(text[end:])])


def setup(app: Sphinx) -> dict[str, bool]:
    from sphinx.transforms import SphinxTransform

    class GlossaryLinks(SphinxTransform):
        default_priority = 700  # after the parsers' own, before references resolve

        def apply(self, **_: Any) -> None:
            if self.env.docname not in LEFT_OUT:
                link(self.document)

    app.add_transform(GlossaryLinks)
    return {"parallel_read_safe": True}

# SPDX-License-Identifier: MIT
"""Models of rows and of graphs: tabular MLP, DLRM, message passing.

Naumov and others: Deep learning recommendation model (2019); Gilmer and others: Neural
message passing (ICML 2017).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.zoo.work import Make, Work, classes


def tabular(batch: int, features: int, hidden: int) -> Make:
    """Return the work of an MLP with batch norm and dropout."""

    def make(ml: Any, _: Callable[[Any], Any]) -> Work:
        nn, layers, ins = ml.nn, [], features
        for outs in (hidden, hidden, hidden // 2):
            layers += [nn.Linear(ins, outs), nn.BatchNorm1d(outs), nn.ReLU()]
            layers.append(nn.Dropout(0.1))
            ins = outs
        model = nn.Sequential(*layers, nn.Linear(ins, 10))
        return Work(model, (ml.randn(batch, features),), classes(ml, batch))

    return make


def dlrm_type(ml: Any) -> type[Any]:
    """Return the class of a DLRM: products of all pairs of embeddings."""
    nn = ml.nn

    class DLRM(nn.Module):  # type: ignore[misc, name-defined]  # known at run time
        def __init__(self, dense: int, tables: int, rows: int, d: int) -> None:
            super().__init__()
            self.bottom = nn.Sequential(
                nn.Linear(dense, 128), nn.ReLU(), nn.Linear(128, d), nn.ReLU()
            )
            self.tables = nn.ModuleList([nn.Embedding(rows, d) for _ in range(tables)])
            pairs = ml.tril_indices(tables + 1, tables + 1, -1)
            self.register_buffer("rows", pairs[0])
            self.register_buffer("columns", pairs[1])
            self.top = nn.Sequential(
                nn.Linear(d + pairs.shape[1], 128), nn.ReLU(), nn.Linear(128, 10)
            )

        def forward(self, dense: Any, ids: Any) -> Any:
            x = self.bottom(dense)
            looked_up = [table(ids[:, i]) for i, table in enumerate(self.tables)]
            features = ml.stack([x, *looked_up], 1)
            products = ml.bmm(features, features.transpose(1, 2))
            return self.top(ml.cat([x, products[:, self.rows, self.columns]], 1))

    return DLRM


def dlrm(batch: int, tables: int = 8, rows: int = 1000, d: int = 32) -> Make:
    """Return the work of a DLRM with 13 dense features."""

    def make(ml: Any, _: Callable[[Any], Any]) -> Work:
        dense, ids = ml.randn(batch, 13), ml.randint(0, rows, (batch, tables))
        model = dlrm_type(ml)(13, tables, rows, d)
        return Work(model, (dense, ids), classes(ml, batch))

    return make


def message_type(ml: Any) -> type[Any]:
    """Return the class of a graph network: nodes add up their neighbours' messages."""
    nn = ml.nn

    class Messages(nn.Module):  # type: ignore[misc, name-defined]  # known at run time
        def __init__(self, features: int, d: int, layers: int) -> None:
            super().__init__()
            self.first, self.head = nn.Linear(features, d), nn.Linear(d, 10)
            self.message = nn.ModuleList([nn.Linear(d, d) for _ in range(layers)])
            self.update = nn.ModuleList([nn.Linear(2 * d, d) for _ in range(layers)])
            self.relu = nn.ReLU()

        def forward(self, x: Any, source: Any, target: Any) -> Any:
            x = self.relu(self.first(x))
            for message, update in zip(self.message, self.update, strict=True):
                sent = message(x).index_select(0, source)
                received = ml.zeros(*x.shape).index_add(0, target, sent)
                x = self.relu(update(ml.cat([x, received], 1)))
            return self.head(x)

    return Messages


def graph(nodes: int, edges: int, d: int, layers: int) -> Make:
    """Return the work of a graph network that classifies nodes."""

    def make(ml: Any, _: Callable[[Any], Any]) -> Work:
        ends = [ml.randint(0, nodes, (edges,)) for _ in range(2)]
        model = message_type(ml)(16, d, layers)
        return Work(model, (ml.randn(nodes, 16), *ends), classes(ml, nodes))

    return make

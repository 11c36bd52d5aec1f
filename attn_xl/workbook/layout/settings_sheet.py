"""The sheet `Settings` of a written workbook: a record of how it was made, for readers and for reading
the workbook back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from attn_xl.graph.matrix import Matrix
from attn_xl.models.computation import Computation
from attn_xl.models.steps import FIRST, LEARNING
from attn_xl.models.steps import LABELS as LABELS_STEP
from attn_xl.records import record
from attn_xl.settings import SETTINGS, Settings
from attn_xl.spreadsheets.addresses import MAX_TEXT
from attn_xl.tables.written import (
    ANSWERS,
    CONTROLS_LINE,
    GIVEN,
    KEPT,
    LABELS,
    NOTE,
    SENTENCE,
    WEIGHTS,
    chosen_lines,
    entered_name,
)

from .layout import Layout, Sheet
from .page import Cell, Extras, row_of


@record(frozen=True)
class Source:
    """A given table and its place in a written workbook.

    Attributes:
        kind: `sentence`, `weights`, or `given` for numbers that the program made up.
        name: the sentence's or the weights'.
        defined: its defined name.
        place: its address, for programs that lose defined names. Of a table that is not in the
            workbook, `defined` is "" and `place` is the whole table as JSON.
        node: the table.
    """

    kind: str
    name: str
    defined: str
    place: str
    node: Matrix


def with_record(
    layout: Layout,
    computation: Computation,
    settings: Settings,
    more: Iterable[tuple[Any, ...]] = (),
) -> Layout:
    """A layout with its `Settings` as the last sheet.

    Args:
        more: further lines, such as those of a lesson.
    """
    lines = record_lines(layout, computation, settings, more)
    cells = row_of(4, ("setting", "value", ""), style="attn heading")
    for row, line in enumerate(lines, 5):
        styles = ("attn label", "attn text", "attn note")
        cells += [
            Cell(row, column, value, style=styles[column - 1], align="left")
            for column, value in enumerate(line, 1)
        ]
    extras = Extras(tuple(cells), widths={1: 30, 2: 30, 3: 40})
    sheet = Sheet(SETTINGS, SETTINGS, "", SETTINGS, NOTE, (), extras)
    return replace(layout, sheets=(*layout.sheets, sheet))


def record_lines(
    layout: Layout,
    computation: Computation,
    settings: Settings,
    more: Iterable[tuple[Any, ...]] = (),
) -> list[tuple[Any, ...]]:
    """The lines of a record: the settings, `more`, and the place of each table."""
    lines: list[tuple[Any, ...]] = [*chosen_lines(settings)]
    if not settings.controls:
        lines.append((CONTROLS_LINE, "FALSE"))
    lines += more
    for source in sources(layout, computation, settings):
        lines.append((f"{source.kind} {source.name}", source.defined, source.place))
        block = layout.blocks.get(source.node)
        if block and not (block.labelled and block.headed):  # drawn without its words beside it
            rows, columns = json.dumps(source.node.rows), json.dumps(source.node.columns)
            if max(len(rows), len(columns)) <= MAX_TEXT:
                lines.append((f"{LABELS} {source.defined}", rows, columns))
    lines += answers(layout, computation)
    return lines


def answers(layout: Layout, computation: Computation) -> Iterator[tuple[Any, ...]]:
    """Yield a line for each sentence with right answers that are texts, and for their cells; and for
    numbers that learning computed without formulas."""
    for name, graph in computation.items():
        for node in graph.values():
            block = layout.blocks.get(node)
            if node.step and node.step.source == "kept" and block and node.operation is None:
                yield f"{KEPT} {node.name}", block.name, block.place.absolute
            if node.step and node.step.source == "answers" and block:
                shared = node.is_step(LABELS_STEP) and len(node.rows) > 1
                for sentence in node.rows if shared and name == LEARNING else [_sentence(node, name)]:
                    yield f"{ANSWERS} {sentence}", block.name, block.place.absolute


def _sentence(node: Matrix, graph: str) -> str:
    """The sentence that a matrix belongs to: the graph's, or one of those in a graph of several."""
    return node.part.scopes[-1].symbol if node.part.scopes else graph


def sources(layout: Layout, computation: Computation, settings: Settings) -> Iterator[Source]:
    """The tables that are given rather than computed."""
    node: Matrix
    names: dict[Matrix, tuple[str, str]] = {}
    for name, graph in computation.items():
        for node in graph.values():
            source = node.step.source if node.step else ""
            if node.operation is not None or ((node.scalar or node.sheet) and not source):
                continue
            if source in ("answers", "kept"):
                continue
            if source == "sentence":
                names[node] = SENTENCE, _sentence(node, name)
            elif source == "memory":
                names[node] = SENTENCE, settings.memory or node.name
            elif source == "target":  # of one sentence, or of all
                several = node in names or node.part.scopes or name == LEARNING
                names[node] = WEIGHTS, node.name if several else f"{name}.{node.name}"
            elif source == "attention":
                names[node] = WEIGHTS, settings.attention or node.name
            elif source == "weights":
                names[node] = WEIGHTS, node.name.removeprefix(FIRST.name + ".")
            elif source == "entered":
                names[node] = WEIGHTS, entered_name(node.name, name)
            else:
                names[node] = GIVEN, node.name
    for node, (kind, name) in names.items():
        block = layout.blocks.get(node)
        if block is not None:
            yield Source(kind, name, block.name, block.place.absolute, node)
        else:  # --sheets-for left it out
            yield Source(kind, name, "", _packed(node), node)


def _packed(node: Matrix) -> str:
    """A table as JSON; "" if it is too long for a cell."""
    table = {"rows": node.rows, "columns": node.columns, "values": node.values.tolist()}
    text = json.dumps(table)
    return text if len(text) <= MAX_TEXT else ""


def digest(computation: Computation, settings: Settings) -> str:
    """A fingerprint of all given numbers, words and settings."""
    hashed = hashlib.sha256(repr(sorted(chosen_lines(settings))).encode())
    for sentence, graph in computation.items():
        for node in graph.values():
            if node.operation is None and not node.scalar:
                sentenced = node.step is not None and node.step.source == "sentence"
                named = (sentence if sentenced else "", node.name)
                hashed.update(repr(named).encode())
                hashed.update(table_digest(node).encode())
    return hashed.hexdigest()[:16]


def table_digest(node: Matrix) -> str:
    """A fingerprint of a matrix's numbers, to 12 digits (some programs keep only 15), and labels."""
    hashed = hashlib.sha256(repr((node.rows, node.columns)).encode("utf-8", "surrogatepass"))
    hashed.update(" ".join(f"{number:.12g}" for number in node.values.flat).encode())
    return hashed.hexdigest()[:16]

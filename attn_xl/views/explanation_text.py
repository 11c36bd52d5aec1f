"""An explanation as an indented tree for a terminal, and as JSON."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple, TextIO

from rich.cells import cell_len
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from attn_xl.console import console as console_on
from attn_xl.console import print_unpadded
from attn_xl.text import as_json, plain

from .explanation import MOST_CELLS, Explanation, figure

MOST_LEAVES = 12
"""Consecutive sources without a calculation that are all shown."""
_FIRST, _LAST = 6, 2
MOST_OTHERS = 12
"""Other numbers of the same name that are listed."""
INDENT = 2
MOST_LEVELS = 16
"""Levels: deeper ones are not indented further."""
WIDEST = 56
"""Characters: longer lines push the address beside them to the right."""
_REASONS = {"above": "explained above", "limit": "not explained here"}


class _Line(NamedTuple):
    indent: int
    text: str
    style: str = ""
    beside: str = ""
    mark: str = ""
    """Precedes the text; folded lines are aligned with the text."""


def to_json(explanation: Explanation, *, decimals: int | None = None) -> str:
    """A JSON object: `cell`, the name of the number; `others`, those of other numbers that the name
    asked for may mean; `cut`, whether the limit of cells was reached; and
    `cells`, each once by its name: `address`, `formula`, `value`, `words`,
    `numbers`, `note`, `ends` and the names of its `sources`."""
    cells: dict[str, dict[str, Any]] = {}
    cut = False
    for _, one in explanation.all():
        cut |= one.ends == "limit"
        if one.name not in cells or (not one.ends and cells[one.name]["ends"]):
            cells[one.name] = _fields(one, decimals)
    result = {"cell": explanation.name, "others": [*explanation.others], "cut": cut, "cells": cells}
    return as_json(result)


def _fields(one: Explanation, decimals: int | None) -> dict[str, Any]:
    value = one.value
    if decimals is not None and isinstance(value, float):
        value = round(value, decimals)
    return {
        "address": one.address,
        "formula": one.formula or None,
        "value": value,
        "words": one.words or None,
        "numbers": one.numbers or None,
        "note": one.note or None,
        "ends": one.ends or None,
        "sources": [source.name for source in one.sources],
    }


def print_tree(explanation: Explanation, *, decimals: int = 3, file: TextIO | None = None) -> None:
    """Print an explanation as an indented tree, each number below the one computed from it.

    On a terminal, long lines are folded. Elsewhere they are folded only if COLUMNS sets a width, and
    the text is plain, as it is wherever NO_COLOR is set.

    Args:
        decimals: digits after the point of the values, at most.
        file: where to print; standard output if None.
    """
    lines = list(_lines(explanation, decimals))
    widest = max(line.indent + cell_len(line.text) for line in lines if line.beside)
    file = file or sys.stdout
    console = console_on(file)
    folded = console.is_terminal or "COLUMNS" in os.environ
    beside = 2 + min(widest, WIDEST, console.width // 2 if folded else WIDEST)
    texts = [_text(line, beside) for line in lines]
    if not folded:
        console.width = max(
            line.indent + len(line.mark) + text.cell_len for line, text in zip(lines, texts)
        )
    print_unpadded(
        console,
        (
            Padding(_marked(line.mark, text), (0, 0, 0, line.indent), expand=False)
            for line, text in zip(lines, texts)
        ),
    )


def _marked(mark: str, text: Text) -> Table | Text:
    if not mark:
        return text
    table = Table.grid()
    table.add_row(mark, text)
    return table


def _text(line: _Line, beside: int) -> Text:
    text = Text(plain(line.text), line.style)
    if line.beside:
        text.append(" " * max(2, beside - line.indent - text.cell_len))
        text.append(plain(line.beside), "not bold dim")
    return text


def _lines(explanation: Explanation, decimals: int) -> Iterator[_Line]:
    noted: set[str] = set()
    cut = False
    waiting: list[tuple[int, Explanation | int]] = [(0, explanation)]
    while waiting:
        level, one = waiting.pop()
        indent = INDENT * min(level, MOST_LEVELS)
        if isinstance(one, int):
            yield _Line(indent, f"… ({one:,} more; --json lists them all)", "dim")
            continue
        cut |= one.ends == "limit"
        yield _head(one, indent, decimals)
        if not one.ends or not level:
            yield from _calculation(one, indent + INDENT, decimals, noted)
        waiting.extend((level + 1, source) for source in reversed(_shortened(one.sources)))
    if others := explanation.others:
        more = f", ... ({len(others)})" if len(others) > MOST_OTHERS else ""
        names = ", ".join(others[:MOST_OTHERS])
        yield _Line(0, f"Of the same name: {names}{more}. Write its name to explain another.", "italic")
    if cut:
        yield _Line(
            0,
            f"Stopped at {MOST_CELLS:,} numbers. Explain one of them, or choose a smaller --depth.",
            "italic",
        )


def _head(one: Explanation, indent: int, decimals: int) -> _Line:
    beside = f"{one.address}  {one.formula}".rstrip()
    if one.ends in _REASONS:
        beside = f"{one.address}  ({_REASONS[one.ends]})"
    return _Line(indent, f"{one.name} = {_value(one, decimals)}", "" if one.ends else "bold", beside)


def _calculation(one: Explanation, indent: int, decimals: int, noted: set[str]) -> Iterator[_Line]:
    """The note of a step, once, and the calculation, without values that only repeat the result."""
    if one.note and one.step not in noted:
        noted.add(one.step)
        yield _Line(indent, one.note, "dim")
    if one.words:
        yield _Line(indent, one.words, mark="= ")
    if one.numbers and one.numbers != _value(one, decimals):
        yield _Line(indent, one.numbers, mark="= ")


def _value(one: Explanation, decimals: int) -> str:
    return one.value if isinstance(one.value, str) else figure(one.value, decimals)


def _shortened(sources: tuple[Explanation, ...]) -> list[Explanation | int]:
    """The sources, with a count instead of the middle of a long run without calculations."""
    shown: list[Explanation | int] = []
    named: list[Explanation] = []
    for source in (*sources, None):
        if source is not None and source.ends:
            named.append(source)
            continue
        if len(named) > MOST_LEAVES:
            shown += [*named[:_FIRST], len(named) - _FIRST - _LAST, *named[-_LAST:]]
        else:
            shown += named
        named = []
        if source is not None:
            shown.append(source)
    return shown

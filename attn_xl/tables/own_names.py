"""What an author says outright: tags such as `{{ Scores }}`, defined names, a table of own names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attn_xl.errors import InputError, nearest
from attn_xl.spreadsheets.addresses import Place, address, parse_area, quoted
from attn_xl.spreadsheets.boxes import Box
from attn_xl.spreadsheets.drawn import DrawnBook, DrawnSheet
from attn_xl.text import clean

from .frames import Page, Title, distance, is_label, step_called, titles_of
from .names import SPELLINGS, of_compared, of_recurrence, of_table, weight_label
from .regions import Grid

WORDS, DIMENSIONS, FORMULA = "words", "dimensions", "formula"
"""Tags for labels, and for the formula of a step in words."""
Cell = tuple[int, int]
_TAG = re.compile(r"\s*\{\{\s*([^{}|]*?)\s*(?:\|\s*([^{}]*?)\s*)?\}\}\s*")
_OPTIONS = ("head N", "words across", "words down")


def tags_of(sheet: DrawnSheet, file: str, known: Mapping[str, str]) -> Iterator[Title]:
    """The tags on a sheet, which are taken from its values: the cells count as blank.

    Raises:
        InputError: for a tag that names no step, or has an unknown option.
    """
    for (row, column), value in list(sheet.values.items()):
        found = _TAG.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            continue
        del sheet.values[row, column]
        sheet.kept.clear()
        if (row, column) in sheet.held:
            sheet.values[row, column] = 1.0
        where = f"{file}, sheet {sheet.name!r}, cell {sheet.at(row, column).rpartition('!')[2]}"
        step, turned = _tagged(found[1], known, where)
        across = None
        for option in filter(None, map(str.strip, (found[2] or "").casefold().split("|"))):
            head = re.fullmatch(r"head\s*(\d+)", option)
            if head and step not in (WORDS, DIMENSIONS):
                step = f"{step}_{head[1]}"
            elif option in ("words across", "words down", "across", "down"):
                across = option.endswith("across")
            elif step == FORMULA and step_called(option, known):
                step = f"{FORMULA} {_tagged(option, known, where)[0]}"
            else:
                raise InputError(
                    f"{where}: {clean(value)} has the option {option!r}; give one of "
                    f"{', '.join(_OPTIONS)}."
                )
        place = Place(sheet.name, row, column, 0, 0)
        yield Title(sheet.name, row, column, column, clean(value), step, turned, place, across)


def _tagged(name: str, known: Mapping[str, str], where: str) -> tuple[str, bool]:
    if name.casefold() in (WORDS, DIMENSIONS, FORMULA):
        return name.casefold(), False
    found = step_called(name, known)
    if found is None:
        names = (*SPELLINGS, WORDS, DIMENSIONS, FORMULA)
        raise InputError(f"{where}: {{{{ {name} }}}} names no step. {nearest(name, names)}")
    return found


def names_of(drawn: DrawnBook, called: Mapping[str, str]) -> Iterator[Title]:
    """The defined names that are those of steps, with the ranges that they name."""
    sheets = {sheet.name.casefold(): sheet.name for sheet in drawn.sheets}
    for name, text in drawn.names.items():
        area = parse_area(text)
        own = name.rpartition("!")[2]
        named = step_called(own, called) or step_called(own.rpartition(".")[2], called)
        if area is None or named is None or (area[0] or "").casefold() not in sheets:
            continue
        top, left, bottom, right = area[1]
        place = Place(sheets[str(area[0]).casefold()], top, left, bottom - top + 1, right - left + 1)
        if place.rows * place.columns > 1:
            yield Title(place.sheet, top, left, left, f"the name {own}", *named, place)


def called_in(drawn: DrawnBook, known: Mapping[str, str] | None = None) -> dict[str, str]:
    """An author's own names for steps, those that `names_told` has and those that equations on the
    sheets use.

    Raises:
        InputError: if a table of names has one that is no step.
    """
    return spoken_in(drawn) | names_told(drawn, known)


def spoken_in(drawn: DrawnBook) -> dict[str, str]:
    """What the equations on the sheets call the steps: in lower case, with the steps."""
    texts = [text for sheet in drawn.sheets for text in sheet.values.values()]
    found = of_compared(texts) or of_recurrence(texts)
    letters = {text for text in texts if isinstance(text, str) and len(text) == 1}
    if {*"QKVS"} <= letters:
        found |= {"p": "Softmax", "o": "Output"}  # S = QKᵀ, P = softmax(S), O = PV
    if {*"XA"} <= letters and "y" not in letters:
        found["y"] = "Output"  # Y = A X
    return found


def names_told(drawn: DrawnBook, known: Mapping[str, str] | None = None) -> dict[str, str]:
    """An author's own names for steps, from a table of two columns headed `name` and `step`: in lower
    case, with the steps. Its cells count as blank for everything else. `known` are our names.

    Raises:
        InputError: if its right column names no step.
    """
    found: dict[str, str] = {}
    for sheet in drawn.sheets:
        for own, step, cells in _called(sheet.values):
            named = step_called(step, known or {})
            if named is None:
                where = f"{drawn.path}, {quoted(sheet.name)}!{address(*cells[-2])}"
                raise InputError(f"{where}: {step!r} is no step. {nearest(step, SPELLINGS)}")
            found[own] = named[0]
            for cell in cells:
                sheet.values.pop(cell, None)
            sheet.kept.clear()
    return found


def called_on(grids: Mapping[str, Grid]) -> dict[str, str]:
    """`called_in` sheets that are only read, where such a table may be about something else."""
    found: dict[str, str] = {}
    for grid in grids.values():
        values = {(i, j): value for i, row in enumerate(grid, 1) for j, value in enumerate(row, 1)}
        for own, step, _ in _called(values):
            named = step_called(step, {})
            found |= {own: named[0]} if named else {}
    return found


_HEADS_NAMES = re.compile(r"(?:(?:my|our|your|own|her|his|their)\s+)?names?", re.IGNORECASE)


def _called(values: Mapping[Cell, Any]) -> Iterator[tuple[str, str, list[Cell]]]:
    """The rows of a table headed `name` and `step`: the name in lower case, the step, and the cells,
    last those of the step and of the name."""
    heads = [
        (row, column)
        for (row, column), value in values.items()
        if isinstance(value, str)
        and value.strip().casefold() == "step"
        and _HEADS_NAMES.fullmatch(str(values.get((row, column - 1), "")).strip())
    ]
    for row, column in heads:
        cells = [(row, column), (row, column - 1)]
        while isinstance(own := values.get((row + 1, column - 1)), str) and own.strip():
            row += 1
            step = str(values.get((row, column), ""))
            yield own.strip().casefold(), step, [*cells, (row, column), (row, column - 1)]


def says_where(drawn: DrawnBook) -> bool:
    """Whether a workbook says where matrices go: it has a tag, titles of the input and of a step, or of
    three steps, in cells or as names of sheets."""
    steps = {title.step for sheet in drawn.sheets for title in titles_of(sheet, {})}
    steps |= {one[0] for sheet in drawn.sheets if (one := step_called(of_table(sheet.name), {}))}
    named = {re.sub(r"_\d+$", "", step.removeprefix("Enc1.")) for step in steps}
    tagged = any(
        isinstance(value, str) and _TAG.fullmatch(value)
        for sheet in drawn.sheets
        for value in sheet.values.values()
    )
    return tagged or len(named & SPELLINGS.keys()) + 2 * ("Input" in named) >= 3


def _is_title(page: Page, title: Title, places: Sequence[Box]) -> bool:
    """Whether a text is near one of some places, and no label of it."""
    near = (box for box in places if distance(title, *box) is not None)
    return any(not is_label(page, title, *box) for box in near)


def sheets_named(
    drawn: DrawnBook, pages: Mapping[str, Page], called: Mapping[str, str]
) -> Iterator[Title]:
    """The sheets that are named as a matrix and hold one, or one for each sentence: weights with the
    only table on a sheet, other matrices on a sheet without titles, in the cells that labels, or else
    borders or numbers, show."""
    for sheet in drawn.sheets:
        page, text = pages[sheet.name], f"the sheet {sheet.name!r}"
        step, named = weight_label(sheet.name), step_called(of_table(sheet.name), called)
        places = page.blocks if len(page.blocks) == 1 else []
        if named and not (step and page.blocks):
            step, _ = named
            places = page.labelled or page.blanks or page.blocks
            there = (title for title in titles_of(sheet, called) if title.step != "d_k")
            if any(_is_title(page, one, places) for one in there):
                continue
            if step == "Input" and len({columns for _, _, _, columns in places}) > 1:
                continue
        if step:
            for place in (Place(sheet.name, *box) for box in places):
                yield Title(sheet.name, place.row, place.column, place.column, text, step, False, place)

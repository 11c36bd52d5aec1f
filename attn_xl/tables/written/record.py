"""The record from which a workbook is read back: the lines of its sheet `Settings` and how to read
them. `workbook/layout/settings_sheet.py` writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from enum import Enum
from typing import Any

from attn_xl.settings import SETTINGS, Model, Settings

NOTE = "How this workbook was made. attn-xl reads it back by these lines: leave them as they are."
"""The first line of a record."""
NOT_KEPT = ("controls", "formulas", "random_weights", "hidden", "decimals")
SENTENCE, WEIGHTS, GIVEN, ANSWERS = "sentence", "weights", "given", "answers"
KEPT = "kept"
CONTROLS_LINE, LABELS = "controls", "labels"
NO_CHOICES = tuple(
    f"{kind} " for kind in (SENTENCE, WEIGHTS, GIVEN, ANSWERS, KEPT, LABELS, "lesson", "blank")
)
"""Prefixes of the lines of a record that are not settings."""


def drawn_before(number: int) -> str:
    """The name in the tables for the dropout mask number `number` that a workbook already has; no sheet
    of an input has such a name."""
    return f"DropoutMask#{number}"


def entered_name(name: str, sentence: str) -> str:
    """The name in the tables for values entered for a step of a sentence."""
    return f"{name}@{sentence}"


def chosen_lines(settings: Settings) -> Iterator[tuple[str, Any]]:
    """Yield the settings that differ from their defaults, as lines of a record."""
    for choice in fields(Settings):
        value = getattr(settings, choice.name)
        if choice.name in NOT_KEPT or value == choice.default:
            continue
        shown = value.value if isinstance(value, Enum) else value
        if isinstance(shown, bool):
            shown = "TRUE" if shown else "FALSE"
        yield choice.name.replace("_", "-"), shown


def model_lines(settings: Settings) -> dict[str, Any]:
    """The settings of the model itself that differ from their defaults: not of its learning, nor of how
    it is shown."""
    own = {"model"}
    for choice in fields(Settings):
        general = choice.metadata["models"] == tuple(Model)
        of_learning = choice.name == "steps" or choice.metadata["needs"] == ("steps",)
        if not general and not of_learning:
            own.add(choice.name.replace("_", "-"))
    return {name: value for name, value in chosen_lines(settings) if name in own}


def _is_record(grid: list[list[Any]]) -> bool:
    """Whether a sheet is a record, in any language: it says so, or has the title and lines of one."""
    if any(row and row[0] == NOTE for row in grid[:3]):
        return True
    lines = [str(row[0]) for row in grid[4:] if row]
    return bool(grid and grid[0] and grid[0][0] == SETTINGS) and any(
        line.startswith(NO_CHOICES) for line in lines
    )


def read_record(grids: Mapping[str, list[list[Any]]]) -> list[tuple[str, Any, str]] | None:
    """The lines (name, value, place) of a `Settings` sheet written by attn-xl; None if there is no
    such sheet."""
    grid = grids.get(SETTINGS)
    if grid is None or not _is_record(grid):
        return None
    lines = []
    for row in grid[4:]:
        name, value, place = (*row, "", "", "")[:3]
        if name != "":
            lines.append((str(name), value, str(place)))
    return lines

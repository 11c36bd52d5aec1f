"""Makes sheets as authors make them: titles, labels, bordered frames, numbers of the input, and as many
of the first formulas as asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
from engines import store_values
from openpyxl.styles import Border, Font, PatternFill, Side
from openpyxl.utils import get_column_letter as letter

PETS = ("mouse", "and", "cat", "are", "friends")
DESK = ("mouse", "or", "keyboard", "are", "useful")
DIMS = ("animal", "tech", "grammar")
STEPS = ("Scores", "Scaled", "Attention", "Output")
TITLES = {
    "Scores": "Scores = Input x Input^T",
    "Scaled": "Scaled = Scores / sqrt(d)",
    "Attention": "Attention = softmax(Scaled)",
    "Output": "Output = Attention x V",
}
EDGE = Border(*[Side("thin")] * 4)


def numbers(words: Sequence[str], dims: int = 3, seed: int = 1) -> np.ndarray:
    """Some embeddings, one word per row."""
    return np.random.default_rng(seed).integers(0, 30, (len(words), dims)) / 10


class AuthorSheet:
    """A sheet being made.

    Args:
        across: words stand in columns.
        labels, borders: what the frames have.
        titles: the titles of the steps; centered: whether they stand over the middle of their frames.
    """

    def __init__(
        self,
        sheet: Any,
        *,
        across: bool = False,
        labels: bool = True,
        borders: bool = True,
        titles: dict[str, str] | None = None,
        merged: bool = False,
        centered: bool = False,
    ) -> None:
        self.sheet, self.across, self.labels, self.borders = sheet, across, labels, borders
        self.titles, self.merged, self.centered = {**TITLES, **(titles or {})}, merged, centered

    def block(
        self,
        row: int,
        column: int,
        title: str,
        rows: Sequence[str],
        columns: Sequence[str],
        content: Any = None,
    ) -> tuple[int, int]:
        """A titled block at a cell; returns the cell of its first number. `content` is an array, or
        gives the number or formula of a cell by its row and column."""
        if self.across:
            rows, columns = columns, rows
        middle = self.centered * (1 + (len(columns) - 1) // 2)
        cell = self.sheet.cell(row, column + middle, title or None)
        cell.font = Font(bold=True, color="7A1F1F")
        if self.merged:
            self.sheet.merge_cells(
                start_row=row, end_row=row, start_column=column, end_column=column + len(columns)
            )
        top, left = row + 2, column + 1
        for r in range(len(rows)):
            for c in range(len(columns)):
                cell = self.sheet.cell(top + r, left + c)
                i, j = (c, r) if self.across else (r, c)
                if content is not None:
                    cell.value = (
                        float(content[i, j]) if isinstance(content, np.ndarray) else content(i, j)
                    )
                if self.borders:
                    cell.border = EDGE
        if self.labels:
            for r, text in enumerate(rows):
                self.sheet.cell(top + r, left - 1, text)
            for c, text in enumerate(columns):
                self.sheet.cell(top - 1, left + c, text)
        return top, left

    def sentence(
        self,
        row: int,
        column: int,
        words: Sequence[str],
        x: np.ndarray,
        *,
        done: Sequence[str] = (),
        titled: bool = True,
        dims: Sequence[str] = DIMS,
    ) -> dict[str, tuple[int, int]]:
        """An input with the frames of its steps below it; `done` lists those that hold formulas.
        Returns the first cell of each."""
        places = {"Input": self.block(row, column, "Input" if titled else "", words, dims, x)}
        for step in STEPS:
            high = len(dims) if self.across else len(words)
            row += (high if step == "Scores" else len(words)) + 4
            columns = dims if step == "Output" else words
            content = self._formula(step, places, len(words), len(dims)) if step in done else None
            title = self.titles[step] if titled else ""
            places[step] = self.block(row, column, title, words, columns, content)
        return places

    def _formula(self, step: str, places: dict[str, tuple[int, int]], n: int, d: int) -> Any:
        """The formula of a cell of a step, with words in rows."""
        (top, left), width = places["Input"], d

        def at(place: tuple[int, int], i: int, j: int) -> str:
            return f"${letter(place[1] + j)}${place[0] + i}"

        def scores(i: int, j: int) -> str:
            rows = [f"{at((top, left), k, 0)}:{at((top, left), k, width - 1)}" for k in (i, j)]
            return f"=SUMPRODUCT({rows[0]},{rows[1]})"

        def scaled(i: int, j: int) -> str:
            return f"={at(places['Scores'], i, j)}/SQRT({d})"

        def attention(i: int, j: int) -> str:
            row = [f"EXP({at(places['Scaled'], i, k)})" for k in range(n)]
            return f"={row[j]}/({'+'.join(row)})"

        def output(i: int, j: int) -> str:
            return "=" + "+".join(
                f"{at(places['Attention'], i, k)}*{at((top, left), k, j)}" for k in range(n)
            )

        assert not self.across, "formulas are made for words in rows"
        return {"Scores": scores, "Scaled": scaled, "Attention": attention, "Output": output}[step]


def without_scaled(words: Sequence[str], x: np.ndarray | None = None) -> Any:
    """A workbook with an input in C4, and blank frames for its scores, weights and outputs from row 11
    on, seven rows apart."""
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", words, DIMS, numbers(words) if x is None else x)
    for n, step in enumerate(("Scores", "Softmax", "Output")):
        sheet.block(9 + 7 * n, 2, step, words, DIMS if step == "Output" else words)
    return made


def saved(book: Any, path: Path) -> Path:
    """The workbook with the values of its formulas, as a spreadsheet program saves it."""
    book.save(path)
    return store_values(path)


def two_contexts(path: Path, left: Sequence[str], right: Sequence[str] = (), **looks: Any) -> Path:
    """Two sentences side by side; `left` and `right` list the steps that hold formulas."""
    titled = looks.pop("titled", True)
    book = openpyxl.Workbook()
    sheet = AuthorSheet(book.active, **looks)
    book.active.title = "Attention"
    book.active["B1"] = "Day 24 - Transformers in Excel"
    book.active["B1"].fill = PatternFill("solid", "EEEEEE")
    sheet.sentence(4, 2, PETS, numbers(PETS), done=left)
    sheet.sentence(4, 10, DESK, numbers(DESK, seed=2), done=right, titled=titled)
    return saved(book, path)

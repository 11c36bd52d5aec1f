"""Matrices as JSON and CSV, in full precision unless `decimals` is given."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from attn_xl.models.computation import Computation
from attn_xl.spreadsheets.text_files import harmless
from attn_xl.text import as_json

from .selection import SelectedMatrix, select


def to_json(
    computation: Computation,
    *,
    steps: Sequence[str] = (),
    sheet: str | None = None,
    decimals: int | None = None,
) -> str:
    """A JSON object of the selected matrices by name (`pets.Softmax`): each with its `sheet`, `step`,
    `formula`, `rows`, `columns` and `values`, a list of rows.

    Raises:
        CallError: for an unknown step or sheet.
    """
    matrices = {
        one.title: {
            "sheet": one.sheet or None,
            "step": one.name,
            "formula": one.node.words or None,
            "note": one.node.note or None,
            "rows": list(one.node.rows),
            "columns": list(one.node.columns),
            "values": _values(one, decimals),
        }
        for one in select(computation, steps, sheet)
    }
    return as_json(matrices)


def to_csv(
    computation: Computation,
    *,
    steps: Sequence[str] = (),
    sheet: str | None = None,
    decimals: int | None = None,
) -> str:
    """The selected matrices as CSV tables: the name in the corner, column labels in the first line, row
    labels in the first column, an empty line between tables. Labels are escaped so that no spreadsheet
    program reads one as a formula.

    Raises:
        CallError: for an unknown step or sheet.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for number, one in enumerate(select(computation, steps, sheet)):
        if number:
            text.write("\n")
        writer.writerow(map(harmless, (one.title, *one.node.columns)))
        for label, values in zip(one.node.rows, _values(one, decimals)):
            writer.writerow([harmless(label), *(map(harmless, values) if one.node.texts else values)])
    return text.getvalue()


def _values(one: SelectedMatrix, decimals: int | None) -> Any:
    if one.node.texts:
        return [[text] for text in one.node.texts]
    rows = one.node.values.tolist()
    if decimals is None:
        return rows
    # numpy's `round` multiplies by a power of ten first, which makes large numbers infinite.
    return [[round(value, decimals) for value in row] for row in rows]

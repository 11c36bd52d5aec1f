"""Makes the sample inputs: python samples/make_samples.py

They are ordinary workbooks, as a teacher would type them.
"""

from __future__ import annotations

from pathlib import Path

from openpyxl import Workbook
from openpyxl.styles import Font

HERE = Path(__file__).parent
Row = list[str | float]

# The subject's worked example: mouse is an animal with one company, a device with another.
MOUSE: dict[str, list[Row]] = {
    "cat": [
        ["", "animal", "tech", "grammar"],
        ["mouse", 2.0, 1.9, 0.1],
        ["and", 0.1, 0.1, 1.6],
        ["cat", 2.6, 0.1, 0.1],
        ["are", 0.1, 0.1, 1.5],
        ["friends", 0.5, 0.2, 0.3],
    ],
    "keyboard": [
        ["", "animal", "tech", "grammar"],
        ["mouse", 2.0, 1.9, 0.1],
        ["or", 0.1, 0.1, 1.6],
        ["keyboard", 0.1, 2.6, 0.1],
        ["are", 0.1, 0.1, 1.5],
        ["useful", 0.2, 0.5, 0.3],
    ],
}

# Learned projections: queries and keys of width 2, values of width 4, embeddings of width 3.
PROJECTIONS: dict[str, list[Row]] = {
    "sentence": [
        ["", "animal", "action", "place"],
        ["the", 0.1, 0.0, 0.1],
        ["cat", 1.0, 0.2, 0.0],
        ["sat", 0.1, 1.0, 0.2],
        ["on", 0.0, 0.1, 0.6],
        ["mats", 0.0, 0.1, 1.0],
    ],
    "W_Q": [["", "q1", "q2"], ["animal", 1, 0], ["action", 0, 2], ["place", 1, 1]],
    "W_K": [["", "k1", "k2"], ["animal", 0, 2], ["action", 1, 0], ["place", 1, 1]],
    "W_V": [
        ["", "v1", "v2", "v3", "v4"],
        ["animal", 1, 0, 0, 1],
        ["action", 0, 1, 0, -1],
        ["place", 0, 0, 1, 1],
    ],
}

# Five words in two principal components of pre-trained word vectors.
POLITICS: dict[str, list[Row]] = {
    "politics": [
        ["", "x", "y"],
        ["florida", -2.40062016, 0.00478901],
        ["california", -2.54245794, -0.37579669],
        ["texas", -2.24764634, -0.12963368],
        ["politics", 3.02004564, 2.88826688],
        ["truth", 4.17067881, -2.38762552],
    ]
}


def make(name: str, sheets: dict[str, list[Row]]) -> None:
    book = Workbook()
    book.remove(book.worksheets[0])
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
        for cell in (*sheet[1], *sheet["A"]):
            cell.font = Font(bold=True)
        sheet.freeze_panes = "B2"
        sheet.column_dimensions["A"].width = 14
    book.save(HERE / f"{name}.xlsx")


if __name__ == "__main__":
    make("mouse", MOUSE)
    make("projections", PROJECTIONS)
    make("politics", POLITICS)

"""Makes the templates that are figures: python templates/make_figures.py

Each is an ordinary sheet with titled, blank frames, as an author draws it; `attn-xl fill` completes it,
and `attn-xl convert FILE --template NAME` puts other words into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from openpyxl import Workbook
from openpyxl.formatting.rule import ColorScaleRule
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.utils import get_column_letter as letter
from openpyxl.worksheet.properties import PageSetupProperties

from attn_xl.workbook.xlsx.package import save

HERE = Path(__file__).parent
INK, MUTED, LINE, BLUE, PALE = "16212B", "66727E", "D3D9DF", "1D5AA6", "EAF2FB"
LOW, HIGH = "EFF6F5", "0F766E"
NUMBER = "_-0.00_-;-0.00_-"
PETS: dict[str, tuple[float, ...]] = {
    "mouse": (2, 1.9, 0.1), "and": (0.1, 0.1, 1.6), "cat": (2.6, 0.1, 0.1), "are": (0.1, 0.1, 1.5),
    "friends": (0.5, 0.2, 0.3),
}  # fmt: skip
DESK: dict[str, tuple[float, ...]] = {
    "mouse": (2, 1.9, 0.1), "or": (0.1, 0.1, 1.6), "keyboard": (0.1, 2.6, 0.1), "are": (0.1, 0.1, 1.5),
    "useful": (0.2, 0.5, 0.3),
}  # fmt: skip
DIMS = ("animal", "tech", "grammar")
Numbers = Sequence[Sequence[float]]


@dataclass
class Figure:
    """A sheet being drawn; rows and columns count from 1."""

    title: str
    note: str
    landscape: bool = False
    settings: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.book = Workbook()
        self.sheet = self.book.worksheets[0]
        self.sheet.title = "Figure"
        self.text(2, 2, self.title, 18, bold=True)
        self.text(3, 2, self.note, 11, color=MUTED)
        self.widths = {1: 2.0}

    def text(
        self, row: int, column: int, text: str, size: float, *, bold: bool = False, color: str = INK,
        centred: bool = False,
    ) -> None:  # fmt: skip
        cell = self.sheet.cell(row, column, text)
        cell.font = Font(name="Arial", size=size, bold=bold, color=color)
        if centred:
            cell.alignment = Alignment("center")

    def frame(
        self,
        row: int,
        column: int,
        title: str,
        rows: Sequence[str],
        columns: Sequence[str],
        numbers: Numbers | None = None,
        *,
        attention: bool = False,
        labels: bool = True,
        note: str = "",
    ) -> None:
        """A title at a cell, with a note beside it; its numbers begin two rows below, one column to the
        right."""
        self.text(row, column, title, 11, bold=True)
        if note:
            self.text(row + 1, column, note, 8, color=MUTED)
        for n, label in enumerate(columns):
            self.text(row + 1, column + 1 + n, label, 8, color=MUTED, centred=True)
            self.widths[column + 1 + n] = 8.4
        self.widths.setdefault(column, 11.0 if labels else 2.5)
        for n, label in enumerate(rows):
            if labels:
                self.text(row + 2 + n, column, label, 9, bold=True)
            for m in range(len(columns)):
                cell = self.sheet.cell(row + 2 + n, column + 1 + m)
                given = numbers is not None
                if numbers is not None:
                    cell.value = numbers[n][m]
                cell.font = Font(name="Arial", size=10, color=BLUE if given else INK)
                cell.alignment, cell.number_format = Alignment("center"), NUMBER
                edge = Side("medium", color="FFFFFF") if given or attention else None
                cell.border = Border(edge, edge, edge, edge or Side("thin", color=LINE))
                if given or attention:
                    cell.fill = PatternFill("solid", PALE if given else LOW)
        if attention:
            last = f"{letter(column + len(columns))}{row + 1 + len(rows)}"
            place = f"{letter(column + 1)}{row + 2}:{last}"
            scale = ColorScaleRule("num", 0, LOW, "num", 1, HIGH)
            self.sheet.conditional_formatting.add(place, scale)
            for line in self.sheet[place]:
                for cell in line:
                    cell.number_format = "0.00"

    def save(self, name: str) -> None:
        sheet = self.sheet
        for column, width in self.widths.items():
            sheet.column_dimensions[letter(column)].width = width
        sheet.sheet_view.showGridLines = False
        sheet.page_setup.orientation = "landscape" if self.landscape else "portrait"
        sheet.page_setup.paperSize, sheet.page_setup.fitToHeight = sheet.PAPERSIZE_A4, 1
        sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
        sheet.print_options.horizontalCentered = True
        if self.settings:
            options = self.book.create_sheet("Settings")
            for line in self.settings.items():
                options.append(line)
        self.book.properties.created = self.book.properties.modified = datetime(1980, 1, 1)
        save(self.book, HERE / f"{name}.xlsx", {})


def one_sentence() -> None:
    """Each word keeps its row from the input to the output."""
    figure = Figure("Attention, word by word", "Read each row from left to right.", landscape=True)
    words, x = [*PETS], [*PETS.values()]
    column = 2
    for title, columns, numbers in (
        ("Input", DIMS, x),
        ("Scores = Input × Inputᵀ", words, None),
        ("Scaled = Scores / √d", words, None),
        ("Attention = softmax(Scaled)", words, None),
        ("Output = Attention × Input", DIMS, None),
    ):
        first = column == 2
        attention = title.startswith("Attention")
        figure.frame(5, column, title, words, columns, numbers, attention=attention, labels=first)
        column += len(columns) + 1
    figure.save("one-sentence")


def two_contexts() -> None:
    figure = Figure("One word, two contexts: mouse", "Left and right, only the neighbours differ.")
    for column, sentence in ((2, PETS), (9, DESK)):
        words = [*sentence]
        row = 5
        for title, columns, numbers in (
            ("Input", DIMS, [*sentence.values()]), ("Scores = Input × Inputᵀ", words, None),
            ("Scaled = Scores / √d", words, None), ("Attention = softmax(Scaled)", words, None),
            ("Output = Attention × Input", DIMS, None),
        ):  # fmt: skip
            attention = title.startswith("Attention")
            figure.frame(row, column, title, words, columns, numbers, attention=attention)
            row += len(words) + 3
    figure.save("two-contexts")


def learned_weights() -> None:
    figure = Figure("Queries, keys and values", "Learned weights decide who looks at whom.")
    words, kinds = [*PETS], ("q", "k", "v")
    figure.frame(5, 2, "Input", words, DIMS, [*PETS.values()])
    weights = (
        ((1, 0), (0, 1), (0.5, 0.5)), ((0, 1), (1, 0), (0.5, -0.5)), ((1, 0), (0, 1), (0, 0)),
    )  # fmt: skip
    for n, kind in enumerate(kinds):
        labels = [f"{kind}1", f"{kind}2"]
        figure.frame(13, 2 + 5 * n, f"W_{kind.upper()}", DIMS, labels, weights[n])
        made = f"{kind.upper()} = Input × W_{kind.upper()}"
        figure.frame(19, 2 + 5 * n, made, words, labels)
    figure.frame(27, 2, "Scaled = Q Kᵀ / √d_k", words, words)
    figure.frame(27, 9, "Attention = softmax(Scaled)", words, words, attention=True)
    figure.frame(35, 2, "Output = Attention × V", words, ["v1", "v2"])
    figure.save("learned-weights")


def two_heads() -> None:
    figure = Figure("Two heads", "Each head looks for something else; W_O mixes what they find.")
    words = [*PETS]
    figure.frame(5, 2, "Input", words, DIMS, [*PETS.values()])
    for head, left in ((1, 2), (2, 13)):
        for n, kind in enumerate("QKV"):
            own = [f"{kind.lower()}1", f"{kind.lower()}2"]
            numbers = [[float((i + n + head) % 3 == j) for j in range(2)] for i in range(3)]
            column = left + 3 * n
            figure.frame(13, column, f"W_{kind}_{head}", DIMS, own, numbers, labels=not n)
            figure.frame(19, column, f"{kind}_{head}", words, own, labels=not n)
        softmax = f"Softmax_{head} = softmax(Q Kᵀ / √d_k)"
        figure.frame(27, left, softmax, words, words, attention=True)
        figure.frame(35, left, f"Output_{head} = Softmax × V", words, ["v1", "v2"])
    figure.frame(43, 2, "Concat", words, ["a1", "a2", "b1", "b2"])
    mixed = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]]
    figure.frame(43, 13, "W_O", ["a1", "a2", "b1", "b2"], DIMS, mixed)
    figure.frame(51, 2, "Output = Concat × W_O", words, DIMS)
    figure.save("two-heads")


def dot_product() -> None:
    words = {
        "florida": (2.1, 1.2), "california": (1.9, 1.6), "texas": (2.2, 0.7), "politics": (0.4, 2.3),
        "truth": (-0.8, 1.1),
    }  # fmt: skip
    settings = {"model": "similarity"}
    figure = Figure("How alike are two words?", "Their dot product, and their angle.", True, settings)
    names = [*words]
    figure.frame(5, 2, "Input", names, ["x", "y"], [*words.values()])
    figure.frame(5, 6, "Magnitude", names, ["length"])
    figure.frame(5, 9, "Dot = Input × Inputᵀ", names, names)
    figure.frame(13, 2, "Cosine = Dot / lengths", names, names)
    figure.frame(13, 9, "Angle", names, names)
    figure.save("dot-product")


def encoder_block() -> None:
    settings = {"model": "encoder", "layers": "1", "random-weights": "1"}
    note = "Attention, then a network for each word; each with a skip connection and a norm."
    figure = Figure("An encoder block", note, settings=settings)
    words = [*PETS]
    figure.frame(5, 2, "Input", words, DIMS, [*PETS.values()])
    figure.frame(13, 2, "Attention = softmax(Q × Kᵀ / √d_k)", words, words, attention=True)
    figure.frame(13, 9, "Output = Attention × V", words, DIMS)
    figure.frame(21, 2, "Add 1 = Input + Output × W_O", words, DIMS)
    figure.frame(21, 9, "Norm 1 = norm(Add 1)", words, DIMS)
    figure.frame(29, 2, "Feed forward = ReLU(Norm 1 × W_1 + b_1) × W_2 + b_2", words, DIMS)
    figure.frame(37, 2, "Add 2 = Norm 1 + Feed forward", words, DIMS)
    figure.frame(37, 9, "Norm 2 = norm(Add 2)", words, DIMS)
    figure.save("encoder-block")


if __name__ == "__main__":
    for make in (one_sentence, two_contexts, learned_weights, two_heads, dot_product, encoder_block):
        make()

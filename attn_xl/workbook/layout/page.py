"""Texts, charts, drop-downs and tints: frozen records of everything on a sheet but its matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from attn_xl.records import record
from attn_xl.spreadsheets.addresses import Place


@record(frozen=True)
class Cell:
    """A cell that belongs to no matrix.

    Attributes:
        row, column: from 1.
        value: the text or number; the result of the formula, if there is one; None for an empty cell.
        formula: without the equals sign; "" for none.
        style: one of the template's named styles.
        open: it can be edited on a protected sheet.
        wrap: its text wraps onto several lines.
        number_format, align: override those of the style.
        indent: from the edge that the text is aligned to.
        link: the sheet that it links to; link_cell: the cell there.
        across: the number of columns it spans.
        like: the defined name of the matrix whose number it repeats, with its number format.
        shows: the row and column of that number, from 0.
        large: a sign, printed larger than text.
        turned: its text runs upwards.
        edges: the sides with a frame's line, `lt` for left and top.
    """

    row: int
    column: int
    value: float | str | None = None
    formula: str = ""
    style: str = "attn note"
    open: bool = False
    wrap: bool = False
    number_format: str = ""
    align: Literal["", "left", "center", "right"] = ""
    indent: int = 0
    link: str = ""
    link_cell: str = "A1"
    across: int = 1
    like: str = ""
    shows: tuple[int, int] = (0, 0)
    large: bool = False
    turned: bool = False
    edges: str = ""


@dataclass(frozen=True)
class Choice:
    """A drop-down list on some cells, or a prompt that appears when one of them is selected.

    Attributes:
        range: the cells, `B5` or `B5:D8`.
        options: the list, or a formula for it (`=pets.Words`); "" for none.
        title, prompt: shown when one of the cells is selected.
    """

    range: str
    options: str = ""
    title: str = ""
    prompt: str = ""


@dataclass(frozen=True)
class Tint:
    """A style that cells take on while a formula, written for the first cell of `range`, is true."""

    range: str
    formula: str
    style: str


class Scale(NamedTuple):
    """A colour scale on some cells, from 0 to `end`; a diverging one from minus `end` to `end`."""

    range: str
    end: float = 1.0
    diverging: bool = False


@dataclass(frozen=True)
class Heat:
    """A colour scale on some cells while a condition, with absolute references, is true."""

    range: str
    formula: str


@dataclass(frozen=True)
class Series:
    """A series of a chart, with its present numbers, so that a preview can draw them.

    Attributes:
        title: its name in the legend, or beside its points.
        values: the cells of the numbers (y, in a scatter chart).
        labels: the cells of the categories (x, in a scatter chart).
        numbers, names: the present contents of those cells.
        labelled: whether a scatter chart shows the title above the last point.
    """

    title: str
    values: Place
    labels: Place
    numbers: tuple[float | None, ...]
    names: tuple[str | float | None, ...]
    labelled: bool = True


def share_labels(series: Sequence[Series]) -> tuple[Series, ...]:
    """The series of a scatter chart; those whose last points nearly coincide share the first
    one's label."""
    width, height = (share * _spread(series, of) for share, of in ((0.12, "names"), (0.05, "numbers")))
    shared: list[Series] = []
    for one in series:
        x, y = one.names[-1], one.numbers[-1]
        for number, other in enumerate(shared):
            if (
                other.labelled
                and _near(x, other.names[-1], width)
                and _near(y, other.numbers[-1], height)
            ):
                shared[number] = replace(other, title=f"{other.title}, {one.title}")
                one = replace(one, labelled=False)
                break
        shared.append(one)
    return tuple(shared)


def _spread(series: Sequence[Series], of: str) -> float:
    numbers = [n for s in series for n in getattr(s, of) if isinstance(n, float)]
    return max(numbers, default=0.0) - min(numbers, default=0.0)


def _near(one: str | float | None, other: str | float | None, most: float) -> bool:
    return isinstance(one, float) and isinstance(other, float) and abs(one - other) < most


@dataclass(frozen=True)
class Chart:
    """A native chart.

    Attributes:
        kind: bars, a line through one number for each label, pairs of points joined by an arrow
            (`moves`), or points.
        row, column: the cell of its top left corner.
        width, height: in centimetres.
        legend: whether there is a legend.
        most: the end of the axis of numbers, which then begins at 0; 0 leaves it to the program.
        reach: both axes go from -reach to reach, so that angles look as they are; 0 leaves them.
        colours: of the series, in place of the usual ones.
        bare: whether it has no axis of numbers, no lines and no border, since its numbers stand above
            it and, if it has one series, on its bars.
    """

    kind: Literal["bars", "line", "moves", "points"]
    title: str
    row: int
    column: int
    series: tuple[Series, ...]
    x_title: str = ""
    y_title: str = ""
    width: float = 15.0
    height: float = 8.0
    legend: bool = True
    most: float = 0.0
    reach: float = 0.0
    colours: tuple[str, ...] = ()
    bare: bool = False


NOTHING = "A1048576"
"""The print area of a sheet for the screen: a blank cell, for which no program prints a page."""


@dataclass(frozen=True)
class Extras:
    """Everything on a sheet but its matrices.

    Attributes:
        widths: of columns, in characters; heights: of rows, in points. Others are computed.
        row_height: of all other rows, in points; 0 for the template's own.
        scales: colour scales; heats: those that come after the tints.
        canvas: the sheet is a picture, printed on as few readable pages as possible; `widths` are
            minimums.
        starts: the rows before which a page break is allowed; sections: those that begin a layer or a
            sentence.
        zoom: in percent; 0 for the template's own.
        print_to: the print area, `A1:F20`; all cells if "", no page if `NOTHING`.
        freeze: the first cell that scrolls, `D5`.
        hidden: the sheet is neither shown nor printed.
        again: the picture has the steps of an earlier one once more; if it needs many pages, only the
            first is printed.
    """

    cells: Sequence[Cell] = ()
    charts: tuple[Chart, ...] = ()
    choices: tuple[Choice, ...] = ()
    tints: tuple[Tint, ...] = ()
    widths: dict[int, float] = field(default_factory=dict)
    heights: dict[int, float] = field(default_factory=dict)
    row_height: float = 0.0
    scales: tuple[Scale, ...] = ()
    heats: tuple[Heat, ...] = ()
    canvas: bool = False
    starts: tuple[int, ...] = ()
    sections: tuple[int, ...] = ()
    zoom: int = 0
    print_to: str = ""
    freeze: str = ""
    hidden: bool = False
    again: bool = False

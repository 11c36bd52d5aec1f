"""What stands on a sheet besides its matrices: texts, charts, drop-downs, tints. Frozen records that
know no file format."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from attn_xl.spreadsheets.addresses import Place


@dataclass(frozen=True)
class Cell:
    """A cell that belongs to no matrix.

    Attributes:
        row, column: from 1.
        value: what it shows; with a formula, what the formula gives; None for an empty cell.
        formula: without the equals sign; "" for none.
        style: one of the template's named styles.
        open: it may be edited where its sheet is protected.
        wrap: its text takes several lines.
        number_format, align: where they are not the style's own.
        indent: how far from the edge that it is aligned to.
        link: the sheet to go to.
        across: how many columns it spans.
        like: the defined name of the matrix whose number it repeats, which is shown as it is there.
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
    across: int = 1
    like: str = ""


@dataclass(frozen=True)
class Choice:
    """A cell with a list to choose from, or with a text that is shown when it is selected.

    Attributes:
        range: the cells, `B5` or `B5:D8`.
        options: the words to choose from, or a formula (`=cat.Words`); "" for none.
        title, prompt: shown when a cell of it is selected.
    """

    range: str
    options: str = ""
    title: str = ""
    prompt: str = ""


@dataclass(frozen=True)
class Tint:
    """A look that a cell takes on while a formula, written for the first cell of `range`, is true."""

    range: str
    formula: str
    style: str


Side = Literal["t", "r", "b", "l", ""]
"""Where a label stands: above its point, to the right, below, to the left; "" for nowhere."""


@dataclass(frozen=True)
class Series:
    """Numbers of a chart, with what they are now, so that a preview can draw them.

    Attributes:
        title: its name in the legend, or beside its points.
        values: where the numbers stand (a scatter's y).
        labels: where the categories stand, or a scatter's x.
        numbers, names: what stands there now.
        label: where, in a scatter, the title stands beside the last point.
    """

    title: str
    values: Place
    labels: Place
    numbers: tuple[float | None, ...]
    names: tuple[str | float | None, ...]
    label: Side = "t"


@dataclass(frozen=True)
class Chart:
    """A native chart.

    Attributes:
        kind: bars, points that are joined in pairs by an arrow (`moves`), or points.
        row, column: the cell of its top left corner.
        width, height: in centimetres.
        legend: whether the series are named beside the chart.
    """

    kind: Literal["bars", "moves", "points"]
    title: str
    row: int
    column: int
    series: tuple[Series, ...]
    x_title: str = ""
    y_title: str = ""
    width: float = 15.0
    height: float = 8.0
    legend: bool = True


@dataclass(frozen=True)
class Extras:
    """All that a sheet has besides its matrices.

    Attributes:
        widths: of columns, in characters; heights: of rows, in points, where they are not worked out.
        row_height: of all other rows, in points; 0 for the template's own.
        canvas: it is one picture, on one page unless it is long; `widths` are the least there.
        zoom: in percent; 0 for the template's own.
        print_to: the cells that are printed, `A1:F20`; all if "".
        freeze: what is above and to the left of this cell stays in sight, `D5`.
    """

    cells: tuple[Cell, ...] = ()
    charts: tuple[Chart, ...] = ()
    choices: tuple[Choice, ...] = ()
    tints: tuple[Tint, ...] = ()
    widths: dict[int, float] = field(default_factory=dict)
    heights: dict[int, float] = field(default_factory=dict)
    row_height: float = 0.0
    canvas: bool = False
    zoom: int = 0
    print_to: str = ""
    freeze: str = ""

"""Adds native charts to a sheet."""

from __future__ import annotations

from typing import Any

from openpyxl.chart import BarChart, Reference, ScatterChart
from openpyxl.chart import Series as make_series
from openpyxl.chart.data_source import (
    AxDataSource,
    NumData,
    NumDataSource,
    NumRef,
    NumVal,
    StrData,
    StrRef,
    StrVal,
)
from openpyxl.chart.label import DataLabelList
from openpyxl.chart.marker import Marker
from openpyxl.chart.series import DataPoint, SeriesLabel
from openpyxl.chart.shapes import GraphicalProperties
from openpyxl.drawing.line import LineEndProperties, LineProperties
from openpyxl.drawing.text import CharacterProperties, ParagraphProperties

from attn_xl.spreadsheets.addresses import address
from attn_xl.workbook.layout.page import Chart, Series, Side

from .rows import spreadsheet_text

COLOURS = ("0072B2", "E69F00", "009E73", "CC79A7", "56B4E9", "D55E00", "8C8C3A", "666666")
"""Distinguishable for colour-blind readers: Okabe and Ito, "Color Universal Design" (2008)."""
TITLE_SIZE = 1200  # hundredths of a point
MARKS = ("circle", "square", "diamond", "triangle")


def add_chart(ws: Any, chart: Chart) -> None:
    """Add a chart to a sheet."""
    made: Any = BarChart() if chart.kind == "bars" else ScatterChart()
    made.title, made.width, made.height = chart.title, chart.width, chart.height
    made.title.overlay = False
    bold = CharacterProperties(sz=TITLE_SIZE, b=True)
    for paragraph in made.title.tx.rich.paragraphs:
        paragraph.pPr = ParagraphProperties(defRPr=bold)
        for run in paragraph.r:
            run.rPr = bold
    if chart.kind != "bars":
        made.style = 13
        made.scatterStyle = "lineMarker"
        made.varyColors = False
    made.legend = made.legend if chart.legend else None
    if made.legend is not None:
        made.legend.position = "b"
    made.x_axis.title, made.y_axis.title = chart.x_title or None, chart.y_title or None
    for axis in (made.x_axis, made.y_axis):
        axis.delete = False  # openpyxl leaves them out otherwise
        axis.number_format = "General"
    made.y_axis.majorGridlines.spPr = GraphicalProperties(ln=LineProperties(solidFill="D9D9D9"))
    if chart.kind == "bars":
        made.gapWidth = 60
        made.x_axis.tickLblPos = "low"
    else:
        made.x_axis.majorGridlines = None
        made.x_axis.tickLblPos = made.y_axis.tickLblPos = "low"
    for number, series in enumerate(chart.series):
        made.series.append(_series(chart, series, number))
    ws.add_chart(made, address(chart.row, chart.column))


def _series(chart: Chart, series: Series, number: int) -> Any:
    colour = COLOURS[number % len(COLOURS)]
    made: Any = make_series(Reference(range_string="Sheet!$A$1"), title=series.title)
    made.tx = SeriesLabel(v=spreadsheet_text(series.title))
    numbers = NumDataSource(NumRef(f=series.values.absolute, numCache=_number_cache(series.numbers)))
    if chart.kind == "bars":
        names = StrData(
            ptCount=len(series.names),
            pt=[
                StrVal(idx=i, v=spreadsheet_text(str(name)))
                for i, name in enumerate(series.names)
                if name is not None
            ],
        )
        made.val, made.cat = (
            numbers,
            AxDataSource(strRef=StrRef(f=series.labels.absolute, strCache=names)),
        )
        made.graphicalProperties = GraphicalProperties(solidFill=colour)
        made.invertIfNegative = False
        return made
    x = tuple(name if isinstance(name, float) else None for name in series.names)
    made.val = made.cat = None
    made.yVal = numbers
    made.xVal = AxDataSource(numRef=NumRef(f=series.labels.absolute, numCache=_number_cache(x)))
    made.smooth = False
    made.marker = Marker(symbol=MARKS[number // len(COLOURS) % len(MARKS)], size=8)
    made.marker.graphicalProperties = _dot(colour, filled=True)
    line = LineProperties(noFill=True)
    if chart.kind == "moves":
        line = LineProperties(solidFill=colour, w=15875, tailEnd=LineEndProperties(type="triangle"))
        made.dPt = [
            DataPoint(
                idx=0,
                marker=Marker(symbol="circle", size=6, spPr=_dot(colour, filled=False)),
                spPr=_dot(colour, filled=False),
            )
        ]
    made.graphicalProperties = GraphicalProperties(ln=line)
    last = len(series.numbers) - 1
    made.dLbls = _named_at(last, series.label)
    return made


def _dot(colour: str, *, filled: bool) -> GraphicalProperties:
    return GraphicalProperties(
        solidFill=colour if filled else "FFFFFF", ln=LineProperties(solidFill=colour)
    )


def _named_at(point: int, side: Side) -> DataLabelList:
    """A label with the series' name beside one of its points, which every program can show."""
    from openpyxl.chart.label import DataLabel

    shown = {"showVal": False, "showSerName": True, "showCatName": False, "showLegendKey": False,
             "showPercent": False}  # fmt: skip
    hidden = {**shown, "showSerName": False}
    labels = [DataLabel(idx=point, dLblPos=side, **shown)] if side else []
    return DataLabelList(dLbl=labels, **hidden)


def _number_cache(numbers: tuple[float | None, ...]) -> NumData:
    points = [_point(i, n) for i, n in enumerate(numbers) if n is not None]
    return NumData(formatCode="General", ptCount=len(numbers), pt=points)


def _point(index: int, number: float) -> Any:
    made: Any = NumVal(idx=index, v=number)
    made.__dict__["v"] = repr(number)  # openpyxl would write only 16 digits
    return made

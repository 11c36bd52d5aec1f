"""Adds native charts to a sheet."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from openpyxl.chart import AreaChart, BarChart, LineChart, Reference, ScatterChart
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
from openpyxl.chart.layout import Layout, ManualLayout
from openpyxl.chart.marker import Marker
from openpyxl.chart.series import DataPoint, SeriesLabel
from openpyxl.chart.shapes import GraphicalProperties
from openpyxl.chart.text import RichText
from openpyxl.drawing.line import LineEndProperties, LineProperties
from openpyxl.drawing.text import (
    CharacterProperties,
    Font,
    Paragraph,
    ParagraphProperties,
    RegularTextRun,
    RichTextProperties,
)
from openpyxl.xml.functions import tostring

from attn_xl.spreadsheets.addresses import Place, address
from attn_xl.workbook.layout.page import Chart, Series

from .package import WrittenChart
from .rows import escaped, spreadsheet_text

COLOURS = ("0072B2", "E69F00", "009E73", "CC79A7", "56B4E9", "D55E00", "8C8C3A", "666666")
"""Distinguishable for colour-blind readers: Okabe and Ito, "Color Universal Design" (2008)."""
INK = "16212B"
TITLE_SIZE, TEXT_SIZE = 900, 800  # hundredths of a point
BY_LABEL = {"bars": BarChart, "line": LineChart, "ribbons": AreaChart}
"""The charts with a label for each number."""
MARKS = ("circle", "square", "diamond", "triangle")


_MARK = "\ufdd0"  # a noncharacter of Unicode, which no text has
_HOLE = re.compile(f"{_MARK}([0-9]+){_MARK}".encode())


class _Cells(NamedTuple):
    """Cells that a chart refers to."""

    absolute: str


def add_chart(ws: Any, chart: Chart) -> None:
    """Add a chart to a sheet."""
    contents: list[bytes] = []

    def hole(content: Any) -> Any:
        """What stands in a template in place of a number or a text."""
        number = len(contents)
        if isinstance(content, float):
            contents.append(repr(content).encode())
            return float(number)
        if not content:
            return content
        contents.append(escaped(spreadsheet_text(content)).encode())
        return f"{_MARK}{number}{_MARK}"

    def cells(place: Place) -> Any:
        return _Cells(hole(place.absolute))

    series = tuple(
        replace(
            one,
            title=hole(one.title),
            values=cells(one.values),
            labels=cells(one.labels),
            numbers=tuple(map(hole, one.numbers)),
            names=tuple(map(hole, one.names)),
        )
        for one in chart.series
    )
    titles = " → ".join(map(hole, chart.title.split(" → "))), hole(chart.x_title), hole(chart.y_title)
    plain = Chart(
        chart.kind, titles[0], 1, 1, series, *titles[1:], 1, 1, chart.legend, chart.most, chart.reach,
        chart.colours, chart.bare,
    )  # fmt: skip
    texts = _template(plain)
    written = [contents[int(text)] if at % 2 else text for at, text in enumerate(texts)]
    ws.add_chart(
        WrittenChart(b"".join(written), chart.width, chart.height), address(chart.row, chart.column)
    )


@lru_cache(maxsize=64)
def _template(chart: Chart) -> list[bytes]:
    """The XML of a chart whose texts and numbers are numbers of holes: text, hole, text, and so on.
    Most charts of a workbook, and those of a class, differ only in these."""
    return _HOLE.split(tostring(_made(chart)._write()))


def _made(chart: Chart) -> Any:
    excel_chart: Any = BY_LABEL.get(chart.kind, ScatterChart)()
    excel_chart.title, excel_chart.width, excel_chart.height = chart.title, chart.width, chart.height
    excel_chart.title.overlay = False
    _set_font(excel_chart.title, _font(TITLE_SIZE, b=True))
    if chart.kind not in BY_LABEL:
        excel_chart.style = 13
        excel_chart.scatterStyle = "lineMarker"
        excel_chart.varyColors = False
    excel_chart.legend = excel_chart.legend if chart.legend else None
    if excel_chart.legend is not None:
        excel_chart.legend.txPr = _small_text()
        excel_chart.legend.position = "b"
    excel_chart.x_axis.title, excel_chart.y_axis.title = chart.x_title or None, chart.y_title or None
    for title in filter(None, (excel_chart.x_axis.title, excel_chart.y_axis.title)):
        _set_font(title, _font(TEXT_SIZE, b=False))
    if chart.most:
        excel_chart.y_axis.scaling.min, excel_chart.y_axis.scaling.max = 0, chart.most
    for axis in (excel_chart.x_axis, excel_chart.y_axis):
        if chart.reach:
            axis.scaling.min, axis.scaling.max = -chart.reach, chart.reach
        axis.delete = False  # openpyxl leaves them out otherwise
        axis.number_format = "General"
        axis.txPr = _small_text()
    excel_chart.y_axis.majorGridlines.spPr = GraphicalProperties(ln=LineProperties(solidFill="D9D9D9"))
    if chart.kind in BY_LABEL:
        excel_chart.x_axis.tickLblPos = "low"
        if chart.kind == "bars":
            excel_chart.gapWidth = 60
    else:
        excel_chart.x_axis.majorGridlines = None
        excel_chart.x_axis.tickLblPos = excel_chart.y_axis.tickLblPos = "low"
    for number, series in enumerate(chart.series):
        excel_chart.series.append(_series(chart, series, number))
    if chart.bare:
        _bare(excel_chart)
    if chart.kind == "ribbons":
        _with_ribbons(excel_chart)
    return excel_chart


def _bare(excel_chart: Any) -> None:
    """Leave only the bars, as wide as the chart, with their labels below and, of one series, their
    numbers above."""
    no_line = GraphicalProperties(ln=LineProperties(noFill=True))
    excel_chart.y_axis.delete, excel_chart.y_axis.majorGridlines = True, None
    excel_chart.x_axis.majorTickMark = "none"
    excel_chart.graphical_properties = no_line
    excel_chart.layout = Layout(ManualLayout(
        layoutTarget="inner", xMode="edge", yMode="edge", x=0.0, w=1.0, y=0.2, h=0.64,
    ))  # fmt: skip
    if len(excel_chart.series) == 1:
        excel_chart.series[0].dLbls = DataLabelList(
            numFmt="0.00", dLblPos="outEnd", txPr=_small_text(), showVal=True, showSerName=False,
            showCatName=False, showLegendKey=False, showPercent=False,
        )  # fmt: skip
    else:
        (paragraph,) = excel_chart.title.tx.rich.paragraphs
        before, arrow, after = paragraph.r[0].t.partition(" → ")
        paragraph.r = [
            RegularTextRun(rPr=_font(TITLE_SIZE, b=True, solidFill=colour), t=text)
            for text, colour in ((before, "1D5AA6"), (arrow + after, INK))
        ]


def _with_ribbons(excel_chart: Any) -> None:
    """Leave only the areas, with room for the names at their right ends."""
    excel_chart.grouping = "stacked"
    for axis in (excel_chart.x_axis, excel_chart.y_axis):
        axis.delete, axis.majorGridlines = True, None
    excel_chart.y_axis.crossBetween = "midCat"
    excel_chart.graphical_properties = GraphicalProperties(ln=LineProperties(noFill=True))
    excel_chart.layout = Layout(ManualLayout(
        layoutTarget="inner", xMode="edge", yMode="edge", x=0.02, w=0.82, y=0.14, h=0.84,
    ))  # fmt: skip


def _font(size: int, **more: Any) -> CharacterProperties:
    return CharacterProperties(sz=size, latin=Font(typeface="Arial"), **more)


def _set_font(title: Any, font: CharacterProperties) -> None:
    for paragraph in title.tx.rich.paragraphs:
        paragraph.pPr = ParagraphProperties(defRPr=font)
        for run in paragraph.r:
            run.rPr = font


def _small_text() -> Any:
    small = _font(TEXT_SIZE)
    paragraph = Paragraph(pPr=ParagraphProperties(defRPr=small), endParaRPr=small)
    return RichText(bodyPr=RichTextProperties(), p=[paragraph])


def _series(chart: Chart, series: Series, number: int) -> Any:
    colours = chart.colours or COLOURS
    colour = colours[number % len(colours)] if series.title else INK
    excel_series: Any = make_series(Reference(range_string="Sheet!$A$1"), title=series.title)
    excel_series.tx = SeriesLabel(v=series.title)
    numbers = NumDataSource(NumRef(f=series.values.absolute, numCache=_number_cache(series.numbers)))
    if chart.kind == "ribbons":
        excel_series.val = numbers
        fill = (
            GraphicalProperties(solidFill=colour) if series.title else GraphicalProperties(noFill=True)
        )
        fill.line = LineProperties(noFill=True)
        excel_series.graphicalProperties = fill
        excel_series.dLbls = _named(1 if series.title else None)
        return excel_series
    if chart.kind in BY_LABEL:
        names = StrData(
            ptCount=len(series.names),
            pt=[StrVal(idx=i, v=str(name)) for i, name in enumerate(series.names) if name is not None],
        )
        excel_series.val, excel_series.cat = (
            numbers,
            AxDataSource(strRef=StrRef(f=series.labels.absolute, strCache=names)),
        )
        if chart.kind == "bars":
            excel_series.graphicalProperties = GraphicalProperties(solidFill=colour)
            excel_series.invertIfNegative = False
        else:
            line = LineProperties(solidFill=colour, w=28575)
            excel_series.graphicalProperties = GraphicalProperties(ln=line)
            excel_series.marker, excel_series.smooth = Marker(symbol="none"), False
        return excel_series
    x = tuple(name if isinstance(name, float) else None for name in series.names)
    excel_series.val = excel_series.cat = None
    excel_series.yVal = numbers
    excel_series.xVal = AxDataSource(numRef=NumRef(f=series.labels.absolute, numCache=_number_cache(x)))
    excel_series.smooth = False
    excel_series.marker = Marker(symbol=MARKS[number // len(COLOURS) % len(MARKS)], size=8)
    excel_series.marker.graphicalProperties = _dot(colour, filled=True)
    line = LineProperties(noFill=True)
    if chart.kind == "moves":
        width = 15875 if series.title else 38100  # of what is chosen among the others
        line = LineProperties(solidFill=colour, w=width, tailEnd=LineEndProperties(type="triangle"))
        excel_series.dPt = [
            DataPoint(
                idx=0,
                marker=Marker(symbol="circle", size=6, spPr=_dot(colour, filled=False)),
                spPr=_dot(colour, filled=False),
            )
        ]
    excel_series.graphicalProperties = GraphicalProperties(ln=line)
    last = len(series.numbers) - 1
    excel_series.dLbls = _named(last if series.labelled else None, "t")
    return excel_series


def _dot(colour: str, *, filled: bool) -> GraphicalProperties:
    return GraphicalProperties(
        solidFill=colour if filled else "FFFFFF", ln=LineProperties(solidFill=colour)
    )


def _named(point: int | None, where: str | None = None) -> DataLabelList:
    """A label with the series' name at one of its points, which every program can show."""
    from openpyxl.chart.label import DataLabel

    shown = {"showVal": False, "showSerName": True, "showCatName": False, "showLegendKey": False,
             "showPercent": False}  # fmt: skip
    hidden = {**shown, "showSerName": False}
    labels = [] if point is None else [DataLabel(idx=point, dLblPos=where, **shown)]
    return DataLabelList(dLbl=labels, **hidden)


def _number_cache(numbers: tuple[float | None, ...]) -> NumData:
    points = [_point(i, n) for i, n in enumerate(numbers) if n is not None]
    return NumData(formatCode="General", ptCount=len(numbers), pt=points)


def _point(index: int, number: float) -> Any:
    point: Any = NumVal(idx=index, v=number)
    point.__dict__["v"] = f"{_MARK}{int(number)}{_MARK}"
    return point

"""Adds native charts to a sheet.

Source of the elements and of their order: ECMA-376, part 1, 21.2 (DrawingML charts).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attn_xl.spreadsheets.addresses import address
from attn_xl.workbook.layout.page import Chart, Series

from .package import WrittenChart
from .rows import escaped, spreadsheet_text

COLOURS = ("0072B2", "E69F00", "009E73", "CC79A7", "56B4E9", "D55E00", "8C8C3A", "666666")
"""Distinguishable for colour-blind readers: Okabe and Ito, "Color Universal Design" (2008)."""
INK, BEFORE, GRID = "16212B", "1D5AA6", "D9D9D9"
TITLE_SIZE, TEXT_SIZE = 900, 800  # hundredths of a point
MARKS = ("circle", "square", "diamond", "triangle")


def _value(name: str, value: float | str) -> str:
    return f'<{name} val="{value}"/>'


def _solid(colour: str) -> str:
    return f'<a:solidFill><a:srgbClr val="{colour}"/></a:solidFill>'


def _line(fill: str = "", width: int = 0, end: str = "") -> str:
    size = f' w="{width}"' if width else ""
    return f'<a:ln{size}>{fill}<a:prstDash val="solid"/>{end}</a:ln>'


def _shape(look: str) -> str:
    return f"<spPr>{look}</spPr>"


def _text(text: str) -> str:
    return escaped(spreadsheet_text(text))


def _shown(**what: bool) -> str:
    """What labels of points show."""
    names = ("showLegendKey", "showVal", "showCatName", "showSerName", "showPercent")
    return "".join(_value(name, int(what.get(name, False))) for name in names)


_BY_LABEL = {
    "bars": '<barChart><barDir val="col"/><grouping val="clustered"/>{}<gapWidth val="60"/>{}'
    "</barChart>",
    "line": '<lineChart><grouping val="standard"/>{}{}</lineChart>',
    "ribbons": '<areaChart><grouping val="stacked"/>{}{}</areaChart>',
}
"""The charts with a label for each number, around their series and the numbers of their axes."""
_BY_POINT = '<scatterChart><scatterStyle val="lineMarker"/><varyColors val="0"/>{}{}</scatterChart>'
_STYLE = '<style val="13"/>'
_NO_FILL = "<a:noFill/>"
_SMALL = f'sz="{TEXT_SIZE}"><a:latin typeface="Arial"/>'
_SMALL_TEXT = (
    f"<txPr><a:bodyPr/><a:p><a:pPr><a:defRPr {_SMALL}</a:defRPr></a:pPr>"
    f"<a:endParaRPr {_SMALL}</a:endParaRPr></a:p></txPr>"
)
_NUMBERS_SHOWN = (
    f'<dLbls><numFmt formatCode="0.00" sourceLinked="0"/>{_SMALL_TEXT}<dLblPos val="outEnd"/>'
    f"{_shown(showVal=True)}</dLbls>"
)


def add_chart(ws: Any, chart: Chart) -> None:
    """Add a chart to a sheet."""
    xml = _chart(chart).encode()
    ws.add_chart(WrittenChart(xml, chart.width, chart.height), address(chart.row, chart.column))


def _chart(chart: Chart) -> str:
    by_label, ribbons = chart.kind in _BY_LABEL, chart.kind == "ribbons"
    framed = not (chart.bare or ribbons)
    x, y = (10, 100) if by_label else (10, 20)
    series = "".join(_series(chart, one, number) for number, one in enumerate(chart.series))
    plot = _BY_LABEL.get(chart.kind, _BY_POINT).format(series, _value("axId", x) + _value("axId", y))
    layout = _layout(0, 0.2, 1, 0.64) if chart.bare else _layout(0.02, 0.14, 0.82, 0.84)
    both = (-chart.reach, chart.reach) if chart.reach else None
    x_axis = _axis(
        "catAx" if by_label else "valAx", (x, y), chart.x_title, both, shown=not ribbons, low=True,
        last=_value("lblOffset", 100) if by_label else "",
    )  # fmt: skip
    y_axis = _axis(
        "valAx", (y, x), chart.y_title, both or ((0, chart.most) if chart.most else None),
        lines=framed, shown=framed, low=not by_label,
        last=_value("crossBetween", "midCat") if ribbons else "",
    )  # fmt: skip
    legend = f"<legend>{_value('legendPos', 'b')}{_SMALL_TEXT}</legend>" if chart.legend else ""
    return (
        '<chartSpace xmlns="http://schemas.openxmlformats.org/drawingml/2006/chart" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
        f"{'' if by_label else _STYLE}<chart>{_heading(chart)}"
        f"<plotArea>{'' if framed else layout}{plot}{x_axis}{y_axis}</plotArea>{legend}"
        f"{_value('plotVisOnly', 1)}{_value('dispBlanksAs', 'gap')}</chart>"
        f"{'' if framed else _shape(_line(_NO_FILL))}</chartSpace>"
    )


def _heading(chart: Chart) -> str:
    """The title; that of bars without an axis of two series has the colours of these."""
    runs = [("", chart.title)]
    if chart.bare and len(chart.series) > 1:
        before, arrow, after = chart.title.partition(" → ")
        runs = [(_solid(BEFORE), before), (_solid(INK), arrow + after)]
    return _title(TITLE_SIZE, runs, bold=True, after=_value("overlay", 0))


def _title(size: int, runs: Iterable[tuple[str, str]], *, bold: bool = False, after: str = "") -> str:
    font = f'sz="{size}" b="{int(bold)}">'
    arial = '<a:latin typeface="Arial"/>'
    written = "".join(
        f'<a:r><a:rPr {font}{fill}{arial}</a:rPr><a:t xml:space="preserve">{_text(text)}</a:t></a:r>'
        for fill, text in runs
    )
    return (
        f"<title><tx><rich><a:bodyPr/><a:p><a:pPr><a:defRPr {font}{arial}</a:defRPr></a:pPr>{written}"
        f"</a:p></rich></tx>{after}</title>"
    )


def _layout(x: float, y: float, width: float, height: float) -> str:
    """Where the numbers are drawn, as shares of the chart."""
    values: dict[str, float | str] = {
        "layoutTarget": "inner", "xMode": "edge", "yMode": "edge", "wMode": "factor", "hMode": "factor",
        "x": x, "y": y, "w": width, "h": height,
    }  # fmt: skip
    inside = "".join(_value(name, value) for name, value in values.items())
    return f"<layout><manualLayout>{inside}</manualLayout></layout>"


def _axis(
    kind: str,
    ids: tuple[int, int],
    title: str,
    ends: tuple[float, float] | None,
    *,
    shown: bool,
    low: bool,
    lines: bool = False,
    last: str,
) -> str:
    """An axis, of which `ids` are the numbers of itself and of the other one."""
    reach = _value("max", ends[1]) + _value("min", ends[0]) if ends else ""
    grid = f"<majorGridlines>{_shape(_line(_solid(GRID)))}</majorGridlines>" if lines else ""
    return (
        f"<{kind}>{_value('axId', ids[0])}<scaling>{_value('orientation', 'minMax')}{reach}</scaling>"
        f"{_value('delete', int(not shown))}{_value('axPos', 'l')}{grid}"
        f"{_title(TEXT_SIZE, [('', title)]) if title else ''}"
        '<numFmt formatCode="General" sourceLinked="0"/>'
        f"{_value('majorTickMark', 'none')}{_value('minorTickMark', 'none')}"
        f"{_value('tickLblPos', 'low') if low else ''}{_SMALL_TEXT}"
        f"{_value('crossAx', ids[1])}{last}</{kind}>"
    )


def _series(chart: Chart, series: Series, number: int) -> str:
    colours = chart.colours or COLOURS
    colour = _solid(colours[number % len(colours)] if series.title else INK)
    first = f"{_value('idx', number)}{_value('order', number)}<tx><v>{_text(series.title)}</v></tx>"
    values = _numbers(
        "val" if chart.kind in _BY_LABEL else "yVal", series.values.absolute, series.numbers
    )
    if chart.kind == "ribbons":
        fill = colour if series.title else _NO_FILL
        names = _series_names(1 if series.title else None)
        return f"<ser>{first}{_shape(fill + _line(_NO_FILL))}{names}{values}</ser>"
    if chart.kind in _BY_LABEL:
        values = _labels(series) + values
    if chart.kind == "bars":
        shown = _NUMBERS_SHOWN if chart.bare and len(chart.series) == 1 else ""
        look = _shape(colour + _line()) + _value("invertIfNegative", 0) + shown
        return f"<ser>{first}{look}{values}</ser>"
    if chart.kind == "line":
        no_mark = f"<marker>{_value('symbol', 'none')}{_shape(_line())}</marker>"
        return f"<ser>{first}{_shape(_line(colour, 28575))}{no_mark}{values}{_value('smooth', 0)}</ser>"
    line, start = _line(_NO_FILL), ""
    if chart.kind == "moves":
        # What is chosen among the others has no name and a wide line.
        line = _line(colour, 15875 if series.title else 38100, '<a:tailEnd type="triangle"/>')
        dot = _shape(_solid("FFFFFF") + _line(colour))
        start = f"<dPt>{_value('idx', 0)}{_marker('circle', 6, dot)}{dot}</dPt>"
    mark = _marker(MARKS[number // len(COLOURS) % len(MARKS)], 8, _shape(colour + _line(colour)))
    names = _series_names(len(series.numbers) - 1 if series.labelled else None, _value("dLblPos", "t"))
    x = _numbers("xVal", series.labels.absolute, series.names)
    return f"<ser>{first}{_shape(line)}{mark}{start}{names}{x}{values}{_value('smooth', 0)}</ser>"


def _marker(symbol: str, size: int, look: str) -> str:
    return f"<marker>{_value('symbol', symbol)}{_value('size', size)}{look}</marker>"


def _series_names(point: int | None, where: str = "") -> str:
    """A label with the series' name at one of its points, which every program can show."""
    label = "" if point is None else f"{_value('idx', point)}{where}{_shown(showSerName=True)}"
    return f"<dLbls>{label and f'<dLbl>{label}</dLbl>'}{_shown()}</dLbls>"


def _labels(series: Series) -> str:
    texts = _points(None if name is None else _text(str(name)) for name in series.names)
    cells = f"<f>{_text(series.labels.absolute)}</f>"
    return f"<cat><strRef>{cells}<strCache>{texts}</strCache></strRef></cat>"


def _numbers(name: str, cells: str, numbers: Iterable[Any]) -> str:
    points = _points(repr(number) if isinstance(number, float) else None for number in numbers)
    return (
        f"<{name}><numRef><f>{_text(cells)}</f><numCache><formatCode>General</formatCode>{points}"
        f"</numCache></numRef></{name}>"
    )


def _points(contents: Iterable[str | None]) -> str:
    contents = [*contents]
    points = (f'<pt idx="{i}"><v>{one}</v></pt>' for i, one in enumerate(contents) if one is not None)
    return _value("ptCount", len(contents)) + "".join(points)

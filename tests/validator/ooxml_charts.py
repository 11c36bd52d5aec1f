"""Whether drawings and charts keep the rules. What a chart's ranges hold is compared at the end, when
the sheets have been read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ooxml_formulas import MAX_COLUMNS, MAX_ROWS, area
from ooxml_rules import Report
from ooxml_schema import CHART, DRAWING, RELATIONS, is_number, misplaced, whole

_X, _C = f"{{{DRAWING}}}", f"{{{CHART}}}"
_RID = f"{{{RELATIONS}}}id"
_RANGE = re.compile(r"('(?:[^']|'')+'|[^'!]+)!(\$[A-Z]+\$[0-9]+(?::\$[A-Z]+\$[0-9]+)?)")
AXES = {"barChart": ("catAx", "valAx"), "scatterChart": ("valAx", "valAx")}
TAKES = {
    "barChart": {"cat", "val", "invertIfNegative", "shape", "pictureOptions"},
    "scatterChart": {"xVal", "yVal", "smooth", "marker"},
}
"""What only this kind's series have."""


@dataclass(frozen=True)
class Cached:
    """What a chart stores of a range: its cells in order, and the text of each point."""

    where: str
    sheet: str
    cells: tuple[str, ...]
    points: dict[int, str]


def check_drawing(
    report: Report, where: str, root: Any, charts: dict[str, str], kinds: dict[str, str]
) -> None:
    """Check a drawing.

    Args:
        charts: the charts that other frames have, by part; those of this drawing are added.
        kinds: the type and the target of each relationship, by id, as `type target`.
    """
    for kind, what in misplaced("drawing", root):
        report.add(f"drawing-{kind}", where, what)
    ids: set[str] = set()
    for shape in root.iter(_X + "cNvPr"):
        if shape.get("id") in ids:
            report.add("drawing-ids", where, f"{shape.get('id')} twice")
        ids.add(shape.get("id", ""))
    for anchor in root:
        corners = [_corner(anchor.find(_X + name)) for name in ("from", "to")]
        for corner in filter(None, corners):
            if not (0 <= corner[0] < MAX_ROWS and 0 <= corner[2] < MAX_COLUMNS and min(corner) >= 0):
                report.add("anchors", where, f"{corner}")
        if (
            corners[0]
            and corners[1]
            and (corners[1][:2] < corners[0][:2] or corners[1][2:] < corners[0][2:])
        ):
            report.add("anchors", where, f"{corners[1]} before {corners[0]}")
        size = anchor.find(_X + "ext")
        if size is not None and min(whole(size.get(key)) for key in ("cx", "cy")) < 0:
            report.add("anchors", where, f"size {size.attrib}")
    for chart in root.iter(_C + "chart"):
        kind, _, target = kinds.get(chart.get(_RID, ""), "").partition(" ")
        if kind.rpartition("/")[2] != "chart" or target in charts:
            report.add("drawing-charts", where, f"{chart.get(_RID)}: {kind} {target}")
        charts[target] = where


def _corner(corner: Any) -> tuple[int, int, int, int] | None:
    if corner is None:
        return None
    r, ro, c, co = (whole(corner.findtext(_X + name)) for name in ("row", "rowOff", "col", "colOff"))
    return r, ro, c, co


def check_chart(report: Report, where: str, root: Any, known: Any) -> list[Cached]:
    """Check a chart; what it stores of the cells."""
    for kind, what in misplaced("chart", root):
        report.add(f"chart-{kind}", where, what)
    plot = root.find(f"{_C}chart/{_C}plotArea")
    if plot is None:
        return []
    _axes(report, where, plot)
    found: list[Cached] = []
    numbers: dict[str, set[str]] = {"idx": set(), "order": set()}
    for group in plot:
        kind = group.tag.removeprefix(_C)
        for series in group.iterfind(_C + "ser"):
            for key, seen in numbers.items():
                element = series.find(_C + key)
                value = element.get("val", "") if element is not None else ""
                if value in seen:
                    report.add("chart-series", where, f"{key} {value} twice")
                seen.add(value)
            own = {child.tag.removeprefix(_C) for child in series}
            strange = own & set().union(*TAKES.values()) - TAKES.get(kind, own)
            if strange or not own & {"val", "yVal"}:
                report.add("chart-series", where, f"a series of <{kind}> has {sorted(strange or own)}")
            found += _ranges(report, where, series, known)
    return found


def _axes(report: Report, where: str, plot: Any) -> None:
    axes = {}
    for axis in plot:
        if axis.tag.endswith("Ax"):
            name = axis.find(_C + "axId").get("val") if axis.find(_C + "axId") is not None else ""
            if name in axes:
                report.add("chart-axes", where, f"axis {name} twice")
            axes[name] = axis
    used = set()
    for group in plot:
        ids = [element.get("val") for element in group.iterfind(_C + "axId")]
        if not group.tag.endswith("Chart"):
            continue
        kinds = [axes[i].tag.removeprefix(_C) if i in axes else "" for i in ids]
        wanted = AXES.get(group.tag.removeprefix(_C))
        if "" in kinds or (wanted and sorted(kinds) != sorted(wanted)):
            report.add("chart-axes", where, f"axes {ids} are {kinds}")
        used |= set(ids)
    for name, axis in axes.items():
        crossed = axis.find(_C + "crossAx")
        other = axes.get(crossed.get("val") if crossed is not None else "")
        back = other.find(_C + "crossAx") if other is not None else None
        if name not in used or other is axis or back is None or back.get("val") != name:
            report.add("chart-axes", where, f"axis {name} is not crossed back")


def _ranges(report: Report, where: str, series: Any, known: Any) -> Iterator[Cached]:
    for holder in (*series.iter(_C + "numRef"), *series.iter(_C + "strRef")):
        formula = holder.findtext(_C + "f") or ""
        said = len(report)
        known.check(
            formula, lambda rule, what: report.add("chart-references", where, f"{rule}: {what}")
        )
        match = _RANGE.fullmatch(formula)
        if match is None:
            if len(report) == said:
                report.add("chart-references", where, formula)
            continue
        r1, c1, r2, c2 = area(match[2])
        cells = tuple(f"{_letters(c)}{r}" for r in range(r1, r2 + 1) for c in range(c1, c2 + 1))
        numeric = holder.tag == _C + "numRef"
        cache = holder.find(_C + ("numCache" if numeric else "strCache"))
        if cache is None:
            continue
        count = cache.find(_C + "ptCount")
        points: dict[int, str] = {}
        last = -1
        for point in cache.iterfind(_C + "pt"):
            index = whole(point.get("idx"))
            text = point.findtext(_C + "v") or ""
            if not last < index < len(cells) or (numeric and not is_number(text)):
                report.add("chart-points", where, f"{formula}: point {index} is {text!r}")
            last = max(last, index)
            points[index] = text
        if count is None or count.get("val") != str(len(cells)):
            report.add("chart-points", where, f"{formula}: ptCount is not {len(cells)}")
        sheet = match[1][1:-1].replace("''", "'") if match[1][0] == "'" else match[1]
        yield Cached(where, sheet, cells, points)


def _letters(column: int) -> str:
    text = ""
    while column:
        column, digit = divmod(column - 1, 26)
        text = chr(65 + digit) + text
    return text


def decoded(text: str) -> str:
    """A text with the letters that are written as codes: `_x0041_` (ST_Xstring)."""
    return re.sub("_x([0-9A-Fa-f]{4})_", lambda code: chr(int(code[1], 16)), text)


def compare(report: Report, cached: Cached, values: dict[tuple[str, str], str]) -> None:
    """What a chart stores against what the cells hold."""
    for index, cell in enumerate(cached.cells):
        here, there = values.get((cached.sheet, cell), ""), cached.points.get(index, "")
        if decoded(here) in (there, decoded(there)) or (
            here and is_number(here) and is_number(there) and float(here) == float(there)
        ):
            continue
        report.add("chart-values", cached.where, f"{cached.sheet}!{cell} is {here!r}, stored {there!r}")

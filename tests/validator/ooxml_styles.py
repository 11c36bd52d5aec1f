"""Whether the styles part keeps the rules; knows no sheet."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from ooxml_rules import Report, units
from ooxml_schema import MAIN, is_number, misplaced, whole

MOST_FORMATS, MOST_FONTS, MOST_NUMBER_FORMATS = 65430, 512, 250
BUILT_IN = 164
_N = f"{{{MAIN}}}"
_BRACKETS = re.compile(
    r"\[(?:black|blue|cyan|green|magenta|red|white|yellow|color ?[0-9]{1,2}"
    r"|(?:<=|>=|<>|<|>|=)-?[0-9]+(?:\.[0-9]+)?(?:E[+-]?[0-9]+)?|\$[^\]]*|h+|m+|s+|DBNum[1-4])\]",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?:General|[0#?.,%/:@$()+\-!^&'~{}<>= ]|E[+-]|[ymdhsYMDHS]+|AM/PM|A/P|[_*\\].)+")


def check_styles(report: Report, where: str, root: Any) -> tuple[int, int]:
    """Check the styles; how many cell formats and differential formats there are."""
    for kind, what in misplaced("styles", root):
        report.add(f"styles-{kind}", where, what)
    parts = {child.tag.removeprefix(_N): child for child in root}
    counts = {name: len(part) for name, part in parts.items()}
    for name, part in parts.items():
        if part.get("count") not in (None, str(len(part))):
            report.add("style-counts", where, f"{len(part)} in <{name}>, counted {part.get('count')}")
    _limits(report, where, counts)
    formats = _number_formats(report, where, parts.get("numFmts", ()))
    sizes = {"fontId": "fonts", "fillId": "fills", "borderId": "borders"}
    for name in ("cellStyleXfs", "cellXfs"):
        for number, xf in enumerate(parts.get(name, ())):
            for key, group in sizes.items():
                if whole(xf.get(key, "0")) >= counts.get(group, 0):
                    report.add("style-indices", where, f"{name} {number}: {key} {xf.get(key)}")
            which = whole(xf.get("numFmtId", "0"))
            if which >= BUILT_IN and which not in formats:
                report.add("style-indices", where, f"{name} {number}: numFmtId {which}")
            if name == "cellXfs" and whole(xf.get("xfId", "0")) >= counts.get("cellStyleXfs", 0):
                report.add("style-indices", where, f"{name} {number}: xfId {xf.get('xfId')}")
    _fonts(report, where, root)
    fills = [fill.find(_N + "patternFill") for fill in parts.get("fills", ())]
    kinds = [fill.get("patternType", "none") if fill is not None else "" for fill in fills[:2]]
    if kinds != ["none", "gray125"]:
        report.add("fills", where, f"the first are {kinds}")
    _names(report, where, parts.get("cellStyles", ()), counts.get("cellStyleXfs", 0))
    for element in root.iter():
        theme, indexed = element.get("theme", "0"), element.get("indexed", "0")
        if (
            not theme.isdigit()
            or int(theme) > 11
            or not indexed.isdigit()
            or int(indexed) not in (*range(66), 81)
        ):
            report.add("colours", where, f"theme {theme}, indexed {indexed}")
    return counts.get("cellXfs", 0), counts.get("dxfs", 0)


def _limits(report: Report, where: str, counts: dict[str, int]) -> None:
    for name, most in (
        ("cellXfs", MOST_FORMATS), ("fonts", MOST_FONTS), ("numFmts", MOST_NUMBER_FORMATS)
    ):  # fmt: skip
        if counts.get(name, 0) > most:
            report.add("style-limits", where, f"{counts[name]} in <{name}>")
    for name in ("fonts", "fills", "borders", "cellStyleXfs", "cellXfs"):
        if not counts.get(name):
            report.add("style-counts", where, f"<{name}> is missing or empty")


def _number_formats(report: Report, where: str, formats: Any) -> set[int]:
    seen: set[int] = set()
    for one in formats:
        number, code = whole(one.get("numFmtId", "0")), one.get("formatCode", "")
        if number < BUILT_IN or number in seen:
            report.add("number-format-ids", where, f"{number} {code}")
        seen.add(number)
        wrong = wrong_number_format(code)
        if wrong:
            report.add("number-format-codes", where, f"{code}: {wrong}")
    return seen


def wrong_number_format(code: str) -> str:
    """What is wrong with the code of a number format; "" for nothing."""
    if not 1 <= units(code) <= 255:
        return f"{units(code)} characters"
    bare = re.sub(r'"[^"]*"', "", re.sub(r"[_*\\].", "", code))
    if '"' in bare:
        return "a quote is open"
    conditions = len(re.findall(r"\[[<>=]", bare))
    bare = _BRACKETS.sub("", bare)
    if "[" in bare or "]" in bare:
        return "what is in brackets"
    sections = bare.split(";")
    if len(sections) > 4 or conditions > 2:
        return f"{len(sections)} sections, {conditions} conditions"
    wrong = [section for section in sections if section and not _CODE.fullmatch(section)]
    return f"{wrong[0]!r}" if wrong else ""


def _fonts(report: Report, where: str, root: Any) -> None:
    for font in root.iter(_N + "font"):
        twice = [tag for tag, times in Counter(child.tag for child in font).items() if times > 1]
        size, name = font.find(_N + "sz"), font.find(_N + "name")
        value = size.get("val", "") if size is not None else "11"
        if twice or not is_number(value) or not 1 <= float(value) <= 409:
            report.add("fonts", where, f"size {value}, twice {twice}")
        if name is not None and not 1 <= units(name.get("val", "")) <= 31:
            report.add("fonts", where, f"name {name.get('val')!r}")


def _names(report: Report, where: str, styles: Any, masters: int) -> None:
    names, used = set(), set()
    for style in styles:
        name, which = style.get("name", ""), whole(style.get("xfId", "0"))
        if not 1 <= units(name) <= 255 or name.casefold() in names or which >= masters or which in used:
            report.add("cell-style-names", where, f"{name!r}, xfId {which} of {masters}")
        names.add(name.casefold())
        used.add(which)

"""Attention, layers and gates as others write them by hand, right and with a slip; the layout is
random: words in rows or in columns, parts stacked or side by side or on sheets of their own, products
as `SUMPRODUCT`, `MMULT`, arrays or sums of terms, with or without `$`, notes and headings in between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import xlsxwriter
from make_slips import recalculated
from xlsxwriter.utility import xl_col_to_name, xl_rowcol_to_cell

from attn_xl.spreadsheets.formulas import WIDTH, FormulaBook, read_formulas

STYLES = ["sumproduct", "mmult", "array", "terms", "typed", "sum", "spill"]


@dataclass(frozen=True)
class Area:
    """A table: its sheet and its first cell, from 0, with its size; of an array, by one formula."""

    sheet: str
    top: int
    left: int
    rows: int
    columns: int
    array: bool = False

    def cell(self, row: int, column: int, fixed: str = "", frm: str = "") -> str:
        text = xl_rowcol_to_cell(self.top + row, self.left + column, "r" in fixed, "c" in fixed)
        return self._on(frm) + text

    def range(
        self, first: tuple[int, int], last: tuple[int, int], fixed: str = "", frm: str = ""
    ) -> str:
        return self.cell(*first, fixed, frm) + ":" + self.cell(*last, fixed)

    def whole(self, frm: str = "", fixed: str = "") -> str:
        return self.range((0, 0), (self.rows - 1, self.columns - 1), fixed, frm)

    def row(self, row: int, fixed: str = "", frm: str = "") -> str:
        return self.range((row, 0), (row, self.columns - 1), fixed, frm)

    def column(self, column: int, fixed: str = "", frm: str = "") -> str:
        return self.range((0, column), (self.rows - 1, column), fixed, frm)

    def _on(self, frm: str) -> str:
        return f"{self.sheet}!" if frm and frm != self.sheet else ""

    def part(self, top: int, rows: int) -> Area:
        return Area(self.sheet, self.top + top, self.left, rows, self.columns)

    def aside(self, columns: int) -> Area:
        return Area(self.sheet, self.top, self.left + columns, self.rows, self.columns)

    @property
    def keys(self) -> set[int]:
        return {
            (self.top + 1 + r) * WIDTH + self.left + c
            for r in range(self.rows)
            for c in range(self.columns)
        }


@dataclass
class Page:
    """A workbook being written, and where the next table goes."""

    path: Path
    chance: Random
    top: int = 4
    left: int = 2
    widest: int = 0
    lowest: int = 0
    expected: dict[str, set[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.book = xlsxwriter.Workbook(str(self.path))
        self.looks = [self.book.add_format({"bg_color": c}) for c in ("#DDEBF7", "#FFF2CC", "#E2EFDA")]
        self.merged = self.book.add_format({"bold": True, "align": "center"})
        self.style = self.chance.choice(STYLES)
        self.across = self.chance.random() < 0.4  # tables side by side
        self.gap = self.chance.randint(2, 4)
        self.sheet = ""
        self.dollars = self.chance.random() < 0.7
        self.new_sheet("Model")

    def new_sheet(self, name: str) -> None:
        self.sheet = name
        self.work = self.book.add_worksheet(name)
        self.top, self.left, self.lowest = self.chance.randint(3, 5), self.chance.randint(1, 3), 0
        if self.chance.random() < 0.6:
            self.work.merge_range(0, 0, 0, 9, f"{name} by hand", self.merged)
            self.work.write(1, 0, "Fill in the yellow cells; everything else follows.")

    def next_part(self) -> None:
        """Go to where the next head or layer begins."""
        if self.across:
            self.left, self.top = self.widest + self.gap, self.first
        else:
            self.top, self.left = self.lowest + self.gap, self.begin
        self.widest = 0

    def start_parts(self) -> None:
        if self.across:
            self.left = self.widest + self.gap
            self.widest = 0
        else:
            self.top, self.left = self.lowest + self.gap, 2
        self.first, self.begin = self.top, self.left

    def _room(self, rows: int, columns: int, title: str, right: bool) -> Area:
        if title:
            self.work.write(self.top - 1, self.left, title)
        area = Area(self.sheet, self.top, self.left, rows, columns)
        self.widest = max(self.widest, self.left + columns)
        self.lowest = max(self.lowest, self.top + rows)
        if right:
            self.left += columns + 1
        else:
            self.top += rows + 2
        return area

    def typed(
        self, rows: int, columns: int, title: str, right: bool = False, random: bool = False
    ) -> Area:
        area = self._room(rows, columns, title, right)
        look = self.chance.choice(self.looks)
        for r in range(rows):
            for c in range(columns):
                if random:
                    self.work.write_formula(area.top + r, area.left + c, "=RAND()", look, 0.5)
                else:
                    self.work.write(area.top + r, area.left + c, self.chance.randint(-2, 3), look)
        return area

    def computed(
        self,
        rows: int,
        columns: int,
        title: str,
        formula: Callable[[int, int], str],
        right: bool = False,
    ) -> Area:
        area = self._room(rows, columns, title, right)
        for r in range(rows):
            for c in range(columns):
                self.work.write_formula(area.top + r, area.left + c, "=" + formula(r, c))
        return area

    def as_array(self, rows: int, columns: int, title: str, text: str, right: bool = False) -> Area:
        area = self._room(rows, columns, title, right)
        last = area.top + rows - 1, area.left + columns - 1
        self.work.write_array_formula(area.top, area.left, *last, "{=" + text + "}")
        return Area(*area.__dict__.values()).__class__(
            area.sheet, area.top, area.left, rows, columns, True
        )

    def note(self, text: str) -> None:
        if self.chance.random() < 0.5:
            self.work.write(self.top, self.left, text)
            self.top += 2
            self.lowest = max(self.lowest, self.top)

    def wrong(self, *areas: Area) -> None:
        for area in areas:
            self.expected.setdefault(area.sheet, set()).update(area.keys)

    # Operations

    def product(self, a: Area, b: Area, title: str, right: bool = False) -> Area:
        inner, own = a.columns, self.sheet
        assert inner == b.rows, (a, b)
        c_, r_ = "c", "r"

        def formula(r: int, c: int) -> str:
            row, column = a.row(r, c_, own), b.column(c, r_, own)
            if self.style == "mmult":
                return f"MMULT({row},{column})"
            if self.style == "sumproduct":
                return f"SUMPRODUCT(TRANSPOSE({row}),{column})"
            if self.style == "sum":
                return f"SUM(MMULT({row},{column}))"
            marks = ("c", "r") if self.style == "terms" else ("", "")
            return "+".join(
                f"{a.cell(r, k, marks[0], own)}*{b.cell(k, c, marks[1], own)}" for k in range(inner)
            )

        if self.style in ("array", "spill"):
            names = [
                f"_xlfn.ANCHORARRAY({x.cell(0, 0, '', own)})"
                if x.array and self.style == "spill"
                else x.whole(own)
                for x in (a, b)
            ]
            return self.as_array(a.rows, b.columns, title, f"MMULT({names[0]},{names[1]})", right)
        return self.computed(a.rows, b.columns, title, formula, right)

    def transposed(self, a: Area, title: str, right: bool = False) -> Area:
        if self.style in ("array", "spill", "mmult"):
            return self.as_array(a.columns, a.rows, title, f"TRANSPOSE({a.whole(self.sheet)})", right)
        return self.computed(a.columns, a.rows, title, lambda r, c: a.cell(c, r, "", self.sheet), right)

    def each(self, title: str, text: str, *areas: Area, right: bool = False) -> Area:
        """A formula of the cells at one place of several tables: `{0}+{1}`; of a column, of its row."""
        own, a = self.sheet, areas[0]

        def formula(r: int, c: int) -> str:
            cells = [
                x.cell(
                    r if x.rows > 1 else 0,
                    c if x.columns > 1 else 0,
                    ("c" if x.columns == 1 < a.columns else "") + ("r" if x.rows == 1 < a.rows else ""),
                    own,
                )
                for x in areas
            ]
            return text.format(*cells)

        return self.computed(a.rows, a.columns, title, formula, right)

    def softmax(self, a: Area, down: bool, stop_short: int = 0) -> tuple[Area, Area]:
        """The attention weights, and the sums if there are."""
        own = self.sheet
        if self.helper:
            exps = self.each("e^x", "EXP({0})", a)
            if down:
                sums = self.computed(
                    1,
                    a.columns,
                    "sum",
                    lambda r, c: f"SUM({exps.range((0, c), (a.rows - 1 - stop_short, c))})",
                )
            else:
                sums = self.computed(
                    a.rows,
                    1,
                    "sum",
                    lambda r, c: f"SUM({exps.range((r, 0), (r, a.columns - 1 - stop_short))})",
                )
            return self.each("A", "{0}/{1}", exps, sums), sums

        def formula(r: int, c: int) -> str:
            line = (
                a.range((0, c), (a.rows - 1 - stop_short, c), "r", own)
                if down
                else a.range((r, 0), (r, a.columns - 1 - stop_short), "c", own)
            )
            return f"EXP({a.cell(r, c, '', own)})/SUMPRODUCT(EXP({line}))"

        shares = self.computed(a.rows, a.columns, "A", formula)
        return shares, shares

    @property
    def helper(self) -> bool:
        return self.style != "sumproduct"


def heads(page: Page, slip: str) -> None:
    """Multi-head attention, words in columns and weights at the left, or the reverse."""
    n, d, k = page.chance.randint(3, 5), page.chance.randint(4, 6), page.chance.randint(2, 3)
    count, columns = page.chance.randint(3, 4), page.chance.random() < 0.6
    bad = page.chance.randint(1, count - 1) if slip else -1
    x = page.typed(*((d, n) if columns else (n, d)), "X")
    outputs, biases, values = [], [], []
    page.start_parts()
    for h in range(count):
        page.work.write(page.top - 2, page.left, f"Head {h + 1}")
        made = {}
        for name in "QKV":
            w = page.typed(*((k, d) if columns else (d, k)), f"W{name}{h + 1}")
            b = page.typed(*((k, 1) if columns else (1, k)), f"b{name}{h + 1}")
            made["W" + name], made["b" + name] = w, b
            used = w
            if slip == "unread" and h == bad and name == "V":
                used = made["WK"]
            raw = page.product(*((used, x) if columns else (x, used)), f"{name}{h + 1} before bias")
            bias = b
            if slip == "bias" and h == bad and name == "K":
                bias = biases[h - 1]["bK"]
            made[name] = page.each(f"{name}{h + 1}", "{0}+{1}", raw, bias)
            if slip == "bias" and h == bad and name == "K":
                page.wrong(made[name], b)
            if slip == "unread" and h == bad and name == "V":
                page.wrong(raw, w)
        biases.append(made)
        page.note("Now compare each word with every other word.")
        values_used = made["V"]
        if slip == "value" and h == bad:
            values_used = values[h - 1]
            page.wrong(made["V"])
        values.append(made["V"])
        if columns:
            kt = page.transposed(made["K"], "K^T")
            s = page.product(kt, made["Q"], "K^T Q")
        else:
            kt = page.transposed(made["K"], "K^T")
            s = page.product(made["Q"], kt, "Q K^T")
        scaled = page.each("scaled", (f"{{0}}/SQRT({k})"), s)
        a, sums = page.softmax(scaled, columns, 1 if slip == "sum" and h == bad else 0)
        if slip == "sum" and h == bad:
            page.wrong(sums, a)
        mixed = scaled if slip == "no softmax" and h == bad else a
        z = page.product(*((values_used, mixed) if columns else (mixed, values_used)), f"Z{h + 1}")
        if slip in ("value", "no softmax") and h == bad:
            page.wrong(z)
        if slip == "no softmax" and h == bad:
            page.wrong(a)
        outputs.append(z)
        page.next_part()
    if slip == "left out":
        page.wrong(outputs[-1])
        outputs = [*outputs[:-1], outputs[-2]]
    total = page.each("sum of heads", "+".join(f"{{{h}}}" for h in range(count)), *outputs)
    if slip == "left out":
        page.wrong(total)
    page.each("output", "{0}*2", total)


def layers(page: Page, slip: str) -> None:
    """Layers with a ReLU and a skip connection, on one sheet or on sheets of their own."""
    n, d, m = page.chance.randint(3, 5), page.chance.randint(3, 5), page.chance.randint(4, 6)
    count, apart = page.chance.randint(2, 3) if slip != "relu" else 3, page.chance.random() < 0.3
    bad = page.chance.randint(1, count - 1) if slip else -1
    x = first = page.typed(d, n, "Input")
    page.start_parts()
    biases: list[Area] = []
    for number in range(count):
        if apart:
            page.new_sheet(f"Layer{number + 1}")
        page.work.write(page.top - 2, page.left, f"Layer {number + 1}")
        w1, b1 = page.typed(m, d, "W1"), page.typed(m, 1, "b1")
        biases.append(b1)
        hidden = page.product(w1, x, "W1 x")
        bias = biases[number - 1] if slip == "bias" and number == bad else b1
        summed = page.each("+ b1", "{0}+{1}", hidden, bias)
        if slip == "bias" and number == bad:
            page.wrong(summed, b1)
        page.note("ReLU: negative numbers become zero.")
        read = summed.aside(1) if slip == "relu" and number == bad else summed
        relu = page.each(
            "ReLU", "MAX(0,{0})" if not (slip == "function" and number == bad) else "MIN(0,{0})", read
        )
        if slip in ("relu", "function") and number == bad:
            page.wrong(relu, summed)
        w2, b2 = page.typed(d, m, "W2"), page.typed(d, 1, "b2")
        out = page.product(w2, relu, "W2 h")
        out = page.each("+ b2", "{0}+{1}", out, b2)
        page.note("Add what came in.")
        added = first if slip == "skip" and number == bad else x
        total = page.each("Add", "{0}+{1}", out, added)
        if slip == "skip" and number == bad:
            page.wrong(total)
        own = page.sheet
        last = d - 1 - (slip == "sum" and number == bad)
        mean = page.computed(1, n, "mean", _of_columns("AVERAGE", total, last, own))
        if slip == "sum" and number == bad:
            page.wrong(mean, total)
        dev = page.computed(1, n, "st. dev.", _of_columns("STDEVP", total, d - 1, own))
        x = page.each("Norm", "({0}-{1})/({2}+0.00001)", total, mean, dev)
        page.next_part()


def _of_columns(function: str, area: Area, last: int, own: str) -> Callable[[int, int], str]:
    """A function of the rows to the last of each column."""
    return lambda r, c: f"{function}({area.range((0, c), (last, c), '', own)})"


def gates(page: Page, slip: str) -> None:
    """An LSTM over some words: gates f, i, o and the candidate, each with its weights and its bias."""
    steps, d, h = page.chance.randint(3, 4), 3, page.chance.randint(2, 4)
    bad, gate = page.chance.randint(1, steps - 1) if slip else -1, page.chance.choice("fio")
    weights = {g: page.typed(h, d + h, f"W_{g}") for g in "fioc"}
    page.left, page.top = page.left + d + h + 2, 5
    biases = {g: page.typed(h, 1, f"b_{g}") for g in "fioc"}
    page.lowest = max(page.lowest, page.top)
    page.widest = page.left + 3
    page.across = True
    page.top = 5
    page.start_parts()
    before_h, before_c = None, None
    for t in range(steps):
        page.work.write(page.top - 2, page.left, f"t = {t + 1}")
        joined = page.typed(d, 1, f"x_{t + 1}")
        page.top -= 2
        own_h = page.typed(h, 1, "") if before_h is None else page.each("", "{0}", before_h)
        both = Area(joined.sheet, joined.top, joined.left, d + h, 1)
        c_before = (
            page.typed(h, 1, "c_0") if before_c is None else page.each("c before", "{0}", before_c)
        )
        out = {}
        for g in "fioc":
            raw = page.product(weights[g], both, f"W_{g} [x, h]")
            wrong = slip == "bias" and t == bad and g == gate
            used = biases["c"] if wrong else biases[g]
            summed = page.each(f"+ b_{g}", "{0}+{1}", raw, used)
            text = "TANH({0})" if g == "c" else "1/(1+EXP(-{0}))"
            if slip == "function" and t == bad and g == gate:
                text = "TANH({0})"
            out[g] = page.each(f"{g}_{t + 1}", text, summed)
            if wrong:
                page.wrong(summed)
            if slip == "function" and t == bad and g == gate:
                page.wrong(out[g])
        used_c = out["i"] if slip == "state" and t == bad else c_before
        c = page.each(f"c_{t + 1}", "{0}*{1}+{2}*{3}", out["f"], used_c, out["i"], out["c"])
        if slip == "state" and t == bad:
            page.wrong(c, c_before)
        hidden = page.each(f"h_{t + 1}", "{0}*TANH({1})", out["o"], c)
        before_h, before_c = hidden, c
        assert own_h
        page.next_part()


def tables(page: Page, slip: str) -> None:
    """Plain tables: features, a product that may leave one out, sums that may stop early."""
    n, d, m = page.chance.randint(4, 6), page.chance.randint(5, 7), 3
    x = page.typed(d, n, "Features")
    w = page.typed(m, d - (slip == "feature"), "W")
    if slip == "feature":
        page.wrong(x.part(d - 1, 1))
    y = page.product(w, x.part(0, d - 1) if slip == "feature" else x, "W X")
    if slip == "feature":
        page.wrong(y)
    page.note("Each column is a word.")
    own, end = page.sheet, d - 1 - (2 if slip == "sum" else 0)
    mean = page.computed(
        1,
        n,
        "mean",
        lambda r, c: (
            f"SUM({x.range((0, c), (end, c), '', own)})/{end + 1}"
            if slip != "feature"
            else f"SUM({y.column(c, '', own)})/{m}"
        ),
    )
    if slip == "sum":
        page.wrong(mean, x.part(d - 2, 2))
        y = page.each("scaled", "{0}*2", y)
    else:
        page.each("centred", "{0}-{1}", x if slip != "feature" else y, mean)
    page.note("The last step: shares.")
    a, _ = page.softmax(y, True)
    page.each("log", "LN({0})", a)


def random_weights(page: Page, slip: str) -> None:
    """A small network whose weights are drawn by RAND."""
    n, d, m = 4, page.chance.randint(3, 5), page.chance.randint(2, 4)
    x = page.typed(d, n, "X")
    w1, b = page.typed(m, d, "W1", random=True), page.typed(m, 1, "b1", random=True)
    w3, b3 = page.typed(m, d, "W2", random=True), page.typed(m, 1, "b2", random=True)
    parts = []
    for w, bias in ((w1, b), (w3, b3)):
        y = page.product(w, x, "W x")
        used = b if slip == "bias" else bias
        added = page.each("+ b", "{0}+{1}", y, used)
        if slip == "bias" and w is w3:
            page.wrong(added, b3)
        parts.append(page.each("relu", "MAX(0,{0})", added))
    page.each("sum", "{0}+{1}", *parts)


SLIPS: dict[Callable[[Page, str], None], list[str]] = {
    heads: ["bias", "unread", "value", "sum", "no softmax", "left out"],
    layers: ["bias", "relu", "function", "skip", "sum"],
    gates: ["bias", "function", "state"],
    tables: ["feature", "sum"],
    random_weights: ["bias"],
}


def imitated(
    model: Callable[[Page, str], None], slip: str, seed: int, folder: Path
) -> tuple[FormulaBook, dict[str, set[int]]]:
    """A workbook in memory, and the cells by sheet that a finding about its slip may name."""
    page = Page(folder / "imitation.xlsx", Random(f"{model.__name__} {seed}"))
    model(page, slip)
    page.book.close()
    book = read_formulas(page.path)
    return recalculated(book, folder / "recalculated.xlsx"), page.expected


def names() -> list[tuple[Any, str]]:
    """Every model without a slip, and with each of its slips."""
    return [(model, slip) for model, slips in SLIPS.items() for slip in ("", *slips)]


__all__ = ["imitated", "names", "xl_col_to_name"]

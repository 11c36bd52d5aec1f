"""Workbooks that compute attention as other people write it: other layouts, other names, other
formulas, with the values that a spreadsheet program stores."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
from openpyxl.worksheet.formula import ArrayFormula

from attn_xl.spreadsheets.addresses import address

Formula = Callable[[int, int], str]


class Hand:
    """A workbook in the making; every method takes the top left cell and returns the values."""

    def __init__(self) -> None:
        self.book = openpyxl.Workbook()
        self.book.remove(self.book.worksheets[0])
        self.stored: dict[tuple[str, str], float] = {}

    def sheet(self, name: str) -> Any:
        return self.book[name] if name in self.book.sheetnames else self.book.create_sheet(name)

    def given(self, name: str, row: int, column: int, values: Any) -> np.ndarray:
        """Numbers, or texts, as they are."""
        values = np.atleast_2d(np.array(values, dtype=object))
        for i, line in enumerate(values):
            for j, value in enumerate(line):
                self.sheet(name).cell(row + i, column + j, value)
        return values

    def cells(
        self, name: str, row: int, column: int, values: np.ndarray, formula: Formula
    ) -> np.ndarray:
        """A formula in each cell: `formula` takes the cell's row and column."""
        for i, line in enumerate(values):
            for j, value in enumerate(line):
                self.sheet(name).cell(row + i, column + j, f"={formula(row + i, column + j)}")
                self.stored[name, address(row + i, column + j)] = float(value)
        return values

    def array(self, name: str, row: int, column: int, values: np.ndarray, formula: str) -> np.ndarray:
        """One array formula for all cells."""
        at = area(row, column, values)
        self.sheet(name).cell(row, column).value = ArrayFormula(at, f"={formula}")
        for i, line in enumerate(values):
            for j, value in enumerate(line):
                if i or j:
                    self.sheet(name).cell(row + i, column + j, float(value))
        self.stored[name, address(row, column)] = float(values[0, 0])
        return values

    def save(self, path: Path) -> Path:
        """Write the workbook with its stored values, which openpyxl leaves out."""
        parts = {f"xl/worksheets/sheet{i}.xml": n for i, n in enumerate(self.book.sheetnames, 1)}
        self.book.save(path)
        with zipfile.ZipFile(path) as archive:
            content = {name: archive.read(name) for name in archive.namelist()}
        for part, name in parts.items():

            def stored(match: re.Match[str], name: str = name) -> str:
                return f"{match[1]}<v>{self.stored[name, match[2]]!r}</v></c>"

            xml = content[part].decode()
            pattern = r'(<c r="([A-Z]+\d+)"[^>]*><f[^>]*>[^<]*</f>)(?:<v ?/>|<v></v>)</c>'
            content[part] = re.sub(pattern, stored, xml).encode()
        book = content["xl/workbook.xml"].replace(b'fullCalcOnLoad="1"', b"")
        content["xl/workbook.xml"] = book  # what is stored is read, as in files that Excel saved
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in content.items():
                archive.writestr(name, data)
        return path


def area(row: int, column: int, values: Any) -> str:
    height, width = np.shape(values)
    return f"{address(row, column)}:{address(row + height - 1, column + width - 1)}"


def numbers(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(float)


def softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x)
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


class Head:
    """Attention of x (n, d) to y (m, d), in numbers."""

    def __init__(
        self,
        x: np.ndarray,
        w: Sequence[np.ndarray | None] = (None, None, None),
        b: Sequence[Any] = (0, 0, 0),
        y: np.ndarray | None = None,
        mask: Any = 0,
        scale: bool = True,
    ) -> None:
        y = x if y is None else y
        self.q, self.k, self.v = (
            (s if one is None else s @ one) + c for s, one, c in zip((x, y, y), w, b)
        )
        self.s = self.q @ self.k.T
        self.scaled = self.s / (np.sqrt(self.k.shape[1]) if scale else 1) + mask
        self.a = softmax(self.scaled)
        self.o = self.a @ self.v


def row_arrays(path: Path) -> np.ndarray:
    """Words in rows, one array formula for each matrix, titles above; nothing is named as expected."""
    hand, x = Hand(), numbers(1, 4, 3)
    w = [numbers(s, 3, 2) for s in (2, 3, 4)]
    h, s = Head(x, w), "Sheet1"
    hand.given(s, 1, 2, [["My attention demo"]])
    hand.given(s, 3, 2, [["Tokens"]])
    hand.given(s, 4, 2, [[word] for word in ("the", "cat", "sat", "down")])
    hand.given(s, 4, 3, x)
    for n, (name, m) in enumerate(zip(("first", "second", "third"), w)):
        hand.given(s, 3, 8 + 4 * n, [[name]])
        hand.given(s, 4, 8 + 4 * n, m)
    for n, m in enumerate((h.q, h.k, h.v)):
        column = 8 + 4 * n
        hand.given(s, 9, column, [["Wq" if n == 0 else f"step {n}"]])
        hand.array(s, 10, column, m, f"MMULT($C$4:$E$7,{area(4, column, w[n])})")
    hand.array(s, 16, 3, h.s, "MMULT(H10:I13,TRANSPOSE(L10:M13))")
    hand.array(
        s,
        16,
        9,
        h.a,
        "EXP(C16:F19/SQRT(2))/MMULT(EXP(C16:F19/SQRT(2)),{1,1,1,1;1,1,1,1;1,1,1,1;1,1,1,1})",
    )
    hand.array(s, 16, 15, h.o, "MMULT(I16:L19,P10:Q13)")
    hand.save(path)
    return h.o


def columns_from_the_left(path: Path) -> np.ndarray:
    """Words in columns, weights from the left, a formula in each cell, K transposed in between."""
    hand, x = Hand(), numbers(5, 4, 3)
    w = [numbers(s, 3, 3) for s in (6, 7, 8)]
    h, s = Head(x, w), "demo"
    hand.given(s, 2, 6, [["E"]])
    hand.given(s, 3, 6, [["I", "saw", "the", "dog"]])
    hand.given(s, 4, 6, x.T)
    hand.given(s, 7, 6, [["↓"] * 4])
    for n, m in enumerate((h.q, h.k, h.v)):
        row = 10 + 5 * n
        hand.given(s, row - 1, 2, [[f"matrix {n}"]])
        hand.given(s, row, 2, w[n].T)
        hand.given(s, row, 5, [["→"]] * 3)
        hand.cells(
            s,
            row,
            6,
            m.T,
            lambda r, c: f"SUMPRODUCT($B{r}:$D{r},TRANSPOSE({address(4, c)}:{address(6, c)}))",
        )
    hand.cells(s, 10, 13, h.k, lambda r, c: address(15 + c - 13, 6 + r - 10))
    hand.cells(
        s, 10, 20, h.s.T, lambda r, c: f"MMULT($M{r}:$O{r},{address(10, c - 14)}:{address(12, c - 14)})"
    )
    hand.cells(s, 16, 20, h.scaled.T, lambda r, c: f"{address(r - 6, c)}/SQRT(3)")
    hand.cells(s, 22, 20, np.exp(h.scaled.T), lambda r, c: f"EXP({address(r - 6, c)})")
    total = np.exp(h.scaled.T).sum(axis=0, keepdims=True)
    hand.cells(s, 27, 20, total, lambda r, c: f"SUM({address(22, c)}:{address(25, c)})")
    hand.cells(s, 30, 20, h.a.T, lambda r, c: f"{address(r - 8, c)}/{address(27, c)}")
    hand.cells(
        s, 36, 20, h.o.T, lambda r, c: f"MMULT($F{r - 16}:$I{r - 16},{address(30, c)}:{address(33, c)})"
    )
    hand.save(path)
    return h.o


def written_out_over_sheets(path: Path) -> np.ndarray:
    """Several sheets, products written out with * and +, biases, no scaling."""
    hand, x = Hand(), numbers(9, 3, 2)
    w = [numbers(s, 2, 2) for s in (10, 11, 12)]
    b = [numbers(s, 1, 2) for s in (13, 14, 15)]
    h = Head(x, w, b, scale=False)
    hand.given("Data", 1, 1, [["", "f1", "f2"], *([n, *r] for n, r in zip("abc", x))])
    hand.given("Model params", 1, 1, [["alpha", "", "", "beta", "", "", "gamma", ""]])
    for n in range(3):
        hand.given("Model params", 2, 1 + 3 * n, w[n])
        hand.given("Model params", 6, 1 + 3 * n, b[n])
    p = "'Model params'!"
    for n, m in enumerate((h.q, h.k, h.v)):
        c0 = 1 + 3 * n
        hand.cells(
            "Work", 2, c0, m,
            lambda r, c: f"Data!$B{r}*{p}{address(2, c)}+Data!$C{r}*{p}{address(3, c)}+{p}{address(6, c)}",
        )  # fmt: skip
    hand.cells("Work", 7, 1, h.s, lambda r, c: f"$A{r - 5}*$D${c + 1}+$B{r - 5}*$E${c + 1}")
    hand.cells(
        "Work",
        12,
        1,
        h.a,
        lambda r, c: f"EXP({address(r - 5, c)})/SUM(EXP($A{r - 5}),EXP($B{r - 5}),EXP($C{r - 5}))",
    )
    hand.cells(
        "Work",
        17,
        1,
        h.o,
        lambda r, c: "+".join(f"${k}{r - 5}*{address(2 + i, c + 6)}" for i, k in enumerate("ABC")),
    )
    hand.given("Notes", 1, 1, [["year", "pages"], ["2017", 15]])
    hand.save(path)
    return h.o


def three_heads(path: Path) -> np.ndarray:
    """Three heads below each other on one sheet, their outputs side by side, mixed with a bias."""
    hand, x = Hand(), numbers(16, 4, 3)
    w = [[numbers(17 + 3 * n + i, 3, 2) for i in range(3)] for n in range(3)]
    mix, bias = numbers(40, 6, 3), numbers(41, 1, 3)
    heads, s = [Head(x, one) for one in w], "multi head"
    hand.given(s, 2, 1, [["word", "x1", "x2", "x3"], *([f"w{i}", *r] for i, r in enumerate(x))])
    for n, h in enumerate(heads):
        top = 10 + 12 * n
        for i, m in enumerate((h.q, h.k, h.v)):
            hand.given(s, top - 1, 1 + 4 * i, [[["Wq", "Wk", "Wv"][i]]])
            hand.given(s, top, 1 + 4 * i, w[n][i])
            hand.array(s, top + 5, 1 + 4 * i, m, f"MMULT($B$3:$D$6,{area(top, 1 + 4 * i, w[n][i])})")
        hand.array(
            s,
            top,
            14,
            h.scaled,
            f"MMULT({area(top + 5, 1, h.q)},TRANSPOSE({area(top + 5, 5, h.k)}))/SQRT(2)",
        )
        for i in range(4):
            one = area(top + i, 14, h.a[:1])
            hand.array(s, top + i, 20, h.a[i : i + 1], f"_xlfn.SOFTMAX({one})")
        hand.array(s, top, 26, h.o, f"MMULT({area(top, 20, h.a)},{area(top + 5, 9, h.v)})")
    joined = np.hstack([h.o for h in heads])
    for n, h in enumerate(heads):
        hand.cells(s, 50, 2 + 2 * n, h.o, lambda r, c, n=n: address(r - 40 + 12 * n, c + 24 - 2 * n))  # type: ignore[misc]
    hand.given(s, 50, 10, mix)
    hand.given(s, 57, 10, bias)
    out = joined @ mix + bias
    hand.array(s, 50, 15, out, "MMULT(B50:G53,J50:L55)+J57:L57")
    hand.save(path)
    return out


def masked(path: Path) -> np.ndarray:
    """A table hides later words; names instead of addresses."""
    hand, x = Hand(), numbers(60, 4, 3)
    w = [numbers(s, 3, 3) for s in (61, 62, 63)]
    mask = np.triu(np.full((4, 4), -1e9), 1)
    h, s = Head(x, w, mask=mask), "Decoder"
    hand.given(s, 2, 2, x)
    for n, m in enumerate((h.q, h.k, h.v)):
        hand.given(s, 2, 7 + 5 * n, w[n])
        hand.book.defined_names[f"weights{n}"] = openpyxl.workbook.defined_name.DefinedName(
            f"weights{n}", attr_text=f"{s}!${address(2, 7 + 5 * n)[0]}$2:${address(2, 9 + 5 * n)[0]}$4"
        )
        hand.array(s, 10, 7 + 5 * n, m, f"MMULT(B2:D5,weights{n})")
    hand.given(s, 20, 2, mask)
    hand.array(s, 26, 2, h.scaled, "MMULT(G10:I13,TRANSPOSE(L10:N13))/SQRT(3)+B20:E23")
    hand.cells(s, 26, 8, np.exp(h.scaled), lambda r, c: f"EXP({address(r, c - 6)})")
    hand.cells(s, 26, 14, h.a, lambda r, c: f"{address(r, c - 6)}/SUM($H{r}:$K{r})")
    hand.array(s, 26, 20, h.o, "MMULT(N26:Q29,Q10:S13)")
    hand.save(path)
    return h.o


def without_weights(path: Path) -> np.ndarray:
    """Words compared with themselves; a spilled formula, and its whole result by #."""
    hand, x, s = Hand(), numbers(70, 4, 3), "dot product"
    h = Head(x, scale=False)
    hand.given(s, 2, 1, [["", "animal", "tech", "place"], *([n, *r] for n, r in zip("cdef", x))])
    hand.given(s, 2, 20, [["learning rate", 0.01]])
    hand.array(s, 10, 2, h.s, "MMULT(B3:D6,TRANSPOSE(B3:D6))")
    hand.array(s, 10, 8, np.exp(h.s), "EXP(_xlfn.ANCHORARRAY(B10))")
    hand.cells(s, 16, 8, h.a, lambda r, c: f"{address(r - 6, c)}/SUM($H{r - 6}:$K{r - 6})")
    hand.array(s, 16, 14, h.o, "MMULT(H16:K19,B3:D6)")
    hand.save(path)
    return h.o


def across(path: Path) -> np.ndarray:
    """Words that look at other words, on another sheet."""
    hand, x, y = Hand(), numbers(80, 2, 3), numbers(81, 4, 3)
    w = [numbers(s, 3, 2) for s in (82, 83, 84)]
    h, s = Head(x, w, y=y), "cross"
    hand.given("french", 1, 1, [["", "a", "b", "c"], *([n, *r] for n, r in zip(("le", "chat"), x))])
    hand.given("english", 1, 1, [["", "a", "b", "c"], *([n, *r] for n, r in zip("pqrs", y))])
    for n, (m, source) in enumerate(
        zip((h.q, h.k, h.v), ("french!B2:D3", "english!B2:D5", "english!B2:D5"))
    ):
        hand.given(s, 2, 1 + 4 * n, w[n])
        hand.array(s, 8, 1 + 4 * n, m, f"MMULT({source},{area(2, 1 + 4 * n, w[n])})")
    hand.array(s, 15, 1, h.s, "MMULT(A8:B9,TRANSPOSE(E8:F11))")
    hand.cells(s, 20, 1, h.scaled, lambda r, c: f"{address(r - 5, c)}/2^0.5")
    hand.cells(
        s, 25, 1, h.a, lambda r, c: f"EXP({address(r - 5, c)})/SUMPRODUCT(EXP($A{r - 5}:$D{r - 5}))"
    )
    hand.array(s, 30, 1, h.o, "MMULT(A25:D26,I8:J11)")
    hand.save(path)
    return h.o


def one_word_at_a_time(path: Path) -> np.ndarray:
    """The attention of two of the words, each with its own small tables, and products in two steps."""
    hand, x, s = Hand(), numbers(100, 4, 3), "by hand"
    w = [numbers(n, 3, 2) for n in (101, 102, 103)]
    h = Head(x, w)
    hand.given(s, 1, 1, [["", "f1", "f2", "f3"], *([n, *r] for n, r in zip("abcd", x))])
    for n, m in enumerate((h.q, h.k, h.v)):
        hand.given(s, 1, 6 + 3 * n, w[n])
        hand.array(s, 6, 6 + 3 * n, m, f"MMULT(B2:D5,{area(1, 6 + 3 * n, w[n])})")
    for n, word in enumerate((1, 3)):
        top = 20 + 20 * n
        hand.given(s, top - 1, 1, [[f"word {word}"]])
        pairs = h.q[word] * h.k
        hand.cells(
            s,
            top,
            1,
            pairs,
            lambda r, c, word=word, top=top: (
                f"{address(6 + word, c + 5).replace('F', 'F$').replace('G', 'G$')}*{address(6 + r - top, c + 8)}"
            ),
        )  # type: ignore[misc]
        hand.cells(s, top, 4, pairs.sum(axis=1, keepdims=True), lambda r, c: f"SUM(A{r}:B{r})")
        hand.cells(s, top, 5, h.scaled[word][:, None], lambda r, c: f"D{r}/SQRT(2)")
        hand.cells(s, top, 6, np.exp(h.scaled[word])[:, None], lambda r, c: f"EXP(E{r})")
        hand.cells(
            s, top, 7, h.a[word][:, None], lambda r, c, top=top: f"F{r}/SUM(F${top}:F${top + 3})"
        )  # type: ignore[misc]
        weighted = h.a[word][:, None] * h.v
        hand.cells(s, top, 9, weighted, lambda r, c, top=top: f"$G{r}*{address(6 + r - top, c + 3)}")  # type: ignore[misc]
        hand.cells(
            s,
            top + 5,
            9,
            weighted.sum(axis=0, keepdims=True),
            lambda r, c: f"SUM({address(r - 5, c)}:{address(r - 2, c)})",
        )
    hand.save(path)
    return h.o


def heads_on_sheets(path: Path) -> np.ndarray:
    """A sheet for each head, products by INDEX, outputs joined on a third sheet."""
    hand, x = Hand(), numbers(110, 3, 4)
    w = [[numbers(111 + 3 * n + i, 4, 2) for i in range(3)] for n in range(2)]
    heads, mix = [Head(x, one) for one in w], numbers(120, 4, 4)
    hand.given(
        "Embedding", 1, 1, [["Token", "a", "b", "c", "d"], *([f"t{i}", *r] for i, r in enumerate(x))]
    )
    for n, h in enumerate(heads):
        s = f"Head {n + 1}"
        for i, m in enumerate((h.q, h.k, h.v)):
            c = 1 + 4 * i
            hand.given(s, 1, c, [[f"{'QKV'[i]} weights"]])
            hand.given(s, 2, c, w[n][i])
            hand.cells(
                s,
                10,
                c,
                m,
                lambda r, k, c=c: (
                    f"INDEX(MMULT(Embedding!$B$2:$E$4,${address(2, c)[0]}$2:${address(2, c + 1)[0]}$5),ROW()-9,COLUMN()-{c - 1})"
                ),
            )  # type: ignore[misc]
        hand.cells(
            s,
            15,
            1,
            h.scaled,
            lambda r, c: f"SUMPRODUCT($A{r - 5}:$B{r - 5},$E${9 + c}:$F${9 + c})/SQRT(2)",
        )
        hand.cells(
            s,
            15,
            6,
            h.a,
            lambda r, c: f"EXP({address(r, c - 5)})/SUM(EXP($A{r}),EXP($B{r}),EXP($C{r}))",
        )
        hand.array(s, 20, 1, h.o, "MMULT(F15:H17,I10:J12)")
    for n, h in enumerate(heads):
        hand.array("Output", 2, 1 + 2 * n, h.o, f"'Head {n + 1}'!A20:B22")
    hand.given("Output", 2, 8, mix)
    out = np.hstack([h.o for h in heads]) @ mix
    hand.array("Output", 10, 1, out, "MMULT(A2:D4,H2:K5)")
    hand.save(path)
    return out


def rows_typed_one_by_one(path: Path) -> np.ndarray:
    """Array formulas of one row each, typed without $; a copy of the words beside each matrix."""
    hand, x, s = Hand(), numbers(130, 3, 3), "typed"
    w = [numbers(n, 3, 3) for n in (131, 132, 133)]
    h = Head(x, w)
    hand.given(s, 1, 2, [["height", "weight", "age"]])
    hand.given(s, 2, 1, [[n, *r] for n, r in zip(("Ann", "Bob", "Cem"), x)])
    for n, m in enumerate((h.q, h.k, h.v)):
        top = 8 + 6 * n
        hand.cells(s, top, 1, x, lambda r, c, top=top: address(r - top + 2, c + 1))  # type: ignore[misc]
        hand.given(s, top, 5, w[n])
        for i in range(3):
            hand.array(s, top + i, 9, m[i : i + 1], f"MMULT(A{top + i}:C{top + i},E{top}:G{top + 2})")
    for i in range(3):
        hand.array(s, 30 + i, 1, h.s[i : i + 1], f"MMULT(I{8 + i}:K{8 + i},TRANSPOSE(I14:K16))")
        hand.cells(s, 30 + i, 5, h.scaled[i : i + 1], lambda r, c: f"{address(r, c - 4)}/SQRT(3)")
        hand.cells(
            s,
            30 + i,
            9,
            h.a[i : i + 1],
            lambda r, c: (
                f"2.71828182845905^{address(r, c - 4)}/(2.71828182845905^$E{r}+2.71828182845905^$F{r}+2.71828182845905^$G{r})"
            ),
        )
        hand.array(s, 30 + i, 13, h.o[i : i + 1], f"MMULT(I{30 + i}:K{30 + i},I20:K22)")
    hand.save(path)
    return h.o


def one_formula(path: Path) -> np.ndarray:
    """Queries, keys and values, then the whole of attention in one formula."""
    hand, x, s = Hand(), numbers(140, 3, 4), "Sheet1"
    w = [numbers(n, 4, 2) for n in (141, 142, 143)]
    h = Head(x, w)
    hand.given(s, 1, 1, [["", "a", "b", "c", "d"], *([n, *r] for n, r in zip("xyz", x))])
    for n, m in enumerate((h.q, h.k, h.v)):
        hand.given(s, 1, 8 + 3 * n, w[n])
        hand.array(s, 6, 8 + 3 * n, m, f"MMULT($B$2:$E$4,{area(1, 8 + 3 * n, w[n])})")
    scores = "MMULT(_xlpm.q,TRANSPOSE(_xlpm.k))/SQRT(2)".replace("_xlpm.q", "H6:I8").replace(
        "_xlpm.k", "K6:L8"
    )
    shares = f"_xlfn.BYROW({scores},_xlfn.LAMBDA(_xlpm.r,EXP(_xlpm.r)/SUM(EXP(_xlpm.r))))"
    hand.array(s, 12, 1, h.o, f"_xlfn.LET(_xlpm.a,{shares},MMULT({shares},N6:O8))")
    hand.save(path)
    return h.o


def no_intermediate_step(path: Path) -> np.ndarray:
    """Everything in one formula, with defined names."""
    hand, x, s = Hand(), numbers(150, 3, 4), "Sheet1"
    w = [numbers(n, 4, 3) for n in (151, 152, 153)]
    h = Head(x, w, scale=True)
    hand.given(s, 2, 2, x)
    hand.given(s, 2, 10, w[0])
    hand.given(s, 2, 14, w[1])
    hand.given(s, 2, 18, w[2])
    names = {"emb": "$B$2:$E$4", "wA": "$J$2:$L$5", "wB": "$N$2:$P$5", "wC": "$R$2:$T$5"}
    for name, cells in names.items():
        hand.book.defined_names[name] = openpyxl.workbook.defined_name.DefinedName(
            name, attr_text=f"{s}!{cells}"
        )
    scores = "MMULT(MMULT(emb,wA),TRANSPOSE(MMULT(emb,wB)))/SQRT(3)"
    hand.array(s, 10, 2, h.o, f"MMULT(SOFTMAX({scores}),MMULT(emb,wC))")
    hand.save(path)
    return h.o


def two_layers(path: Path) -> np.ndarray:
    """Embeddings plus positions, attention, and a second attention over its results."""
    hand, e, p = Hand(), numbers(90, 3, 2), numbers(91, 3, 2)
    x, s = e + p, "net"
    w = [numbers(n, 2, 2) for n in range(92, 98)]
    first = Head(x, w[:3])
    second = Head(first.o, w[3:])
    hand.given(s, 1, 1, [["", "e1", "e2"], *([n, *r] for n, r in zip("abc", e))])
    hand.given(s, 2, 6, p)
    hand.cells(s, 2, 10, x, lambda r, c: f"{address(r, c - 8)}+{address(r, c - 4)}")
    for layer, (h, source) in enumerate(((first, "J2:K4"), (second, "P40:Q42"))):
        top = 10 + 40 * layer
        for n, m in enumerate((h.q, h.k, h.v)):
            hand.given(s, top, 2 + 4 * n, w[3 * layer + n])
            hand.array(s, top + 4, 2 + 4 * n, m, f"MMULT({source},{area(top, 2 + 4 * n, m[:2])})")
        hand.array(
            s,
            top + 10,
            2,
            h.scaled,
            f"MMULT({area(top + 4, 2, h.q)},TRANSPOSE({area(top + 4, 6, h.k)}))/SQRT(2)",
        )
        hand.cells(
            s,
            top + 10,
            8,
            h.a,
            lambda r, c: f"EXP({address(r, c - 6)})/(EXP($B{r})+EXP($C{r})+EXP($D{r}))",
        )
        hand.array(s, top + 30, 16, h.o, f"MMULT({area(top + 10, 8, h.a)},{area(top + 4, 10, h.v)})")
    hand.save(path)
    return first.o


def divided_by_a_cell(path: Path) -> np.ndarray:
    """Scores divided by the square root of a number in a cell, which is not d_k; a column of numbers of
    the vocabulary between words and vectors; W_O and its bias, afterwards."""
    hand, x, s = Hand(), numbers(160, 3, 3), "Übung"
    w, w_o, b_o = [numbers(n, 3, 3) for n in (161, 162, 163)], numbers(164, 3, 3), numbers(165, 1, 3)
    h = Head(x * np.sqrt(np.sqrt(3 / 8)), w)
    scores = (x @ w[0]) @ (x @ w[1]).T / np.sqrt(8)
    a, v = softmax(scores), x @ w[2]
    hand.given(s, 1, 1, [["Teiler", 8]])
    hand.given(s, 2, 1, [[word, 10 + n] for n, word in enumerate(("der", "Hund", "bellt"))])
    hand.given(s, 2, 3, x)
    for n, m in enumerate((x @ w[0], x @ w[1], v)):
        hand.given(s, 2, 8 + 4 * n, w[n])
        hand.array(s, 7, 8 + 4 * n, m, f"MMULT($C$2:$E$4,{area(2, 8 + 4 * n, w[n])})")
    np.testing.assert_allclose(h.a, a)
    hand.array(s, 12, 1, scores, "MMULT(H7:J9,TRANSPOSE(L7:N9))/SQRT($B$1)")
    hand.array(s, 12, 6, a, "EXP(A12:C14)/MMULT(EXP(A12:C14),TRANSPOSE(COLUMN(A12:C14)^0))")
    hand.array(s, 17, 1, a @ v, "MMULT(F12:H14,P7:R9)")
    hand.given(s, 17, 8, w_o)
    hand.given(s, 21, 8, b_o)
    hand.array(s, 17, 13, a @ v @ w_o + b_o, "MMULT(A17:C19,H17:J19)+H21:J21")
    hand.save(path)
    return np.asarray(a @ v @ w_o + b_o)


def encoder_block(path: Path, also: Callable[[Any], None] = lambda sheet: None) -> np.ndarray:
    """An encoder block of one head: W_O found by its product, the other weights told by labels; `also`
    writes more on its sheet."""
    hand, x, s = Hand(), numbers(170, 3, 2), "block"
    w, w_o = [numbers(n, 2, 2) for n in (171, 172, 173)], numbers(174, 2, 2)
    w_1, b_1, w_2, b_2 = (
        numbers(n, *size) for n, size in enumerate(((2, 4), (1, 4), (4, 2), (1, 2)), 175)
    )
    h = Head(x, w)
    hand.given(s, 2, 1, [["the"], ["cat"], ["sat"]])
    hand.given(s, 2, 2, x)
    for n, m in enumerate((h.q, h.k, h.v)):
        hand.given(s, 2, 6 + 3 * n, w[n])
        hand.array(s, 6, 6 + 3 * n, m, f"MMULT($B$2:$C$4,{area(2, 6 + 3 * n, w[n])})")
    hand.array(s, 11, 1, h.a, "SOFTMAX(MMULT(F6:G8,TRANSPOSE(I6:J8))/SQRT(2))")
    hand.array(s, 11, 6, h.o, "MMULT(A11:C13,L6:M8)")
    hand.given(s, 11, 9, w_o)
    mixed = hand.array(s, 16, 1, h.o @ w_o, "MMULT(F11:G13,I11:J12)")

    def norm(top: int, before: np.ndarray, seed: int) -> np.ndarray:
        gamma, beta = numbers(seed, 1, 2) + 5, numbers(seed + 1, 1, 2)
        centred = before - before.mean(axis=1, keepdims=True)
        after = centred / np.sqrt(before.var(axis=1, keepdims=True) + 1e-5) * gamma + beta
        for column, name, row in ((9, f"gamma_{seed // 90}", gamma), (12, f"beta_{seed // 90}", beta)):
            hand.given(s, top, column, [[name]])
            hand.given(s, top + 1, column, row)
        return hand.cells(
            s, top + 1, 5, after,
            lambda r, c: f"({address(r, c - 4)}-AVERAGE($A{r}:$B{r}))/SQRT(VARP($A{r}:$B{r})+0.00001)"
            f"*{address(top + 1, c + 4)[:-2]}${top + 1}+{address(top + 1, c + 7)[:-2]}${top + 1}",
        )  # fmt: skip

    added = hand.array(s, 21, 1, mixed + x, "A16:B18+B2:C4")
    first = norm(20, added, 90)
    for row, column, name, m in (
        (26, 9, "W_1", w_1),
        (26, 14, "b_1", b_1),
        (31, 9, "W_2", w_2),
        (31, 14, "b_2", b_2),
    ):
        hand.given(s, row, column, [[name]])
        hand.given(s, row + 1, column, m)
    hidden = np.maximum(first @ w_1 + b_1, 0)
    hand.cells(
        s, 27, 1, hidden,
        lambda r, c: f"MAX(0,$E{r - 6}*{address(27, c + 8)}+$F{r - 6}*{address(28, c + 8)}+{address(27, c + 13)})",
    )  # fmt: skip
    hand.array(s, 32, 1, hidden @ w_2 + b_2, "MMULT(A27:D29,I32:J35)+N32:O32")
    last = hand.array(s, 42, 1, hidden @ w_2 + b_2 + first, "A32:B34+E21:F23")
    end = norm(41, last, 180)
    also(hand.sheet(s))
    hand.save(path)
    return end


def one_matrix_with_its_bias(path: Path) -> np.ndarray:
    """GPT-2 as a spreadsheet: one matrix and one bias for the queries, keys and values of both heads;
    a blank column between the words and their vectors."""
    hand, x, s = Hand(), numbers(190, 3, 4), "Block 0"
    fused, bias = numbers(191, 4, 12) / 2, numbers(192, 1, 12)
    mix, b_o = numbers(193, 4, 4), numbers(194, 1, 4)
    hand.given(s, 2, 1, [["Mike"], ["is"], ["quick"]])
    hand.given(s, 2, 3, x)
    hand.given("c_attn.weight", 1, 1, fused)
    hand.given("c_attn.bias", 1, 1, bias)
    qkv = x @ fused + bias
    hand.array(s, 8, 3, qkv, "MMULT(C2:F4,c_attn.weight!A1:L4)+c_attn.bias!A1:L1")
    outputs = []
    for n in (0, 1):
        top, parts = 14 + 10 * n, [slice(2 * n + first, 2 * n + first + 2) for first in (0, 4, 8)]
        q, k, v = (qkv[:, part] for part in parts)
        at = [area(8, 3 + part.start, q) for part in parts]
        scores = hand.array(
            s, top, 3, q @ k.T / np.sqrt(2), f"MMULT({at[0]},TRANSPOSE({at[1]}))/SQRT(2)"
        )
        powers = hand.cells(
            s, top, 7, np.tril(np.exp(scores)),
            lambda r, c, top=top: f"IF(ROW()-{top}<COLUMN()-7,0,EXP({address(r, c - 4)}))",
        )  # type: ignore[misc]  # fmt: skip
        a = powers / powers.sum(axis=1, keepdims=True)
        hand.cells(s, top, 11, a, lambda r, c: f"{address(r, c - 4)}/SUM($G{r}:$I{r})")
        outputs.append(hand.array(s, top, 15, a @ v, f"MMULT({area(top, 11, a)},{at[2]})"))
        hand.cells(s, 34, 3 + 2 * n, a @ v, lambda r, c, n=n: address(r - 20 + 10 * n, c + 12 - 2 * n))  # type: ignore[misc]
    hand.given("c_proj.weight", 1, 1, mix)
    hand.given("c_proj.bias", 1, 1, b_o)
    out = np.hstack(outputs) @ mix + b_o
    hand.array(s, 40, 3, out, "MMULT(C34:F36,c_proj.weight!A1:D4)+c_proj.bias!A1:D1")
    hand.save(path)
    return np.asarray(out)


def weights_and_biases_of_pytorch(path: Path) -> np.ndarray:
    """Weights as PyTorch stores them, (out, in), and biases in columns: x times the transpose of both."""
    hand, x, s = Hand(), numbers(200, 4, 3), "torch"
    w, b = [numbers(n, 3, 2) for n in (201, 202, 203)], [numbers(n, 1, 2) for n in (204, 205, 206)]
    h = Head(x, w, b)
    hand.given(s, 2, 1, x)
    for n, m in enumerate((h.q, h.k, h.v)):
        top = 8 + 6 * n
        hand.given(s, top, 1, w[n].T)
        hand.given(s, top, 5, b[n].T)
        weights, bias = area(top, 1, w[n].T), area(top, 5, b[n].T)
        hand.array(s, top, 8, m, f"MMULT($A$2:$C$5,TRANSPOSE({weights}))+TRANSPOSE({bias})")
    hand.array(s, 8, 12, h.s, "MMULT(H8:I11,TRANSPOSE(H14:I17))")
    hand.array(s, 14, 12, h.a, "EXP(L8:O11/2^0.5)/MMULT(EXP(L8:O11/2^0.5),TRANSPOSE(COLUMN(L8:O8)^0))")
    hand.array(s, 20, 12, h.o, "MMULT(L14:O17,H20:I23)")
    hand.save(path)
    return h.o


def at_random(seed: int, path: Path) -> np.ndarray:
    """Attention of a random kind, its matrices one below or beside the other on one sheet: heads,
    biases, causal or not, scaled or not, words in columns, steps left out, W_O with its bias."""
    g, hand, at = np.random.default_rng(seed), Hand(), [2, 2]
    chance = lambda share: bool(g.random() < share)  # noqa: E731
    n, d, k, v = g.integers(2, 6, 4).tolist()
    heads, learned, turned = 1 + chance(0.3) + chance(0.2), chance(0.8), chance(0.3)
    learned |= heads > 1
    bias, scale, causal, mixed = (chance(share) for share in (0.4, 0.7, 0.3, 0.5))
    real = lambda *shape: g.normal(size=shape).round(2)  # noqa: E731

    def put(values: np.ndarray, formula: str = "") -> str:
        values = values.T if turned else values
        row, column = at
        if formula:
            hand.array("s", row, column, values, formula)
        else:
            hand.given("s", row, column, values)
        beside = chance(0.5) and column < 20
        at[:] = (row, column + values.shape[1] + 2) if beside else (row + 15, 2)
        return area(row, column, values)

    x, outputs, held = real(n, d), [], []
    words = put(x)
    mask = np.triu(np.full((n, n), -1e30), 1) if causal else 0
    for _ in range(heads):
        w = [real(d, width) for width in (k, k, v)] if learned else (None, None, None)
        b = [real(1, m.shape[1]) if bias and m is not None else 0 for m in w]
        h = Head(x, w, b, mask=mask, scale=scale)
        named = [words] * 3
        for i, (m, c, result) in enumerate(zip(w, b, (h.q, h.k, h.v))):
            if m is not None:
                formula = f"MMULT({words},{put(m)})" + (f"+{put(c)}" if bias else "")
                named[i] = put(np.asarray(result), formula)
        scores = f"MMULT({named[0]},TRANSPOSE({named[1]}))"
        weights = put(h.a, f"EXP({put(h.s, scores) if chance(0.7) else scores})")
        outputs.append(h.o)
        held.append(put(h.o, f"MMULT({weights},{named[2]})"))
    out = np.hstack(outputs)
    if mixed and learned:
        mix, more = real(out.shape[1], d), real(1, d) if bias else 0
        out = out @ mix + more
        put(out, f"MMULT(HSTACK({','.join(held)}),{put(mix)})" + (f"+{put(more)}" if bias else ""))
    hand.save(path)
    return np.asarray(out)


WORKBOOKS = [
    one_matrix_with_its_bias,
    weights_and_biases_of_pytorch,
    divided_by_a_cell,
    row_arrays,
    columns_from_the_left,
    written_out_over_sheets,
    three_heads,
    masked,
    without_weights,
    across,
    one_word_at_a_time,
    heads_on_sheets,
    rows_typed_one_by_one,
    one_formula,
    no_intermediate_step,
    two_layers,
]

"""Self-attention as other programs write it: the same sheets, formulas and values.

Each writer has its fastest configuration that was found, and is left out, with the reason, where it is
not installed: pip install lxml xlsxwriter jetxl polars kyrax xlpp rustypyxl; for libxlsxwriter a C
compiler and Debian's libxlsxwriter-dev.

Also tried, and not here: fastpyxl, office-oxide, openexcel-c, oxlsx, pyexcelerate, pyfastexcel and
wolfxl write formulas without values, rvgsrust-xlsxwriter with 0 as the value of each; rustpy-xlsxwriter
and xlsxturbo write formulas only as whole columns, without values; fastxlsx, fastxlsxio, rapidxlsx,
turbo-xlsx-rs and xlsxlite write none. polars and pandas write with XlsxWriter or openpyxl.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from attn_xl.spreadsheets.addresses import letters

Cell = tuple[str | None, object]  # formula, value


def sheets(
    x: np.ndarray, words: list[str], dims: list[str]
) -> Iterator[tuple[str, list[str], Iterator[list[Cell]]]]:
    """The sheets of self-attention as anybody would make them: name, column labels, rows from row 5."""
    n, d = x.shape
    column = [letters(j + 1) for j in range(2 * n + 10)]
    last_word, last_dim, end = column[n], column[d], n + 4
    scores = x @ x.T
    scaled = scores / np.sqrt(d)
    maximum = scaled.max(axis=1, keepdims=True)
    powers = np.exp(scaled - maximum)
    total = powers.sum(axis=1, keepdims=True)
    weights = powers / total
    output = weights @ x
    at_max, at_power, at_sum = n + 2, n + 4, 2 * n + 5

    def rows(values: np.ndarray, formula: Callable[[int, int], str] | None) -> Iterator[list[Cell]]:
        for i, line in enumerate(values.tolist()):
            yield [
                (None, words[i]),
                *((formula(i + 5, j) if formula else None, v) for j, v in enumerate(line)),
            ]

    def softmax() -> Iterator[list[Cell]]:
        parts = zip(weights.tolist(), maximum.tolist(), powers.tolist(), total.tolist())
        for i, (w, m, p, s) in enumerate(parts):
            r = i + 5
            top, bottom = f"${column[at_max]}{r}", f"${column[at_sum]}{r}"
            yield [
                (None, words[i]),
                *((f"{column[at_power + j]}{r}/{bottom}", v) for j, v in enumerate(w)),
                (None, ""),
                (f"MAX(Scaled!$B{r}:${last_word}{r})", m[0]),
                (None, ""),
                *((f"EXP(Scaled!{column[j + 1]}{r}-{top})", v) for j, v in enumerate(p)),
                (None, ""),
                (f"SUM(${column[at_power]}{r}:${column[at_sum - 2]}{r})", s[0]),
            ]

    yield "Input", dims, rows(x, None)
    for name in "QKV":
        yield name, dims, rows(x, lambda r, j: f"Input!{column[j + 1]}{r}")
    product = "SUMPRODUCT(Q!$B{0}:${2}{0},K!$B${1}:${2}${1})".format
    yield "Scores", words, rows(scores, lambda r, j: product(r, j + 5, last_dim))
    yield "Scaled", words, rows(scaled, lambda r, j: f"Scores!{column[j + 1]}{r}/SQRT(d_k)")
    yield "Softmax", [*words, "", "maximum", "", *words, "", "sum"], softmax()
    yield (
        "Output",
        dims,
        rows(
            output,
            lambda r, j: (
                f"SUM(MMULT(Softmax!$B{r}:${last_word}{r},V!{column[j + 1]}$5:{column[j + 1]}${end}))"
            ),
        ),
    )


def read_input(path: Path) -> tuple[np.ndarray, list[str], list[str]]:
    from python_calamine import CalamineWorkbook

    rows = CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python()
    return np.array([row[1:] for row in rows[1:]]), [row[0] for row in rows[1:]], rows[0][1:]


def write_nothing(source: Path, target: Path) -> None:
    """What every writer in Python needs: the input read, each formula and its value made."""
    for _, _, rows in sheets(*read_input(source)):
        for _ in rows:
            pass


def write_with_openpyxl(source: Path, target: Path) -> None:
    import openpyxl
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import NamedStyle
    from openpyxl.workbook.defined_name import DefinedName

    assert openpyxl.LXML, "lxml is not used"
    book = openpyxl.Workbook(write_only=True)
    book.add_named_style(NamedStyle(name="value", number_format="0.000"))
    for name, labels, rows in sheets(*read_input(source)):
        sheet = book.create_sheet(name)
        for line in ([name], [], [], ["", *labels]):
            sheet.append(line)
        styled = WriteOnlyCell(sheet)
        styled.style = "value"
        for row in rows:
            made = []
            for formula, value in row:
                cell = WriteOnlyCell(sheet, value if formula is None else "=" + formula)
                cell._style = styled._style
                made.append(cell)
            sheet.append(made)
    book.defined_names["d_k"] = DefinedName("d_k", attr_text="Q!$A$1")
    book.save(target)


def write_with_xlsxwriter(source: Path, target: Path) -> None:
    import xlsxwriter

    book = xlsxwriter.Workbook(target, {"constant_memory": True})
    style = book.add_format({"num_format": "0.000"})
    for name, labels, rows in sheets(*read_input(source)):
        sheet = book.add_worksheet(name)
        sheet.write_string(0, 0, name)
        sheet.write_row(3, 1, labels)
        for r, row in enumerate(rows, 4):
            for c, (formula, value) in enumerate(row):
                if formula is not None:
                    sheet.write_formula(r, c, "=" + formula, style, value)
                elif isinstance(value, str):
                    sheet.write_string(r, c, value)
                else:
                    sheet.write_number(r, c, value, style)
    book.define_name("d_k", "=Q!$A$1")
    book.close()


def write_with_jetxl(source: Path, target: Path) -> None:
    """Without the labels of columns: text and numbers do not share a column."""
    import jetxl
    import polars

    made = []
    for name, _, rows in sheets(*read_input(source)):
        formulas = []
        columns: dict[str, list[object]] = {"A": [name, None, None, None]}
        for r, row in enumerate(rows, 5):
            for c, (formula, value) in enumerate(row):
                if formula is not None:
                    formulas.append((r, c, formula, repr(value)))
                elif value != "":
                    columns.setdefault(letters(c + 1), [None] * 4).append(value)
        width = len(row)
        keys = [letters(c + 1) for c in range(width)]
        empty = [None] * len(columns["A"])
        frame = polars.DataFrame(
            {key: columns.get(key, empty) for key in keys},
            schema={key: polars.Float64 if key != "A" else polars.String for key in keys},
        )
        sheet = {"data": frame, "name": name, "write_header_row": False, "formulas": formulas}
        made.append({**sheet, "column_formats": dict.fromkeys(keys[1:], "0.000")})
    jetxl.write_sheets_arrow(made, str(target), 1)


def write_with_kyrax(source: Path, target: Path) -> None:
    """Without the number format, with which it takes 1.7 times as long."""
    import kyrax

    made = []
    for name, labels, rows in sheets(*read_input(source)):
        lines: list[list[object]] = [[name], [], [], [None, *labels]]
        formulas = []
        for r, row in enumerate(rows, 4):
            lines.append([value if formula is None and value != "" else None for formula, value in row])
            formulas += [
                {"row": r, "col": c, "text": formula, "cached": value}
                for c, (formula, value) in enumerate(row)
                if formula is not None
            ]
        made.append({"name": name, "rows": lines, "formulas": formulas})
    names = [{"name": "d_k", "value": "Q!$A$1"}]
    kyrax.write_excel_turbo(str(target), made, defined_names=names)


def write_with_xlpp(source: Path, target: Path) -> None:
    import xlpp

    book = xlpp.Workbook()
    for name, labels, rows in sheets(*read_input(source)):
        sheet = book.add_worksheet(name)
        sheet.cell(1, 1).value = name
        for c, label in enumerate(labels, 2):
            sheet.cell(4, c).value = label
        for r, row in enumerate(rows, 5):
            for c, (formula, value) in enumerate(row, 1):
                if value == "":
                    continue
                cell = sheet.cell(r, c)
                cell.value = value
                if formula is not None:
                    cell.set_formula(formula)
                if not isinstance(value, str):
                    cell.set_number_format("0.000")
    book.save(str(target))


def write_with_rustypyxl(source: Path, target: Path) -> None:
    """Without a number format, which its fastest way does not offer."""
    import rustypyxl

    book = rustypyxl.WriteOnlyWorkbook(str(target))
    for name, labels, rows in sheets(*read_input(source)):
        book.create_sheet(name)
        book.append_rows([[name], [], [], ["", *labels]])
        for row in rows:
            book.append_row([value if formula is None else "=" + formula for formula, value in row])
    book.close()


@dataclass(frozen=True)
class Writer:
    """One way to write the sheets: a function of this file, or, without one, the program in C."""

    label: str
    write: Callable[[Path, Path], None] | None
    packages: tuple[str, ...] = ()

    def missing(self) -> str:
        """What is not installed, or nothing."""
        absent = [package for package in self.packages if find_spec(package) is None]
        return f"{', '.join(absent)} not installed" if absent else ""

    def versions(self) -> str:
        return ", ".join(f"{package} {version(package)}" for package in self.packages)

    def command(self, source: Path, target: Path) -> list[str]:
        """The command that writes; raises `Unavailable` where it cannot."""
        if self.write is None:
            return [str(compiled(source.parent)), str(table(source)), str(target)]
        if self.missing():
            raise Unavailable(self.missing())
        return [sys.executable, __file__, self.label, str(source), str(target)]


class Unavailable(Exception):
    """A writer is not installed; says what is missing."""


def compiled(folder: Path) -> Path:
    """The program of libxlsxwriter.c."""
    compiler, program = shutil.which("cc"), folder / "libxlsxwriter"
    if not compiler:
        raise Unavailable("no C compiler")
    source = Path(__file__).with_name("libxlsxwriter.c")
    line = [compiler, "-O2", str(source), "-o", str(program), "-lxlsxwriter", "-lm"]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode:
        raise Unavailable(f"libxlsxwriter-dev not installed: {done.stderr.strip().splitlines()[0]}")
    return program


def table(source: Path) -> Path:
    """The numbers of an input workbook as the program in C reads them."""
    x, _, _ = read_input(source)
    path = source.with_suffix(".bin")
    np.concatenate([np.array(x.shape, float), x.ravel()]).tofile(path)
    return path


WRITERS = [
    Writer("formulas made, nothing written", write_nothing),
    Writer("libxlsxwriter, in C", None),
    Writer("kyrax", write_with_kyrax, ("kyrax",)),
    Writer("jetxl", write_with_jetxl, ("jetxl", "polars")),
    Writer("xlpp", write_with_xlpp, ("xlpp",)),
    Writer("XlsxWriter, constant_memory", write_with_xlsxwriter, ("xlsxwriter",)),
    Writer("openpyxl, write-only, lxml", write_with_openpyxl, ("openpyxl", "lxml")),
    Writer("rustypyxl, write-only", write_with_rustypyxl, ("rustypyxl",)),
]


if __name__ == "__main__":
    label, *paths = sys.argv[1:]
    (write,) = (writer.write for writer in WRITERS if writer.label == label)
    write(*map(Path, paths))

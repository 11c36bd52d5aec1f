"""No workbook makes Excel say "We found a problem with some content": all that the program writes keeps
every rule, and a copy that breaks one is caught by that rule.

`conftest.verify` checks every workbook that any other test writes, too.
"""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import openpyxl
import pytest
import xlsxwriter
from conftest import ROOT, SAMPLES, alike, by_libreoffice, thorough
from engines import recalculated_by_libreoffice
from ooxml import violations, wrong_number_format
from ooxml_formulas import Names

import attn_xl
from attn_xl import Formulas, Settings, read_tables
from attn_xl.tables.survey import Table, Tables
from attn_xl.teaching.lessons.blanks import Lesson
from attn_xl.teaching.lessons.class_lessons import write_class
from attn_xl.teaching.lessons.lesson import write_lesson
from attn_xl.teaching.pleasant_numbers import pleasant
from attn_xl.text import clean
from attn_xl.workbook.write import write_workbook
from attn_xl.workbook.write_input import write_tables

Parts = list[tuple[str, bytes]]
ALL = sorted(path.stem for path in SAMPLES.glob("*.xlsx"))
LARGE = ("encoder-decoder", "decoder", "encoder")


def good(path: Path) -> None:
    found = violations(path)
    assert not found, "\n".join(found[:8])


def tables_of(x: np.ndarray, words: tuple[str, ...], name: str, columns: tuple[str, ...] = ()) -> Table:
    columns = columns or tuple(f"d{i + 1}" for i in range(x.shape[1]))
    return Table(name, x, words, columns, (True, True), "odd.xlsx", name, 2, 2)


# Everything that the program writes


@alike
@pytest.mark.parametrize(
    "sample", [pytest.param(name, marks=[thorough] * (name in LARGE)) for name in ALL]
)
def test_samples_with_every_look(sample: str, tmp_path: Path) -> None:
    """In turn one of the four looks for each sample."""
    tables, path = read_tables(SAMPLES / f"{sample}.xlsx"), tmp_path / "written.xlsx"
    controls, template, formulas = (
        (True, "article", Formulas.cell), (True, "article", Formulas.none),
        (False, "print", Formulas.cell), (False, "print", Formulas.none),
    )[ALL.index(sample) % 4]  # fmt: skip
    chosen = {"controls": controls, "formulas": formulas}
    settings = Settings.resolve(chosen, tables.settings, "")
    write_workbook(attn_xl.attend(tables, settings), path, settings=settings, template=template)
    good(path)
    write_tables(tables, path)
    good(path)


@thorough
def test_samples_and_templates_themselves() -> None:
    for path in (*SAMPLES.glob("*.xlsx"), *(ROOT / "templates").glob("*.xlsx")):
        if not path.stem.endswith(("-attention", "-similarity", "-lesson")):  # what users made
            good(path)


@thorough
def test_a_class_and_its_key(tmp_path: Path) -> None:
    roster = tmp_path / "class.csv"
    roster.write_text("id,name\n007,=1+1\nu&<2>,\u202eevil\nQ1,\U0001f600" + "x" * 250 + "\n")
    _, key = write_class(
        read_tables(SAMPLES / "by-hand.xlsx"), roster, tmp_path / "class",
        settings=Settings(controls=True), lesson=Lesson(1),
    )  # fmt: skip
    for path in (key, *(tmp_path / "class").iterdir()):
        good(path)


ODD_WORDS = (
    "=1+1", "'quoted'", '"', "&<>", "_x0041_", "_x000D_", "  spaced  ", "a\nb\tc", "\u202eRTL",
    "\u05e9\u05dc\u05d5\u05dd", "\U0001f600" * 5, "w" * 300, "TRUE", "1e5", "#N/A", "", "the", "THE",
    "\x07bell", "\ufffe", "@SUM", "{steps}", "]]>", "&amp;",
)  # fmt: skip
ODD_NAMES = (
    "History", "'", "it's", "O''Brien", "TRUE", "R2D2", "R1C1", "RC", "c",
    "\U0001f600" * 40, "a:b/c?[d]*\\",
    "Print_Area", "_xlnm.Print_Area", "stra\u00dfe", "STRASSE", "\u0130", "i\u0307", "=A1",
    "!", "#REF!",
    "\u05e9\u05dc\u05d5\u05dd", "a b", "1st", " lead", "Overview", "Overview", "Settings", "A" * 300,
    "e\u0301", "\u00e9", "\x00", "&<>\"", "Compare", "Hints", "Lesson",
)  # fmt: skip


@alike
@pytest.mark.parametrize("controls", [True, False])
def test_odd_words(tmp_path: Path, controls: bool) -> None:
    x = np.random.default_rng(1).normal(size=(len(ODD_WORDS), 3))
    one = tables_of(x, ODD_WORDS, "odd", ("=d", '"', "_x0042_"))
    two = tables_of(x[::-1].copy(), ODD_WORDS[::-1], "even")
    tables = Tables(tmp_path / "odd.xlsx", {"odd": one, "even": two}, {})
    settings = Settings(controls=controls, padding="w" * 300)
    write_workbook(attn_xl.attend(tables, settings), tmp_path / "o.xlsx", settings=settings)
    good(tmp_path / "o.xlsx")
    if controls:
        write_lesson(tables, tmp_path / "l.xlsx", settings=settings, lesson=Lesson(1))
        good(tmp_path / "l.xlsx")
    words = tuple(map(clean, ODD_WORDS))  # as read_tables gives them
    one = tables_of(x, words, "odd", ("=d", '"', "_x0042_"))
    write_tables(Tables(tmp_path / "odd.xlsx", {"odd": one}, {}), tmp_path / "i.xlsx")
    good(tmp_path / "i.xlsx")


@thorough
@pytest.mark.parametrize("names", [ODD_NAMES[i : i + 7] for i in range(0, len(ODD_NAMES), 7)])
def test_odd_names(tmp_path: Path, names: tuple[str, ...]) -> None:
    x = np.random.default_rng(2).normal(size=(3, 2))
    sentences = {name: tables_of(x, ("a", "b", "a"), name) for name in names}
    tables = Tables(tmp_path / "odd's.xlsx", sentences, {}, {"memory": names[0]})
    settings = Settings(controls=True)
    write_workbook(
        attn_xl.attend(tables, settings), tmp_path / "o.xlsx", settings=settings, source="<&>\x07"
    )
    good(tmp_path / "o.xlsx")
    write_lesson(tables, tmp_path / "l.xlsx", settings=settings, lesson=Lesson(1))
    good(tmp_path / "l.xlsx")
    write_tables(tables, tmp_path / "i.xlsx")
    good(tmp_path / "i.xlsx")


def test_numbers_keep_all_their_digits(tmp_path: Path) -> None:
    x = np.random.default_rng(6).normal(size=(3, 4))  # most of them need 17
    table = replace(tables_of(x, ("a", "b", "c"), "s"), labelled=(True, False))
    write_tables(Tables(tmp_path / "t.xlsx", {"s": table}, {}), tmp_path / "i.xlsx")
    assert np.array_equal(read_tables(tmp_path / "i.xlsx").sentences["s"].values, x)


def test_long_texts_are_cut_or_refused_never_written(tmp_path: Path) -> None:
    x = np.eye(2)
    for letter, most in (("a", 32_767), ("\U0001f600", 16_383)):
        tables = Tables(tmp_path / "t.xlsx", {"s": tables_of(x, (letter * most, "b"), "s")}, {})
        write_workbook(attn_xl.attend(tables), tmp_path / "long.xlsx")
        good(tmp_path / "long.xlsx")
        long = Tables(tmp_path / "t.xlsx", {"s": tables_of(x, (letter * (most + 1), "b"), "s")}, {})
        with pytest.raises(attn_xl.InputError, match="a cell holds at most 32,767"):
            write_workbook(attn_xl.attend(long), tmp_path / "too-long.xlsx")
        assert not (tmp_path / "too-long.xlsx").exists()


def test_a_word_longer_than_a_cell_is_refused_when_it_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(SAMPLES / "politics.xlsx") as given:
        parts = [(name, given.read(name)) for name in given.namelist()]
    long = b">" + b"a" * 32_768 + b"<"
    rewritten(parts, lambda _, data: data.replace(b">florida<", long), tmp_path / "w.xlsx")
    with pytest.raises(
        attn_xl.InputError, match="32,768 characters; a cell of a workbook holds 32,767"
    ):
        read_tables(tmp_path / "w.xlsx")


@thorough
def test_the_pages_of_a_lesson_lead_to_their_steps(bases: dict[str, Path]) -> None:
    book = openpyxl.load_workbook(bases["lesson"])
    for sheet in ("Lesson", "Hints"):
        linked = [row[0] for row in book[sheet].iter_rows() if row[0].hyperlink]
        assert [cell.value for cell in linked][-8:] == [
            f"{s}.{m}" for s in ("pets", "desk") for m in ("Scores", "Scaled", "Softmax", "Output")
        ]
        assert all(cell.hyperlink.location == f"{cell.value}!A1" for cell in linked[-8:])


# The same workbook, saved by others


@thorough
def test_openpyxl_saves_it_again(bases: dict[str, Path], tmp_path: Path) -> None:
    for name in ("lesson", "input"):
        book = openpyxl.load_workbook(bases[name])
        book.save(tmp_path / "again.xlsx")
        found = violations(tmp_path / "again.xlsx")  # it keeps no values
        found = [v for v in found if not v.startswith("chart-values") and "inlineStr None" not in v]
        assert not found, found[:5]


@by_libreoffice
def test_libreoffice_saves_it_again(bases: dict[str, Path], tmp_path: Path) -> None:
    (again,) = recalculated_by_libreoffice([bases["lesson"]], tmp_path, "xlsx")
    ours = openpyxl.load_workbook(bases["lesson"])
    theirs = openpyxl.load_workbook(again)
    assert theirs.sheetnames == ours.sheetnames
    assert set(ours.defined_names) <= set(theirs.defined_names)
    assert ours["Hints"]["A5"].hyperlink.location == "pets.Scores!A1"


# Every rule can be broken, and is caught


@pytest.fixture(scope="session")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Good workbooks to break: a lesson with charts, inputs, array formulas as Excel stores them."""
    folder = tmp_path_factory.mktemp("bases")
    made = {name: folder / f"{name}.xlsx" for name in ("lesson", "input", "arrays", "wide", "book")}
    tables = read_tables(SAMPLES / "mouse.xlsx")
    controlled = Settings(controls=True)
    write_workbook(attn_xl.attend(tables, controlled), made["book"], settings=controlled)
    write_lesson(tables, made["lesson"], settings=Settings(controls=True), lesson=Lesson(1))
    write_tables(pleasant([["the", "cat", "sat"]], 4, seed=1), made["input"])
    wide = tables_of(np.random.default_rng(5).normal(size=(80, 40)), tuple(map(str, range(80))), "w")
    write_workbook(attn_xl.attend(Tables(folder / "w", {"w": wide}, {})), made["wide"])
    with xlsxwriter.Workbook(made["arrays"]) as book:
        sheet = book.add_worksheet("One")
        sheet.write_row(0, 0, [1, 2, 3])
        sheet.write_array_formula("A3:C3", "{=A1:C1*2}", None, 2)
        sheet.write_dynamic_array_formula("A5:A7", "=_xlfn.SEQUENCE(3)", None, 1)
        sheet.write_formula("E1", "=A1+1", None, 2)
        sheet.write_formula("E2", "=A2+1", None, 1)
        sheet.write_formula("E3", "='R2D2'!A1", None, 0)
        book.add_worksheet("Two").write_string(0, 0, "text")
        book.add_worksheet("R2D2")
    for path in made.values():
        good(path)
    return made


def rewritten(parts: Parts, change: Callable[[str, bytes], bytes], path: Path) -> None:
    """A workbook with changed parts."""
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        warnings.simplefilter("ignore")
        for name, data in parts:
            made.writestr(name, change(name, data))


BOOK, STYLES, TYPES = "xl/workbook.xml", "xl/styles.xml", "[Content_Types].xml"
LESSON, SCALED = (f"xl/worksheets/sheet{n}.xml" for n in (1, 4))
BARS, ONE = "xl/charts/chart1.xml", "xl/worksheets/sheet1.xml"
RELATED = "xl/_rels/workbook.xml.rels"
BROKEN = [
    # rule, workbook, part (+ adds one), pattern, what stands there instead
    ("zip-names", "lesson", "+xl/Styles.xml", "", "<a/>"),
    ("content-types", "lesson", "+xl/media/image1.png", "", "x"),
    ("content-overrides", "lesson", TYPES, "theme1.xml", "theme2.xml"),
    ("relationships", "lesson", RELATED, "theme1.xml", "theme9.xml"),
    ("external", "lesson", RELATED, 'Target="theme/theme1.xml"', 'Target="x" TargetMode="External"'),
    ("orphans", "lesson", "+xl/other.xml", "", "<a/>"),
    ("required-parts", "lesson", RELATED, "relationships/styles", "relationships/other"),
    ("xml", "lesson", LESSON, "</worksheet>", "\x07"),
    ("dtd", "lesson", BOOK, "^", "<!DOCTYPE workbook>"),
    ("sheet-ids", "lesson", BOOK, 'sheetId="2"', 'sheetId="1"'),
    ("sheet-parts", "lesson", BOOK, 'r:id="rId2"', 'r:id="rId1"'),
    ("sheet-names", "lesson", BOOK, 'name="Hints"', 'name="Hi[ts"'),
    ("sheet-names", "lesson", BOOK, 'name="Hints"', 'name="LESSON"'),
    ("active-tab", "lesson", BOOK, 'activeTab="0"', 'activeTab="99"'),
    ("names", "lesson", BOOK, 'Name name="pets.Q"', 'Name name="Q1"'),
    ("names", "lesson", BOOK, "pets.Scores!", "Gone!"),
    ("names", "input", BOOK, r"\$1:\$1", "1:1"),
    ("dimension", "lesson", SCALED, 'dimension ref="[^"]*"', 'dimension ref="A1:B2"'),
    ("views", "lesson", SCALED, 'topLeftCell="B5"', 'topLeftCell="A1"'),
    ("columns", "lesson", LESSON, 'min="2" max="2"', 'min="2" max="3"'),
    ("rows", "lesson", SCALED, '<row r="6"', '<row r="5"'),
    ("cell-place", "lesson", SCALED, 'r="C5"', 'r="B5"'),
    ("cell-style", "lesson", SCALED, 'r="C5" s="[0-9]+"', 'r="C5" s="9999"'),
    ("cell-value", "lesson", SCALED, 't="inlineStr"', 't="str"'),
    ("cell-value", "lesson", SCALED, "<v>[0-9.]+</v>", "<v>nan</v>"),
    ("cell-text", "lesson", LESSON, "Read this page first", "x" * 33_000),
    ("text-space", "lesson", LESSON, "Read this page", " Read this page"),
    ("merges", "lesson", LESSON, 'mergeCell ref="B7:D7"', 'mergeCell ref="B6:D7"'),
    ("conditional", "lesson", SCALED, 'priority="2"', 'priority="1"'),
    ("conditional", "lesson", SCALED, 'dxfId="1"', 'dxfId="99"'),
    ("validations", "lesson", SCALED, 'promptTitle="[^"]*"', f'promptTitle="{"t" * 33}"'),
    ("validations", "book", ONE, '"on,off"', f'"{"o," * 128}"'),
    ("hyperlinks", "lesson", LESSON, 'location="[^"]*"', 'location="Gone!A1"'),
    ("page-setup", "lesson", SCALED, "<pageSetup ", '<pageSetup scale="9" '),
    ("header-footer", "lesson", SCALED, "<oddFooter>", "<oddFooter>" + "f" * 256),
    ("sheet-relations", "book", ONE, r'(<drawing [^>]*id)="[^"]*"', r'\1="rId77"'),
    ("formula-shared", "arrays", ONE, "<f>A2\\+1</f>", '<f t="shared" si="5"/>'),
    ("formula-array", "arrays", ONE, 't="array" ref="A3:C3"', 't="array" ref="A4:C4"'),
    ("formula-quotes", "arrays", ONE, "'R2D2'!", "R2D2!"),
    ("style-counts", "lesson", STYLES, '<fonts count="[0-9]+"', '<fonts count="99"'),
    ("style-indices", "lesson", STYLES, '(<cellXfs.*?)fontId="0"', r'\1fontId="999"'),
    ("style-limits", "lesson", STYLES, "</fonts>", "<font/>" * 512 + "</fonts>"),
    ("fonts", "lesson", STYLES, '<sz val="18" />', '<sz val="410" />'),
    ("number-formats", "lesson", STYLES, 'formatCode="0.000"', 'formatCode="0[x"'),
    ("cell-style-names", "lesson", STYLES, 'name="attn note"', 'name="ATTN title"'),
    ("chart-values", "book", BARS, "<v>mouse</v>", "<v>house</v>"),
    ("chart-references", "book", BARS, "<f>Overview!", "<f>Gone!"),
]
WRONG = {
    "formula-syntax": ("=COLUMNS(A1)", "1+", "SUM(1;2)", "1 2", "A1#", "SUM(1", ""),
    "formula-length": ("1+" * 4096 + "1",),
    "formula-nesting": ("ABS(" * 65 + "1" + ")" * 65,),
    "formula-text": (f'LEN("{"t" * 256}")',),
    "formula-functions": ("GELU(1)",),
    "formula-prefix": ("SEQUENCE(3)", "FILTER(A1:A2,A1:A2)", "_xlfn.SUM(1)"),
    "formula-names": ("Kay+1",),
    "formula-limits": ("XFE1", "A1048577", "A0"),
    "formula-sheets": ("Gone!A1",),
    "formula-quotes": ("R2D2!A1",),
}


@thorough
@pytest.mark.parametrize(
    ("rule", "base", "part", "pattern", "instead"),
    BROKEN,
    ids=[f"{b[0]}-{i}" for i, b in enumerate(BROKEN)],
)
def test_a_broken_copy_is_caught(
    rule: str, base: str, part: str, pattern: str, instead: str, bases: dict[str, Path], tmp_path: Path
) -> None:
    with zipfile.ZipFile(bases[base]) as given:
        parts = [(name, given.read(name)) for name in given.namelist()]
    if part[0] == "+":
        parts.append((part[1:], instead.encode()))

    def change(name: str, data: bytes) -> bytes:
        return (
            re.sub(pattern, instead, data.decode(), count=1, flags=re.DOTALL).encode()
            if name == part
            else data
        )

    rewritten(parts, change, tmp_path / "broken.xlsx")
    found = violations(tmp_path / "broken.xlsx")
    assert rule in {violation.partition(":")[0] for violation in found}, found[:5]


@thorough
def test_no_zip_is_caught(tmp_path: Path, bases: dict[str, Path]) -> None:
    (tmp_path / "broken.xlsx").write_bytes(bases["lesson"].read_bytes()[:-100])
    assert violations(tmp_path / "broken.xlsx")[0].startswith("zip:")


@pytest.mark.parametrize("rule", WRONG)
def test_a_wrong_formula_is_caught(rule: str) -> None:
    for formula in WRONG[rule]:
        said: list[str] = []
        Names({"softmax", "r2d2"}, set()).check(formula, lambda rule, _, said=said: said.append(rule))  # type: ignore[misc]
        assert rule in said, formula[:80]


# The checks themselves


@pytest.mark.parametrize(
    "formula",
    [
        "SUM(MMULT(Softmax!$B5:$F5,V!B$5:B$9))", "IF(A1>=-1E9,\"a\"\"b\",)", "-A1%^-2",
        "{1,2;-3,TRUE}", "1+.5*(2-1)",
        "'it''s'!A1&\"x\"", "SUM(A:A,1:1,$A$1:B2)", 
        "SUM((A1,B2))", "#N/A", "XFD1048576",
        "_xlfn.LET(_xlpm.x,1,_xlpm.x+1)",
        "_xlfn.BYROW(A1:B2,_xlfn.LAMBDA(_xlpm.r,SUM(_xlpm.r)))", "TRUE()", "IF(TRUE,1,2)",
        "_xlfn.ANCHORARRAY(A1)", "LOG10(5)", "SUM( A1 , B1 )", "'R2D2'!A1+V!Scale", "A1=\"\"",
    ],
)  # fmt: skip
def test_a_good_formula_is_not_blamed(formula: str) -> None:
    said: list[str] = []
    known = Names({"softmax", "v", "it's", "r2d2"}, {"scale"})
    known.check(formula, lambda rule, what: said.append(f"{rule}: {what}"))
    assert not said


def test_rows_are_told_apart_where_they_matter() -> None:
    said: list[str] = []
    known = Names({"a 1", "b"}, set())
    for formula in ("'a 1'!B1", "'a 2'!B1", "B9", "B1048577"):
        known.check(formula, lambda rule, _: said.append(rule))
    assert said == ["formula-sheets", "formula-limits"]


@pytest.mark.parametrize(
    "code",
    [
        "0.000",
        '0" / 3"',
        "0;;",
        ";;;",
        '[<=-100000000]"-1E+09";[<=-0.0005]-0.000;0.000',
        "@",
        "General",
        "[Red]0;[h]:mm",
    ],
)
def test_a_good_number_format_is_not_blamed(code: str) -> None:
    assert not wrong_number_format(code)

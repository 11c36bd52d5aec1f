"""What is in a written workbook, read back with other readers."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, alike, table, thorough
from judges import Editable, stored_formulas
from openpyxl.chart import BarChart
from openpyxl.styles import Font, PatternFill
from python_calamine import CalamineWorkbook

import attn_xl
from attn_xl import Formulas, attend, read_tables
from attn_xl.workbook.templates import shipped
from attn_xl.workbook.write import write_workbook

Write = Callable[..., Path]
ONE = ["Overview", "Canvas", "Input", "Scores", "Scaled", "Softmax", "Output"]


def test_one_sentence_has_a_sheet_a_symbol(write: Write) -> None:
    book = openpyxl.load_workbook(write(SAMPLES / "politics.xlsx"))
    assert book.sheetnames == ONE
    assert book.defined_names["Scores"].attr_text == "Scores!$B$5:$F$9"
    assert set(book.defined_names) == {
        *ONE[2:],
        *"QKV",  # names of the cells of Input
        "d_k",
        "Softmax.Maximum",
        "Softmax.Exponentials",
        "Softmax.Sum",
    }


@thorough
def test_several_sentences_are_told_apart_by_a_prefix(write: Write) -> None:
    book = openpyxl.load_workbook(write(SAMPLES / "mouse.xlsx"))
    expected = [f"{s}.{symbol}" for s in ("pets", "desk") for symbol in ONE[2:]]
    assert book.sheetnames == ["Overview", "Canvas", *expected, "Compare"]
    assert book.defined_names["pets.Scores"].attr_text == "pets.Scores!$B$5:$F$9"
    assert "pets.d_k" in book.defined_names
    assert "Compare.mouse.Output" in book.defined_names


@thorough
def test_weights_are_shared_and_have_no_prefix(make: Write, write: Write) -> None:
    rng = np.random.default_rng(1)
    x, y, w = (rng.normal(size=shape).round(3) for shape in ((3, 2), (4, 2), (2, 2)))
    book = openpyxl.load_workbook(
        write(make({"one": table(x), "two": table(y, list("abcd")), "W_V": table(w)}))
    )
    assert book.sheetnames.count("W_V") == 1
    assert book["two.V"]["B5"].value == "=SUM(MMULT(two.Input!$B5:$C5,W_V!B$5:B$6))"


@pytest.mark.parametrize(
    ("cell", "formula"),
    [
        ("Scores!C6", "=SUMPRODUCT(Input!$B6:$C6,Input!$B$6:$C$6)"),
        ("Scaled!D7", "=Scores!D7/SQRT(d_k)"),
        ("Scaled!H5", "=COLUMNS(K)"),
        ("Softmax!B5", "=MAX(Scaled!$B5:$F5)"),
        ("Softmax!E8", "=EXP(Scaled!C8-$B8)"),
        ("Softmax!J5", "=SUM($D5:$H5)"),
        ("Softmax!N8", "=E8/$J8"),
        ("Output!C9", "=SUM(MMULT(Softmax!$M9:$Q9,Input!C$5:C$9))"),
    ],
)
def test_formulas_are_what_a_teacher_would_type(
    tmp_path_factory: pytest.TempPathFactory, cell: str, formula: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "politics-formulas.xlsx"
    if not path.exists():
        write_workbook(attend(read_tables(SAMPLES / "politics.xlsx")), path)
    sheet, address = cell.split("!")
    assert openpyxl.load_workbook(path)[sheet][address].value == formula


def test_every_number_that_is_computed_is_a_formula_with_its_value(write: Write) -> None:
    path = write(SAMPLES / "projections.xlsx")
    graph = attend(read_tables(SAMPLES / "projections.xlsx"))["sentence"]
    cells = [cell for cell in stored_formulas(path) if cell[0] not in ("Canvas", "Overview")]
    assert len(cells) == sum(node.values.size for node in graph.values() if node.operation)
    assert all(isinstance(value, (int, float)) for *_, value in cells)
    # Readers that calculate nothing see the numbers, too.
    rows = CalamineWorkbook.from_path(path).get_sheet_by_name("Output").to_python(skip_empty_area=False)
    assert [row[1:] for row in rows[4:]] == graph["Output"].values.tolist()
    assert [row[0] for row in rows[4:]] == list(graph["Output"].rows)
    assert rows[3][1:] == list(graph["Output"].columns)


def test_nothing_has_to_be_recalculated_on_loading(write: Write) -> None:
    with zipfile.ZipFile(write(SAMPLES / "politics.xlsx")) as archive:
        workbook = archive.read("xl/workbook.xml").decode()
    (calculation,) = re.findall(r"<calcPr[^>]*>", workbook)
    assert 'fullCalcOnLoad="1"' not in calculation
    assert 'calcId="191029"' in calculation


def test_no_shared_formulas(write: Write) -> None:
    """Excel shifts no reference to another sheet in them, and most of ours are such."""
    with zipfile.ZipFile(write(SAMPLES / "mouse.xlsx")) as archive:
        assert not any(b't="shared"' in archive.read(name) for name in archive.namelist())


def test_values_only(write: Write) -> None:
    source = SAMPLES / "politics.xlsx"
    path = write(source, settings={"formulas": Formulas.none})
    assert not list(stored_formulas(path))
    book = openpyxl.load_workbook(path)
    output = attend(read_tables(source))["politics"]["Output"]
    assert [book["Output"].cell(5, 2 + j).value for j in range(2)] == output.values[0].tolist()


def test_without_scaling_there_is_no_sheet_for_it(write: Write) -> None:
    book = openpyxl.load_workbook(write(SAMPLES / "politics.xlsx", settings={"scale": False}))
    assert book.sheetnames == [name for name in ONE if name != "Scaled"]
    assert book["Softmax"]["D5"].value == "=EXP(Scores!B5-$B5)"
    assert "d_k" not in book.defined_names


def test_changing_an_input_moves_the_attention(write: Write, make: Write) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(4, 3)).round(3)
    weights = {f"W_{p}": table(rng.normal(size=(3, 2)).round(3)) for p in "QKV"}
    path = write(make({"s": table(x), **weights}))
    engine = Editable(path)
    engine.set("Input", 6, 3, 7.25)
    x[1, 1] = 7.25
    changed = attend(read_tables(make({"s": table(x), **weights}, "changed.xlsx")))["s"]
    for name, first in (("Scores", 2), ("Softmax", 12), ("Output", 2)):
        for (i, j), value in np.ndenumerate(changed[name].values):
            assert engine.value(name, 5 + i, first + j) == pytest.approx(value, rel=1e-12)


def test_the_check_finds_a_wrong_formula(write: Write, tmp_path: Path) -> None:
    """A test of the test: one operand wrong in one cell, all stored values as they were."""
    from conftest import verify
    from test_libreoffice import spoil

    wrong = tmp_path / "wrong.xlsx"
    spoil(
        write(SAMPLES / "politics.xlsx"),
        wrong,
        "SUMPRODUCT(Input!$B5:$C5,Input!$B$6:$C$6)",
        "SUMPRODUCT(Input!$B5:$C5,Input!$B$7:$C$7)",
    )
    with pytest.raises(AssertionError, match="Overview!E7 =Softmax!M5"):
        verify(wrong)


NASTY = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "@x",
    "-5",
    "_x0041_",
    "TRUE",
    "007",
    "&<>\"'",
    "100%s%d",
    "{steps}",
]


def test_labels_are_text_whatever_they_look_like(write: Write, make: Write) -> None:
    rng = np.random.default_rng(4)
    words = [*NASTY, "日本語", "🐭", "a" * 300, "mouse", "mouse"]
    dims = ["=2+2", "#N/A"]
    rows = table(rng.normal(size=(len(words), 2)).round(3), words)
    rows[0][1:] = dims
    book = openpyxl.load_workbook(write(make({"s": rows})))
    for name in ONE[2:]:
        sheet = book[name]
        for i, word in enumerate(words):
            cell = sheet.cell(5 + i, 1)
            spelled = word.replace("_x0041_", "_x005F_x0041_")  # as a file spells it
            assert (cell.value, cell.data_type) == (spelled, "s")
            assert cell.number_format == "@"
            assert cell.quotePrefix
    heads = [book["Scores"].cell(4, 2 + i) for i in range(len(words))]
    assert all(head.data_type == "s" for head in heads)
    assert [book["Input"].cell(4, 2 + j).value for j in range(2)] == dims
    overview = [c for row in book["Overview"].iter_rows() for c in row if c.value is not None]
    assert all(c.data_type in "sf" for c in overview if isinstance(c.value, str))
    assert not [c.value for c in overview if c.data_type == "f" and c.value in words]


@alike
@pytest.mark.parametrize(
    "names",
    [
        ("R1C1", "A1"),
        ("Q", "Overview"),
        ("it's 100%", "a & b"),
        ("a b", "a_b", "A B "),
        ("x" * 31, "x" * 30 + "y"),
        ("TRUE", "2024"),
        ("ünï", "日本"),
        ("🐭" * 15, "🐭" * 14 + "x", "🐱" * 15),
        ("a!b", "#REF!", "_xlnm"),
    ],
)
def test_sentences_may_be_called_anything(write: Write, make: Write, names: tuple[str, ...]) -> None:
    rng = np.random.default_rng(5)
    sheets = {name: table(rng.normal(size=(2, 2)).round(3), ["one", "two"]) for name in names}
    book = openpyxl.load_workbook(write(make(sheets)))
    assert len({name.casefold() for name in book.sheetnames}) == 3 + 5 * len(names)
    assert all(len(name.encode("utf-16-le")) <= 2 * 31 for name in book.sheetnames)
    assert len({name.casefold() for name in book.defined_names}) == len(book.defined_names)
    for name in book.defined_names.values():
        (((sheet, cells)),) = name.destinations
        assert book[sheet.replace("''", "'")][cells.replace("$", "")]


def test_links_lead_to_the_sheets_it_is_made_from_and_back(write: Write) -> None:
    book = openpyxl.load_workbook(write(SAMPLES / "mouse.xlsx"))

    def links(name: str) -> list[str]:
        return [link.location.rpartition("!")[0].strip("'") for link in book[name]._hyperlinks] or [
            cell.hyperlink.location.rpartition("!")[0].strip("'")
            for row in book[name].iter_rows()
            for cell in row
            if cell.hyperlink
        ]

    assert links("pets.Softmax") == ["Overview", "pets.Scaled", "pets.Output"]
    assert links("pets.Scores") == ["Overview", "pets.Input", "pets.Scaled"]
    assert set(links("Overview")) == set(book.sheetnames) - {"Overview"}
    for name in book.sheetnames:
        assert set(links(name)) <= set(book.sheetnames)


def test_looks(write: Write) -> None:
    book = openpyxl.load_workbook(write(SAMPLES / "projections.xlsx"))
    cells = {
        role: book[name][cell]
        for role, name, cell in zip(
            "iwva", ("Input", "W_Q", "Scores", "Softmax"), ("B5", "B5", "B5", "M5")
        )
    }
    looks = {
        (c.fill.fgColor.rgb, c.font.b, c.font.i, c.border.left and c.border.left.style)
        for c in cells.values()
    }
    assert len(looks) == 4
    for name in book.sheetnames[2:]:
        sheet = book[name]
        assert sheet.freeze_panes == "B5"
        assert sheet.sheet_properties.pageSetUpPr.fitToPage
        assert sheet.page_setup.orientation == "landscape"
        assert sheet["B5"].number_format in ("0.00", "0.000", "General")
        shown = [
            f"{c.value:.3f}"
            for row in sheet.iter_rows(min_row=5, min_col=2, max_col=3)
            for c in row
            if isinstance(c.value, float)
        ]
        assert all(len(text) < sheet.column_dimensions["B"].width for text in shown)
    (scale,) = book["Softmax"].conditional_formatting
    assert str(scale.sqref) == "M5:Q9"
    assert not list(book["Scores"].conditional_formatting)


def test_decimals(write: Write) -> None:
    path = write(SAMPLES / "politics.xlsx", settings={"decimals": 5})
    assert openpyxl.load_workbook(path)["Input"]["B5"].number_format == "0.00000"
    path = write(SAMPLES / "politics.xlsx", settings={"decimals": 0})
    assert openpyxl.load_workbook(path)["Scores"]["B5"].number_format == "0"


def test_numbers_that_would_show_as_zeros_or_not_at_all_get_an_exponent(
    write: Write, make: Write
) -> None:
    small = openpyxl.load_workbook(write(make({"s": table(np.full((2, 2), 3e-7))})))
    assert small["Input"]["B5"].number_format == "0.00E+00"
    large = openpyxl.load_workbook(write(make({"s": table(np.full((2, 2), 40960.0))}), "l.xlsx"))
    assert large["Scores"]["B5"].number_format == "0.000E+00"


@pytest.mark.parametrize("template", ["article", "print"])
def test_shipped_templates(write: Write, template: str) -> None:
    path = write(SAMPLES / "mouse.xlsx", template=template)
    book = openpyxl.load_workbook(path)
    own = openpyxl.load_workbook(shipped()[template])
    assert book["pets.Input"]["B5"].font.color.rgb == own["Matrix"]["B9"].font.color.rgb
    text = [c.value for row in book["Overview"].iter_rows() for c in row if isinstance(c.value, str)]
    assert not any("{" in t for t in text)
    assert "pets: mouse and cat are friends" in text
    assert book.properties.description == "made from mouse.xlsx"
    assert "Matrix" not in book.sheetnames


def test_a_template_of_ones_own(write: Write, tmp_path: Path) -> None:
    school = openpyxl.load_workbook(shipped()["article"])
    style = next(s for s in school._named_styles if s.name == "attn input")
    style.font = openpyxl.styles.Font(name="Georgia", size=14, color="FF123456")
    style.number_format = "0.0000"
    school["Matrix"].oddHeader.center.text = "Springfield High"
    school["Matrix"].page_setup.orientation = "portrait"
    template = tmp_path / "my school.xlsx"
    school.save(template)
    book = openpyxl.load_workbook(write(SAMPLES / "politics.xlsx", template=template))
    cell = book["Input"]["B5"]
    assert (cell.font.name, cell.font.sz, cell.font.color.rgb) == ("Georgia", 14, "FF123456")
    assert cell.number_format == "0.0000"
    assert book["Scores"].oddHeader.center.text == "Springfield High"
    assert book["Scores"].page_setup.orientation == "portrait"


@thorough
def test_a_template_gives_the_same_bytes_again_and_is_read_again_when_changed(tmp_path: Path) -> None:
    computation = attend(read_tables(SAMPLES / "mouse.xlsx"))
    template = tmp_path / "school.xlsx"
    shutil.copy(shipped()["article"], template)
    first, second, changed = (tmp_path / f"{n}.xlsx" for n in range(3))
    write_workbook(computation, first, template=template)
    write_workbook(computation, second, template=template)
    assert first.read_bytes() == second.read_bytes()
    shutil.copy(shipped()["print"], template)
    write_workbook(computation, changed, template=template)
    write_workbook(computation, second, template="print")
    assert changed.read_bytes() == second.read_bytes() != first.read_bytes()


def test_long_words_widen_their_own_column_only(write: Write, make: Write) -> None:
    words = ["a", "Donaudampfschifffahrtsgesellschaft", "c"]
    book = openpyxl.load_workbook(write(make({"s": table(np.eye(3), words)})))
    sheet = book["Softmax"]
    widths = [sheet.column_dimensions[letter].width for letter in "AKL"]
    assert widths[0] <= 28
    assert widths[1] < widths[2] <= 14
    assert sheet.row_dimensions[4].height > 2 * 19
    assert sheet["L4"].alignment.wrap_text


SHAPE = (
    '<sp macro="" textlink=""><nvSpPr><cNvPr id="9" name="T"/><cNvSpPr/></nvSpPr>'
    '<spPr/><txBody><a:bodyPr/><a:p><a:r><a:rPr><a:latin typeface="Comic" pitchFamily="66"/>'
    "</a:rPr><a:t>x</a:t></a:r></a:p></txBody></sp>"
)
"""A text in a font of a family that openpyxl refuses."""


def test_a_template_of_plain_cells_gives_its_look(write: Write, tmp_path: Path) -> None:
    plain = openpyxl.load_workbook(SAMPLES / "politics.xlsx")
    sheet = plain.worksheets[0]
    sheet["A9"], sheet["A9"].font = "Our course", Font(name="Georgia", size=22, color="FF7A1F1F")
    sheet["A2"].font, sheet["B2"].fill = Font(italic=True), PatternFill("solid", "FF00FFEE")
    sheet["B2"].number_format = "0.0000"
    sheet.add_chart(BarChart(), "D9")
    plain.save(tmp_path / "saved.xlsx")
    with (
        zipfile.ZipFile(tmp_path / "saved.xlsx") as old,
        zipfile.ZipFile(tmp_path / "plain.xlsx", "w") as new,
    ):
        for name in old.namelist():
            text = old.read(name).decode()
            new.writestr(name, re.sub("<graphicFrame>.*</graphicFrame>", SHAPE, text))
    with pytest.raises(ValueError, match="Unable to read"):
        openpyxl.load_workbook(tmp_path / "plain.xlsx")
    made = openpyxl.load_workbook(write(SAMPLES / "mouse.xlsx", template=tmp_path / "plain.xlsx"))
    scores = made["pets.Scores"]
    assert (scores["A1"].font.name, scores["A1"].font.color.rgb) == ("Georgia", "FF7A1F1F")
    assert scores["A5"].font.i
    assert (scores["B5"].fill.fgColor.rgb, scores["B5"].number_format) == ("FF00FFEE", "0.0000")


def test_a_file_that_is_no_template_is_refused(write: Write, tmp_path: Path) -> None:
    (tmp_path / "text.xlsx").write_text("no workbook")
    with pytest.raises(attn_xl.InputError, match=r"text\.xlsx: cannot be read as a template"):
        write(SAMPLES / "politics.xlsx", template=tmp_path / "text.xlsx")
    with pytest.raises(attn_xl.CallError, match=r"article, .* print"):
        write(SAMPLES / "politics.xlsx", template="artcle")


@thorough
def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    program = (
        "import sys, attn_xl\n"
        "c = attn_xl.attend(attn_xl.read_tables(sys.argv[1]))\n"
        "attn_xl.write_workbook(c, sys.argv[2], source='mouse.xlsx')\n"
    )
    made = []
    for number, seed in itertools.product((1, 2), ("0", "77")):
        path = tmp_path / f"{number}-{seed}.xlsx"
        subprocess.run(
            [sys.executable, "-c", program, str(SAMPLES / "mouse.xlsx"), str(path)],
            check=True,
            env={"PYTHONHASHSEED": seed, "PATH": "", "TZ": f"UTC{number}"},
        )
        made.append(path.read_bytes())
    assert len(set(made)) == 1


def test_a_matrix_wider_than_a_sheet_is_foreseen(tmp_path: Path) -> None:
    output = tmp_path / "wide.xlsx"
    wide = attn_xl.given(np.zeros((1, 16384)), ["w"], [f"d{j}" for j in range(16384)], "Input")
    graph = attn_xl.Graph(attn_xl.self_attention(wide))
    computation = attn_xl.Computation("wide", {"s": graph}, {})
    with pytest.raises(attn_xl.InputError, match="XFD1048576"):
        write_workbook(computation, output)
    assert not output.exists()


@thorough
def test_names_of_sentences_in_other_scripts_are_readable(
    make: Callable[..., Path], write: Callable[..., Path]
) -> None:
    rows = table(np.eye(2))
    path = write(make({"日本": rows, "Zürich": rows, "кот": rows}))
    names = set(openpyxl.load_workbook(path).defined_names)
    assert {"Sentence1.Softmax", "Zurich.Softmax", "Sentence3.Softmax"} <= names

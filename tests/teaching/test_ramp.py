"""The ramp: every problem has its answer, other right answers count, and wrong ones do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import pytest
import typer.main
from conftest import SAMPLES, alike, verify

from attn_xl.choices import Language
from attn_xl.cli.main import app, main
from attn_xl.languages import speaking
from attn_xl.teaching.lessons.ramp import PAGES, WIDTHS, ramp_layout
from attn_xl.text import text_width
from attn_xl.workbook.layout.layout import Layout
from attn_xl.workbook.write import write_layout


def open_cells(layout: Layout) -> dict[str, list[tuple[int, int]]]:
    return {s.name: [(c.row, c.column) for c in s.extras.cells if c.open] for s in layout.sheets}


@pytest.mark.parametrize("seed", range(3))
def test_each_problem_has_an_answer_that_marks_as_right(seed: int, tmp_path: Path) -> None:
    """The marks of the solved pages are stored as right; a spreadsheet engine computes the same."""
    layout = ramp_layout(seed, solved=True)
    write_layout(layout, tmp_path / "solved.xlsx")
    verify(tmp_path / "solved.xlsx")
    assert [sheet.name for sheet in layout.sheets] == [name for name, _ in PAGES]
    for sheet in layout.sheets:
        texts = [c.value for c in sheet.extras.cells if c.column == 1 and str(c.value).endswith(".")]
        assert texts == [f"{n}." for n in range(1, 6)]
        asked = [str(c.value) for c in sheet.extras.cells if c.across > 1]
        if sheet.name != "Attention of two words":
            assert any(text.startswith("Backwards") for text in asked)
    write_layout(ramp_layout(seed), tmp_path / "ramp.xlsx")
    verify(tmp_path / "ramp.xlsx")


def test_wrong_answers_are_wrong(tmp_path: Path) -> None:
    """One answer a page is made wrong: the score is lower."""
    solved = ramp_layout(0, solved=True)
    path = tmp_path / "wrong.xlsx"
    write_layout(solved, path)
    book = openpyxl.load_workbook(path)
    for sheet in solved.sheets:
        first = next(cell for cell in sheet.extras.cells if cell.open)
        assert isinstance(first.value, float)
        book[sheet.name].cell(first.row, first.column).value = first.value + 3
    book.save(path)
    scores = recalculated(path)
    for name, found in open_cells(solved).items():
        assert scores[name] < len(found), name


def recalculated(path: Path) -> dict[str, float]:
    from ironcalc import load_from_xlsx

    model = load_from_xlsx(str(path), "en", "UTC", "en")
    model.evaluate()
    names = [sheet["name"] for sheet in model.get_worksheets_properties()]
    shown = {name: model.get_formatted_cell_value(i, 4, 2) for i, name in enumerate(names)}
    return {name: float(text.split()[0]) for name, text in shown.items()}


def test_several_right_answers_count(tmp_path: Path) -> None:
    """Two other queries, scores and factors than those of the solution."""
    layout = ramp_layout(0, solved=True)
    path = tmp_path / "r.xlsx"
    write_layout(layout, path)
    book = openpyxl.load_workbook(path)
    cells = open_cells(layout)
    for sheet, other in (("Softmax of scores", (7, 7)), ("Exponentials and shares", (2, 6)),
                         ("Attention of two words", (-3, -3))):  # fmt: skip
        for at, value in zip(cells[sheet][-2:], other):
            book[sheet].cell(*at).value = value
    row, column = cells["Dot product"][-2]
    x = [book["Dot product"].cell(row, 3).value, book["Dot product"].cell(row, 4).value]
    total = x[0] * book["Dot product"].cell(row, column).value
    total += x[1] * book["Dot product"].cell(row, column + 1).value
    book["Dot product"].cell(row, column).value = total / x[0]
    book["Dot product"].cell(row, column + 1).value = 0
    book.save(path)
    scores = recalculated(path)
    assert scores == {name: len(found) for name, found in cells.items()}


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def call(*args: object) -> int:
        with pytest.raises(SystemExit) as ended:
            main(["teach", *map(str, args)])
        return int(ended.value.code or 0)

    assert call("--ramp", "--answers", "solved.xlsx") == 0
    assert call("--ramp", "--roster", SAMPLES / "class.csv", "-o", "class") == 0
    one, two = (openpyxl.load_workbook(path) for path in sorted(Path("class").iterdir())[:2])
    assert [*one["Dot product"].values] != [*two["Dot product"].values]
    assert call(SAMPLES / "by-hand.xlsx", "--ramp", "-o", "lesson.xlsx") == 0
    assert openpyxl.load_workbook("lesson.xlsx").sheetnames[:2] == ["Lesson", "Dot product"]
    assert call("--ramp", "--exam", "-o", "exam.xlsx") == 0
    exam = openpyxl.load_workbook("exam.xlsx")
    assert not any(str(c.value).startswith("=") for s in exam for row in s for c in row)
    assert call() == 2


def test_settings_are_hidden_and_not_printed_except_in_an_exam() -> None:
    for exam in (False, True):
        assert [sheet.extras.hidden for sheet in ramp_layout(exam=exam).sheets] == [
            *[False] * len(PAGES),
            not exam,
        ]


def test_a_column_is_free_between_what_is_given_and_what_to_fill_in() -> None:
    for sheet in ramp_layout().sheets:
        filled = {(cell.row, cell.column) for cell in sheet.extras.cells if cell.value is not None}
        answers = {(cell.row, cell.column) for cell in sheet.extras.cells if cell.open}
        beside = {(row, column - 1) for row, column in answers} - answers
        assert not beside & filled, sheet.name


def test_a_ramp_of_its_own_is_in_the_language_chosen(tmp_path: Path) -> None:
    path = tmp_path / "ramp.xlsx"
    with pytest.raises(SystemExit):
        main(["teach", "--ramp", "--language", "de", "-o", str(path)])
    book = openpyxl.load_workbook(path)
    assert book.sheetnames[0] == book["Skalarprodukt"]["A1"].value == "Skalarprodukt"
    assert ("language", "de") in list(book["Settings"].iter_rows(max_col=2, values_only=True))


def test_questions_fit_on_their_line_in_every_language() -> None:
    for language in Language:
        with speaking(language.value):
            asked = [c for sheet in ramp_layout().sheets for c in sheet.extras.cells if c.across > 1]
            for cell in asked:
                room = sum(WIDTHS[cell.column + i] for i in range(cell.across))
                assert text_width(str(cell.value)) < room, cell.value


def test_pages_are_sheets_in_every_language() -> None:
    """Their titles are names that a spreadsheet accepts, all different; the numbers are the same."""
    given = []
    for language in Language:
        with speaking(language.value):
            sheets = ramp_layout(4, "s01").sheets
        names = [sheet.name.casefold() for sheet in sheets]
        assert len({*names}) == len(names)
        for name in names:
            assert len(name) <= 31
            assert not {*name} & {*"[]:*?/\\"}
            assert name.strip("'") == name
        given.append(
            [c.value for sheet in sheets[:-1] for c in sheet.extras.cells if c.style == "attn input"]
        )
    assert all(numbers == given[0] for numbers in given)


USED = {
    *("output", "roster", "answers", "exam", "ramp", "template", "force", "seed", "language"),
    *("help", "file"),
}
COMMAND = typer.main.get_command(app).get_command(None, "teach")  # type: ignore[attr-defined,arg-type]
OTHERS = [option for option in COMMAND.params if option.name not in USED]


@alike
@pytest.mark.parametrize("option", OTHERS, ids=lambda option: option.name)
def test_an_option_of_lessons_is_refused_for_pages_alone(
    option: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also with its default, and before anything is written."""
    monkeypatch.chdir(tmp_path)
    kind = option.type
    values = {"integer": "2", "float": "0.01", "choice": (getattr(kind, "choices", None) or ["x"])[0]}
    value = [] if option.is_flag else [values.get(kind.name, "x.xml")]
    roster = ["--roster", SAMPLES / "class.csv"] if option.name == "jobs" else []
    for spelled in (option.opts[0], *option.secondary_opts[:1]):
        with pytest.raises(SystemExit) as ended:
            main([str(part) for part in ("teach", "--ramp", spelled, *value, *roster)])
        said = capsys.readouterr().err
        assert ended.value.code == 2
        assert said.startswith(f"attn-xl: {spelled} has no effect"), said
        assert not [*tmp_path.iterdir()]


def test_options_of_pages_alone_have_an_effect(tmp_path: Path) -> None:
    def made(*more: object) -> bytes:
        out = tmp_path / "ramp.xlsx"
        with pytest.raises(SystemExit) as ended:
            main([str(part) for part in ("teach", "--ramp", "-o", out, "--force", *more)])
        assert not ended.value.code
        return out.read_bytes()

    options = [(), ("--seed", 3), ("--exam",), ("--language", "fr"), ("--template", "print")]
    assert len({made(*some) for some in options}) == len(options)


def test_a_ramp_and_its_answers_are_two_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "ramp.xlsx")
    with pytest.raises(SystemExit):
        main(["teach", "--ramp", "-o", out, "--answers", out])
    assert "cannot be the same file" in capsys.readouterr().err

"""Workbooks in other languages: no English is left, nothing is cut off, everything is read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, alike, verify
from pseudo import PSEUDO, left_in_english, names_of, own_texts, pseudo_language, texts_of

import attn_xl
from attn_xl.cli.main import main
from attn_xl.cli.options import compute_file, read_file_tables
from attn_xl.languages import LANGUAGES, message, speaking, translate
from attn_xl.settings import Language, Settings
from attn_xl.text import text_width
from attn_xl.workbook.write import write_workbook

FILES = sorted(path.stem for path in SAMPLES.glob("*.xlsx"))
MORE: dict[str, tuple[str, dict[str, Any]]] = {
    "canvas": ("multi-head", {"layout": "canvas", "influence": True}),
    "layers": ("encoder-decoder", {"layout": "layers"}),
    "head-maps": ("encoder", {"head_maps": True}),
    "lens": ("language-model", {"lens": True}),
    "learn": ("learning", {"steps": 3}),
    "live": ("learning", {"steps": 9, "live": 2}),
    "similarity": ("mouse", {"model": "similarity"}),
    "influence": ("gru", {"influence": True}),
    "pooler": ("encoder", {"pooling": "pooler", "random_weights": 1}),
    "sum": ("mouse", {"normalize": "sum"}),
}
READ_BACK = ("mouse", "multi-head", "dropout", "experts", "learned-positions", "masks", "generate")


def call(*arguments: object) -> int:
    """The exit status of a command."""
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return int(end.value.code or 0)


def written(path: Path, name: str, options: dict[str, Any], folder: Path, language: str) -> Path:
    """A workbook of a file in a language."""
    computation, settings = compute_file(path, {**options, "language": language}, {})
    out = folder / f"{name}.xlsx"
    write_workbook(computation, out, settings=settings, source=path.name, record=True)
    return out


def check_no_english(sample: str, options: dict[str, Any], folder: Path) -> None:
    path = SAMPLES / f"{sample}.xlsx"
    with pseudo_language():
        out = written(path, "out", {"controls": True, **options}, folder, PSEUDO)
    assert not left_in_english(out, own_texts(read_file_tables(path, {})))


@alike
@pytest.mark.parametrize("sample", FILES)
def test_no_english_is_left_in_samples(sample: str, tmp_path: Path) -> None:
    check_no_english(sample, {}, tmp_path)


@alike
@pytest.mark.parametrize("name", MORE)
def test_no_english_is_left_with_options(name: str, tmp_path: Path) -> None:
    check_no_english(*MORE[name], tmp_path)


def test_no_english_is_left_in_a_comparison(tmp_path: Path) -> None:
    path, out = SAMPLES / "rnn.xlsx", tmp_path / "out.xlsx"
    with pseudo_language():
        status = call(*("compare", path, "--models", "cnn attention", "-o", out, "--language", PSEUDO))
    assert status == 0
    assert not left_in_english(out, own_texts(read_file_tables(path, {})))


def test_english_that_is_left_is_found(tmp_path: Path) -> None:
    out = written(SAMPLES / "mouse.xlsx", "out", {}, tmp_path, "en")
    assert len(left_in_english(out, own_texts(attn_xl.read_tables(SAMPLES / "mouse.xlsx")))) > 50


@alike
@pytest.mark.parametrize("sample", READ_BACK)
def test_a_workbook_in_another_language_is_read_back(sample: str, tmp_path: Path) -> None:
    """Its numbers, settings and language; and writing it again gives the same texts."""
    path = SAMPLES / f"{sample}.xlsx"
    options = {"random_weights": 1} if sample == "learned-positions" else {}
    with pseudo_language():
        out = written(path, "out", {"controls": True, **options}, tmp_path, PSEUDO)
        again = written(out, "again", {"controls": True}, tmp_path, PSEUDO)
    tables, before = attn_xl.read_tables(out), read_file_tables(path, {})
    assert [*tables.sentences] == [*before.sentences]
    for name, table in before.sentences.items():
        assert np.array_equal(tables.sentences[name].values, table.values)
        assert tables.sentences[name].rows == table.rows
    assert tables.settings["language"] == PSEUDO
    first, second = (
        [text for text in texts_of(book) if not text.where.startswith(("Overview!A3", "Settings"))]
        for book in (out, again)
    )
    assert first == second
    verify(out)


def test_commands_read_a_workbook_in_another_language(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`explain`, `show`, `inspect` and `convert` say the same of it as of one in English."""
    path = SAMPLES / "by-hand.xlsx"
    said = []
    with pseudo_language():
        for language in ("en", PSEUDO):
            out = tmp_path / "out.xlsx"
            assert call("convert", path, "-o", out, "--force", "--language", language) == 0
            book = openpyxl.load_workbook(out)
            book["Input"]["B5"] = 5.0
            book.save(out)
            capsys.readouterr()
            assert call("explain", out, "Softmax!C5") == 0
            assert call("explain", out, "Output!B5") == 0
            assert call("show", out, "--step", "Output") == 0
            said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert "5" in said[0]


def test_the_language_is_a_setting(tmp_path: Path) -> None:
    """An option, or a line of the sheet Settings; with several files and jobs, too."""
    path = tmp_path / "input.xlsx"
    book = openpyxl.load_workbook(SAMPLES / "by-hand.xlsx")
    sheet = book["Settings"] if "Settings" in book.sheetnames else book.create_sheet("Settings")
    sheet.append(["language", "fr"])
    book.save(path)
    assert attn_xl.read_tables(path).settings["language"] == "fr"
    folder = tmp_path / "out"
    files = [path, SAMPLES / "by-hand.xlsx"]
    assert call("convert", *files, "-o", folder, "--jobs", 2, "--language", "ja") == 0
    for file in files:
        record = openpyxl.load_workbook(folder / f"{file.stem}-attention.xlsx")["Settings"]
        assert ("language", "ja") in [row[:2] for row in record.iter_rows(values_only=True)]


def test_every_language_is_an_option() -> None:
    assert [language.value for language in Language] == [*LANGUAGES]
    assert Settings(language="pt").language is Language.pt  # type: ignore[arg-type]


def cut_off(path: Path) -> set[str]:
    """The cells whose text ends at a cell beside them that is not blank."""
    found = set()
    for sheet in openpyxl.load_workbook(path).worksheets:
        widths = {
            number: column.width
            for column in sheet.column_dimensions.values()
            for number in range(column.min or 0, (column.max or 0) + 1)
        }
        merged = {(one.min_row, one.min_col): one.max_col for one in sheet.merged_cells.ranges}
        for row in sheet.iter_rows():
            for cell in row:
                aligned = cell.alignment
                if not isinstance(cell.value, str) or aligned.wrap_text or cell.value.startswith("="):
                    continue
                if aligned.horizontal == "right":
                    continue
                last = merged.get((cell.row, cell.column), cell.column)
                room = sum(widths.get(column, 8.43) for column in range(cell.column, last + 1))
                while last < sheet.max_column and sheet.cell(cell.row, last + 1).value is None:
                    last += 1
                    room += widths.get(last, 8.43)
                if last < sheet.max_column and text_width(cell.value) > room + 1.5:
                    found.add(f"{sheet.title}!{cell.coordinate}")
    return found


@alike
@pytest.mark.parametrize("sample", ["mouse", "generate", "learning", "multi-head", "lstm"])
def test_longer_texts_are_not_cut_off(sample: str, tmp_path: Path) -> None:
    """What fits in English fits in a language whose words are a quarter longer."""
    path = SAMPLES / f"{sample}.xlsx"
    options = {"controls": True, "layout": "sheets"}
    english = cut_off(written(path, "english", options, tmp_path, "en"))
    with pseudo_language():
        longer = cut_off(written(path, "longer", options, tmp_path, PSEUDO))
    assert longer <= english


def test_a_message_is_translated_where_it_is_shown() -> None:
    inner = message("encoder")
    text = message("{part} layer {number}", part=inner, number=2)
    assert text == "encoder layer 2"
    with pseudo_language(), speaking(PSEUDO):
        said = translate(text)
        assert translate("Output") == "Output"  # a name
    assert "encoder" not in said
    assert "layer" not in said
    assert "2" in said
    assert translate(text) == "encoder layer 2"


def test_grades_are_written_in_the_chosen_language(tmp_path: Path) -> None:
    path, lesson, grades = SAMPLES / "by-hand.xlsx", tmp_path / "lesson.xlsx", tmp_path / "grades.xlsx"
    with pseudo_language():
        assert call("teach", path, "-o", lesson) == 0
        call("grade", lesson, "-o", grades, "--jobs", 1, "--language", PSEUDO)
    own = {*own_texts(read_file_tables(path, {})), *names_of(lesson), lesson.name}
    assert not left_in_english(grades, own)


def test_a_word_of_the_input_is_not_translated_where_a_heading_is_the_same(tmp_path: Path) -> None:
    source, path = tmp_path / "in.csv", tmp_path / "out.xlsx"
    source.write_text(",words,input\nword,1,2\nwords,3,1\n")
    for language in ("en", "de"):  # what one writes is nothing to the other
        settings = Settings(language=language)  # type: ignore[arg-type]
        attn_xl.write_workbook(attn_xl.attend(source), path, settings=settings, overwrite=True)
    book = openpyxl.load_workbook(path)
    assert [cell.value for cell in book["Input"][4]][1:3] == ["words", "input"]
    texts = {cell.value for row in book["Controls"].iter_rows() for cell in row}
    assert {"Wörter", "words", "word"} <= texts

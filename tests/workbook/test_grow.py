"""`attn-xl fill --input` puts other words into an author's arrangement, which grows or shrinks."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from authors import DESK, DIMS, PETS, STEPS, AuthorSheet, numbers, saved, two_contexts, without_scaled
from conftest import SAMPLES, alike, naive_attention, thorough, verify
from openpyxl.chart import BarChart, Reference
from openpyxl.chart.data_source import NumData
from openpyxl.comments import Comment
from openpyxl.drawing.colors import ColorChoice, SchemeColor
from openpyxl.formatting.rule import ColorScaleRule, FormulaRule
from openpyxl.styles import Border, PatternFill, Side
from openpyxl.utils import get_column_letter as letter
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.pagebreak import Break
from openpyxl.worksheet.table import Table as ListedTable

import attn_xl
from attn_xl.cli.main import main
from attn_xl.errors import InputError
from attn_xl.spreadsheets.addresses import fixed
from attn_xl.spreadsheets.drawn import read_drawn
from attn_xl.tables.frames import values_in
from attn_xl.tables.labels import Table
from attn_xl.tables.survey import Tables
from attn_xl.workbook.filling.author import fill_file
from attn_xl.workbook.templates import find_template, is_arrangement
from attn_xl.workbook.xlsx.moved import Both, Moves, formula_moved, moved
from attn_xl.workbook.xlsx.splice import packed

WORDS = ["the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog", "but", "then", "sleeps"]


def sentence(words: list[str], dims: int, seed: int = 3) -> Table:
    names = [f"d{n}" for n in range(dims)]
    x = numbers(words, dims, seed)
    return Table("", x, tuple(words), tuple(names), (True, True), "new.xlsx", "new", 2, 2)


def put(template: Path, *sentences: Table, **how: Any) -> Path:
    """Other sentences in a template, recalculated; each sentence's output is that of loops."""
    tables = Tables(Path("new.xlsx"), {f"s{n}": one for n, one in enumerate(sentences)}, {})
    book = fill_file(template, {}, tables=tables, **how)
    out = template.with_name(f"{template.stem}-new.xlsx")
    out.write_bytes(book.content)
    verify(out)
    assert not book.attention
    sheets = {sheet.name: sheet for sheet in read_drawn(out).sheets}
    outputs = [frame for _, frame, _ in book.filling.frames if frame.step == "Output"]
    assert len(outputs) == len(sentences)
    for frame, one in zip(outputs, sentences):
        _, values = values_in(sheets[frame.place.sheet], frame.place, frame.turned)
        _, wanted = naive_attention(one.values, one.values, one.values)
        np.testing.assert_allclose(values, wanted, rtol=1e-12)
    return out


@alike
@pytest.mark.parametrize("words", [3, 5, 12])
@pytest.mark.parametrize("dims", [2, 3, 7])
@pytest.mark.parametrize("across", [False, True])
def test_other_words_and_dimensions(words: int, dims: int, across: bool, tmp_path: Path) -> None:
    template = two_contexts(tmp_path / "own.xlsx", [], across=across)
    first, second = sentence(WORDS[:words], dims), sentence(WORDS[:words], dims, 5)
    sheet = openpyxl.load_workbook(put(template, first, second)).active
    texts = [cell.value for row in sheet for cell in row if isinstance(cell.value, str)]
    assert not {*PETS, *DESK, *DIMS} & {*texts}  # no label of the template is left
    framed = {(c.row, c.column) for row in sheet for c in row if c.border.left.style}
    # The frames of both sentences, and nothing else, have borders.
    assert len(framed) == 2 * (2 * words * dims + 3 * words * words)


def test_a_word_of_the_template_that_is_spelled_like_weights_is_a_word(tmp_path: Path) -> None:
    made, words = openpyxl.Workbook(), ("w1", "mask", "q1")
    AuthorSheet(made.active).sentence(2, 2, words, numbers(words))
    put(saved(made, tmp_path / "own.xlsx"), sentence(WORDS[:2], 2))


@pytest.mark.parametrize("borders", [True, False])
def test_a_blank_template_may_show_copies_of_its_input_and_only_labels(
    borders: bool, tmp_path: Path
) -> None:
    made, words, dims = openpyxl.Workbook(), WORDS[:3], DIMS
    sheet = AuthorSheet(made.active, borders=borders)
    blocks = [("Input", dims), ("Scores", words), ("Output", dims)]
    if borders:
        blocks[1:2] = [("Input^T", words), ("Scores", words), ("Input", dims)]
    for n, (title, columns) in enumerate(blocks):
        sheet.block(2, 2 + 7 * n, title, dims if title == "Input^T" else words, columns)
    put(saved(made, tmp_path / "own.xlsx"), sentence(WORDS[4:8], 3))


def test_a_vocabulary_above_a_frame_that_grows_stays_whole(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet, vocabulary = AuthorSheet(made.active), numbers(WORDS, 2)
    sheet.block(2, 2, "Vocabulary", WORDS, DIMS[:2], vocabulary)
    sheet.block(2, 12, "Input", WORDS[:2], DIMS[:2], vocabulary[:2])
    for n, (title, wide) in enumerate({"Scores": WORDS[:2], "Output": DIMS[:2]}.items()):
        sheet.block(24 + 8 * n, 2, title, WORDS[:2], wide)
    out = put(saved(made, tmp_path / "own.xlsx"), sentence(WORDS[4:7], 2))
    rows = openpyxl.load_workbook(out).active["B4:D15"]
    assert [tuple(cell.value for cell in row) for row in rows] == [
        (word, *x) for word, x in zip(WORDS, vocabulary.tolist())
    ]


def test_what_describes_the_words_goes_with_them(tmp_path: Path) -> None:
    made = without_scaled(WORDS[:3])
    made.active.insert_cols(3)
    made.active["B3"], made.active["C3"] = "word", "kind"
    for row in (4, 5, 6):
        made.active[f"C{row}"] = "noun"
    for row in (11, 12, 13, 18, 19, 20, 25, 26, 27):
        made.active[f"C{row}"], made.active[f"B{row}"] = made.active[f"B{row}"].value, None
    for row in (9, 16, 23):
        made.active[f"C{row}"], made.active[f"B{row}"] = made.active[f"B{row}"].value, None
    sheet = openpyxl.load_workbook(
        put(saved(made, tmp_path / "own.xlsx"), sentence(WORDS[4:8], 3))
    ).active
    assert [(sheet[f"B{row}"].value, sheet[f"C{row}"].value) for row in range(3, 8)] == [
        ("word", "kind"), *((word, None) for word in WORDS[4:8]),
    ]  # fmt: skip


@pytest.mark.parametrize("words", [2, 3, 6])
def test_labels_in_merged_cells_stay_so(words: int, tmp_path: Path) -> None:
    made = without_scaled(WORDS[:3])
    made.active.insert_cols(3)
    for row in (4, 5, 6, 11, 12, 13, 18, 19, 20, 25, 26, 27):
        made.active.merge_cells(f"B{row}:C{row}")
    sheet = openpyxl.load_workbook(
        put(saved(made, tmp_path / "own.xlsx"), sentence(WORDS[4 : 4 + words], 3))
    ).active
    labels = [cell.value for cell in sheet["B"] if cell.value in WORDS]
    assert labels == WORDS[4 : 4 + words] * 4
    merged = {area.min_row for area in sheet.merged_cells.ranges}
    assert merged == {cell.row for cell in sheet["B"] if cell.value in WORDS}


def test_sentences_of_different_lengths_share_the_rows_of_the_longer(tmp_path: Path) -> None:
    template = two_contexts(tmp_path / "own.xlsx", [])
    put(template, sentence(WORDS, 3), sentence(WORDS[:2], 3))


@pytest.mark.parametrize("more", range(1, 4))
def test_new_rows_part_no_frame_beside_them_from_its_labels(more: int, tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    for column, count in ((2, 5), (12, 3)):
        sheet = AuthorSheet(made.active, borders=False)
        sheet.sentence(2, column, WORDS[:count], numbers(WORDS[:count]))
    new = sentence(WORDS[: 5 + more], 3), sentence(WORDS[4 : 7 + more], 3, 5)
    put(saved(made, tmp_path / "own.xlsx"), *new)
    book = fill_file(tmp_path / "own-new.xlsx", {})
    rows = openpyxl.load_workbook(tmp_path / "own-new.xlsx").active
    for _, frame, _ in book.filling.frames:
        assert rows.cell(frame.place.row - 1, frame.place.column).value in (*WORDS, "d0")


def test_a_template_with_formulas_and_numbers_is_written_anew(tmp_path: Path) -> None:
    template = two_contexts(tmp_path / "own.xlsx", STEPS, STEPS)
    put(template, sentence(WORDS[:7], 4), sentence(WORDS[:6], 4))


@thorough
def test_a_filled_sheet_is_a_template_whose_sheet_of_steps_is_written_anew(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS, DIMS, numbers(PETS))
    sheet.block(12, 2, "Attention", PETS, PETS)
    sheet.block(22, 2, "Output", PETS, DIMS)
    path = saved(made, tmp_path / "own.xlsx")
    path.write_bytes(fill_file(path, {}).content)
    out = openpyxl.load_workbook(put(path, sentence(WORDS[:7], 4), sentence(WORDS[4:8], 4, 2)))
    assert out.sheetnames == ["Sheet", "Steps"]
    labels = [cell.value for cell in out["Steps"]["A"]]
    assert labels[4:11] == WORDS[:7]
    assert not {*PETS} & {*labels}


@thorough
@pytest.mark.parametrize(
    ("titles", "options"),
    [
        (("Mask", "Softmax"), {}),
        (("", "Softmax"), {}),  # which a defined name names
        (("Enc.Mask", "Enc1.Softmax_1"), {"model": "encoder", "causal": True, "random_weights": 1}),
    ],
)
def test_a_mask_that_was_filled_in_grows(
    titles: tuple[str, str], options: dict[str, Any], tmp_path: Path
) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS, DIMS, numbers(PETS))
    for n, title in enumerate(titles):
        sheet.block(12 + 10 * n, 2, title, PETS, PETS)
    if not titles[0]:
        made.defined_names["Mask"] = DefinedName("Mask", attr_text="Sheet!$C$14:$G$18")
    path = saved(made, tmp_path / "own.xlsx")
    path.write_bytes(fill_file(path, options).content)
    tables = Tables(Path("new.xlsx"), {"s": sentence(WORDS[:7], 4)}, {})
    book = fill_file(path, options, tables=tables)
    assert (book.filling.count, book.attention) == (2 * 49, [])


@pytest.mark.parametrize(
    "mask",
    [
        lambda away: 1.0 * (away <= 0),
        lambda away: np.where(abs(away) < 2, 0, -1e9),
        lambda away: -abs(away) / 2,
        lambda away: away % 2 / 4,  # no rule tells how it goes on
    ],
)
@pytest.mark.parametrize("words", [2, 6])
def test_a_typed_mask_goes_on_by_the_distance_of_words(mask: Any, words: int, tmp_path: Path) -> None:
    made, old = openpyxl.Workbook(), WORDS[:4]
    sheet = AuthorSheet(made.active)
    away, longer = (-np.subtract.outer(range(n), range(n)) for n in (4, words))
    sheet.block(2, 2, "Input", old, DIMS, numbers(old))
    sheet.block(10, 2, "Attention mask", old, old, mask(away))
    sheet.block(18, 2, "Softmax", old, old)
    tables = Tables(Path("new.xlsx"), {"s": sentence(WORDS[4 : 4 + words], 3)}, {})
    if mask(away)[0, 1] == 0.25:
        with pytest.raises(InputError, match=f"the mask is 4 x 4, but the scores are {words} x"):
            fill_file(saved(made, tmp_path / "own.xlsx"), {}, tables=tables)
        return
    book = fill_file(saved(made, tmp_path / "own.xlsx"), {}, tables=tables)
    (tmp_path / "out.xlsx").write_bytes(book.content)
    verify(tmp_path / "out.xlsx")
    (group,) = {id(group): group for group, _, _ in book.filling.frames}.values()
    frame, shown = group.weights["Mask"]
    np.testing.assert_array_equal(shown.values, mask(longer))
    _, values = values_in(read_drawn(tmp_path / "out.xlsx").sheets[0], frame.place, False)
    np.testing.assert_array_equal(values, mask(longer))


def test_formulas_of_frames_that_nothing_names_get_the_values_of_the_new_input(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    AuthorSheet(made.active).block(2, 2, "Input", PETS, DIMS, numbers(PETS))
    made.active["J9"] = "=C4*E5"
    path = saved(made, tmp_path / "own.xlsx")
    tables = Tables(Path("new.xlsx"), {"s": sentence(list(PETS), 3)}, {})
    out = tmp_path / "new.xlsx"
    out.write_bytes(fill_file(path, {}, tables=tables).content)
    x = tables.sentences["s"].values
    assert read_drawn(out).sheets[0].values[9, 10] == pytest.approx(x[0, 0] * x[1, 2], rel=1e-12)


def test_what_is_left_empty_does_not_grow(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    for n, words in enumerate((WORDS[:3], WORDS[3:5])):
        sheet.sentence(2, 2 + 10 * n, words, numbers(words))
    before = made.active.max_row
    out = put(saved(made, tmp_path / "own.xlsx"), sentence(WORDS[4:7], 3))
    assert openpyxl.load_workbook(out).active.max_row == before


def test_fewer_sentences_leave_a_group_empty(tmp_path: Path) -> None:
    template = two_contexts(tmp_path / "own.xlsx", [])
    sheet = openpyxl.load_workbook(put(template, sentence(WORDS[:4], 2))).active
    right = [c.value for row in sheet.iter_rows(min_col=9) for c in row if c.value is not None]
    assert [text for text in right if not str(text).startswith(tuple("ISAO"))] == []


@thorough
@alike
@pytest.mark.parametrize("side_by_side", [True, False])
def test_further_sentences_follow_in_the_rhythm_of_the_template(
    side_by_side: bool, tmp_path: Path
) -> None:
    if side_by_side:
        template = two_contexts(tmp_path / "own.xlsx", [], merged=True)
    else:
        book = openpyxl.Workbook()
        AuthorSheet(book.active).sentence(2, 2, PETS, numbers(PETS))
        template = saved(book, tmp_path / "own.xlsx")
    book = openpyxl.load_workbook(template)
    book.active.column_dimensions["K"].width, book.active.row_dimensions[4].height = 31, 41
    scale = ColorScaleRule("num", 0, "FFFFFF", "num", 1, "00AA00")
    book.active.conditional_formatting.add("K33:O37" if side_by_side else "C28:G32", scale)
    book.save(template)
    sentences = [sentence(WORDS[:n], 3, n) for n in (4, 6, 5, 3)]
    sheet = openpyxl.load_workbook(put(template, *sentences)).active
    titles = [c for row in sheet for c in row if str(c.value).startswith("Attention =")]
    assert len(titles) == 4
    assert all(title.font.b for title in titles)
    scaled = [len(one.sqref.ranges) for one in sheet.conditional_formatting]
    assert scaled == [3 if side_by_side else 4]
    if side_by_side:
        assert len(sheet.merged_cells.ranges) == 20
        assert [d.width for d in sheet.column_dimensions.values()].count(31) == 3
    else:
        assert [d.height for d in sheet.row_dimensions.values()].count(41) == 4


def test_weights_apart_from_the_only_sentence_serve_further_ones(tmp_path: Path) -> None:
    """Above it, where a copy of the sentence leaves them."""
    made, rng = openpyxl.Workbook(), np.random.default_rng(3)
    sheet, weights = AuthorSheet(made.active), {}
    for n, name in enumerate(("W_Q", "W_K", "W_V")):
        weights[name] = rng.integers(-2, 3, (3, 2)) / 2
        row, column = sheet.block(1, 2 + 5 * n, "", [None] * 3, [None] * 2, weights[name])
        made.active.cell(row - 1, column, name)
    sheet.block(7, 2, "Input", PETS, DIMS, numbers(PETS))
    for n, name in enumerate(("Queries", "Scores", "Softmax", "Output")):
        columns = PETS if n in (1, 2) else [None] * 2
        sheet.block(7, 9 + 9 * n, name, PETS, columns)
    sentences = {f"s{n}": sentence(WORDS[:n], 3, n) for n in (4, 2)}
    tables = Tables(Path("new.xlsx"), sentences, {})
    book = fill_file(saved(made, tmp_path / "own.xlsx"), {}, tables=tables)
    (out := tmp_path / "out.xlsx").write_bytes(book.content)
    verify(out)
    assert not book.attention
    drawn = read_drawn(out).sheets[0]
    assert [text for text in drawn.values.values() if text in weights] == [*weights]
    outputs = [frame for _, frame, _ in book.filling.frames if frame.step == "Output"]
    for frame, one in zip(outputs, sentences.values(), strict=True):
        _, values = values_in(drawn, frame.place, False)
        wanted = naive_attention(*(one.values @ weights[name] for name in weights))[1]
        np.testing.assert_allclose(values, wanted, rtol=1e-12)


@thorough
def test_a_further_sentence_has_room_below_a_last_one_that_is_longer(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.sentence(2, 2, PETS[:2], numbers(PETS[:2]))
    sheet.sentence(34, 2, PETS, numbers(PETS))
    put(saved(made, tmp_path / "own.xlsx"), *[sentence(WORDS[:n], 3) for n in (2, 3, 4)])


def test_what_stands_in_the_way_of_a_further_sentence_is_named(tmp_path: Path) -> None:
    template = two_contexts(tmp_path / "own.xlsx", [])
    book = openpyxl.load_workbook(template)
    book.active["T16"] = "a note"
    book.save(template)
    tables = Tables(Path("x"), {f"s{n}": sentence(WORDS[:3], 3) for n in range(3)}, {})
    with pytest.raises(InputError, match="would begin at R4, but T16 is filled"):
        fill_file(template, {}, tables=tables)


def test_tags_are_a_template_of_one_cell_each(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for cell, text in {
        "B2": "Our words", "B4": "{{ words }}", "C3": "{{ dimensions }}", "C4": "{{ Input }}",
        "B8": "What each sees", "B10": "{{ words }}", "C9": "{{ words | across }}",
        "C10": "{{ Softmax }}", "B14": "{{ words }}", "C14": "{{ Output }}", "B20": "the end",
    }.items():  # fmt: skip
        book.active[cell] = text
    book.active["C4"].fill = PatternFill("solid", "FFF2CC")
    book.active["C10"].border = Border(*[Side("thick")] * 4)
    book.active.conditional_formatting.add(
        "C10", ColorScaleRule("num", 0, "FFFFFF", "num", 1, "00AA00")
    )
    book.save(tmp_path / "tags.xlsx")
    out = put(tmp_path / "tags.xlsx", sentence(WORDS[:6], 3))
    sheet = openpyxl.load_workbook(out).active
    assert [sheet.cell(4 + n, 2).value for n in range(6)] == WORDS[:6]
    assert [str(one.sqref) for one in sheet.conditional_formatting] == ["C15:H20"]
    assert sheet["H20"].border.left.style == "thick"
    assert sheet["B40"].value == "the end" or sheet["B35"].value == "the end"


def test_a_filled_sheet_of_tags_grows(tmp_path: Path) -> None:
    """No title is left: the numbers tell what the formulas compute."""
    made = openpyxl.Workbook()
    AuthorSheet(made.active).block(2, 2, "Input", WORDS[:3], DIMS, numbers(WORDS[:3]))
    for row, step in ((10, "Scores"), (15, "Softmax"), (20, "Output")):
        made.active.cell(row, 3, f"{{{{ {step} }}}}")
    book = fill_file(saved(made, tmp_path / "tags.xlsx"), {})
    (tmp_path / "filled.xlsx").write_bytes(book.content)
    put(tmp_path / "filled.xlsx", sentence(WORDS[4:9], 3))


@thorough
def test_learned_weights_come_from_the_input_or_from_the_template(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet, rng = AuthorSheet(book.active), np.random.default_rng(2)
    sheet.block(2, 2, "Input", PETS, DIMS, numbers(PETS))
    for n, name in enumerate(("W_Q", "W_K", "W_V")):
        sheet.block(2, 12 + 6 * n, name, DIMS, ("q1", "q2"), rng.random((3, 2)))
    for n, step in enumerate(("Q", "K", "V", "Output")):
        sheet.block(14 + 9 * n, 2, step, PETS, ("q1", "q2"))
    template = saved(book, tmp_path / "own.xlsx")
    x = sentence(WORDS[:4], 5)
    weights = {
        name: Table(name, rng.random((5, 3)), x.columns, ("a", "b", "c"), (True, True), "", name, 2, 2)
        for name in ("W_Q", "W_K", "W_V")
    }
    tables = Tables(Path("new.xlsx"), {"s": x}, weights)
    filled = fill_file(template, {}, tables=tables)
    out = tmp_path / "new.xlsx"
    out.write_bytes(filled.content)
    verify(out)
    q, k, v = (x.values @ weights[name].values for name in weights)
    frame = next(frame for _, frame, _ in filled.filling.frames if frame.step == "Output")
    _, values = values_in(read_drawn(out).sheets[0], frame.place, False)
    np.testing.assert_allclose(values, naive_attention(q, k, v)[1], rtol=1e-12)
    labels = [openpyxl.load_workbook(out).active.cell(3, c).value for c in range(1, 60)]
    assert labels.count("c") == 3
    x = sentence(WORDS[:4], 3)  # as many dimensions as the template's weights have rows
    again = fill_file(template, {}, tables=Tables(Path("new.xlsx"), {"s": x}, {}))
    out.write_bytes(again.content)
    texts = {cell.value for row in openpyxl.load_workbook(out).active for cell in row}
    assert {*x.columns} <= texts
    assert not {*DIMS} & texts  # no label of the template is left
    x = sentence(WORDS[:4], 5)
    with pytest.raises(
        InputError, match="--set random-weights=1"
    ):  # three rows do not fit five dimensions
        fill_file(template, {}, tables=Tables(Path("new.xlsx"), {"s": x}, {}))


def test_a_template_keeps_the_model_that_its_weights_tell_and_what_its_titles_tell(
    tmp_path: Path,
) -> None:
    """A layer without norms; the class below probabilities whose labels stand further up afterwards."""
    book, rng = openpyxl.Workbook(), np.random.default_rng(2)
    sheet, words, classes = AuthorSheet(book.active), WORDS[:3], ("bad", "good")
    w = {"W_1": rng.normal(size=(3, 4)).round(1), "W_2": rng.normal(size=(4, 3)).round(1)}
    sheet.block(2, 2, "Input", words, DIMS, numbers(words))
    for n, (name, table) in enumerate(w.items()):
        sheet.block(2, 12 + 8 * n, name, "abcd"[: len(table)], "abcd"[: table.shape[1]], table)
    for n, step in enumerate(("Attention weights", "Output", "Residual", "Feed forward")):
        sheet.block(9 + 7 * n, 2, step, words, words if n == 0 else DIMS)
    tables = Tables(Path("new.xlsx"), {"s": sentence(WORDS[:5], 3)}, {})
    filled = fill_file(saved(book, tmp_path / "own.xlsx"), {}, tables=tables)
    assert not filled.attention
    (tmp_path / "new.xlsx").write_bytes(filled.content)
    verify(tmp_path / "new.xlsx")
    x = tables.sentences["s"].values
    x = x + naive_attention(x, x, x)[1]
    _, frame, _ = filled.filling.frames[-1]
    _, values = values_in(read_drawn(tmp_path / "new.xlsx").sheets[0], frame.place, False)
    np.testing.assert_allclose(values, np.maximum(x @ w["W_1"], 0) @ w["W_2"], rtol=1e-12)
    book = openpyxl.Workbook()
    sheet = AuthorSheet(book.active)
    sheet.block(2, 2, "Input", words, DIMS, numbers(words))
    sheet.block(2, 12, "W_C", DIMS, classes, numbers(DIMS, 2))
    sheet.block(10, 2, "Attention weights", words, words)
    sheet.block(11, 12, "Probabilities", [None], classes)
    sheet.block(16, 12, "Predicted class", [None], [None])
    filled = fill_file(saved(book, tmp_path / "own.xlsx"), {}, tables=tables)
    (tmp_path / "new.xlsx").write_bytes(filled.content)
    verify(tmp_path / "new.xlsx")
    formulas = [one.text for one in read_drawn(tmp_path / "new.xlsx").sheets[0].formulas.values()]
    assert [one.partition(",1,")[0] for one in formulas if "INDEX" in one] == ["INDEX($O$3:$P$3"]


def test_a_frame_keeps_its_outline_where_columns_are_inserted_after_it(tmp_path: Path) -> None:
    made, words = openpyxl.Workbook(), WORDS[:4]
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", words, DIMS, numbers(words))
    for n, name in enumerate(("W_Q", "W_K", "W_V")):
        sheet.block(2, 12 + 6 * n, name, DIMS, ("q1", "q2"), numbers(DIMS, 2))
    for n, step in enumerate(("Q", "K", "V", "Scores", "Softmax", "Output")):
        sheet.block(9 + 7 * n, 2, step, words, words if step in ("Scores", "Softmax") else ("q1", "q2"))
    template, out = saved(made, tmp_path / "own.xlsx"), tmp_path / "new.xlsx"
    tables = Tables(Path("new.xlsx"), {"s": sentence(WORDS[:6], 3)}, {})
    out.write_bytes(fill_file(template, {}, tables=tables).content)
    verify(out)
    cells = [cell for row in openpyxl.load_workbook(out).active for cell in row]
    framed = len([cell for cell in cells if cell.border.left.style])
    assert framed == 6 * 3 + 3 * 3 * 2 + 4 * 6 * 2 + 2 * 6 * 6


MOVES = Both(Moves({6: 3, 20: 2}, {9, 10}), Moves({3: 2}, {7}))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("C6", "C6"),
        ("$C$7", "$C$10"),
        ("sum(C5:C8)", "sum(C5:C11)"),
        ("C6:D7*2", "C6:F10*2"),
        ("B8:B10", "B11:B11"),
        ("A:D", "A:F"),
        ("6:12", "6:13"),
        ("'It''s'!C7+Other!C7", "'It''s'!C10+Other!C7"),
        ('LOG10(C7)&"C7"&taxes1', 'LOG10(C10)&"C7"&taxes1'),
        ("B12:A1", "B13:A1"),
        ("INDEX(A1:F30,2,1):C21", "INDEX(A1:H33,2,1):C24"),
        ('SUM(INDIRECT("C5:C8"))', 'SUM(INDIRECT("C5:C11"))'),
    ],
)
def test_references_move_with_their_cells(before: str, after: str) -> None:
    moves = {"it's": MOVES, "own": MOVES}
    assert formula_moved(before, "Own", moves) == after


@pytest.mark.parametrize(
    ("formula", "refused"),
    [
        ('INDIRECT("C"&ROW())', True),
        ('INDIRECT("R5C3",FALSE)', True),
        ("INDIRECT(ADDRESS(5,3))", True),
        ('INDIRECT("Sheet!C6")+SUM(INDIRECT("Numbers"))', False),
    ],
)
def test_an_address_put_together_is_refused(formula: str, refused: bool, tmp_path: Path) -> None:
    made = without_scaled(WORDS[:3])
    made.active["J3"] = f"={formula}"
    made.defined_names["Numbers"] = DefinedName("Numbers", attr_text="Sheet!$C$4:$D$5")
    path, tables = saved(made, tmp_path / "own.xlsx"), {"s": sentence(WORDS[:5], 3)}
    new = Tables(Path("new.xlsx"), tables, {})
    if refused:
        with pytest.raises(InputError, match=r"Sheet!J3: =INDIRECT.* names cells by a text"):
            fill_file(path, {}, tables=new)
        return
    (tmp_path / "out.xlsx").write_bytes(fill_file(path, {}, tables=new).content)
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").active
    assert sheet["L3"].value == '=INDIRECT("Sheet!C8")+SUM(INDIRECT("Numbers"))'


def test_everything_that_names_a_cell_moves(tmp_path: Path) -> None:
    """One map in one pass, for whatever an author's sheet has; undone by its inverse."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Own"
    other = book.create_sheet("Other")
    for row in range(1, 31):
        for column in range(1, 9):
            sheet.cell(row, column, row * 100 + column)
    sheet["J9"], other["A1"] = "=SUM(A5:C9)", "=Own!$B$8"
    sheet.merge_cells("K5:L9")
    sheet.conditional_formatting.add(
        "B6:D9", ColorScaleRule("min", None, "FFFFFF", "max", None, "0000FF")
    )
    sheet.conditional_formatting.add("B8", FormulaRule(["$A$8>3"], fill=PatternFill("solid", "FF0000")))
    checked = DataValidation("whole", operator="between", formula1="Own!$A$8", formula2="9")
    checked.add("C8:C9")
    sheet.add_data_validation(checked)
    sheet.print_area, sheet.freeze_panes = "A1:H30", "B8"
    sheet.row_breaks.append(Break(9))
    sheet["C8"].comment = Comment("here", "me")
    link = openpyxl.worksheet.hyperlink.Hyperlink(ref="A2", location="Own!B8", display="there")
    other["A2"].hyperlink = link
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=2, min_row=5, max_row=9))
    sheet.add_chart(chart, "D12")
    book.defined_names["whole"] = DefinedName("whole", attr_text="Own!$B$5:$D$9")
    sheet.add_table(ListedTable(displayName="Listed", ref="N5:O9"))
    sheet["N5"], sheet["O5"] = "a", "b"
    sheet.column_dimensions["C"].width, sheet.row_dimensions[7].height = 33, 44
    path = tmp_path / "own.xlsx"
    book.save(path)
    there = {"Own": Both(Moves({6: 3}), Moves({2: 2}))}
    (tmp_path / "moved.xlsx").write_bytes(moved(read_drawn(path), there))
    new = openpyxl.load_workbook(tmp_path / "moved.xlsx")
    own = new["Own"]
    assert own["A6"].value == 601
    assert own["E11"].value == 803
    assert (own["L12"].value, new["Other"]["A1"].value) == ("=SUM(A5:E12)", "=Own!$B$11")
    assert [str(area) for area in own.merged_cells.ranges] == ["M5:N12"]
    assert {str(one.sqref) for one in own.conditional_formatting} == {"B6:F12", "B11"}
    rules = {str(one.sqref): one.rules[0].formula for one in own.conditional_formatting}
    assert rules["B11"] == ["$A$11>3"]
    assert [(str(v.sqref), v.formula1) for v in own.data_validations.dataValidation] == [
        ("E11:E12", "Own!$A$11")
    ]
    assert (own.print_area, own.freeze_panes) == ("'Own'!$A$1:$J$33", "B11")
    assert [one.id for one in own.row_breaks.brk] == [12]
    assert own["E11"].comment.text == "here"
    assert new["Other"]["A2"].hyperlink.location == "Own!B11"
    assert new.defined_names["whole"].attr_text == "Own!$B$5:$F$12"
    assert (own.tables["Listed"].ref, own.tables["Listed"].autoFilter.ref) == ("P5:Q12", "P5:Q12")
    assert own.column_dimensions["E"].width == 33
    assert own.row_dimensions[10].height == 44
    with zipfile.ZipFile(tmp_path / "moved.xlsx") as package:
        drawing = package.read("xl/drawings/drawing1.xml").decode()
        assert "'Own'!$B$5:$B$12" in package.read("xl/charts/chart1.xml").decode()
    assert "<col>5</col>" in drawing.replace("xdr:", "")
    assert "<row>14</row>" in drawing.replace("xdr:", "")
    back = {"Own": Both(Moves(removed={7, 8, 9}), Moves(removed={3, 4}))}
    (tmp_path / "back.xlsx").write_bytes(moved(read_drawn(tmp_path / "moved.xlsx"), back))
    again = openpyxl.load_workbook(tmp_path / "back.xlsx")
    for name in ("Own", "Other"):
        cells = [[cell.value for cell in row] for row in book[name].iter_rows()]
        assert [[cell.value for cell in row] for row in again[name].iter_rows()] == cells
    assert again.defined_names["whole"].attr_text == "Own!$B$5:$D$9"


def test_a_name_spans_a_smaller_matrix_though_no_column_goes(tmp_path: Path) -> None:
    made = without_scaled(WORDS[:2])
    made.defined_names["Words"] = DefinedName("Words", attr_text="Sheet!$C$4:$E$5")
    out = put(saved(made, tmp_path / "own.xlsx"), sentence(WORDS[:2], 2))
    assert openpyxl.load_workbook(out).defined_names["Words"].attr_text == "Sheet!$C$4:$D$5"


def in_a_table(path: Path, words: Sequence[str]) -> Path:
    """A template whose input is a table of a spreadsheet program."""
    made = without_scaled(words)
    made.active["B3"] = "word"
    made.active.add_table(ListedTable(displayName="Words", ref=f"B3:E{3 + len(words)}"))
    return saved(made, path)


@pytest.mark.parametrize(("words", "dims"), [(2, 2), (4, 3), (7, 6)])
def test_a_table_takes_the_headers_of_the_new_input(words: int, dims: int, tmp_path: Path) -> None:
    template = in_a_table(tmp_path / "own.xlsx", WORDS[:4])
    sheet = openpyxl.load_workbook(put(template, sentence(WORDS[:words], dims))).active
    table = sheet.tables["Words"]
    assert table.autoFilter.ref == table.ref
    assert [cell.value for cell in sheet[table.ref][0]] == table.column_names
    assert table.column_names[: 1 + dims] == ["word", *(f"d{n}" for n in range(dims))]
    assert len({column.id for column in table.tableColumns}) == len(table.column_names)


def test_formulas_name_the_columns_of_a_table_by_their_new_headers(tmp_path: Path) -> None:
    path = in_a_table(tmp_path / "own.xlsx", WORDS[:4])
    book = openpyxl.load_workbook(path)
    book.active["H1"] = '=SUM(Words[tech])&"[tech]"'
    book.active["H2"] = "=SUM(Words[[animal]:[Tech]],Other[tech])"
    book.save(path)
    x = replace(sentence(WORDS[:4], 3), columns=("a [1]", "b", "c"))
    path.write_bytes(fill_file(path, {}, tables=Tables(Path("new.xlsx"), {"s": x}, {})).content)
    sheet = openpyxl.load_workbook(path).active
    assert sheet["H1"].value == '=SUM(Words[b])&"[tech]"'
    assert sheet["H2"].value == "=SUM(Words[[a '[1']]:[b]],Other[tech])"


def test_the_headers_of_a_table_differ(tmp_path: Path) -> None:
    template = in_a_table(tmp_path / "own.xlsx", WORDS[:4])
    x = replace(sentence(WORDS[:4], 3), columns=("a", "b", "A"))
    with pytest.raises(InputError, match="table Words must differ, but two would be called 'A'"):
        put(template, x)


def test_newer_conditional_formats_follow(tmp_path: Path) -> None:
    template = two_contexts(tmp_path / "own.xlsx", [])
    extension = (
        '<extLst xmlns:xm="http://schemas.microsoft.com/office/excel/2006/main"><ext><xm:f>Attention!$C$6'
        "</xm:f><xm:sqref>C6:E10</xm:sqref></ext></extLst></worksheet>"
    )
    with zipfile.ZipFile(template) as package:
        sheet = package.read("xl/worksheets/sheet1.xml").decode()
    changed = sheet.replace("</worksheet>", extension).encode()
    template.write_bytes(packed(template.read_bytes(), {"xl/worksheets/sheet1.xml": changed}, set()))
    with zipfile.ZipFile(put(template, sentence(WORDS[:7], 4))) as package:
        xml = package.read("xl/worksheets/sheet1.xml")
    assert b"<xm:f>Attention!$C$6</xm:f><xm:sqref>C6:F12</xm:sqref>" in xml


def test_learned_positions_of_a_template_serve_no_further_words(tmp_path: Path) -> None:
    made, words = openpyxl.Workbook(), WORDS[:3]
    sheet = AuthorSheet(made.active)
    for n, title in enumerate(("Word embeddings", "Position embeddings", "Input = word + position")):
        given = numbers(words, 2, n) if n < 2 else None
        sheet.block(2, 2 + 9 * n, title, words, DIMS[:2], given)
    sheet.block(10, 2, "Attention weights", words, words)
    filled = fill_file(saved(made, tmp_path / "own.xlsx"), {})
    (tmp_path / "own.xlsx").write_bytes(filled.content)
    with pytest.raises(InputError, match="W_P of the template is 3 x 2, but 's0' has 4 words"):
        put(tmp_path / "own.xlsx", sentence(WORDS[:4], 2))


def test_what_cannot_move_is_refused_by_name(tmp_path: Path) -> None:
    template = two_contexts(tmp_path / "own.xlsx", [])
    book = openpyxl.load_workbook(template)
    book.create_sheet("Other")["A1"] = "=SUM(Attention:Other!C6)"
    book.save(template)
    with pytest.raises(
        InputError, match=r"sheet 'Other': =SUM\S+ reads the same cells of several sheets"
    ):
        put(template, sentence(WORDS, 2))


def test_the_command(tmp_path: Path, capsys: Any) -> None:
    template = SAMPLES / "authors" / "two-contexts.xlsx"
    out = tmp_path / "out.xlsx"
    with pytest.raises(SystemExit) as end:
        main(["fill", str(template), "--input", str(SAMPLES / "mouse.xlsx"), "-o", str(out)])
    assert end.value.code == 0
    assert "180 cells filled in 8 of 8 frames" in capsys.readouterr().out
    verify(out)
    with pytest.raises(SystemExit) as end:
        main(["fill", str(template), "--sheet", "pets", "-o", str(out), "--force"])
    assert end.value.code == 2
    assert "--sheet needs --input" in capsys.readouterr().err


FIGURES = (
    "one-sentence",
    "two-contexts",
    "learned-weights",
    "two-heads",
    "dot-product",
    "encoder-block",
)


@alike
@pytest.mark.parametrize("name", FIGURES)
def test_the_figures_that_come_along(name: str, tmp_path: Path) -> None:
    """Each is completed by `fill`, fits a page, and takes two other sentences of other sizes."""
    template = find_template(name)
    assert is_arrangement(template)
    completed = fill_file(template, {})
    assert not completed.attention
    blank = [frame for _, frame, count in completed.filling.frames if not count]
    assert not blank
    (tmp_path / "own.xlsx").write_bytes(completed.content)
    verify(tmp_path / "own.xlsx")
    book = openpyxl.load_workbook(template)
    assert book["Figure"].sheet_properties.pageSetUpPr.fitToPage
    assert book["Figure"].page_setup.fitToHeight == 1
    sentences = {"a": sentence(WORDS[:7], 4), "b": sentence(WORDS[7:], 4, 5)}
    tables = Tables(tmp_path / "new.xlsx", sentences, {})
    options = {"random_weights": 3} if name in ("learned-weights", "two-heads") else {}
    written = fill_file(template, options, tables=tables)
    assert not written.attention
    assert len(written.filling.frames) == len(completed.filling.frames) * (
        1 if name == "two-contexts" else 2
    )
    (tmp_path / "own.xlsx").write_bytes(written.content)
    verify(tmp_path / "own.xlsx")


@alike
@pytest.mark.parametrize(
    ("sample", "template", "step", "note"),
    [
        ("multi-head", "two-heads", "Output", ""),
        ("projections", "one-sentence", "Output", "its formulas what W_V makes of it"),
        ("encoder", "one-sentence", "Enc1.Scores_1", "its formulas what W_Q and W_K make of it"),
    ],
)
def test_a_file_brings_its_own_weights(
    sample: str, template: str, step: str, note: str, tmp_path: Path
) -> None:
    """Those of a template may be others, or missing; those of all heads are cut."""
    tables = attn_xl.read_tables(SAMPLES / f"{sample}.xlsx")
    (graph,) = attn_xl.attend(tables).values()
    book = fill_file(find_template(template), {}, tables=tables)
    assert note in "\n".join(book.notes)
    (tmp_path / "own.xlsx").write_bytes(book.content)
    sheet = read_drawn(tmp_path / "own.xlsx").sheets[0]
    (frame,) = (one for _, one, _ in book.filling.frames if one.step == step)
    np.testing.assert_allclose(values_in(sheet, frame.place, False)[1], graph[step].values, rtol=1e-12)


@pytest.mark.parametrize(
    ("sample", "template", "why"),
    [
        (
            "rnn",
            "one-sentence",
            "nothing can be filled in. In the template, Figure!F5: 'Scores = Input",
        ),
        ("multi-head", "learned-weights", "the model of 'sentence' has no Q, but Q_1, Q_2."),
        (
            "politics",
            "learned-weights",
            "W_Q of the template is 3 x 2, but 'politics' has 2 dim",
        ),
    ],
)
def test_a_template_of_another_model_is_refused(
    sample: str, template: str, why: str, tmp_path: Path, capsys: Any
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["convert", str(SAMPLES / f"{sample}.xlsx"), "--template", template,
              "-o", str(tmp_path / "out.xlsx")])  # fmt: skip
    assert end.value.code == 1
    assert why in capsys.readouterr().err
    assert not (tmp_path / "out.xlsx").exists()


def test_shared_and_array_formulas_move(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    other = book.create_sheet("Other")
    for row in range(1, 9):
        for column in range(1, 4):
            book.active.cell(row, column, row * column)
        book.active.cell(row, 6, f"=A{row}*2")
        other.cell(row, 6, f"=Sheet!A{row}*2")
    book.active["H8"] = openpyxl.worksheet.formula.ArrayFormula("H8:H9", "=A7:A8*2")
    book.save(path := tmp_path / "own.xlsx")
    changed = {}
    for number, at in ((1, ""), (2, "Sheet!")):  # as Excel writes a formula that was filled down
        with zipfile.ZipFile(path) as package:
            xml = package.read(part := f"xl/worksheets/sheet{number}.xml").decode()
        xml = xml.replace(f"<f>{at}A1*2</f>", f'<f t="shared" ref="F1:F8" si="0">{at}A1*2</f>')
        for row in range(2, 9):
            xml = xml.replace(f"<f>{at}A{row}*2</f>", '<f t="shared" si="0"/>')
        changed[part] = xml.encode()
    path.write_bytes(packed(path.read_bytes(), changed, set()))
    moves = {"Sheet": Both(Moves({4: 2}), Moves({1: 1}))}
    path.write_bytes(moved(read_drawn(path), moves))
    book = openpyxl.load_workbook(path)
    sheet = book["Sheet"]
    assert [sheet.cell(row, 7).value for row in (1, 4, 5, 7, 10)] == [
        "=A1*2", "=A4*2", None, "=A7*2", "=A10*2",
    ]  # fmt: skip
    assert [book["Other"].cell(row, 6).value for row in (4, 5, 8)] == [
        "=Sheet!A4*2", "=Sheet!A7*2", "=Sheet!A10*2",
    ]  # fmt: skip
    assert (sheet["I10"].value.ref, sheet["I10"].value.text) == ("I10:I11", "=A9:A10*2")


def with_arrays(sheet: Any, column: int, arrays: bool) -> list[str]:
    """A sentence of three words whose matrices are array formulas, the softmax one in each row, or are
    blank; the ranges of the matrices."""
    places = AuthorSheet(sheet).sentence(2, column, WORDS[:3], numbers(WORDS[:3], 2), dims=DIMS[:2])
    first, last = (letter(column + n) for n in (1, 3))
    x, scores, scaled, weights = (
        f"{first}{places[step][0]}:{last if n else letter(column + 2)}{places[step][0] + 2}"
        for n, step in enumerate(("Input", "Scores", "Scaled", "Attention"))
    )
    found = {
        scores: f"MMULT({x},TRANSPOSE({x}))",
        scaled: f"{scores}/SQRT(2)",
        f"{first}{places['Output'][0]}:{letter(column + 2)}{places['Output'][0] + 2}":
            f"MMULT({weights},{x})",
    }  # fmt: skip
    top = places["Scaled"][0]
    for n in range(3):
        row = f"{first}{top + n}:{last}{top + n}"
        there = f"{first}{places['Attention'][0] + n}:{last}{places['Attention'][0] + n}"
        found[there] = f"EXP({row})/SUM(EXP({row}))"
    for area, formula in found.items() if arrays else ():
        for cell in (cell for line in sheet[area] for cell in line):
            cell.value = 0.0  # other numbers than those of other words
        start = area.partition(":")[0]
        sheet[start] = openpyxl.worksheet.formula.ArrayFormula(area, f"={formula}")
    return [*found]


def arrays_of(sheet: Any) -> dict[str, str]:
    """The array formulas of several cells, by their range."""
    found = (cell.value for row in sheet for cell in row)
    arrays = (one for one in found if isinstance(one, openpyxl.worksheet.formula.ArrayFormula))
    return {one.ref: one.text[1:] for one in arrays if ":" in one.ref}


@pytest.mark.parametrize(("words", "dims"), [(2, 4), (3, 2), (3, 4), (6, 4)])
def test_array_formulas_become_those_of_other_words(words: int, dims: int, tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    with_arrays(made.active, 2, True)
    with_arrays(made.active, 9, False)
    made.active["P9"] = "Difference"
    for cell in (cell for line in made.active["P11:R13"] for cell in line):
        cell.value = 0.0
    made.active["P11"] = openpyxl.worksheet.formula.ArrayFormula(
        "P11:R13", "=_xlfn.ANCHORARRAY(C11)-_xlfn.ANCHORARRAY($C$18)"
    )
    path = saved(made, tmp_path / "own.xlsx")
    given = sentence(WORDS[:words], dims), sentence(WORDS[:words], dims, 5)
    book = openpyxl.load_workbook(put(path, *given)).active
    found = arrays_of(book)
    scores, scaled = (
        next(area for area, text in found.items() if text.startswith(start) and "$C" in text)
        for start in ("MMULT($C$4", "$C$")
    )
    assert len(found) == 7  # three of each sentence, and the difference
    (difference,) = (area for area, text in found.items() if text == f"{scores}-{fixed(scaled)}")
    shapes = (np.shape(book[area]) for area in (scores, scaled, difference))
    assert {*shapes} == {(words, words)}


@pytest.mark.parametrize("from_rows", [False, True])
def test_a_chart_has_a_series_for_each_column_of_a_frame(from_rows: bool, tmp_path: Path) -> None:
    made = without_scaled(WORDS[:3])
    chart = BarChart()
    area = Reference(
        made.active, min_col=2 + (not from_rows), max_col=5, min_row=3 + from_rows, max_row=6
    )
    chart.add_data(area, titles_from_data=True, from_rows=from_rows)
    for n, series in enumerate(chart.series, 1):
        series.graphicalProperties.solidFill = ColorChoice(schemeClr=SchemeColor(val=f"accent{n}"))
        series.val.numRef.numCache = NumData(ptCount=3)
    made.active.add_chart(chart, "H4")
    path = saved(made, tmp_path / "own.xlsx")
    for words, dims in ((WORDS[:5], 4), (WORDS[:2], 2)):
        tables = Tables(Path("new.xlsx"), {"s": sentence(words, dims)}, {})
        (out := tmp_path / "out.xlsx").write_bytes(fill_file(path, {}, tables=tables).content)
        verify(out)
        (new,) = openpyxl.load_workbook(out).active._charts
        across, down = "CDEF"[:dims], range(4, 4 + len(words))
        wanted = [(f"B{r}", f"$C${r}:${across[-1]}${r}") for r in down] if from_rows else [
            (f"{c}3", f"${c}$4:${c}${down[-1]}") for c in across
        ]  # fmt: skip
        shown = [(s.tx.strRef.f.rpartition("!")[2].replace("$", ""), s.val.numRef.f.rpartition("!")[2])
                 for s in new.series]  # fmt: skip
        assert shown == wanted
        for n, one in enumerate(new.series):
            colour = one.graphicalProperties.solidFill.schemeClr.val
            assert (one.idx, one.order, colour) == (n, n, f"accent{n + 1}")


def test_a_difference_of_frames_has_the_new_size(tmp_path: Path) -> None:
    made = without_scaled(WORDS[:3])
    for row in range(4, 7):
        made.active.cell(row, 8, WORDS[row - 4])
        for column in range(9, 12):
            made.active.cell(row, column, f"={'CDE'[column - 9]}{row + 21}-{'CDE'[column - 9]}{row}")
    path = saved(made, tmp_path / "own.xlsx")
    for words, dims in ((WORDS[:6], 5), (WORDS[:2], 2)):
        one = sentence(words, dims)
        book = fill_file(path, {}, tables=Tables(Path("new.xlsx"), {"s": one}, {}))
        (out := tmp_path / "out.xlsx").write_bytes(book.content)
        verify(out)
        sheet = openpyxl.load_workbook(out, data_only=True).active
        left = next(c.column for c in sheet[4] if c.column > 6 and c.value == words[0])
        moved_by = naive_attention(one.values, one.values, one.values)[1] - one.values
        cells = sheet.iter_rows(4, 3 + len(words), left, left + dims + 1, values_only=True)
        for label, want, (*found, beyond) in zip(words, moved_by, cells):
            assert (found[0], beyond) == (label, None)
            assert found[1:] == pytest.approx(want)


def test_sums_beside_and_below_a_frame_are_there_for_new_words_too(tmp_path: Path) -> None:
    made = without_scaled(WORDS[:3])
    for row in (18, 19, 20):
        made.active[f"G{row}"] = f"=SUM(C{row}:E{row})"
    for column in "CDE":
        made.active[f"{column}29"] = f"=SUM({column}$25:{column}$27)"
    path = saved(made, tmp_path / "own.xlsx")
    tables = Tables(Path("new.xlsx"), {"s": sentence(WORDS[:6], 5)}, {})
    book = fill_file(path, {}, tables=tables)
    path.write_bytes(book.content)
    new = openpyxl.load_workbook(path).active
    assert [new[f"J{row}"].value for row in range(24, 30)] == [
        f"=SUM(C{n}:H{n})" for n in range(24, 30)
    ]
    assert [new[f"{c}41"].value for c in "CDEFG"] == [f"=SUM({c}$34:{c}$39)" for c in "CDEFG"]
    verify(path)
    shown = openpyxl.load_workbook(path, data_only=True).active
    assert [shown[f"J{row}"].value for row in range(24, 30)] == pytest.approx([1] * 6)
    tables = Tables(Path("new.xlsx"), {"s": sentence(WORDS[:2], 3)}, {})
    path.write_bytes(fill_file(path, {}, tables=tables).content)
    new = openpyxl.load_workbook(path).active
    assert [cell.value for cell in new["H"] if cell.value] == ["=SUM(C16:D16)", "=SUM(C17:D17)"]


def test_a_template_may_number_its_sentences(tmp_path: Path) -> None:
    """A third one is put below the last, whose frames have no labels; all masks are computed."""
    made = openpyxl.Workbook()
    for n in (1, 2):
        sheet = AuthorSheet(made.active if n == 1 else made.create_sheet("More"), labels=False)
        for row, step in enumerate(("Input", "Scores", "Mask", "Masked", "Softmax", "Output")):
            columns = DIMS if row % 5 == 0 else WORDS[:4]
            given = numbers(WORDS[:4], seed=n) if row == 0 else None
            sheet.block(1 + 7 * row, 1, f"{step} {n}", WORDS[:4], columns, given)
    path = saved(made, tmp_path / "own.xlsx")
    three = {f"s{n}": sentence(WORDS[n : n + 2 + n], 3, n) for n in range(3)}
    book = fill_file(path, {}, tables=Tables(Path("new.xlsx"), three, {}))
    (out := tmp_path / "out.xlsx").write_bytes(book.content)
    verify(out)
    assert not book.attention
    assert [frame.step for _, frame, _ in book.filling.frames].count("Mask") == 3

"""`attn-xl fill` completes an author's own sheet."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from authors import DESK, PETS, STEPS, AuthorSheet, numbers, saved, two_contexts
from conftest import by_libreoffice, differences_libreoffice, naive_attention, thorough, verify

from attn_xl.cli.main import main
from attn_xl.errors import InputError
from attn_xl.spreadsheets.drawn import read_drawn
from attn_xl.tables.frames import values_in
from attn_xl.workbook.filling.author import FilledBook, fill_file

X, Y = numbers(PETS), numbers(DESK, seed=2)


def filled(path: Path, **how: Any) -> tuple[FilledBook, Path]:
    """A workbook filled in, recalculated, and compared with the original: nothing else has changed."""
    book = fill_file(path, how.pop("options", {}), **how)
    out = path.with_name(f"{path.stem}-filled.xlsx")
    out.write_bytes(book.content)
    verify(out)
    before, after = read_drawn(path), {sheet.name: sheet for sheet in read_drawn(out).sheets}
    for sheet in before.sheets:
        for cell, value in sheet.values.items():
            assert after[sheet.name].values[cell] == value
            assert after[sheet.name].formulas.get(cell) == sheet.formulas.get(cell)
    return book, out


def check(book: FilledBook, out: Path, *inputs: np.ndarray, frames: int = 4) -> None:
    """Each sentence's attention and output are those of loops over its input."""
    sheets = {sheet.name: sheet for sheet in read_drawn(out).sheets}
    groups = {id(group): group for group, _, _ in book.filling.frames}
    assert len(groups) == len(inputs)
    assert len(book.filling.frames) == frames * len(inputs)
    for group, x in zip(groups.values(), inputs):
        wanted = dict(zip(("Softmax", "Output"), naive_attention(x, x, x)))
        for one, frame, _ in book.filling.frames:
            if one is group and frame.step in wanted:
                _, values = values_in(sheets[frame.place.sheet], frame.place, frame.turned)
                np.testing.assert_allclose(values, wanted[frame.step], rtol=1e-12)


@pytest.mark.parametrize(
    ("left", "right", "looks"),
    [
        (["Scores"], [], {}),
        (STEPS[:2], [], {}),
        (STEPS, ["Scores"], {}),
        (STEPS[:3], STEPS[:3], {}),
        (["Scores"], [], {"titled": False}),
        ([], [], {"merged": True}),
        ([], [], {"labels": False}),
        ([], [], {"borders": False}),
        ([], [], {"across": True}),
        ([], [], {"across": True, "labels": False}),
        ([], [], {"titles": {"Attention": "A", "Scores": "Q·Kᵀ", "Scaled": "SS", "Output": "Z:"}}),
    ],
)
def test_every_state_of_two_sentences_side_by_side(
    left: list[str], right: list[str], looks: dict[str, Any], tmp_path: Path
) -> None:
    path = two_contexts(tmp_path / "own.xlsx", left, right, **looks)
    book, out = filled(path)
    check(book, out, X, Y)
    assert not book.attention
    again, _ = filled(out)
    assert again.content == out.read_bytes()  # a complete sheet stays as it is, byte for byte


def below(book: Any, **looks: Any) -> None:
    for row, words, x in ((2, PETS, X), (60, DESK, Y)):
        AuthorSheet(book.active, **looks).sentence(row, 2, words, x)


def on_two_sheets(book: Any, **looks: Any) -> None:
    AuthorSheet(book.active, **looks).sentence(2, 2, PETS, X)
    AuthorSheet(book.create_sheet("It's 2"), **looks).sentence(3, 3, DESK, Y)


def both_ways(book: Any, **looks: Any) -> None:
    AuthorSheet(book.active, **looks).sentence(2, 2, PETS, X)
    AuthorSheet(book.active, **{**looks, "across": True}).sentence(2, 12, DESK, Y)


@pytest.mark.parametrize("arrange", [below, on_two_sheets, both_ways])
@pytest.mark.parametrize("looks", [{}, {"across": True}, {"labels": False}])
def test_sentences_in_other_arrangements(arrange: Any, looks: dict[str, Any], tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    arrange(made, **looks)
    check(*filled(saved(made, tmp_path / "own.xlsx")), X, Y)


@pytest.mark.parametrize("words", [1, 3, 12])
@pytest.mark.parametrize("across", [False, True])
def test_any_number_of_words_even_if_they_are_spelled_like_steps(
    words: int, across: bool, tmp_path: Path
) -> None:
    made = openpyxl.Workbook()
    names = ["key", "w1", "a", "max", "output", "sum", "x", "value", "w2", "q", "mask", "input"][:words]
    x = numbers(names)
    AuthorSheet(made.active, across=across).sentence(2, 2, names, x)
    check(*filled(saved(made, tmp_path / "own.xlsx")), x)


def test_formulas_are_what_a_teacher_would_type_there(tmp_path: Path) -> None:
    book, _ = filled(two_contexts(tmp_path / "own.xlsx", []))
    cells = book.filling.cells["Attention"]
    assert [cells[cell].formula for cell in [(15, 4), (24, 4), (33, 4), (42, 4)]] == [
        "SUMPRODUCT($C6:$E6,$C$7:$E$7)",
        "D15/SQRT(COLUMNS($C$6:$E$10))",
        "EXP(D24-MAX($C24:$G24))/SUMPRODUCT(EXP($C24:$G24-MAX($C24:$G24)))",
        "SUM(MMULT($C33:$G33,D$6:D$10))",
    ]
    book, _ = filled(two_contexts(tmp_path / "across.xlsx", [], across=True))
    cells = book.filling.cells["Attention"]
    assert [cells[cell].formula for cell in [(13, 4), (22, 4), (31, 4), (40, 4)]] == [
        "SUMPRODUCT(D$6:D$8,$C$6:$C$8)",
        "D13/SQRT(ROWS($C$6:$G$8))",
        "EXP(D22-MAX(D$22:D$26))/SUMPRODUCT(EXP(D$22:D$26-MAX(D$22:D$26)))",
        "SUM(MMULT($C6:$G6,D$31:D$35))",
    ]


def test_what_the_sheet_does_not_show_stands_in_the_formula_or_on_a_sheet_behind(
    tmp_path: Path,
) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS, ("a", "b", "c"), X)
    sheet.block(12, 2, "Attention", PETS, PETS)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    check(book, out, X, frames=1)
    assert book.filling.cells["Sheet"][14, 3].formula == (
        "EXP((Steps!B3-MAX(Steps!$B3:$F3))/SQRT(COLUMNS($C$4:$E$8)))"
        "/SUMPRODUCT(EXP((Steps!$B3:$F3-MAX(Steps!$B3:$F3))/SQRT(COLUMNS($C$4:$E$8))))"
    )
    assert book.summary.endswith("what they do not show is on the sheet Steps")


@pytest.mark.parametrize("across", [False, True])
def test_learned_weights_and_heads(across: bool, tmp_path: Path) -> None:
    made, sheet = openpyxl.Workbook(), None
    rng = np.random.default_rng(5)
    sheet = AuthorSheet(made.active, across=across)
    sheet.block(2, 2, "X", PETS, ("a", "b", "c"), X)
    weights = {}
    for n, name in enumerate(("W_Q", "W_K", "W_V")):
        weights[name] = rng.integers(-9, 10, (3, 2)) / 10
        sheet.block(2, 12 + 8 * n, name, ("a", "b", "c"), ("d1", "d2"), weights[name])
    places = {}
    for n, (step, wide) in enumerate((("Q", 2), ("K", 2), ("V", 2), ("Softmax", 5), ("Output", 2))):
        columns = PETS if wide == 5 else ("d1", "d2")
        places[step] = sheet.block(14 + 9 * n, 2, step, PETS, columns)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    q, k, v = (X @ weights[name] for name in weights)
    drawn = read_drawn(out).sheets[0]
    for _, frame, _ in book.filling.frames:
        wanted = {"Q": q, "K": k, "V": v}
        wanted |= dict(zip(("Softmax", "Output"), naive_attention(q, k, v)))
        _, values = values_in(drawn, frame.place, frame.turned)
        np.testing.assert_allclose(values, wanted[frame.step], rtol=1e-12, atol=1e-15)
    assert [frame.step for _, frame, _ in book.filling.frames] == [*places]


def test_what_differs_from_the_paper_stays_and_is_said(tmp_path: Path, capsys: Any) -> None:
    path = two_contexts(tmp_path / "own.xlsx", ["Scores"])
    book = openpyxl.load_workbook(path)
    for row in range(24, 29):
        for column in range(3, 8):
            book.active.cell(row, column).value = f"={book.active.cell(row - 9, column).coordinate}"
    book.active["K15"] = 4.2
    filled_book, out = filled(saved(book, path))
    assert len(filled_book.attention) == 2
    first, second = filled_book.attention
    assert first.startswith("Attention!C24: =C15 gives 9.05; Scaled should be 5.225, =C15/SQRT(")
    assert first.endswith("25 cells of Scaled differ so.")
    assert second.startswith("Attention!K15: the number 4.2 is typed where a formula belongs; Scores ")
    with pytest.raises(SystemExit) as end:
        main(["fill", str(path), "-o", str(out), "--force"])
    assert end.value.code == 3
    said = capsys.readouterr()
    assert first in said.err
    assert said.out.splitlines()[-1] == f"{out}: 129 cells filled in 6 of 8 frames"


def test_every_other_part_keeps_its_bytes(tmp_path: Path) -> None:
    path = two_contexts(tmp_path / "own.xlsx", ["Scores"])
    book = openpyxl.load_workbook(path)
    chart = openpyxl.chart.BarChart()
    chart.add_data(openpyxl.chart.Reference(book.active, min_col=3, min_row=15, max_row=19))
    book.active.add_chart(chart, "R2")
    book.active["B1"].comment = openpyxl.comments.Comment("mine", "me")
    book.active.conditional_formatting.add(
        "C33:G37", openpyxl.formatting.rule.ColorScaleRule("min", None, "FFFFFF", "max", None, "00FF00")
    )
    book.create_sheet("Notes")["A1"] = "untouched"
    out = tmp_path / "out.xlsx"
    book.save(path)
    out.write_bytes(fill_file(path, {}).content)
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(out) as after:
        changed = {name for name in before.namelist() if before.read(name) != after.read(name)}
        assert before.namelist() == after.namelist()
    assert changed == {"xl/workbook.xml", "xl/worksheets/sheet1.xml"}
    book = openpyxl.load_workbook(out)
    assert book.active["C33"].border.left.style == "thin"


def test_cells_and_rows_that_do_not_exist_yet(tmp_path: Path) -> None:
    """Frames without borders have no cells in the file; a new one takes the look of its column."""
    made = openpyxl.Workbook()
    AuthorSheet(made.active, borders=False).sentence(2, 2, PETS, X)
    path = saved(made, tmp_path / "own.xlsx")
    _, out = filled(path)
    rows = openpyxl.load_workbook(out).active
    assert rows["C13"].value.startswith("=SUMPRODUCT")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            lambda s: s.merge_cells("C24:D24"),
            "Attention!C24:G28: Scaled is not filled in: merged cells.",
        ),
        (lambda s: s.protection.enable(), "Scaled is not filled in: a protected sheet."),
        (
            lambda s: s.add_table(openpyxl.worksheet.table.Table(displayName="T", ref="B23:G28")),
            "Scaled is not filled in: a table.",
        ),
    ],
)
def test_places_that_cannot_be_written_to_are_named(change: Any, why: str, tmp_path: Path) -> None:
    path = two_contexts(tmp_path / "own.xlsx", ["Scores"])
    book = openpyxl.load_workbook(path)
    change(book.active)
    result = fill_file(saved(book, path), {})
    assert any(why in line for line in result.attention)


def test_a_frame_of_the_wrong_size_is_named(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS, ("a", "b", "c"), X)
    sheet.block(12, 2, "Scores", PETS[:4], PETS[:4])
    sheet.block(20, 2, "Output", PETS, ("a", "b", "c"))
    made.active["B30"] = "Scores"
    made.active["B31"] = "and more"
    result = fill_file(saved(made, tmp_path / "own.xlsx"), {})
    assert [line.partition(":")[0] for line in result.attention] == ["Sheet!B12"]


def test_call_gives_a_step_the_author_s_own_name(tmp_path: Path, capsys: Any) -> None:
    titles = {"Attention": "How much each word looks", "Output": "Blend = mixture"}
    path = two_contexts(tmp_path / "own.xlsx", [], titles=titles)
    out = tmp_path / "out.xlsx"
    calls = ["--call", "how much each word looks=Attention", "--call", "blend=Output"]
    main_ok(["fill", str(path), "-o", str(out), *calls])
    assert "180 cells filled in 8 of 8 frames" in capsys.readouterr().out
    for call, why in (("blend", "give it as NAME=STEP"), ("blend=Outptu", "Did you mean 'Output'?")):
        with pytest.raises(SystemExit) as end:
            main(["fill", str(path), "-o", str(out), "--force", "--call", call])
        assert end.value.code == 2
        assert why in capsys.readouterr().err


def main_ok(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 0


def test_refusals_name_the_remedy(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    made.active["B2"] = "Scores"
    made.save(tmp_path / "empty.xlsx")
    with pytest.raises(InputError, match="has no input to start from"):
        fill_file(tmp_path / "empty.xlsx", {})
    (tmp_path / "a.csv").write_text("a,1\n")
    with pytest.raises(InputError, match=r"only \.xlsx can be filled in"):
        fill_file(tmp_path / "a.csv", {})
    signed = io.BytesIO()
    with (
        zipfile.ZipFile(two_contexts(tmp_path / "own.xlsx", [])) as old,
        zipfile.ZipFile(signed, "w") as new,
    ):
        for name in old.namelist():
            content = old.read(name)
            if name == "_rels/.rels":
                link = b'<Relationship Id="rIdS" Type="http://x/digital-signature/origin" Target="s"/>'
                content = content.replace(b"</Relationships>", link + b"</Relationships>")
            new.writestr(name, content)
    (tmp_path / "signed.xlsx").write_bytes(signed.getvalue())
    with pytest.raises(InputError, match="is signed"):
        fill_file(tmp_path / "signed.xlsx", {})


@thorough
@by_libreoffice
def test_libreoffice_computes_the_same(tmp_path: Path) -> None:
    paths = []
    for name, looks in (("rows", {}), ("columns", {"across": True})):
        path = two_contexts(tmp_path / f"{name}.xlsx", [], **looks)
        paths.append(filled(path)[1])
    found = differences_libreoffice(paths, 1e-12)
    assert not any(found.values()), found

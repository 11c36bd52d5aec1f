"""A written workbook read back gives the same numbers, wherever it was saved since."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, Sheets, alike, by_libreoffice, make_input, table, thorough
from engines import recalculated_by_libreoffice

import attn_xl
from attn_xl.errors import InputError
from attn_xl.models.computation import Computation
from attn_xl.settings import CELLS, Arrangement, Settings
from attn_xl.tables.written import ENTER, Reopened, WrittenBook, reopened
from attn_xl.workbook.layout.settings_sheet import table_digest
from attn_xl.workbook.write import write_workbook

ALL = sorted(path for path in SAMPLES.glob("*.xlsx") if not path.stem.endswith("-attention"))


def converted(sample: Path, path: Path, **choices: Any) -> tuple[Computation, Settings]:
    tables = attn_xl.read_tables(sample)
    settings = Settings.resolve({"controls": True, **choices}, tables.settings, "")
    computation = attn_xl.attend(tables, settings)
    write_workbook(computation, path, settings=settings, record=True)
    return computation, settings


def same(one: Computation, other: Computation, exactly: bool = True) -> None:
    assert list(one) == list(other)
    for sentence in one:
        assert list(one[sentence]) == list(other[sentence])
        for name, node in one[sentence].items():
            twin = other[sentence][name]
            assert (node.rows, node.columns) == (twin.rows, twin.columns)
            if exactly:
                assert np.array_equal(node.values, twin.values), name
            else:
                assert np.allclose(node.values, twin.values, rtol=1e-12, atol=1e-13), name


def read_back(path: Path) -> Reopened:
    return reopened(WrittenBook.read(path))


def attended(path: Path) -> Computation:
    book = read_back(path)
    assert book.remarks == ()
    return attn_xl.attend(book.tables, book.settings)


@alike
@pytest.mark.parametrize("sample", ALL, ids=lambda path: path.stem)
def test_the_same_numbers_come_back_whoever_saved_them(sample: Path, tmp_path: Path) -> None:
    path, again = tmp_path / "written.xlsx", tmp_path / "again.xlsx"
    computation, settings = converted(sample, path)
    opened = read_back(path)
    assert opened.settings == opened.recorded == settings
    same(computation, attended(path))
    values = ALL.index(sample) % 2 == 1
    book = openpyxl.load_workbook(path, data_only=values)  # which loses formulas or their values
    if values:
        book.defined_names.clear()
    book.save(again)
    same(computation, attended(again))


@alike
@pytest.mark.parametrize("sample", ALL, ids=lambda path: path.stem)
def test_also_when_it_is_drawn_on_a_canvas(sample: Path, tmp_path: Path) -> None:
    path = tmp_path / "written.xlsx"
    computation, _ = converted(sample, path, layout=Arrangement.canvas)
    same(computation, attended(path))


EXACT = "mouse", "politics", "cross"


@by_libreoffice
def test_also_when_libreoffice_saved_it(tmp_path: Path) -> None:
    some = [sample for n, sample in enumerate(ALL) if n % 5 == 0 or sample.stem in EXACT]
    made = {sample.stem: converted(sample, tmp_path / sample.name)[0] for sample in some}
    (tmp_path / "out").mkdir()
    paths = [tmp_path / sample.name for sample in some]
    for path in recalculated_by_libreoffice(paths, tmp_path / "out"):
        # It writes 15 digits, so a number with 17 may differ in the last.
        same(made[path.stem], attended(path), exactly=path.stem in EXACT)


@thorough
def test_a_number_that_was_changed_counts(tmp_path: Path) -> None:
    path = tmp_path / "written.xlsx"
    converted(SAMPLES / "mouse.xlsx", path)
    book = openpyxl.load_workbook(path)
    book["pets.Input"]["B5"] = 2.5
    book["pets.Input"]["A6"] = "or"
    book.save(path)
    opened = read_back(path)
    assert opened.tables.sentences["pets"].values[0, 0] == 2.5
    assert opened.tables.sentences["pets"].rows == ("mouse", "or", "cat", "are", "friends")
    assert attn_xl.attend(opened.tables, opened.settings)["pets"]["Scores"].values[0, 0] == 2.5**2 + 1.9**2 + 0.1**2  # fmt: skip  # noqa: E501


@alike
@pytest.mark.parametrize(
    ("sample", "cell", "value", "field", "now"),
    [
        ("mouse", "Scale", "off", "scale", False),
        ("mouse", "Scale", "OFF", "scale", False),
        ("mouse", "Temperature", 2, "temperature", 2.0),
        ("mouse", "Causal", "on", "causal", True),
        ("temperature", "Temperature", 1, "temperature", None),
        ("dropout", "p_dropout", 0.5, "dropout", 0.5),
        ("encoder", "epsilon", 0.1, "epsilon", 0.1),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_a_switch_that_was_turned_counts(
    tmp_path: Path, sample: str, cell: str, value: Any, field: str, now: Any, named: bool
) -> None:
    path = tmp_path / "written.xlsx"
    switches = {} if sample == "temperature" else {"switches": "causal"}
    converted(SAMPLES / f"{sample}.xlsx", path, **switches)
    book = openpyxl.load_workbook(path)
    sheet = book["Overview"]
    sheet[book.defined_names[cell].attr_text.rpartition("!")[2].replace("$", "")] = value
    if not named:
        book.defined_names.clear()
    book.save(path)
    opened = read_back(path)
    assert getattr(opened.settings, field) == now != getattr(opened.recorded, field)
    assert opened.remarks == ()


@alike
@pytest.mark.parametrize(
    ("sample", "name", "value", "said"),
    [
        ("mouse", "Scale", "maybe", "8: Scale is 'maybe'; enter on or off."),
        ("mouse", "Scale", "ja", "8: Scale is 'ja'; enter on or off."),
        ("mouse", "Scale", True, "8: Scale is TRUE; enter on or off."),
        ("mouse", "Scale", " on", "8: Scale is ' on'; enter on or off."),
        ("mouse", "Scale", None, "8: Scale is blank; enter on or off."),
        ("mouse", "Causal", True, "8: Causal is TRUE; enter on or off."),
        ("mouse", "Temperature", 0, "8: Temperature is 0; enter a number above 0."),
        ("mouse", "Temperature", -1, "8: Temperature is -1; enter a number above 0."),
        ("mouse", "Temperature", "hot", "8: Temperature is 'hot'; enter a number above 0."),
        ("mouse", "Temperature", "0,5", "8: Temperature is '0,5'; enter a number above 0."),
        ("mouse", "Temperature", None, "8: Temperature is blank; enter a number above 0."),
        ("decoder", "Causal", "off", "Causal is 'off'; enter on: a decoder always hides later words."),
        ("dropout", "p_dropout", 0, "p_dropout is 0; enter a share above 0 and below 1."),
        ("dropout", "p_dropout", 1, "p_dropout is 1; enter a share above 0 and below 1."),
        ("encoder", "epsilon", "x", "epsilon is 'x'; enter a small number above 0."),
    ],
)
def test_a_switch_that_no_run_can_follow_is_refused(
    tmp_path: Path, sample: str, name: str, value: Any, said: str
) -> None:
    """The formulas of the workbook obey it: to read it as anything else would give other numbers."""
    path = tmp_path / "written.xlsx"
    switches = {"switches": "causal"} if name == "Causal" and sample == "mouse" else {}
    converted(SAMPLES / f"{sample}.xlsx", path, **switches)
    book = openpyxl.load_workbook(path)
    place = book.defined_names[name].attr_text.replace("$", "").partition("!")[2]
    book["Overview"][place] = value
    book.save(path)
    with pytest.raises(InputError) as refused:
        attn_xl.read_tables(path)
    assert str(refused.value).startswith(f"{path}, sheet 'Overview', cell ")
    assert said in str(refused.value)


def test_a_dropout_mask_that_was_changed_counts(tmp_path: Path) -> None:
    path = tmp_path / "written.xlsx"
    computation, _ = converted(SAMPLES / "dropout.xlsx", path)
    was = next(iter(computation.values()))["DropoutMask"].values
    book = openpyxl.load_workbook(path)
    book["DropoutMask"]["B5"] = 1 - was[0, 0]
    book.save(path)
    now = next(iter(attended(path).values()))["DropoutMask"].values
    assert now[0, 0] == 1 - was[0, 0]
    assert np.array_equal(now[1:], was[1:])


@alike
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("at", [1, 3])
def test_rows_and_columns_above_and_before_do_not_matter(tmp_path: Path, named: bool, at: int) -> None:
    """openpyxl does not move names: so they are moved here, as a spreadsheet program does."""
    path = tmp_path / "written.xlsx"
    computation, _ = converted(SAMPLES / "politics.xlsx", path)
    book = openpyxl.load_workbook(path, data_only=True)
    book["Input"].insert_rows(at, 2)
    book["Input"].insert_cols(1)
    book.defined_names["Input"].attr_text = "Input!$C$7:$D$11"
    if not named:
        book.defined_names.clear()
    book.save(path)
    same(computation, attended(path))


@thorough
@pytest.mark.parametrize(
    ("insert", "now"),
    [
        (lambda sheet: sheet.insert_rows(7), "Input!$B$5:$C$10"),
        (lambda sheet: sheet.insert_cols(3), "Input!$B$5:$D$9"),
    ],
    ids=["row", "column"],
)
def test_what_is_put_in_and_left_empty_is_none(
    insert: Callable[[Any], None], now: str, tmp_path: Path
) -> None:
    path = tmp_path / "written.xlsx"
    computation, _ = converted(SAMPLES / "politics.xlsx", path)
    book = openpyxl.load_workbook(path, data_only=True)
    insert(book["Input"])
    book.defined_names["Input"].attr_text = now
    book.save(path)
    same(computation, attended(path))


@thorough
def test_what_stands_several_times_is_said_where_it_differs(tmp_path: Path) -> None:
    x = np.random.default_rng(3).normal(size=(2, 2)).round(3)
    mask = [[0, -1e9], [0, 0]]
    source = make_input(tmp_path / "in.xlsx", {"one": table(x, ["a", "b"]), "two": table(x, ["c", "d"]),
                                               "Mask": mask})  # fmt: skip
    path = tmp_path / "written.xlsx"
    converted(source, path)
    assert read_back(path).remarks == ()
    book = openpyxl.load_workbook(path)
    book["two.Mask"]["B6"] = -5
    book.save(path)
    (remark,) = read_back(path).remarks
    assert remark.startswith("Mask is in several places with different numbers; those on sheet 'one")


def test_without_controls_it_is_read_back_without_them(tmp_path: Path) -> None:
    converted(SAMPLES / "politics.xlsx", tmp_path / "with.xlsx")
    assert read_back(tmp_path / "with.xlsx").settings.controls
    computation, settings = converted(SAMPLES / "politics.xlsx", tmp_path / "w.xlsx", controls=False)
    write_workbook(computation, tmp_path / "without.xlsx", settings=settings, record=True)
    assert not read_back(tmp_path / "without.xlsx").settings.controls


def test_a_dropout_mask_of_another_size_is_drawn_anew(tmp_path: Path) -> None:
    path = tmp_path / "written.xlsx"
    computation, _ = converted(SAMPLES / "dropout.xlsx", path)
    (was,) = (graph["DropoutMask"].shape for graph in computation.values())
    book = openpyxl.load_workbook(path, data_only=True)
    place = book.defined_names["Input"].attr_text
    last = int(place.rpartition("$")[2]) + 1
    for column in range(1, book["Input"].max_column + 1):
        above = book["Input"].cell(last - 1, column).value
        book["Input"].cell(last, column, "more" if column == 1 else above)
    book.defined_names["Input"].attr_text = f"{place.rpartition('$')[0]}${last}"
    book.save(path)
    (now,) = (graph["DropoutMask"].shape for graph in attended(path).values())
    assert now == (was[0] + 1, was[1] + 1)


def test_a_table_kept_in_15_digits_is_the_same_table() -> None:
    numbers = np.array([[1 / 3, -2e9 / 7]])

    def of(values: np.ndarray) -> str:
        return table_digest(attn_xl.given(values, ["w"], ["a", "b"], "Input"))

    assert of(np.vectorize(lambda x: float(f"{x:.15g}"))(numbers)) == of(numbers)
    assert of(numbers + 1e-9) != of(numbers)


def test_names_that_lost_their_cells_fall_back_to_the_record(tmp_path: Path) -> None:
    path = tmp_path / "written.xlsx"
    computation, _ = converted(SAMPLES / "politics.xlsx", path)
    book = openpyxl.load_workbook(path, data_only=True)
    book.defined_names["Input"].attr_text = "#REF!"
    book.save(path)
    same(computation, attended(path))


@thorough
def test_what_was_left_out_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "written.xlsx"
    computation, _ = converted(SAMPLES / "encoder.xlsx", path, sheets_for="Enc2", layers=2)
    assert "Enc1.W_Q" not in openpyxl.load_workbook(path).sheetnames
    same(computation, attended(path))


@thorough
def test_what_is_too_large_to_be_left_out_is_said(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    sheets: Sheets = {"s": table(rng.normal(size=(2, 60)))}
    for head in (1, 2):
        for letter in "QKV":
            sheets[f"W_{letter}_{head}"] = table(rng.normal(size=(60, 60)))
    sheets["W_O"] = table(rng.normal(size=(120, 60)))
    source = make_input(tmp_path / "in.xlsx", sheets)
    path = tmp_path / "written.xlsx"
    converted(source, path, heads=2, sheets_for="head1")
    with pytest.raises(InputError, match=r"the table W_Q_2 was left out of this workbook"):
        read_back(path)


@thorough
def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no sheet 'Settings' written by attn-xl"):
        read_back(SAMPLES / "mouse.xlsx")
    path = tmp_path / "written.xlsx"
    converted(SAMPLES / "politics.xlsx", path)

    def broken(change: Any, match: str) -> None:
        book = openpyxl.load_workbook(path, data_only=True)
        change(book)
        book.save(tmp_path / "broken.xlsx")
        with pytest.raises(InputError, match=match):
            read_back(tmp_path / "broken.xlsx")

    broken(lambda b: b["Input"].__setitem__("B5", "x"), r"cell B5: the text 'x' where a number")
    broken(lambda b: b["Input"].__setitem__("C6", None), r"cell C6: blank where a number")
    broken(lambda b: b["Input"].delete_rows(1, 20), r"cells B5:C9: blank where the table politics was")
    broken(lambda b: b.remove(b["Input"]), r"table Input \(sheet 'Input'\) is missing")
    broken(lambda b: b["Settings"].__setitem__("A5", "heads "), r"heads is 'Input'; it takes a whole")
    broken(lambda b: b["Settings"].__setitem__("A5", "hats"), r"there is no setting 'hats'")
    broken(lambda b: b["Settings"].delete_rows(5, 9), "names no sentence")
    with zipfile.ZipFile(tmp_path / "no.xlsx", "w") as archive:
        archive.writestr("a", "b")
    with pytest.raises(InputError, match="damaged or not a spreadsheet"):
        read_back(tmp_path / "no.xlsx")


def test_every_cell_with_a_number_is_read_as_a_number() -> None:
    switches = {name for name in CELLS if isinstance(Settings.__dataclass_fields__[name].default, bool)}
    assert {*ENTER} == {*CELLS} - switches

"""Reading: what is taken, and what is refused, with the cell."""

from __future__ import annotations

import datetime
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import SAMPLES, Sheets, make_input, table

from attn_xl import InputError, attend, read_tables
from attn_xl.engines import libreoffice

Make = Callable[..., Path]
GOOD: list[list[Any]] = [["", "a", "b"], ["cat", 1.5, 2], ["dog", 3, -4.25]]


def test_a_clean_table(make: Make) -> None:
    tables = read_tables(make({"pets": GOOD, "notes": [["just text"]], "empty": []}))
    assert list(tables.sentences) == ["pets"]
    pets = tables.sentences["pets"]
    assert pets.rows == ("cat", "dog")
    assert pets.columns == ("a", "b")
    assert pets.values.tolist() == [[1.5, 2], [3, -4.25]]
    assert (pets.sheet, pets.row, pets.column) == ("pets", 2, 2)


@pytest.mark.parametrize(
    "rows",
    [
        [["word", "a", "b"], *GOOD[1:]],
        [["Title of it all"], *GOOD],
        [["Title"], [], *GOOD],
        [[], [], *[[None, None, *row] for row in GOOD]],
        [*GOOD, [], ["A note below."]],
        [[*GOOD[0], None, "a note"], *GOOD[1:]],
    ],
    ids=["corner", "title", "title-gap", "elsewhere", "note-below", "note-beside"],
)
def test_the_same_table_in_other_surroundings(make: Make, rows: list[list[Any]]) -> None:
    pets = read_tables(make({"pets": rows})).sentences["pets"]
    assert (pets.rows, pets.columns) == (("cat", "dog"), ("a", "b"))
    assert pets.values.tolist() == [[1.5, 2], [3, -4.25]]


def test_labels_that_are_numbers(make: Make) -> None:
    rows = [[None, 0, 1], [2024, 1.5, 2], ["dog", 3, 4]]
    pets = read_tables(make({"s": rows})).sentences["s"]
    assert (pets.rows, pets.columns) == (("2024", "dog"), ("0", "1"))


def test_missing_labels_are_numbered(make: Make) -> None:
    tables = read_tables(make({"bare": [[1, 2], [3, 4]], "words": [["cat", 1, 2]], "W_Q": [[1], [2]]}))
    assert tables.sentences["bare"].rows == ("word 1", "word 2")
    assert tables.sentences["words"].columns == ("dim 1", "dim 2")
    assert tables.sentences["words"].rows == ("cat",)
    assert tables.weights["W_Q"].labelled == (False, False)


def test_weights_are_found_by_the_name_of_their_sheet(make: Make) -> None:
    names = ["W_Q", "wk", "W V"]
    tables = read_tables(make({"s": GOOD, **{name: [[1, 2], [3, 4]] for name in names}}))
    assert list(tables.weights) == ["W_Q", "W_K", "W_V"]
    graph = attend(tables)["s"]
    assert graph["W_Q"].rows == ("a", "b")
    assert graph["W_K"].columns == ("k1", "k2")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("abc", r"cell B3: the text 'abc' where a number is needed"),
        ("0.5", r"cell B3: the text '0.5'"),
        (None, r"cell B3: blank"),
        (True, r"cell B3: TRUE"),
        (datetime.date(2024, 1, 2), r"cell B3: the date or time 2024-01-02"),
        ("==NA()", r"cell B3: the error value #N/A"),
        ("==1/0", r"cell B3: the error value #DIV/0!"),
        ('==CONCATENATE("a","b")', r"cell B3: the text 'ab'"),
    ],
)
def test_what_is_not_a_number_is_named_with_its_cell(make: Make, value: Any, said: str) -> None:
    rows = [row[:] for row in GOOD]
    rows[2][1] = value
    with pytest.raises(InputError, match=r"input\.xlsx, sheet 'pets', " + said):
        read_tables(make({"pets": rows}))


def test_a_stored_error_value_is_named(make: Make) -> None:
    path = change(
        make({"pets": GOOD}), rb'<c r="B3" t="n"><v>3</v></c>', b'<c r="B3" t="e"><v>#REF!</v></c>'
    )
    with pytest.raises(InputError, match=r"cell B3: the error value #REF!"):
        read_tables(path)


def test_an_infinite_number_is_named(make: Make) -> None:
    path = change(make({"pets": GOOD}), rb"<v>3</v>", b"<v>1e999</v>")
    with pytest.raises(InputError, match="cell B3: an infinite number"):
        read_tables(path)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([["", "a", "b"], ["cat", 1, 2], ["dog", 3]], "cell C3: blank"),
        ([["", "a", "b"], ["cat", 1, 2, 9], ["dog", 3, 4]], "cell D1: blank where the name of the dim"),
        ([["", "a", "b"], [None, 1, 2], ["dog", 3, 4]], "cell A2: blank where the word"),
        ([["", "a"], ["cat", "x"], ["dog", 3]], "cell B2: the text 'x'"),
        ([["cat", 1], [3, "x"], ["dog", 3]], "in a column of numbers"),
        ([*GOOD, [], *GOOD], "more than one table"),
        ([[*GOOD[0]], [*GOOD[1], None, 7], GOOD[2]], "cell E2: a number beside the table"),
    ],
)
def test_ragged_and_doubtful_tables_are_refused(make: Make, rows: list[list[Any]], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_tables(make({"s": rows}))


@pytest.mark.parametrize(
    ("sheets", "said"),
    [
        (
            {"W_Q": table(np.ones((3, 2)))},
            r"W_Q is 3 x 2, but sheet 's' has 2 dimensions \(it is 2 x 2\)",
        ),
        ({"W_V": table(np.ones((3, 2)))}, r"It fits when turned"),
        (
            {"W_Q": table(np.ones((2, 2))), "W_K": table(np.ones((2, 3)))},
            "W_Q is 2 x 2 but W_K is 2 x 3",
        ),
        ({"W_Q": table(np.ones((2, 3)))}, "W_Q is 2 x 3 but there is no W_K"),
        ({"W_K": table(np.ones((2, 1)))}, "there is no W_Q, so the queries keep 2 dimensions but W_K"),
        ({"W_Q": [["", "q"], ["b", 1], ["a", 2]]}, "Put them in the same order"),
        ({"W_Q": [[1, 2], [3, 4]], "wq": [[1, 2], [3, 4]]}, "both W_Q"),
        ({"W_Q": [["nothing yet"]]}, "no numbers; fill in W_Q"),
    ],
)
def test_weights_that_do_not_fit(make: Make, sheets: Sheets, said: str) -> None:
    with pytest.raises(InputError, match=said):
        attend(read_tables(make({"s": GOOD, **sheets})))


def test_a_formula_without_a_stored_value_is_computed(make: Make) -> None:
    rows = [["", "a", "b"], ["cat", "==1+0.5", "==B2*2"], ['=="do"&"g"', "==SUM(B2:C2)", -4.25]]
    tables = read_tables(make({"pets": rows, "all": [["", '=="x"'], ['=="w"', "==2^10"]]}))
    assert tables.sentences["pets"].rows == ("cat", "dog")
    assert tables.sentences["pets"].values.tolist() == [[1.5, 3], [4.5, -4.25]]
    assert tables.sentences["all"].values.tolist() == [[1024]]


def test_a_stored_value_is_taken_as_it_is(make: Make) -> None:
    path = change(make({"pets": GOOD}), rb"<v>3</v>", b"<f>1+1</f><v>77</v>")
    assert read_tables(path).sentences["pets"].values[1, 0] == 77


def change(path: Path, old: bytes, new: bytes) -> Path:
    """Edit the XML of an input's first sheet."""
    other = path.with_name("changed.xlsx")
    with zipfile.ZipFile(path) as given, zipfile.ZipFile(other, "w") as made:
        for name in given.namelist():
            xml = given.read(name)
            if name == "xl/worksheets/sheet1.xml":
                assert xml.count(old) == 1, xml
                xml = xml.replace(old, new)
            made.writestr(name, xml)
    return other.replace(path)


def test_files_that_are_none(tmp_path: Path) -> None:
    good = SAMPLES.joinpath("mouse.xlsx").read_bytes()
    encrypted = bytes.fromhex("D0CF11E0A1B11AE1") + bytes(600) + "EncryptedPackage".encode("utf-16-le")
    for name, content, said in [
        ("text.xlsx", b"hello", "is not a spreadsheet"),
        ("empty.xlsx", b"", "is empty"),
        ("data.csv", b"a,b\n1,2\n", "is not a spreadsheet"),
        ("cut.xlsx", good[: len(good) // 2], "damaged"),
        ("secret.xlsx", encrypted, "protected by a password"),
    ]:
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(InputError, match=f"{re.escape(str(path))}: .*{said}"):
            read_tables(path)
    with pytest.raises(InputError, match=r"nowhere\.xlsx: no such file"):
        read_tables(tmp_path / "nowhere.xlsx")
    with pytest.raises(InputError, match="is a folder"):
        read_tables(tmp_path)


def test_no_numbers(make: Make) -> None:
    with pytest.raises(InputError, match="no table of numbers found"):
        read_tables(make({"s": [["only", "words"]]}))


def test_what_the_program_wrote_is_refused_kindly(tmp_path: Path) -> None:
    import attn_xl

    path = tmp_path / "written.xlsx"
    attn_xl.write_workbook(attend(read_tables(SAMPLES / "mouse.xlsx")), path)
    with pytest.raises(InputError, match="attn-xl wrote this workbook"):
        read_tables(path)


@pytest.mark.skipif(libreoffice() is None, reason="LibreOffice is not installed")
@pytest.mark.parametrize("kind", ["ods", "xls", "xlsm"])
def test_other_formats(tmp_path: Path, kind: str) -> None:
    source = make_input(tmp_path / "pets.xlsx", {"pets": GOOD, "W_V": table(np.eye(2))})
    if kind == "xlsm":
        shutil.copy(source, tmp_path / "pets.xlsm")
    else:
        profile = (tmp_path / "profile").as_uri()
        command = [
            str(libreoffice()),
            f"-env:UserInstallation={profile}",
            "--headless",
            "--convert-to",
            kind,
        ]
        subprocess.run(
            [*command, "--outdir", str(tmp_path), str(source)], check=True, capture_output=True
        )
    tables = read_tables(tmp_path / f"pets.{kind}")
    assert tables.sentences["pets"].values.tolist() == [[1.5, 2], [3, -4.25]]
    assert tables.weights["W_V"].shape == (2, 2)


def test_the_ending_of_the_name_does_not_matter(tmp_path: Path) -> None:
    shutil.copy(SAMPLES / "mouse.xlsx", tmp_path / "mouse.ods")
    assert list(read_tables(tmp_path / "mouse.ods").sentences) == ["cat", "keyboard"]

"""Reading: what is taken, and what is refused, with the cell."""

from __future__ import annotations

import contextlib
import datetime
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import (
    SAMPLES,
    Sheets,
    alike,
    by_libreoffice,
    make_input,
    naive_attention,
    table,
    thorough,
)
from engines import libreoffice

from attn_xl import CallError, InputError, attend, read_tables
from attn_xl.spreadsheets.book import Book
from attn_xl.tables.find import asked_ranges

Make = Callable[..., Path]
GOOD: list[list[Any]] = [["", "a", "b"], ["cat", 1.5, 2], ["dog", 3, -4.25]]


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("one_sheet", [False, True])
@pytest.mark.parametrize("looking", [["je", "bois", "du"], ["cat", "dog"]])
def test_queries_keys_and_values_may_be_given(
    looking: list[str], one_sheet: bool, across: bool, make: Make
) -> None:
    rng = np.random.default_rng(1)
    words = looking, ["je", "bois", "du"], ["je", "bois", "du"]
    q, k, v = (rng.normal(size=(len(own), d)).round(2) for own, d in zip(words, (4, 4, 2)))
    sheets: Sheets = {}
    for name, x, own in zip(("Query (Q)", "Keys", "V"), (q, k, v), words):
        rows = table(x, own)
        sheets[name] = [[*line] for line in zip(*rows)] if across else rows
    if one_sheet:
        sheets = {"all": [row for name, rows in sheets.items() for row in ([name], *rows, [])]}
    computed = attend(make(sheets))
    assert list(computed) == ["Queries"]
    assert any(remark.startswith("Queries, keys and values are given") for remark in computed.remarks)
    _, wanted = naive_attention(q, k, v)
    np.testing.assert_allclose(computed["Queries"]["Output"].values, wanted, rtol=1e-12)


def test_a_word_beside_counting_numbers_labels_another_table_or_stands_below_names(make: Make) -> None:
    rows = [["cow", 0, 1], ["cat", 1.5, 2]]
    for sheet in ([*rows, [], ["Scores"], ["", "cow", "cat"]], [["", "a", "b"], *rows]):
        (made,) = read_tables(make({"s": sheet})).sentences.values()
        assert (made.rows, made.values[0].tolist()) == (("cow", "cat"), [0, 1])


def test_weights_beside_each_other_have_headings_of_their_own_and_a_sign_labels_none(
    make: Make,
) -> None:
    rows = [["X", "", "", "", "WQ", "", "WK", ""], ["cat", 1.5, 2, "", 0.5, 1, 2, 3],
            ["dog", 3, -4, "\u00d7", 4, 5, 6, 7.5]]  # fmt: skip
    tables = read_tables(make({"s": rows}))
    read = {name: one.values.tolist() for name, one in tables.weights.items()}
    assert read == {"W_Q": [[0.5, 1], [4, 5]], "W_K": [[2, 3], [6, 7.5]]}
    signed = [["X", "", "", "", "WQ"], ["cat", 1.5, 2, "", 0.5, 1], ["dog", 3, -4, "\u00d7", 4, 5]]
    assert read_tables(make({"s": signed})).weights["W_Q"].values.tolist() == read["W_Q"]


def test_numbers_headed_as_ids_label_words(make: Make) -> None:
    (made,) = read_tables(make({"s": [["token id", "a"], [101, 1.5], [7, 2]]})).sentences.values()
    assert (made.rows, made.values.tolist()) == (("101", "7"), [[1.5], [2]])


def test_a_step_that_is_read_as_an_input_is_said(make: Make) -> None:
    said = read_tables(make({"s": [["Attention scores"], *GOOD]})).remarks
    assert said == ("s!A2:C4 is titled 'Attention scores', but is read as an input.",)


@pytest.mark.parametrize(
    ("rows", "columns", "across"),
    [
        (["x1", "x2"], ["the", "cat"], True),
        (["[CLS]", "cat"], ["animal", "tech"], False),
        (["food", "sky"], ["sun", "and"], True),
    ],
)
def test_a_word_that_names_no_dimension_tells_where_words_are(
    make: Make, rows: list[str], columns: list[str], across: bool
) -> None:
    path = make({"s": [["", *columns], [rows[0], 1, 2], [rows[1], 3, 4]]})
    (words,) = read_tables(path).sentences.values()
    assert words.rows == tuple(columns if across else rows)


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


@pytest.mark.parametrize(
    ("heads", "told", "names"),
    [
        (("context", "word"), ("animal", "animal", "tech", "tech"), ["animal", "tech"]),
        (("context", "word"), ("animal", "", "tech", ""), ["animal", "tech"]),
        (("sentence_id", "token"), (1, 1, 2, 2), ["sentence_id 1", "sentence_id 2"]),
        (("word", "Sentence"), (1, 1, 2, 2), ["Sentence 1", "Sentence 2"]),
        (("sentence", "word"), (1, 2, 1, 2), None),  # their words do not follow each other
        (("context", "word"), ("a", "b", "c", "d"), None),  # each describes a word
    ],
)
def test_a_column_may_tell_the_sentence_of_each_word(
    make: Make, heads: tuple[str, str], told: tuple[Any, ...], names: list[str] | None
) -> None:
    words = ("the", "mouse", "a", "mouse")
    pairs = [*zip(words, told)] if heads[0] == "word" else [*zip(told, words)]
    rows = [[*heads, "x", "y"], *([*pair, n, 0.5] for n, pair in enumerate(pairs))]
    if names is None:
        with contextlib.suppress(InputError):
            (only,) = read_tables(make({"long": rows})).sentences.values()
            assert len(only.rows) == 4
        return
    tables = read_tables(make({"long": rows}))
    assert [*tables.sentences] == names
    assert [one.rows for one in tables.sentences.values()] == [words[:2], words[2:]]
    assert tables.sentences[names[1]].values.tolist() == [[2, 0.5], [3, 0.5]]
    assert any(f"tells its sentences: {names[0]}, {names[1]}" in one for one in tables.remarks)


def test_text_that_touches_the_last_row_is_a_note_and_that_is_said(make: Make) -> None:
    tables = read_tables(make({"pets": [*GOOD, ["Source: me"], ["Checked"]]}))
    assert tables.sentences["pets"].rows == ("cat", "dog")
    assert tables.remarks == (
        "pets!A1:C3: 'Source: me' in A4 has no numbers beside it and is taken for a note.",
        "pets!A1:C3: 'Checked' in A5 has no numbers beside it and is taken for a note.",
    )
    with pytest.raises(InputError, match="cell C4: blank"):
        read_tables(make({"pets": [*GOOD, ["owl", 7]]}))


def test_sums_are_left_out_and_that_is_said(make: Make) -> None:
    mean = ["Mean", "==AVERAGE(B2:B3)", "==AVERAGE(C2:C3)"]
    tables = read_tables(make({"pets": [*GOOD, mean]}))
    assert tables.sentences["pets"].rows == ("cat", "dog")
    assert tables.remarks == (
        "pets!A1:C3: B4:C4, 'Mean', is computed from its numbers and is left out.",
    )
    sums = [["", "a", "b", "Sum"], ["cat", 1.5, 2, "==B2+C2"], ["dog", 3, 4, "==B3+C3"]]
    path = make({"s": sums})
    tables = read_tables(path)
    assert tables.sentences["s"].columns == ("a", "b")
    assert tables.remarks == ("s!A1:C3: D2:D3, 'Sum', is computed from its numbers and is left out.",)
    assert read_tables(path, range=["s!A1:D3"]).sentences["s"].columns == ("a", "b", "Sum")
    checks = [["", "a", "b"], ["cat", 1.5, 2, '==IF(SUM(B2:C2)>5,"ok","!")']]
    checks.append(["dog", 3, 4, '==IF(SUM(B3:C3)>5,"ok","!")'])
    assert read_tables(make({"s": checks})).sentences["s"].shape == (2, 2)
    product = "==SUMPRODUCT($B{}:$C{},$B${}:$C${})"  # of scores, one reads its own row twice
    scores = [
        [*row, *([""] * 2), *(product.format(n, n, m, m) for m in (2, 3))]
        for n, row in enumerate(GOOD[1:], 2)
    ]
    assert "computed" not in str(read_tables(make({"s": [GOOD[0], *scores]})).remarks)
    totals = [["", "a", "b", "Sum", "Max"]]
    totals += [[w, n, n + 1, f"==B{n}+C{n}", f"==MAX(B{n}:C{n})"] for n, w in enumerate(("x", "y"), 2)]
    totals.append(["Total", *(f"==SUM({c}2:{c}3)" for c in "BCDE")])
    found = read_tables(make({"s": totals}))
    assert (found.sentences["s"].values.tolist(), len(found.remarks)) == ([[2, 3], [3, 4]], 3)
    ranks = [
        ["", "a", "b", "Rank"],
        ["cat", 1, 2, "==RANK(B2,B$2:B$3)"],
        ["dog", 3, 4, "==RANK(B3,B$2:B$3)"],
    ]
    assert read_tables(make({"s": ranks})).sentences["s"].columns == ("a", "b")
    halves = [GOOD[0], *([word, "==1/2", "==1/2"] for word in ("cat", "dog"))]
    assert read_tables(make({"s": halves})).remarks == ()
    assert read_tables(make({"s": [*GOOD, ["owl", "==1/2", 1]]})).remarks == ()


def test_labels_that_are_numbers(make: Make) -> None:
    rows = [[None, 0, 1], [2024, 1.5, 2], ["dog", 3, 4]]
    pets = read_tables(make({"s": rows})).sentences["s"]
    assert (pets.rows, pets.columns) == (("2024", "dog"), ("0", "1"))


@pytest.mark.parametrize("corner", ["token", "Words", "word"])
@pytest.mark.parametrize("first", [0, 1])
def test_a_heading_of_words_says_that_numbers_beside_it_are_headings(
    make: Make, corner: str, first: int
) -> None:
    pets = read_tables(make({"s": [[corner, first, first + 1], *GOOD[1:]]})).sentences["s"]
    assert (pets.rows, pets.columns) == (("cat", "dog"), (str(first), str(first + 1)))


@pytest.mark.parametrize("corner", [0, 2024, "Token", None])
def test_a_corner_may_hold_a_number_or_a_heading(make: Make, corner: Any) -> None:
    rows = [[corner, "a", "b"], [2024, 1.5, 2], [2025, 3, 4]]
    if isinstance(corner, int):  # such as a blank corner, copied by a formula
        rows[1][0], rows[2][0] = "cat", "dog"
    pets = read_tables(make({"s": rows})).sentences["s"]
    assert pets.rows == (("cat", "dog") if isinstance(corner, int) else ("2024", "2025"))
    assert pets.columns == ("a", "b")


def test_a_word_that_is_a_boolean(make: Make) -> None:
    assert read_tables(make({"s": [["", "a"], [True, 1]]})).sentences["s"].rows == ("TRUE",)


def test_missing_labels_are_numbered(make: Make) -> None:
    tables = read_tables(make({"bare": [[1, 2], [3, 4]], "words": [["cat", 5, 2]], "W_Q": [[1], [2]]}))
    assert tables.sentences["bare"].rows == ("word 1", "word 2")
    assert tables.sentences["words"].columns == ("dim 1", "dim 2")
    assert tables.sentences["words"].rows == ("cat",)
    assert tables.weights["W_Q"].labelled == (False, False)


@pytest.mark.parametrize(
    "rows",
    [
        [["Step 1: Embeddings", 7, 2], ["", 3, 4], ["", 5, 6]],  # beside numbers without labels
        [["", "a", "b"], ["Input X", 7, 2], ["", 3, 4], ["", 5, 6]],
        [["", "(1) Inputs", ""], ["the", 7, 2], ["cat", 3, 4], ["sat", 5, 6]],  # over its first column
    ],
)
def test_a_numbered_title_of_the_input_is_no_label(rows: list[list[Any]], make: Make) -> None:
    (table,) = read_tables(make({"s": rows})).sentences.values()
    assert table.values.tolist() == [[7, 2], [3, 4], [5, 6]]


def test_the_name_of_a_sheet_says_more_than_the_label_of_its_row(make: Make) -> None:
    names = {"Enc1.gamma_1": 2, "Enc1.gamma_2": 3, "Enc.gamma": 4}
    sheets = {name: [["", "a", "b"], ["gamma", value, value]] for name, value in names.items()}
    tables = read_tables(make({"s": GOOD, **sheets}))
    assert {name: table.values[0, 0] for name, table in tables.weights.items()} == names


def test_several_weights_tell_the_direction_of_labelled_words(make: Make) -> None:
    words, w = (
        [["", "the", "cat", "sat"], ["x", 1, 2, 3], ["y", 4, 5, 6]],
        [[1, 0], [0, 1], [1, 1], [2, 1]],
    )
    tables = read_tables(make({"s": words, "W_Q": w, "W_K": w}))
    assert tables.sentences["s"].rows == ("the", "cat", "sat")
    assert tables.weights["W_Q"].shape == (2, 4)


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
        ("1,234", r"cell B3: the text '1,234', which may have decimals or a thousands separator"),
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


def test_rows_of_texts_do_not_part_a_table(make: Make) -> None:
    rows = [GOOD[0], GOOD[1], *([word, *["n/a"] * len(GOOD[1][1:])] for word in "xy"), *GOOD[2:]]
    with pytest.raises(InputError, match="cell B3: the text 'n/a' where a number is needed"):
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
        (
            [["", "a", "b"], ["cat", 1, 2, 9], ["dog", 3, 4]],
            "cell D2: one value more than the table has columns. Delete it, or name its column in D1",
        ),
        (
            [["", "a", "b"], [None, 1, 2], ["dog", 3, 4]],
            r"cell A2: blank \(or an error value\) where the word",
        ),
        ([["", "a"], ["cat", "x"], ["dog", 3]], "cell B2: the text 'x'"),
        ([["cat", 1], [3, "x"], ["dog", 3]], "in a column of numbers"),
        ([*GOOD, [], *GOOD], r"2 tables may be the sentence: A1:C3 \(2 x 2\), A5:C7 \(2 x 2\)"),
        (
            [[*GOOD[0]], [*GOOD[1], None, 7], GOOD[2]],
            r"A1:C3 \(2 x 2\), E2 \(1 x 1\)\. If they are one table, delete the empty",
        ),
        (
            [*GOOD, [], ["owl", 7, 8]],
            r"A1:C3 \(2 x 2\), A5:C5 \(1 x 2\).*--range \"s!A1:C3\"",
        ),
        ([GOOD[0], GOOD[1], [], ["owl", 7, 8], ["cow", 1, 2]], "delete the empty rows"),
        ([["", "a", "b"], ["cat", None, None], ["dog", 3, 4]], r"cell B2: blank \(or"),
        (
            [["word", "v"], ["cat", "[0.1, 2]"], ["dog", "[3, 4]"]],
            r"cell B2: the text '\[0.1, 2\]', several numbers in one cell \(put each in its own column",
        ),
        ([["cow", 0, 1, 2], ["cat", 1.5, 2, 3]], "clear cell A1"),
        (
            [
                ["Scores"],
                ["", "a", "b"],
                ["a", "==B20*1", "==C20"],
                ["b", "==B21", "==C21"],
                [],
                ["Output"],
                ["", "x", "y"],
                ["a", "==B3*B20", "==B4"],
                ["b", "==C3", "==C4"],
            ],
            r"has 'Scores', 'Output', computed by formulas, but no input\. Type its numbers, or choose "
            "a table: --range 's!A2:C4'",
        ),
        ([["", "a"], ["==NA()", 1]], "cell A2: the error value #N/A where the word is needed"),
        ([["", "==1/0"], ["cat", 1]], "cell B1: the error value #DIV/0! where the name of the dim"),
        ([["", "a"], ["cat", "==NOSUCH(1)"], ["dog", 1]], "save it to store the value"),
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
        ({"W_V": table(np.ones((3, 2)))}, r"It would fit transposed"),
        (
            {"W_Q": table(np.ones((2, 2))), "W_K": table(np.ones((2, 3)))},
            "W_Q is 2 x 2 but W_K is 2 x 3",
        ),
        ({"W_Q": table(np.ones((2, 3)))}, "W_Q is 2 x 3 but there is no W_K"),
        ({"W_K": table(np.ones((2, 1)))}, "there is no W_Q, so the queries keep 2 dimensions but W_K"),
        ({"W_Q": [["", "q"], ["b", 1], ["a", 2]]}, "Put them in the same order"),
        ({"W_Q": [[1, 2], [3, 4]], "wq": [[1, 2], [3, 5]]}, "both W_Q"),
        ({"W_Q": [["nothing yet"]]}, "no numbers; fill in W_Q"),
    ],
)
def test_weights_that_do_not_fit(make: Make, sheets: Sheets, said: str) -> None:
    with pytest.raises(InputError, match=said):
        attend(read_tables(make({"s": GOOD, **sheets})))


def test_the_stored_values_of_formulas_are_read(make: Make) -> None:
    rows = [["", "a", "b"], ["cat", "==1+0.5", "==B2*2"], ['=="do"&"g"', "==SUM(B2:C2)", -4.25]]
    tables = read_tables(make({"pets": rows, "all": [["", '=="x"'], ['=="w"', "==2^10"]]}))
    assert tables.sentences["pets"].rows == ("cat", "dog")
    assert tables.sentences["pets"].values.tolist() == [[1.5, 3], [4.5, -4.25]]
    assert tables.sentences["all"].values.tolist() == [[1024]]


SAVE_IT = "Open the file in a spreadsheet program and save it"


@pytest.mark.parametrize("formula", [b"<f>1+1</f>", b"<f>1+1</f><v/>", b"<f>1+1</f><v></v>"])
def test_a_formula_without_a_stored_value_asks_to_save_the_file(make: Make, formula: bytes) -> None:
    path = change(make({"pets": GOOD}), b"<v>3</v>", formula)
    with pytest.raises(InputError, match=f"cell B3: a formula without.*{SAVE_IT.lower()}"):
        read_tables(path)


def test_a_table_of_such_formulas_asks_to_save_the_file(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["", "a", "b"], ["cat", "=1", "=2"], ["dog", "=3", "=4"]):
        book.worksheets[0].append(row)
    book.save(tmp_path / "made.xlsx")
    with pytest.raises(InputError, match=f"its formulas have no stored values.*{SAVE_IT}"):
        read_tables(tmp_path / "made.xlsx")


def test_zeros_stored_by_a_library_that_does_not_calculate_are_no_values(make: Make) -> None:
    """XlsxWriter stores 0 with every formula, and asks to recalculate."""
    path = change(make({"pets": GOOD}), b"<v>3</v>", b"<f>1+1</f><v>0</v>")
    with pytest.raises(InputError, match="cell B3: a formula without a stored value"):
        read_tables(path)
    change(path, b'fullCalcOnLoad="1"', b'fullCalcOnLoad="0"', "xl/workbook.xml")
    assert read_tables(path).sentences["pets"].values[1, 0] == 0


def test_prefixed_xml_is_read(make: Make) -> None:
    path = make({"pets": GOOD})
    prefix = b'<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><x:sheetData>'
    row = b'<x:row r="%d"><x:c r="A%d" t="str"><x:f>"x"</x:f><x:v>%s</x:v></x:c>'
    row += b'<x:c r="B%d"><x:f>%d</x:f><x:v>%d</x:v></x:c></x:row>'
    body = b'<x:row r="1"><x:c r="B1" t="inlineStr"><x:is><x:t>a</x:t></x:is></x:c></x:row>'
    body += row % (2, 2, b"cat", 2, 4, 4) + row % (3, 3, b"dog", 3, 5, 5)
    sheet = prefix + body + b"</x:sheetData></x:worksheet>"
    rewrite(path, "xl/worksheets/sheet1.xml", lambda _: sheet)
    pets = read_tables(path).sentences["pets"]
    assert (pets.rows, pets.values.tolist()) == (("cat", "dog"), [[4], [5]])


def test_a_cell_far_away_is_refused_before_it_takes_all_memory(make: Make) -> None:
    path = change(make({"pets": GOOD}), b'<c r="B3"', b'<c r="XFD3"')
    change(path, b'<row r="3"', b'<row r="1048576"')
    with pytest.raises(InputError, match="cells as far away as XFD1048576"):
        read_tables(path)
    path = change(make({"pets": GOOD}), b'<c r="B3"', b'<c r="B99999999999"')
    with pytest.raises(InputError, match="cells as far away as"):
        read_tables(path)


@alike
@pytest.mark.parametrize(
    ("sheets", "cell", "row", "refused"),
    [
        (1, b"B40000", b"40000", False),  # far down, in the second column
        (1, b"ALM10000", b"10000", True),
        (3, b"AAA4000", b"4000", False),
        (4, b"AAA4000", b"4000", True),  # together
    ],
)
def test_how_many_cells_the_sheets_may_span(
    sheets: int, cell: bytes, row: bytes, refused: bool, make: Make
) -> None:
    path = make({f"pets {i}": GOOD for i in range(sheets)})
    for i in range(1, sheets + 1):
        part = f"xl/worksheets/sheet{i}.xml"
        rewrite(path, part, lambda xml: xml.replace(b'<c r="B3"', b'<c r="' + cell + b'"'))
        rewrite(path, part, lambda xml: xml.replace(b'<row r="3"', b'<row r="' + row + b'"'))
    with pytest.raises(InputError) as error:
        read_tables(path)
    assert (f"cells as far away as {cell.decode()}" in str(error.value)) == refused


@thorough
def test_many_sheets_take_as_long_as_they_are_many(make: Make) -> None:
    path = make({f"sentence {i}": GOOD for i in range(150)})
    start = time.process_time()
    assert len(read_tables(path).sentences) == 150
    assert time.process_time() - start < 3


@thorough
def test_damaged_packages_never_end_in_a_traceback(tmp_path: Path) -> None:
    good = SAMPLES.joinpath("mouse.xlsx").read_bytes()
    rng = np.random.default_rng(0)
    path = tmp_path / "damaged.xlsx"
    for _ in range(200):
        content = bytearray(good)
        for place in rng.integers(0, len(good), rng.integers(1, 8)):
            content[place] = rng.integers(0, 256)
        path.write_bytes(content[: rng.integers(1, len(good))] if rng.random() < 0.3 else content)
        with contextlib.suppress(InputError):
            attend(read_tables(path))


def test_names_with_control_characters(make: Make, write: Make) -> None:
    path = make({"axb": GOOD})
    rewrite(path, "xl/workbook.xml", lambda xml: xml.replace(b'name="axb"', b'name="a&#9;b&#11;c"'))
    tables = read_tables(path)
    assert list(tables.sentences) == ["a b c"]
    write(path)


def rewrite(path: Path, part: str, edit: Callable[[bytes], bytes]) -> Path:
    """Edit a part of a workbook."""
    other = path.with_name("changed.xlsx")
    with zipfile.ZipFile(path) as given, zipfile.ZipFile(other, "w") as made:
        for name in given.namelist():
            made.writestr(name, edit(given.read(name)) if name == part else given.read(name))
    return other.replace(path)


def change(path: Path, old: bytes, new: bytes, part: str = "xl/worksheets/sheet1.xml") -> Path:
    """Replace the one place where a part of a workbook has `old`."""

    def edit(xml: bytes) -> bytes:
        assert xml.count(old) == 1, xml
        return xml.replace(old, new)

    return rewrite(path, part, edit)


def test_files_that_are_none(tmp_path: Path) -> None:
    good = SAMPLES.joinpath("mouse.xlsx").read_bytes()
    encrypted = bytes.fromhex("D0CF11E0A1B11AE1") + bytes(600) + "EncryptedPackage".encode("utf-16-le")
    for name, content, said in [
        ("text.xlsx", b"hello", "is not a spreadsheet"),
        ("empty.xlsx", b"", "is empty"),
        ("page.xls", b"<html><td>1</td></html>", "is not a spreadsheet"),
        ("data.csv", b"a,b\n", "no table of numbers found"),
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


def test_a_password_is_told_from_damage(tmp_path: Path) -> None:
    """What an encrypted .ods tells of itself is enough to know."""
    path = tmp_path / "secret.ods"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", b"\x00\x01")
        archive.writestr(
            "META-INF/manifest.xml",
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
            '<manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/>'
            "</manifest:file-entry></manifest:manifest>",
        )
    with pytest.raises(InputError, match="protected by a password"):
        read_tables(path)


def test_numbers_that_grow_too_large_are_named_with_their_sheet(make: Make) -> None:
    with pytest.raises(InputError, match=r"input\.xlsx, sheet 's': .* too large.* in cell B2"):
        attend(read_tables(make({"s": [["", "a"], ["cat", 1e200]]})))


def test_weights_alone_are_no_sentence(make: Make) -> None:
    with pytest.raises(InputError, match=r"only weights found \(W_V\)"):
        read_tables(make({"W_V": [[1, 2]]}))


def test_no_numbers(make: Make) -> None:
    with pytest.raises(InputError, match="no table of numbers found"):
        read_tables(make({"s": [["only", "words"]]}))


def test_what_the_program_wrote_is_refused_kindly(tmp_path: Path) -> None:
    from attn_xl.workbook.write import write_workbook

    path = tmp_path / "written.xlsx"
    write_workbook(attend(read_tables(SAMPLES / "mouse.xlsx")), path)
    with pytest.raises(InputError, match="attn-xl wrote this workbook"):
        read_tables(path)
    # The same names in a workbook of one's own are welcome.
    (tmp_path / "word.csv").write_text(",a,b\nw1,1,2\n", encoding="utf-8")  # a word, no W_1
    assert read_tables(tmp_path / "word.csv").sentences["word"].rows == ("w1",)
    own = make_input(tmp_path / "own.xlsx", {"Overview": GOOD, "Softmax": GOOD})
    assert list(read_tables(own).sentences) == ["Overview", "Softmax"]


@by_libreoffice
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
    assert list(read_tables(tmp_path / "mouse.ods").sentences) == ["pets", "desk"]


def test_an_encoding_that_there_is_not(make: Make) -> None:
    path = make({"pets": GOOD})
    odd = b'<?xml version="1.0" encoding="odd"?>'
    rewrite(path, "xl/workbook.xml", lambda xml: odd + xml.partition(b"?>")[2])
    with pytest.raises(InputError, match="is damaged"):
        read_tables(path)


def test_a_range_of_a_file_without_tables() -> None:
    with pytest.raises(CallError, match=r"--range A1:C4: the file has no table\."):
        asked_ranges(Book(Path("none.npz"), {}), ["A1:C4"], {})


@pytest.mark.skipif(os.name == "nt", reason="closed as POSIX shells do")
def test_a_closed_input_is_one_line() -> None:
    line = f"{shlex.quote(sys.executable)} -m attn_xl inspect - <&-"
    done = subprocess.run(line, shell=True, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "attn-xl: standard input: cannot be read (it is closed).\n"


def test_a_file_called_like_weights_with_words_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "w1.csv").write_text("word,a,b\ncat,1,2\ndog,3,4\n")
    assert [*read_tables(tmp_path / "w1.csv").sentences] == ["w1"]


def test_two_tables_name_both_ranges(tmp_path: Path) -> None:
    (tmp_path / "two.csv").write_text("word,a,,word,a\ncat,1,,dog,2\nsat,3,,ran,4\n")
    said = r'--range "two!A1:B3" or --range "two!D1:E3"'
    with pytest.raises(InputError, match=said):
        read_tables(tmp_path / "two.csv")


@pytest.mark.parametrize("same", [False, True])
def test_weights_that_stand_several_times_are_those_of_heads(make: Make, same: bool) -> None:
    """On the sheet of one sentence; equal ones are copies."""
    rows: list[list[Any]] = [["Input", "a", "b"], *GOOD[1:]]
    for n, name in enumerate(("Wq", "Wk", "Wv")):
        heads = [n, n + 1, None, *([n, n + 1] if same else [n + 2, n + 3])]
        rows += [[], [name, None, None, name], heads, heads]
    rows += [[], ["Wo"], *([1, 2] for _ in range(4))]
    tables = read_tables(make({"s": rows}))
    ends = ("",) if same else ("_1", "_2")
    assert [*tables.weights] == [f"W_{kind}{end}" for kind in "QKV" for end in ends] + ["W_O"]
    if not same:
        assert tables.weights["W_K_2"].values.tolist() == [[3, 4], [3, 4]]


def test_what_a_sentence_is_computed_from_is_no_sentence(make: Make) -> None:
    """Words to which positions are added, before the attention that formulas compute."""
    rows: list[list[Any]] = [["Input", "a", "b"], *GOOD[1:], [], ["X + PE", "a", "b"]]
    rows += [[w, f"==B{n}+{n - 1}", f"==C{n}+{n}"] for n, w in ((2, "cat"), (3, "dog"))]
    blocks = (
        ("Scores", "==SUMPRODUCT($B{i}:$C{i},$B${j}:$C${j})", (6, 7)),
        ("Softmax", "==EXP({c}{i}/SQRT(2))/SUMPRODUCT(EXP($B{i}:$C{i}/SQRT(2)))", (10, 11)),
        ("Output", "==SUMPRODUCT($B{i}:$C{i},TRANSPOSE({c}$6:{c}$7))", (14, 15)),
    )
    for title, formula, lines in blocks:
        rows += [[], [title, "cat", "dog"]]
        for i in lines:
            rows.append(["", *(formula.format(i=i, j=j, c=c) for c, j in zip("BC", (6, 7)))])
    tables = read_tables(make({"s": rows}))
    assert tables.sentences["s"].values.tolist() == [[2.5, 4], [5, -1.25]]


def test_headings_and_a_blank_frame_are_no_part_of_a_table(make: Make) -> None:
    rows: list[list[Any]] = [["Input"], ["", "a", "b"], ["cat", 1, 2], ["dog", 3, 4]]
    rows += [["ReLU"], ["", "x", "y"], ["cat"], ["dog"], []]  # a frame to fill in
    for layer in (1, 2):
        rows += [["", f"Layer {layer}"], ["", "Self-attention"]]
        for name in ("W_Q", "W_K", "W_V"):
            rows += [[name], ["", "p", "q"], ["a", layer, 0], ["b", 0, layer], []]
    tables = read_tables(make({"s": rows}))
    assert [table.values.tolist() for table in tables.sentences.values()] == [[[1, 2], [3, 4]]]
    names = {f"Enc{layer}.W_{kind}": layer for layer in (1, 2) for kind in "QKV"}
    assert {name: table.values[0, 0] for name, table in tables.weights.items()} == names


@thorough
def test_titles_are_believed_where_formulas_that_err_fit_other_tables_as_well(make: Make) -> None:
    """A softmax that runs down: W_Q, W_K and W_V could be words, which the input multiplies."""
    given = {
        "W_Q": [[-1, -1, -1], [0, 0, -2]],
        "W_K": [[2, 0, 1], [-2, 1, 0]],
        "W_V": [[-1, 1, -1], [-2, 1, 2]],
        "Input": [[3, 3], [0, 1], [1, 2], [3, 0], [1, 0]],
    }
    rows: list[list[Any]] = []
    for name, values in given.items():
        rows += [[name], *(["", *row] for row in values), []]
    first = {"Q": 2, "K": 6, "V": 10}  # rows of the weights; the input stands in rows 14 to 18
    for name, top in first.items():
        cells = [[f"==$B{i}*{c}{top}+$C{i}*{c}{top + 1}" for c in "BCD"] for i in range(14, 19)]
        rows += [[name], *(["", *row] for row in cells), []]
    score = "==(" + "+".join(f"${c}{{q}}*${c}${{k}}" for c in "BCD") + ")/SQRT(3)"
    softmax = "==EXP({c}{i})/(" + "+".join(f"EXP({{c}}${n})" for n in range(42, 47)) + ")"
    output = "==" + "+".join(f"${w}{{i}}*{{c}}${35 + n}" for n, w in enumerate("BCDEF"))
    rows += [
        ["Scaled"],
        *(["", *(score.format(q=q, k=k) for k in range(28, 33))] for q in range(21, 26)),
    ]
    rows += [
        [],
        ["Softmax"],
        *(["", *(softmax.format(c=c, i=i) for c in "BCDEF")] for i in range(42, 47)),
    ]
    rows += [[], ["Output"], *(["", *(output.format(c=c, i=i) for c in "BCD")] for i in range(49, 54))]
    tables = read_tables(make({"s": rows}))
    assert tables.sentences["s"].values.tolist() == given["Input"]
    assert {name: one.values.tolist() for name, one in tables.weights.items()} == {
        name: given[name] for name in ("W_Q", "W_K", "W_V")
    }
